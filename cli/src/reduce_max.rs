//! `wgmax reduce-max`.

use clap::Args;
use wgmax::operator::{Operator, ReduceMax};
use wgmax::{Tensor, TensorDesc};

use super::Outcome;
use super::options::{EmptyChoice, List, NanChoice, Run, Writing};
use super::output::{self, Output};
use super::source::Source;
use super::targets::Targets;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax reduce-max x.npy --axes 0,-1 -o y.npy
  wgmax reduce-max w.safetensors:weight --axes -1 --nan ignore --device cpu
  wgmax reduce-max photo.png --axes 0,1
  wgmax reduce-max - --keep-dims < x.npy")]
pub struct Arguments {
    #[command(flatten)]
    operation: Operation,
    #[command(flatten)]
    run: Run,
    /// File for the result, as FILE:NAME in an archive that keeps its other arrays; printed by default
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

/// The operator and its input.
#[derive(Args)]
pub struct Operation {
    #[command(flatten)]
    attributes: Attributes,
    #[command(flatten)]
    source: Source,
}

/// The operator's attributes.
#[derive(Args)]
pub struct Attributes {
    /// Axes to reduce, such as 0,-1; "" for none. All axes by default
    #[arg(long, allow_hyphen_values = true)]
    axes: Option<List>,
    /// Keep each reduced axis as a dimension of 1
    #[arg(long)]
    keep_dims: bool,
    /// How NaN counts
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// The maximum of no elements, for floats
    #[arg(long, value_enum, default_value = "neg-inf")]
    empty: EmptyChoice,
}

impl Attributes {
    /// The operator, if the attributes fit the input.
    pub fn operator(&self, input: &TensorDesc) -> anyhow::Result<Operator> {
        let mut operator = ReduceMax::new()
            .keep_dims(self.keep_dims)
            .nan(self.nan.into())
            .empty_set(self.empty.into());
        if let Some(List(axes)) = &self.axes {
            operator = operator.axes(axes.iter().copied());
        }
        operator.infer(input).map_err(|error| match &self.axes {
            Some(axes) => anyhow::anyhow!("--axes {axes}: {error}"),
            None => error.into(),
        })?;
        Ok(operator.into())
    }
}

impl Operation {
    /// The operator, checked before a device is opened, and its input from the file.
    pub fn read(&self) -> anyhow::Result<(Operator, Tensor)> {
        let input = self.source.read()?;
        Ok((self.attributes.operator(input.desc())?, input))
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    Targets::default()
        .tensor("--output ", arguments.output.as_deref())?
        .check(&[&arguments.operation.source.input], Some(arguments.writing.force))?;
    let (operator, input) = arguments.operation.read()?;
    let results = arguments.run.run(&operator, &[&input])?;
    output::deliver(&results, &[&arguments.output], &arguments.writing, output)?;
    if input.is_empty() && !results[0].is_empty() {
        let (name, desc) = (arguments.operation.source.input.as_str(), input.desc());
        output::remark(format_args!("{name}: {desc} is empty: the result is the --empty value"));
    }
    Ok(Outcome::Good)
}
