//! Turns nodes into operators, as far as the model and the options determine them.

use wgmax::dialect::{Attribute, Input};
use wgmax::io::onnx::Model;
use wgmax::{Tensor, TensorDesc};

use super::entry::{Entry, Ready, State};
use super::find::{Found, SCATTERS, label};
use super::infer::infer;
use super::values::Values;

/// Prepares all nodes in order, so that the outputs of a node are known to the next ones. Shapes
/// are inferred through the nodes in between.
pub fn all<'a>(model: &Model, found: Vec<Found<'a>>, values: &mut Values<'_>) -> Vec<Entry<'a>> {
    let mut entries = Vec::with_capacity(found.len());
    let mut others = model.graph.nodes.iter();
    for Found { node, opset, place } in found {
        if place.is_none() {
            let before = others.by_ref().take_while(|&other| !std::ptr::eq(other, node));
            before.for_each(|other| infer(other, model.opset, values));
        }
        // The attributes are shown even if the node cannot run.
        let attributes = node.attributes().unwrap_or_default().into_iter().collect();
        let state = State::Blocked(String::new());
        let mut entry = Entry { node, opset, place, attributes, remarks: Vec::new(), state };
        entry.state = match &entry.place {
            Some(place) => State::Blocked(format!("it is in {place}, which is not run")),
            None => match ready(model, &mut entry, values) {
                Ok(ready) => State::Ready(Box::new(ready)),
                Err(state) => {
                    let reason = match &state {
                        State::Refused(reason) => format!("{}: {reason}", label(node)),
                        state => state.reason(),
                    };
                    let outputs = node.outputs.iter().cloned();
                    values.unknown.extend(outputs.map(|name| (name, reason.clone())));
                    state
                }
            },
        };
        entries.push(entry);
    }
    entries
}

fn ready(model: &Model, entry: &mut Entry<'_>, values: &mut Values<'_>) -> Result<Ready, State> {
    let opset = entry.opset.ok_or_else(|| {
        State::Refused(format!("{}: no opset of ONNX's own domain is imported", model.name))
    })?;
    let node = entry.node.node(opset).map_err(refused)?;
    // How many inputs are tensors. The others are parameters.
    let tensors = match entry.node.operator.as_str() {
        "MaxUnpool" => 2,
        operator if SCATTERS.contains(&operator) => 3,
        _ => 1,
    };
    let mut descs = Vec::new();
    let mut parameters = Vec::new();
    for (at, name) in entry.node.inputs.iter().enumerate() {
        let is_given = !name.is_empty();
        if at < tensors {
            descs.push(is_given.then(|| values.desc(name)).transpose()?);
            continue;
        }
        let tensor = is_given.then(|| parameter(name, values)).transpose()?;
        if let Some(Ok(numbers)) = tensor.as_ref().map(Tensor::as_slice::<i64>) {
            let name = if tensors == 2 { "output_shape" } else { "axes" };
            entry.attributes.push((name.to_string(), Attribute::Ints(numbers.to_vec())));
        }
        parameters.push(tensor);
    }
    let tensors = descs.iter().map(|desc| desc.as_ref().map(Input::Desc));
    let parameters = parameters.iter().map(|tensor| tensor.as_ref().map(Input::Tensor));
    let known: Vec<_> = tensors.chain(parameters).collect();
    let operator = node.operator_for(&known, None).map_err(refused)?;
    let inputs = known[..operator.input_count()].iter().flatten();
    let inputs: Vec<TensorDesc> = inputs.map(|input| input.desc().clone()).collect();
    let descs = operator.infer(inputs.iter().collect::<Vec<_>>()).map_err(refused)?;
    let mut outputs = Vec::with_capacity(descs.len());
    for (at, desc) in descs.into_iter().enumerate() {
        let name = entry.node.outputs.get(at).cloned().unwrap_or_default();
        if !name.is_empty() {
            entry.remarks.extend(values.set_inferred(&name, &desc));
        }
        outputs.push((name, desc));
    }
    Ok(Ready { operator, inputs, outputs, trial: None })
}

fn refused(error: wgmax::Error) -> State {
    State::Refused(error.to_string())
}

/// The elements of an input that holds parameters.
fn parameter(name: &str, values: &Values<'_>) -> Result<Tensor, State> {
    let constant = match values.tensor(name) {
        Some(tensor) => Some(tensor.clone()),
        None => values.constant(name).map_err(refused)?,
    };
    constant.ok_or_else(|| {
        State::Blocked(format!(
            "the elements of {name:?} are not in the model; give --input {name}=FILE"
        ))
    })
}
