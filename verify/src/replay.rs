//! Runs the cases of a report again, and compares the reports.
use std::num::NonZeroU64;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wgmax::{ElementType, Tuning};

use crate::Kind;
use crate::sweep::Choice;

/// A report as JSON, from a file.
pub struct Recorded {
    path: String,
    object: Value,
}

/// The differences from a report.
pub struct Changes {
    /// A line for each change.
    pub lines: Vec<String>,
    /// Whether the results are unchanged; or, if none of the report's devices is available, whether they
    /// are good. A browser's certificate has no device that the command opens.
    pub is_good: bool,
}

/// The findings of a sweep, for each device.
const FOUND: [&str; 6] = ["cases", "mismatches", "errors", "cells", "given_up", "findings"];

fn not_a_report(path: &str) -> String {
    format!("{path}: not a JSON report of wgmax verify")
}

impl Recorded {
    /// A report from the bytes of a file.
    ///
    /// # Errors
    /// If the bytes are not a report, or one that was cut off.
    pub fn new(path: &str, bytes: &[u8]) -> anyhow::Result<Self> {
        let object: Value = serde_json::from_slice(bytes).with_context(|| not_a_report(path))?;
        let recorded = Self { path: path.to_string(), object };
        // A report with invalid fields is refused before a case runs.
        recorded.choice()?;
        let cut = recorded.object["cut_off"] == true;
        ensure!(!cut, "{path}: it was cut off, so it cannot be compared");
        Ok(recorded)
    }

    /// The cases of the report.
    ///
    /// # Errors
    /// If a field has an invalid value.
    pub fn choice(&self) -> anyhow::Result<Choice> {
        self.parse().with_context(|| not_a_report(&self.path))
    }

    fn parse(&self) -> anyhow::Result<Choice> {
        let kind = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
        let element_type = |name: &str| name.parse::<ElementType>().ok();
        let tuning: Option<String> = self.field("tuning")?;
        let cases: NonZeroU64 = self.field("cases")?;
        // Reports of earlier versions do not have it.
        let requested: Option<NonZeroU64> = match self.object.get("requested") {
            Some(_) => self.field("requested")?,
            None => Some(cases),
        };
        let cycle: Option<NonZeroU64> = self.field("cycle")?;
        let devices: Vec<Map<String, Value>> = self.field("devices")?;
        ensure!(!devices.is_empty(), self.wrong("devices"));
        let _: Option<String> = self.field("device")?;
        let _: bool = self.field("cut_off")?;
        // Reports of earlier versions may have injected faults.
        let injected = self.object["sabotage"].as_array().is_some_and(|faults| !faults.is_empty());
        ensure!(!injected, "\"sabotage\" has injected faults, which this version does not run");
        Ok(Choice {
            seed: self.field("seed")?,
            case: self.field("case")?,
            cases: requested.map(NonZeroU64::get),
            done: Some(cases.get()),
            time: None,
            cycle: cycle.map(NonZeroU64::get),
            kinds: self.names("operators", kind)?,
            types: self.names("types", element_type)?,
            tuning: tuning
                .map(|name| Tuning::named(&name).with_context(|| self.wrong("tuning")))
                .transpose()?
                .map(|tuning| tuning.name()),
        })
    }

    /// A field of the report; null if it has none.
    fn field<'a, T: Deserialize<'a>>(&'a self, name: &str) -> anyhow::Result<T> {
        T::deserialize(&self.object[name]).map_err(|error| match self.object.get(name) {
            Some(_) => anyhow::Error::new(error).context(self.wrong(name)),
            None => anyhow::anyhow!("it has no \"{name}\""),
        })
    }

    /// The values of the names in a field.
    fn names<T>(&self, name: &str, of: impl Fn(&str) -> Option<T>) -> anyhow::Result<Vec<T>> {
        let names: Vec<&str> = self.field(name)?;
        names.into_iter().map(|it| of(it).with_context(|| self.wrong(name))).collect()
    }

    fn wrong(&self, name: &str) -> String {
        format!("\"{name}\" is {}", self.object[name])
    }

    /// The requested device.
    pub fn device(&self) -> Option<String> {
        self.object["device"].as_str().map(str::to_string)
    }

    /// The differences between this report and another one.
    pub fn changes(&self, now: &Value) -> Changes {
        let path = &self.path;
        if !share_devices(&self.object, now) {
            let line = format!("Other than in {path}: the devices; none of the report's is here.");
            return Changes { lines: vec![line], is_good: now["good"] == true };
        }
        let (circumstances, results) = changes(&self.object, now);
        let is_good = results.is_empty();
        let mut lines: Vec<String> =
            circumstances.iter().map(|change| format!("Other than in {path}: {change}")).collect();
        lines.extend(results.iter().map(|change| format!("NOT AS IN {path}: {change}")));
        lines.extend(is_good.then(|| format!("All results are as in {path}.")));
        Changes { lines, is_good }
    }
}

/// Whether a device of one report is in the other.
fn share_devices(old: &Value, new: &Value) -> bool {
    let devices = pairs(&old["devices"], &new["devices"], "name");
    devices.iter().any(|(_, before, after)| !before.is_null() && !after.is_null())
}

/// How two reports differ: in circumstances, and in results.
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
    for (name, before, after) in pairs(&old["devices"], &new["devices"], "name") {
        if before.is_null() || after.is_null() {
            let whose = if after.is_null() { "only the report has it" } else { "it is new" };
            circumstances.push(format!("the device {name}: {whose}"));
            // Of a new device, only what is wrong is a result.
            let none = |found: &Value| found.is_null() || *found == 0 || *found == json!([]);
            for key in ["mismatches", "errors", "findings"] {
                if !none(&after[key]) {
                    results.push(format!("the {key} of {name}, which is new"));
                }
            }
            continue;
        }
        note(&mut circumstances, format!("the device {name}"), &before["device"], &after["device"]);
        for (kernel, before, after) in pairs(&before["kernels"], &after["kernels"], "kernel") {
            let what = |what: &str| format!("{what} of {kernel} on {name}");
            note(&mut circumstances, what("the texts"), &before["crc32"], &after["crc32"]);
            note(&mut results, what("the cases"), &before["cases"], &after["cases"]);
        }
        for key in FOUND {
            note(&mut results, format!("the {key} of {name}"), &before[key], &after[key]);
        }
    }
    for key in ["refused", "cut_off"] {
        note(&mut results, format!("the field {key}"), &old[key], &new[key]);
    }
    (circumstances, results)
}

/// The objects of two lists of the same name, matched by a key, with the name. An object that one list
/// lacks is null.
fn pairs<'a>(old: &'a Value, new: &'a Value, key: &str) -> Vec<(String, &'a Value, &'a Value)> {
    let key = |object: &Value| object[key].as_str().unwrap_or_default().to_string();
    let list = |value: &'a Value| value.as_array().map_or(&[][..], Vec::as_slice);
    let (old, new) = (list(old), list(new));
    let find = |list: &'a [Value], name: &str| {
        list.iter().find(|object| key(object) == name).unwrap_or(&Value::Null)
    };
    let mut names: Vec<String> = old.iter().map(key).collect();
    names.extend(new.iter().map(key).filter(|name| find(old, name).is_null()));
    names.into_iter().map(|name| (name.clone(), find(old, &name), find(new, &name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of cases depends on how many were requested, not on how many ran in the time.
    #[test]
    fn the_cases_of_a_run_that_ended_by_time_are_run_again() {
        let of = |requested: Option<u64>, done: u64| {
            let object = json!({
                "seed": 5, "tuning": null, "case": null, "requested": requested, "cycle": null,
                "operators": [], "types": [], "cases": done, "cut_off": false, "device": null,
                "devices": [{"name": "d"}],
            });
            let recorded = Recorded::new("r.json", object.to_string().as_bytes()).unwrap();
            let again: Vec<u64> = recorded.choice().unwrap().indices().collect();
            let first = Choice { seed: 5, cases: requested, ..Choice::default() };
            let first: Vec<u64> = first.indices().take(done as usize).collect();
            assert_eq!(again, first, "{requested:?}, {done}");
            first
        };
        let by_time = of(None, 700);
        assert_ne!(by_time, of(Some(700), 700));
        // It has cases of the whole window.
        assert!(by_time.iter().any(|&index| index >= 700));
        of(Some(3000), 2500);
        of(None, 4001);
    }

    /// Each change is a circumstance or a result, and only those are.
    #[test]
    fn changes_are_found() {
        let old = json!({
            "version": "1", "system": "a", "cases": 3, "seconds": 1.5, "refused": [], "cut_off": false,
            "devices": [{
                "name": "d", "device": {"driver": "x"}, "cases": 3, "mismatches": 0, "errors": [],
                "cells": [{"cases": 3}], "given_up": null,
                "kernels": [{"kernel": "k", "cases": {"f32": 3}, "crc32": "0"}],
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
        assert_eq!(changed("/refused", json!(["no"])), (0, 1));
        assert!(share_devices(&old, &old));
        assert!(!share_devices(&old, &json!({"devices": [{"name": "e"}]})));
        // A device that only one report has, and what is wrong on a new one.
        assert_eq!(changed("/devices/0/name", json!("e")), (2, 0));
        let mut new = old.clone();
        let mut more = old["devices"][0].clone();
        (more["name"], more["mismatches"]) = (json!("e"), json!(2));
        new["devices"].as_array_mut().unwrap().push(more);
        assert_eq!(changes(&old, &new).1, ["the mismatches of e, which is new"]);
        // A kernel that was absent.
        let more = json!([{"kernel": "k", "cases": {"f32": 3}, "crc32": "0"},
            {"kernel": "l", "cases": {"f32": 1}, "crc32": "2"}]);
        assert_eq!(changed("/devices/0/kernels", more), (1, 1));
    }
}
