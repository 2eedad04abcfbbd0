//! What is known about the values of a graph: types, shapes and elements.

use std::collections::{BTreeMap, BTreeSet};

use wgmax::io::onnx::{Dim, GraphNode, Model, ValueInfo};
use wgmax::{Element, ElementType, Tensor, TensorDesc};

use super::dims::Dims;
use super::entry::State;
use super::options::{Binding, File, Shape, list};

/// Maximum elements of such a tensor.
pub const MAX_ELEMENTS: usize = 64;

/// The elements of a small tensor of numbers.
fn elements_of(tensor: &Tensor) -> Option<Vec<f64>> {
    fn all<T: Element>(tensor: &Tensor, number: impl Fn(T) -> f64) -> Option<Vec<f64>> {
        Some(tensor.as_slice::<T>().ok()?.iter().map(|&x| number(x)).collect())
    }
    match tensor.element_type() {
        _ if tensor.desc().len() > MAX_ELEMENTS => None,
        ElementType::I64 => all(tensor, |x: i64| x as f64),
        ElementType::I32 => all(tensor, |x: i32| x.into()),
        ElementType::F32 => all(tensor, |x: f32| x.into()),
        ElementType::F64 => all(tensor, |x: f64| x),
        _ => None,
    }
}

/// What is known about each value of a model's graph.
pub struct Values<'a> {
    model: &'a Model,
    /// From the model, from `--shape`, or inferred; the last of these has precedence.
    declared: BTreeMap<String, Declared>,
    dims: Dims,
    /// For values whose shape could not be inferred: the option that would give it.
    pub unknown: BTreeMap<String, String>,
    /// Elements of small tensors that were inferred.
    pub elements: BTreeMap<String, Vec<f64>>,
    /// From files.
    inputs: BTreeMap<String, Tensor>,
    /// Results of nodes that have run, if later nodes need them.
    pub results: BTreeMap<String, Tensor>,
    /// The graph's `Constant` nodes by their output.
    constants: BTreeMap<&'a str, &'a GraphNode>,
}

#[derive(Clone, Default)]
struct Declared {
    element_type: Option<ElementType>,
    shape: Option<Vec<Dim>>,
}

impl<'a> Values<'a> {
    pub fn new(model: &'a Model, dims: &[Binding], shapes: &[Shape]) -> anyhow::Result<Self> {
        let graph = &model.graph;
        let mut declared: BTreeMap<String, Declared> = BTreeMap::new();
        for output in graph.nodes.iter().flat_map(|node| &node.outputs) {
            declared.insert(output.clone(), Declared::default());
        }
        for ValueInfo { name, element_type, shape, .. } in
            graph.values.iter().chain(&graph.outputs).chain(&graph.inputs)
        {
            let entry = declared.entry(name.clone()).or_default();
            entry.element_type = entry.element_type.or(*element_type);
            entry.shape = entry.shape.take().or_else(|| shape.clone());
        }
        for (name, constant) in &graph.initializers {
            // An invalid constant is an error only if a node needs it.
            let of = constant.desc().map_or_else(|_| Declared::default(), |d| Declared::new(&d));
            declared.insert(name.clone(), of);
        }
        let constants = (graph.nodes.iter())
            .filter(|node| node.operator == "Constant" && node.domain.is_empty())
            .filter_map(|node| Some((node.outputs.first()?.as_str(), node)))
            .collect();

        let mut bound = Dims::new(model);
        bound.set(dims)?;
        let mut values = Self {
            model,
            declared,
            dims: bound,
            unknown: BTreeMap::new(),
            elements: BTreeMap::new(),
            inputs: BTreeMap::new(),
            results: BTreeMap::new(),
            constants,
        };
        for Shape { name, element_type, shape } in shapes {
            values.named("--shape", name)?;
            let constant =
                values.constants.get(name.as_str()).and_then(|node| node.constant().ok());
            let desc = match model.graph.initializers.get(name) {
                Some(constant) => constant.desc().ok(),
                None => constant.flatten().map(|tensor| tensor.desc().clone()),
            };
            if let Some(desc) = desc {
                let fits = desc.shape() == shape
                    && element_type.is_none_or(|given| given == desc.element_type());
                anyhow::ensure!(fits, "--shape {name}: the model has a constant {desc} there");
            }
            let value = values.named("--shape", name)?;
            value.element_type = element_type.or(value.element_type).or(Some(ElementType::F32));
            value.shape = Some(shape.iter().copied().map(Dim::Known).collect());
        }
        Ok(values)
    }

    /// The value that an option names.
    fn named(&mut self, option: &str, name: &str) -> anyhow::Result<&mut Declared> {
        let inputs: Vec<&str> = self.model.graph.inputs.iter().map(|i| i.name.as_str()).collect();
        let hint = || format!("; its inputs are {}", list(&inputs));
        let value = self.declared.get_mut(name).filter(|_| !name.is_empty());
        value.ok_or_else(|| {
            anyhow::anyhow!("{option} {name}: the graph has no such tensor{}", hint())
        })
    }

    /// Sets a value to a tensor from a file, and named dimensions to those of the tensor.
    pub fn set_input(&mut self, name: &str, tensor: Tensor) -> anyhow::Result<()> {
        let declared = self.named("--input", name)?.clone();
        let fits = declared.element_type.is_none_or(|t| t == tensor.element_type())
            && declared.shape.as_ref().is_none_or(|shape| fits(shape, tensor.shape()));
        let desc = tensor.desc();
        anyhow::ensure!(fits, "--input {name}: {desc} where the model has {declared}");
        for (dim, &value) in declared.shape.iter().flatten().zip(tensor.shape()) {
            self.dims.bind(dim, value)?;
        }
        self.inputs.insert(name.to_string(), tensor);
        Ok(())
    }

    /// The type and shape of a value.
    ///
    /// # Errors
    /// [`State::Refused`] for a constant that is not valid, [`State::Blocked`] if something is
    /// unknown.
    pub fn desc(&self, name: &str) -> Result<TensorDesc, State> {
        if let Some(tensor) = self.inputs.get(name) {
            return Ok(tensor.desc().clone());
        }
        if let Some(constant) = self.model.graph.initializers.get(name) {
            constant.desc().map_err(|error| State::Refused(error.to_string()))?;
        }
        // The request for an earlier value is more useful than one for this value.
        self.declared_desc(name)
            .map_err(|reason| State::Blocked(self.unknown.get(name).cloned().unwrap_or(reason)))
    }

    /// The type and shape that are declared, or a message about what is unknown.
    fn declared_desc(&self, name: &str) -> Result<TensorDesc, String> {
        if let Some(Ok(Some(tensor))) = self.constants.get(name).map(|node| node.constant()) {
            return Ok(tensor.desc().clone());
        }
        let none = Declared::default();
        let declared = self.declared.get(name).unwrap_or(&none);
        let Some(shape) = &declared.shape else {
            let option = shape_option(name);
            return Err(format!(
                "the model does not declare the shape of {name:?}; give {option} (or --input)"
            ));
        };
        let known = shape.iter().map(|dim| self.dims.value(dim));
        let known = known.collect::<Result<Option<Vec<usize>>, String>>();
        let Some(known) = known.map_err(|error| format!("{name:?} is {declared}: {error}"))? else {
            return Err(self.missing_dims(name, declared, shape));
        };
        let element_type = declared.element_type.ok_or_else(|| {
            format!("the model declares no type of {name:?} that is implemented here")
        })?;
        TensorDesc::new(element_type, known).map_err(|error| error.to_string())
    }

    /// A message with the options that would complete a shape.
    fn missing_dims(&self, name: &str, declared: &Declared, shape: &[Dim]) -> String {
        let mut options: Vec<String> = Vec::new();
        if shape.contains(&Dim::Unknown) {
            let dims: Vec<String> = (shape.iter())
                .map(|dim| if let Dim::Known(d) = dim { d.to_string() } else { "N".to_string() })
                .collect();
            options.push(format!("--shape {}", quote(&format!("{name}={}", dims.join(",")))));
        } else {
            let names: BTreeSet<String> =
                shape.iter().flat_map(|dim| self.dims.missing(dim)).collect();
            options.extend(names.iter().map(|dim| format!("--dim {}", quote(&format!("{dim}=N")))));
        }
        format!("the model declares {name:?} as {declared} only; give {}", options.join(" "))
    }

    /// Sets the inferred type and shape of a node's output. Returns a remark if the model declares
    /// others.
    pub fn set_inferred(&mut self, name: &str, desc: &TensorDesc) -> Option<String> {
        let declared = self.declared.entry(name.to_string()).or_default();
        let agrees = declared.element_type.is_none_or(|t| t == desc.element_type())
            && declared.shape.as_ref().is_none_or(|shape| {
                let bound = |dim: &Dim| match self.dims.value(dim) {
                    Ok(Some(value)) => Dim::Known(value),
                    _ => dim.clone(),
                };
                fits(&shape.iter().map(bound).collect::<Vec<_>>(), desc.shape())
            });
        let remark =
            (!agrees).then(|| format!("{name:?} is {desc}, but the model declares {declared}"));
        *declared = Declared::new(desc);
        remark
    }

    /// If an operator's shapes are not inferred, stores which option would give its outputs, unless
    /// the model declares something about the shape.
    pub fn set_unknown_made_by(&mut self, name: &str, operator: &str) {
        if self.declared.get(name).is_none_or(|declared| declared.shape.is_none()) {
            let reason = format!(
                "the shape of {name:?}, which {operator} makes, is not inferred; \
                 give {} (or --input)",
                shape_option(name)
            );
            self.unknown.insert(name.to_string(), reason);
        }
    }

    /// The elements of a small tensor of numbers, if they are known without running a node.
    pub fn elements(&self, name: &str) -> Option<Vec<f64>> {
        let found = self.elements.get(name).cloned();
        let tensor = || self.inputs.get(name).cloned().or_else(|| self.constant(name).ok()?);
        found.or_else(|| elements_of(&tensor()?))
    }

    /// The tensor of a file, or else the result of a node.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.inputs.get(name).or_else(|| self.results.get(name))
    }

    /// A constant of the model.
    ///
    /// # Errors
    /// If the constant is not valid.
    pub fn constant(&self, name: &str) -> wgmax::Result<Option<Tensor>> {
        if let Some(constant) = self.model.graph.initializers.get(name) {
            return constant.read().map(Some);
        }
        match self.constants.get(name) {
            Some(node) => node.constant(),
            None => Ok(None),
        }
    }

    /// Drops the tensors that no later node takes, except results that go to files.
    pub fn keep(&mut self, is_taken: impl Fn(&String) -> bool, outputs: &[File]) {
        self.inputs.retain(|name, _| is_taken(name));
        let is_written = |name: &String| outputs.iter().any(|file| file.name == *name);
        self.results.retain(|name, _| is_taken(name) || is_written(name));
    }
}

impl Declared {
    fn new(desc: &TensorDesc) -> Self {
        let shape = desc.shape().iter().copied().map(Dim::Known).collect();
        Self { element_type: Some(desc.element_type()), shape: Some(shape) }
    }
}

impl std::fmt::Display for Declared {
    /// A type and shape, with names or `?` for dimensions without a number.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.element_type {
            Some(element_type) => write!(f, "{element_type}")?,
            None => f.write_str("?")?,
        }
        let Some(shape) = &self.shape else { return Ok(()) };
        let dims: Vec<String> = (shape.iter())
            .map(|dim| match dim {
                Dim::Known(value) => value.to_string(),
                Dim::Named(name) => name.clone(),
                Dim::Unknown => "?".to_string(),
            })
            .collect();
        write!(f, "[{}]", dims.join(", "))
    }
}

fn fits(declared: &[Dim], shape: &[usize]) -> bool {
    let fits = |(dim, &value): (&Dim, &usize)| !matches!(dim, Dim::Known(d) if *d != value);
    declared.len() == shape.len() && declared.iter().zip(shape).all(fits)
}

/// The option that gives the shape of a value.
pub fn shape_option(name: &str) -> String {
    format!("--shape {}", quote(&format!("{name}=N,..")))
}

/// Quotes an argument for a shell, if it needs quotes.
fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    match argument.chars().all(plain) {
        true => argument.to_string(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}
