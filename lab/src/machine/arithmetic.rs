//! Arithmetic on the scalars of all invocations. Truth values are 0 and 1.
//!
//! Invocations that do not run have any values, so nothing here may fail for a value.

use std::array::from_fn;

use anyhow::{Result, bail};
use wgmax::wgpu::naga::{
    BinaryOperator, MathFunction, RelationalFunction, ScalarKind, UnaryOperator,
};

use super::value::{LANES, Lane32};

/// The warps that run, and how many there are.
#[derive(Clone, Copy)]
pub struct Warps<'a> {
    pub running: &'a [usize],
    pub count: usize,
}

impl Warps<'_> {
    /// Fills `out` with the values of a function of two operands. An operand with one scalar meets
    /// each scalar of the other.
    fn map2(self, out: &mut Vec<Lane32>, a: &[Lane32], b: &[Lane32], f: impl Fn(u32, u32) -> u32) {
        let len = a.len().max(b.len());
        out.resize(len, [0; LANES]);
        for first in (0..len).step_by(self.count) {
            for warp in self.running {
                let (a, b) = (&a[(first + warp) % a.len()], &b[(first + warp) % b.len()]);
                out[first + warp] = from_fn(|lane| f(a[lane], b[lane]));
            }
        }
    }

    fn map1(self, out: &mut Vec<Lane32>, a: &[Lane32], f: impl Fn(u32) -> u32) {
        self.map2(out, a, a, |a, _| f(a));
    }

    pub fn unary(self, out: &mut Vec<Lane32>, op: UnaryOperator, kind: ScalarKind, a: &[Lane32]) {
        match op {
            UnaryOperator::Negate => self.map1(out, a, u32::wrapping_neg),
            UnaryOperator::LogicalNot => self.map1(out, a, |a| a ^ 1),
            UnaryOperator::BitwiseNot if kind == ScalarKind::Bool => self.map1(out, a, |a| a ^ 1),
            UnaryOperator::BitwiseNot => self.map1(out, a, |a| !a),
        }
    }

    pub fn binary(
        self,
        out: &mut Vec<Lane32>,
        op: BinaryOperator,
        kind: ScalarKind,
        a: &[Lane32],
        b: &[Lane32],
    ) {
        use BinaryOperator::*;
        let signed = kind == ScalarKind::Sint;
        let int = |a: u32| a as i32;
        match op {
            Add => self.map2(out, a, b, u32::wrapping_add),
            Subtract => self.map2(out, a, b, u32::wrapping_sub),
            Multiply => self.map2(out, a, b, u32::wrapping_mul),
            Divide if signed => self.map2(out, a, b, |a, b| match b {
                0 => a,
                _ => int(a).wrapping_div(int(b)) as u32,
            }),
            Divide => self.map2(out, a, b, |a, b| a.checked_div(b).unwrap_or(a)),
            Modulo if signed => self.map2(out, a, b, |a, b| match b {
                0 => 0,
                _ => int(a).wrapping_rem(int(b)) as u32,
            }),
            Modulo => self.map2(out, a, b, |a, b| a.checked_rem(b).unwrap_or(0)),
            Equal => self.map2(out, a, b, |a, b| u32::from(a == b)),
            NotEqual => self.map2(out, a, b, |a, b| u32::from(a != b)),
            Less if signed => self.map2(out, a, b, |a, b| u32::from(int(a) < int(b))),
            Less => self.map2(out, a, b, |a, b| u32::from(a < b)),
            LessEqual if signed => self.map2(out, a, b, |a, b| u32::from(int(a) <= int(b))),
            LessEqual => self.map2(out, a, b, |a, b| u32::from(a <= b)),
            Greater if signed => self.map2(out, a, b, |a, b| u32::from(int(a) > int(b))),
            Greater => self.map2(out, a, b, |a, b| u32::from(a > b)),
            GreaterEqual if signed => self.map2(out, a, b, |a, b| u32::from(int(a) >= int(b))),
            GreaterEqual => self.map2(out, a, b, |a, b| u32::from(a >= b)),
            And | LogicalAnd => self.map2(out, a, b, |a, b| a & b),
            ExclusiveOr => self.map2(out, a, b, |a, b| a ^ b),
            InclusiveOr | LogicalOr => self.map2(out, a, b, |a, b| a | b),
            ShiftLeft => self.map2(out, a, b, u32::wrapping_shl),
            ShiftRight if signed => self.map2(out, a, b, |a, b| int(a).wrapping_shr(b) as u32),
            ShiftRight => self.map2(out, a, b, u32::wrapping_shr),
        }
    }

    pub fn select(
        self,
        out: &mut Vec<Lane32>,
        condition: &[Lane32],
        accept: &[Lane32],
        reject: &[Lane32],
    ) {
        let mut chosen = Vec::new();
        self.map2(&mut chosen, condition, accept, |condition, a| condition.wrapping_neg() & a);
        self.map2(out, condition, reject, |condition, b| condition.wrapping_sub(1) & b);
        out.iter_mut().zip(&chosen).for_each(|(out, chosen)| {
            out.iter_mut().zip(chosen).for_each(|(out, chosen)| *out |= chosen);
        });
    }

    pub fn math(
        self,
        out: &mut Vec<Lane32>,
        function: MathFunction,
        kind: ScalarKind,
        arguments: &[&[Lane32]],
    ) -> Result<()> {
        use MathFunction::*;
        let signed = kind == ScalarKind::Sint;
        let min = |a: u32, b: u32| if signed { (a as i32).min(b as i32) as u32 } else { a.min(b) };
        let max = |a: u32, b: u32| if signed { (a as i32).max(b as i32) as u32 } else { a.max(b) };
        match (function, arguments) {
            (Min, [a, b]) => self.map2(out, a, b, min),
            (Max, [a, b]) => self.map2(out, a, b, max),
            (Clamp, [a, low, high]) => {
                let mut above = Vec::new();
                self.map2(&mut above, a, low, max);
                self.map2(out, &above, high, min);
            }
            (CountOneBits, [a]) => self.map1(out, a, u32::count_ones),
            (CountTrailingZeros, [a]) => self.map1(out, a, u32::trailing_zeros),
            (CountLeadingZeros, [a]) => self.map1(out, a, u32::leading_zeros),
            _ => bail!("{function:?} of {kind:?} is not known"),
        }
        Ok(())
    }

    pub fn relational(
        self,
        out: &mut Vec<Lane32>,
        function: RelationalFunction,
        a: &[Lane32],
    ) -> Result<()> {
        let (first, rest) = a.split_at(self.count);
        let mut all = first.to_vec();
        for next in rest.chunks(self.count) {
            let sum = std::mem::take(&mut all);
            match function {
                RelationalFunction::All => self.map2(&mut all, &sum, next, |a, b| a & b),
                RelationalFunction::Any => self.map2(&mut all, &sum, next, |a, b| a | b),
                other => bail!("{other:?} is not known"),
            }
        }
        *out = all;
        Ok(())
    }
}
