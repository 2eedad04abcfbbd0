//! Options that several subcommands share.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::ControlFlow;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use wgmax::operator::{EmptySet, Operator, Scalar};
use wgmax::{Device, DeviceOptions, ElementType, Error, Nan, Run as _, RunOptions, Tensor, Tuning};

use super::output;
use super::progress::PieceProgress;

/// An element type by its name.
pub fn element_type(name: &str) -> Result<ElementType, String> {
    name.parse().map_err(|error| {
        let names = ElementType::ALL.map(ElementType::name).join(", ");
        format!("{error}; there are {names}")
    })
}

/// A parser of whole numbers from `min` on, for clap: its own do not name the range.
pub fn whole<T: TryFrom<u64>>(min: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|&number| number >= min);
        let max = u64::MAX >> (64 - 8 * size_of::<T>());
        let error = || format!("give a whole number from {min} to {max}");
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(error)
    }
}

/// An integer of any sign.
pub fn integer(text: &str) -> Result<i64, String> {
    text.parse().map_err(|error| no_number(text, &error, "a whole number"))
}

/// Why a text is no number: it is too large, or it is not `what`.
pub fn no_number(text: &str, error: &ParseIntError, what: &str) -> String {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => format!("{text:?} is too large"),
        _ => format!("{text:?} is not {what}"),
    }
}

/// The error with the argument that it is about.
pub fn about(argument: Option<String>, error: Error) -> anyhow::Error {
    let error = anyhow::Error::from(error);
    match argument {
        Some(argument) => error.context(argument),
        None => error,
    }
}

/// The option that an error is about, if several operators have it.
pub fn common_option(error: &Error) -> Option<String> {
    match error {
        Error::IndexTooLarge { .. } => Some("--index-type i32".to_string()),
        Error::InitialOutOfRange { value, .. } => Some(format!("--initial {value}")),
        _ => None,
    }
}

/// A power of two in a range, for limits of the library.
pub fn power_of_two<const MIN: u64, const MAX: u64>(text: &str) -> Result<u64, String> {
    let valid = |size: &u64| size.is_power_of_two() && (MIN..=MAX).contains(size);
    let size = text.parse().ok().filter(valid);
    size.ok_or_else(|| format!("{text:?} is not a power of two from {MIN} to {MAX}"))
}

/// The invocations of a workgroup.
pub fn workgroup(text: &str) -> Result<u32, String> {
    power_of_two::<8, 256>(text).map(|size| size as u32)
}

/// The device that computes, and the plans that it runs.
#[derive(Args)]
pub struct On {
    /// Device: auto (a hardware GPU, else the CPU), cpu, gpu, hardware, an index, or part of an
    /// adapter's name
    #[arg(long, default_value = "auto", value_parser = device_name)]
    pub device: String,
    #[command(flatten)]
    pub planning: Planning,
}

impl On {
    /// Opens the device, as [`Device::named`] does.
    pub fn open(&self) -> wgmax::Result<Device> {
        self.planning.open(&self.device)
    }
}

/// The names that are not part of an adapter's.
const FIXED_NAMES: [&str; 4] = ["auto", "cpu", "gpu", "hardware"];

/// The name of a device, in lower case if it is one of the fixed names.
pub fn device_name(text: &str) -> Result<String, &'static str> {
    let lower = text.trim().to_ascii_lowercase();
    match &*lower {
        "" => Err("the name is blank; `wgmax devices` lists the devices"),
        name if FIXED_NAMES.contains(&name) => Ok(lower),
        _ => Ok(text.to_string()),
    }
}

/// The name of a device that is compared with another one. `auto` may be the CPU, which would be compared
/// with itself.
pub fn certain_device(text: &str) -> Result<String, &'static str> {
    match device_name(text)? {
        name if name == "auto" => Err("auto may be the CPU; `wgmax devices` lists the devices"),
        name => Ok(name),
    }
}

/// Two names of devices.
pub fn two_devices(text: &str) -> Result<(String, String), &'static str> {
    const HINT: &str = "give two devices, A,B";
    let (a, b) = text.split_once(',').ok_or(HINT)?;
    let (a, b) = (certain_device(a.trim())?, certain_device(b.trim())?);
    // The name of an adapter may have commas.
    let mut parts = b.split(',').map(|part| part.trim().to_ascii_lowercase());
    let is_list = b.contains(',') && parts.any(|part| FIXED_NAMES.contains(&&*part));
    if is_list { Err(HINT) } else { Ok((a, b)) }
}

/// How operators are planned. All commands open devices here, so that they respect it.
#[derive(Args, Clone)]
pub struct Planning {
    /// Kind of device to tune plans for; results do not depend on it. By default, that of the
    /// device
    #[arg(long, value_enum)]
    pub tuning: Option<TuningChoice>,
}

impl Planning {
    /// Opens a device as [`Device::named`] does.
    pub fn open(&self, name: &str) -> wgmax::Result<Device> {
        DeviceOptions::new().tuning(self.tuning()).open(name)
    }

    /// Opens every adapter, and the CPU last.
    pub fn open_all(&self) -> Vec<wgmax::Result<Device>> {
        Device::all().into_iter().map(|device| device.map(|device| self.apply(device))).collect()
    }

    /// Applies the tuning to a device that was opened elsewhere.
    pub fn apply(&self, device: Device) -> Device {
        self.tuning().map_or(device.clone(), |tuning| device.with_tuning(tuning))
    }

    fn tuning(&self) -> Option<Tuning> {
        self.tuning.map(TuningChoice::tuning)
    }
}

/// The tunings of the library.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum TuningChoice {
    /// For GPUs, which coalesce the accesses of neighbouring invocations
    Hardware,
    /// For GPUs that a driver emulates on the CPU
    Software,
    /// For the CPU backend
    Cpu,
}

impl TuningChoice {
    /// The name that [`Tuning::named`] takes.
    pub fn name(self) -> &'static str {
        Tuning::NAMES[self as usize]
    }

    pub fn tuning(self) -> Tuning {
        Tuning::named(self.name()).expect("the library has each")
    }
}

/// How an operator is run on tensors from files.
#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    on: On,
    /// Maximum bytes of a piece, results and scratch included, such as 64MiB; 256MiB by default. Two
    /// pieces are on the GPU at a time; one that cannot be split may be larger
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_piece: Option<u64>,
}

impl Run {
    /// Opens the device and runs an operator on it. Long runs report their progress on stderr.
    pub fn run(&self, operator: &Operator, inputs: &[&Tensor]) -> wgmax::Result<Vec<Tensor>> {
        let device = self.open()?;
        let mut progress = PieceProgress::new();
        let options = RunOptions::new().max_piece(self.max_piece).progress(move |report| {
            progress.update(report);
            ControlFlow::Continue(())
        });
        Ok(operator.run_with(&device, inputs, options)?.into_vec())
    }

    /// Opens the device. Results do not show which it was, so a remark does if `auto` selects the
    /// CPU although there is an adapter.
    fn open(&self) -> wgmax::Result<Device> {
        let On { device, planning } = &self.on;
        if device != "auto" {
            return self.on.open();
        }
        planning.open("hardware").or_else(|error| {
            match &error {
                Error::NoAdapter { found, .. } if found == "none" => {}
                Error::NoAdapter { .. } => {
                    output::remark("runs on the CPU; --device gpu takes the software adapter");
                }
                error => output::remark(format_args!("runs on the CPU: {error}")),
            }
            planning.open("cpu")
        })
    }
}

/// How tensors are written.
#[derive(Args)]
pub struct Writing {
    /// Let an output replace an input file or, without :NAME, a whole archive of several arrays
    #[arg(long)]
    pub force: bool,
}

/// A number of bytes: `4096`, `64KiB`, `256MiB` or `1GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let bad = || format!("{text:?} is not a size; give bytes, or KiB, MiB or GiB as in 256MiB");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1u64,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err(bad()),
    };
    let number: u64 = digits.trim().parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => format!("the maximum is {} bytes", u64::MAX),
        _ => bad(),
    })?;
    match number.checked_mul(unit) {
        Some(0) => Err("give 1 byte or more".to_string()),
        Some(bytes) => Ok(bytes),
        None => Err(format!("the maximum is {} bytes", u64::MAX)),
    }
}

/// Values of an option, each one of an enum of the library with the same name.
#[macro_export]
macro_rules! choices {
    ($(#[$about:meta])* $name:ident of $of:ty { $($(#[$meta:meta])* $value:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, clap::ValueEnum)]
        pub enum $name { $($(#[$meta])* $value,)* }

        impl From<$name> for $of {
            fn from(choice: $name) -> Self {
                match choice { $($name::$value => Self::$value,)* }
            }
        }
    };
}
pub use choices;

choices! { NanChoice of Nan {
    /// The maximum of a set with a NaN is NaN
    Propagate,
    /// NaN counts only if the set has no other element
    Ignore,
} }

choices! { EmptyChoice of EmptySet {
    /// Minus infinity; plus infinity for minima
    #[value(name = "neg-inf", alias = "pos-inf")]
    Identity,
    /// The lowest finite value; the highest for minima
    #[value(name = "lowest", alias = "highest")]
    Finite,
} }

choices! {
/// The element type of indices and ids.
IndexType of ElementType {
    I64,
    I32,
} }

/// The initial value of an operator, in a command that has arguments `indices` and `backward`.
#[derive(Args)]
pub struct InitialArgument {
    /// A number that takes part in each maximum as one more element, such as 0, -1.5 or nan; not with
    /// indices, nor for a gradient
    #[arg(
        long,
        value_name = "NUMBER",
        allow_hyphen_values = true,
        conflicts_with_all = ["indices", "backward"]
    )]
    pub initial: Option<Scalar>,
}

/// The element type of the indices of a command that has arguments `indices` and `backward`.
#[derive(Args)]
pub struct IndexTypeArgument {
    /// Element type of the indices
    #[arg(
        long,
        value_enum,
        default_value = "i64",
        requires = "indices",
        conflicts_with = "backward"
    )]
    pub index_type: IndexType,
}

/// The first axis that indices of a pooling count, in such a command.
#[derive(Args)]
pub struct IndexAxisArgument {
    /// Count indices from 0 again at each place along the axes before this one
    #[arg(
        long,
        value_name = "A",
        default_value_t = 0,
        value_parser = integer,
        requires = "indices",
        conflicts_with = "backward",
        allow_hyphen_values = true
    )]
    pub index_axis: i64,
}

/// Integers separated by commas. Blank text is an empty list.
#[derive(Clone, Debug)]
pub struct List(pub Vec<i64>);

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let parse = |part: &str| {
            let what = "an integer; give integers and commas";
            part.trim().parse().map_err(|error| no_number(part, &error, what))
        };
        text.split(',').map(parse).collect::<Result<_, _>>().map(Self)
    }
}

impl List {
    /// A number for each of `count`. A single one stands for all of them.
    pub fn each(&self, count: usize) -> Vec<i64> {
        match *self.0 {
            [number] => vec![number; count],
            _ => self.0.clone(),
        }
    }

    /// The same as sizes, which are at least `min`, for an option.
    pub fn sizes(&self, option: &str, count: usize, min: i64) -> anyhow::Result<Vec<usize>> {
        let bad = || anyhow::anyhow!("{option} {self}: each number must be {min} or more");
        let size = |&number| usize::try_from(number).ok().filter(|_| number >= min);
        self.each(count).iter().map(|number| size(number).ok_or_else(bad)).collect()
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        let text = numbers.join(",");
        f.write_str(if numbers.is_empty() { "\"\"" } else { &text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tunings_are_those_of_the_library() {
        let names: Vec<&str> = TuningChoice::value_variants().iter().map(|p| p.name()).collect();
        assert_eq!(names, Tuning::NAMES);
        for choice in TuningChoice::value_variants() {
            assert_eq!(choice.tuning().name(), choice.name());
            assert_eq!(choice.to_possible_value().unwrap().get_name(), choice.name());
        }
    }
}
