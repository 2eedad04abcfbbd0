//! `wgmax scatter-max` and `wgmax scatter-min`.

use clap::Args;
use wgmax::operator::{Indices, ScatterMax};
use wgmax::{Error, Extremum, Tensor};

use super::backward::Backward;
use super::files;
use super::operation::{self, Read};
use super::options::{IndexType, NanChoice, common_option, integer};
use super::source::Source;

/// The operator and its inputs.
#[derive(Args)]
pub struct Operation {
    #[command(flatten)]
    source: Source,
    /// File with indices, of an integer type, in the formats of INPUT: which element of INPUT each
    /// update goes to
    #[arg(value_name = "PLACES")]
    places: String,
    /// File with the updates, in the formats of INPUT
    #[arg(value_name = "UPDATES")]
    updates: String,
    #[command(flatten)]
    attributes: Attributes,
    #[command(flatten)]
    backward: Backward,
    /// With --backward: also write the gradient of UPDATES to this file
    #[arg(long, value_name = "OUT", requires = "backward")]
    of_updates: Option<String>,
}

/// The operator's attributes. A command that includes them must have an argument `indices`, which says
/// whether the positions of the winning updates are computed.
#[derive(Args)]
pub struct Attributes {
    /// Axis along which the indices in PLACES count
    #[arg(
        long,
        value_name = "AXIS",
        default_value_t = 0,
        allow_hyphen_values = true,
        value_parser = integer
    )]
    pub axis: i64,
    /// The last axis of PLACES has vectors: indices along the first axes of INPUT
    #[arg(long, conflicts_with = "axis")]
    pub vectors: bool,
    /// Where an element gets updates, take the maximum of the updates alone
    #[arg(long)]
    without_data: bool,
    /// How NaN is handled
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// Element type of the indices (those of --indices)
    #[arg(long, value_enum, default_value = "i64", requires = "indices")]
    index_type: IndexType,
}

impl Attributes {
    /// The operator.
    pub fn operator(&self, extremum: Extremum, indices: bool) -> ScatterMax {
        let operator = match self.vectors {
            true => ScatterMax::by_vectors(),
            false => ScatterMax::along(self.axis),
        };
        operator
            .extremum(extremum)
            .nan(self.nan.into())
            .include_data(!self.without_data)
            .indices(indices.then(|| Indices::new(self.index_type.into())))
    }

    /// The error with the argument that caused it, given the arguments of the inputs.
    pub fn with_argument(&self, error: Error, inputs: [&str; 3]) -> anyhow::Error {
        let argument = match &error {
            Error::AxisOutOfRange { .. } => format!("--axis {}", self.axis),
            Error::WrongInput { position, .. } => inputs[*position].to_string(),
            error => common_option(error).unwrap_or_else(|| inputs[1].to_string()),
        };
        let text = match &error {
            Error::WrongInput { expected_type, actual_type, .. }
                if expected_type != actual_type =>
            {
                format!("its type is {actual_type}, not {expected_type}")
            }
            Error::WrongInput { expected_shape, actual_shape, .. } => {
                format!("its shape is {actual_shape:?}, not {expected_shape:?}")
            }
            error => error.to_string(),
        };
        anyhow::anyhow!("{argument}: {text}")
    }
}

impl operation::Operation for Operation {
    const EXAMPLES: &str = "\
Examples:
  wgmax scatter-max x.npy places.npy updates.npy --axis 1 -o y.npy
  wgmax scatter-max x.npy vectors.npy parts.npy --vectors --indices winners.npy -o y.npy
  wgmax scatter-max x.npy places.npy updates.npy --backward gradient_of_y.npy --of-updates u.npy";
    const INDICES: &str = "Also write the position of the update that each result comes from to this \
                           file; -1 where INPUT's element stays. With this option +0 and -0 are equal, \
                           so the sign of a zero may change";

    fn files(&self) -> Vec<&str> {
        self.backward.files(&[&self.source.input, &self.places, &self.updates])
    }

    fn second<'a>(&'a self, indices: &'a Option<String>) -> (&'static str, &'a Option<String>) {
        match self.backward.is_given() {
            true => ("--of-updates ", &self.of_updates),
            false => ("--indices ", indices),
        }
    }

    fn read(&self, extremum: Extremum, indices: bool) -> anyhow::Result<Read> {
        let (data, _) = self.source.read()?;
        let inputs =
            vec![data, files::read(&self.places, None)?, self.source.read_file(&self.updates)?.0];
        let operator = self.attributes.operator(extremum, indices);
        let names = [self.source.input.as_str(), &self.places, &self.updates];
        let checked = operator
            .infer(inputs.iter().map(Tensor::desc).collect::<Vec<_>>())
            .and_then(|_| {
                wgmax::operator::Operator::from(&operator)
                    .checked(&inputs.iter().collect::<Vec<_>>())
            })
            .map_err(|error| self.attributes.with_argument(error, names))?;
        Ok(self.backward.apply(checked, inputs, &self.source, Ok)?.into())
    }

    fn remark(&self, _: &Read, _: &[Tensor]) -> anyhow::Result<()> {
        Ok(())
    }
}
