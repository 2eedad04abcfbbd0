//! What the options of several subcommands have in common.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use wgmax::operator::{EmptySet, Operator};
use wgmax::{Device, ElementType, Nan, RunOptions, Tensor};

use super::progress::Shown;

/// The tensor that an operator is run on.
#[derive(Args)]
pub struct Source {
    /// FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.pb, or - for standard input
    pub input: String,
    /// Take the file's unsigned integers as the bits of this type, such as bf16
    #[arg(long = "type", value_name = "TYPE")]
    element_type: Option<String>,
}

impl Source {
    pub fn read(&self) -> anyhow::Result<Tensor> {
        let element_type =
            self.element_type.as_deref().map(str::parse::<ElementType>).transpose()?;
        Ok(wgmax::io::read_as(&self.input, element_type)?)
    }
}

#[derive(Args)]
pub struct On {
    /// Where to compute: auto, cpu, gpu, an index, or part of an adapter's name
    #[arg(long, default_value = "auto")]
    device: String,
}

impl On {
    /// As [`Device::named`], and says so where that is not a GPU because none opens.
    pub fn open(&self) -> wgmax::Result<Device> {
        if self.device != "auto" {
            return Device::named(&self.device);
        }
        Ok(Device::gpu().unwrap_or_else(|error| {
            let _ = writeln!(anstream::stderr(), "wgmax: on the CPU, for {error}");
            Device::cpu()
        }))
    }
}

/// How an operator is run on tensors from files.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    on: On,
    /// What goes to a GPU at a time, with its results, such as 64MiB; 256MiB if this is left out
    #[arg(long, value_name = "SIZE")]
    max_piece: Option<Size>,
}

impl Run {
    /// Opens the device and runs an operator there, telling on stderr how far it is if that takes a while.
    pub fn run(&self, operator: &Operator, inputs: &[&Tensor]) -> wgmax::Result<Vec<Tensor>> {
        let device = self.on.open()?;
        let mut shown = Shown::new();
        let options = RunOptions::new()
            .max_piece(self.max_piece.map(|size| size.0))
            .progress(|progress| shown.update(progress));
        operator.run_with(&device, inputs, options)
    }
}

/// A number of bytes, as `4096`, `64KiB`, `256MiB` or `1GiB`.
#[derive(Clone, Copy, Debug)]
pub struct Size(u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is no size; give bytes, or KiB, MiB or GiB as in 256MiB");
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1u64,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            _ => return Err(bad()),
        };
        let number: u64 = digits.trim().parse().map_err(|_| bad())?;
        number.checked_mul(unit).filter(|&bytes| bytes > 0).map(Self).ok_or_else(bad)
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum NanChoice {
    /// The maximum of anything with a NaN is NaN
    Propagate,
    /// NaN counts only where there is nothing else
    Ignore,
}

impl From<NanChoice> for Nan {
    fn from(choice: NanChoice) -> Self {
        match choice {
            NanChoice::Propagate => Self::Propagate,
            NanChoice::Ignore => Self::Ignore,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum EmptyChoice {
    /// Minus infinity
    NegInf,
    /// The lowest finite value
    Lowest,
}

impl From<EmptyChoice> for EmptySet {
    fn from(choice: EmptyChoice) -> Self {
        match choice {
            EmptyChoice::NegInf => Self::NegativeInfinity,
            EmptyChoice::Lowest => Self::Lowest,
        }
    }
}

/// The type of the positions of maxima.
#[derive(Clone, Copy, ValueEnum)]
pub enum IndexType {
    I64,
    I32,
}

impl From<IndexType> for ElementType {
    fn from(choice: IndexType) -> Self {
        match choice {
            IndexType::I64 => Self::I64,
            IndexType::I32 => Self::I32,
        }
    }
}

/// Integers separated by commas; none if there is nothing but blanks.
#[derive(Clone, Debug)]
pub struct List(pub Vec<i64>);

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let parse = |part: &str| {
            part.trim()
                .parse()
                .map_err(|_| format!("{part:?} is not an integer; give integers and commas"))
        };
        text.split(',').map(parse).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        match numbers.as_slice() {
            [] => f.write_str("\"\""),
            _ => f.write_str(&numbers.join(",")),
        }
    }
}
