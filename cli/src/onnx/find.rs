//! Looking through a model, its subgraphs and its functions.

use wgmax::io::onnx::{Graph, GraphNode, Model};

/// What is implemented here.
const OPERATORS: [&str; 3] = ["GlobalMaxPool", "MaxPool", "ReduceMax"];

/// A node that is implemented here.
pub struct Found<'a> {
    pub node: &'a GraphNode,
    pub opset: Option<u32>,
    /// Where it is, if not in the graph itself.
    pub place: Option<String>,
}

/// All of them, those of the graph first, in its order.
pub fn nodes(model: &Model) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let graph = &model.graph;
    for node in graph.nodes.iter().filter(|node| is_ours(node)) {
        found.push(Found { node, opset: model.opset, place: None });
    }
    below(&graph.nodes, model.opset, "", &mut found);
    for function in &model.functions {
        let name = match function.domain.as_str() {
            "" => function.name.clone(),
            domain => format!("{domain}.{}", function.name),
        };
        let place = format!("function {name}");
        inside(&function.nodes, function.opset, &place, &mut found);
    }
    found
}

/// The nodes of a subgraph or function, and of what is below.
fn inside<'a>(nodes: &'a [GraphNode], opset: Option<u32>, place: &str, found: &mut Vec<Found<'a>>) {
    for node in nodes.iter().filter(|node| is_ours(node)) {
        found.push(Found { node, opset, place: Some(place.to_string()) });
    }
    below(nodes, opset, place, found);
}

/// The subgraphs of nodes. They are nested no deeper than the decoder allows.
fn below<'a>(nodes: &'a [GraphNode], opset: Option<u32>, place: &str, found: &mut Vec<Found<'a>>) {
    for node in nodes {
        for (attribute, Graph { nodes, .. }) in &node.subgraphs {
            let separator = if place.is_empty() { "" } else { ", " };
            let name = label(node);
            let place = format!("{place}{separator}{attribute} of {name}");
            inside(nodes, opset, &place, found);
        }
    }
}

fn is_ours(node: &GraphNode) -> bool {
    node.domain.is_empty() && OPERATORS.contains(&node.operator.as_str())
}

/// Whether every node of the graph runs here, so that the model runs whole.
pub fn is_whole(model: &Model) -> bool {
    let constant =
        |node: &GraphNode| matches!(node.constant(), Ok(Some(_))) && node.operator == "Constant";
    model.graph.nodes.iter().all(|node| is_ours(node) || constant(node))
        && model.graph.nodes.iter().any(is_ours)
}

/// What a node is called, or what it makes.
pub fn label(node: &GraphNode) -> String {
    match (node.name.as_str(), node.outputs.first()) {
        ("", Some(output)) => format!("{} of {output:?}", node.operator),
        ("", None) => node.operator.clone(),
        (name, _) => name.to_string(),
    }
}
