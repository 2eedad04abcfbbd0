//! `wgmax reduce-max`.

use std::io::Write;

use clap::{Args, ValueEnum};
use wgmax::operator::{EmptySet, Operator, ReduceMax};
use wgmax::{Device, ElementType, Nan, Tensor};

use super::Outcome;
use super::output::{self, Output};

/// How many elements of a result are printed.
const SHOWN: usize = 64;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    pub operation: Operation,
    /// Where to compute: auto, cpu, gpu, an index, or part of an adapter's name
    #[arg(long, default_value = "auto")]
    device: String,
    /// Write the result to a file instead of printing it
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
}

/// The operator and its input.
#[derive(Args)]
pub struct Operation {
    /// FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME or FILE.pb
    input: String,
    /// The axes to reduce, such as 0,-1; "" for none. All of them if this is left out
    #[arg(long, allow_hyphen_values = true)]
    axes: Option<String>,
    /// Keep a reduced axis as a dimension of 1
    #[arg(long)]
    keep_dims: bool,
    /// What a NaN does
    #[arg(long, value_enum, default_value = "propagate")]
    nan: NanChoice,
    /// The maximum of no elements, for floats
    #[arg(long, value_enum, default_value = "neg-inf")]
    empty: EmptyChoice,
    /// Take the file's unsigned integers as the bits of this type, such as bf16
    #[arg(long = "type", value_name = "TYPE")]
    element_type: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum NanChoice {
    /// The maximum of anything with a NaN is NaN
    Propagate,
    /// NaN counts only where there is nothing else
    Ignore,
}

#[derive(Clone, Copy, ValueEnum)]
enum EmptyChoice {
    /// Minus infinity
    NegInf,
    /// The lowest finite value
    Lowest,
}

impl Operation {
    /// The operator, and its input from the file.
    pub fn read(&self) -> anyhow::Result<(Operator, Tensor)> {
        let mut operator = ReduceMax::new()
            .keep_dims(self.keep_dims)
            .nan(match self.nan {
                NanChoice::Propagate => Nan::Propagate,
                NanChoice::Ignore => Nan::Ignore,
            })
            .empty_set(match self.empty {
                EmptyChoice::NegInf => EmptySet::NegativeInfinity,
                EmptyChoice::Lowest => EmptySet::Lowest,
            });
        if let Some(axes) = &self.axes {
            operator = operator.axes(parse_axes(axes)?);
        }
        let element_type =
            self.element_type.as_deref().map(str::parse::<ElementType>).transpose()?;
        let input = wgmax::io::read_as(&self.input, element_type)?;
        // Axes that do not fit are refused before a device is opened.
        operator.infer(input.desc())?;
        Ok((operator.into(), input))
    }
}

fn parse_axes(text: &str) -> anyhow::Result<Vec<i64>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let parse = |part: &str| {
        part.trim().parse().map_err(|_| {
            anyhow::anyhow!("--axes {text:?}: {part:?} is not an axis; give integers, such as 0,-1")
        })
    };
    text.split(',').map(parse).collect()
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let (operator, input) = arguments.operation.read()?;
    let device = Device::named(&arguments.device)?;
    let result = operator.run(&device, &[&input])?.swap_remove(0);
    match &arguments.output {
        Some(path) => wgmax::io::write(path, &result)?,
        None => print(&result, output)?,
    }
    Ok(Outcome::Good)
}

/// The type and shape, and the elements a row of the last dimension a line.
fn print(tensor: &Tensor, output: &mut Output) -> anyhow::Result<()> {
    writeln!(output, "{}", tensor.desc())?;
    let values = output::values(tensor, SHOWN)?;
    let width = values.iter().map(String::len).max().unwrap_or(0);
    let row = tensor.shape().last().copied().unwrap_or(1).max(1);
    // A long row is broken where a terminal would break it.
    let per_line = row.min((78 / (width + 1)).max(1));
    for row in values.chunks(row) {
        for line in row.chunks(per_line) {
            let cells: Vec<String> = line.iter().map(|v| format!("{v:>width$}")).collect();
            writeln!(output, "  {}", cells.join(" "))?;
        }
    }
    match tensor.len() - values.len() {
        0 => {}
        more => writeln!(output, "  and {more} more; write them all to a file with -o")?,
    }
    Ok(())
}
