//! `wgmax segment-max` and `wgmax segment-min`.

use clap::{Args, ValueEnum};
use wgmax::operator::{EmptySegment, Operator, SegmentMax};
use wgmax::{Error, Extremum, Tensor};

use super::Outcome;
use super::files;
use super::options::{IndexType, NanChoice, Run, Writing};
use super::output::{self, Output};
use super::source::Source;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax segment-max features.npy ids.npy --num-segments 34 --unsorted -o largest.npy
  wgmax segment-max data.npy offsets.npy --offsets --indices rows.npy")]
pub struct Arguments {
    #[command(flatten)]
    operation: Operation,
    /// Also compute the rows that the results come from, and write them to a file
    #[arg(long, value_name = "IDX_FILE")]
    indices: Option<String>,
    #[command(flatten)]
    run: Run,
    /// File for the result, as FILE:NAME in an archive that keeps its other arrays; printed by default
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
}

/// The operator and its inputs.
#[derive(Args)]
pub struct Operation {
    #[command(flatten)]
    source: Source,
    /// File with the segment of each row, in the formats of INPUT, as integers
    #[arg(value_name = "IDS")]
    ids: String,
    #[command(flatten)]
    attributes: Attributes,
}

/// The operator's attributes. A command that includes them has an argument `indices` too, which
/// says whether indices are computed.
#[derive(Args)]
pub struct Attributes {
    /// Number of segments; by default the largest id plus 1, or as many as there are offsets for
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub num_segments: Option<i64>,
    /// What a segment without rows gives
    #[arg(long, value_enum, default_value = "zero")]
    fill: Fill,
    /// The ids are in any order; rows whose id is out of range are left out
    #[arg(long, conflicts_with = "offsets")]
    unsorted: bool,
    /// IDS holds offsets: segment i is the rows from offset i to offset i + 1
    #[arg(long)]
    pub offsets: bool,
    /// How NaN counts
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// Element type of the indices
    #[arg(long, value_enum, default_value = "i64", requires = "indices")]
    index_type: IndexType,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fill {
    /// 0
    Zero,
    /// The lowest finite value; the highest for minima
    #[value(alias = "highest")]
    Lowest,
    /// Minus infinity, or plus infinity for minima; integers as above
    #[value(alias = "pos-inf")]
    NegInf,
}

impl From<Fill> for EmptySegment {
    fn from(fill: Fill) -> Self {
        match fill {
            Fill::Zero => Self::Zero,
            Fill::Lowest => Self::Lowest,
            Fill::NegInf => Self::NegativeInfinity,
        }
    }
}

impl Attributes {
    /// The operator. The number of segments is left out with offsets, which imply it.
    pub fn operator(&self, extremum: Extremum, indices: bool) -> SegmentMax {
        let operator = match (self.unsorted, self.offsets) {
            (true, _) => SegmentMax::unsorted(),
            (_, true) => SegmentMax::offsets(),
            _ => SegmentMax::sorted(),
        };
        operator
            .extremum(extremum)
            .num_segments(self.num_segments.filter(|_| !self.offsets))
            .empty_segment(self.fill.into())
            .nan(self.nan.into())
            .indices(indices.then_some(self.index_type.into()))
    }

    /// The error with the argument that caused it, given the arguments of the inputs.
    pub fn with_argument(&self, error: Error, data: &str, ids: &str) -> anyhow::Error {
        let argument = match (&error, self.num_segments) {
            (Error::SegmentDataRank, _) => data.to_string(),
            (Error::BadAttribute { .. } | Error::ShapeOverflow { .. }, Some(count)) => {
                format!("--num-segments {count}")
            }
            (Error::IndexTooLarge { .. }, _) => "--index-type i32".to_string(),
            _ => ids.to_string(),
        };
        anyhow::Error::from(error).context(argument)
    }
}

impl Operation {
    /// The operator, checked before a device is opened, and its inputs from the files.
    pub fn read(
        &self,
        extremum: Extremum,
        indices: bool,
    ) -> anyhow::Result<(Operator, Vec<Tensor>)> {
        let attributes = &self.attributes;
        anyhow::ensure!(
            !attributes.offsets || attributes.num_segments.is_none(),
            "--num-segments: not together with --offsets, which imply the number"
        );
        let data = self.source.read()?;
        let ids = files::read(&self.ids, None)?;
        let operator = attributes.operator(extremum, indices);
        operator
            .checked(data.desc(), &ids)
            .and_then(|operator| operator.infer(data.desc(), ids.desc()))
            .map_err(|error| attributes.with_argument(error, &self.source.input, &self.ids))?;
        Ok((operator.into(), vec![data, ids]))
    }
}

pub fn run(
    arguments: &Arguments,
    extremum: Extremum,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let (operator, inputs) = arguments.operation.read(extremum, arguments.indices.is_some())?;
    let operator = match operator {
        Operator::SegmentMax(operator) => operator.status(true).into(),
        other => other,
    };
    let mut results = arguments.run.run(&operator, &inputs.iter().collect::<Vec<&Tensor>>())?;
    if let Some(status) = results.pop()
        && let &[_, dropped] = status.as_slice::<u32>()?
        && dropped > 0
    {
        let rows = inputs[0].shape()[0];
        let why = match arguments.operation.attributes.offsets {
            true => "they lie outside of all offsets",
            false => "their ids are out of range",
        };
        let rows = output::counted(rows, "row");
        output::remark(format_args!("{dropped} of {rows} belong to no segment: {why}"));
    }
    output::deliver(
        &results,
        &[&arguments.output, &arguments.indices],
        &arguments.writing,
        output,
    )?;
    Ok(Outcome::Good)
}
