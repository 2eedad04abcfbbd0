//! `wgmax adaptive-max-pool` and `wgmax adaptive-min-pool`.

use anyhow::Context;
use clap::Args;
use wgmax::operator::{Indices, MaxPool, Numbering, Operator};
use wgmax::{Error, Extremum, Tensor, TensorDesc};

use super::axes::Axes;
use super::max_pool::{Given, Layout};
use super::operation::{self, OneInput, Read};
use super::options::{
    IndexAxisArgument, IndexTypeArgument, InitialArgument, List, NanChoice, about, common_option,
};

/// The operator and its input, or those of its gradient.
pub type Operation = OneInput<Attributes>;

/// The operator's attributes. A command that includes them must have an argument `indices`.
#[derive(Args)]
pub struct Attributes {
    /// Number of windows along each spatial axis, such as 7,7, or one for all axes
    #[arg(long, value_name = "O,..", allow_hyphen_values = true)]
    output_sizes: List,
    /// Order of the axes; by default ncx, or that of a picture
    #[arg(long, value_enum, ignore_case = true)]
    layout: Option<Layout>,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    #[command(flatten)]
    initial: InitialArgument,
    #[command(flatten)]
    index: IndexTypeArgument,
    #[command(flatten)]
    index_axis: IndexAxisArgument,
}

impl Attributes {
    /// The operator, if the attributes fit the input, and how the input's axes are pooled.
    pub fn operator(
        &self,
        extremum: Extremum,
        indices: bool,
        input: &TensorDesc,
        given: &Given,
    ) -> anyhow::Result<(Operator, Axes)> {
        let layout = self.layout.map(Into::into);
        let numbers = self.output_sizes.0.len();
        let windows = Axes::windows(layout, numbers, input.rank(), given.is_picture);
        let axes = Axes::new(layout, windows, input.rank());
        let pooled = axes.pooled(input)?;
        let axis = axes.pooled_axis(self.index_axis.index_axis, input.rank());
        let numbered = Indices::new(self.index.index_type.into());
        let numbered = numbered.numbering(Numbering::FromAxis(axis));
        let sizes = self.output_sizes.sizes("--output-sizes", windows, 0)?;
        let mut operator = MaxPool::adaptive(sizes)
            .layout(axes.layout)
            .extremum(extremum)
            .nan(self.nan.into())
            .indices(indices.then_some(numbered));
        operator.initial = self.initial.initial;
        operator.infer(&pooled).map_err(|error| {
            let is_rank = matches!(error, Error::PoolRank { .. } | Error::AttributeLength { .. });
            let advice = given.missing_axes(axes, windows, input.shape()).filter(|_| is_rank);
            let error = self.with_argument(error, input.rank(), given.name);
            match advice {
                Some(advice) => anyhow::anyhow!("{error:#}; {advice}"),
                None => error,
            }
        })?;
        Ok((operator.into(), axes))
    }

    /// The error with the argument that caused it.
    fn with_argument(&self, mut error: Error, rank: usize, input: &str) -> anyhow::Error {
        // The axis and the rank of the input, without the axes that were added to a picture.
        if let Error::AxisOutOfRange { .. } = error {
            error = Error::AxisOutOfRange { axis: self.index_axis.index_axis, rank };
        }
        let argument = match &error {
            Error::PoolRank { .. } | Error::NothingToShareOut { .. } => input.to_string(),
            Error::AxisOutOfRange { .. } => format!("--index-axis {}", self.index_axis.index_axis),
            error => common_option(error)
                .unwrap_or_else(|| format!("--output-sizes {}", self.output_sizes)),
        };
        about(Some(argument), error)
    }
}

impl operation::Operation for Operation {
    const EXAMPLES: &str = "\
Examples:
  wgmax adaptive-max-pool x.npy --output-sizes 7,7 -o y.npy
  wgmax adaptive-max-pool x.npy --output-sizes 7,7 --index-axis 2 --indices i.npy -o y.npy
  wgmax adaptive-max-pool x.npy --output-sizes 7,7 --backward gradient_of_y.npy -o gradient_of_x.npy

Windows split each axis evenly: window i of O along I elements begins at i * I / O, rounded down, and ends \
before (i + 1) * I / O, rounded up.";
    const INDICES: &str = <super::max_pool::Operation as operation::Operation>::INDICES;

    fn files(&self) -> Vec<&str> {
        self.backward.files(&[&self.source.input])
    }

    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read> {
        let Self { source, attributes, backward } = self;
        let (input, is_picture) = source.read()?;
        let reshaped = |shape: &[usize]| source.reshaped(shape);
        let given = Given { name: &source.input, is_picture, reshaped: &reshaped };
        let (operator, axes) = attributes.operator(extremum, indices, input.desc(), &given)?;
        let pooled = |tensor: Tensor| tensor.reshape(axes.pooled(tensor.desc())?.shape());
        let input = pooled(input).with_context(|| source.input.clone())?;
        let (operator, inputs) = backward.apply(operator, vec![input], source, pooled)?;
        Ok(Read { operator, inputs, axes })
    }

    fn remark(&self, _: &Read, _: &[Tensor]) -> anyhow::Result<()> {
        Ok(())
    }
}
