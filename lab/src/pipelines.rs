//! The driver's cost of compiling the pipelines of the items.

use std::time::Instant;

use clap::Args;
use regex::Regex;
use serde_json::{Value, json};
use wgmax::TensorDesc;
use wgmax::plan::Shader;
use wgmax_cli::bench::item;
use wgmax_cli::options::On;

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    on: On,
    /// Only items whose name matches this regular expression
    #[arg(long, value_name = "REGEX", default_value = "")]
    filter: Regex,
}

/// Plans the items, and compiles each pipeline that they use: one at a time, in the order of their
/// launches, and names each on stderr first. So the driver's output for a pipeline follows its
/// name.
pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let device = arguments.on.open()?;
    anyhow::ensure!(!device.is_cpu(), "the CPU has no pipelines; choose a GPU with --device");
    let mut used: Vec<(Shader, Vec<String>)> = Vec::new();
    for item in item::matching(&arguments.filter)? {
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
    let mut all_made = true;
    let rows = used.into_iter().enumerate().map(|(i, (shader, items))| {
        let label = shader.label();
        let name = label.strip_prefix("wgmax ").unwrap_or(&label);
        eprintln!("pipeline {} of {count}: {name}", i + 1);
        let start = Instant::now();
        let made = device.compile(&shader);
        let seconds = made.is_ok().then(|| start.elapsed().as_secs_f64());
        all_made &= made.is_ok();
        json!({
            "name": name,
            "items": items,
            "text": shader.source(),
            "seconds": seconds,
            "error": made.err().map(|error| error.to_string()),
        })
    });
    let rows: Vec<Value> = rows.collect();
    let (info, plan) = (device.info().to_string(), device.tuning().name());
    println!("{:#}", json!({ "device": info, "plan": plan, "pipelines": rows }));
    Ok(all_made)
}
