//! `wgmax segment-max` and `wgmax segment-min`.

use clap::Args;
use wgmax::internals::status_alone;
use wgmax::operator::{EmptySet, Indices, Operator, SegmentMax, Segments};
use wgmax::{Device, Error, Extremum, Run, Tensor};

use super::backward::Backward;
use super::files;
use super::operation::{self, Read};
use super::options::{
    IndexTypeArgument, InitialArgument, NanChoice, choices, common_option, integer,
};
use super::output;
use super::source::Source;

/// The operator and its inputs, or those of its gradient.
#[derive(Args)]
pub struct Operation {
    #[command(flatten)]
    source: Source,
    /// File with the segment of each row, in the formats of INPUT, as integers
    #[arg(value_name = "IDS")]
    ids: String,
    #[command(flatten)]
    attributes: Attributes,
    /// Drop rows whose id is --num-segments or more; by default they are an error
    #[arg(long, requires = "num_segments", conflicts_with = "offsets")]
    drop: bool,
    #[command(flatten)]
    backward: Backward,
}

/// The operator's attributes. A command that includes them must have an argument `indices`, which
/// says whether indices are computed.
#[derive(Args)]
pub struct Attributes {
    /// Number of segments; by default the largest id plus 1, or the number of offsets minus 1
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = integer)]
    pub num_segments: Option<i64>,
    /// Result of a segment without rows
    #[arg(long, value_enum, default_value = "zero")]
    fill: Fill,
    #[command(flatten)]
    initial: InitialArgument,
    /// The ids are in any order; rows whose id is negative are dropped
    #[arg(long, conflicts_with = "offsets")]
    unsorted: bool,
    /// IDS holds offsets: segment i is the rows from offset i to offset i + 1
    #[arg(long)]
    pub offsets: bool,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    #[command(flatten)]
    index: IndexTypeArgument,
}

choices! { Fill of EmptySet {
    /// 0
    Zero,
    /// The lowest finite value; the highest for minima
    #[value(name = "lowest", alias = "highest")]
    Finite,
    /// Minus infinity, or plus infinity for minima; for integers, as lowest
    #[value(name = "neg-inf", alias = "pos-inf")]
    Identity,
} }

impl Attributes {
    /// The operator. With offsets, `--num-segments` is ignored here: offsets imply the number.
    ///
    /// # Errors
    /// [`Error::BadAttribute`] for a negative number.
    pub fn operator(&self, extremum: Extremum, indices: bool) -> wgmax::Result<SegmentMax> {
        let operator = match (self.unsorted, self.offsets) {
            (true, _) => SegmentMax::unsorted(),
            (_, true) => SegmentMax::offsets(),
            _ => SegmentMax::sorted(),
        };
        let number = self.num_segments.filter(|_| !self.offsets).map(|number| {
            let (attribute, expected) = ("num_segments", "0 or more");
            let bad = |_| Error::BadAttribute { attribute, expected, value: number.to_string() };
            usize::try_from(number).map_err(bad)
        });
        let mut operator = operator
            .extremum(extremum)
            .num_segments(number.transpose()?)
            .empty_segment(self.fill.into())
            .nan(self.nan.into())
            .indices(indices.then(|| Indices::new(self.index.index_type.into())));
        operator.initial = self.initial.initial;
        Ok(operator)
    }

    /// The error with the argument that caused it, given the arguments of the inputs.
    pub fn with_argument(&self, error: Error, data: &str, ids: &str) -> anyhow::Error {
        let argument = match (&error, self.num_segments) {
            (Error::SegmentDataRank, _) => data.to_string(),
            (Error::BadAttribute { .. } | Error::ShapeOverflow { .. }, Some(count)) => {
                format!("--num-segments {count}")
            }
            (error, _) => common_option(error).unwrap_or_else(|| ids.to_string()),
        };
        let hint = self.hint(&error);
        // This advice has the library's name of the attribute, not the option's.
        let text = error.to_string().replace("; give num_segments", "");
        anyhow::anyhow!("{argument}: {text}{hint}")
    }

    /// The option for such ids.
    fn hint(&self, error: &Error) -> &'static str {
        match error {
            Error::UnsortedSegments { .. } if self.offsets => {
                "; if they are ids: leave out --offsets"
            }
            Error::UnsortedSegments { .. } => "; --unsorted takes ids in any order",
            Error::NegativeSegment { .. } if !self.offsets => "; --unsorted leaves such rows out",
            Error::SegmentTooLarge { .. } => "; --num-segments with --drop leaves such rows out",
            Error::SegmentOutOfRange { .. } => "; --drop leaves such rows out",
            Error::SegmentIdsLength { .. } if !self.offsets => "; if they are offsets: --offsets",
            _ => "",
        }
    }
}

impl operation::Operation for Operation {
    const EXAMPLES: &str = "\
Examples:
  wgmax segment-max x.npy ids.npy --num-segments 34 --unsorted -o y.npy
  wgmax segment-max data.npy offsets.npy --offsets --indices rows.npy
  wgmax segment-max x.npy ids.npy --backward gradient_of_y.npy -o gradient_of_x.npy";
    const INDICES: &str = "Also write the row that each result comes from to this file. With this option \
                           +0 and -0 are equal, so the sign of a zero may change";

    fn files(&self) -> Vec<&str> {
        self.backward.files(&[&self.source.input, &self.ids])
    }

    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read> {
        let attributes = &self.attributes;
        if let Some(number) = attributes.num_segments.filter(|_| attributes.offsets) {
            anyhow::bail!("--num-segments {number}: leave it out; --offsets imply the number");
        }
        let (data, _) = self.source.read()?;
        let ids = files::read(&self.ids, None)?;
        let checked = attributes
            .operator(extremum, indices)
            .and_then(|operator| operator.checked(data.desc(), &ids))
            .and_then(|checked| checked.infer([data.desc(), ids.desc()]).map(|_| checked))
            .and_then(|checked| match attributes.num_segments {
                Some(_) if !self.drop => checked.check_range(data.desc(), &ids).map(|()| checked),
                _ => Ok(checked),
            })
            .map_err(|error| attributes.with_argument(error, &self.source.input, &self.ids))?;
        // A gradient has as many segments as the results have.
        Ok(self.backward.apply(checked.into(), vec![data, ids], &self.source, Ok)?.into())
    }

    fn with_argument(&self, error: anyhow::Error, read: &Read) -> anyhow::Error {
        let descs: Vec<_> = read.inputs.iter().map(Tensor::desc).collect();
        match (error.downcast_ref(), self.attributes.num_segments, read.operator.infer(&descs)) {
            (Some(Error::OutOfMemory { .. }), Some(number), Ok(results)) => {
                let bytes = results.iter().map(|result| result.byte_len() as u64).sum();
                let size = output::size(bytes);
                error.context(format!("--num-segments {number}: the results have {size}"))
            }
            _ => error,
        }
    }

    fn remark(&self, Read { operator, inputs, .. }: &Read, _: &[Tensor]) -> anyhow::Result<()> {
        match operator {
            Operator::SegmentMaxBackward(gradient) => remark_on_dropped(&gradient.segment, inputs),
            Operator::SegmentMax(forward) => remark_on_dropped(forward, inputs),
            _ => Ok(()),
        }
    }
}

/// Reports how many rows belong to no segment.
fn remark_on_dropped(operator: &SegmentMax, inputs: &[Tensor]) -> anyhow::Result<()> {
    let rows = inputs[0].shape()[0];
    let (operator, data) = status_alone(operator, rows)?;
    let results = operator.run(&Device::cpu(), [&data, &inputs[1]])?;
    if let &[_, dropped] = results.status()?.as_slice::<u32>()?
        && dropped > 0
    {
        let why = match operator.segments {
            Segments::Offsets => "they are outside of all offsets",
            _ => "their ids are out of range",
        };
        let rows = output::counted(rows, "row");
        output::remark(format_args!("{dropped} of {rows} belong to no segment: {why}"));
    }
    Ok(())
}
