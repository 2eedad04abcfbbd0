//! What plans compute, for all inputs. The strict machine runs each plan once with plain bits, which
//! detects wrong accesses and races, and once with the sets of elements that values are the maxima of.
//! The sets of the results are compared with the operators' definitions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rayon::prelude::*;
use regex::Regex;
use serde_json::json;
use wgmax::operator::Operator;
use wgmax::plan::{Launch, Plan, Shader};
use wgmax::{Device, ElementType, Tensor, Tuning, View};
use wgmax_cli::bench::data;
use wgmax_cli::bench::item::{self, Item};
use wgmax_verify::oracle;

use crate::cases::{Prepared, is_kept_beside, is_stored, limits, places};
use crate::keys::Ranking;
use crate::machine::{
    ELEMENT, INITIAL, Memory, Order, PLAIN, Program, RAW, ROUNDED, SUM, UNWRITTEN, WRAPPED, Watch,
    ZERO, mix, of_set, whole,
};
use crate::{run, sets, traffic};

#[derive(Args)]
pub struct Arguments {
    /// Random cases, each with hardware tuning and with software tuning
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub cases: u64,
    /// The seed of the cases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Only items whose name matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    pub filter: Regex,
    /// Elements of an item, at most
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub elements: usize,
    /// Write the table, and all that is not proven, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// A plan with what it needs to be run, and its results.
pub struct Task<'a> {
    pub name: &'a str,
    pub operator: &'a Operator,
    pub plan: &'a Plan,
    /// The inputs of the operator, and the same in memory.
    pub tensors: Vec<&'a Tensor>,
    pub inputs: &'a [(Tensor, View)],
    pub expected: &'a [(usize, View, Tensor)],
    pub max_iterations: u32,
}

/// Why plans are not proven.
pub const PARTS: &str = "a launch stores positions where it has the rows, and others do the rest";
pub const POSITIONS: &str = "positions are chosen in a way that the machine does not know";
/// None of these: a gap in the proof, or a fault.
pub const OPEN: &str = "NOT KNOWN";

/// Planners do not count loops of a fixed length: over the elements of a block, or the steps of a tree.
const FIXED: u32 = 16;

/// A machine that refuses all that it can: loops that run longer than `max_iterations`, and plans that take
/// more iterations than are `left`.
struct Strict {
    max_iterations: u32,
    left: u64,
}

impl Watch for Strict {
    const STRICT: bool = true;

    fn max_iterations(&self) -> u32 {
        self.max_iterations.max(FIXED)
    }

    fn iteration(&mut self, _: u32, began: u32) -> Result<()> {
        self.left = self.left.saturating_sub(began.into());
        ensure!(self.left > 0, "loops do not end");
        Ok(())
    }
}

/// What was followed to the end, and is not what the operator defines: a fault, and no gap of the proof.
#[derive(Debug)]
struct Contradicted(String);

impl std::fmt::Display for Contradicted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Contradicted {}

impl Contradicted {
    fn unless(is_right: bool, what: impl FnOnce() -> String) -> Result<()> {
        if is_right { Ok(()) } else { Err(Self(what()).into()) }
    }
}

/// Whether an operator finds positions, and then whether the last of equal elements wins.
fn indices(operator: &Operator) -> Option<bool> {
    match operator {
        Operator::ReduceMax(op) => op.indices.map(|indices| indices.last),
        Operator::MaxPool(op) => op.indices.map(|_| false),
        Operator::SegmentMax(op) => op.indices.map(|_| false),
        Operator::ScatterMax(op) => op.indices.map(|_| false),
        _ => None,
    }
}

/// The shades of an element of a buffer.
fn bytes(memory: &mut Memory, buffer: usize, size: usize, at: usize) -> Vec<u32> {
    let bytes = at * size..(at + 1) * size;
    bytes.map(|byte| memory.shadow.shades[buffer][byte / 4][byte % 4]).collect()
}

impl<'a> Task<'a> {
    pub fn of_case(case: &'a Prepared, operator: &'a Operator) -> Self {
        Self {
            name: &case.name,
            operator,
            plan: &case.plan,
            tensors: case.case.inputs(),
            inputs: &case.inputs,
            expected: &case.expected,
            max_iterations: case.max_iterations,
        }
    }

    /// The inputs whose elements are followed: for gradients that of the maxima, for scatters the data and the
    /// updates. What a gradient finds positions by is not followed.
    fn followed(&self) -> Vec<usize> {
        match self.operator {
            Operator::ScatterMax(_) => vec![0, 2],
            _ => vec![sets::forward(self.operator).map_or(0, |_| self.tensors.len() - 1)],
        }
    }

    /// The names of the elements of an input, if they are followed.
    fn names_of(&self, input: usize) -> Option<Vec<u32>> {
        let followed = self.followed();
        let before = followed.iter().take_while(|&&other| other != input);
        let first: usize = before.map(|&other| self.tensors[other].len()).sum();
        let names = self.elements(&self.inputs[input].1).into_iter();
        followed.contains(&input).then(|| names.map(|name| first as u32 + name).collect())
    }

    /// The memory of the plan, with elements that are known or not.
    fn memory(&self, is_known: bool) -> Memory {
        let mut memory = run::memory(self.plan, self.inputs);
        memory.follow();
        let t = self.tensors[self.followed()[0]].element_type();
        memory.shadow.ranking = Ranking::of(self.operator, t).filter(|_| is_known);
        memory.shadow.sets.size = t.size();
        memory.shadow.sets.initial = self.initial(t);
        let indices = indices(self.operator);
        memory.shadow.sets.finds_positions = indices.is_some();
        memory.shadow.sets.last_wins = indices.is_some_and(|last| last);
        for (buffer, (_, view)) in self.inputs.iter().enumerate() {
            let size = view.desc().element_type().size();
            let names = self.names_of(buffer).filter(|_| is_known);
            for (element, place) in places(view).into_iter().enumerate() {
                let of_place =
                    names.as_ref().map(|names| memory.shadow.sets.of(vec![names[element]]));
                for part in 0..size {
                    let byte = place * size + part;
                    let shade = of_place.map_or(PLAIN, |set| of_set(RAW, part, set));
                    memory.shadow.shades[buffer][byte / 4][byte % 4] = shade;
                }
            }
        }
        memory
    }

    /// The key of the initial value, unless it is 0, which changes nothing.
    fn initial(&self, t: ElementType) -> Option<u64> {
        let ranking = Ranking::of(self.operator, t)?;
        ranking.initial(self.operator).filter(|&key| key != 0)
    }

    fn run(
        &self,
        memory: &mut Memory,
        (side, order): (usize, Order),
        left: u64,
        program: impl FnMut(&Shader) -> Result<Arc<Program>>,
    ) -> Result<()> {
        memory.order = order;
        let mut strict = Strict { max_iterations: self.max_iterations, left };
        run::run_in(self.plan, memory, side, program, &mut strict, |_, _| ())
    }

    /// Why a plan of such an operator may not be proven, by the machine's error.
    fn kind(&self, error: &anyhow::Error) -> &'static str {
        if error.is::<Contradicted>() {
            return OPEN;
        }
        // A scatter with positions has two such launches for each part of the rows: elements and places.
        let is_finish = |launch: &&Launch| {
            let shader = launch.shader();
            shader.kernel.name() == "segment_finish" && shader.is("initial") == shader.is("places")
        };
        match indices(self.operator).is_some() {
            // Several launches make elements of the rows that segments have.
            true if self.plan.launches().iter().filter(is_finish).count() > 1 => PARTS,
            true => POSITIONS,
            false => OPEN,
        }
    }

    /// Fails if a shader does what no result shows, or a result is not written or wrong.
    fn sanitize(&self, side: usize, order: Order) -> Result<()> {
        let is_right = self.sanitize_with((side, order), u64::MAX, run::programs())?;
        ensure!(is_right, "a result is wrong");
        Ok(())
    }

    /// Fails if the strict machine refuses these programs, or if they take more iterations.
    /// Returns whether their results are right.
    pub fn refuse(
        &self,
        iterations: u64,
        program: impl FnMut(&Shader) -> Result<Arc<Program>>,
    ) -> Result<bool> {
        self.sanitize_with((8, Order::Ascending), iterations, program)
    }

    fn sanitize_with(
        &self,
        order: (usize, Order),
        left: u64,
        program: impl FnMut(&Shader) -> Result<Arc<Program>>,
    ) -> Result<bool> {
        let mut memory = self.memory(false);
        self.run(&mut memory, order, left, program)?;
        for (buffer, view, expected) in self.expected {
            let size = expected.element_type().size();
            for (number, place) in places(view).into_iter().enumerate() {
                let shades = bytes(&mut memory, *buffer, size, place);
                let byte = mix(shades.iter().copied());
                let what = memory.shadow.describe(byte);
                ensure!(byte == PLAIN, "element {number} of a result is {what}");
            }
        }
        let mut kept =
            self.expected.iter().map(|result| is_kept_beside(self.plan, result, &memory));
        ensure!(kept.all(|kept| kept), "bytes beside a result are another's");
        Ok(self.expected.iter().all(|result| is_stored(result, &memory)))
    }

    /// Fails if a result is not shown to be the maximum of its elements, for all inputs.
    pub fn prove(&self) -> Result<()> {
        self.prove_with(run::programs())
    }

    /// The same for other programs than the library's.
    pub fn prove_with(&self, program: impl FnMut(&Shader) -> Result<Arc<Program>>) -> Result<()> {
        let mut memory = self.memory(true);
        self.run(&mut memory, (8, Order::Ascending), u64::MAX, program)?;
        let followed = self.followed().into_iter();
        let names: Vec<u32> = followed.filter_map(|input| self.names_of(input)).flatten().collect();
        let Some(sets) = oracle::sets(self.operator, &self.tensors)? else {
            return self.are_sums(&mut memory, &names);
        };
        let t = self.tensors[self.followed()[0]].element_type();
        let initial = self.initial(t).map(|_| INITIAL);
        let named = |set: &Vec<usize>| {
            let elements = set.iter().map(|&element| names[element]);
            let initial = initial.filter(|_| !set.is_empty());
            elements.chain(initial).collect()
        };
        let has_values = !matches!(self.operator, Operator::ReduceMax(op) if !op.values);
        let has_positions = indices(self.operator).is_some();
        let mut results = self.expected.iter();
        for (what, is_position) in [("result", false), ("position", true)] {
            if !(if is_position { has_positions } else { has_values }) {
                continue;
            }
            let (buffer, view, expected) = results.next().context("a result is missing")?;
            for ((number, place), elements) in places(view).into_iter().enumerate().zip(&sets) {
                let set: Vec<u32> = named(elements);
                match set.is_empty() {
                    true => self.is_constant(&mut memory, *buffer, place, expected, number),
                    false if is_position => {
                        let named = elements.iter().map(|&element| (element, names[element]));
                        let t = expected.element_type();
                        self.is_position(&mut memory, *buffer, place, t, &named.collect::<Vec<_>>())
                    }
                    false if self.keeps_data(&set) => {
                        self.is_moved(&mut memory, *buffer, place, (t, set[0]))
                    }
                    false => self.is_maximum(&mut memory, *buffer, place, &set),
                }
                .with_context(|| format!("{what} {number}"))?;
            }
        }
        // The status of ids depends on no element.
        for (buffer, view, expected) in results {
            for (number, place) in places(view).into_iter().enumerate() {
                self.is_constant(&mut memory, *buffer, place, expected, number)?;
            }
        }
        Ok(())
    }

    /// Whether a set is that of an element of the data that no update names, which keeps its bits.
    fn keeps_data(&self, set: &[u32]) -> bool {
        let data = self.tensors[0].len() as u32;
        matches!(self.operator, Operator::ScatterMax(_)) && set.iter().all(|&name| name < data)
    }

    /// A result has the bits of an element.
    fn is_moved(
        &self,
        memory: &mut Memory,
        buffer: usize,
        place: usize,
        (t, name): (ElementType, u32),
    ) -> Result<()> {
        let shades = bytes(memory, buffer, t.size(), place);
        let right = (RAW, memory.shadow.sets.of(vec![name]));
        let what = memory.shadow.describe(mix(shades.iter().copied()));
        ensure!(whole(&shades) == Some(right), "it is not element {name} as it was, but {what}");
        Ok(())
    }

    /// Each element of a gradient is the right sum, in order, or, if nothing is added, one value, moved.
    fn are_sums(&self, memory: &mut Memory, names: &[u32]) -> Result<()> {
        let lists = sets::sums(self.operator, &self.tensors)?.context("no definition")?;
        let elements = self.expected.iter().flat_map(|(buffer, view, expected)| {
            let places = places(view).into_iter().enumerate();
            places.map(move |(number, place)| (*buffer, expected, number, place))
        });
        for ((buffer, expected, number, place), list) in elements.zip(&lists) {
            let t = expected.element_type();
            let Some(&first) = list.first() else {
                self.is_constant(memory, buffer, place, expected, number)?;
                continue;
            };
            let right = match self.operator {
                Operator::MaxPoolBackward(_) => {
                    let mut steps = vec![ZERO];
                    steps.extend(list.iter().map(|&item| names[item]));
                    steps.extend((t.size() == 2).then_some(ROUNDED));
                    (SUM, memory.shadow.sums.of(&steps))
                }
                _ => {
                    self.is_moved(memory, buffer, place, (t, names[first]))
                        .with_context(|| format!("result {number}"))?;
                    continue;
                }
            };
            let shades = bytes(memory, buffer, t.size(), place);
            let what = memory.shadow.describe(mix(shades.iter().copied()));
            ensure!(whole(&shades) == Some(right), "result {number} is not the sum, but {what}");
        }
        Ok(())
    }

    /// The names of the elements of a view: their numbers. Those that share memory have one name.
    fn elements(&self, view: &View) -> Vec<u32> {
        let places = places(view);
        let mut names = HashMap::new();
        let mut all: Vec<usize> = (0..places.len()).collect();
        if indices(self.operator) == Some(true) {
            all.reverse();
        }
        for element in all {
            names.entry(places[element]).or_insert(element as u32);
        }
        places.iter().map(|place| names[place]).collect()
    }

    /// A result without elements is the constant that the CPU has.
    fn is_constant(
        &self,
        memory: &mut Memory,
        buffer: usize,
        place: usize,
        expected: &Tensor,
        number: usize,
    ) -> Result<()> {
        let size = expected.element_type().size();
        let byte = mix(bytes(memory, buffer, size, place));
        let all: &[u8] = bytemuck::cast_slice(memory.words(buffer));
        let right = all[place * size..][..size] == expected.bytes()[number * size..][..size];
        let what = memory.shadow.describe(byte);
        ensure!(byte == PLAIN, "result {number} has no elements, but is {what}");
        Contradicted::unless(right, || format!("result {number} has no elements, and is not empty"))
    }

    /// A result is the maximum of a set; if positions are found, it is the element that wins.
    fn is_maximum(
        &self,
        memory: &mut Memory,
        buffer: usize,
        place: usize,
        wanted: &[u32],
    ) -> Result<()> {
        let t = self.tensors[0].element_type();
        let shades = bytes(memory, buffer, t.size(), place);
        let sets = &mut memory.shadow.sets;
        let set = sets.of(wanted.to_vec());
        if sets.finds_positions && sets.is_winner(&shades, set) {
            return Ok(());
        }
        let found = whole(&shades).filter(|&(kind, _)| kind == ELEMENT);
        // -0 and +0 are equal, but have different bits.
        let is_exact = !sets.finds_positions || !t.is_float();
        let Some((_, found)) = found.filter(|&(_, found)| is_exact || found != set) else {
            let bad = shades.iter().find(|&&byte| byte == UNWRITTEN || byte == WRAPPED);
            let byte = bad.copied().unwrap_or_else(|| mix(shades.iter().copied()));
            bail!("{}", memory.shadow.describe(byte));
        };
        let found = sets.list(found);
        let lost = wanted.iter().filter(|element| found.binary_search(element).is_err()).count();
        let foreign = found.iter().filter(|element| !wanted.contains(element)).count();
        Contradicted::unless(lost + foreign == 0, || {
            let all = wanted.len();
            format!("lacks {lost} of its {all} elements, and has {foreign} that are not its own")
        })
    }

    /// A position is that of the element that wins, whichever does.
    fn is_position(
        &self,
        memory: &mut Memory,
        buffer: usize,
        place: usize,
        t: ElementType,
        wanted: &[(usize, u32)],
    ) -> Result<()> {
        let first = place * t.size() / 4;
        let words = |memory: &Memory, i: usize| {
            (memory.shadow.shades[buffer][first + i], memory.words(buffer)[first + i])
        };
        let set = memory.shadow.sets.of(wanted.iter().map(|&(_, name)| name).collect());
        let mut in_order = wanted.to_vec();
        if indices(self.operator) == Some(true) {
            in_order.reverse();
        }
        // Among elements that share memory, the first one wins.
        let mut names = HashSet::new();
        in_order.retain(|&(_, name)| names.insert(name));
        // The machine knows elements by name. So those that may win must have the order of their names.
        let ascends =
            |pair: &[(usize, u32)]| (pair[0].1 < pair[1].1) != memory.shadow.sets.last_wins;
        let is_in_order = in_order.windows(2).all(ascends);
        ensure!(is_in_order, "elements that share memory have another order");
        for (element, winner) in in_order {
            let right = match self.operator {
                Operator::ScatterMax(op) => sets::update(op, &self.tensors, element),
                operator => sets::position(operator, self.tensors[0].shape(), element),
            };
            for i in 0..t.size() / 4 {
                let word = words(memory, i);
                let (shade, found) = memory.shadow.sets.under(word, set, winner);
                let byte = mix(shade);
                ensure!(byte == PLAIN, "{}", memory.shadow.describe(byte));
                let right = (right as u64 >> (32 * i)) as u32;
                Contradicted::unless(found == right, || {
                    format!("{found} for {right} where element {winner} wins")
                })?;
            }
        }
        Ok(())
    }
}

/// The outcomes of the plans that launch a kernel.
#[derive(Default)]
pub struct Row {
    pub plans: usize,
    /// Those that the strict machine runs, and those whose results are proven.
    pub clean: usize,
    pub proven: usize,
    /// Why one of them is not: the reason in this kernel, or else the plan's.
    pub why: BTreeMap<&'static str, usize>,
}

/// One plan, run.
pub struct Outcome {
    pub name: String,
    pub kernels: Vec<(&'static str, ElementType)>,
    pub clean: Result<(), String>,
    pub proven: Result<(), NotProven>,
}

/// Why the results of a plan are not proven: the kind of reason, and what the machine says.
pub struct NotProven {
    pub kind: &'static str,
    pub what: String,
}

pub fn judge(task: &Task) -> Outcome {
    let text = |result: Result<()>| result.map_err(|error| format!("{error:#}"));
    let t = task.tensors[0].element_type();
    let mut kernels: Vec<_> = task.plan.shaders().map(|shader| (shader.kernel.name(), t)).collect();
    kernels.sort_by_key(|(name, _)| *name);
    kernels.dedup();
    let clean =
        task.sanitize(8, Order::Ascending).and_then(|()| task.sanitize(1, Order::Descending));
    let proven = task.prove().map_err(|error| {
        let (kind, what) = (task.kind(&error), format!("{error:#}"));
        NotProven { kind, what }
    });
    Outcome { name: task.name.to_string(), kernels, clean: text(clean), proven }
}

pub fn run(arguments: &Arguments) -> Result<bool> {
    let outcomes = outcomes(arguments)?;
    let rows = table(&outcomes);
    println!("{:24} {:5} {:>6} {:>6} {:>7}  why not", "kernel", "type", "plans", "clean", "proven");
    for ((kernel, t), row) in &rows {
        let why: Vec<_> = row.why.iter().map(|(why, count)| format!("{count}: {why}")).collect();
        let why = why.join("; ");
        println!("{kernel:24} {t:5} {:6} {:6} {:7}  {why}", row.plans, row.clean, row.proven);
    }
    let dirty: Vec<_> = outcomes.iter().filter(|outcome| outcome.clean.is_err()).collect();
    for outcome in &dirty {
        println!("{}: {}", outcome.name, outcome.clean.as_ref().err().map_or("", |why| why));
    }
    let proven = outcomes.iter().filter(|outcome| outcome.proven.is_ok()).count();
    let open = || {
        let reasons = outcomes.iter().map(|outcome| (&outcome.name, outcome.proven.as_ref().err()));
        reasons.filter_map(|(name, why)| why.filter(|why| why.kind == OPEN).map(|why| (name, why)))
    };
    open().for_each(|(name, why)| println!("{name}: not proven: {}", why.what));
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for why in outcomes.iter().filter_map(|outcome| outcome.proven.as_ref().err()) {
        *kinds.entry(why.kind).or_default() += 1;
    }
    kinds.iter().for_each(|(kind, count)| println!("{count} not proven: {kind}"));
    println!(
        "{} plans; {} clean; the results of {proven} proven for all inputs",
        outcomes.len(),
        outcomes.len() - dirty.len()
    );
    if let Some(path) = &arguments.json {
        let plans: Vec<_> = outcomes
            .iter()
            .map(|outcome| {
                json!({
                    "plan": outcome.name,
                    "kernels": outcome.kernels.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                    "type": outcome.kernels.first().map(|(_, t)| t.to_string()),
                    "refused": outcome.clean.as_ref().err(),
                    "not_proven": outcome.proven.as_ref().err().map(|why| &why.what),
                    "kind": outcome.proven.as_ref().err().map(|why| why.kind),
                })
            })
            .collect();
        std::fs::write(path, format!("{:#}\n", json!({ "plans": plans })))?;
    }
    Ok(dirty.is_empty() && open().next().is_none())
}

pub fn table(outcomes: &[Outcome]) -> BTreeMap<(&'static str, String), Row> {
    let mut rows: BTreeMap<(&str, String), Row> = BTreeMap::new();
    for outcome in outcomes {
        for (kernel, t) in &outcome.kernels {
            let row = rows.entry((kernel, t.to_string())).or_default();
            row.plans += 1;
            row.clean += usize::from(outcome.clean.is_ok());
            row.proven += usize::from(outcome.proven.is_ok());
            if let Err(why) = &outcome.proven {
                *row.why.entry(why.kind).or_default() += 1;
            }
        }
    }
    rows
}

/// The items, made small, and random cases.
pub fn outcomes(arguments: &Arguments) -> Result<Vec<Outcome>> {
    let mut all = items(arguments)?;
    let tunings = ["hardware", "software"];
    let limits = limits();
    let cases = (0..arguments.cases).into_par_iter().flat_map_iter(|index| {
        tunings.map(|tuning| -> Result<Option<Outcome>> {
            let case = Prepared::new(&limits, arguments.seed, index, tuning)?;
            // Wrong ids have undefined results, within the buffers.
            if !case.are_right {
                return Ok(None);
            }
            let operator = case.case.operator.checked(&case.case.inputs())?;
            Ok(Some(judge(&Task::of_case(&case, &operator))))
        })
    });
    let cases: Vec<Option<Outcome>> = cases.collect::<Result<_>>()?;
    all.extend(cases.into_iter().flatten());
    Ok(all)
}

fn items(arguments: &Arguments) -> Result<Vec<Outcome>> {
    let items = item::matching(&arguments.filter)?;
    let all = items.par_iter().flat_map_iter(|item| {
        [("hardware", Tuning::hardware()), ("software", Tuning::software())].map(
            |(name, tuning)| -> Result<Outcome> {
                let item = small(item, arguments.elements)?;
                let tensors = data::inputs(&item)?;
                let tensors: Vec<&Tensor> = tensors.iter().collect();
                let operator = item.operator().checked(&tensors)?;
                let limits = limits();
                let descs: Vec<_> = tensors.iter().map(|tensor| tensor.desc()).collect();
                let plan = operator.plan(&descs, &limits, &tuning)?;
                let inputs: Vec<(Tensor, View)> =
                    tensors.iter().map(|&t| (t.clone(), t.desc().into())).collect();
                let cpu = Device::cpu();
                let uploaded = tensors.iter().map(|tensor| cpu.upload(tensor));
                let uploaded = uploaded.collect::<wgmax::Result<Vec<_>>>()?;
                let results = cpu.execute(&plan, uploaded.iter().collect::<Vec<_>>())?;
                let expected = results.iter().zip(inputs.len()..);
                let expected = expected
                    .map(|(result, i)| Ok((i, result.desc().clone().into(), result.download()?)));
                let expected = expected.collect::<wgmax::Result<Vec<_>>>()?;
                Ok(judge(&Task {
                    name: &format!("{}, {name}", item.name),
                    operator: &operator,
                    plan: &plan,
                    tensors,
                    inputs: &inputs,
                    expected: &expected,
                    max_iterations: limits.max_iterations,
                }))
            },
        )
    });
    all.collect()
}

/// The item with about so many elements, or as many more as its windows need.
fn small(item: &Item, elements: usize) -> Result<Item> {
    let mut elements = elements;
    loop {
        let small = traffic::smaller(item, elements);
        let tensors = data::inputs(&small);
        let fits = tensors.is_ok_and(|tensors| {
            let descs: Vec<_> = tensors.iter().map(Tensor::desc).collect();
            small.operator().infer(&descs).is_ok()
        });
        if fits || small.shape == item.shape {
            return Ok(small);
        }
        elements *= 2;
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use wgmax::Run;
    use wgmax::operator::{Indices, MaxPool, MaxPoolBackward, ReduceMax, ScatterMax, SegmentMax};

    use super::*;
    use crate::rare;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// The strict machine refuses no plan, and all values are proven, except for known reasons.
    #[test]
    fn values_are_proven() {
        let line = Line::parse_from(["prove", "--cases", "78", "--elements", "1024"]);
        let outcomes = outcomes(&line.arguments).unwrap();
        for outcome in &outcomes {
            assert_eq!(outcome.clean, Ok(()), "{}", outcome.name);
            if let Err(why) = &outcome.proven {
                assert_ne!(why.kind, OPEN, "{}: {}", outcome.name, why.what);
            }
        }
        let proven = outcomes.iter().filter(|outcome| outcome.proven.is_ok()).count();
        assert!(proven > outcomes.len() * 4 / 5, "{proven} of {}", outcomes.len());
    }

    /// Proves an operator's plan with `find` replaced in the texts. At least one text must have it. The text
    /// of `segment_finish` is replaced only for scatters.
    fn prove_replaced(
        operator: &Operator,
        tensors: &[&Tensor],
        (find, replace): (&str, &str),
    ) -> Result<()> {
        let limits = limits();
        let descs: Vec<_> = tensors.iter().map(|tensor| tensor.desc()).collect();
        let plan = operator.plan(descs, &limits, &Tuning::hardware()).unwrap();
        let results = operator.run(&Device::cpu(), tensors.to_vec()).unwrap().into_vec();
        let expected = results.into_iter().zip(tensors.len()..);
        let expected: Vec<_> =
            expected.map(|(result, i)| (i, result.desc().clone().into(), result)).collect();
        let inputs: Vec<(Tensor, View)> =
            tensors.iter().map(|&input| (input.clone(), input.desc().into())).collect();
        let task = Task {
            name: "a plan",
            operator,
            plan: &plan,
            tensors: tensors.to_vec(),
            inputs: &inputs,
            expected: &expected,
            max_iterations: limits.max_iterations,
        };
        let mut is_there = false;
        let found = task.prove_with(|shader: &Shader| {
            let text = shader.source();
            is_there |= text.contains(find);
            // Segments change other texts, which have the same lines.
            let own = shader.kernel.name() != "segment_finish"
                || matches!(operator, Operator::ScatterMax(_));
            Ok(Arc::new(Program::new(&if own { text.replace(find, replace) } else { text })?))
        });
        assert!(is_there, "{find}");
        found
    }

    /// Levels that one launch stores: each is proven as a pooling of the elements.
    #[test]
    fn levels_of_a_pyramid_are_proven() {
        for case in rare::pyramids().unwrap() {
            assert_eq!(case.plan.launches().len(), 1, "{}", case.name);
            let task = Task::of_case(&case, &case.case.operator);
            task.sanitize(8, Order::Ascending).unwrap();
            task.sanitize(1, Order::Descending).unwrap();
            task.prove().unwrap();
        }
    }

    /// A position of another element is detected, and so are ties that another element wins.
    #[test]
    fn wrong_positions_are_refused() {
        let data = Tensor::from_slice([1, 5000], &[1.0f32; 5000]).unwrap();
        for (last, find, replace) in [
            (false, "", ""),
            (true, "", ""),
            (
                false,
                "key_above(other, rank) | (key_equal(other, rank)",
                "key_above(other, rank) | (false",
            ),
            (false, "(b.place < a.place)", "(b.place > a.place)"),
            (false, "(key_equal(other, rank) & ", "(key_equal(other, rank) == "),
            (false, "(key_equal(other, rank) & ", "(key_equal(other, rank) != "),
            (true, "!key_above(best.rank, rank), by.last", "key_above(rank, best.rank), by.last"),
            (false, "(by.last | (found.place == NO_PLACE))", "true"),
            (true, "(by.last | (found.place == NO_PLACE))", "(found.place == NO_PLACE)"),
            (false, "params.positions.first\n", "params.positions.first + 1u\n"),
            (false, "select(found.key, candidates[i], takes)", "candidates[i]"),
        ] {
            let indices = Indices::new(ElementType::I32).last(last);
            let operator = Operator::from(ReduceMax::new().axes([1]).indices(indices));
            let found = prove_replaced(&operator, &[&data], (find, replace));
            assert_eq!(found.is_ok(), find.is_empty(), "{last} {find}: {found:?}");
        }
    }

    /// Unordered segments compare what earlier launches found. Other comparisons and stores are detected.
    #[test]
    fn wrong_scatters_are_refused() {
        // Ten invocations alternate: each has rows of these ids.
        let ids: Vec<i32> = [1, 0, 1, 1, 0, 1].into_iter().flat_map(|id| [id; 10]).collect();
        let ids = Tensor::from_slice([60], &ids).unwrap();
        for (t, has_indices, find, replace) in [
            (ElementType::F32, true, "", ""),
            (ElementType::F32, true, "atomicLoad(&items[item]) == key", "true"),
            (
                ElementType::F32,
                true,
                "atomicLoad(&items[item]) == key",
                "atomicLoad(&items[item]) >= key",
            ),
            (
                ElementType::F32,
                true,
                "atomicLoad(&items[item]) == key",
                "atomicLoad(&items[item]) != key",
            ),
            (
                ElementType::F32,
                true,
                "atomicLoad(&items[item]) == key",
                "atomicLoad(&items[item ^ 2u]) == key",
            ),
            (ElementType::F32, true, "select(~(params", "select((params"),
            (ElementType::F32, true, "select(0u, item_word", "select(1u, item_word"),
            (ElementType::F32, true, "if word != 0u", "if word != 1u"),
            (ElementType::F32, true, "best = max(best, found_word", "best = (found_word"),
            (ElementType::F32, true, "vec4<u32>(last)", "vec4<u32>(max(last, 1u) - 1u)"),
            (
                ElementType::F32,
                true,
                "key_rank(load_element(element), kernel_ranking())",
                "load_element(element)",
            ),
            (ElementType::U8, true, "", ""),
            (ElementType::U8, true, "best = 0u;", ""),
            (ElementType::I64, false, "", ""),
            (ElementType::I64, false, "== key.y", "== key.x"),
            (ElementType::I64, false, "== key.y", "<= key.y"),
            (ElementType::I64, false, "== key.y", ">= key.y"),
            (ElementType::I64, false, "return high;", "return true;"),
            (ElementType::I64, false, "return high;", "return !high;"),
            (ElementType::I64, false, "key.x, params.word == 1u", "key.y, params.word == 1u"),
            (ElementType::I64, false, "key.y, params.word == 0u", "key.x, params.word == 0u"),
            (
                ElementType::I64,
                false,
                "atomicMax(&items[item + params.word], word)",
                "atomicStore(&items[item + params.word], word)",
            ),
            (
                ElementType::I64,
                false,
                "atomicMax(&items[item + params.word], word)",
                "atomicAdd(&items[item + params.word], word)",
            ),
            (ElementType::I64, false, "items[item + params.word], word)", "items[item], word)"),
            (ElementType::F64, true, "", ""),
            (ElementType::F64, true, "params.word == 1u {", "params.word != 0u {"),
            (ElementType::F64, true, "return high & (", "return high | ("),
            (ElementType::F64, true, "return high & (", "return ("),
            (ElementType::F64, true, "item + 1u]) == key.x", "item]) == key.x"),
            (ElementType::F64, true, "item + 1u]) == key.x", "item + 1u]) > key.x"),
            (ElementType::F64, true, "return high & (", "return true & ("),
            (ElementType::F64, true, "return high & (", "return high == ("),
            (ElementType::F64, true, "return high & (", "return high != ("),
        ] {
            let data = Tensor::from_bytes(t, [60, 3], &vec![1; 180 * t.size()]).unwrap();
            let mut op = SegmentMax::unsorted().num_segments(2);
            if has_indices {
                op = op.indices(Indices::new(ElementType::I64));
            }
            let found = prove_replaced(&op.into(), &[&data, &ids], (find, replace));
            assert_eq!(found.is_ok(), find.is_empty(), "{t} {find} -> {replace}: {found:?}");
        }
    }

    /// Nine runs of 27 blocks are one share, and leave some invocations idle: they read no table of shares.
    #[test]
    fn idle_invocations_of_segments_are_refused() {
        let ids = Tensor::from_slice([60], &[0; 60]).unwrap();
        let data = Tensor::from_bytes(ElementType::F32, [60, 108], &[1; 60 * 108 * 4]).unwrap();
        let operator = Operator::from(SegmentMax::sorted().num_segments(1));
        for (find, replace) in [
            ("", ""),
            (
                "if place.run >= params.runs {\n        return tail;",
                "if false {\n        return tail;",
            ),
        ] {
            let found = prove_replaced(&operator, &[&data, &ids], (find, replace));
            assert_eq!(found.is_ok(), find.is_empty(), "{find}: {found:?}");
        }
    }

    /// The positions of scatters: of the data or an update, along an axis or by vectors.
    #[test]
    fn wrong_positions_of_scatters_are_refused() {
        let ids: Vec<i64> = (0..12).map(|at| [1, 0, -1][at % 3]).collect();
        let [along, across, vectors] =
            [[6, 2], [2, 6], [12, 1]].map(|shape| Tensor::from_slice(shape, &ids).unwrap());
        let is_above = "vector_above(vector_rank(keys, ranking), vector_rank(data, ranking))";
        // Both launches ask whether the data wins; only the second one has positions.
        for (find, replace, what) in [
            ("", "", ""),
            ("!above & vec4<bool>", "above & vec4<bool>", "result"),
            ("return !above & vec4<bool>(params.joins == 1u)", "return !above", "result"),
            (
                is_above,
                "vector_above(vector_rank(data, ranking), vector_rank(keys, ranking))",
                "result",
            ),
            (is_above, "vector_above(keys, data)", ""),
            ("params.result_base + min(number", "min(number + 1u", "result"),
            ("select(mark, vec4<u32>(0u), keeps(keys, data))", "mark", "position"),
            ("select(mark, vec4<u32>(0u), keeps", "select(vec4<u32>(0u), mark, keeps", "position"),
            ("select(0xffffffffu, position(~mark[i]), known)", "position(~mark[i])", "position"),
            ("position(~mark[i])", "~mark[i]", "position"),
            ("quotient(number, params.by_positions)", "0u", "position"),
        ] {
            let mut refused = 0;
            for t in [ElementType::F32, ElementType::Bf16, ElementType::I64] {
                for (op, indices, shape) in [
                    (ScatterMax::along(0), &along, vec![6, 2]),
                    (ScatterMax::along(1), &across, vec![2, 6]),
                    (ScatterMax::by_vectors(), &vectors, vec![12, 3]),
                ] {
                    for include_data in [true, false] {
                        let tensor = |shape: &[usize]| {
                            let bytes = shape.iter().product::<usize>() * t.size();
                            Tensor::from_bytes(t, shape, &vec![1; bytes]).unwrap()
                        };
                        let (data, updates) = (tensor(&[4, 3]), tensor(&shape));
                        let op = op
                            .clone()
                            .include_data(include_data)
                            .indices(Indices::new(ElementType::I64));
                        let found = prove_replaced(
                            &op.into(),
                            &[&data, indices, &updates],
                            (find, replace),
                        );
                        let Err(error) = found else { continue };
                        let error = format!("{error:#}");
                        assert!(!find.is_empty() && error.contains(what), "{find}, {t}: {error}");
                        refused += 1;
                    }
                }
            }
            assert_eq!(refused > 0, !find.is_empty(), "{find} -> {replace}");
        }
    }

    /// Gradients at the wrong element, lost ones, another order, and results that are no sums.
    #[test]
    fn wrong_sums_are_refused() {
        for t in [ElementType::F32, ElementType::Bf16] {
            let tensor = |shape: &[usize]| {
                let len = shape.iter().product::<usize>() * t.size();
                Tensor::from_bytes(t, shape, &vec![0; len]).unwrap()
            };
            let inputs = [tensor(&[1, 2, 9, 10]), tensor(&[1, 2, 7, 8])];
            for (find, replace) in [
                ("", ""),
                ("sum, keys[row + k]", "sum, keys[(row + k) ^ 1u]"),
                ("for (var i = first.begin;", "for (var i = first.begin + 1u;"),
                ("maxima[row + k] == key", "maxima[row + k] <= key"),
                ("sum = add_rounded(sum, keys", "sum = (keys"),
                ("var sum = NOTHING;", "var sum = NOTHING + 1u;"),
                ("sum = add_rounded(sum, keys", "sum = add_rounded(keys[0], keys"),
            ] {
                let operator = MaxPoolBackward::new(MaxPool::new([3, 3])).into();
                let found = prove_replaced(&operator, &inputs.each_ref(), (find, replace));
                assert_eq!(found.is_ok(), find.is_empty(), "{t} {replace}: {found:?}");
            }
        }
    }

    /// A foreign element, a lost one, and a wrong key are detected.
    #[test]
    fn wrong_sets_are_refused() {
        // Keys are compared only for these elements, so one of them is NaN.
        let mut elements = [1.0f32; 320];
        elements[5] = f32::NAN;
        let data = Tensor::from_slice([8, 40], &elements).unwrap();
        let operator = Operator::from(ReduceMax::new().axes([1]));
        prove_replaced(&operator, &[&data], ("", "")).unwrap();
        for (find, replace, error) in [
            (
                "var block = start / BLOCK + lane;",
                "var block = start / BLOCK + lane + 1u;",
                "lacks",
            ),
            (
                "let start = params.base + row * params.len + skipped;",
                "let start = params.base + row * params.len + skipped - min(row, 1u);",
                "not its own",
            ),
            ("keys[local] = found;", "keys[local] = found + 1u;", "elements (line"),
            ("keys[local] = found;", "keys[local] = max(found, 1u);", "elements (line"),
            ("if lane < step {", "if lane < step && keys[0] > 7u {", "decides by elements"),
            (
                "return rotated(words ^ flipped, ranking.nan_above);",
                "return words ^ flipped;",
                "another order",
            ),
        ] {
            let found = prove_replaced(&operator, &[&data], (find, replace)).unwrap_err();
            assert!(format!("{found:#}").contains(error), "{replace}: {found:#}");
        }
    }

    /// An initial value is an element of each set that has others, whatever its bits.
    #[test]
    fn initial_values_join_all_sets() {
        for t in [ElementType::F32, ElementType::U8, ElementType::Bf16, ElementType::I64] {
            let data = Tensor::from_bytes(t, [5, 7], &vec![0; 35 * t.size()]).unwrap();
            let find = match t.size() {
                1 => "third & vec4<u32>(0xff0000u)",
                2 => "& vec4<u32>(0xffff0000u)) | low",
                _ => "vec4<u32>(params.low, params.high, params.low, params.high)",
            };
            for replace in [find, "vec4<u32>(0u)"] {
                let operator = ReduceMax::new().axes([1]).initial(7).into();
                let found = prove_replaced(&operator, &[&data], (find, replace));
                assert_eq!(found.is_ok(), find == replace, "{t}: {found:?}");
            }
            let absent = ReduceMax::new().axes([1]).into();
            prove_replaced(&absent, &[&data], ("", "")).unwrap();
        }
    }
}
