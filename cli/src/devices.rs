//! `wgmax devices`.

use std::io::Write;

use clap::Args;
use wgmax::Device;
use wgmax_verify::text::count;
use wgmax_verify::{NO_ADAPTER, json};

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
    let adapters = wgmax::adapters()?;
    let cpu = Device::cpu();
    let all = (adapters.iter().enumerate())
        .map(|(index, info)| (Some(index), info))
        .chain([(None, cpu.info())]);
    if arguments.json {
        let list: Vec<_> =
            all.map(|(index, info)| json::device(&argument(index), info, &info.tuning())).collect();
        writeln!(output, "{}", serde_json::to_string_pretty(&list)?)?;
        return Ok(Outcome::Good);
    }
    let mut table = Table::new(&[
        "--device\n--tuning",
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
        "--tuning: the default; workgroup: invocations of a workgroup;\n\
         groups: workgroups in each dimension; binding, buffer: maximum bytes"
    )?;
    if adapters.is_empty() {
        // This is not part of the list.
        output::note(NO_ADAPTER);
    }
    Ok(Outcome::Good)
}

/// How `--device` names a device. The CPU has no index.
fn argument(index: Option<usize>) -> String {
    index.map_or_else(|| "cpu".to_string(), |index| index.to_string())
}
