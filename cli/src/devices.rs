//! `wgmax devices`.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use wgmax::plan::Limits;
use wgmax::{Device, DeviceInfo, Tuning};

use super::Outcome;
use super::output::{self, Output, size};
use super::table::Table;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax devices
  wgmax devices --json")]
pub struct Arguments {
    /// Print a JSON array with an object for each device
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Outcome> {
    let adapters = wgmax::adapters();
    let cpu = Device::cpu();
    let all = (adapters.iter().enumerate())
        .map(|(index, info)| (Some(index), info))
        .chain([(None, cpu.info())]);
    if arguments.json {
        let list: Vec<_> = all.map(|(index, info)| object(index, info, &info.tuning())).collect();
        writeln!(output, "{}", serde_json::to_string_pretty(&list)?)?;
        return Ok(Outcome::Good);
    }
    let mut table = Table::new(&[
        "--device\n--plan",
        "name\ndriver",
        "backend\nkind",
        "workgroup\ngroups",
        "binding\nbuffer",
    ])
    .wrap(1);
    for (index, info) in all {
        let limits = &info.limits;
        let groups = count(limits.max_workgroups_per_dimension);
        let [binding, buffer] = [limits.max_binding_size, limits.max_buffer_size].map(size);
        table.add_row([
            format!("{}\n{}", argument(index), info.tuning().name()),
            format!("{}\n{}", info.name, info.driver),
            format!("{}\n{}", info.backend, info.kind),
            format!("{}\n{groups}", limits.workgroup_size),
            format!("{binding}\n{buffer}"),
        ]);
    }
    writeln!(output, "{table}")?;
    writeln!(
        output,
        "--plan: the default; workgroup: invocations of a workgroup;\n\
         groups: workgroups in each dimension; binding, buffer: maximum bytes"
    )?;
    if adapters.is_empty() {
        // Not a part of the list.
        output::note(NO_ADAPTER);
    }
    Ok(Outcome::Good)
}

/// The message if there is no device but the CPU.
pub const NO_ADAPTER: &str = "No GPU adapter was found; only the CPU is used. On Debian, \
                              mesa-vulkan-drivers has a software adapter.";

/// How `--device` names a device. The CPU has no index.
fn argument(index: Option<usize>) -> String {
    index.map_or_else(|| "cpu".to_string(), |index| index.to_string())
}

/// A limit, or "any" if there is none.
pub fn count(limit: u32) -> String {
    match limit {
        u32::MAX => "any".to_string(),
        limit => limit.to_string(),
    }
}

/// A device as JSON.
pub fn object(index: Option<usize>, info: &DeviceInfo, tuning: &Tuning) -> Value {
    json!({
        "device": argument(index),
        "name": info.name,
        "backend": info.backend,
        "driver": info.driver,
        "kind": info.kind.name(),
        "tuning": tuning.name(),
        "target_parallelism": tuning.target_parallelism(),
        "limits": limits(&info.limits),
    })
}

/// Limits as JSON.
pub fn limits(limits: &Limits) -> Value {
    json!({
        "workgroup_size": limits.workgroup_size,
        "max_workgroups_per_dimension": limits.max_workgroups_per_dimension,
        "max_binding_size": limits.max_binding_size,
        "max_buffer_size": limits.max_buffer_size,
        "alignment": limits.alignment,
        "max_storage_buffers": limits.max_storage_buffers,
        "max_iterations": limits.max_iterations,
    })
}
