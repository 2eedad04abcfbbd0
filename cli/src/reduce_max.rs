//! `wgmax reduce-max`, `reduce-min`, `arg-max` and `arg-min`.

use clap::Args;
use wgmax::operator::{Indices, Operator, ReduceMax};
use wgmax::{Error, Extremum, Tensor, TensorDesc};

use super::Outcome;
use super::operation::{self, Delivery, OneInput, Read};
use super::options::{
    EmptyChoice, IndexType, IndexTypeArgument, InitialArgument, List, NanChoice, about,
    common_option,
};
use super::output::{self, Output};
use super::source::Source;

/// The operator and its input, or those of its gradient.
pub type Operation = OneInput<Attributes>;

/// The operator's attributes. A command that includes them must have an argument `indices`, which
/// says whether indices are computed, and a group `positions` of this one and `backward`.
#[derive(Args)]
pub struct Attributes {
    /// Axes to reduce, such as 0,-1; "" for none. All axes by default
    #[arg(long, allow_hyphen_values = true)]
    axes: Option<List>,
    /// Keep each reduced axis as a dimension of 1
    #[arg(long)]
    keep_dims: bool,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// Result of an empty reduction, for floats
    #[arg(long, value_enum, default_value = "neg-inf")]
    empty: EmptyChoice,
    #[command(flatten)]
    initial: InitialArgument,
    #[command(flatten)]
    index: IndexTypeArgument,
    /// Select the last of equal elements instead of the first, for indices and gradients
    #[arg(long, requires = "positions")]
    last_index: bool,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax arg-max logits.npy --axes -1 -o best.npy
  wgmax arg-min x.npy --axes 0 --last --index-type i32

Positions are counted in row-major order over all reduced axes.")]
pub struct PositionArguments {
    #[command(flatten)]
    source: Source,
    /// Axes to reduce, such as 0,-1; all axes by default
    #[arg(long, allow_hyphen_values = true)]
    axes: Option<List>,
    /// Keep each reduced axis as a dimension of 1
    #[arg(long)]
    keep_dims: bool,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// Select the last of equal elements instead of the first
    #[arg(long)]
    last: bool,
    /// Element type of the positions
    #[arg(long, value_enum, default_value = "i64")]
    index_type: IndexType,
    #[command(flatten)]
    delivery: Delivery,
}

impl Attributes {
    /// The operator, if the attributes fit the input. `backward`: whether its gradient is computed.
    /// A gradient selects one of equal elements, but has no indices.
    pub fn operator(
        &self,
        extremum: Extremum,
        indices: bool,
        backward: bool,
        input: &TensorDesc,
    ) -> anyhow::Result<Operator> {
        let positions = Indices::new(self.index.index_type.into()).last(self.last_index);
        let mut operator = ReduceMax::new()
            .extremum(extremum)
            .keep_dims(self.keep_dims)
            .nan(self.nan.into())
            .empty_set(self.empty.into())
            .indices(indices.then_some(positions));
        operator.initial = self.initial.initial;
        let operator = along(operator, self.axes.as_ref(), input)?;
        Ok(if backward { operator.indices(positions) } else { operator }.into())
    }
}

/// A reduction along some axes, or all, if they fit the input.
fn along(
    operator: ReduceMax,
    axes: Option<&List>,
    input: &TensorDesc,
) -> anyhow::Result<ReduceMax> {
    let operator = match axes {
        Some(axes) => operator.axes(axes.0.iter().copied()),
        None => operator,
    };
    operator.infer(input).map_err(|error| {
        let of_axes = matches!(error, Error::AxisOutOfRange { .. } | Error::DuplicateAxis { .. });
        let axes = axes.filter(|_| of_axes).map(|axes| format!("--axes {axes}"));
        about(axes.or_else(|| common_option(&error)), error)
    })?;
    Ok(operator)
}

impl operation::Operation for Operation {
    const EXAMPLES: &str = "\
Examples:
  wgmax reduce-max x.npy --axes 0,-1 -o y.npy
  wgmax reduce-max w.safetensors:weight --axes -1 --nan ignore --device cpu
  wgmax reduce-max photo.png --axes 0,1
  wgmax reduce-max x.npy --axes -1 --initial 0
  wgmax reduce-max logits.npy --axes -1 --indices best.npy -o y.npy
  wgmax reduce-max x.npy --axes -1 --backward gradient_of_y.npy -o gradient_of_x.npy
  wgmax reduce-max - --keep-dims < x.npy";
    const INDICES: &str = "Also write each result's position within the reduced axes to this file. With \
                           this option +0 and -0 are equal, so the sign of a zero may change";

    fn files(&self) -> Vec<&str> {
        self.backward.files(&[&self.source.input])
    }

    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read> {
        let Self { attributes, source, backward } = self;
        let (input, _) = source.read()?;
        let operator = attributes.operator(extremum, indices, backward.is_given(), input.desc())?;
        Ok(backward.apply(operator, vec![input], source, Ok)?.into())
    }

    fn remark(&self, Read { inputs, .. }: &Read, results: &[Tensor]) -> anyhow::Result<()> {
        let has_initial = self.attributes.initial.initial.is_some();
        if inputs[0].is_empty() && !results[0].is_empty() && !has_initial {
            let (name, desc) = (&self.source.input, inputs[0].desc());
            output::remark(format_args!(
                "{name}: {desc} is empty: the result is the --empty value"
            ));
        }
        Ok(())
    }
}

/// The positions of the maxima or minima.
pub fn positions(
    arguments: &PositionArguments,
    extremum: Extremum,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    arguments.delivery.check(&[&arguments.source.input], ("--indices ", &None))?;
    let (input, _) = arguments.source.read()?;
    let positions = Indices::new(arguments.index_type.into()).last(arguments.last);
    let operator = ReduceMax::new()
        .extremum(extremum)
        .keep_dims(arguments.keep_dims)
        .nan(arguments.nan.into())
        .indices(positions)
        .values(false);
    let operator = along(operator, arguments.axes.as_ref(), input.desc())?;
    arguments.delivery.run(&(operator.into(), vec![input]).into(), &None, output)?;
    Ok(Outcome::Good)
}
