//! A plan as text and as JSON.

use std::io::Write;

use serde_json::{Value, json};
use wgmax::TensorDesc;
use wgmax::plan::Launch;
use wgmax_verify::text::count;

use super::Explanation;
use crate::output::{Output, size, tensor_json};
use crate::table::Table;

/// The maximum number of rows of the table.
const MAX_ROWS: usize = 40;

/// Consecutive launches of a shader with the same purpose and grid.
struct Row<'a> {
    /// The number of the first launch, from 1.
    first: usize,
    launches: &'a [Launch],
}

impl Explanation {
    /// Bytes that all launches read and write, and the fewest possible.
    fn bytes(&self) -> [u64; 4] {
        let size = |descs: &[TensorDesc]| descs.iter().map(|desc| desc.byte_len() as u64).sum();
        let (read, written) = moved(self.plan.launches());
        [read, written, size(&self.inputs), size(self.plan.outputs())]
    }

    pub fn print(&self, output: &mut Output) -> anyhow::Result<()> {
        let list = |descs: &[TensorDesc]| {
            descs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let (inputs, outputs) = (list(&self.inputs), list(self.plan.outputs()));
        writeln!(output, "{}: {inputs} -> {outputs}", self.operator.name())?;
        let rows = self.rows();
        if !rows.is_empty() {
            writeln!(output, "{}", table(&rows[..rows.len().min(MAX_ROWS)]))?;
        }
        if let Some(row) = rows.get(MAX_ROWS) {
            let rest = self.plan.launches().len() - row.first + 1;
            writeln!(output, "and {rest} more launches; --json prints them all")?;
        } else if rows.len() < self.plan.launches().len() {
            writeln!(output, "Rows of several launches have their sums; --json prints each.")?;
        }
        self.summary(output)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        let mut first = 1;
        for launches in self.plan.launches().chunk_by(same) {
            rows.push(Row { first, launches });
            first += launches.len();
        }
        rows
    }

    fn summary(&self, output: &mut Output) -> anyhow::Result<()> {
        let [read, written, inputs, outputs] = self.bytes();
        let times = |bytes: u64, fewest: u64, what: &str| match fewest {
            0 => format!("{}; the {what} are empty", size(bytes)),
            _ => {
                let ratio = bytes as f64 / fewest as f64;
                format!("{}, {ratio:.2} times the {what} ({})", size(bytes), size(fewest))
            }
        };
        let limits = &self.limits;
        let mut line = |name: &str, text: String| writeln!(output, "{name:<9} {text}");
        line("launches", self.plan.launches().len().to_string())?;
        line("reads", times(read, inputs, "inputs"))?;
        line("writes", times(written, outputs, "results"))?;
        line("scratch", size(self.plan.scratch_bytes()))?;
        let (name, parallelism) = (self.tuning.name(), self.tuning.target_parallelism());
        line("tuning", format!("{name}; {parallelism} invocations fill the device"))?;
        line(
            "limits",
            format!(
                "bindings of {}, aligned to {}; buffers of {};",
                size(limits.max_binding_size),
                size(limits.alignment),
                size(limits.max_buffer_size),
            ),
        )?;
        line(
            "",
            format!(
                "workgroups of {}, {} in each dimension; storage buffers: {};",
                limits.workgroup_size,
                count(limits.max_workgroups_per_dimension),
                count(limits.max_storage_buffers),
            ),
        )?;
        line("", format!("loop iterations: {}", count(limits.max_iterations)))?;
        let largest = self.plan.max_buffer_bytes();
        if largest > limits.max_buffer_size {
            line("note", format!("a buffer of {} exceeds the limit: such inputs", size(largest)))?;
            line("", "are streamed in pieces, each with a plan of its own".to_string())?;
        }
        Ok(())
    }

    pub fn json(&self) -> Value {
        let [read, written, inputs, outputs] = self.bytes();
        let tensors = |descs: &[TensorDesc]| descs.iter().map(tensor_json).collect::<Vec<_>>();
        json!({
            "operator": self.operator.name(),
            "inputs": tensors(&self.inputs),
            "outputs": tensors(self.plan.outputs()),
            "launches": self.plan.launches().iter().map(launch).collect::<Vec<_>>(),
            "bytes_read": read,
            "bytes_written": written,
            "input_bytes": inputs,
            "output_bytes": outputs,
            "scratch_bytes": self.plan.scratch_bytes(),
            "max_buffer_bytes": self.plan.max_buffer_bytes(),
            "tuning": self.tuning.name(),
            "target_parallelism": self.tuning.target_parallelism(),
            "limits": wgmax_verify::json::limits(&self.limits),
        })
    }
}

/// The bytes that launches read, and that they write.
fn moved(launches: &[Launch]) -> (u64, u64) {
    (
        launches.iter().map(Launch::bytes_read).sum(),
        launches.iter().map(Launch::bytes_written).sum(),
    )
}

/// The flags of a launch's shader.
fn flags(launch: &Launch) -> Vec<&'static str> {
    let shader = launch.shader();
    let names = shader.kernel.flag_names().iter().copied();
    names.filter(|name| shader.is(name)).chain(shader.words.then_some("words")).collect()
}

/// Whether two launches belong in one row.
fn same(a: &Launch, b: &Launch) -> bool {
    a.shader() == b.shader() && a.purpose() == b.purpose() && a.grid() == b.grid()
}

fn launch(launch: &Launch) -> Value {
    let shader = launch.shader();
    json!({
        "kernel": shader.kernel.name(),
        "type": shader.kernel.is_typed().then(|| shader.element.name()),
        "flags": flags(launch),
        "purpose": launch.purpose(),
        "workgroup_size": shader.workgroup,
        "grid": launch.grid(),
        "bytes_read": launch.bytes_read(),
        "bytes_written": launch.bytes_written(),
    })
}

fn table(rows: &[Row<'_>]) -> Table {
    let header = ["#", "kernel", "grid", "reads\nwrites", "purpose"];
    let mut table = Table::new(&header).wrap(4).right(&[2, 3]);
    for Row { first, launches } in rows {
        let launch = &launches[0];
        let numbers = match launches.len() {
            1 => first.to_string(),
            count => format!("{first}-{}", first + count - 1),
        };
        let (read, written) = moved(launches);
        let mut kernel = vec![launch.shader().kernel.name()];
        kernel.extend(flags(launch));
        table.add_row([
            numbers,
            kernel.join("\n"),
            grid(launch.grid()),
            format!("{}\n{}", size(read), size(written)),
            launch.purpose().to_string(),
        ]);
    }
    table
}

/// Workgroups in each dimension, without trailing ones.
fn grid([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} x {y}"),
        _ => format!("{x} x {y} x {z}"),
    }
}
