//! Types and shapes of the outputs of other nodes, without their arithmetic. Only the numbers that
//! become shapes are computed (`elements.rs`).
//!
//! A rule gives the result of a valid node. A node that is not valid may get any shape here.

mod elements;
mod shapes;
mod structure;
#[cfg(test)]
mod tests;
mod windows;

use wgmax::dialect::{Attribute, Attributes};
use wgmax::io::onnx::GraphNode;
use wgmax::{ElementType, TensorDesc};

use super::find;
use super::values::{Values, shape_option};

/// A node whose outputs are inferred.
struct Inference<'a> {
    node: &'a GraphNode,
    opset: u32,
    attributes: Attributes,
    values: &'a Values<'a>,
}

/// Why a shape is not known.
#[derive(Debug)]
enum Reason {
    /// An input is not known; the option that would give it.
    Input(String),
    /// There is no rule for the operator.
    NoRule,
    /// The error of the node.
    Node(String),
}

type Inferred<T> = Result<T, Reason>;

/// Adds the outputs of a node to the values, or why they are not known.
pub fn infer(node: &GraphNode, opset: Option<u32>, values: &mut Values<'_>) {
    let names = || node.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty());
    let attributes = node.attributes().unwrap_or_default();
    let inference = Inference { node, opset: opset.unwrap_or(1), attributes, values };
    let found = match names().all(|(_, name)| inference.values.desc(name).is_ok()) {
        true => Ok(Vec::new()),
        false => inference.outputs(),
    };
    let elements = inference.elements();
    for (at, name) in names() {
        if values.desc(name).is_ok() {
            continue;
        }
        let desc = match &found {
            Ok(descs) => descs.get(at).ok_or(&Reason::NoRule),
            Err(reason) => Err(reason),
        };
        let reason = match desc {
            Ok(desc) => {
                drop(values.set_inferred(name, desc));
                continue;
            }
            Err(Reason::NoRule) => {
                values.set_unknown_made_by(name, &node.operator);
                continue;
            }
            Err(Reason::Input(reason)) => reason.clone(),
            Err(Reason::Node(reason)) => {
                format!("{} ({}): {reason}", find::label(node), node.operator)
            }
        };
        values.unknown.insert(name.clone(), reason);
    }
    if let (Some(elements), Some(name)) = (elements, node.outputs.first()) {
        values.elements.insert(name.clone(), elements);
    }
}

fn wrong<T>(reason: impl Into<String>) -> Inferred<T> {
    Err(Reason::Node(reason.into()))
}

/// A type and shape. Each dimension must be a valid size.
fn desc(element_type: ElementType, dims: impl IntoIterator<Item = i128>) -> Inferred<TensorDesc> {
    let dims = dims.into_iter().enumerate().map(|(axis, dim)| {
        usize::try_from(dim).or_else(|_| wrong(format!("dimension {axis} would be {dim}")))
    });
    let dims: Vec<usize> = dims.collect::<Result<_, _>>()?;
    TensorDesc::new(element_type, dims).or_else(|error| wrong(error.to_string()))
}

/// The dimensions as numbers that no arithmetic here overflows.
fn dims(desc: &TensorDesc) -> Vec<i128> {
    desc.shape().iter().map(|&dim| dim as i128).collect()
}

/// The number of an axis, which may count from the end.
fn axis(axis: i64, rank: usize) -> Inferred<usize> {
    let found = if axis < 0 { i128::from(axis) + rank as i128 } else { i128::from(axis) };
    match usize::try_from(found) {
        Ok(found) if found < rank => Ok(found),
        _ => wrong(format!("axis {axis} of a rank of {rank}")),
    }
}

/// The broadcast shape of inputs, by numpy's rule.
fn broadcast(shapes: &[Vec<i128>]) -> Inferred<Vec<i128>> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut result = vec![1; rank];
    for shape in shapes {
        for (out, &dim) in result[rank - shape.len()..].iter_mut().zip(shape) {
            match (*out, dim) {
                (1, _) => *out = dim,
                (a, b) if a == b || b == 1 => {}
                (a, b) => return wrong(format!("dimensions {a} and {b} do not broadcast")),
            }
        }
    }
    Ok(result)
}

impl Inference<'_> {
    fn has(&self, at: usize) -> bool {
        self.node.inputs.get(at).is_some_and(|name| !name.is_empty())
    }

    /// The type and shape of an input.
    fn input(&self, at: usize) -> Inferred<TensorDesc> {
        match self.node.inputs.get(at) {
            Some(name) if !name.is_empty() => {
                self.values.desc(name).map_err(|state| Reason::Input(state.reason().to_string()))
            }
            _ => wrong(format!("it has no input {at}")),
        }
    }

    /// All inputs.
    fn inputs(&self) -> Inferred<Vec<TensorDesc>> {
        (0..self.node.inputs.len()).map(|at| self.input(at)).collect()
    }

    /// The elements of an input that determines shapes.
    fn numbers(&self, at: usize) -> Inferred<Vec<f64>> {
        let name = self.node.inputs.get(at).map_or("", String::as_str);
        match self.values.elements(name) {
            Some(elements) => Ok(elements),
            None => {
                self.input(at)?;
                let made = self.node.outputs.first().map_or("", String::as_str);
                Err(Reason::Input(format!(
                    "the shape of {made:?} depends on the elements of {name:?}; give {}",
                    shape_option(made)
                )))
            }
        }
    }

    /// The same, of integers.
    fn integers(&self, at: usize) -> Inferred<Vec<i64>> {
        Ok(self.numbers(at)?.into_iter().map(|number| number as i64).collect())
    }

    /// The same as numbers that no arithmetic here overflows.
    fn wide(&self, at: usize) -> Inferred<Vec<i128>> {
        Ok(self.integers(at)?.into_iter().map(i128::from).collect())
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.attributes.get(name) {
            Some(Attribute::Int(value)) => Some(*value),
            _ => None,
        }
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.attributes.get(name) {
            Some(Attribute::Ints(values)) => Some(values.clone()),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> &str {
        match self.attributes.get(name) {
            Some(Attribute::Text(text)) => text,
            _ => "",
        }
    }

    /// Integers from an attribute, or from an input, as in later opsets; `None` if neither is
    /// there.
    fn either(&self, name: &str, at: usize) -> Inferred<Option<Vec<i64>>> {
        match self.ints(name) {
            Some(values) => Ok(Some(values)),
            None if self.has(at) => self.integers(at).map(Some),
            None => Ok(None),
        }
    }
}
