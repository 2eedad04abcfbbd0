//! `wgmax devices`.

use std::io::Write;

use clap::Args;
use serde_json::json;
use wgmax::{Device, DeviceInfo};

use super::Outcome;
use super::output::{self, Output};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax devices
  wgmax devices --json")]
pub struct Arguments {
    /// Print a JSON array, one object a device
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
        let list: Vec<_> = all.map(|(index, info)| object(index, info)).collect();
        writeln!(output, "{}", serde_json::to_string_pretty(&list)?)?;
        return Ok(Outcome::Good);
    }
    let mut table = output::table(&[
        "--device",
        "name",
        "backend",
        "driver",
        "kind",
        "workgroup",
        "groups",
        "binding",
        "buffer",
    ]);
    for (index, info) in all {
        let limits = &info.limits;
        let mut row = vec![
            index.map_or_else(|| "cpu".to_string(), |index| index.to_string()),
            info.name.clone(),
            info.backend.clone(),
            info.driver.clone(),
            info.kind.clone(),
        ];
        row.extend([
            limits.workgroup_size.to_string(),
            match limits.max_workgroups_per_dimension {
                u32::MAX => "any".to_string(),
                groups => groups.to_string(),
            },
            size(limits.max_binding_size),
            size(limits.max_buffer_size),
        ]);
        table.add_row(row);
    }
    writeln!(output, "{table}")?;
    writeln!(
        output,
        "workgroup: invocations in one; groups: workgroups a dimension; \
         binding, buffer: the largest in bytes"
    )?;
    if adapters.is_empty() {
        // Not a part of the list; there is nobody to tell if stderr is closed.
        let _ = writeln!(std::io::stderr(), "{NO_ADAPTER}");
    }
    Ok(Outcome::Good)
}

/// What is said where only the CPU is left.
pub const NO_ADAPTER: &str = "No GPU adapter was found; only the CPU is used. On Debian, \
                              mesa-vulkan-drivers has one in software.";

/// A device as JSON; the CPU has no index.
pub fn object(index: Option<usize>, info: &DeviceInfo) -> serde_json::Value {
    let limits = &info.limits;
    json!({
        "device": index.map_or_else(|| "cpu".to_string(), |index| index.to_string()),
        "name": info.name,
        "backend": info.backend,
        "driver": info.driver,
        "kind": info.kind,
        "limits": {
            "workgroup_size": limits.workgroup_size,
            "max_workgroups_per_dimension": limits.max_workgroups_per_dimension,
            "max_binding_size": limits.max_binding_size,
            "max_buffer_size": limits.max_buffer_size,
            "alignment": limits.alignment,
            "max_iterations": limits.max_iterations,
            "lanes": limits.lanes,
        },
    })
}

/// Bytes in the largest unit.
pub fn size(bytes: u64) -> String {
    if bytes == u64::MAX {
        return "any".to_string();
    }
    const UNITS: [&str; 6] = ["EiB", "PiB", "TiB", "GiB", "MiB", "KiB"];
    for (power, unit) in (1..=6).rev().zip(UNITS) {
        let whole = 1u64 << (10 * power);
        if bytes >= whole && bytes.is_multiple_of(whole) {
            return format!("{} {unit}", bytes / whole);
        }
        if bytes >= whole {
            return format!("{:.1} {unit}", bytes as f64 / whole as f64);
        }
    }
    format!("{bytes} B")
}
