//! `wgmax bench --pipelines`: what the driver takes to compile the pipelines of the items.

use std::fmt;

use serde_json::{Value, json};
use wgmax::plan::Shader;
use wgmax::{Device, TensorDesc};

use super::item::Item;
use super::times::seconds;
use crate::output;
use crate::table::Table;

pub struct Pipelines {
    device: String,
    plan: &'static str,
    rows: Vec<Row>,
}

/// A pipeline: the items that use it, and the seconds to make it or the driver's error.
struct Row {
    shader: Shader,
    items: Vec<String>,
    made: Result<f64, String>,
}

impl Pipelines {
    /// Plans the items, and makes each pipeline that they use: one at a time, in the order of their
    /// launches, and each named on stderr before. So what a driver prints of a pipeline stands
    /// behind its name.
    pub fn make(device: &Device, items: &[Item]) -> anyhow::Result<Self> {
        anyhow::ensure!(!device.is_cpu(), "the CPU has no pipelines; choose a GPU with --device");
        let mut used: Vec<(Shader, Vec<String>)> = Vec::new();
        for item in items {
            let inputs = item.inputs()?;
            let inputs: Vec<&TensorDesc> = inputs.iter().collect();
            for shader in device.plan(item.operator(), &inputs)?.shaders() {
                match used.iter_mut().find(|(known, _)| known == shader) {
                    None => used.push((*shader, vec![item.name.clone()])),
                    Some((_, items)) if items.last() == Some(&item.name) => {}
                    Some((_, items)) => items.push(item.name.clone()),
                }
            }
        }
        let count = used.len();
        let rows = used.into_iter().enumerate().map(|(i, (shader, items))| {
            output::note(format_args!("pipeline {} of {count}: {}", i + 1, name(&shader)));
            let (time, made) = seconds(|| device.compile(&shader));
            Row { shader, items, made: made.map(|()| time).map_err(|e| format!("{e:#}")) }
        });
        let (info, plan) = (device.info(), device.tuning().name());
        Ok(Self { device: info.to_string(), plan, rows: rows.collect() })
    }

    pub fn all_made(&self) -> bool {
        self.rows.iter().all(|row| row.made.is_ok())
    }

    pub fn json(&self) -> Value {
        let row = |Row { shader, items, made }: &Row| {
            let flags = shader.kernel.flag_names().iter().filter(|flag| shader.is(flag));
            json!({
                "name": name(shader),
                "kernel": shader.kernel.name(),
                "flags": flags.collect::<Vec<_>>(),
                "type": shader.kernel.is_typed().then(|| shader.element.name()),
                "workgroup": shader.workgroup,
                "items": items,
                "seconds": made.as_ref().ok(),
                "error": made.as_ref().err(),
            })
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({ "device": self.device, "plan": self.plan, "pipelines": rows })
    }
}

/// The kernel, the type and the flags.
fn name(shader: &Shader) -> String {
    let label = shader.label();
    label.strip_prefix("wgmax ").unwrap_or(&label).to_string()
}

impl fmt::Display for Pipelines {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut table = Table::new(&["pipeline", "ms", "items"]).wrap(0);
        let mut reasons = String::new();
        for Row { shader, items, made } in &self.rows {
            let time = match made {
                Ok(seconds) => format!("{:.1}", seconds * 1e3),
                Err(reason) => {
                    reasons += &format!("{}: {reason}\n", name(shader));
                    "failed".to_string()
                }
            };
            table.add_row([name(shader), time, items.join("\n")]);
        }
        writeln!(f, "{table}\n{reasons}{}; {} plans", self.device, self.plan)?;
        f.write_str("ms to compile: less where the driver keeps compiled shaders")
    }
}
