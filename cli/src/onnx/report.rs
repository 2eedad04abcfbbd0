//! The report, as a table and as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};
use wgmax::Device;
use wgmax::dialect::Attribute;
use wgmax::io::onnx::Model;

use super::entry::{Entry, Origin, State, Trial};
use super::find;
use crate::difference;
use crate::output::{Output, put, tensor_json};
use crate::table::{self, Cell, Table};

pub struct Report<'a> {
    pub model: &'a Model,
    /// `None` if nodes are only listed.
    pub device: Option<&'a Device>,
    pub entries: &'a [Entry<'a>],
}

impl Report<'_> {
    pub fn print(&self, output: &mut Output) -> anyhow::Result<()> {
        let nodes = self.model.graph.nodes.len();
        let opset = self.model.opset.map_or_else(|| "none".to_string(), |opset| opset.to_string());
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in self.entries {
            *counts.entry(&entry.node.operator).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(name, n)| format!("{n} {name}")).collect();
        let found = match counts.is_empty() {
            true => "none is a MaxPool, GlobalMaxPool, MaxUnpool, ReduceMax, ReduceMin, ArgMax or ArgMin, \
                     nor a ScatterElements or ScatterND of max or min"
                .to_string(),
            false => counts.join(", "),
        };
        let name = &self.model.name;
        let noun = if nodes == 1 { "node" } else { "nodes" };
        put(output, format_args!("{name}: opset {opset}, {nodes} {noun}; {found}"))?;
        if self.entries.is_empty() {
            return Ok(());
        }
        if let Some(device) = self.device {
            let compared = if device.is_cpu() { "" } else { ", compared with the CPU" };
            let tuning = device.tuning().name();
            put(output, format_args!("on {}{compared}; {tuning} tuning", device.info()))?;
        }
        writeln!(output, "{}", self.table())?;
        self.remarks(output)?;
        if find::is_whole(self.model) && self.entries.iter().all(Entry::has_run) {
            writeln!(output, "Every node is implemented here: the whole model ran.")?;
        }
        Ok(())
    }

    /// Nodes that are only listed have no times; on the CPU alone, nothing is compared.
    fn table(&self) -> Table {
        let ran = |entry: &Entry<'_>| entry.trial().is_some_and(|trial| trial.device.is_some());
        let header: &[&str] = match self.device {
            Some(device) if device.is_cpu() => &["node", "input\noutput", "CPU ms"],
            None if !self.entries.iter().any(ran) => &["node", "input\noutput", "can run?"],
            _ => &["node", "input\noutput", "device ms\nCPU ms", "same as CPU?"],
        };
        let mut table = Table::new(header).wrap(0);
        for entry in self.entries {
            let mut node = vec![short(&find::label(entry.node))];
            // The label of a node without a name has its operator.
            node.extend((!entry.node.name.is_empty()).then(|| entry.node.operator.clone()));
            node.extend(entry.attributes.iter().map(|(name, value)| format!("{name} {value}")));
            let mut row: Vec<Cell> = vec![node.join("\n").into()];
            let (tensors, times, verdict) = self.cells(entry);
            row.push(tensors.join("\n").into());
            match header.len() {
                // The reason, if there is no time.
                3 => row.push(if times.is_empty() { verdict } else { times.into() }),
                _ => row.extend([times.into(), verdict]),
            }
            table.add_row(row);
        }
        table
    }

    /// The tensors of a node, its times, and its outcome.
    fn cells(&self, entry: &Entry<'_>) -> (Vec<String>, String, Cell) {
        let (status, _) = status(entry);
        let (mut tensors, listed) = match &entry.state {
            State::Ready(ready) => {
                let outputs = ready.outputs.iter().map(|(_, desc)| desc);
                let descs = [&ready.inputs[0]].into_iter().chain(outputs);
                (descs.map(ToString::to_string).collect(), "yes")
            }
            _ => (vec!["?".to_string(); 2], "no"),
        };
        let differing = entry.trial().map_or(0, Trial::differing);
        let verdict = match status {
            "refused" | "failed" => Cell::verdict(status.to_uppercase(), false),
            "equal" => Cell::verdict("yes", true),
            "different" => Cell::verdict(format!("NO: {differing} differ"), false),
            "reference" => "".into(),
            _ if self.device.is_none() => listed.into(),
            _ => status.into(),
        };
        let Some(trial) = entry.trial() else { return (tensors, String::new(), verdict) };
        match trial.origin {
            Origin::Tensor => {}
            Origin::Model => tensors.push("the model's input".to_string()),
            Origin::Random => tensors.push("random input".to_string()),
        }
        let times: Vec<String> =
            trial.device.into_iter().chain([trial.cpu]).map(milliseconds).collect();
        (tensors, times.join("\n"), verdict)
    }

    /// Why nodes did not run, and which elements differ.
    fn remarks(&self, output: &mut Output) -> anyhow::Result<()> {
        // A request that several nodes share is printed once.
        let mut blocked: Vec<(&str, Vec<String>)> = Vec::new();
        for entry in self.entries {
            let State::Blocked(reason) = &entry.state else { continue };
            let label = find::label(entry.node);
            match blocked.iter_mut().find(|(other, _)| other == reason) {
                Some((_, labels)) => labels.push(label),
                None => blocked.push((reason, vec![label])),
            }
        }
        for (reason, labels) in blocked {
            put(output, format_args!("not run: {}: {reason}", labels.join(", ")))?;
        }
        for entry in self.entries {
            let label = find::label(entry.node);
            if let (status @ ("refused" | "failed"), Some(reason)) = status(entry) {
                put(output, format_args!("{status}: {label}: {reason}"))?;
            }
            let comparisons = entry.trial().map_or(&[][..], |trial| &trial.comparisons);
            for report in comparisons.iter().filter(|report| !report.is_equal()) {
                let text = difference::text(report, 0);
                put(output, format_args!("{label}: a is the device, b the CPU: {text}"))?;
            }
            for remark in &entry.remarks {
                put(output, format_args!("{label}: {remark}"))?;
            }
        }
        Ok(())
    }

    pub fn json(&self, seed: u64, runs: u16) -> Value {
        json!({
            "model": self.model.name,
            "opset": self.model.opset,
            "nodes_in_graph": self.model.graph.nodes.len(),
            "whole": find::is_whole(self.model),
            "device": self.device.map(|device| device.info().to_string()),
            "tuning": self.device.map(|device| device.tuning().name()),
            "seed": seed,
            "runs": runs,
            "nodes": self.entries.iter().map(node).collect::<Vec<_>>(),
        })
    }
}

fn node(entry: &Entry<'_>) -> Value {
    let attributes: BTreeMap<&str, Value> =
        entry.attributes.iter().map(|(name, value)| (name.as_str(), typed(value))).collect();
    let mut object = json!({
        "name": entry.node.name,
        "operator": entry.node.operator,
        "opset": entry.opset,
        "place": entry.place,
        "attributes": attributes,
        "inputs": entry.node.inputs,
        "outputs": entry.node.outputs,
        "remarks": entry.remarks,
    });
    if let State::Ready(ready) = &entry.state {
        object["input"] = tensor_json(&ready.inputs[0]);
        object["results"] = ready.outputs.iter().map(|(_, desc)| tensor_json(desc)).collect();
    }
    if let Some(trial) = entry.trial() {
        object["input_from"] = json!(match trial.origin {
            Origin::Tensor => "tensor",
            Origin::Model => "model",
            Origin::Random => "random",
        });
        object["cpu_ms"] = json!(trial.cpu.as_secs_f64() * 1e3);
        object["device_ms"] = json!(trial.device.map(|t| t.as_secs_f64() * 1e3));
        object["differing"] = json!(trial.differing());
    }
    let (status, reason) = status(entry);
    object["status"] = json!(status);
    object["reason"] = json!(reason);
    object
}

/// The outcome of a node, and why it did not run to its end.
fn status<'a>(entry: &'a Entry<'_>) -> (&'static str, Option<&'a str>) {
    match &entry.state {
        State::Blocked(reason) => ("not run", Some(reason)),
        State::Refused(reason) => ("refused", Some(reason)),
        State::Ready(ready) => match &ready.trial {
            None => ("not run", Some("only listed")),
            Some(Err(error)) => ("failed", Some(error)),
            Some(Ok(trial)) if trial.device.is_none() => ("reference", None),
            Some(Ok(trial)) if trial.differing() == 0 => ("equal", None),
            Some(Ok(_)) => ("different", None),
        },
    }
}

fn typed(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::Int(int) => json!(int),
        Attribute::Ints(ints) => json!(ints),
        Attribute::Bool(bool) => json!(bool),
        Attribute::Text(text) => json!(text),
        other => json!(other.to_string()),
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// The end of a long name, which is more specific than its beginning.
fn short(name: &str) -> String {
    // The columns that remain on a terminal.
    let max = table::width().saturating_sub(56).clamp(24, 60);
    let length = name.chars().count();
    match length > max {
        true => format!("…{}", name.chars().skip(length - max + 1).collect::<String>()),
        false => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wgmax::Tensor;
    use wgmax::io::onnx::parse_model;

    use super::super::prepare;
    use super::super::proto::{self, ints, node, opset, shaped, value};
    use super::super::values::Values;
    use super::*;

    /// The difference is invented, because no device has one.
    #[test]
    fn a_difference_is_reported() {
        let pool = node("MaxPool", &["x"], &["y"], &[ints("kernel_shape", &[2])]);
        let graph = vec![shaped(11, "x", 1, &["1", "1", "3"]), value(12, "y")];
        let model = proto::Model { nodes: vec![pool], graph, opsets: vec![opset("", 13)] };
        let model = parse_model("m.onnx", Arc::new(model.bytes())).unwrap();
        let mut values = Values::new(&model, &[], &[]).unwrap();
        let mut entries = prepare::all(&model, find::nodes(&model), &mut values);
        let mut report_of = |elements: [f32; 2]| {
            let result = |elements| Tensor::from_slice([1, 1, 2], elements).unwrap();
            let comparison = wgmax::compare(&result(&elements), &result(&[1.0, 2.0])).unwrap();
            let State::Ready(ready) = &mut entries[0].state else { panic!("not ready") };
            ready.trial = Some(Ok(Trial {
                origin: Origin::Random,
                cpu: Duration::ZERO,
                device: Some(Duration::ZERO),
                comparisons: vec![comparison],
            }));
            let report = Report { model: &model, device: None, entries: &entries };
            let status = report.json(1, 1)["nodes"][0]["status"].clone();
            (entries[0].is_bad(), status, report.table().to_string())
        };
        let (bad, status, table) = report_of([1.0, 2.0]);
        assert!(!bad && status == "equal" && table.contains(" yes "), "{status} {table}");
        let (bad, status, table) = report_of([1.0, 2.5]);
        assert!(bad && status == "different" && table.contains("NO: 1 differ"), "{status} {table}");
    }
}
