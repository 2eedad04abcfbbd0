//! Runs again what a report tells, and compares the reports.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;
use wgmax::ElementType;
use wgmax::sweep::Kind;

use super::engine::Choice;
use crate::options::PlanChoice;
use crate::output::Output;

/// A report as JSON, from a file.
pub struct Recorded {
    path: PathBuf,
    object: Value,
}

/// What a sweep found, for each device.
const FOUND: [&str; 5] = ["cases", "mismatches", "errors", "cells", "given_up"];

impl Recorded {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let failed = || path.display().to_string();
        let text = fs::read_to_string(path).with_context(failed)?;
        let object: Value = serde_json::from_str(&text).with_context(failed)?;
        let recorded = Self { path: path.to_path_buf(), object };
        // Whatever else it is, it is refused before anything runs.
        recorded.choice()?;
        Ok(recorded)
    }

    /// The cases of the report.
    pub fn choice(&self) -> anyhow::Result<Choice> {
        let path = self.path.display();
        self.parse().with_context(|| format!("{path}: not a JSON report of wgmax verify"))
    }

    fn parse(&self) -> Option<Choice> {
        let object = &self.object;
        let names = |key: &str| -> Option<Vec<&str>> {
            object[key].as_array()?.iter().map(Value::as_str).collect()
        };
        let kind = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let plan = match &object["plan"] {
            Value::Null => None,
            plan => Some(PlanChoice::named(plan.as_str()?)?),
        };
        object["devices"].as_array()?;
        Some(Choice {
            seed: object["seed"].as_u64()?,
            case: object["case"].as_u64(),
            cases: Some(object["cases"].as_u64()?),
            time: None,
            kinds: names("operators")?.into_iter().map(kind).collect::<Option<_>>()?,
            types: names("types")?
                .into_iter()
                .map(|name| name.parse::<ElementType>().ok())
                .collect::<Option<_>>()?,
            plan,
        })
    }

    /// The device that was asked for.
    pub fn device(&self) -> Option<String> {
        self.object["device"].as_str().map(str::to_string)
    }

    /// Whether faults were planted.
    pub fn has_faults(&self) -> bool {
        self.object["sabotage"].as_array().is_some_and(|sabotage| !sabotage.is_empty())
    }

    /// Prints what is not as it was. Returns whether the results are.
    pub fn print_changes(&self, now: &Value, output: &mut Output) -> anyhow::Result<bool> {
        let path = self.path.display();
        let (circumstances, results) = changes(&self.object, now);
        for change in &circumstances {
            writeln!(output, "Other than in {path}: {change}")?;
        }
        for change in &results {
            writeln!(output, "NOT AS IN {path}: {change}")?;
        }
        if results.is_empty() {
            writeln!(output, "All results are as in {path}.")?;
        }
        Ok(results.is_empty())
    }
}

/// What two reports differ in: circumstances, and results.
fn changes(old: &Value, new: &Value) -> (Vec<String>, Vec<String>) {
    let (mut circumstances, mut results) = (Vec::new(), Vec::new());
    let note = |list: &mut Vec<String>, what: String, old: &Value, new: &Value| {
        if old != new {
            // Tables are too long for a line.
            let change = match old.is_array() || old.is_object() {
                true => what,
                false => format!("{what}: {old}, now {new}"),
            };
            list.push(change);
        }
    };
    for key in ["version", "system"] {
        note(&mut circumstances, key.to_string(), &old[key], &new[key]);
    }
    note(&mut results, "the number of cases".to_string(), &old["cases"], &new["cases"]);
    let list = |object: &Value, key: &str| object[key].as_array().cloned().unwrap_or_default();
    let find = |list: &[Value], key: &str, like: &Value| {
        list.iter().find(|other| other[key] == like[key]).cloned().unwrap_or(Value::Null)
    };
    let (before, after) = (list(old, "devices"), list(new, "devices"));
    for device in &after {
        if find(&before, "name", device).is_null() {
            results.push(format!("{} was not there", device["name"]));
        }
    }
    for device in &before {
        let (name, now) = (&device["name"], find(&after, "name", device));
        if now.is_null() {
            results.push(format!("{name} is not there"));
            continue;
        }
        note(&mut circumstances, format!("what {name} is"), &device["device"], &now["device"]);
        let kernels = list(&now, "kernels");
        for kernel in list(device, "kernels") {
            let now = find(&kernels, "kernel", &kernel);
            let what = |what: &str| format!("{what} of {} on {name}", kernel["kernel"]);
            note(&mut circumstances, what("the texts"), &kernel["crc32"], &now["crc32"]);
            note(&mut results, what("the cases"), &kernel["cases"], &now["cases"]);
        }
        for key in FOUND {
            note(&mut results, format!("the {key} of {name}"), &device[key], &now[key]);
        }
    }
    for (old, new) in list(old, "sabotage").iter().zip(list(new, "sabotage")) {
        for fault in list(old, "faults") {
            let now = find(&list(&new, "faults"), "name", &fault);
            let what = format!(
                "{} in {} on {}, found by case",
                fault["name"], old["place"], old["device"]
            );
            note(&mut results, what, &fault["found_by_case"], &now["found_by_case"]);
        }
    }
    (circumstances, results)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Each change is a circumstance or a result, and only those are.
    #[test]
    fn changes_are_found() {
        let old = json!({
            "version": "1", "system": "a", "cases": 3, "seconds": 1.5,
            "devices": [{
                "name": "d", "device": {"driver": "x"}, "cases": 3, "mismatches": 0, "errors": [],
                "cells": [{"cases": 3}], "given_up": null,
                "kernels": [{"kernel": "k", "cases": {"f32": 3}, "crc32": "0"}],
            }],
            "sabotage": [{
                "device": "d", "place": "shaders",
                "faults": [{"name": "f", "found_by_case": 3}],
            }],
        });
        assert_eq!(changes(&old, &old), (vec![], vec![]));
        let changed = |pointer: &str, value: Value| {
            let mut new = old.clone();
            *new.pointer_mut(pointer).unwrap() = value;
            let (circumstances, results) = changes(&old, &new);
            (circumstances.len(), results.len())
        };
        assert_eq!(changed("/seconds", json!(9)), (0, 0));
        assert_eq!(changed("/version", json!("2")), (1, 0));
        assert_eq!(changed("/devices/0/device/driver", json!("y")), (1, 0));
        assert_eq!(changed("/devices/0/kernels/0/crc32", json!("1")), (1, 0));
        assert_eq!(changed("/cases", json!(4)), (0, 1));
        assert_eq!(changed("/devices/0/mismatches", json!(1)), (0, 1));
        assert_eq!(changed("/devices/0/cells/0/cases", json!(2)), (0, 1));
        assert_eq!(changed("/devices/0/kernels/0/cases/f32", json!(2)), (0, 1));
        assert_eq!(changed("/devices/0/name", json!("e")), (0, 2));
        assert_eq!(changed("/sabotage/0/faults/0/found_by_case", Value::Null), (0, 1));
    }
}
