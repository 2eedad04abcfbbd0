//! What a strict machine does besides computing: it follows what bytes stand for (`shade`) through
//! expressions, variables and buffers, and refuses
//! - elements, and memory that nobody wrote, if they decide how the program branches or what it
//!   loads and stores;
//! - indices outside of arrays, and products beyond 32 bits in them;
//! - words of buffers that two invocations of a launch use, if the order changes the result;
//! - barriers that not all invocations of a workgroup reach.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use wgmax::wgpu::naga::valid::GlobalUse;
use wgmax::wgpu::naga::{
    AddressSpace, ArraySize, AtomicFunction, BinaryOperator, Expression, Function, Handle,
    MathFunction, ScalarKind, TypeInner, UnaryOperator,
};

use super::arithmetic::Warps;
use super::choice::Sets;
use super::layout::{Packing, member, member_offset};
use super::memory::{Act, Binding};
use super::shade::{
    BOUNDED, ELEMENT, KEY, LaneShade, MIXED, Operand, PLAIN, PLAIN_WORD, RAW, Shade, Shades,
    UNWRITTEN, WRAPPED, binary, computed, is_mixed, mix,
};
use super::sum;
use super::value::{Base, LANES, Lane32, Mask, Slot, Words, lanes};
use super::{Machine, Watch, Which};
use crate::keys::{self, Ranking};

const PLAIN_LANES: LaneShade = [PLAIN_WORD; LANES];

/// Replaces what the values of the invocations that run stand for.
pub fn merge_shades(all: &mut Shades, new: &Shades, len: usize, mask: &Mask, warps: usize) {
    if all.is_none() && new.is_none() {
        return;
    }
    let all = Rc::make_mut(all.get_or_insert_with(|| Rc::new(vec![PLAIN_LANES; len])));
    for (i, all) in all.iter_mut().enumerate() {
        for lane in lanes(mask.0[i % warps]) {
            all[lane] = new.as_ref().map_or(PLAIN_WORD, |new| new[i][lane]);
        }
    }
}

/// Functions whose meaning the machine knows, if they take elements. `functions` tests each by itself.
#[derive(Clone, Copy)]
enum Known {
    /// Words of elements become keys.
    Keys,
    /// Words of keys become elements.
    Elements,
    /// Words of elements of 16 bits become keys, each at the top of a word: the first ones of all words,
    /// then the second ones. Where the third argument, a mask, is 0, they are 0.
    Halves,
    /// The larger of two keys of 64 bits, for each pair of words.
    Pairs(&'static [[usize; 2]]),
    /// The ranks of keys: the words of each, and the byte with which a key begins.
    Ranks(&'static [&'static [usize]], usize),
    /// Whether such ranks are above others if true, or else equal.
    Compare(&'static [&'static [usize]], bool),
    /// A step of a sum.
    Sum(sum::Function),
}

const SINGLE: &[&[usize]] = &[&[0]];
const SINGLE_PAIR: &[&[usize]] = &[&[0, 1]];
const VECTOR: &[&[usize]] = &[&[0], &[1], &[2], &[3]];
const VECTOR_PAIRS: &[&[usize]] = &[&[0, 1], &[2, 3]];

impl Known {
    fn new(name: &str, size: usize) -> Option<Self> {
        const PAIR: &[[usize; 2]] = &[[0, 1]];
        const BLOCK: &[[usize; 2]] = &[[0, 1], [2, 3]];
        // The low words of both, then the high ones.
        const ACC: &[[usize; 2]] = &[[0, 2], [1, 3]];
        let single = if size == 8 { SINGLE_PAIR } else { SINGLE };
        let vector = if size == 8 { VECTOR_PAIRS } else { VECTOR };
        Some(match (name, size) {
            ("element_key_with", _) => Self::Keys,
            ("element_words", _) => Self::Elements,
            ("key_rank", _) => Self::Ranks(single, 0),
            ("vector_rank", _) => Self::Ranks(vector, 4usize.saturating_sub(size)),
            ("key_above", _) => Self::Compare(single, true),
            ("key_equal", _) => Self::Compare(single, false),
            ("vector_above", _) => Self::Compare(vector, true),
            ("vector_equal", _) => Self::Compare(vector, false),
            ("acc_of" | "acc_masked", 2) => Self::Halves,
            ("key_max", 8) => Self::Pairs(PAIR),
            ("vector_max", 8) => Self::Pairs(BLOCK),
            ("acc_max", 8) => Self::Pairs(ACC),
            ("widen", _) => Self::Sum(sum::Function::Widen),
            ("add_rounded", _) => Self::Sum(sum::Function::Add),
            ("narrow", _) => Self::Sum(sum::Function::Narrow),
            _ => return None,
        })
    }
}

fn lane_of(shades: &Shades, at: usize) -> &LaneShade {
    shades.as_ref().map_or(&PLAIN_LANES, |all| &all[at])
}

impl<W: Watch> Machine<'_, W> {
    pub fn shades(&self, handle: Handle<Expression>) -> Result<Shades> {
        Ok(match W::STRICT {
            true => self.frame()?.shades[handle.index()].clone(),
            false => None,
        })
    }

    pub fn set_shades(&mut self, handle: Handle<Expression>, shades: Shades) -> Result<()> {
        if W::STRICT {
            let frame = self.frames.last_mut().context("no function runs")?;
            frame.shades[handle.index()] = shades;
        }
        Ok(())
    }

    /// The workgroup and the number within it of an invocation.
    pub fn invocation(&self, warp: usize, lane: usize) -> String {
        let group = self.first + (warp / self.group_warps) as u64;
        format!("invocation {} of workgroup {group}", warp % self.group_warps * LANES + lane)
    }

    /// Refuses a value that stands for more than its bits, in the invocations that run.
    pub fn decides(&self, handle: Handle<Expression>, mask: &Mask) -> Result<()> {
        let Some(shades) = self.shades(handle)? else { return Ok(()) };
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                let byte = mix(shades[warp][lane]);
                if byte != PLAIN {
                    let what = self.describe(byte);
                    let who = self.invocation(warp, lane);
                    bail!("{who} decides by {what}: {}", self.place(handle)?);
                }
            }
        }
        Ok(())
    }

    fn describe(&self, byte: u32) -> String {
        self.memory.shadow.describe(byte)
    }

    /// Refuses a barrier that only some invocations of a workgroup reach.
    pub fn check_barrier(&self, mask: &Mask) -> Result<()> {
        if W::STRICT {
            for group in 0..self.warps / self.group_warps {
                let warps = group * self.group_warps..(group + 1) * self.group_warps;
                let here = &mask.0[warps.clone()];
                if here.iter().any(|&lanes| lanes != 0) && *here != self.running.0[warps] {
                    let group = self.first + group as u64;
                    bail!(
                        "not all invocations of workgroup {group} reach a barrier of {}",
                        self.callers()
                    );
                }
            }
        }
        Ok(())
    }

    /// Refuses an index that is outside its array, or made of more than bits.
    pub fn check_index(
        &self,
        base: Handle<Expression>,
        index: Handle<Expression>,
        mask: &Mask,
    ) -> Result<()> {
        if !W::STRICT {
            return Ok(());
        }
        if self.shades(index)?.is_some() {
            self.check_address(index, mask)?;
        }
        let inner = match self.is_pointer(base)? {
            true => self.target(base)?.0,
            false => self.inner(base)?.clone(),
        };
        let count = match inner {
            TypeInner::Vector { size, .. } => size as u32,
            TypeInner::Array { size: ArraySize::Constant(count), .. } => count.get(),
            _ => return Ok(()),
        };
        let index_words = self.value(index)?;
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                let at = index_words[warp][lane];
                if at >= count {
                    let who = self.invocation(warp, lane);
                    bail!("{who} uses element {at} of {count}: {}", self.place(index)?);
                }
            }
        }
        Ok(())
    }

    /// Refuses an address to load from that is made of more than bits. Unwritten memory with a bound is
    /// allowed: it holds a number above all bounds, so the bound itself is checked.
    fn check_address(&self, index: Handle<Expression>, mask: &Mask) -> Result<()> {
        let Some(shades) = self.shades(index)? else { return Ok(()) };
        let lanes = |warp: usize| lanes(mask.0[warp]).map(move |lane| (warp, lane));
        let mut all = mask.warps().flat_map(lanes).map(|(warp, lane)| mix(shades[warp][lane]));
        match all.all(|byte| byte == PLAIN || byte == BOUNDED) {
            true => Ok(()),
            false => self.decides(index, mask),
        }
    }

    /// What a loaded value stands for, by its address too.
    pub fn loaded(
        &self,
        pointer: Handle<Expression>,
        shades: Shades,
        len: usize,
    ) -> Result<Shades> {
        let Some(address) = self.shades(pointer)? else { return Ok(shades) };
        let mut all = shades.map_or_else(|| vec![PLAIN_LANES; len], |shades| shades.to_vec());
        for (at, all) in all.iter_mut().enumerate() {
            for (shade, address) in all.iter_mut().zip(&address[at % self.warps]) {
                if *address != PLAIN_WORD {
                    *shade = [UNWRITTEN; 4];
                }
            }
        }
        Ok(compact(all))
    }

    /// Notes who uses the words of a buffer.
    pub fn note_uses(
        &mut self,
        pointer: Handle<Expression>,
        binding: Binding,
        start: &Lane32,
        words: usize,
        (warp, mask): (usize, &Mask),
        act: impl Fn(usize, usize) -> Act,
    ) -> Result<()> {
        let invocations = (self.group_warps * LANES) as u32;
        let group = self.first as u32 + (warp / self.group_warps) as u32;
        let first = group * invocations + (warp % self.group_warps * LANES) as u32;
        for lane in lanes(mask.0[warp]) {
            for at in start[lane]..start[lane] + words as u32 {
                let by = first + lane as u32;
                let noted = self.memory.shadow.note(binding, at, by, act(warp, lane));
                if let Err(error) = noted {
                    bail!("{error}: {}", self.place(pointer)?);
                }
            }
        }
        Ok(())
    }

    /// What a word of a variable stands for.
    fn shade_at(
        &mut self,
        base: Base,
        at: u32,
        warp: usize,
        lane: usize,
    ) -> Result<Option<&mut Shade>> {
        let (warps, group_warps) = (self.warps, self.group_warps);
        let far = "an index is beyond the end of a variable";
        Ok(match base {
            Base::Local(depth, variable) => {
                let frame = &mut self.frames[depth];
                let len = frame.locals[variable.index()].len();
                let all = &mut frame.local_shades[variable.index()];
                let all = Rc::make_mut(all.get_or_insert_with(|| Rc::new(vec![PLAIN_LANES; len])));
                let place = at as usize * warps + warp;
                Some(&mut all.get_mut(place).context(far)?[lane])
            }
            Base::Global(handle) => match self.space(handle) {
                AddressSpace::Storage { .. } => {
                    let binding = self.binding(base)?;
                    Some(self.memory.shadow.shade(binding, at))
                }
                AddressSpace::WorkGroup => {
                    let place = at as usize * (warps / group_warps) + warp / group_warps;
                    let all = self.shared_shades.get_mut(&handle).context(far)?;
                    Some(all.get_mut(place).context(far)?)
                }
                _ => None,
            },
        })
    }

    pub fn read_shades(
        &mut self,
        base: Base,
        start: &[Lane32],
        offsets: &[u32],
        mask: &Mask,
    ) -> Result<Shades> {
        if let Base::Local(depth, variable) = base
            && self.frames[depth].local_shades[variable.index()].is_none()
        {
            return Ok(None);
        }
        let mut all = vec![PLAIN_LANES; offsets.len() * self.warps];
        for (i, offset) in offsets.iter().enumerate() {
            for warp in mask.warps() {
                for lane in lanes(mask.0[warp]) {
                    let shade = self.shade_at(base, start[warp][lane] + offset, warp, lane)?;
                    all[i * self.warps + warp][lane] = shade.copied().unwrap_or(PLAIN_WORD);
                }
            }
        }
        Ok(compact(all))
    }

    pub fn store_shades(
        &mut self,
        base: Base,
        start: &[Lane32],
        offsets: &[u32],
        shades: &Shades,
        mask: &Mask,
    ) -> Result<()> {
        if let (Base::Local(depth, variable), None) = (base, shades)
            && self.frames[depth].local_shades[variable.index()].is_none()
        {
            return Ok(());
        }
        for (i, offset) in offsets.iter().enumerate() {
            for warp in mask.warps() {
                for lane in lanes(mask.0[warp]) {
                    let shade = lane_of(shades, i * self.warps + warp)[lane];
                    match self.shade_at(base, start[warp][lane] + offset, warp, lane)? {
                        Some(place) => *place = shade,
                        None if shade == PLAIN_WORD => {}
                        None => bail!("private variables hold no elements"),
                    }
                }
            }
        }
        Ok(())
    }

    /// An atomic function of what a word stands for, before its bits change.
    pub fn shade_atomic(
        &mut self,
        pointer: Handle<Expression>,
        function: &AtomicFunction,
        warp: usize,
        lane: usize,
        value: Operand,
    ) -> Result<()> {
        let (base, start) = self.pointer(pointer)?;
        let at = start[warp][lane];
        let word = *self.word_at(pointer, warp, lane)?;
        let Some(place) = self.shade_at(base, at, warp, lane)? else { return Ok(()) };
        let old = (*place, word);
        let new = match function {
            AtomicFunction::Max => self.memory.shadow.sets.maximum(old, value),
            AtomicFunction::And => binary(BinaryOperator::And, ScalarKind::Uint, old, value),
            AtomicFunction::InclusiveOr => {
                binary(BinaryOperator::InclusiveOr, ScalarKind::Uint, old, value)
            }
            AtomicFunction::Exchange { .. } => value.0,
            _ => [computed(old.0.into_iter().chain(value.0)); 4],
        };
        let place = self.shade_at(base, at, warp, lane)?;
        *place.context("a word is gone")? = new;
        Ok(())
    }

    /// What the value of an evaluated expression stands for.
    pub fn shade_of(
        &mut self,
        handle: Handle<Expression>,
        expression: &Expression,
        warps: Warps,
    ) -> Result<Shades> {
        let len = self.value(handle)?.len();
        let mut all = Vec::new();
        let mut operands = Vec::new();
        let mut add = |machine: &Self, handle: Handle<Expression>| -> Result<()> {
            operands.push((machine.value(handle)?, machine.shades(handle)?));
            Ok(())
        };
        match expression {
            Expression::Compose { components, .. } => {
                components.iter().try_for_each(|&component| add(self, component))?;
            }
            Expression::Splat { value: a, .. }
            | Expression::Swizzle { vector: a, .. }
            | Expression::Unary { expr: a, .. }
            | Expression::Relational { argument: a, .. }
            | Expression::As { expr: a, .. }
            | Expression::AccessIndex { base: a, .. } => add(self, *a)?,
            Expression::Access { base, index } => {
                add(self, *base)?;
                add(self, *index)?;
            }
            Expression::Binary { left, right, .. } => {
                add(self, *left)?;
                add(self, *right)?;
            }
            Expression::Select { condition, accept, reject } => {
                [*condition, *accept, *reject].into_iter().try_for_each(|a| add(self, a))?;
            }
            Expression::Math { arg, arg1, arg2, .. } => {
                let all = [Some(*arg), *arg1, *arg2];
                all.into_iter().flatten().try_for_each(|a| add(self, a))?;
            }
            _ => return Ok(None),
        }
        let may_be_undefined = match expression {
            Expression::Binary { op: BinaryOperator::Multiply, .. } => true,
            Expression::Binary {
                op: BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight,
                ..
            } => operands[1].0.as_flattened().iter().any(|&by| by >= 32),
            _ => false,
        };
        if !may_be_undefined && operands.iter().all(|(_, shades)| shades.is_none()) {
            return Ok(None);
        }
        let count = self.warps;
        let operand = |i: usize, at: usize, lane: usize| -> Operand {
            let (words, shades): &(Words, Shades) = &operands[i];
            let at = at % words.len();
            (lane_of(shades, at)[lane], words[at][lane])
        };
        // Moves of scalars: which scalar each one of the result is.
        let moved: Option<Vec<usize>> = match expression {
            Expression::Compose { .. } => {
                for (words, shades) in &operands {
                    (0..words.len()).for_each(|at| all.push(*lane_of(shades, at)));
                }
                return Ok(compact(all));
            }
            Expression::Splat { size, .. } => Some(vec![0; *size as usize]),
            Expression::Swizzle { size, pattern, .. } => Some(
                pattern[..*size as usize].iter().map(|&component| component as usize).collect(),
            ),
            Expression::AccessIndex { base, index } => {
                let (module, inner) = (&self.program.module, self.inner(*base)?);
                let first = member_offset(module, inner, *index, Packing::Dense)? as usize;
                Some((first..first + len / count).collect())
            }
            _ => None,
        };
        all.resize(len, PLAIN_LANES);
        for at in 0..len {
            let warp = at % count;
            if !warps.running.contains(&warp) {
                continue;
            }
            if let Some(moved) = &moved {
                all[at] = *lane_of(&operands[0].1, moved[at / count] * count + warp);
                continue;
            }
            let scalar_kind = match expression {
                Expression::Binary { left, .. } => self.kind(*left)?,
                Expression::Math { arg, .. } => self.kind(*arg)?,
                Expression::Unary { expr, .. } => self.kind(*expr)?,
                _ => ScalarKind::Uint,
            };
            for (lane, to) in all[at].iter_mut().enumerate() {
                let operand = |i: usize| operand(i, at, lane);
                *to = match expression {
                    Expression::Relational { .. } => {
                        let parts = (0..operands[0].0.len() / count)
                            .map(|i| lane_of(&operands[0].1, i * count + warp)[lane]);
                        [computed(parts.flatten()); 4]
                    }
                    // With a bound, unwritten memory may still name any element.
                    Expression::Access { .. }
                        if lane_of(&operands[1].1, warp)[lane] != PLAIN_WORD =>
                    {
                        [computed(lane_of(&operands[1].1, warp)[lane]); 4]
                    }
                    Expression::Access { base, index } => {
                        let module = &self.program.module;
                        let scalars = member(self.inner(*base)?, 0)?.scalars(module)?;
                        let elements = operands[0].0.len() / count / scalars;
                        let element = self.value(*index)?[warp][lane] as usize;
                        let element = element.min(elements - 1);
                        let from = (element * scalars + at / count) * count + warp;
                        lane_of(&operands[0].1, from)[lane]
                    }
                    _ => {
                        let operands: Vec<Operand> = (0..operands.len()).map(operand).collect();
                        self.memory.shadow.scalar(expression, scalar_kind, &operands)?
                    }
                };
            }
        }
        let Some(mut all) = compact(all) else { return Ok(None) };
        // The place where elements became mixed.
        if all.iter().flatten().flatten().any(|&byte| byte == MIXED) {
            let reason = self.place(handle)?;
            let byte = self.memory.shadow.reason(reason);
            let bytes = Rc::make_mut(&mut all).iter_mut().flatten().flatten();
            bytes.filter(|other| **other == MIXED).for_each(|other| *other = byte);
        }
        Ok(Some(all))
    }

    /// Calls a function. If its meaning is known and it takes elements, the call computes only bits.
    pub fn call_known(
        &mut self,
        function: Handle<Function>,
        arguments: Vec<Slot>,
        shades: Vec<Shades>,
        mask: &Mask,
    ) -> Result<(Option<Words>, Shades)> {
        let name = self.program.module.functions[function].name.as_deref().unwrap_or_default();
        let size = self.memory.shadow.sets.size;
        let known =
            Known::new(name, size).filter(|_| W::STRICT && shades.iter().any(Option::is_some));
        let Some(known) = known else {
            let chosen = self.call_for_winners(function, &arguments, &shades, mask)?;
            let call = |machine: &mut Self| {
                machine.call(Which::Function(function), arguments, shades, mask)
            };
            return chosen.map_or_else(|| call(self), Ok);
        };
        let values: Vec<Words> = arguments
            .iter()
            .map(|slot| match slot {
                Slot::Value(words) => Ok(words.clone()),
                other => bail!("{name} takes {other:?}"),
            })
            .collect::<Result<_>>()?;
        // Whether the second argument is the ranking of the operator.
        let given = |operand: &dyn Fn(usize, usize) -> Operand, ranking: &Ranking| {
            [operand(1, 0).1, operand(1, 1).1] == [ranking.nan_above, ranking.complement]
        };
        let plain = vec![None; shades.len()];
        let (value, _) = self.call(Which::Function(function), arguments, plain, mask)?;
        let result = value.clone().with_context(|| format!("{name} returns nothing"))?;
        let mut all = vec![PLAIN_LANES; result.len()];
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                let operand = |i: usize, scalar: usize| -> Operand {
                    let at = scalar * self.warps + warp;
                    (lane_of(&shades[i], at)[lane], values[i][at][lane])
                };
                let scalars = result.len() / self.warps;
                let (shadow, mut new) = (&mut self.memory.shadow, [PLAIN_WORD; 8]);
                match known {
                    Known::Keys | Known::Elements | Known::Halves => {
                        let bytes: Vec<u32> = (0..4).flat_map(|i| operand(0, i).0).collect();
                        let bytes: [u32; 16] = bytes.try_into().unwrap_or([MIXED; 16]);
                        let (from, to): (&[u32], u32) = match known {
                            Known::Elements => (&[KEY], ELEMENT),
                            _ => (&[RAW, ELEMENT], KEY),
                        };
                        let bytes = shadow.sets.converted(&bytes, size, from, to);
                        let words = std::array::from_fn(|i| operand(0, i).1);
                        let results = |first: usize| -> [u32; 4] {
                            std::array::from_fn(|i| result[(first + i) * self.warps + warp][lane])
                        };
                        let masks: [Operand; 4] = match values.get(2) {
                            Some(_) => std::array::from_fn(|i| operand(2, i)),
                            None => [(PLAIN_WORD, u32::MAX); 4],
                        };
                        let is_whole = |(shade, mask): Operand| {
                            shade == PLAIN_WORD && matches!(mask, 0 | u32::MAX)
                        };
                        if !masks.into_iter().all(is_whole) {
                            bail!("{name} masks parts of a word, in {}", self.callers());
                        }
                        let right = shadow.ranking.is_none_or(|ranking| match known {
                            Known::Elements => keys::elements(&ranking, words) == results(0),
                            Known::Halves => {
                                let right = keys::halves(&ranking, words);
                                let found = [results(0), results(4)].concat();
                                let masks = masks.iter().cycle().map(|mask| mask.1);
                                given(&operand, &ranking)
                                    && right.iter().zip(masks).map(|(a, b)| a & b).eq(found)
                            }
                            _ => {
                                given(&operand, &ranking)
                                    && keys::keys(&ranking, words) == results(0)
                            }
                        });
                        if !right {
                            bail!(
                                "{name} has another order than the operator, in {}",
                                self.callers()
                            );
                        }
                        let words = bytes.as_chunks::<4>().0;
                        if matches!(known, Known::Halves) {
                            new = halves(words, &masks);
                        } else {
                            new[..4].copy_from_slice(words);
                        }
                    }
                    Known::Ranks(groups, first) => {
                        if !shadow.ranking.is_none_or(|ranking| given(&operand, &ranking)) {
                            bail!("{name} has another ranking, in {}", self.callers());
                        }
                        for group in groups {
                            let words: Vec<Operand> =
                                group.iter().map(|&i| operand(0, i)).collect();
                            for (part, &i) in group.iter().enumerate() {
                                new[i] = shadow.sets.rank(&words, first, size, part);
                            }
                        }
                    }
                    Known::Compare(groups, is_above) => {
                        for i in 0..scalars {
                            // With 64 bits, the last results repeat the second one.
                            let group = groups[i.min(groups.len() - 1)];
                            let [a, b] = [0, 1].map(|of| -> Vec<Operand> {
                                group.iter().map(|&i| operand(of, i)).collect()
                            });
                            new[i] = shadow.sets.compare(is_above, &a, &b, None).0;
                        }
                    }
                    Known::Sum(function) => {
                        let operands: Vec<Vec<Operand>> = (0..values.len())
                            .map(|of| (0..scalars).map(|scalar| operand(of, scalar)).collect())
                            .collect();
                        let shades = shadow.sums.call(function, &operands, &shadow.sets);
                        new[..scalars].copy_from_slice(&shades);
                    }
                    Known::Pairs(pairs) => {
                        for words in pairs {
                            let [a, b] = [0, 1].map(|of| words.map(|i| operand(of, i)));
                            let pair = shadow.sets.maximum_of_pairs(a, b);
                            (new[words[0]], new[words[1]]) = (pair[0], pair[1]);
                        }
                    }
                }
                for scalar in 0..scalars {
                    all[scalar * self.warps + warp][lane] = new[scalar];
                }
            }
        }
        Ok((value, compact(all)))
    }
}

impl<W: Watch> Machine<'_, W> {
    /// Calls a function once for each winner that its arguments depend on, if it only computes and loads,
    /// and takes nothing else of elements. So the machine checks what it does for each winner.
    fn call_for_winners(
        &mut self,
        function: Handle<Function>,
        arguments: &[Slot],
        shades: &[Shades],
        mask: &Mask,
    ) -> Result<Option<(Option<Words>, Shades)>> {
        let is_choice = |shades: &Shades| {
            shades.as_ref().is_some_and(|all| all.iter().flatten().any(|&s| Sets::is_choice(s)))
        };
        if !W::STRICT || !shades.iter().any(is_choice) {
            return Ok(None);
        }
        let (module, info) = (&self.program.module, &self.program.info[function]);
        let mut globals = module.global_variables.iter().map(|(handle, _)| info[handle]);
        if globals.any(|used| used.contains(GlobalUse::WRITE)) {
            return Ok(None);
        }
        let values = arguments.iter().map(|slot| match slot {
            Slot::Value(words) => Some(words.clone()),
            _ => None,
        });
        let Some(values) = values.collect::<Option<Vec<Words>>>() else { return Ok(None) };
        // The winners of each invocation.
        let mut winners = HashMap::new();
        for warp in mask.warps() {
            for lane in lanes(mask.0[warp]) {
                let all = shades.iter().zip(&values).flat_map(|(shades, words)| {
                    (warp..words.len()).step_by(self.warps).map(|at| lane_of(shades, at)[lane])
                });
                let all: Vec<Shade> = all.collect();
                let only = |&byte: &u32| byte < MIXED || Sets::is_choice([byte; 4]);
                if !all.as_flattened().iter().all(only) {
                    return Ok(None);
                }
                let sets = &mut self.memory.shadow.sets;
                if all.iter().any(|&shade| Sets::is_choice(shade)) {
                    let Some(set) = sets.only_chooser(&all) else { return Ok(None) };
                    winners.insert((warp, lane), (set, sets.list(set)));
                }
            }
        }
        if winners.is_empty() {
            return Ok(None);
        }
        let which = Which::Function(function);
        let plain = vec![None; shades.len()];
        let (value, _) = self.call(which, arguments.to_vec(), plain, mask)?;
        let Some(result) = &value else { return Ok(None) };
        let most = winners.values().map(|(_, list)| list.len()).max().unwrap_or(0);
        let mut found: HashMap<(usize, usize), Vec<Operand>> = HashMap::new();
        for number in 0..most {
            // Other invocations depend on no winner.
            let mut running = if number == 0 { mask.clone() } else { Mask::none(self.warps) };
            let mut new = Vec::new();
            for (words, shades) in values.iter().zip(shades) {
                let mut words = words.to_vec();
                let mut all = vec![PLAIN_LANES; words.len()];
                for (&(warp, lane), (set, list)) in &winners {
                    let Some(&winner) = list.get(number) else { continue };
                    running.0[warp] |= 1 << lane;
                    for at in (warp..words.len()).step_by(self.warps) {
                        let word = (lane_of(shades, at)[lane], words[at][lane]);
                        let word = self.memory.shadow.sets.under(word, *set, winner);
                        (all[at][lane], words[at][lane]) = word;
                    }
                }
                new.push((Slot::Value(Words::new(words)), compact(all)));
            }
            let (slots, shades) = new.into_iter().unzip();
            let (value, shades) = self.call(which, slots, shades, &running)?;
            let value = value.context("a function returns nothing")?;
            for at in 0..value.len() {
                for lane in lanes(running.0[at % self.warps]) {
                    let word = (lane_of(&shades, at)[lane], value[at][lane]);
                    found.entry((at, lane)).or_default().push(word);
                }
            }
        }
        let mut all = vec![PLAIN_LANES; result.len()];
        for ((at, lane), words) in found {
            all[at][lane] = match winners.get(&(at % self.warps, lane)) {
                Some((set, _)) => self.memory.shadow.sets.choice(*set, words),
                None => words[0].0,
            };
        }
        Ok(Some((value, compact(all))))
    }
}

/// Keys of 16 bits, two in each word, at the top of words of their own: see `Known::Halves`.
fn halves(words: &[Shade], masks: &[Operand; 4]) -> [Shade; 8] {
    let mut all = [PLAIN_WORD; 8];
    let kept = words.iter().zip(masks).enumerate().filter(|(_, (_, mask))| mask.1 != 0);
    for (i, (&[a, b, c, d], _)) in kept {
        // Below the second key, the first one is not moved as a key is.
        let below = if a == PLAIN { PLAIN } else { MIXED };
        (all[i], all[4 + i]) = ([PLAIN, PLAIN, a, b], [below, below, c, d]);
    }
    all
}

/// Of an address that has two parts of one word each.
pub fn either(a: Shades, b: Shades) -> Shades {
    let (Some(some), Some(others)) = (&a, &b) else { return a.or(b) };
    let mut all = some.to_vec();
    for (shade, other) in all.as_flattened_mut().iter_mut().zip(others.as_flattened()) {
        *shade = [mix(shade.iter().chain(other).copied()); 4];
    }
    compact(all)
}

/// `None` if all is plain.
fn compact(all: Vec<LaneShade>) -> Shades {
    all.iter().flatten().any(|shade| *shade != PLAIN_WORD).then(|| Rc::new(all))
}

/// The bits of an expression of scalars, for the operands of each case.
fn bits(expression: &Expression, kind: ScalarKind, cases: &[Vec<Operand>]) -> Result<Vec<u32>> {
    let count = cases.len().div_ceil(LANES);
    let all = |i: usize| -> Vec<Lane32> {
        let lane = |at: usize| cases.get(at).map_or(0, |words| words[i].1);
        (0..count).map(|warp| std::array::from_fn(|i| lane(warp * LANES + i))).collect()
    };
    let running: Vec<usize> = (0..count).collect();
    let (warps, mut out) = (Warps { running: &running, count }, Vec::new());
    match expression {
        Expression::Unary { op, .. } => warps.unary(&mut out, *op, kind, &all(0)),
        Expression::Binary { op, .. } => warps.binary(&mut out, *op, kind, &all(0), &all(1)),
        Expression::Select { .. } => warps.select(&mut out, &all(0), &all(1), &all(2)),
        Expression::Math { fun, .. } => {
            let all: Vec<_> = (0..cases[0].len()).map(all).collect();
            let all: Vec<&[Lane32]> = all.iter().map(|words| &words[..]).collect();
            warps.math(&mut out, *fun, kind, &all)?;
        }
        _ => bail!("{expression:?} of a choice is not known"),
    }
    Ok(out.as_flattened()[..cases.len()].to_vec())
}

/// Whether an operator of two bools is an "or" instead of an "and"; `None` if it is neither.
fn joins(op: BinaryOperator) -> Option<bool> {
    match op {
        BinaryOperator::And | BinaryOperator::LogicalAnd => Some(false),
        BinaryOperator::InclusiveOr | BinaryOperator::LogicalOr => Some(true),
        _ => None,
    }
}

impl super::Shadow {
    /// What an expression of scalars stands for.
    fn scalar(
        &mut self,
        expression: &Expression,
        kind: ScalarKind,
        operands: &[Operand],
    ) -> Result<Shade> {
        let shade = self.scalar_of_one(expression, kind, operands);
        // A maximum says nothing of the bytes below a key.
        let is_max = matches!(expression, Expression::Math { fun: MathFunction::Max, .. });
        if !shade.into_iter().any(is_mixed) || is_max && !is_mixed(shade[3]) {
            return Ok(shade);
        }
        let compared = match expression {
            Expression::Unary { op: UnaryOperator::LogicalNot, .. } => self.sets.not(operands[0].0),
            Expression::Binary { op, .. } if kind == ScalarKind::Bool && joins(*op).is_some() => {
                let is_or = joins(*op) == Some(true);
                let [a, b] = [0, 1].map(|i| operands[i].0);
                let found = self.sets.both(is_or, a, b);
                if is_or { found } else { found.or_else(|| self.sets.both_tie(a, b)) }
            }
            Expression::Binary { op: BinaryOperator::Equal, .. } if kind != ScalarKind::Bool => {
                self.sets.equal(operands[0].0, operands[1].0)
            }
            Expression::Select { .. } => {
                let [(condition, _), accept, reject] = [0, 1, 2].map(|i| operands[i]);
                let chosen = self.sets.choose(condition, accept, reject);
                chosen.or_else(|| self.sets.if_tied(condition, accept, reject))
            }
            _ => None,
        };
        if let Some(shade) = compared {
            return Ok(shade);
        }
        if let Expression::Binary { op, .. } = expression
            && let Some(shade) = self.sets.compare_places(*op, operands[0], operands[1])
        {
            return Ok(shade);
        }
        let operands: Vec<Operand> = operands
            .iter()
            .map(|&(shade, bits)| (self.sets.by_larger_set(shade).unwrap_or(shade), bits))
            .collect();
        let Some((set, cases)) = self.sets.cases(&operands) else { return Ok(shade) };
        let bits = bits(expression, kind, &cases)?;
        let words = cases
            .iter()
            .zip(bits)
            .map(|(operands, bits)| (self.scalar_of_one(expression, kind, operands), bits));
        let words = words.collect();
        Ok(self.sets.choice(set, words))
    }

    fn scalar_of_one(
        &mut self,
        expression: &Expression,
        kind: ScalarKind,
        operands: &[Operand],
    ) -> Shade {
        let every = [computed(operands.iter().flat_map(|operand| operand.0)); 4];
        match (expression, operands) {
            (Expression::Binary { op, .. }, [a, b]) => binary(*op, kind, *a, *b),
            (Expression::Select { .. }, [_, accept, reject]) if accept == reject => accept.0,
            (Expression::Select { .. }, [(PLAIN_WORD, 0), _, reject]) => reject.0,
            (Expression::Select { .. }, [(PLAIN_WORD, _), accept, _]) => accept.0,
            (Expression::Math { fun: MathFunction::Max, .. }, [a, b])
                if kind == ScalarKind::Uint =>
            {
                self.sets.maximum(*a, *b)
            }
            (Expression::Math { fun: MathFunction::Min, .. }, [a, b])
                if kind == ScalarKind::Uint
                    && every == [UNWRITTEN; 4]
                    && (a.0 == PLAIN_WORD && a.1 <= b.1 || b.0 == PLAIN_WORD && b.1 <= a.1) =>
            {
                [BOUNDED; 4]
            }
            (Expression::As { kind, .. }, [a]) if *kind != ScalarKind::Bool => a.0,
            _ => every,
        }
    }

    /// A mixed byte, with its reason.
    pub fn reason(&mut self, reason: String) -> u32 {
        let known = self.reasons.iter().position(|other| *other == reason);
        let number = known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        MIXED + 1 + number as u32
    }

    /// What a byte stands for, in words.
    pub fn describe(&self, byte: u32) -> String {
        match byte {
            PLAIN => "bits that are of no element".to_string(),
            UNWRITTEN => "memory that nobody wrote".to_string(),
            WRAPPED => "a product beyond 32 bits, or a shift by 32 or more".to_string(),
            BOUNDED => "memory that nobody wrote, with a bound".to_string(),
            byte if is_mixed(byte) => {
                let reason = self.reasons.get(byte.wrapping_sub(MIXED + 1) as usize);
                format!("elements ({})", reason.map_or("mixed here", String::as_str))
            }
            _ => "an element".to_string(),
        }
    }
}
