//! ONNX's node tests: a `model.onnx` of one node, and folders with its inputs and outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Case, DATA_SET, Expect, MODEL, bad, entries, folder_name};
use crate::base::error::Result;
use crate::io::{onnx, unsupported};
use crate::tensor::Tensor;

pub(super) fn load(folder: &Path) -> Result<Vec<Case>> {
    let path = folder.join(MODEL);
    let model = onnx::read_test_model(&path)?;
    let sets = data_sets(folder)?;
    if sets.is_empty() {
        return Err(bad(&path, format_args!("there is no {DATA_SET}0 next to it")));
    }
    let several = sets.len() > 1;
    let load = |set: PathBuf| {
        let mut id = folder_name(folder);
        if several {
            id = format!("{id}/{}", folder_name(&set));
        }
        load_set(&path, &model, &set, id)
    };
    sets.into_iter().map(load).collect()
}

/// The data sets next to a model, by number.
fn data_sets(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut sets = Vec::new();
    for entry in entries(folder)? {
        let path = entry.path();
        if let Some(number) =
            path.file_name().and_then(|name| name.to_str()?.strip_prefix(DATA_SET))
            && path.is_dir()
        {
            // Folders without a number come last, by name.
            sets.push((number.parse::<u64>().unwrap_or(u64::MAX), path));
        }
    }
    sets.sort_unstable();
    Ok(sets.into_iter().map(|(_, path)| path).collect())
}

fn load_set(path: &Path, model: &onnx::TestModel, set: &Path, id: String) -> Result<Case> {
    // There are files for all inputs of the graph, or only for those without an initializer.
    let inputs = numbered(set, "input")?;
    let all: Vec<&String> = model.graph_inputs.iter().collect();
    let without_default: Vec<&String> =
        all.iter().copied().filter(|name| !model.initializers.contains_key(*name)).collect();
    let names = [all, without_default].into_iter().find(|names| names.len() == inputs.len());
    let Some(names) = names else {
        let (files, inputs) = (inputs.len(), model.graph_inputs.len());
        let reason = format!("{files} input files for a graph of {inputs} inputs");
        return Err(bad(set, reason));
    };
    let mut values: BTreeMap<&String, Tensor> =
        model.initializers.iter().map(|(name, tensor)| (name, tensor.clone())).collect();
    for (name, file) in names.into_iter().zip(&inputs) {
        values.insert(name, onnx::read_tensor(file)?);
    }
    // An absent input has an empty name; each other one has a value.
    let inputs = model.input_names.iter().map(|name| values.get(name).cloned()).collect();

    let files = numbered(set, "output")?;
    let names = &model.graph_outputs;
    if files.len() != names.len() || names.is_empty() {
        let (files, outputs) = (files.len(), names.len());
        let reason = format!("{files} output files for a graph of {outputs} outputs");
        return Err(bad(set, reason));
    }
    let file_of: BTreeMap<&String, &PathBuf> = names.iter().zip(&files).collect();
    let leading: Vec<&PathBuf> =
        model.output_names.iter().map_while(|name| file_of.get(name).copied()).collect();
    if leading.len() != files.len() {
        let reason = "the graph leaves out an output before the last one that it has";
        return Err(unsupported(path.display(), reason));
    }
    let read = leading.into_iter().map(onnx::read_tensor);
    let expect = Expect::Outputs(read.collect::<Result<_>>()?);
    Ok(Case { id, node: model.node.clone(), inputs, expect })
}

/// The files `{what}_0.pb`, `{what}_1.pb`, ... of a data set. The numbers must have no gap.
fn numbered(set: &Path, what: &str) -> Result<Vec<PathBuf>> {
    let mut numbers = BTreeSet::new();
    for entry in entries(set)? {
        let name = entry.file_name();
        let number = (name.to_str())
            .and_then(|name| name.strip_prefix(what)?.strip_prefix('_')?.strip_suffix(".pb"));
        if let Some(number) = number {
            let parsed: Option<u64> = number.parse().ok();
            // Other spellings such as `00` would be another file of the same number.
            let Some(parsed) = parsed.filter(|n| n.to_string() == number) else {
                let reason = format!("{what}_{number}.pb is not numbered as {what}_0.pb");
                return Err(bad(set, reason));
            };
            numbers.insert(parsed);
        }
    }
    if let Some((missing, _)) = (0..).zip(&numbers).find(|(i, n)| i != *n) {
        return Err(bad(set, format_args!("{what}_{missing}.pb is missing")));
    }
    Ok(numbers.iter().map(|n| set.join(format!("{what}_{n}.pb"))).collect())
}
