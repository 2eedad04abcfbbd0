//! A machine that runs compute shaders on the host as a GPU does: warps of 32 invocations step
//! together, and so do the workgroups that run side by side. It reports what each step loads and
//! stores, and how many invocations take part. It refuses accesses outside of a binding, and a word
//! of a workgroup that one invocation stores to and another uses without a barrier between.
//!
//! It reads naga's form of a shader, and supports only what wgmax's shaders use. It is slow and exact:
//! results are the same on every computer.

mod arithmetic;
mod choice;
mod expression;
mod layout;
mod memory;
mod shade;
mod shading;
mod statement;
mod sum;
mod tied;
mod timing;
mod value;

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use wgmax::wgpu::naga::front::wgsl;
use wgmax::wgpu::naga::valid::{
    Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator,
};
use wgmax::wgpu::naga::{
    AddressSpace, Binding as Place, BuiltIn, Expression, Function, GlobalVariable, Handle, Literal,
    Module, TypeInner,
};

pub use choice::INITIAL;
use layout::{Packing, offsets, scalars, type_of};
pub use memory::{Access, Binding, Memory, Order, Shadow};
use shade::Shades;
pub use shade::{ELEMENT, PLAIN, RAW, SUM, UNWRITTEN, WRAPPED, mix, of_set, whole};
pub use sum::{Function as Summing, ROUNDED, ZERO, computed as summed};
use timing::Trace;
use value::{Base, Lane32, Mask, Slot, Words};
pub use value::{LANES, lanes};

/// What variables of workgroups hold before anything is stored.
const STALE: u32 = 0xa5c3_5a3c;

/// What the machine reports as it runs.
pub trait Watch {
    /// Whether the machine also refuses what no result shows, and follows what bytes stand for: see
    /// `shading`.
    const STRICT: bool = false;
    /// Whether the machine counts operations, waits and steps: see `timing`.
    const TIMED: bool = false;
    /// How often an invocation may run a loop's body, if the machine is strict.
    fn max_iterations(&self) -> u32 {
        u32::MAX
    }
    /// A grid of this many invocations begins, in workgroups of so many, each with so many bytes of
    /// workgroup memory.
    fn launch(&mut self, _invocations: u64, _workgroup: usize, _bytes: usize) {}
    /// A warp loads or stores.
    fn access(&mut self, _access: &Access) {}
    /// Warps compute so many results of one operation of a function; so many others are the same for a
    /// whole workgroup.
    fn operations(&mut self, _function: &str, _results: u64, _common: u64) {}
    /// So many warps wait for the loads that are in flight.
    fn wait(&mut self, _loads: u32, _warps: u64) {}
    /// Warps use workgroup memory for so many steps.
    fn workgroup_steps(&mut self, _steps: u64) {}
    /// Each workgroup that runs waits for its invocations.
    fn barrier(&mut self, _warps: u64) {}
    /// A warp runs a loop's body once more, with this many of the invocations that began the loop.
    /// An error ends the run.
    fn iteration(&mut self, _running: u32, _began: u32) -> Result<()> {
        Ok(())
    }
    /// The next workgroups that run side by side begin.
    fn side_by_side(&mut self) {}
}

impl Watch for () {}

/// A shader.
pub struct Program {
    text: String,
    module: Module,
    info: ModuleInfo,
}

impl Program {
    pub fn new(text: &str) -> Result<Self> {
        let module = wgsl::parse_str(text).context("naga refuses the shader")?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .context("naga refuses the shader")?;
        Ok(Self { text: text.to_string(), module, info })
    }

    /// Invocations of a workgroup.
    fn workgroup(&self) -> usize {
        self.module.entry_points[0].workgroup_size.iter().product::<u32>() as usize
    }

    /// Runs a grid of workgroups, `side` of them side by side, then the next. `params` are the words
    /// of the uniform buffers by their bindings; `bindings` are the other bindings.
    pub fn run(
        &self,
        grid: [u32; 3],
        side: usize,
        params: &HashMap<u32, &[u32]>,
        bindings: &HashMap<u32, Binding>,
        memory: &mut Memory,
        watch: &mut impl Watch,
    ) -> Result<()> {
        let workgroup = self.workgroup();
        memory.shadow.begin_launch();
        let (mut storage, mut uniform) = (HashMap::new(), HashMap::new());
        for (handle, variable) in self.module.global_variables.iter() {
            let Some(place) = &variable.binding else { continue };
            let missing = || format!("binding {} is missing", place.binding);
            match variable.space {
                AddressSpace::Storage { .. } => {
                    let binding = bindings.get(&place.binding);
                    storage.insert(handle, *binding.with_context(missing)?);
                }
                AddressSpace::Uniform => {
                    let words = params.get(&place.binding);
                    uniform.insert(handle, words.with_context(missing)?.to_vec());
                }
                _ => {}
            }
        }
        let memory_order = memory.order;
        let groups: u64 = grid.iter().map(|&n| u64::from(n)).product();
        let side = side.min(groups as usize).max(1);
        let mut machine = Machine::new(self, (side, workgroup), memory, watch);
        (machine.storage, machine.uniform) = (storage, uniform);
        let bytes = 4 * machine.workgroup_words()?;
        machine.watch.launch(groups * workgroup as u64, workgroup, bytes);
        let parts = groups.div_ceil(side as u64);
        for part in 0..parts {
            let part = if memory_order == Order::Descending { parts - 1 - part } else { part };
            machine.watch.side_by_side();
            machine.workgroups(grid, part * side as u64, groups)?;
        }
        Ok(())
    }

    /// Runs a function, once for each of some lists of scalars, with these members of parameters, and zeros in
    /// all others. Gives the lists, and the scalars that it returns for each, or two words of the buffer that
    /// it stores to; `None` if there is no such function.
    pub fn call(
        &self,
        name: &str,
        params: &[(&str, Vec<u32>)],
        cases: impl FnOnce() -> Vec<Vec<u32>>,
    ) -> Result<Option<Calls>> {
        let mut functions = self.module.functions.iter();
        let is_it = |function: &Function| function.name.as_deref() == Some(name);
        let Some((handle, function)) = functions.find(|(_, function)| is_it(function)) else {
            return Ok(None);
        };
        let cases = cases();
        let warps = cases.len().div_ceil(LANES);
        let word = |case: usize, scalar: usize| cases.get(case).map_or(0, |words| words[scalar]);
        let (mut arguments, mut first) = (Vec::new(), 0);
        for argument in &function.arguments {
            let end = first + scalars(&self.module, type_of(&self.module, argument.ty))?;
            let all = (first..end).flat_map(|scalar| (0..warps).map(move |warp| (scalar, warp)));
            let all = all.map(|(scalar, warp)| {
                std::array::from_fn(|lane| word(warp * LANES + lane, scalar))
            });
            arguments.push(Slot::Value(Words::new(all.collect())));
            first = end;
        }
        let len = 2 * warps * LANES;
        let (mut memory, mut watch) = (Memory::new(vec![vec![0; len]]), ());
        let mut machine = Machine::new(self, (warps, LANES), &mut memory, &mut watch);
        for (handle, variable) in self.module.global_variables.iter() {
            let inner = type_of(&self.module, variable.ty);
            match (variable.space, inner) {
                (AddressSpace::Storage { .. }, _) => {
                    machine.storage.insert(handle, Binding { buffer: 0, first: 0, len });
                }
                (AddressSpace::Uniform, TypeInner::Struct { span, .. }) => {
                    let mut words = vec![0; *span as usize / 4];
                    for (name, value) in params {
                        if let Some(at) = layout::named(&self.module, inner, name) {
                            words[at..at + value.len()].copy_from_slice(value);
                        }
                    }
                    machine.uniform.insert(handle, words);
                }
                _ => {}
            }
        }
        let (shades, mask) = (vec![None; arguments.len()], Mask(vec![u32::MAX; warps]));
        let (value, _) = machine.call(Which::Function(handle), arguments, shades, &mask)?;
        let found = (0..cases.len()).map(|case| match &value {
            Some(value) => {
                let scalars = value.iter().skip(case / LANES).step_by(warps);
                scalars.map(|lanes| lanes[case % LANES]).collect()
            }
            None => memory.words(0)[2 * case..2 * case + 2].to_vec(),
        });
        let found = found.collect();
        Ok(Some((cases, found)))
    }
}

/// Lists of scalars that a function takes, and those that it returns.
type Calls = (Vec<Vec<u32>>, Vec<Vec<u32>>);

/// A function that is an entry point or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    Entry,
    Function(Handle<Function>),
}

/// A function that runs.
struct Frame {
    which: Which,
    slots: Vec<Slot>,
    locals: Vec<Vec<Lane32>>,
    /// What the expressions and variables stand for, if the machine is strict.
    shades: Vec<Shades>,
    local_shades: Vec<Shades>,
    /// The traces of the expressions and of the value, and the batches of the variables: see `timing`.
    traces: Vec<Trace>,
    local_batches: Vec<u32>,
    value_trace: Option<Trace>,
    /// The invocations that have returned, and their values.
    returned: Mask,
    value: Option<Vec<Lane32>>,
    value_shades: Shades,
}

struct Machine<'a, W> {
    program: &'a Program,
    warps: usize,
    group_warps: usize,
    /// Invocations of a workgroup.
    workgroup: usize,
    /// The invocations that began, and the first workgroup.
    running: Mask,
    first: u64,
    uniform: HashMap<Handle<GlobalVariable>, Vec<u32>>,
    storage: HashMap<Handle<GlobalVariable>, Binding>,
    memory: &'a mut Memory,
    watch: &'a mut W,
    /// What the expressions of a function are before it runs.
    templates: HashMap<Which, Vec<Slot>>,
    /// The variables of invocations.
    variables: HashMap<Handle<GlobalVariable>, Vec<Lane32>>,
    /// Those of workgroups: of a scalar, the word of each workgroup, then the next scalar's.
    shared: HashMap<Handle<GlobalVariable>, Vec<Shared>>,
    /// What those stand for.
    shared_shades: HashMap<Handle<GlobalVariable>, Vec<shade::Shade>>,
    /// The number of barriers until now.
    epoch: u32,
    flight: timing::Flight,
    frames: Vec<Frame>,
}

/// A word of a workgroup's variable, and its uses since the last barrier.
#[derive(Clone)]
struct Shared {
    word: u32,
    /// The barriers before the first of these uses, and the invocation that it is of.
    epoch: u32,
    by: usize,
    stored: bool,
    /// Whether other invocations used it, too.
    several: bool,
}

impl Default for Shared {
    /// The library does not ask drivers for zeros.
    fn default() -> Self {
        Self { word: STALE, epoch: u32::MAX, by: 0, stored: false, several: false }
    }
}

impl<'a, W: Watch> Machine<'a, W> {
    /// A machine that runs some workgroups of so many invocations side by side.
    fn new(
        program: &'a Program,
        (side, workgroup): (usize, usize),
        memory: &'a mut Memory,
        watch: &'a mut W,
    ) -> Self {
        let group_warps = workgroup.div_ceil(LANES);
        Self {
            program,
            warps: side * group_warps,
            group_warps,
            workgroup,
            running: Mask::none(0),
            first: 0,
            uniform: HashMap::new(),
            storage: HashMap::new(),
            memory,
            watch,
            templates: HashMap::new(),
            variables: HashMap::new(),
            shared: HashMap::new(),
            shared_shades: HashMap::new(),
            epoch: 0,
            flight: timing::Flight::default(),
            frames: Vec::new(),
        }
    }

    fn function(&self, which: Which) -> &'a Function {
        match which {
            Which::Entry => &self.program.module.entry_points[0].function,
            Which::Function(handle) => &self.program.module.functions[handle],
        }
    }

    fn info(&self, which: Which) -> &'a FunctionInfo {
        match which {
            Which::Entry => self.program.info.get_entry_point(0),
            Which::Function(handle) => &self.program.info[handle],
        }
    }

    /// The words of the variables of a workgroup.
    fn workgroup_words(&self) -> Result<usize> {
        let module = &self.program.module;
        let variables = module.global_variables.iter().map(|(_, variable)| variable);
        let shared = variables.filter(|variable| variable.space == AddressSpace::WorkGroup);
        shared.map(|variable| scalars(module, type_of(module, variable.ty))).sum()
    }

    /// Runs the workgroups that run side by side, from one on.
    fn workgroups(&mut self, grid: [u32; 3], first: u64, groups: u64) -> Result<()> {
        let module = &self.program.module;
        self.variables.clear();
        for (handle, variable) in module.global_variables.iter() {
            let len = || scalars(module, type_of(module, variable.ty));
            match variable.space {
                AddressSpace::WorkGroup => {
                    let words = vec![Shared::default(); len()? * self.warps / self.group_warps];
                    if W::STRICT {
                        self.shared_shades.insert(handle, vec![[UNWRITTEN; 4]; words.len()]);
                    }
                    self.shared.insert(handle, words);
                }
                AddressSpace::Private if variable.init.is_none() => {
                    self.variables.insert(handle, vec![[0; LANES]; len()? * self.warps]);
                }
                AddressSpace::Private => bail!("private variables with a value are not known"),
                _ => {}
            }
        }
        let mut mask = Mask::none(self.warps);
        let mut group_of = Vec::with_capacity(self.warps);
        for (warp, lanes) in mask.0.iter_mut().enumerate() {
            let group = first + (warp / self.group_warps) as u64;
            let begun = warp % self.group_warps * LANES;
            let some = u32::MAX >> (LANES - (self.workgroup - begun).min(LANES));
            *lanes = if group < groups { some } else { 0 };
            group_of.push(group);
        }
        (self.running, self.first) = (mask.clone(), first);
        let function = self.function(Which::Entry);
        let mut arguments = Vec::new();
        for argument in &function.arguments {
            let places: Vec<&Option<Place>> = match type_of(module, argument.ty) {
                TypeInner::Struct { members, .. } => members.iter().map(|m| &m.binding).collect(),
                _ => vec![&argument.binding],
            };
            let mut value = Vec::new();
            for place in places {
                let Some(Place::BuiltIn(builtin)) = place else {
                    bail!("the entry point takes {place:?}");
                };
                self.builtin(*builtin, grid, &group_of, &mut value)?;
            }
            arguments.push(Slot::Value(Words::new(value)));
        }
        let shades = vec![None; arguments.len()];
        self.call(Which::Entry, arguments, shades, &mask)?;
        self.wait(&mask);
        Ok(())
    }

    /// Adds the scalars of a built-in value.
    fn builtin(
        &self,
        builtin: BuiltIn,
        grid: [u32; 3],
        group_of: &[u64],
        value: &mut Vec<Lane32>,
    ) -> Result<()> {
        let [x, y, _] = grid.map(u64::from);
        let warps = group_of.iter().enumerate();
        match builtin {
            BuiltIn::WorkGroupId => {
                for place in [(1, x), (x, y), (x * y, u64::MAX)] {
                    value.extend(group_of.iter().map(|g| [(g / place.0 % place.1) as u32; LANES]));
                }
            }
            BuiltIn::NumWorkGroups => {
                grid.iter().for_each(|&n| value.extend(warps.clone().map(|_| [n; LANES])));
            }
            BuiltIn::LocalInvocationIndex => {
                let first = |warp: usize| (warp % self.group_warps * LANES) as u32;
                value.extend(
                    warps.map(|(warp, _)| std::array::from_fn(|lane| first(warp) + lane as u32)),
                );
            }
            other => bail!("the built-in value {other:?} is not known"),
        }
        Ok(())
    }

    /// Runs a function, and gives what it returns.
    fn call(
        &mut self,
        which: Which,
        arguments: Vec<Slot>,
        argument_shades: Vec<Shades>,
        mask: &Mask,
    ) -> Result<(Option<Words>, Shades)> {
        let (module, function) = (&self.program.module, self.function(which));
        if !self.templates.contains_key(&which) {
            let template = self.template(function)?;
            self.templates.insert(which, template);
        }
        let mut slots = self.templates[&which].clone();
        let depth = self.frames.len();
        let mut locals = Vec::with_capacity(function.local_variables.len());
        for (_, variable) in function.local_variables.iter() {
            let len = scalars(module, type_of(module, variable.ty))? * self.warps;
            let init = variable.init.map(|init| &slots[init.index()]);
            locals.push(match init {
                Some(Slot::Value(words)) => words.to_vec(),
                Some(_) => bail!("the value that {variable:?} begins with is not known"),
                None => vec![[0; LANES]; len],
            });
        }
        let mut shades = vec![None; if W::STRICT { slots.len() } else { 0 }];
        let mut traces = vec![Trace::default(); if W::TIMED { slots.len() } else { 0 }];
        let passed = std::mem::take(&mut self.flight.passed);
        for (handle, expression) in function.expressions.iter() {
            match expression {
                Expression::FunctionArgument(i) => {
                    slots[handle.index()] = arguments[*i as usize].clone();
                    if W::TIMED {
                        traces[handle.index()] =
                            passed.get(*i as usize).copied().unwrap_or_default();
                    }
                    if W::STRICT {
                        shades[handle.index()] = argument_shades[*i as usize].clone();
                    }
                }
                Expression::LocalVariable(variable) => {
                    let start = Words::new(vec![[0; LANES]; self.warps]);
                    slots[handle.index()] = Slot::Pointer(Base::Local(depth, *variable), start);
                }
                _ => {}
            }
        }
        let returned = Mask::none(self.warps);
        let local_shades = vec![None; if W::STRICT { locals.len() } else { 0 }];
        let local_batches = vec![0; if W::TIMED { locals.len() } else { 0 }];
        self.frames.push(Frame {
            which,
            slots,
            locals,
            shades,
            local_shades,
            traces,
            local_batches,
            value_trace: None,
            returned,
            value: None,
            value_shades: None,
        });
        let mut flow = statement::Flow::new(self.warps);
        self.block(&function.body, mask.clone(), &mut flow)?;
        let frame = self.frames.pop().context("no function runs")?;
        self.flight.passed = frame.value_trace.into_iter().collect();
        Ok((frame.value.map(Words::new), frame.value_shades))
    }

    /// The expressions of a function that are the same whenever it runs.
    fn template(&self, function: &Function) -> Result<Vec<Slot>> {
        let module = &self.program.module;
        let mut slots = vec![Slot::Empty; function.expressions.len()];
        for (handle, expression) in function.expressions.iter() {
            let all = |words: Vec<u32>| {
                let lanes = words.iter().flat_map(|&word| vec![[word; LANES]; self.warps]);
                Slot::Value(Words::new(lanes.collect()))
            };
            slots[handle.index()] = match expression {
                Expression::Literal(literal) => all(vec![literal_word(literal)?]),
                Expression::Constant(constant) => {
                    all(self.constant(module.constants[*constant].init)?)
                }
                Expression::ZeroValue(handle) => {
                    all(vec![0; scalars(module, type_of(module, *handle))?])
                }
                // Variables may begin with values made of constants. Others are computed when they are
                // evaluated.
                Expression::Compose { components, .. } => {
                    let parts = components.iter().map(|part| match &slots[part.index()] {
                        Slot::Value(words) => Some(&words[..]),
                        _ => None,
                    });
                    match parts.collect::<Option<Vec<_>>>() {
                        Some(parts) => Slot::Value(Words::new(parts.concat())),
                        None => Slot::Empty,
                    }
                }
                Expression::Splat { size, value } => match &slots[value.index()] {
                    Slot::Value(words) => Slot::Value(Words::new(words.repeat(*size as usize))),
                    _ => Slot::Empty,
                },
                Expression::GlobalVariable(handle) => {
                    let start = Words::new(vec![[0; LANES]; self.warps]);
                    Slot::Pointer(Base::Global(*handle), start)
                }
                _ => Slot::Empty,
            };
        }
        Ok(slots)
    }

    /// The scalars of a constant expression of the module.
    fn constant(&self, handle: Handle<Expression>) -> Result<Vec<u32>> {
        let module = &self.program.module;
        Ok(match &module.global_expressions[handle] {
            Expression::Literal(literal) => vec![literal_word(literal)?],
            Expression::Constant(constant) => self.constant(module.constants[*constant].init)?,
            Expression::ZeroValue(handle) => {
                vec![0; scalars(module, type_of(module, *handle))?]
            }
            Expression::Splat { size, value } => self.constant(*value)?.repeat(*size as usize),
            Expression::Compose { components, .. } => {
                let parts = components.iter().map(|&component| self.constant(component));
                parts.collect::<Result<Vec<_>>>()?.concat()
            }
            other => bail!("the constant {other:?} is not known"),
        })
    }

    /// The words of a type's scalars in a variable of this kind.
    fn offsets(&self, inner: &TypeInner, packing: Packing) -> Result<Vec<u32>> {
        offsets(&self.program.module, inner, packing)
    }
}

fn literal_word(literal: &Literal) -> Result<u32> {
    Ok(match literal {
        Literal::U32(value) => *value,
        Literal::I32(value) => *value as u32,
        Literal::Bool(value) => u32::from(*value),
        other => bail!("the literal {other:?} is not known"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::{Counter, Counts};

    /// Runs a kernel on 64 words, bound between others, with 32 invocations.
    fn run(body: &str) -> Result<Counts> {
        let text = format!(
            "@group(0) @binding(1) var<storage, read_write> words: array<u32>;
            @group(0) @binding(2) var<storage, read_write> blocks: array<vec4<u32>>;
            var<workgroup> shared_words: array<u32, 64>;
            fn next(i: u32) -> u32 {{
                return words[i + 1u];
            }}
            @compute @workgroup_size(32)
            fn main(@builtin(local_invocation_index) i: u32) {{
                {body}
            }}"
        );
        let mut memory = Memory::new(vec![vec![7; 128]]);
        let binding = Binding { buffer: 0, first: 32, len: 64 };
        let bindings = HashMap::from([(1, binding), (2, binding)]);
        let (params, mut counter) = (HashMap::new(), Counter::new());
        let program = Program::new(&text)?;
        program.run([1, 1, 1], 1, &params, &bindings, &mut memory, &mut counter)?;
        Ok(counter.take())
    }

    /// Loads of straight code are in flight together. The place of a load, a branch and a loop wait for them.
    #[test]
    fn waits_are_counted() {
        for (body, waits, loads) in [
            ("let a = words[i]; words[i] = a + words[i + 32u];", 1, 2),
            ("words[i] = words[words[i] + i];", 2, 2),
            ("if words[i] == 7u { words[i] = words[i + 32u]; }", 2, 2),
            ("let a = words[i]; workgroupBarrier(); words[i] = a + words[i + 32u];", 2, 2),
            (
                "var s = 0u; for (var j = 0u; j < 3u; j++) { s += words[i + j]; } words[i] = s;",
                1,
                3,
            ),
            (
                "let n = words[0] - 4u; var s = 0u;
                for (var j = 0u; j < n; j++) { s += words[i + j]; } words[i] = s;",
                4,
                4,
            ),
            ("words[i] = next(i) + next(i + 1u);", 1, 2),
            ("words[i] = words[next(i) + i];", 2, 2),
        ] {
            let counts = run(body).unwrap();
            assert_eq!((counts.waits, counts.loads), (waits, loads), "{body}");
        }
    }

    /// Words of one bank take a step each. Components that are equal are computed once, and what a whole
    /// workgroup has in common is counted apart.
    #[test]
    fn steps_and_operations_are_counted() {
        for (body, steps) in [
            ("shared_words[i] = 1u;", 1),
            ("shared_words[i * 2u % 63u] = 1u;", 2),
            ("shared_words[i] = 1u; workgroupBarrier(); words[i] = shared_words[i & 16u];", 2),
        ] {
            assert_eq!(run(body).unwrap().steps, steps, "{body}");
        }
        for (body, each, common) in [
            ("words[i] = i ^ 5u;", 1, 0),
            ("let a = vec4<u32>(i) ^ vec4<u32>(5u); words[i] = a.x + a.y;", 2, 0),
            (
                "let a = vec4<u32>(words[i]); words[i] = (vec4<u32>(-vec4<i32>(a)) ^ a.wzyx).x;",
                2,
                0,
            ),
            ("let a = (i & 0u) ^ 5u; words[i] = a ^ i;", 1, 2),
            ("words[i] = words[0] ^ 5u;", 1, 0),
        ] {
            let counts = run(body).unwrap();
            assert_eq!((counts.operations, counts.common), (each, common), "{body}");
        }
    }

    #[test]
    fn races_are_refused() {
        let right = "shared_words[i] = 1u; workgroupBarrier(); words[i] = shared_words[31u - i];";
        run(right).unwrap();
        for wrong in [
            "shared_words[i] = 1u; words[i] = shared_words[31u - i];",
            "words[i] = shared_words[0]; shared_words[i] = 1u;",
            "shared_words[i / 2u] = 1u;",
        ] {
            let error = run(wrong).unwrap_err().to_string();
            assert!(error.contains("without a barrier between"), "{error}");
        }
    }

    #[test]
    fn loads_and_stores_lie_in_their_bindings() {
        for right in [
            "words[i + 32u] = next(i + 31u);",
            "blocks[i / 2u].w = blocks[15u - i / 2u].x;",
            // Only those that run count.
            "if i < 4u { words[i * 20u] = 1u; }",
        ] {
            run(right).unwrap();
        }
        for (wrong, error) in [
            (
                "words[0] = next(i + 32u);",
                "loads word 64 of the 64 that are bound: line 5, `return words[i + 1u];`, of next, called by main",
            ),
            (
                "words[0] = next(i - 2u);",
                "loads word 4294967295 of the 64 that are bound: line 5, `return words[i + 1u];`, of next, called by main",
            ),
            (
                "words[i * 3u] = 0u;",
                "stores to word 66 of the 64 that are bound: line 9, `words[i * 3u] = 0u;`, of main",
            ),
            (
                "let b = blocks[i]; words[0] = b.x;",
                "loads word 64 of the 64 that are bound: line 9, `let b = blocks[i]; words[0] = b.x;`, of main",
            ),
            // The bytes of such a block are beyond 32 bits.
            (
                "blocks[0x40000000u + i].y = 1u;",
                "stores to word 4294967295 of the 64 that are bound: line 9, `blocks[0x40000000u + i].y = 1u;`, of main",
            ),
        ] {
            assert_eq!(run(wrong).unwrap_err().to_string(), error);
        }
    }

    struct Strict;

    impl Watch for Strict {
        const STRICT: bool = true;

        fn max_iterations(&self) -> u32 {
            8
        }
    }

    /// Runs a kernel on 64 words, of which the first 32 were written, with two workgroups of 40.
    fn strict(body: &str) -> Result<()> {
        let text = format!(
            "@group(0) @binding(1) var<storage, read_write> words: array<u32>;
            @group(0) @binding(2) var<storage, read_write> atoms: array<atomic<u32>>;
            @group(0) @binding(3) var<storage, read_write> numbers: array<atomic<i32>>;
            var<workgroup> shared_words: array<u32, 40>;
            @compute @workgroup_size(40)
            fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3<u32>) {{
                var few: array<array<u32, 4>, 4>;
                {body}
            }}"
        );
        let mut all = Ok(());
        for (side, order) in [(1, Order::Ascending), (2, Order::Ascending), (1, Order::Descending)]
        {
            let mut words = vec![7; 64];
            words[32..].fill(STALE);
            let mut memory = Memory::new(vec![words, vec![0; 4]]);
            memory.follow();
            memory.order = order;
            memory.shadow.sets.size = 4;
            memory.shadow.shades[0][..32].fill([PLAIN; 4]);
            memory.shadow.shades[1].fill([PLAIN; 4]);
            let words = Binding { buffer: 0, first: 0, len: 64 };
            let atoms = Binding { buffer: 1, first: 0, len: 4 };
            let bindings = HashMap::from([(1, words), (2, atoms), (3, atoms)]);
            let (params, grid) = (HashMap::new(), [2, 1, 1]);
            let found =
                Program::new(&text)?.run(grid, side, &params, &bindings, &mut memory, &mut Strict);
            // Whether something is refused does not depend on the order.
            if side != 1 || order != Order::Ascending {
                assert_eq!(all.is_ok(), found.is_ok(), "{body}: {all:?}, {found:?}");
            }
            all = found;
        }
        all
    }

    #[test]
    fn a_strict_machine_refuses_what_no_result_shows() {
        for right in [
            "if g.x == 0u { words[i] = i; }",
            "atomicMax(&atoms[0], i); atomicAdd(&atoms[1], 1u); atomicOr(&atoms[2], i);",
            // Each sets and clears bits of its own.
            "let b = i + g.x * 40u; if b < 32u { atomicAnd(&atoms[0], ~(1u << b)); atomicOr(&atoms[0], (b & 1u) << b); }",
            "shared_words[i] = i; workgroupBarrier(); few[0][0] = shared_words[39u - i];",
            // Unwritten memory may be loaded if it is not used.
            "let a = words[40]; if i == 0u && g.x == 0u { words[0] = select(a, 1u, i == 0u); }",
            // With a bound, if what is loaded there is not used.
            "let a = words[min(words[40], 63u)]; if i + g.x == 0u { words[0] = a & 0u; }",
            "let a = words[min(words[40], 15u) * 4u + 3u];",
            "let v = vec4<u32>(i); let a = v[min(words[40], 3u)];",
            "for (var j = 0u; j < 8u; j++) { few[j % 4u][j % 4u] = j; }",
            "let a = words[select(i << (i + 8u), 0u, i > 1u) & 31u];",
            // Pitches may be negative.
            "let a = words[8u + 3u * 0xfffffffeu];",
            // A workgroup as a whole may skip a barrier.
            "if g.x == 0u { workgroupBarrier(); }",
        ] {
            strict(right).unwrap_or_else(|error| panic!("{right}: {error}"));
        }
        for (wrong, part) in [
            ("let a = words[i + 30u];", "loads word 64 of the 64"),
            ("words[(i + g.x * 40u) * 2u] = 1u;", "of the 64 that are bound"),
            ("words[i] = g.x;", "both use word"),
            ("let a = words[0]; if i == 9u { words[0] = 1u; }", "both use word 0 of buffer 0"),
            (
                "atomicMax(&atoms[0], i); let a = words[0];
                if i == 0u && g.x == 0u { words[1] = a; } else { let b = words[1]; }",
                "both use word 1 of buffer 0",
            ),
            ("atomicStore(&atoms[0], 1u);", "both use word 0 of buffer 1"),
            ("atomicMax(&atoms[0], i); atomicAdd(&atoms[0], i);", "both use word 0 of buffer 1"),
            (
                "atomicOr(&atoms[0], i); let a = atomicLoad(&atoms[0]);",
                "both use word 0 of buffer 1",
            ),
            ("atomicAnd(&atoms[0], ~i); atomicOr(&atoms[0], i);", "both use word 0 of buffer 1"),
            ("atomicAnd(&atoms[0], ~i); atomicMax(&atoms[0], i);", "both use word 0 of buffer 1"),
            (
                "let a = atomicAdd(&atoms[0], 1u); words[a & 63u] = 1u;",
                "an atomic finds what the order decides",
            ),
            ("if i < 9u { workgroupBarrier(); }", "not all invocations of workgroup"),
            ("if i > 8u { return; } workgroupBarrier();", "not all invocations of workgroup"),
            ("if shared_words[i] == 1u { few[0][0] = 1u; }", "decides by memory that nobody wrote"),
            ("let a = words[shared_words[i] & 3u];", "decides by memory that nobody wrote"),
            ("if words[40] == 1u { few[0][0] = 1u; }", "decides by memory that nobody wrote"),
            // Only the bound is checked, so nothing may make the address larger where memory holds less.
            ("let a = words[min(words[40], 32u) - 1u];", "decides by memory that nobody wrote"),
            ("let a = words[63u - min(words[40], 63u)];", "decides by memory that nobody wrote"),
            ("let a = words[min(words[40], 31u) ^ 3u];", "decides by memory that nobody wrote"),
            ("let a = words[min(words[40] & 15u, 31u)];", "decides by memory that nobody wrote"),
            (
                "let a = words[min(words[40], 31u) - min(words[41], 31u)];",
                "decides by memory that nobody wrote",
            ),
            (
                "let a = words[select(0u, 63u, min(words[40], 3u) < min(words[41], 3u))];",
                "decides by memory that nobody wrote",
            ),
            (
                "let a = words[countLeadingZeros(min(words[40], 1u))];",
                "decides by memory that nobody wrote",
            ),
            (
                "let a = few[min(words[40], 3u)][(0x10000u * (i + 0x10000u)) & 3u];",
                "a product beyond 32 bits",
            ),
            (
                "let v = vec4<u32>(i); if v[min(words[40], 3u)] == 4u { few[0][0] = 1u; }",
                "decides by memory that nobody wrote",
            ),
            (
                "let a = few[min(shared_words[i], 3u)][i & 3u]; if a == 1u { few[0][0] = 1u; }",
                "decides by memory that nobody wrote",
            ),
            ("shared_words[i] = 1u; storageBarrier();", "orders no memory of the workgroup"),
            ("atomicMax(&numbers[0], i32(i));", "is not known"),
            ("let a = words[(i << (i + 24u)) & 31u];", "a shift by 32 or more"),
            ("let a = words[i >> (i + 24u)];", "a shift by 32 or more"),
            ("few[0][i] = 1u;", "uses element 4 of 4"),
            ("let a = few[i % 4u][i % 5u];", "uses element 4 of 4"),
            ("let a = words[((i + 0x10001u) * (i + 0x10000u)) & 31u];", "a product beyond 32 bits"),
            ("for (var j = 0u; j < 9u; j++) { few[0][0] = j; }", "runs more than 8 times"),
        ] {
            let Err(found) = strict(wrong) else { panic!("{wrong} is not refused") };
            let found = format!("{found:#}");
            assert!(found.contains(part), "{wrong}: {found}");
        }
    }
}
