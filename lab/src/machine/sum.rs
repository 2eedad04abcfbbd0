//! Sums of elements, as lists of steps, because the order of additions changes the result.

use std::collections::HashMap;
use std::rc::Rc;

use half::{bf16, f16};
use wgmax::ElementType;

use super::choice::Sets;
use super::shade::{MIXED, Operand, PLAIN, PLAIN_WORD, RAW, SUM, Shade, of_set, whole};

/// The step of a sum that begins with zero. Elements are steps, too: each is added, or the sum begins with it.
pub const ZERO: u32 = u32::MAX;
/// The step that rounds the sum to an element of 16 bits.
pub const ROUNDED: u32 = u32::MAX - 1;

/// The functions of `shaders/gradient/sum.wgsl`.
#[derive(Clone, Copy, PartialEq)]
pub enum Function {
    Widen,
    Add,
    Narrow,
}

/// Sums, each known by a number.
#[derive(Default)]
pub struct Sums {
    all: Vec<Rc<[u32]>>,
    numbers: HashMap<Rc<[u32]>, u32>,
}

impl Sums {
    /// The number of a sum of these steps.
    pub fn of(&mut self, steps: &[u32]) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(steps.into()).or_insert(next);
        if number == next {
            self.all.push(steps.into());
        }
        number
    }

    /// The steps of a sum; an element is the first step of one.
    fn steps(&self, words: &[Operand], sets: &Sets) -> Option<Vec<u32>> {
        if words.iter().all(|&(shade, word)| shade == PLAIN_WORD && word == 0) {
            return Some(vec![ZERO]);
        }
        let bytes: Vec<u32> = words.iter().flat_map(|word| word.0).collect();
        match whole(&bytes)? {
            (SUM, sum) => Some(self.all[sum as usize].to_vec()),
            (RAW, set) => Some(sets.elements(set).collect()),
            _ => None,
        }
    }

    /// What the result of a function stands for.
    pub fn call(
        &mut self,
        function: Function,
        operands: &[Vec<Operand>],
        sets: &Sets,
    ) -> Vec<Shade> {
        let a = &operands[0];
        if operands.iter().flatten().all(|word| word.0 == PLAIN_WORD) {
            return vec![PLAIN_WORD; a.len()];
        }
        let (mut steps, mut size) = (None, 4 * a.len());
        match function {
            Function::Widen => {
                let [low @ .., PLAIN, PLAIN] = a[0].0 else { return vec![[MIXED; 4]] };
                let element = whole(&low).filter(|&(kind, _)| kind == RAW);
                steps = element.map(|(_, set)| sets.elements(set).collect());
            }
            Function::Add => {
                let (a, b) = (self.steps(a, sets), self.steps(&operands[1], sets));
                // Elements are added one by one to a sum that begins with zero.
                if let (Some([ZERO, a @ ..]), Some([element])) = (a.as_deref(), b.as_deref()) {
                    steps = Some([&[ZERO], a, &[*element]].concat());
                }
            }
            Function::Narrow => {
                size = 2;
                steps = self.steps(a, sets).filter(|steps| steps[0] == ZERO);
                steps.iter_mut().for_each(|steps| steps.push(ROUNDED));
            }
        }
        let mut bytes = vec![MIXED; 4 * a.len()];
        if let Some(steps) = steps {
            let sum = self.of(&steps);
            bytes.fill(PLAIN);
            (0..size).for_each(|part| bytes[part] = of_set(SUM, part, sum));
        }
        bytes.chunks(4).map(|bytes| std::array::from_fn(|i| bytes[i])).collect()
    }
}

/// The result of a function, computed by this processor; a NaN is the canonical one.
pub fn computed(function: Function, t: ElementType, a: u64, b: u64) -> u64 {
    let single = |sum: f32| if sum.is_nan() { 0x7fc0_0000 } else { sum.to_bits() };
    let double = |sum: f64| if sum.is_nan() { 0x7ff8 << 48 } else { sum.to_bits() };
    let (f32_of, f64_of) = (|bits: u64| f32::from_bits(bits as u32), f64::from_bits);
    match (function, t) {
        (Function::Add, ElementType::F64) => double(f64_of(a) + f64_of(b)),
        (Function::Add, _) => single(f32_of(a) + f32_of(b)).into(),
        (Function::Widen, ElementType::F16) => single(f16::from_bits(a as u16).to_f32()).into(),
        (Function::Widen, _) => single(bf16::from_bits(a as u16).to_f32()).into(),
        (Function::Narrow, _) if f32_of(a).is_nan() => match t {
            ElementType::F16 => 0x7e00,
            _ => 0x7fc0,
        },
        (Function::Narrow, ElementType::F16) => f16::from_f32(f32_of(a)).to_bits().into(),
        (Function::Narrow, _) => bf16::from_f32(f32_of(a)).to_bits().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element is widened, added to zero and rounded; another order, an element that is no part of a
    /// sum and sums of sums are mixed.
    #[test]
    fn sums_have_an_order() {
        let (mut sums, mut sets) = (Sums::default(), Sets::default());
        let set = sets.of(vec![5]);
        let [low, high] = [0, 1].map(|part| of_set(RAW, part, set));
        let element = vec![([low, high, PLAIN, PLAIN], 7)];
        let zero = vec![(PLAIN_WORD, 0)];
        let mut call = |function, operands: &[Vec<Operand>]| -> Vec<Operand> {
            sums.call(function, operands, &sets).into_iter().map(|shade| (shade, 7)).collect()
        };
        let wide = call(Function::Widen, std::slice::from_ref(&element));
        let once = call(Function::Add, &[zero.clone(), wide.clone()]);
        let twice = call(Function::Add, &[once.clone(), wide.clone()]);
        let small = call(Function::Narrow, std::slice::from_ref(&twice));
        let bytes = small[0].0;
        assert_eq!(bytes[2..], [PLAIN; 2]);
        let (kind, number) = whole(&bytes[..2]).unwrap();
        assert_eq!((kind, number), (SUM, sums.of(&[ZERO, 5, 5, ROUNDED])));
        let mut call = |function, operands: &[Vec<Operand>]| sums.call(function, operands, &sets);
        for wrong in [
            call(Function::Add, &[wide.clone(), once.clone()]),
            call(Function::Add, &[once.clone(), once.clone()]),
            call(Function::Add, &[twice, small.clone()]),
            call(Function::Narrow, &[wide]),
            call(Function::Widen, &[once]),
            call(Function::Widen, &[vec![([high, low, PLAIN, PLAIN], 7)]]),
        ] {
            assert_eq!(wrong, [[MIXED; 4]]);
        }
    }
}
