//! The dimensions that a model names, and formulas over them.

use std::collections::{BTreeMap, BTreeSet};

use wgmax::io::onnx::{Dim, Model, ValueInfo};

use super::expression;
use super::options::{Binding, list};

/// Names of dimensions and their values.
#[derive(Default)]
pub struct Dims {
    named: BTreeSet<String>,
    /// Dimensions that are formulas over the names of the model's inputs, and the names in each.
    formulas: BTreeMap<String, BTreeSet<String>>,
    values: BTreeMap<String, usize>,
}

impl Dims {
    /// The dimensions of all values that a model declares.
    pub fn new(model: &Model) -> Self {
        let graph = &model.graph;
        let names = |values: &[ValueInfo]| -> BTreeSet<String> {
            let dims = values.iter().flat_map(|value| value.shape.iter().flatten());
            let name =
                |dim: &Dim| if let Dim::Named(name) = dim { Some(name.clone()) } else { None };
            dims.filter_map(name).collect()
        };
        let of_inputs = names(&graph.inputs);
        let mut dims = Self::default();
        let others = [names(&graph.values), names(&graph.outputs)].into_iter().flatten();
        for text in of_inputs.iter().cloned().chain(others) {
            // `batch-size` is a name, unless `batch` and `size` are names too.
            let used = expression::names(&text)
                .filter(|used| !used.contains(text.trim()) && used.is_subset(&of_inputs));
            match used {
                Some(used) => drop(dims.formulas.insert(text, used)),
                None => drop(dims.named.insert(text)),
            }
        }
        dims
    }

    /// Sets the values that the options give.
    pub fn set(&mut self, bindings: &[Binding]) -> anyhow::Result<()> {
        for Binding { name, value } in bindings {
            let known: Vec<&str> = self.named.iter().map(String::as_str).collect();
            anyhow::ensure!(
                !known.is_empty(),
                "--dim {name}={value}: the model names no dimensions; leave out --dim"
            );
            anyhow::ensure!(
                self.named.contains(name),
                "--dim {name}={value}: the model names no such dimension; it names {}",
                list(&known)
            );
            self.bind(&Dim::Named(name.clone()), *value)?;
        }
        Ok(())
    }

    /// Sets a named dimension. A formula must have this value, if its names have values.
    pub fn bind(&mut self, dim: &Dim, value: usize) -> anyhow::Result<()> {
        let Dim::Named(name) = dim else { return Ok(()) };
        let other = match self.formulas.contains_key(name) {
            true => self.value(dim).map_err(anyhow::Error::msg)?,
            false => self.values.insert(name.clone(), value),
        };
        match other {
            Some(other) if other != value => {
                anyhow::bail!("dimension {name:?} is {other} in one place and {value} in another")
            }
            _ => Ok(()),
        }
    }

    /// The value of a dimension, if it is known.
    ///
    /// # Errors
    /// If a formula gives no number of elements.
    pub fn value(&self, dim: &Dim) -> Result<Option<usize>, String> {
        let name = match dim {
            Dim::Known(value) => return Ok(Some(*value)),
            Dim::Unknown => return Ok(None),
            Dim::Named(name) => name,
        };
        let Some(used) = self.formulas.get(name) else {
            return Ok(self.values.get(name).copied());
        };
        if !self.missing(dim).is_empty() {
            return Ok(None);
        }
        let value = expression::evaluate(name, &mut |name| self.values[name]);
        value.transpose().map_err(|what| {
            let names: Vec<String> =
                used.iter().map(|name| format!("{name} = {}", self.values[name])).collect();
            format!("dimension {name:?} {what}, with {}", names.join(", "))
        })
    }

    /// The names without a value that a dimension needs.
    pub fn missing(&self, dim: &Dim) -> Vec<String> {
        let Dim::Named(name) = dim else { return Vec::new() };
        let own = BTreeSet::from([name.clone()]);
        let names = self.formulas.get(name).unwrap_or(&own);
        names.iter().filter(|&name| !self.values.contains_key(name)).cloned().collect()
    }
}
