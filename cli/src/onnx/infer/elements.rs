//! Elements of small tensors that determine shapes: the result of `Shape`, and values computed from
//! it before a `Reshape` or `Resize`.

use wgmax::dialect::Attribute;

use super::super::values::MAX_ELEMENTS;
use super::structure::cut;
use super::{Inference, axis};

impl Inference<'_> {
    /// The elements of the first output, if it is a vector or a scalar and they are known.
    pub(super) fn elements(&self) -> Option<Vec<f64>> {
        if !self.node.domain.is_empty() {
            return None;
        }
        let x = || self.numbers(0).ok();
        let is_vector = |at| self.input(at).is_ok_and(|desc| desc.rank() <= 1);
        let found = match self.node.operator.as_str() {
            "Shape" => {
                let input = self.input(0).ok()?;
                let shape = &input.shape()[self.slice_of_shape(&input)];
                shape.iter().map(|&dim| dim as f64).collect()
            }
            "Size" => vec![self.input(0).ok()?.len() as f64],
            "Identity" | "Reshape" | "Squeeze" | "Unsqueeze" => x()?,
            "Cast" => {
                let to_float =
                    matches!(self.attributes.get("to"), Some(Attribute::Int(1 | 10 | 11 | 16)));
                let round = |x: f64| if to_float { x } else { x.trunc() };
                x()?.into_iter().map(round).collect()
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
            "Concat" => {
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
        (found.len() <= MAX_ELEMENTS).then_some(found)
    }

    /// The result of an operator for two inputs of as many elements, or of one element.
    fn pairs(&self, operator: impl Fn(f64, f64) -> f64) -> Option<Vec<f64>> {
        let (a, b) = (self.numbers(0).ok()?, self.numbers(1).ok()?);
        let at = |x: &[f64], i: usize| if x.len() == 1 { x[0] } else { x[i] };
        let count = if a.len() == 1 { b.len() } else { a.len() };
        (b.len() == 1 || b.len() == count)
            .then(|| (0..count).map(|i| operator(at(&a, i), at(&b, i))).collect())
    }
}
