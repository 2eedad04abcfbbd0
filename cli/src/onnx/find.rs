//! Finds nodes in a model, its subgraphs and its functions.

use wgmax::io::onnx::{Graph, GraphNode, Model};

/// The operators that are implemented here.
const OPERATORS: [&str; 7] =
    ["ArgMax", "ArgMin", "GlobalMaxPool", "MaxPool", "MaxUnpool", "ReduceMax", "ReduceMin"];

/// A node of one of these operators.
pub struct Found<'a> {
    pub node: &'a GraphNode,
    pub opset: Option<u32>,
    /// Where the node is, unless it is in the main graph.
    pub place: Option<String>,
}

/// All such nodes: those of the main graph, in its order, then the others.
pub fn nodes(model: &Model) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let graph = &model.graph;
    for node in graph.nodes.iter().filter(|node| is_implemented(node)) {
        found.push(Found { node, opset: model.opset, place: None });
    }
    in_subgraphs(&graph.nodes, model.opset, "", &mut found);
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

/// The nodes of a subgraph or function, and of its subgraphs.
fn inside<'a>(nodes: &'a [GraphNode], opset: Option<u32>, place: &str, found: &mut Vec<Found<'a>>) {
    for node in nodes.iter().filter(|node| is_implemented(node)) {
        found.push(Found { node, opset, place: Some(place.to_string()) });
    }
    in_subgraphs(nodes, opset, place, found);
}

/// The nodes in the subgraphs of nodes. The decoder limits how deep they are nested.
fn in_subgraphs<'a>(
    nodes: &'a [GraphNode],
    opset: Option<u32>,
    place: &str,
    found: &mut Vec<Found<'a>>,
) {
    for node in nodes {
        for (attribute, Graph { nodes, .. }) in &node.subgraphs {
            let separator = if place.is_empty() { "" } else { ", " };
            let name = label(node);
            let place = format!("{place}{separator}{attribute} of {name}");
            inside(nodes, opset, &place, found);
        }
    }
}

fn is_implemented(node: &GraphNode) -> bool {
    node.domain.is_empty() && OPERATORS.contains(&node.operator.as_str())
}

/// Whether every node of the graph can run here.
pub fn is_whole(model: &Model) -> bool {
    let constant =
        |node: &GraphNode| matches!(node.constant(), Ok(Some(_))) && node.operator == "Constant";
    model.graph.nodes.iter().all(|node| is_implemented(node) || constant(node))
        && model.graph.nodes.iter().any(is_implemented)
}

/// The name of a node, or its operator and output if it has no name.
pub fn label(node: &GraphNode) -> String {
    match (node.name.as_str(), node.outputs.first()) {
        ("", Some(output)) => format!("{} of {output:?}", node.operator),
        ("", None) => node.operator.clone(),
        (name, _) => name.to_string(),
    }
}
