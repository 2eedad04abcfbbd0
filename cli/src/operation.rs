//! Code that the commands of operators share, such as `wgmax max-pool`.

use clap::Args;
use wgmax::operator::Operator;
use wgmax::{Extremum, Tensor, TensorDesc};

use super::Outcome;
use super::axes::Axes;
use super::backward::Backward;
use super::options::{Run, Writing};
use super::output::{self, Output};
use super::picture::{self, Format};
use super::source::Source;
use super::targets::Targets;

/// An operator with its inputs, or its gradient with that one's inputs, from the arguments.
pub trait Operation: Args {
    /// The end of the command's help.
    const EXAMPLES: &str;
    /// What `--indices` writes.
    const INDICES: &str;

    /// The files that are read.
    fn files(&self) -> Vec<&str>;

    /// The option that names the file of the second result, and the file.
    fn second<'a>(&'a self, indices: &'a Option<String>) -> (&'static str, &'a Option<String>) {
        ("--indices ", indices)
    }

    /// Reads the inputs. The operator is checked before a device is opened.
    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read>;

    /// The error of a run, with the argument that caused it.
    fn with_argument(&self, error: anyhow::Error, _: &Read) -> anyhow::Error {
        error
    }

    /// Warns on stderr about conditions that the results may not show.
    fn remark(&self, read: &Read, results: &[Tensor]) -> anyhow::Result<()>;
}

/// The attributes and the input of an operator with one input, or those of its gradient.
#[derive(Args)]
pub struct OneInput<A: Args> {
    #[command(flatten)]
    pub attributes: A,
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub backward: Backward,
}

/// The input of an operator.
pub struct Read {
    pub operator: Operator,
    pub inputs: Vec<Tensor>,
    /// The axes that are pooled.
    pub axes: Axes,
}

impl From<(Operator, Vec<Tensor>)> for Read {
    fn from((operator, inputs): (Operator, Vec<Tensor>)) -> Self {
        Self { operator, inputs, axes: Axes::OWN }
    }
}

#[derive(Args)]
#[command(after_help = O::EXAMPLES)]
pub struct Arguments<O: Operation> {
    #[command(flatten)]
    operation: O,
    #[arg(long, value_name = "IDX_FILE", group = "positions", help = O::INDICES)]
    indices: Option<String>,
    #[command(flatten)]
    delivery: Delivery,
}

/// The device that runs an operator, and the file of its result.
#[derive(Args)]
pub struct Delivery {
    #[command(flatten)]
    run: Run,
    /// File for the result; FILE:NAME keeps the other arrays of an archive. Printed by default
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

impl Delivery {
    /// Refuses files that cannot be written, before any file is read.
    pub fn check(
        &self,
        inputs: &[&str],
        (option, second): (&'static str, &Option<String>),
    ) -> anyhow::Result<()> {
        Targets::default()
            .tensor("--output ", self.output.as_deref())?
            .tensor(option, second.as_deref())?
            .check(inputs, Some(self.writing.force))
    }

    /// Runs the operator, and writes or prints its results. A result that is no picture, but has the file
    /// of one, is refused before it is computed.
    pub fn run(
        &self,
        Read { operator, inputs, axes }: &Read,
        second: &Option<String>,
        output: &mut Output,
    ) -> anyhow::Result<Vec<Tensor>> {
        let descs: Vec<&TensorDesc> = inputs.iter().map(Tensor::desc).collect();
        let results = operator.infer(&descs)?;
        for (file, result) in [&self.output, second].into_iter().zip(results.iter()) {
            let Some(spec) = file else { continue };
            if let Some(format) = Format::of(spec) {
                picture::check(spec, format, &axes.own_desc(result)?)?;
            }
        }
        let results = self.run.run(operator, &inputs.iter().collect::<Vec<_>>())?;
        let results: Vec<Tensor> =
            results.iter().map(|result| axes.own(result)).collect::<Result<_, _>>()?;
        output::deliver(&results, &[&self.output, second], self.writing.force, output)?;
        Ok(results)
    }
}

pub fn run<O: Operation>(
    Arguments { operation, indices, delivery }: &Arguments<O>,
    extremum: Extremum,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let second = operation.second(indices);
    delivery.check(&operation.files(), second)?;
    let read = operation.read(extremum, indices.is_some())?;
    let results = delivery.run(&read, second.1, output);
    let results = results.map_err(|error| operation.with_argument(error, &read))?;
    operation.remark(&read, &results)?;
    Ok(Outcome::Good)
}
