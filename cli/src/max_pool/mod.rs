//! `wgmax max-pool` and `wgmax min-pool`.

mod advice;

use clap::{Args, ValueEnum};
use wgmax::operator::{self, Indices, MaxPool, Numbering, Operator, Padding};
use wgmax::{Extremum, Tensor, TensorDesc};

use super::axes::Axes;
use super::operation::{self, OneInput, Read};
use super::options::{
    EmptyChoice, IndexAxisArgument, IndexTypeArgument, InitialArgument, List, NanChoice, choices,
};
use super::output;
pub use advice::Given;

/// The operator and its input, or those of its gradient.
pub type Operation = OneInput<Attributes>;

/// The operator's attributes. A command that includes them must have an argument `indices`, which
/// says whether indices are computed.
#[derive(Args)]
pub struct Attributes {
    /// Size of the window along each spatial axis, such as 3,3; one number stands for all axes, here
    /// and in the next options
    #[arg(long, value_name = "K,..", allow_hyphen_values = true)]
    kernel: List,
    /// Stride along each spatial axis, or one for all; 1 by default
    #[arg(long, value_name = "S,..", allow_hyphen_values = true)]
    strides: Option<List>,
    /// Padding before each spatial axis, then after each, or one for all; 0 by default
    #[arg(long, value_name = "B,..,E,..", allow_hyphen_values = true)]
    pads: Option<List>,
    /// Dilation along each spatial axis, or one for all; 1 by default
    #[arg(long, value_name = "D,..", allow_hyphen_values = true)]
    dilations: Option<List>,
    /// How the padding is chosen; ONNX's names, such as SAME_UPPER, work too
    #[arg(long, value_enum, default_value = "explicit", ignore_case = true)]
    auto_pad: AutoPad,
    /// How a partial last window is handled
    #[arg(long, value_enum, default_value = "floor")]
    rounding: Rounding,
    /// Order of the axes; by default ncx, or that of a picture
    #[arg(long, value_enum, ignore_case = true)]
    layout: Option<Layout>,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// Result of a window that covers no element, for floats
    #[arg(long, value_enum, default_value = "neg-inf")]
    empty: EmptyChoice,
    #[command(flatten)]
    initial: InitialArgument,
    #[command(flatten)]
    index: IndexTypeArgument,
    /// How positions are numbered
    #[arg(
        long,
        value_enum,
        default_value = "row-major",
        requires = "indices",
        conflicts_with = "backward"
    )]
    index_order: IndexOrder,
    #[command(flatten)]
    index_axis: IndexAxisArgument,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum AutoPad {
    /// As in --pads
    #[value(alias = "notset")]
    Explicit,
    /// Enough for ceil(size / stride) windows; extra padding goes at the end
    #[value(alias = "same_upper")]
    SameUpper,
    /// Enough for ceil(size / stride) windows; extra padding goes at the beginning
    #[value(alias = "same_lower")]
    SameLower,
    /// None
    Valid,
}

choices! { Rounding of operator::Rounding {
    /// Drop it
    Floor,
    /// Keep it
    Ceil,
    /// Keep it, unless it starts after the last element
    CeilTorch,
} }

choices! { Layout of operator::Layout {
    /// [batch, channels, spatial...], such as NCHW
    #[value(aliases = ["ncw", "nchw", "ncdhw"])]
    Ncx,
    /// [batch, spatial..., channels], such as NHWC
    #[value(aliases = ["nwc", "nhwc", "ndhwc"])]
    Nxc,
} }

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum IndexOrder {
    /// The last axis is the fastest, as in memory
    RowMajor,
    /// The first spatial axis is the fastest
    ColumnMajor,
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
        let windows = self.windows(input, given);
        let axes = Axes::new(self.layout.map(Into::into), windows, input.rank());
        let pooled = axes.pooled(input)?;
        let operator = self.max_pool(indices, &pooled, axes, input.rank(), windows)?;
        let operator = operator.extremum(extremum);
        operator.infer(&pooled).map_err(|error| self.explained(error, axes, input, given))?;
        Ok((operator.into(), axes))
    }

    fn max_pool(
        &self,
        indices: bool,
        pooled: &TensorDesc,
        axes: Axes,
        rank: usize,
        windows: usize,
    ) -> anyhow::Result<MaxPool> {
        let axis = axes.pooled_axis(self.index_axis.index_axis, rank);
        let numbering = match self.index_order {
            IndexOrder::RowMajor => Numbering::FromAxis(axis),
            IndexOrder::ColumnMajor => {
                let given = self.index_axis.index_axis;
                anyhow::ensure!(
                    given == 0,
                    "--index-axis {given}: not together with --index-order column-major"
                );
                Numbering::ColumnMajor
            }
        };
        let numbered = Indices::new(self.index.index_type.into()).numbering(numbering);
        let mut operator = MaxPool::new(self.kernel.sizes("--kernel", windows, 1)?)
            .padding(self.padding(pooled, windows)?)
            .rounding(self.rounding.into())
            .layout(axes.layout)
            .nan(self.nan.into())
            .empty_window(self.empty.into())
            .indices(indices.then_some(numbered));
        operator.initial = self.initial.initial;
        if let Some(strides) = &self.strides {
            operator = operator.strides(strides.sizes("--strides", windows, 1)?);
        }
        if let Some(dilations) = &self.dilations {
            operator = operator.dilations(dilations.sizes("--dilations", windows, 1)?);
        }
        Ok(operator)
    }

    /// The number of axes with windows.
    fn windows(&self, input: &TensorDesc, given: &Given) -> usize {
        let (layout, numbers) = (self.layout.map(Into::into), self.kernel.0.len());
        Axes::windows(layout, numbers, input.rank(), given.is_picture)
    }

    fn padding(&self, input: &TensorDesc, windows: usize) -> anyhow::Result<Padding> {
        let padding = match self.auto_pad {
            AutoPad::Explicit => Padding::Explicit { begin: Vec::new(), end: Vec::new() },
            AutoPad::SameUpper => Padding::SameUpper,
            AutoPad::SameLower => Padding::SameLower,
            AutoPad::Valid => Padding::Valid,
        };
        let Some(pads) = &self.pads else { return Ok(padding) };
        if self.auto_pad != AutoPad::Explicit {
            let name = self.auto_pad.to_possible_value().expect("no value is skipped");
            anyhow::bail!("--pads {pads}: not together with --auto-pad {}", name.get_name());
        }
        let spatial = input.rank().saturating_sub(2);
        let each = pads.sizes("--pads", 2 * windows, 0)?;
        // The operator refuses inputs without the kernel's axes, and advises how to add them.
        anyhow::ensure!(
            spatial != windows || each.len() == 2 * spatial,
            "--pads {pads}: {input} needs {} numbers, one before and one after each spatial axis, \
             or one for all, not {}",
            2 * spatial,
            each.len(),
        );
        let (begin, end) = each.split_at(each.len() / 2);
        Ok(Padding::Explicit { begin: begin.to_vec(), end: end.to_vec() })
    }
}

impl operation::Operation for Operation {
    const EXAMPLES: &str = "\
Examples:
  wgmax max-pool x.npy --kernel 3,3 --strides 2,2 --pads 1,1,1,1 -o y.npy
  wgmax max-pool x.npz:x --kernel 2,2 --auto-pad same-upper --indices i.npy
  wgmax max-pool photo.png --kernel 9,9 --auto-pad same-upper -o brightest.png
  wgmax max-pool chw.npy --reshape 1,3,224,-1 --kernel 3,3 -o y.npy
  wgmax max-pool x.npy --kernel 3,3 --backward gradient_of_y.npy -o gradient_of_x.npy

With a kernel of two axes, [H, W] and [H, W, C] are pooled as pictures, unless --layout is given.";
    const INDICES: &str = "Also write each result's position to this file. With this option +0 and -0 \
                           are equal, so the sign of a zero may change";

    fn files(&self) -> Vec<&str> {
        self.backward.files(&[&self.source.input])
    }

    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read> {
        let Self { source, attributes, backward } = self;
        let (input, is_picture) = source.read()?;
        let kernel = &attributes.kernel;
        anyhow::ensure!(
            matches!(kernel.0.len(), 1 | 2) || !is_picture || attributes.layout.is_some(),
            "--kernel {kernel}: a picture needs 2 numbers, such as --kernel {0},{0}, or one for both",
            kernel.0.first().unwrap_or(&3)
        );
        let reshaped = |shape: &[usize]| source.reshaped(shape);
        let given = Given { name: &source.input, is_picture, reshaped: &reshaped };
        let (operator, axes) = attributes.operator(extremum, indices, input.desc(), &given)?;
        let pooled = |tensor: Tensor| tensor.reshape(axes.pooled(tensor.desc())?.shape());
        let (operator, inputs) = backward.apply(operator, vec![pooled(input)?], source, pooled)?;
        Ok(Read { operator, inputs, axes })
    }

    /// Notes that the sizes of the axes suggest another order.
    fn remark(&self, Read { inputs, axes, .. }: &Read, _: &[Tensor]) -> anyhow::Result<()> {
        let input = inputs[0].desc();
        let Attributes { kernel, layout, .. } = &self.attributes;
        if let (&[batch, channels, length], [size], None) = (input.shape(), &kernel.0[..], layout)
            && length <= 4
            && batch.min(channels) > 4
        {
            output::remark(format_args!(
                "{} is pooled as [batch, channels, length]; if it is a picture [H, W, C]: \
                 --kernel {size},{size}",
                self.source.input,
            ));
        }
        if axes.looks_channels_first(input) {
            output::remark(format_args!(
                "{} is pooled as a picture [H, W, C]; if its channels come first: {}",
                self.source.input,
                self.source.reshaped(input.shape()),
            ));
        }
        Ok(())
    }
}
