//! `--backward`: the gradient of an operator.

use anyhow::Context;
use clap::Args;
use wgmax::operator::Operator;
use wgmax::{Error, Tensor, TensorDesc};

use super::source::Source;

/// Whether an operator or its gradient is computed. A command that includes this must have an argument
/// `indices`.
#[derive(Args)]
pub struct Backward {
    /// Compute the gradient of INPUT instead. This file has the gradient of the maxima or minima, in
    /// the formats of INPUT
    #[arg(long, value_name = "FILE", group = "positions")]
    backward: Option<String>,
}

impl Backward {
    /// Whether the gradient is computed.
    pub fn is_given(&self) -> bool {
        self.backward.is_some()
    }

    /// The files that are read: those of the operator, and that of the gradient.
    pub fn files<'a>(&'a self, inputs: &[&'a str]) -> Vec<&'a str> {
        inputs.iter().copied().chain(self.backward.as_deref()).collect()
    }

    /// The operator and its inputs; with `--backward`, its gradient and the inputs of the gradient. `own`
    /// adds the axes of the operator to the gradient's file.
    pub fn apply(
        &self,
        operator: Operator,
        mut inputs: Vec<Tensor>,
        source: &Source,
        own: impl FnOnce(Tensor) -> wgmax::Result<Tensor>,
    ) -> anyhow::Result<(Operator, Vec<Tensor>)> {
        let Some(file) = &self.backward else { return Ok((operator, inputs)) };
        let gradient = source.read_file(file)?.0;
        let rank = gradient.shape().len();
        let gradient = own(gradient).with_context(|| format!("--backward {file}"))?;
        // Errors show shapes without the axes that were added.
        let added = gradient.shape().len() - rank;
        inputs.push(gradient);
        let descs: Vec<&TensorDesc> = inputs.iter().map(Tensor::desc).collect();
        let operator = of(operator, &descs).map_err(|error| match error {
            Error::WrongElementType { what: "the data", .. } => {
                anyhow::anyhow!("{}: {error}", source.input)
            }
            Error::WrongInput { expected_type, actual_type, .. }
                if expected_type != actual_type =>
            {
                anyhow::anyhow!("--backward {file}: its type is {actual_type}, not {expected_type}")
            }
            Error::WrongInput { expected_shape, actual_shape, .. } => anyhow::anyhow!(
                "--backward {file}: its shape is {:?}, but that of the result is {:?}",
                &actual_shape[added..],
                &expected_shape[added..],
            ),
            error => anyhow::anyhow!("--backward {file}: {error}"),
        })?;
        Ok((operator, inputs))
    }
}

/// The gradient of a command's operator, if it takes inputs of these types and shapes.
pub fn of(operator: Operator, inputs: &[&TensorDesc]) -> wgmax::Result<Operator> {
    let backward = operator.backward().expect("each of these has a gradient");
    backward.infer(inputs)?;
    Ok(backward)
}
