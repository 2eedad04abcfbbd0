//! Bounds on the bytes that launches load and store, on what they compute, and on the share of memory speed that
//! they reach in the model. The figures are counted, so they are the same on every machine.

use std::collections::BTreeMap;

use wgmax_cli::bench::item;
use wgmax_cli::options::TuningChoice::{self, Cpu, Hardware, Software};

use self::Bound::{AtLeast, AtMost};
use crate::machine::LANES;
use crate::model::{GPUS, Gpu};
use crate::traffic;

/// A bound on the counts of some items.
struct Gate {
    name: &'static str,
    /// Whether an item is one of them.
    is_for: fn(&str) -> bool,
    figure: fn(&Row) -> f64,
    /// At least, or at most.
    bound: Bound,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// An item's counts.
struct Row {
    efficiency: f64,
    requested: f64,
    traffic: f64,
    launches: f64,
    operations: f64,
    loads_in_flight: f64,
    /// Barriers of an invocation, in all launches.
    barriers: f64,
    /// The lowest share of memory speed in the model: of all GPUs, of those other than B200, and of those other
    /// than H200 and B200, whose arithmetic is slow beside their memory.
    reached: f64,
    reached_but_b200: f64,
    reached_elsewhere: f64,
}

const fn gate(
    name: &'static str,
    is_for: fn(&str) -> bool,
    figure: fn(&Row) -> f64,
    bound: Bound,
) -> Gate {
    Gate { name, is_for, figure, bound }
}

const GATES: &[Gate] = &[
    gate(
        "reductions and segments of whole blocks use what they request",
        |item| is_plain_reduction(item) && !item.starts_with("R07") || is_in_blocks(item),
        |row| row.efficiency,
        AtLeast(0.9),
    ),
    gate("pools use a third of what they request", is_pool, |row| row.efficiency, AtLeast(0.35)),
    gate(
        "reductions request each byte once",
        |item| is_plain_reduction(item) && !item.starts_with("R07"),
        |row| row.requested,
        AtMost(1.1),
    ),
    gate(
        "short rows load each byte at most three times, from a near cache",
        |item| item == "R07_tiny_1Mx16",
        |row| row.requested,
        AtMost(3.0),
    ),
    gate(
        "windows that do not overlap request each byte at most twice",
        is_apart,
        |row| row.requested,
        AtMost(2.0),
    ),
    gate(
        "reductions with positions request one block of an invocation again",
        |item| has_positions(item) && !item.starts_with("R07"),
        |row| row.requested,
        AtMost(1.5),
    ),
    gate(
        "short rows with positions load each byte at most three times, from a near cache",
        |item| has_positions(item) && item.starts_with("R07"),
        |row| row.requested,
        AtMost(3.0),
    ),
    gate(
        "neighbouring windows request each byte a few times, from a near cache",
        is_pool,
        |row| row.requested,
        AtMost(5.5),
    ),
    gate(
        "windows that double request each byte once",
        |item| ["P06", "P07"].iter().any(|long| item.starts_with(long)),
        |row| row.requested,
        AtMost(1.1),
    ),
    gate(
        "neighbouring updates in any order share what they request",
        |item| item.starts_with('U'),
        |row| row.requested,
        AtMost(11.0),
    ),
    gate("reductions move each byte once", is_reduction, |row| row.traffic, AtMost(1.05)),
    gate("pools with small windows move each byte once", is_small, |row| row.traffic, AtMost(1.15)),
    gate(
        "long segments move each byte once",
        |item| ["S01", "S03", "S04", "S06"].iter().any(|long| item.starts_with(long)),
        |row| row.traffic,
        AtMost(1.1),
    ),
    gate(
        "reductions of one merged axis take two launches",
        |item| is_reduction(item) && !item.starts_with("R05"),
        |row| row.launches,
        AtMost(2.0),
    ),
    gate(
        "reductions of two merged axes and sorted segments take three launches",
        |item| item.starts_with("R05") || item.starts_with('S'),
        |row| row.launches,
        AtMost(3.0),
    ),
    gate("pools of small windows take one launch", is_small, |row| row.launches, AtMost(1.0)),
    gate(
        "windows of 5 to 13 take one launch, and move each byte once",
        |item| ["P05", "P06", "P07"].iter().any(|long| item.starts_with(long)),
        |row| row.traffic * row.launches,
        AtMost(1.05),
    ),
    gate(
        "reductions compute few numbers for each byte",
        |item| is_plain_reduction(item) && !item.starts_with("R00"),
        |row| row.operations,
        AtMost(4.0),
    ),
    gate(
        "sliding windows compute few numbers for each byte",
        |item| is_sliding(item) && !has_short_elements(item),
        |row| row.operations,
        AtMost(10.0),
    ),
    gate(
        "sliding windows of 8 and 16 bits compute few numbers for each byte",
        |item| is_sliding(item) && has_short_elements(item),
        |row| row.operations,
        AtMost(8.0),
    ),
    gate(
        "windows whose lines are not whole words compute more",
        |item| item.starts_with("P16"),
        |row| row.operations,
        AtMost(40.0),
    ),
    gate(
        "plain reductions have four loads in flight",
        |item| is_plain_reduction(item) && !item.starts_with("R00"),
        |row| row.loads_in_flight,
        AtLeast(3.4),
    ),
    gate(
        "unordered segments have eight loads in flight",
        is_unordered,
        |row| row.loads_in_flight,
        AtLeast(8.0),
    ),
    gate(
        "reductions of one launch have two barriers more than one with subgroups",
        |item| item.starts_with("R02") || item.starts_with("R04"),
        |row| row.barriers,
        AtMost(4.0),
    ),
    gate(
        "plain reductions reach 0.9 of memory speed except on B200",
        |item| is_plain_reduction(item) && !item.starts_with("R00"),
        |row| row.reached_but_b200,
        AtLeast(0.9),
    ),
    gate(
        "reductions with positions reach 0.8 of memory speed except on B200",
        has_positions,
        |row| row.reached_but_b200,
        AtLeast(0.8),
    ),
    gate(
        "reductions reach 0.55 of memory speed also on B200",
        |item| is_reduction(item) && !item.starts_with("R00"),
        |row| row.reached,
        AtLeast(0.55),
    ),
    gate(
        "short rows reach 0.8 of memory speed",
        |item| item == "R07_tiny_1Mx16",
        |row| row.reached,
        AtLeast(0.8),
    ),
    gate(
        "pools with small windows reach 0.8 of memory speed except on B200",
        |item| is_small(item) && !has_short_elements(item) && !item.ends_with("_idx"),
        |row| row.reached_but_b200,
        AtLeast(0.8),
    ),
    gate(
        "pools with small windows and indices reach 0.8 of memory speed on most GPUs",
        |item| is_small(item) && item.ends_with("_idx"),
        |row| row.reached_elsewhere,
        AtLeast(0.8),
    ),
    gate(
        "pools of 8 and 16 bits reach 0.8 of memory speed on most GPUs",
        |item| item.starts_with("P01") && has_short_elements(item),
        |row| row.reached_elsewhere,
        AtLeast(0.8),
    ),
    gate(
        "pools of 8 and 16 bits reach 0.4 of memory speed on H200",
        |item| item.starts_with("P01") && has_short_elements(item),
        |row| row.reached_but_b200,
        AtLeast(0.4),
    ),
    gate(
        "sorted segments reach 0.8 of memory speed except on B200",
        |item| is_sorted(item) && !has_few(item),
        |row| row.reached_but_b200,
        AtLeast(0.8),
    ),
    gate(
        "sorted segments of few elements reach 0.8 of memory speed on most GPUs",
        has_few,
        |row| row.reached_elsewhere,
        AtLeast(0.8),
    ),
    gate(
        "sorted segments of few elements reach 0.55 of memory speed on H200",
        has_few,
        |row| row.reached_but_b200,
        AtLeast(0.55),
    ),
    gate(
        "unordered segments reach 0.4 of memory speed except on B200",
        is_unordered,
        |row| row.reached_but_b200,
        AtLeast(0.4),
    ),
    gate("gradients move each byte once", is_gradient, |row| row.traffic, AtMost(1.05)),
    gate("gradients take one launch", is_gradient, |row| row.launches, AtMost(1.0)),
];

fn is_reduction(item: &str) -> bool {
    item.starts_with('R')
}

/// Reductions without positions.
fn is_plain_reduction(item: &str) -> bool {
    is_reduction(item) && !item.ends_with("_idx")
}

/// Reductions with positions.
fn has_positions(item: &str) -> bool {
    is_reduction(item) && item.ends_with("_idx")
}

/// Elements of 8 or 16 bits.
fn has_short_elements(item: &str) -> bool {
    ["_f16", "_i8", "_u8"].iter().any(|element| item.ends_with(element))
}

/// Gradients of pools.
fn is_gradient(item: &str) -> bool {
    item.ends_with("_grad")
}

/// Pools, except their gradients.
fn is_pool(item: &str) -> bool {
    item.starts_with('P') && !is_gradient(item)
}

/// Segments whose ids ascend.
fn is_sorted(item: &str) -> bool {
    item.starts_with('S') && !is_unordered(item)
}

/// Sorted segments of few elements, all or most of them.
fn has_few(item: &str) -> bool {
    ["S02", "S03"].iter().any(|few| item.starts_with(few))
}

/// Segments and updates in any order.
fn is_unordered(item: &str) -> bool {
    item.starts_with("S08") || item.starts_with('U')
}

/// Segments whose rows are whole blocks.
fn is_in_blocks(item: &str) -> bool {
    ["S05", "S06", "S07"].iter().any(|blocks| item.starts_with(blocks))
}

/// Windows that do not overlap.
fn is_apart(item: &str) -> bool {
    ["P03", "P04", "P10"].iter().any(|apart| item.starts_with(apart))
}

/// Windows of up to three elements along each axis, side by side.
fn is_small(item: &str) -> bool {
    let small = ["P01", "P02", "P03", "P09", "P10", "P12", "P16"];
    is_pool(item) && small.iter().any(|small| item.starts_with(small))
}

/// Windows whose taps are in the text of the shader.
fn is_sliding(item: &str) -> bool {
    let sliding = ["P01", "P02", "P03", "P05", "P09", "P10", "P11", "P12", "P13"];
    is_pool(item) && sliding.iter().any(|sliding| item.starts_with(sliding))
}

fn count(plan: TuningChoice, elements: usize, row_bytes: usize) -> BTreeMap<String, Row> {
    let report = traffic::count(&item::all().unwrap(), plan, elements, row_bytes).unwrap();
    let rows = report.rows.into_iter().map(|row| {
        let counted = row.result.unwrap();
        let (requested, traffic) = counted.ratios();
        let launches = counted.launches.len() as f64;
        let efficiency = counted.sum.efficiency();
        let operations = counted.sum.operations_of(counted.fewest);
        let warps = counted.sum.invocations.div_ceil(LANES as u64);
        let lowest = |includes: fn(&&Gpu) -> bool| {
            let shares = GPUS.iter().filter(includes).map(|gpu| counted.share(gpu).share);
            shares.fold(f64::INFINITY, f64::min)
        };
        let figures = Row {
            efficiency,
            requested,
            traffic,
            launches,
            operations,
            loads_in_flight: counted.sum.loads_in_flight(),
            barriers: counted.sum.barriers as f64 / warps as f64,
            reached: lowest(|_| true),
            reached_but_b200: lowest(|gpu| gpu.name != "B200"),
            reached_elsewhere: lowest(|gpu| !["H200", "B200"].contains(&gpu.name)),
        };
        (row.item.name, figures)
    });
    rows.collect()
}

/// The items that exceed a gate.
fn beyond(gate: &Gate, rows: &BTreeMap<String, Row>) -> Vec<String> {
    let items: Vec<_> = rows.iter().filter(|(item, _)| (gate.is_for)(item)).collect();
    assert!(!items.is_empty(), "{}: no item", gate.name);
    let items = items.into_iter().filter_map(|(item, row)| {
        let figure = (gate.figure)(row);
        let (keeps, bound) = match gate.bound {
            AtLeast(bound) => (figure >= bound, bound),
            AtMost(bound) => (figure <= bound, bound),
        };
        (!keeps).then(|| format!("{item}: {figure:.3}, not {bound}"))
    });
    items.collect()
}

/// The plans for hardware keep to all gates.
#[test]
fn plans_for_hardware_move_few_bytes() {
    let rows = count(Hardware, 1 << 20, 1);
    let all = GATES.iter().map(|gate| (gate.name, beyond(gate, &rows)));
    let all: Vec<_> = all.filter(|(_, items)| !items.is_empty()).collect();
    assert!(all.is_empty(), "{all:#?}");
}

/// Rows that begin at multiples of 256 bytes are read in place: by as many launches, and with at
/// most 1.1 times the bytes of rows without gaps. Rows so short that most of a line of 128 bytes is
/// a gap are skipped.
#[test]
fn rows_with_gaps_move_few_bytes_more() {
    let (plain, padded) = (count(Hardware, 1 << 17, 1), count(Hardware, 1 << 17, 256));
    let is_short = |item: &str| ["R09", "P04", "P16", "P01_stem_i8", "P01_stem_u8"].contains(&item);
    let is_short = |item: &str| is_short(item) || is_short(item.split('_').next().unwrap());
    let mut gaps = 0;
    for (item, row) in padded.iter().filter(|(item, _)| !is_short(item)) {
        let plain = &plain[item];
        assert_eq!(row.launches, plain.launches, "{item}");
        let ratio = row.traffic / plain.traffic;
        assert!(ratio <= 1.1, "{item}: {ratio}");
        gaps += usize::from(ratio > 1.001);
    }
    assert!(gaps > 0, "no item has rows with gaps");
}

/// The plans for software adapters, where neighbours do not share loads, exceed each gate about
/// requested bytes.
#[test]
fn other_plans_go_beyond_the_gates() {
    let rows = count(Software, 1 << 16, 1);
    for gate in GATES.iter().filter(|gate| gate.name.contains("request")) {
        assert!(!beyond(gate, &rows).is_empty(), "{}", gate.name);
    }
}

#[test]
fn counts_need_a_plan_with_shaders() {
    assert!(traffic::count(&[], Cpu, 1, 1).is_err());
}
