//! Elements of small tensors that determine shapes: the result of `Shape`, and values computed from
//! it before a `Reshape` or `Resize`.

use std::ops::RangeInclusive;

use half::{bf16, f16};
use wgmax::ElementType;
use wgmax::dialect::Attribute;
use wgmax_verify::oracle::scalar_bits;

use super::super::values::MAX_ELEMENTS;
use super::structure::cut;
use super::{Inference, axis};

/// The integers of a type that are certain: no others have the same f64.
fn integers(t: ElementType) -> RangeInclusive<i128> {
    let bits = 8 * t.size() as u32;
    let is_signed = t.name().starts_with('i');
    let most: i128 = (1 << (bits - u32::from(is_signed))) - 1;
    let least = if is_signed { -most - 1 } else { 0 };
    let certain = (1 << 53) - 1;
    least.max(-certain)..=most.min(certain)
}

impl Inference<'_> {
    /// The elements of the first output, if it is a vector or a scalar and they are known.
    pub(super) fn elements(&self) -> Option<Vec<f64>> {
        if !self.node.domain.is_empty() {
            return None;
        }
        let x = || self.numbers(0).ok();
        let is_vector = |at| self.input(at).is_ok_and(|desc| desc.rank() <= 1);
        let name = self.node.operator.as_str();
        let found: Vec<f64> = match name {
            "Shape" => {
                let input = self.input(0).ok()?;
                let shape = &input.shape()[self.slice_of_shape(&input)];
                shape.iter().map(|&dim| dim as f64).collect()
            }
            "Size" => vec![self.input(0).ok()?.len() as f64],
            "Identity" | "Reshape" | "Squeeze" | "Unsqueeze" => x()?,
            "Cast" => {
                let to = match self.attributes.get("to") {
                    Some(Attribute::Int(1 | 10 | 11 | 16)) => |x: f64| x,
                    Some(Attribute::Int(9)) => |x: f64| f64::from(u8::from(x != 0.0)),
                    _ => f64::trunc,
                };
                x()?.into_iter().map(to).collect()
            }
            "Floor" => x()?.into_iter().map(f64::floor).collect(),
            "Ceil" => x()?.into_iter().map(f64::ceil).collect(),
            "Add" => self.pairs(|a, b| a + b)?,
            "Sub" => self.pairs(|a, b| a - b)?,
            "Mul" => self.pairs(|a, b| a * b)?,
            "Div" => match self.input(0).ok()?.element_type().is_float() {
                true => self.pairs(|a, b| a / b)?,
                false => self.pairs(|a, b| (a / b).trunc())?,
            },
            "Min" if self.node.inputs.len() == 2 => self.pairs(f64::min)?,
            "Max" if self.node.inputs.len() == 2 => self.pairs(f64::max)?,
            "Equal" => self.pairs(|a, b| f64::from(u8::from(a == b)))?,
            "ConstantOfShape" if !self.attributes.contains_key("value") => {
                let [count] = x()?[..] else { return None };
                vec![0.0; (count.max(0.0) as usize).min(MAX_ELEMENTS + 1)]
            }
            "Concat" if (0..self.node.inputs.len()).all(is_vector) => {
                let parts = (0..self.node.inputs.len()).map(|at| self.numbers(at).ok());
                parts.collect::<Option<Vec<_>>>()?.concat()
            }
            "Gather" if is_vector(0) => {
                let data = x()?;
                let at = |index: f64| Some(data[axis(index as i64, data.len()).ok()?]);
                self.numbers(1).ok()?.into_iter().map(at).collect::<Option<_>>()?
            }
            "Slice" if is_vector(0) => {
                let data = x()?;
                let [(0, start, end, step)] = self.cuts().ok()?[..] else { return None };
                let (start, count) = cut(data.len(), start, end, step);
                (0..count).map(|i| data[(start + i * i128::from(step)) as usize]).collect()
            }
            _ => return None,
        };
        if found.len() > MAX_ELEMENTS {
            return None;
        }
        // The model computes in the type of the result.
        let element_type = self.input(0).and_then(|input| self.element_type(name, &input));
        let round: fn(f64) -> f64 = match element_type {
            Ok(ElementType::F32) => |x| f64::from(x as f32),
            Ok(ElementType::F16) => {
                |x| f16::from_bits(scalar_bits(ElementType::F16, x.into()) as u16).into()
            }
            Ok(ElementType::Bf16) => {
                |x| bf16::from_bits(scalar_bits(ElementType::Bf16, x.into()) as u16).into()
            }
            _ => |x| x,
        };
        // Other numbers would wrap, or are beyond an f64's integers.
        let fits = |&x: &f64| match element_type {
            Ok(t) if t.is_integer() => x.trunc() == x && integers(t).contains(&(x as i128)),
            _ => true,
        };
        let found: Vec<f64> = found.into_iter().map(round).collect();
        found.iter().all(fits).then_some(found)
    }

    /// The result of an operator for two tensors of one shape, or for one element and a tensor.
    fn pairs(&self, operator: impl Fn(f64, f64) -> f64) -> Option<Vec<f64>> {
        let (a, b) = (self.numbers(0).ok()?, self.numbers(1).ok()?);
        let [first, second] = [self.input(0).ok()?, self.input(1).ok()?];
        if first.shape() != second.shape() && a.len() != 1 && b.len() != 1 {
            return None;
        }
        let at = |x: &[f64], i: usize| if x.len() == 1 { x[0] } else { x[i] };
        let count = if a.len() == 1 { b.len() } else { a.len() };
        Some((0..count).map(|i| operator(at(&a, i), at(&b, i))).collect())
    }
}
