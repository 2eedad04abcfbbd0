//! What is known of the values of a graph: types, shapes, and elements.

use std::collections::{BTreeMap, BTreeSet};

use wgmax::io::onnx::{Dim, GraphNode, Model, ValueInfo};
use wgmax::{ElementType, Tensor, TensorDesc};

use super::options::{Binding, File, Shape, list};
use super::prepare::{Entry, State};

/// What is known of each value of a model's graph.
pub struct Values<'a> {
    model: &'a Model,
    /// What the model tells, what `--shape` says instead, and what was inferred.
    told: BTreeMap<String, Told>,
    dims: BTreeMap<String, usize>,
    given: BTreeMap<String, Tensor>,
    made: BTreeMap<String, Tensor>,
    /// The graph's `Constant` nodes by their output.
    constants: BTreeMap<&'a str, &'a GraphNode>,
}

#[derive(Clone, Default)]
struct Told {
    element_type: Option<ElementType>,
    shape: Option<Vec<Dim>>,
}

impl<'a> Values<'a> {
    pub fn new(model: &'a Model, dims: &[Binding], shapes: &[Shape]) -> anyhow::Result<Self> {
        let graph = &model.graph;
        let mut told: BTreeMap<String, Told> = BTreeMap::new();
        for output in graph.nodes.iter().flat_map(|node| &node.outputs) {
            told.insert(output.clone(), Told::default());
        }
        for ValueInfo { name, element_type, shape } in
            graph.values.iter().chain(&graph.outputs).chain(&graph.inputs)
        {
            let entry = told.entry(name.clone()).or_default();
            entry.element_type = entry.element_type.or(*element_type);
            entry.shape = entry.shape.take().or_else(|| shape.clone());
        }
        for (name, constant) in &graph.initializers {
            // A bad one that nobody needs does no harm.
            match constant.desc() {
                Ok(desc) => told.insert(name.clone(), Told::of(&desc)),
                Err(_) => told.insert(name.clone(), Told::default()),
            };
        }
        let constants = (graph.nodes.iter())
            .filter(|node| node.operator == "Constant" && node.domain.is_empty())
            .filter_map(|node| Some((node.outputs.first()?.as_str(), node)))
            .collect();

        let named: BTreeSet<&str> = (told.values())
            .flat_map(|told| told.shape.iter().flatten())
            .filter_map(|dim| if let Dim::Named(name) = dim { Some(name.as_str()) } else { None })
            .collect();
        let mut bound = BTreeMap::new();
        for Binding { name, value } in dims {
            let there: Vec<&str> = named.iter().copied().collect();
            anyhow::ensure!(
                named.contains(name.as_str()),
                "--dim {name}={value}: the model names no such dimension; it names {}",
                list(&there)
            );
            bind(&mut bound, name, *value)?;
        }
        let mut values = Self {
            model,
            told,
            dims: bound,
            given: BTreeMap::new(),
            made: BTreeMap::new(),
            constants,
        };
        for Shape { name, element_type, shape } in shapes {
            let told = values.named("--shape", name)?;
            told.element_type = element_type.or(told.element_type).or(Some(ElementType::F32));
            told.shape = Some(shape.iter().copied().map(Dim::Known).collect());
        }
        Ok(values)
    }

    /// A value that an option names.
    fn named(&mut self, option: &str, name: &str) -> anyhow::Result<&mut Told> {
        let inputs: Vec<&str> = self.model.graph.inputs.iter().map(|i| i.name.as_str()).collect();
        let hint = || format!("; its inputs are {}", list(&inputs));
        let told = self.told.get_mut(name).filter(|_| !name.is_empty());
        told.ok_or_else(|| {
            anyhow::anyhow!("{option} {name}: the graph has no such tensor{}", hint())
        })
    }

    /// Takes a tensor for a value, and its dimensions for those that the model names.
    pub fn give(&mut self, name: &str, tensor: Tensor) -> anyhow::Result<()> {
        let told = self.named("--input", name)?.clone();
        let fits = told.element_type.is_none_or(|t| t == tensor.element_type())
            && told.shape.as_ref().is_none_or(|shape| fits(shape, tensor.shape()));
        let desc = tensor.desc();
        anyhow::ensure!(fits, "--input {name}: {desc} where the model has {told}");
        for (dim, &value) in told.shape.iter().flatten().zip(tensor.shape()) {
            if let Dim::Named(dim) = dim {
                bind(&mut self.dims, dim, value)?;
            }
        }
        self.given.insert(name.to_string(), tensor);
        Ok(())
    }

    /// The type and shape of a value, or what is lacking.
    pub fn desc(&self, name: &str) -> Result<TensorDesc, String> {
        if let Some(tensor) = self.given.get(name) {
            return Ok(tensor.desc().clone());
        }
        if let Some(Ok(Some(tensor))) = self.constants.get(name).map(|node| node.constant()) {
            return Ok(tensor.desc().clone());
        }
        let none = Told::default();
        let told = self.told.get(name).unwrap_or(&none);
        let Some(shape) = &told.shape else {
            let option = quote(&format!("{name}=N,.."));
            return Err(format!(
                "the model does not tell the shape of {name:?}; give --shape {option} (or --input)"
            ));
        };
        let value = |dim: &Dim| match dim {
            Dim::Known(value) => Some(*value),
            Dim::Named(name) => self.dims.get(name).copied(),
            Dim::Unknown => None,
        };
        let Some(known) = shape.iter().map(value).collect::<Option<Vec<usize>>>() else {
            return Err(self.lacking(name, told, shape));
        };
        let element_type = told.element_type.ok_or_else(|| {
            format!("the model does not tell a type of {name:?} that is implemented here")
        })?;
        TensorDesc::new(element_type, known).map_err(|error| error.to_string())
    }

    /// How to say what is not known of a shape.
    fn lacking(&self, name: &str, told: &Told, shape: &[Dim]) -> String {
        let mut options: Vec<String> = Vec::new();
        if shape.contains(&Dim::Unknown) {
            let dims: Vec<String> = (shape.iter())
                .map(|dim| if let Dim::Known(d) = dim { d.to_string() } else { "N".to_string() })
                .collect();
            options.push(format!("--shape {}", quote(&format!("{name}={}", dims.join(",")))));
        } else {
            let unbound = shape.iter().filter_map(|dim| match dim {
                Dim::Named(dim) if !self.dims.contains_key(dim) => Some(dim),
                _ => None,
            });
            for dim in unbound {
                let option = format!("--dim {}", quote(&format!("{dim}=N")));
                if !options.contains(&option) {
                    options.push(option);
                }
            }
        }
        format!("of {name:?} the model tells {told} only; give {}", options.join(" "))
    }

    /// Notes what a node makes, and says so if the model tells otherwise.
    pub fn infer(&mut self, name: &str, desc: &TensorDesc) -> Option<String> {
        let told = self.told.entry(name.to_string()).or_default();
        let agrees = told.element_type.is_none_or(|t| t == desc.element_type())
            && told.shape.as_ref().is_none_or(|shape| {
                let bound = |dim: &Dim| match dim {
                    Dim::Named(name) => {
                        self.dims.get(name).map_or_else(|| dim.clone(), |&d| Dim::Known(d))
                    }
                    other => other.clone(),
                };
                fits(&shape.iter().map(bound).collect::<Vec<_>>(), desc.shape())
            });
        let remark = (!agrees).then(|| format!("{name:?} is {desc}, though the model says {told}"));
        *told = Told::of(desc);
        remark
    }

    /// A tensor that was given, or else one that a node made.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.given.get(name).or_else(|| self.made.get(name))
    }

    /// A tensor that a node made.
    pub fn made(&self, name: &str) -> Option<&Tensor> {
        self.made.get(name)
    }

    /// A tensor that the model holds.
    ///
    /// # Errors
    /// If it holds it, but not well.
    pub fn constant(&self, name: &str) -> wgmax::Result<Option<Tensor>> {
        if let Some(constant) = self.model.graph.initializers.get(name) {
            return constant.read().map(Some);
        }
        match self.constants.get(name) {
            Some(node) => node.constant(),
            None => Ok(None),
        }
    }

    /// Keeps a tensor that a node made.
    pub fn make(&mut self, name: &str, tensor: Tensor) {
        self.made.insert(name.to_string(), tensor);
    }
}

impl Told {
    fn of(desc: &TensorDesc) -> Self {
        let shape = desc.shape().iter().copied().map(Dim::Known).collect();
        Self { element_type: Some(desc.element_type()), shape: Some(shape) }
    }
}

impl std::fmt::Display for Told {
    /// As a tensor's type and shape, with names and `?` where there is no number.
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

fn fits(told: &[Dim], shape: &[usize]) -> bool {
    let fits = |(dim, &value): (&Dim, &usize)| !matches!(dim, Dim::Known(d) if *d != value);
    told.len() == shape.len() && told.iter().zip(shape).all(fits)
}

fn bind(dims: &mut BTreeMap<String, usize>, name: &str, value: usize) -> anyhow::Result<()> {
    match dims.insert(name.to_string(), value) {
        Some(other) if other != value => {
            anyhow::bail!("dimension {name:?} is {other} in one place and {value} in another")
        }
        _ => Ok(()),
    }
}

/// An argument as a shell takes it.
fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    match argument.chars().all(plain) {
        true => argument.to_string(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}

/// How long a tensor is kept: until no node needs it, unless it is wanted in a file.
pub struct Keep {
    uses: BTreeMap<String, usize>,
    wanted: BTreeSet<String>,
}

impl Keep {
    pub fn new(entries: &[Entry<'_>], outputs: &[File]) -> Self {
        let mut uses = BTreeMap::new();
        for entry in entries {
            if let (State::Ready(_), Some(name)) = (&entry.state, entry.node.inputs.first()) {
                *uses.entry(name.clone()).or_default() += 1;
            }
        }
        Self { uses, wanted: outputs.iter().map(|file| file.name.clone()).collect() }
    }

    /// Drops what no node after this one needs.
    pub fn after(&mut self, entry: &Entry<'_>, values: &mut Values<'_>) {
        if let (State::Ready(_), Some(name)) = (&entry.state, entry.node.inputs.first())
            && let Some(uses) = self.uses.get_mut(name)
        {
            *uses = uses.saturating_sub(1);
        }
        let (uses, wanted) = (&self.uses, &self.wanted);
        let needed = |name: &String| uses.get(name).is_some_and(|&uses| uses > 0);
        values.given.retain(|name, _| needed(name));
        values.made.retain(|name, _| needed(name) || wanted.contains(name));
    }
}
