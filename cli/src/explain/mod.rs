//! `wgmax explain`: the plan of an operator, without a device.

mod report;

use std::io::Write;

use clap::{Args, Command, Subcommand};
use wgmax::operator::Operator;
use wgmax::plan::{Limits, Plan};
use wgmax::{ElementType, Error, Extremum, TensorDesc, Tuning, wgpu};

use super::max_pool::Given;
use super::options::{TuningChoice, element_type, power_of_two, size, whole, workgroup};
use super::output::Output;
use super::source::Shape;
use super::{Outcome, adaptive_max_pool, backward, max_pool, reduce_max, scatter_max, segment_max};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax explain reduce-max 1000x1000 --axes 0 --max-binding 64KiB
  wgmax explain max-pool 16,64,112,112 --kernel 3,3 --tuning software --json
  wgmax explain segment-max 1000000x64 --num-segments 5000 --unsorted
  wgmax explain max-pool 16,64,112,112 --kernel 3,3 --backward

Default limits: those that WebGPU guarantees; with --tuning cpu, only limits of memory.")]
pub struct Arguments {
    #[command(subcommand)]
    operator: Choice,
}

#[derive(Subcommand)]
enum Choice {
    /// The launches of the maximum along axes
    #[command(after_help = format!("\
Example:
  wgmax explain reduce-max 1000x1000 --axes 0 --max-binding 64KiB

{LIMITS}"))]
    ReduceMax(ReduceMax),
    /// The launches of the minimum along axes
    #[command(after_help = "Example:\n  wgmax explain reduce-min 1000x1000 --axes 0")]
    ReduceMin(ReduceMax),
    /// The launches of the maximum of windows
    #[command(after_help = format!("\
Example:
  wgmax explain max-pool 16x64x112x112 --kernel 3,3 --strides 2,2 --indices

{LIMITS}"))]
    MaxPool(MaxPool),
    /// The launches of the minimum of windows
    #[command(after_help = "Example:\n  wgmax explain min-pool 16x64x112x112 --kernel 3,3")]
    MinPool(MaxPool),
    /// The launches of the maximum of windows that split axes evenly
    #[command(after_help = format!("\
Example:
  wgmax explain adaptive-max-pool 32x512x31x31 --output-sizes 7,7 --indices

{LIMITS}"))]
    AdaptiveMaxPool(AdaptiveMaxPool),
    /// The launches of the minimum of windows that split axes evenly
    #[command(
        after_help = "Example:\n  wgmax explain adaptive-min-pool 32x512x31x31 --output-sizes 7,7"
    )]
    AdaptiveMinPool(AdaptiveMaxPool),
    /// The launches of the maximum of each segment of rows
    #[command(after_help = format!("\
Example:
  wgmax explain segment-max 1000000x64 --num-segments 5000 --unsorted

--num-segments is required, because there are no ids to count. With --offsets there is one \
offset more than segments. {LIMITS}"))]
    SegmentMax(SegmentMax),
    /// The launches of the minimum of each segment of rows
    #[command(after_help = "Example:\n  wgmax explain segment-min 1000000x64 --num-segments 5000")]
    SegmentMin(SegmentMax),
    /// The launches of the maximum of each element and of the updates that go to it
    #[command(after_help = format!("\
Example:
  wgmax explain scatter-max 1048576 --places 16777216

{LIMITS}"))]
    ScatterMax(ScatterMax),
    /// The launches of the minimum of each element and of the updates that go to it
    #[command(
        after_help = "Example:\n  wgmax explain scatter-min 1000x64 --vectors --places 5000x1"
    )]
    ScatterMin(ScatterMax),
}

/// An operator, and the target of its plan.
#[derive(Args)]
struct Planned<A: Attributes> {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    attributes: A,
    /// Also compute the positions of the results
    #[arg(long, group = "positions")]
    indices: bool,
    /// Plan the gradient instead, from the input and the gradient of the results
    #[arg(long, group = "positions")]
    backward: bool,
    #[command(flatten)]
    target: Target,
}

type ReduceMax = Planned<reduce_max::Attributes>;
type MaxPool = Planned<max_pool::Attributes>;
type AdaptiveMaxPool = Planned<adaptive_max_pool::Attributes>;
type SegmentMax = Planned<Segments>;
type ScatterMax = Planned<Scatters>;

/// What is computed: maxima or minima, with indices, or the gradient.
struct Wanted {
    extremum: Extremum,
    indices: bool,
    backward: bool,
}

/// An operator, and the types and shapes of its inputs.
type Made = anyhow::Result<(Operator, Vec<TensorDesc>)>;

/// The options of these commands that have a value.
fn valued() -> Vec<String> {
    let explain = Choice::augment_subcommands(Command::new("explain"));
    let arguments = explain.get_subcommands().flat_map(Command::get_arguments);
    let valued = arguments.filter(|argument| argument.get_action().takes_values());
    valued.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect()
}

/// The attributes of an operator without tensors.
trait Attributes: Args {
    /// The operator, and its inputs.
    fn operator(&self, wanted: Wanted, input: &Input) -> Made;

    /// The error of a plan, with the attribute that caused it.
    fn with_attribute(&self, error: Error) -> anyhow::Error {
        error.into()
    }
}

impl Attributes for reduce_max::Attributes {
    fn operator(&self, Wanted { extremum, indices, backward }: Wanted, input: &Input) -> Made {
        let desc = input.desc()?;
        Ok((self.operator(extremum, indices, backward, &desc)?, vec![desc]))
    }
}

impl Attributes for max_pool::Attributes {
    fn operator(&self, Wanted { extremum, indices, .. }: Wanted, input: &Input) -> Made {
        let (desc, shape) = (input.desc()?, &input.shape);
        let reshaped = |new: &[usize]| shape.replaced(new, &valued());
        let given = Given { name: &shape.text, is_picture: false, reshaped: &reshaped };
        let (operator, axes) = self.operator(extremum, indices, &desc, &given)?;
        Ok((operator, vec![axes.pooled(&desc)?]))
    }
}

impl Attributes for adaptive_max_pool::Attributes {
    fn operator(&self, Wanted { extremum, indices, .. }: Wanted, input: &Input) -> Made {
        let (desc, shape) = (input.desc()?, &input.shape);
        let reshaped = |new: &[usize]| shape.replaced(new, &valued());
        let given = Given { name: &shape.text, is_picture: false, reshaped: &reshaped };
        let (operator, axes) = self.operator(extremum, indices, &desc, &given)?;
        Ok((operator, vec![axes.pooled(&desc)?]))
    }
}

/// The attributes of segments, without ids.
#[derive(Args)]
struct Segments {
    #[command(flatten)]
    attributes: segment_max::Attributes,
    /// Element type of the ids or offsets
    #[arg(long, value_name = "TYPE", default_value = "i32", value_parser = element_type)]
    ids_type: ElementType,
}

impl Attributes for Segments {
    fn operator(&self, Wanted { extremum, indices, .. }: Wanted, input: &Input) -> Made {
        let Self { attributes, ids_type } = self;
        let data = input.desc()?;
        let Some(segments) = attributes.num_segments else {
            anyhow::bail!("--num-segments is required, because there are no ids to count");
        };
        let ids = match attributes.offsets {
            true => usize::try_from(segments).ok().and_then(|segments| segments.checked_add(1)),
            false => Some(data.shape().first().copied().unwrap_or(0)),
        };
        let with_argument =
            |error| attributes.with_argument(error, &input.shape.text, "--ids-type");
        let Some(ids) = ids else {
            anyhow::bail!("--num-segments {segments}: there are no such offsets");
        };
        let ids = TensorDesc::new(*ids_type, [ids]).map_err(with_argument)?;
        let operator = attributes.operator(extremum, indices).map_err(with_argument)?;
        operator.infer([&data, &ids]).map_err(with_argument)?;
        Ok((operator.into(), vec![data, ids]))
    }

    fn with_attribute(&self, error: Error) -> anyhow::Error {
        match (&error, self.attributes.num_segments) {
            (&Error::OverLimit { needed, limit: "31-bit number", allowed, .. }, Some(number))
                if u64::try_from(number) == Ok(needed) =>
            {
                anyhow::anyhow!("--num-segments {number}: a plan has {allowed} segments at most")
            }
            _ => error.into(),
        }
    }
}

/// The attributes of scatters, without indices.
#[derive(Args)]
struct Scatters {
    #[command(flatten)]
    attributes: scatter_max::Attributes,
    /// Shape of the tensor PLACES, of indices
    #[arg(long, value_name = "SHAPE")]
    places: Shape,
    /// Element type of PLACES
    #[arg(long, value_name = "TYPE", default_value = "i64", value_parser = element_type)]
    places_type: ElementType,
}

impl Attributes for Scatters {
    fn operator(&self, Wanted { extremum, indices, .. }: Wanted, input: &Input) -> Made {
        let (data, shape) = (input.desc()?, &self.places.sizes[..]);
        let places = TensorDesc::new(self.places_type, shape)?;
        let updates = match (self.attributes.vectors, shape) {
            (true, [rows @ .., length]) => {
                [rows, data.shape().get(*length..).unwrap_or_default()].concat()
            }
            _ => shape.to_vec(),
        };
        let updates = TensorDesc::new(data.element_type(), updates)?;
        let operator = self.attributes.operator(extremum, indices);
        let names = [input.shape.text.as_str(), "--places", "--places"];
        let inputs = vec![data, places, updates];
        operator
            .infer(inputs.iter().collect::<Vec<_>>())
            .map_err(|error| self.attributes.with_argument(error, names))?;
        Ok((operator.into(), inputs))
    }
}

/// The end of the help of operators.
const LIMITS: &str =
    "Default limits: those that WebGPU guarantees; with --tuning cpu, only limits of memory.";

/// The operator's input.
#[derive(Args)]
struct Input {
    /// Shape of the input, such as 64x224x224 or 64,224,224; "" for a scalar
    shape: Shape,
    /// Element type of the input
    #[arg(long = "type", value_name = "TYPE", default_value = "f32", value_parser = element_type)]
    element_type: ElementType,
}

impl Input {
    fn desc(&self) -> anyhow::Result<TensorDesc> {
        Ok(TensorDesc::new(self.element_type, &self.shape.sizes[..])?)
    }
}

/// The target of the plan: a tuning and limits.
#[derive(Args)]
struct Target {
    /// Kind of device that the plan is fast on
    #[arg(long, value_enum, default_value = "hardware")]
    tuning: TuningChoice,
    /// Maximum bytes of a binding
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_binding: Option<u64>,
    /// Maximum bytes of a buffer
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_buffer: Option<u64>,
    /// Invocations of a workgroup
    #[arg(long, value_name = "N", value_parser = workgroup)]
    workgroup: Option<u32>,
    /// Maximum workgroups in each dimension
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1))]
    max_workgroups: Option<u32>,
    /// Maximum loop iterations of an invocation
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1))]
    max_iterations: Option<u32>,
    /// Maximum storage buffers of a shader
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1))]
    storage_buffers: Option<u32>,
    /// Offsets of bindings are multiples of this many bytes
    #[arg(long, value_name = "N", value_parser = power_of_two::<16, 4096>)]
    alignment: Option<u64>,
    /// Invocations that fill the device; by default as in the tuning
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1))]
    parallelism: Option<u32>,
    /// Print the plan as JSON
    #[arg(long)]
    json: bool,
}

impl Target {
    fn limits(&self) -> Limits {
        let mut limits = match self.tuning {
            TuningChoice::Hardware | TuningChoice::Software => {
                Limits::from_wgpu(&wgpu::Limits::default())
            }
            TuningChoice::Cpu => Limits::cpu(),
        };
        fn set<T: Copy>(limit: &mut T, given: Option<T>) {
            *limit = given.unwrap_or(*limit);
        }
        set(&mut limits.workgroup_size, self.workgroup);
        set(&mut limits.max_workgroups_per_dimension, self.max_workgroups);
        set(&mut limits.max_binding_size, self.max_binding);
        set(&mut limits.max_buffer_size, self.max_buffer);
        set(&mut limits.alignment, self.alignment);
        set(&mut limits.max_storage_buffers, self.storage_buffers);
        set(&mut limits.max_iterations, self.max_iterations);
        limits
    }

    /// The error of a plan, with the option of the limit that it exceeds.
    fn with_option(&self, error: Error) -> Result<anyhow::Error, Error> {
        let (limit, reason) = match &error {
            Error::OverLimit { limit, what, needed, .. } => {
                (*limit, format!("give {needed} or more, for {what}"))
            }
            Error::BadLimit { limit, expected, .. } => (*limit, format!("it must be {expected}")),
            _ => return Err(error),
        };
        let (option, given) = match limit {
            "max_storage_buffer_binding_size" => ("max-binding", self.max_binding),
            "max_buffer_size" => ("max-buffer", self.max_buffer),
            "max_compute_workgroups_per_dimension" => {
                ("max-workgroups", self.max_workgroups.map(u64::from))
            }
            "max_storage_buffers_per_shader_stage" => {
                ("storage-buffers", self.storage_buffers.map(u64::from))
            }
            "max_iterations" | "loop iterations" => {
                ("max-iterations", self.max_iterations.map(u64::from))
            }
            _ => return Err(error),
        };
        given.map(|given| anyhow::anyhow!("--{option} {given}: {reason}")).ok_or(error)
    }

    fn tuning(&self) -> Tuning {
        self.parallelism.into_iter().fold(self.tuning.tuning(), Tuning::with_target_parallelism)
    }
}

/// A plan, and what it was made from.
struct Explanation {
    operator: Operator,
    inputs: Vec<TensorDesc>,
    limits: Limits,
    tuning: Tuning,
    plan: Plan,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    match &arguments.operator {
        Choice::ReduceMax(choice) => explain(choice, Extremum::Maximum, output),
        Choice::ReduceMin(choice) => explain(choice, Extremum::Minimum, output),
        Choice::MaxPool(choice) => explain(choice, Extremum::Maximum, output),
        Choice::MinPool(choice) => explain(choice, Extremum::Minimum, output),
        Choice::AdaptiveMaxPool(choice) => explain(choice, Extremum::Maximum, output),
        Choice::AdaptiveMinPool(choice) => explain(choice, Extremum::Minimum, output),
        Choice::SegmentMax(choice) => explain(choice, Extremum::Maximum, output),
        Choice::SegmentMin(choice) => explain(choice, Extremum::Minimum, output),
        Choice::ScatterMax(choice) => explain(choice, Extremum::Maximum, output),
        Choice::ScatterMin(choice) => explain(choice, Extremum::Minimum, output),
    }
}

fn explain<A: Attributes>(
    &Planned { ref input, ref attributes, indices, backward, ref target }: &Planned<A>,
    extremum: Extremum,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let wanted = Wanted { extremum, indices, backward };
    let (operator, mut inputs) = attributes.operator(wanted, input)?;
    let operator = match backward {
        true => {
            let forward = match &operator {
                // Sets without elements have a gradient, but no positions.
                Operator::ReduceMax(operator) => operator.clone().indices(None).into(),
                other => other.clone(),
            };
            let results = forward.infer(inputs.iter().collect::<Vec<_>>())?;
            inputs.extend(results.into_iter().next());
            backward::of(operator, &inputs.iter().collect::<Vec<_>>())?
        }
        false => operator,
    };
    let (limits, tuning) = (target.limits(), target.tuning());
    let descs: Vec<&TensorDesc> = inputs.iter().collect();
    let plan = operator.plan(&descs, &limits, &tuning).map_err(|error| {
        target.with_option(error).unwrap_or_else(|error| attributes.with_attribute(error))
    })?;
    let explanation = Explanation { operator, inputs, limits, tuning, plan };
    match target.json {
        true => writeln!(output, "{:#}", explanation.json())?,
        false => explanation.print(output)?,
    }
    Ok(Outcome::Good)
}
