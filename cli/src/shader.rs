//! `wgmax shader`.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use wgmax::ElementType;
use wgmax::operator::kernels;
use wgmax::plan::{Kernel, Shader};

use super::Outcome;
use super::options::{element_type, workgroup};
use super::output::{self, Output};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax shader
  wgmax shader reduce_rows u8
  wgmax shader pool_index f32 --flag from_positions --workgroup 64
  wgmax shader fill")]
pub struct Arguments {
    /// Kernel to print; by default all kernels are listed
    #[arg(value_parser = names(), hide_possible_values = true)]
    name: Option<String>,
    /// Element type; kernels with one text for all types have none
    #[arg(value_name = "TYPE", value_parser = element_type)]
    element_type: Option<ElementType>,
    /// Flag of the kernel to set; may be repeated
    #[arg(long = "flag", value_name = "FLAG", requires = "name")]
    flags: Vec<String>,
    /// The variant for inputs whose length is not a multiple of 16 bytes
    #[arg(long, requires = "name")]
    words: bool,
    /// The variant for inputs and results in one buffer
    #[arg(long, requires = "name")]
    in_place: bool,
    /// Invocations of a workgroup
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = workgroup)]
    workgroup: u32,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(kernels().iter().map(|kernel| kernel.name()))
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let kernels = kernels();
    let name = arguments.name.as_deref();
    let Some(kernel) = name.and_then(|name| kernels.iter().find(|k| k.name() == name)) else {
        writeln!(output, "{}", table(&kernels))?;
        return Ok(Outcome::Good);
    };
    let shader = find(kernel, arguments)?;
    if kernel.is_specialized() {
        let _ = writeln!(
            anstream::stderr(),
            "wgmax: parts of {} are generated for the attributes of an operator; this is a sample",
            kernel.name()
        );
    }
    writeln!(output, "{}", shader.source().trim())?;
    Ok(Outcome::Good)
}

/// All kernels.
fn table(kernels: &[&'static Kernel]) -> comfy_table::Table {
    let mut table = output::table(&["kernel", "flags", "file in shaders/", "types"]);
    for kernel in kernels {
        let types = types(&kernel.shaders(64));
        let types = match types.len() {
            _ if !kernel.is_typed() => "-".to_string(),
            n if n == ElementType::ALL.len() => "all".to_string(),
            _ => list(types.iter().map(|t| t.name())),
        };
        table.add_row([
            kernel.name().to_string(),
            kernel.flag_names().join("\n"),
            format!("{}.wgsl", kernel.file()),
            types,
        ]);
    }
    table
}

/// The shader of a kernel that the arguments choose: the first sample of a specialized kernel.
fn find(kernel: &'static Kernel, arguments: &Arguments) -> anyhow::Result<Shader> {
    let name = kernel.name();
    let mut shaders = kernel.shaders(arguments.workgroup);
    match arguments.element_type {
        None if kernel.is_typed() => {
            let types = types(&shaders);
            anyhow::bail!("{name} needs a type: {}", list(types.iter().map(|t| t.name())));
        }
        Some(t) if !kernel.is_typed() => {
            anyhow::bail!("{name} has one text for all types; leave out {t}");
        }
        Some(t) => {
            let types = types(&shaders);
            let list = || list(types.iter().map(|t| t.name()));
            anyhow::ensure!(types.contains(&t), "{name} is not for {t}, only for {}", list());
            shaders.retain(|shader| shader.element == t);
        }
        None => {}
    }

    let flags = kernel.flag_names();
    for flag in &arguments.flags {
        let known = match flags {
            [] => "it has none".to_string(),
            flags => format!("its flags are {}", list(flags.iter().copied())),
        };
        anyhow::ensure!(flags.contains(&flag.as_str()), "{name} has no flag {flag:?}; {known}");
    }
    let wanted = |flag: &str| arguments.flags.iter().any(|wanted| wanted == flag);
    let variants = variants(&shaders);
    shaders.retain(|shader| flags.iter().all(|flag| shader.is(flag) == wanted(flag)));
    let chosen = match arguments.flags.as_slice() {
        [] => "without flags".to_string(),
        flags => format!("with {}", list(flags.iter().map(String::as_str))),
    };
    anyhow::ensure!(
        !shaders.is_empty(),
        "there is no {name} {chosen} for this type; there are: {}",
        variants.join("; ")
    );

    let (words, in_place) = (arguments.words, arguments.in_place);
    let shader = shaders.iter().find(|s| (s.words, s.in_place) == (words, in_place));
    shader.copied().ok_or_else(|| {
        anyhow::anyhow!("{name} is the same with --words and with --in-place; leave them out")
    })
}

/// The element types of shaders.
fn types(shaders: &[Shader]) -> Vec<ElementType> {
    let mut types: Vec<ElementType> = shaders.iter().map(|shader| shader.element).collect();
    types.dedup();
    types
}

/// The combinations of flags of shaders.
fn variants(shaders: &[Shader]) -> Vec<String> {
    let flags = |shader: &Shader| {
        let names = shader.kernel.flag_names().iter().copied();
        let set: Vec<&str> = names.filter(|name| shader.is(name)).collect();
        if set.is_empty() { "no flags".to_string() } else { set.join(", ") }
    };
    let mut variants: Vec<String> = shaders.iter().map(flags).collect();
    variants.dedup();
    variants
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
