//! Statements: which invocations run them, and what they store.

use std::rc::Rc;

use anyhow::{Context, Result, bail};
use wgmax::wgpu::naga::{
    AtomicFunction, Barrier, BinaryOperator, Block, Expression, Handle, Literal, ScalarKind,
    Statement, SwitchValue, TypeInner,
};

use super::memory::Act;
use super::shade::{PLAIN_WORD, Shades};
use super::shading::merge_shades;
use super::timing::Trace;
use super::value::{LANES, Mask, Slot, Words, lanes};
use super::{Machine, Watch};

/// The invocations that have left a loop's body or a case early.
pub struct Flow {
    broken: Mask,
    continued: Mask,
}

impl Flow {
    pub fn new(warps: usize) -> Self {
        Self { broken: Mask::none(warps), continued: Mask::none(warps) }
    }
}

impl<W: Watch> Machine<'_, W> {
    /// Runs a block, and gives the invocations that reach its end.
    pub fn block(&mut self, block: &Block, mut mask: Mask, flow: &mut Flow) -> Result<Mask> {
        for statement in block.iter() {
            if mask.is_none() {
                break;
            }
            mask = self.statement(statement, mask, flow)?;
        }
        Ok(mask)
    }

    fn statement(&mut self, statement: &Statement, mask: Mask, flow: &mut Flow) -> Result<Mask> {
        match statement {
            Statement::Emit(range) => {
                let running: Vec<usize> = mask.warps().collect();
                for handle in range.clone() {
                    self.evaluate(handle, &mask, &running)?;
                }
            }
            Statement::Block(block) => return self.block(block, mask, flow),
            Statement::If { condition, accept, reject } => {
                if W::STRICT && self.only_saves_an_atomic(*condition, accept, reject)? {
                    return self.block(accept, mask, flow);
                }
                self.decides(*condition, &mask)?;
                self.wait_for(*condition, &mask)?;
                let (yes, no) = mask.split(&self.value(*condition)?);
                let yes = self.block(accept, yes, flow)?;
                let no = self.block(reject, no, flow)?;
                return Ok(yes.with(&no));
            }
            Statement::Loop { body, continuing, break_if } => {
                return self.repeat(body, continuing, *break_if, mask, flow);
            }
            Statement::Switch { selector, cases } => {
                self.decides(*selector, &mask)?;
                self.wait_for(*selector, &mask)?;
                let selector = self.value(*selector)?;
                let mut inner = Flow::new(self.warps);
                let (mut left, mut done) = (mask, Mask::none(self.warps));
                let mut falling = Mask::none(self.warps);
                // The default case comes last in our shaders.
                for case in cases {
                    let (chosen, others) = match case.value {
                        SwitchValue::Default => (left, Mask::none(self.warps)),
                        SwitchValue::I32(value) => left.split(&equal(&selector, value as u32)),
                        SwitchValue::U32(value) => left.split(&equal(&selector, value)),
                    };
                    left = others;
                    let end = self.block(&case.body, chosen.with(&falling), &mut inner)?;
                    falling = Mask::none(self.warps);
                    match case.fall_through {
                        true => falling = end,
                        false => done = done.with(&end),
                    }
                }
                flow.continued = flow.continued.with(&inner.continued);
                return Ok(done.with(&left).with(&inner.broken));
            }
            Statement::Break => {
                flow.broken = flow.broken.with(&mask);
                return Ok(Mask::none(self.warps));
            }
            Statement::Continue => {
                flow.continued = flow.continued.with(&mask);
                return Ok(Mask::none(self.warps));
            }
            Statement::Return { value } => {
                let words = value.map(|value| self.value(value)).transpose()?;
                let warps = self.warps;
                let frame = self.frames.last_mut().context("no function runs")?;
                frame.returned = frame.returned.with(&mask);
                if let (true, Some(value)) = (W::TIMED, value) {
                    let trace = frame.traces[value.index()];
                    let batch = frame.value_trace.map_or(0, |all| all.batch).max(trace.batch);
                    let was_splat = frame.value_trace.is_none_or(|all| all.is_splat);
                    let is_splat = was_splat && trace.is_splat;
                    frame.value_trace = Some(Trace { batch, is_splat });
                }
                if let Some(words) = words {
                    let all = frame.value.get_or_insert_with(|| words.to_vec());
                    merge(all, &words, &mask, warps);
                    if let (true, Some(value)) = (W::STRICT, value) {
                        let new = frame.shades[value.index()].clone();
                        merge_shades(&mut frame.value_shades, &new, words.len(), &mask, warps);
                    }
                }
                return Ok(Mask::none(self.warps));
            }
            // All invocations that run are here already.
            Statement::ControlBarrier(memory) => {
                if !memory.contains(Barrier::WORK_GROUP) {
                    bail!("a barrier of {memory:?}, which orders no memory of the workgroup");
                }
                self.check_barrier(&mask)?;
                self.wait(&mask);
                self.watch.barrier(mask.warps().count() as u64);
                self.epoch += 1;
            }
            Statement::MemoryBarrier(_) => {}
            Statement::Store { pointer, value } => {
                if W::TIMED {
                    self.store_batch(*pointer, *value)?;
                }
                let (value, shades) = (self.value(*value)?, self.shades(*value)?);
                self.store(*pointer, &value, &shades, &mask)?;
            }
            Statement::Atomic { pointer, fun, value, result } => {
                let (value, shades) = (self.value(*value)?, self.shades(*value)?);
                let (old, old_shades) = self.atomic(*pointer, fun, &value, &shades, &mask)?;
                if let Some(result) = result {
                    self.set(*result, Slot::Value(old))?;
                    self.set_shades(*result, old_shades)?;
                }
            }
            Statement::Call { function, arguments, result } => {
                let slots = arguments.iter().map(|&handle| self.slot(handle).cloned());
                let slots = slots.collect::<Result<_>>()?;
                let shades = arguments.iter().map(|&handle| self.shades(handle));
                let shades = shades.collect::<Result<_>>()?;
                if W::TIMED {
                    let traces = arguments.iter().map(|&handle| self.trace(handle));
                    self.flight.passed = traces.collect::<Result<_>>()?;
                }
                let (value, shades) = self.call_known(*function, slots, shades, &mask)?;
                let trace = std::mem::take(&mut self.flight.passed);
                if let (Some(result), Some(value)) = (result, value) {
                    self.set(*result, Slot::Value(value))?;
                    self.set_trace(*result, trace.first().copied().unwrap_or_default())?;
                    self.set_shades(*result, shades)?;
                }
            }
            other => bail!("the statement {other:?} is not known"),
        }
        Ok(mask)
    }

    /// Whether a branch skips only an atomic maximum with 0, which changes nothing. So all invocations may
    /// take it.
    fn only_saves_an_atomic(
        &self,
        condition: Handle<Expression>,
        accept: &Block,
        reject: &Block,
    ) -> Result<bool> {
        let expressions = &self.function(self.frame()?.which).expressions;
        let Expression::Binary { op: BinaryOperator::NotEqual, left, right } =
            expressions[condition]
        else {
            return Ok(false);
        };
        let zero = matches!(expressions[right], Expression::Literal(Literal::U32(0)));
        let maximum = |statement: &&Statement| matches!(statement, Statement::Atomic { fun: AtomicFunction::Max, value, .. } if *value == left);
        let others = accept.iter().filter(|statement| !matches!(statement, Statement::Emit(_)));
        let others: Vec<_> = others.collect();
        Ok(zero && reject.is_empty() && others.len() == 1 && others.iter().all(maximum))
    }

    fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
        mask: Mask,
        outer: &mut Flow,
    ) -> Result<Mask> {
        let (mut left, mut running) = (Mask::none(self.warps), mask.clone());
        let mut iterations = 0;
        let is_unrolled = self.is_unrolled(body)?;
        while !running.is_none() {
            let mut flow = Flow::new(self.warps);
            let end = self.block(body, running.clone(), &mut flow)?;
            let next = end.with(&flow.continued);
            // Iterations that only find that the loop has ended do not count.
            iterations += u32::from(!next.is_none());
            if W::STRICT && iterations > self.watch.max_iterations() {
                bail!("a loop of {} runs more than {} times", self.callers(), iterations - 1);
            }
            for warp in next.warps() {
                self.watch.iteration(next.count(warp), mask.count(warp))?;
            }
            let next = self.block(continuing, next, outer)?;
            if !is_unrolled {
                self.wait(&running);
            }
            left = left.with(&flow.broken);
            running = match break_if {
                Some(condition) if !next.is_none() => {
                    self.decides(condition, &next)?;
                    let (done, on) = next.split(&self.value(condition)?);
                    left = left.with(&done);
                    on
                }
                _ => next,
            };
        }
        Ok(left)
    }

    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        value: &Words,
        shades: &Shades,
        mask: &Mask,
    ) -> Result<(Words, Shades)> {
        let act = |warp: usize, lane: usize| Act::of_atomic(function, value[warp][lane]);
        self.watch_access(pointer, mask, act)?;
        let (inner, _) = self.target(pointer)?;
        if !matches!(inner, TypeInner::Atomic(scalar) if scalar.kind == ScalarKind::Uint) {
            bail!("an atomic function of {inner:?} is not known");
        }
        let (old, _) = self.read(pointer, mask)?;
        let mut old_shades = None;
        if W::STRICT {
            let reason =
                format!("an atomic finds what the order decides: {}", self.place(pointer)?);
            let byte = self.memory.shadow.reason(reason);
            old_shades = Some(Rc::new(vec![[[byte; 4]; LANES]; self.warps]));
        }
        // One invocation after the other, as two may meet in a word.
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                let value = value[warp][lane];
                if W::STRICT {
                    let shade = shades.as_ref().map_or(PLAIN_WORD, |all| all[warp][lane]);
                    self.shade_atomic(pointer, function, warp, lane, (shade, value))?;
                }
                let word = self.word_at(pointer, warp, lane)?;
                *word = match function {
                    AtomicFunction::Add => word.wrapping_add(value),
                    AtomicFunction::And => *word & value,
                    AtomicFunction::InclusiveOr => *word | value,
                    AtomicFunction::Max => value.max(*word),
                    AtomicFunction::Min => value.min(*word),
                    AtomicFunction::Exchange { compare: None } => value,
                    other => bail!("the atomic function {other:?} is not known"),
                };
            }
        }
        Ok((old, old_shades))
    }
}

/// Replaces the words of the invocations that run.
pub fn merge(all: &mut [super::Lane32], words: &[super::Lane32], mask: &Mask, warps: usize) {
    for (i, (all, words)) in all.iter_mut().zip(words).enumerate() {
        match mask.0[i % warps] {
            0 => {}
            u32::MAX => *all = *words,
            some => lanes(some).for_each(|lane| all[lane] = words[lane]),
        }
    }
}

fn equal(selector: &[super::Lane32], value: u32) -> Vec<super::Lane32> {
    selector.iter().map(|words| words.map(|word| u32::from(word == value))).collect()
}
