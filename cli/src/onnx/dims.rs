//! The dimensions that a model names, and formulas over them.

use std::collections::{BTreeMap, BTreeSet};

use wgmax::io::onnx::{Dim, Model};

use super::expression::Expression;
use super::options::{Binding, list};

/// Names of dimensions and their values.
pub struct Dims {
    named: BTreeSet<String>,
    /// Dimensions whose text is a formula over the names of the model's inputs.
    formulas: BTreeMap<String, Expression>,
    values: BTreeMap<String, usize>,
}

impl Dims {
    /// The dimensions of all values that a model declares.
    pub fn new(model: &Model) -> Self {
        let graph = &model.graph;
        let names = |values: &[wgmax::io::onnx::ValueInfo]| -> BTreeSet<String> {
            let dims = values.iter().flat_map(|value| value.shape.iter().flatten());
            dims.filter_map(
                |dim| if let Dim::Named(name) = dim { Some(name.clone()) } else { None },
            )
            .collect()
        };
        let of_inputs = names(&graph.inputs);
        let mut dims =
            Self { named: BTreeSet::new(), formulas: BTreeMap::new(), values: BTreeMap::new() };
        for text in
            of_inputs.iter().cloned().chain(names(&graph.values)).chain(names(&graph.outputs))
        {
            // `batch-size` is a name, unless `batch` and `size` are names too.
            let formula = Expression::parse(&text).filter(|formula| {
                !matches!(formula, Expression::Name(_))
                    && formula.names().iter().all(|&name| of_inputs.contains(name))
            });
            match formula {
                Some(formula) => drop(dims.formulas.insert(text, formula)),
                None => drop(dims.named.insert(text)),
            }
        }
        dims
    }

    /// Sets what the options say.
    pub fn set(&mut self, bindings: &[Binding]) -> anyhow::Result<()> {
        for Binding { name, value } in bindings {
            let known: Vec<&str> = self.named.iter().map(String::as_str).collect();
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
        let Some(formula) = self.formulas.get(name) else {
            return Ok(self.values.get(name).copied());
        };
        if !self.missing(dim).is_empty() {
            return Ok(None);
        }
        let value = |name: &str| self.values[name];
        formula.evaluate(&value).map(Some).map_err(|what| {
            let names: Vec<String> =
                formula.names().iter().map(|name| format!("{name} = {}", value(name))).collect();
            format!("dimension {name:?} {what}, with {}", names.join(", "))
        })
    }

    /// The names without a value that a dimension needs.
    pub fn missing(&self, dim: &Dim) -> Vec<String> {
        let Dim::Named(name) = dim else { return Vec::new() };
        let names = match self.formulas.get(name) {
            Some(formula) => formula.names(),
            None => BTreeSet::from([name.as_str()]),
        };
        names.into_iter().filter(|&n| !self.values.contains_key(n)).map(str::to_string).collect()
    }
}
