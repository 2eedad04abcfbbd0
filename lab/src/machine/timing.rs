//! What a warp waits for and computes: loads that are in flight together, operations that compilers leave,
//! and conflicts between the banks of workgroup memory.
//!
//! Compilers move the loads of straight code together. So loads are in flight until the place of another load
//! or a branch depends on one of them, the body of a loop without a constant end ends, or a barrier comes;
//! then all have arrived. Each value has a *batch*: the number of the newest loads that it is made of.

use anyhow::{Context, Result};
use wgmax::wgpu::naga::{BinaryOperator, Block, Expression, Handle, Statement};

use super::value::{Base, Lane32, Mask, Slot, lanes};
use super::{Machine, Watch};

/// What is known of a value beside its words.
#[derive(Clone, Copy, Default)]
pub struct Trace {
    /// The newest loads that it is made of; 0 for none.
    pub batch: u32,
    /// Whether all components are computed alike, from one number.
    pub is_splat: bool,
}

/// Banks of workgroup memory, a word each.
const BANKS: usize = 32;

/// The loads that are in flight.
#[derive(Default)]
pub struct Flight {
    /// The number of the last batch that arrived, and the loads since then.
    arrived: u32,
    loads: u32,
    /// The arguments of a call that begins, or the value of one that ended.
    pub passed: Vec<Trace>,
}

impl<W: Watch> Machine<'_, W> {
    /// The trace of a value or a pointer.
    pub fn trace(&self, handle: Handle<Expression>) -> Result<Trace> {
        if !W::TIMED {
            return Ok(Trace::default());
        }
        Ok(self.frame()?.traces[handle.index()])
    }

    pub fn set_trace(&mut self, handle: Handle<Expression>, trace: Trace) -> Result<()> {
        if W::TIMED {
            self.frames.last_mut().context("no function runs")?.traces[handle.index()] = trace;
        }
        Ok(())
    }

    /// Warps go on only if a value has arrived.
    pub fn wait_for(&mut self, handle: Handle<Expression>, mask: &Mask) -> Result<()> {
        if self.trace(handle)?.batch > self.flight.arrived {
            self.wait(mask);
        }
        Ok(())
    }

    /// Warps wait for all loads.
    pub fn wait(&mut self, mask: &Mask) {
        if self.flight.loads > 0 {
            self.watch.wait(self.flight.loads, mask.warps().count() as u64);
            self.flight.arrived += 1;
            self.flight.loads = 0;
        }
    }

    /// Notes the trace of an expression that is evaluated.
    pub fn follow_loads(
        &mut self,
        handle: Handle<Expression>,
        expression: &Expression,
        mask: &Mask,
    ) -> Result<()> {
        let parts: Vec<_> = match expression {
            Expression::Compose { components, .. } => components.clone(),
            Expression::Splat { value: part, .. }
            | Expression::Swizzle { vector: part, .. }
            | Expression::Unary { expr: part, .. }
            | Expression::Relational { argument: part, .. }
            | Expression::As { expr: part, .. }
            | Expression::AccessIndex { base: part, .. }
            | Expression::Load { pointer: part } => vec![*part],
            Expression::Binary { left, right, .. } => vec![*left, *right],
            Expression::Select { condition, accept, reject } => vec![*condition, *accept, *reject],
            Expression::Math { arg, arg1, arg2, .. } => {
                [Some(*arg), *arg1, *arg2].into_iter().flatten().collect()
            }
            Expression::Access { base, index } => vec![*base, *index],
            _ => Vec::new(),
        };
        let traces = parts.iter().map(|&part| self.trace(part)).collect::<Result<Vec<_>>>()?;
        let mut batch = traces.iter().map(|trace| trace.batch).max().unwrap_or(0);
        if let Expression::Load { pointer } = expression {
            match self.pointer(*pointer)?.0 {
                Base::Local(depth, variable) => {
                    batch = self.frames[depth].local_batches[variable.index()];
                }
                Base::Global(variable) if self.storage.contains_key(&variable) => {
                    self.wait_for(*pointer, mask)?;
                    batch = self.flight.arrived + 1;
                    self.flight.loads += 1;
                }
                Base::Global(variable) if self.uniform.contains_key(&variable) => batch = 0,
                // Made of loads that have arrived.
                Base::Global(_) => batch = self.flight.arrived.max(1),
            }
        }
        let is_splat = match expression {
            Expression::Splat { .. } => true,
            Expression::As { .. } | Expression::Swizzle { .. } => {
                parts.iter().all(|&part| self.is_splat(part))
            }
            _ if is_computed(expression) => parts.iter().all(|&part| self.is_splat(part)),
            _ => false,
        };
        self.set_trace(handle, Trace { batch, is_splat })
    }

    /// Whether a value has one component, or all are computed alike.
    fn is_splat(&self, handle: Handle<Expression>) -> bool {
        let Ok(Slot::Value(words)) = self.slot(handle) else { return false };
        let trace = self.trace(handle).unwrap_or_default();
        let mut components = words.chunks(self.warps);
        let first = components.next();
        trace.is_splat || components.all(|words| trace.batch == 0 && Some(words) == first)
    }

    /// A variable of an invocation gets a value.
    pub fn store_batch(
        &mut self,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Result<()> {
        if let Base::Local(depth, variable) = self.pointer(pointer)?.0 {
            let batch = self.trace(value)?.batch;
            let all = &mut self.frames[depth].local_batches[variable.index()];
            *all = batch.max(*all);
        }
        Ok(())
    }

    /// Whether compilers unroll a loop: a variable counts up to a constant.
    pub fn is_unrolled(&self, body: &Block) -> Result<bool> {
        let expressions = &self.function(self.frame()?.which).expressions;
        let first = body.iter().find(|statement| !matches!(statement, Statement::Emit(_)));
        let Some(Statement::If { condition, reject, .. }) = first else { return Ok(false) };
        let Expression::Binary { op: BinaryOperator::Less, left, right } = expressions[*condition]
        else {
            return Ok(false);
        };
        let is_variable = matches!(expressions[left], Expression::Load { pointer }
            if matches!(expressions[pointer], Expression::LocalVariable(_)));
        let is_constant =
            matches!(expressions[right], Expression::Literal(_) | Expression::Constant(_));
        Ok(is_variable && is_constant && matches!(reject.first(), Some(Statement::Break)))
    }

    /// Counts the results that an operation computes. Components that are computed alike count once. Of what
    /// depends on no load, such as places and parameters, a component that equals an earlier one does not
    /// count, and one that is the same in a whole workgroup is counted apart.
    pub fn count_operations(
        &mut self,
        handle: Handle<Expression>,
        results: &[Lane32],
        mask: &Mask,
    ) -> Result<()> {
        let Trace { batch, is_splat } = self.trace(handle)?;
        let name = self.function(self.frame()?.which).name.as_deref().unwrap_or("main");
        let (mut each, mut common) = (0, 0);
        for first in (0..self.warps).step_by(self.group_warps) {
            let group = first..first + self.group_warps;
            let running = group.clone().filter(|&warp| mask.0[warp] != 0).count() as u64;
            if running == 0 {
                continue;
            }
            let components: Vec<_> =
                results.chunks(self.warps).map(|words| &words[group.clone()]).collect();
            for (i, component) in components.iter().enumerate() {
                let is_known = batch == 0 && components[..i].contains(component);
                if is_known || is_splat && i > 0 {
                    continue;
                }
                match batch == 0 && is_common(component, &mask.0[group.clone()]) {
                    true => common += running,
                    false => each += running,
                }
            }
        }
        self.watch.operations(name, each, common);
        Ok(())
    }

    /// Tells how long warps use workgroup memory: a step for each word of the same bank.
    pub fn watch_banks(&mut self, start: &[Lane32], words: usize, mask: &Mask) {
        let mut steps = 0;
        for warp in mask.warps() {
            let mut banks = [const { Vec::new() }; BANKS];
            for lane in lanes(mask.0[warp]) {
                for word in start[warp][lane]..start[warp][lane] + words as u32 {
                    let bank = &mut banks[word as usize % BANKS];
                    if !bank.contains(&word) {
                        bank.push(word);
                    }
                }
            }
            steps += banks.iter().map(Vec::len).max().unwrap_or(0) as u64;
        }
        self.watch.workgroup_steps(steps);
    }
}

pub fn is_computed(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Select { .. }
            | Expression::Relational { .. }
            | Expression::Math { .. }
    )
}

/// Whether all invocations of a workgroup that run have the same word. One alone computes for itself.
fn is_common(words: &[Lane32], masks: &[u32]) -> bool {
    let mut running =
        words.iter().zip(masks).flat_map(|(words, &mask)| lanes(mask).map(move |lane| words[lane]));
    let first = running.next();
    let mut others = running.peekable();
    others.peek().is_some() && others.all(|word| Some(word) == first)
}
