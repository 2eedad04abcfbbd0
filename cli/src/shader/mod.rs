//! `wgmax shader`.

mod language;

use std::collections::{HashMap, HashSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use wgmax::ElementType;
use wgmax::operator::kernels;
use wgmax::plan::{Kernel, Shader};

use super::Outcome;
use super::options::{element_type, workgroup};
use super::output::{self, Output};
use super::report::WholeFile;
use super::table::Table;
use language::Language;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax shader
  wgmax shader reduce_rows u8
  wgmax shader pool_gather f32 --flag indices --workgroup 64
  wgmax shader fill
  wgmax shader reduce_rows f32 --language hlsl
  wgmax shader --all shaders --language spirv")]
pub struct Arguments {
    /// Kernel to print; by default all kernels are listed
    #[arg(value_parser = names(), hide_possible_values = true, group = "what")]
    name: Option<String>,
    /// Element type; none for kernels with one text for all types
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
    shared_buffer: bool,
    /// The variant for inputs that are views with gaps
    #[arg(long, requires = "name")]
    pitched: bool,
    /// Write the text of every shader to a file of its own in this folder
    #[arg(long, value_name = "FOLDER", group = "what")]
    all: Option<PathBuf>,
    /// Language to translate to, with the options of wgpu
    #[arg(long, value_enum, default_value_t = Language::Wgsl, requires = "what")]
    language: Language,
    /// Invocations of a workgroup
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = workgroup)]
    workgroup: u32,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(kernels().iter().map(|kernel| kernel.name()))
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let kernels = kernels();
    if let Some(folder) = &arguments.all {
        write_all(&kernels, folder, arguments, output)?;
        return Ok(Outcome::Good);
    }
    let name = arguments.name.as_deref();
    let Some(kernel) = name.and_then(|name| kernels.iter().find(|k| k.name() == name)) else {
        writeln!(output, "{}", table(&kernels))?;
        return Ok(Outcome::Good);
    };
    let shader = find(kernel, arguments)?;
    if kernel.is_specialized() {
        output::remark(format_args!(
            "parts of {} are generated for the attributes of an operator; this is a sample",
            kernel.name()
        ));
    }
    let language = arguments.language;
    anyhow::ensure!(
        !language.is_binary() || !std::io::stdout().is_terminal(),
        "standard output: it is a terminal, and SPIR-V is not text"
    );
    let translated = translate(&shader, shader.source(), language)?;
    match language.is_binary() {
        true => output.write_all(&translated)?,
        false => writeln!(output, "{}", String::from_utf8_lossy(&translated).trim())?,
    }
    Ok(Outcome::Good)
}

fn translate(shader: &Shader, text: String, language: Language) -> anyhow::Result<Vec<u8>> {
    language.translate(text).with_context(|| shader.label())
}

/// Writes each text of the kernels to one file, which has the name of the first shader with this text.
fn write_all(
    kernels: &[&'static Kernel],
    folder: &Path,
    arguments: &Arguments,
    output: &mut Output,
) -> anyhow::Result<()> {
    let name = folder.display();
    match std::fs::create_dir(folder) {
        Err(_) if folder.is_dir() => {}
        Err(_) if folder.exists() => anyhow::bail!("--all {name}: it is not a folder"),
        made => made.with_context(|| format!("--all {name}: the folder cannot be created"))?,
    }
    let (language, mut texts, mut names) = (arguments.language, HashSet::new(), HashMap::new());
    for shader in kernels.iter().flat_map(|kernel| kernel.shaders(arguments.workgroup)) {
        let text = shader.source();
        if !texts.insert(text.clone()) {
            continue;
        }
        let mut name = file_name(&shader);
        // Samples of a specialized kernel have the same label.
        let count = names.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            name.push_str(&format!("-{count}"));
        }
        let translated = translate(&shader, text, language)?;
        let mut file = WholeFile::create(&folder.join(format!("{name}.{}", language.extension())))?;
        file.write_all(&translated)?;
        file.finish()?;
    }
    writeln!(output, "{} in {name}", output::counted(texts.len(), "shader"))?;
    Ok(())
}

/// The name of a shader's file, without the ending: its label, and how its buffers are bound.
fn file_name(shader: &Shader) -> String {
    let label = shader.label();
    let mut name = label.strip_prefix("wgmax ").unwrap_or(&label).to_string();
    for (set, suffix) in [(shader.words, " words"), (shader.shared_buffer, " shared_buffer")] {
        name.push_str(if set { suffix } else { "" });
    }
    name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}

/// All kernels.
fn table(kernels: &[&'static Kernel]) -> Table {
    let mut table = Table::new(&["kernel\nfile in shaders/", "flags", "types"]).wrap(2);
    for kernel in kernels {
        let types = types(&kernel.shaders(64));
        let types = match types.len() {
            _ if !kernel.is_typed() => "-".to_string(),
            n if n == ElementType::ALL.len() => "all".to_string(),
            4 if types.iter().all(|t| t.is_float()) => "floats".to_string(),
            _ => list(types.iter().map(|t| t.name())),
        };
        table.add_row([
            format!("{}\n{}.wgsl", kernel.name(), kernel.file()),
            kernel.flag_names().join("\n"),
            types,
        ]);
    }
    table
}

/// The shader of a kernel that the arguments choose: the first sample of a specialized kernel.
fn find(kernel: &'static Kernel, arguments: &Arguments) -> anyhow::Result<Shader> {
    let name = kernel.name();
    let mut shaders = kernel.shaders(arguments.workgroup);
    let types = types(&shaders);
    let names = list(types.iter().map(|t| t.name()));
    match arguments.element_type {
        None if kernel.is_typed() => anyhow::bail!("{name} needs a type: {names}"),
        Some(t) if !kernel.is_typed() => {
            anyhow::bail!("{name} has one text for all types; leave out {t}");
        }
        Some(t) => {
            anyhow::ensure!(types.contains(&t), "{name} is not for {t}, only for {names}");
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
        let others = kernels().into_iter().filter(|other| other.flag_names().contains(&&**flag));
        let others: Vec<&str> = others.map(Kernel::name).collect();
        let others = match others[..] {
            [] => String::new(),
            _ => format!("; kernels that have it: {}", others.join(", ")),
        };
        anyhow::ensure!(
            flags.contains(&flag.as_str()),
            "--flag {flag}: not a flag of {name}; {known}{others}"
        );
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

    // A kernel whose source is always a view has no other variant.
    let pitched = arguments.pitched || shaders.iter().all(|shader| shader.pitched);
    let wanted = (arguments.words, arguments.shared_buffer, pitched);
    let shader = shaders.iter().find(|s| (s.words, s.shared_buffer, s.pitched) == wanted);
    shader.copied().ok_or_else(|| {
        anyhow::anyhow!(
            "{name} is the same with --words, --shared-buffer and --pitched; leave them out"
        )
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
