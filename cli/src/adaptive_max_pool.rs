//! `wgmax adaptive-max-pool` and `wgmax adaptive-min-pool`.

use anyhow::Context;
use clap::Args;
use wgmax::operator::{Indices, MaxPool, Numbering, Operator};
use wgmax::{Error, Extremum, Tensor, TensorDesc};

use super::axes::Axes;
use super::max_pool::Layout;
use super::operation::{self, OneInput, Read};
use super::options::{IndexAxisArgument, IndexTypeArgument, InitialArgument, List, NanChoice};

/// The operator and its input, or those of its gradient.
pub type Operation = OneInput<Attributes>;

/// The operator's attributes. A command that includes them has an argument `indices` too.
#[derive(Args)]
pub struct Attributes {
    /// Number of windows along each spatial axis, such as 7,7, or one for all axes
    #[arg(long, value_name = "O,..", allow_hyphen_values = true)]
    output_sizes: List,
    /// Order of the axes; by default ncx, or that of a picture
    #[arg(long, value_enum)]
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
        (name, is_picture): (&str, bool),
    ) -> anyhow::Result<(Operator, Axes)> {
        let layout = self.layout.map(Into::into);
        let windows = Axes::windows(layout, self.output_sizes.0.len(), input.rank(), is_picture);
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
        operator.infer(&pooled).map_err(|error| self.with_argument(error, input.rank(), name))?;
        Ok((operator.into(), axes))
    }

    /// The error with the argument that caused it.
    fn with_argument(&self, mut error: Error, rank: usize, input: &str) -> anyhow::Error {
        // A picture has its own axes.
        if let Error::AxisOutOfRange { .. } = error {
            error = Error::AxisOutOfRange { axis: self.index_axis.index_axis, rank };
        }
        let argument = match &error {
            Error::PoolRank { .. } | Error::NothingToShareOut { .. } => input.to_string(),
            Error::AxisOutOfRange { .. } => format!("--index-axis {}", self.index_axis.index_axis),
            Error::IndexTooLarge { .. } => "--index-type i32".to_string(),
            Error::BadAttribute { attribute: "initial", .. } => "--initial".to_string(),
            _ => format!("--output-sizes {}", self.output_sizes),
        };
        anyhow::Error::from(error).context(argument)
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
        let given = (source.input.as_str(), is_picture);
        let (operator, axes) = attributes.operator(extremum, indices, input.desc(), given)?;
        let pooled = |tensor: Tensor| tensor.reshape(axes.pooled(tensor.desc())?.shape());
        let input = pooled(input).with_context(|| source.input.clone())?;
        let (operator, inputs) = backward.apply(operator, vec![input], source, pooled)?;
        Ok(Read { operator, inputs, axes })
    }

    fn remark(&self, _: &Read, _: &[Tensor]) -> anyhow::Result<()> {
        Ok(())
    }
}
