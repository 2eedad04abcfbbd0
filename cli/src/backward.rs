//! `--backward`: the gradient of an operator.

use clap::Args;
use wgmax::operator::Operator;
use wgmax::{Tensor, TensorDesc};

use super::source::Source;

/// Whether an operator is computed or its gradient. A command that includes this has an argument
/// `indices` too.
#[derive(Args)]
pub struct Backward {
    /// Compute the gradient of INPUT instead, from this file with the gradient of the maxima or
    /// minima, in the formats of INPUT
    #[arg(long = "backward", value_name = "FILE", group = "positions")]
    file: Option<String>,
}

impl Backward {
    /// The file of the gradient, if there is one.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The operator and its inputs, or its gradient and the inputs of that. `own` gives the gradient
    /// the axes that the operator has.
    pub fn apply(
        &self,
        operator: Operator,
        mut inputs: Vec<Tensor>,
        source: &Source,
        own: impl FnOnce(Tensor) -> wgmax::Result<Tensor>,
    ) -> anyhow::Result<(Operator, Vec<Tensor>)> {
        let Some(file) = &self.file else { return Ok((operator, inputs)) };
        inputs.push(own(source.read_beside(file)?)?);
        let descs: Vec<&TensorDesc> = inputs.iter().map(Tensor::desc).collect();
        let operator =
            of(operator, &descs).map_err(|error| anyhow::anyhow!("--backward {file}: {error}"))?;
        Ok((operator, inputs))
    }
}

/// The gradient of an operator, if it has one for such inputs.
pub fn of(operator: Operator, inputs: &[&TensorDesc]) -> anyhow::Result<Operator> {
    let name = operator.name();
    let Some(backward) = operator.backward() else { anyhow::bail!("{name} has no gradient") };
    backward.infer(inputs)?;
    Ok(backward)
}
