//! Compares each member of Zachary's karate club (34 members, 78 friendships) with their friends.
//! Each member sends its features to all friends, and SegmentMax finds the largest of those that each member
//! gets, as in a graph network that aggregates by the maximum.
//!
//!     cargo run --release --example karate
//!
//! First, messages are in the order of the friendships, each with the number of the member who gets it.
//! Then they are sorted by that number, and offsets say where each member's messages begin.

use wgmax::operator::SegmentMax;
use wgmax::{Device, ElementType, Run, Tensor, compare};

const MEMBERS: usize = 34;
/// Members that the table shows: the instructor, the administrator, and some of the others.
const SHOWN: [usize; 8] = [0, 1, 2, 8, 11, 16, 32, 33];

/// For each member, the friends with a higher number. W. W. Zachary, "An Information Flow Model
/// for Conflict and Fission in Small Groups", Journal of Anthropological Research 33 (1977).
/// In the paper the numbers begin with 1.
const FRIENDS: [&[usize]; MEMBERS] = [
    &[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31],
    &[2, 3, 7, 13, 17, 19, 21, 30],
    &[3, 7, 8, 9, 13, 27, 28, 32],
    &[7, 12, 13],
    &[6, 10],
    &[6, 10, 16],
    &[16],
    &[],
    &[30, 32, 33],
    &[33],
    &[],
    &[],
    &[],
    &[33],
    &[32, 33],
    &[32, 33],
    &[],
    &[],
    &[32, 33],
    &[33],
    &[32, 33],
    &[],
    &[32, 33],
    &[25, 27, 29, 32, 33],
    &[25, 27, 31],
    &[31],
    &[29, 33],
    &[33],
    &[31, 33],
    &[32, 33],
    &[32, 33],
    &[32, 33],
    &[33],
    &[],
];

/// The features of each member, and the digits to print: see [`features`].
const FEATURES: [(&str, usize); 4] =
    [("friends", 0), ("triangles", 0), ("clustering", 2), ("closeness", 2)];

fn main() -> anyhow::Result<()> {
    // [from, to], both ways.
    let messages: Vec<[usize; 2]> = FRIENDS
        .iter()
        .enumerate()
        .flat_map(|(a, friends)| friends.iter().flat_map(move |&b| [[a, b], [b, a]]))
        .collect();
    let features = features(&messages);
    // A GPU or a software adapter, so that the CPU is not compared with itself.
    let devices = [Device::gpu().or_else(|_| Device::auto())?, Device::cpu()];
    println!("on {} and {}:", devices[0].info(), devices[1].info());

    let numbers: Vec<i32> = messages.iter().map(|&[_, to]| to as i32).collect();
    let numbers = Tensor::from_slice([numbers.len()], &numbers)?;
    let unsorted = SegmentMax::unsorted().num_segments(MEMBERS);
    let [largest, whose] = aggregate(&devices, unsorted, &messages, &features, &numbers)?;

    // Sorting is stable, so equal friends keep their order.
    let mut ordered = messages;
    ordered.sort_by_key(|&[_, to]| to);
    let start = |member: usize| ordered.partition_point(|&[_, to]| to < member) as i64;
    let offsets: Vec<i64> = (0..=MEMBERS).map(start).collect();
    let offsets = Tensor::from_slice([offsets.len()], &offsets)?;
    let by_offsets = aggregate(&devices, SegmentMax::offsets(), &ordered, &features, &offsets)?;
    equal("by numbers and by offsets, the largest", &largest, &by_offsets[0])?;
    equal("by numbers and by offsets, whose they are", &whose, &by_offsets[1])?;

    println!("\nThe largest among each member's friends, and whose it is:\n");
    let head: Vec<String> = FEATURES.iter().map(|(name, _)| format!("{name:>16}")).collect();
    println!("member{}", head.concat());
    let (largest, whose) = (largest.as_slice::<f32>()?, whose.as_slice::<i32>()?);
    for member in SHOWN {
        let row = member * FEATURES.len()..(member + 1) * FEATURES.len();
        let cells: Vec<String> = (largest[row.clone()].iter().zip(&whose[row]).zip(FEATURES))
            .map(|((value, friend), (_, digits))| {
                format!("{value:>11.digits$} {:>4}", format!("#{}", friend + 1))
            })
            .collect();
        println!("{:>6}{}", format!("#{}", member + 1), cells.concat());
    }
    Ok(())
}

/// The largest features that each member gets, and the numbers of those who sent them.
fn aggregate(
    [device, cpu]: &[Device; 2],
    operator: SegmentMax,
    messages: &[[usize; 2]],
    features: &[[f32; FEATURES.len()]],
    receivers: &Tensor,
) -> anyhow::Result<[Tensor; 2]> {
    let sent: Vec<f32> = messages.iter().flat_map(|&[from, _]| features[from]).collect();
    let sent = Tensor::from_slice([messages.len(), FEATURES.len()], &sent)?;
    let operator = operator.indices(ElementType::I32);
    let results = operator.run(device, [&sent, receivers])?;
    for (result, expected) in results.iter().zip(operator.run(cpu, [&sent, receivers])?) {
        let what = format!("{}, {} -> {}", sent.desc(), receivers.desc(), result.desc());
        equal(&what, result, &expected)?;
    }
    // A row is a message. Everyone has a friend, so each segment has rows.
    let rows = results[1].as_slice::<i32>()?;
    let senders: Vec<i32> = rows.iter().map(|&row| messages[row as usize][0] as i32).collect();
    Ok([results[0].clone(), Tensor::from_slice(results[1].shape(), &senders)?])
}

fn equal(what: &str, a: &Tensor, b: &Tensor) -> anyhow::Result<()> {
    let comparison = compare(a, b)?;
    println!("  {what}: {comparison}");
    anyhow::ensure!(comparison.is_equal(), "the results are not the same");
    Ok(())
}

/// For each member: the number of friends, the number of pairs of these who are friends too, the fraction
/// of such pairs among all pairs, and the closeness to everyone else, which is 1 if all are friends.
fn features(messages: &[[usize; 2]]) -> Vec<[f32; FEATURES.len()]> {
    let mut know = [[false; MEMBERS]; MEMBERS];
    for &[from, to] in messages {
        know[from][to] = true;
    }
    (0..MEMBERS)
        .map(|member| {
            let friends: Vec<usize> = (0..MEMBERS).filter(|&other| know[member][other]).collect();
            let pairs = friends.len() * (friends.len() - 1) / 2;
            let triangles = friends
                .iter()
                .flat_map(|&a| friends.iter().filter(move |&&b| b > a && know[a][b]))
                .count();
            let clustering = if pairs == 0 { 0.0 } else { triangles as f32 / pairs as f32 };
            let closeness = (MEMBERS - 1) as f32 / distances(&know, member) as f32;
            [friends.len() as f32, triangles as f32, clustering, closeness]
        })
        .collect()
}

/// The sum of the distances from a member to all others, all of whom are reachable.
fn distances(know: &[[bool; MEMBERS]; MEMBERS], member: usize) -> usize {
    let mut reached = [false; MEMBERS];
    reached[member] = true;
    let (mut edge, mut distance, mut sum) = (vec![member], 0, 0);
    while !edge.is_empty() {
        sum += distance * edge.len();
        distance += 1;
        let next: Vec<usize> = (0..MEMBERS)
            .filter(|&other| !reached[other] && edge.iter().any(|&near| know[near][other]))
            .collect();
        next.iter().for_each(|&other| reached[other] = true);
        edge = next;
    }
    sum
}
