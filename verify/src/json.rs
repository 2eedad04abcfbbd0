//! The report as JSON.
use serde_json::{Map, Value, json};
use wgmax::plan::{Limits, Shader};
use wgmax::{Comparison, DeviceInfo, Mismatch, Tensor, Tuning};

use crate::Case;
use crate::finding::{Finding, Side};
use crate::judge::Difference;
use crate::report::{Report, VERSION};
use crate::score::{Cell, Score};
use crate::subject::Subject;
use crate::text::values;

/// The report, as [`Recorded`](crate::Recorded) reads it.
pub fn object(report: &Report) -> Value {
    let sweep = &report.sweep;
    json!({
        "good": report.verdict(),
        "command": report.command,
        "version": VERSION,
        "system": report.system,
        "device": report.device,
        "seed": sweep.choice.seed,
        "tuning": sweep.choice.tuning,
        "case": sweep.choice.case,
        "requested": sweep.choice.cases,
        "cycle": sweep.choice.cycle,
        "operators": sweep.choice.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "types": sweep.choice.types.iter().map(|t| t.name()).collect::<Vec<_>>(),
        "cases": sweep.cases,
        "cut_off": sweep.is_cut_off,
        "seconds": sweep.elapsed.as_secs_f64(),
        "refused": report.refused,
        "devices": report.subjects().map(|(subject, score)| self::subject(report, subject, score)).collect::<Vec<_>>(),
        "memory": memory(report),
    })
}

fn subject(report: &Report, subject: &Subject, score: &Score) -> Value {
    let cells = score.cells.iter().map(|((kind, element_type), cell)| {
        let Cell { cases, failures, mismatches, first } = cell;
        json!({
            "operator": kind.name(),
            "type": element_type.name(),
            "cases": cases,
            "mismatches": mismatches,
            "errors": failures,
            "first_mismatches": first,
        })
    });
    let argument = subject.argument.as_deref().unwrap_or(&subject.name);
    json!({
        "name": subject.name,
        "device": device(argument, subject.info(), subject.device.tuning()),
        "against": subject.against,
        "cases": score.cases(),
        "mismatches": score.mismatches(),
        "errors": score.failures.iter().map(|(reason, index)| json!({
            "first_case": index,
            "reason": reason,
        })).collect::<Vec<_>>(),
        "given_up": score.given_up.as_ref().map(|(index, _)| index),
        "cells": cells.collect::<Vec<_>>(),
        "kernels": score.kernels().into_iter().map(|kernel| kernel_json(score, kernel)).collect::<Vec<_>>(),
        "findings": score.findings.iter().map(|finding| self::finding(report, subject, finding)).collect::<Vec<_>>(),
    })
}

/// How many cases launched a kernel, and the CRC-32 of the texts that ran: in alphabetical order,
/// each followed by a zero byte.
fn kernel_json(score: &Score, kernel: &str) -> Value {
    let own = score.launched.iter().filter(|((name, _), _)| *name == kernel);
    let cases: Map<String, Value> =
        own.map(|((_, t), &cases)| (t.to_string(), cases.into())).collect();
    let shaders = score.shaders.iter().filter(|shader| shader.kernel.name() == kernel);
    let mut texts: Vec<String> = shaders.map(Shader::source).collect();
    texts.sort_unstable();
    texts.dedup();
    let mut crc = crc32fast::Hasher::new();
    for text in &texts {
        crc.update(text.as_bytes());
        crc.update(&[0]);
    }
    json!({
        "kernel": kernel,
        "cases": cases,
        "texts": texts.len(),
        "crc32": format!("{:08x}", crc.finalize()),
    })
}

/// A mismatch.
pub fn finding(report: &Report, subject: &Subject, finding: &Finding) -> Value {
    let (kind, element_type) = Case::kind(finding.index);
    json!({
        "case": finding.index,
        "operator": kind.name(),
        "type": element_type.name(),
        "found": difference(&finding.found),
        "smallest": difference(&finding.small),
        "again": finding.again,
        "oracle": finding.oracle.map(|side| match side {
            Side::Expected => "expected",
            Side::Actual => "actual",
            Side::Neither => "neither",
        }),
        "launch": finding.launch.as_ref().map(|launch| json!({
            "shader": launch.shader.label(),
            "number": launch.number,
            "of": launch.count,
        })),
        "pattern": finding.pattern.map(|pattern| json!({
            "name": pattern.name,
            "report": pattern.report,
        })),
        "command": report.again(subject, finding),
    })
}

/// A device, as the command's `--device` names it.
pub fn device(argument: &str, info: &DeviceInfo, tuning: &Tuning) -> Value {
    json!({
        "device": argument,
        "name": info.name,
        "backend": info.backend.name(),
        "driver": info.driver,
        "kind": info.kind.name(),
        "tuning": tuning.name(),
        "target_parallelism": tuning.target_parallelism(),
        "limits": limits(&info.limits),
    })
}

/// The limits of a device.
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

fn difference(difference: &Difference) -> Value {
    let results = difference.results().into_iter().map(|(number, comparison)| {
        json!({
            "result": difference.name(number),
            "type": difference.expected.get(number).map(|tensor| tensor.desc().to_string()),
            "comparison": comparison.map(|comparison| self::comparison(&comparison)),
        })
    });
    json!({
        "what": difference.case.to_string(),
        "inputs": inputs(&difference.case),
        "results": results.collect::<Vec<_>>(),
        "refused": difference.refused,
    })
}

/// The types and shapes of all inputs, and the elements of small ones.
fn inputs(case: &Case) -> Vec<Value> {
    let object = |tensor: &Tensor| {
        let values = (tensor.len() <= 256).then(|| values(tensor, 256));
        json!({ "type": tensor.desc().to_string(), "values": values })
    };
    case.tensors.iter().map(object).collect()
}

fn comparison(comparison: &Comparison) -> Value {
    json!({
        "elements": comparison.total,
        "differing": comparison.differing,
        "first": comparison.first.iter().map(mismatch).collect::<Vec<_>>(),
    })
}

/// An element that differs: `a` is the actual one.
pub fn mismatch(m: &Mismatch) -> Value {
    json!({
        "coordinates": m.coordinates,
        "actual": m.a,
        "expected": m.b,
        "actual_bits": format!("0x{:x}", m.a_bits),
        "expected_bits": format!("0x{:x}", m.b_bits),
        "ulp": m.ulp,
    })
}

fn memory(report: &Report) -> Value {
    let memory = &report.sweep.memory;
    let growth = memory.growth();
    json!({
        "early_bytes": growth.map(|growth| growth.early),
        "late_bytes": growth.map(|growth| growth.late),
        "grown_bytes": growth.map(|growth| growth.bytes()),
        "allowed_bytes": report.max_growth,
        "resident": memory.samples().iter().map(|(at, bytes)| json!({
            "seconds": at.as_secs_f64(),
            "bytes": bytes,
        })).collect::<Vec<_>>(),
    })
}
