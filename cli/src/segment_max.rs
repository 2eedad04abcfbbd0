//! `wgmax segment-max`.

use clap::{Args, ValueEnum};
use wgmax::operator::{EmptySegment, Operator, SegmentMax};
use wgmax::{Error, Tensor};

use super::Outcome;
use super::options::{IndexType, NanChoice, Run, Source};
use super::output::{self, Output};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax segment-max features.npy ids.npy --num-segments 34 --unsorted -o largest.npy
  wgmax segment-max data.npy offsets.npy --offsets --indices rows.npy")]
pub struct Arguments {
    #[command(flatten)]
    operation: Operation,
    /// Compute the rows that the maxima come from, too, and write them to a file
    #[arg(long, value_name = "IDX_FILE")]
    indices: Option<String>,
    #[command(flatten)]
    run: Run,
    /// Write the maxima to a file instead of printing them
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
}

/// The operator and its inputs. Whether indices are wanted is said by an argument
/// `indices` of the subcommand that this is a part of.
#[derive(Args)]
pub struct Operation {
    #[command(flatten)]
    source: Source,
    /// A file as INPUT with the segment of each row, ascending, as i32 or i64
    #[arg(value_name = "IDS")]
    ids: String,
    /// The number of segments; the largest id plus 1 if this is left out
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "offsets")]
    num_segments: Option<i64>,
    /// What a segment without rows gives
    #[arg(long, value_enum, default_value = "zero")]
    fill: Fill,
    /// The ids are in any order; rows whose id is no segment's are left out
    #[arg(long, conflicts_with = "offsets")]
    unsorted: bool,
    /// IDS holds offsets: segment i is the rows from offset i to offset i + 1
    #[arg(long)]
    offsets: bool,
    /// What a NaN does
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// The type of the indices
    #[arg(long, value_enum, default_value = "i64", requires = "indices")]
    index_type: IndexType,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fill {
    /// 0
    Zero,
    /// The lowest finite value
    Lowest,
    /// Minus infinity; integers as lowest
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

impl Operation {
    /// The operator, and its inputs from the files.
    pub fn read(&self, indices: bool) -> anyhow::Result<(Operator, Vec<Tensor>)> {
        let data = self.source.read()?;
        let ids = wgmax::io::read(&self.ids)?;
        let operator = match (self.unsorted, self.offsets) {
            (true, _) => SegmentMax::unsorted(),
            (_, true) => SegmentMax::offsets(),
            _ => SegmentMax::sorted(),
        };
        let operator = operator
            .num_segments(self.num_segments)
            .empty_segment(self.fill.into())
            .nan(self.nan.into())
            .indices(indices.then_some(self.index_type.into()));
        // What does not fit is refused before a device is opened.
        operator
            .checked(data.desc(), &ids)
            .and_then(|operator| operator.infer(data.desc(), ids.desc()))
            .map_err(|error| self.blame(error))?;
        Ok((operator.into(), vec![data, ids]))
    }

    /// The error, with the argument that it comes from.
    fn blame(&self, error: Error) -> anyhow::Error {
        let culprit = match (&error, self.num_segments) {
            (Error::SegmentDataRank, _) => self.source.input.clone(),
            (Error::BadAttribute { .. } | Error::ShapeOverflow { .. }, Some(count)) => {
                format!("--num-segments {count}")
            }
            (Error::IndexTooLarge { .. }, _) => "--index-type i32".to_string(),
            _ => self.ids.clone(),
        };
        anyhow::Error::from(error).context(culprit)
    }
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let (operator, inputs) = arguments.operation.read(arguments.indices.is_some())?;
    let results = arguments.run.run(&operator, &inputs.iter().collect::<Vec<&Tensor>>())?;
    output::deliver(&results, &[&arguments.output, &arguments.indices], output)?;
    Ok(Outcome::Good)
}
