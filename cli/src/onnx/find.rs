//! Finds nodes in a model, its subgraphs and its functions.

use wgmax::dialect::Attribute;
use wgmax::io::onnx::{Graph, GraphNode, Model};

/// The operators that are implemented here, whatever their attributes are.
const OPERATORS: [&str; 7] =
    ["ArgMax", "ArgMin", "GlobalMaxPool", "MaxPool", "MaxUnpool", "ReduceMax", "ReduceMin"];

/// Operators that are implemented here if their reduction is `max` or `min`.
pub const SCATTERS: [&str; 2] = ["ScatterElements", "ScatterND"];

/// A node of one of these operators.
pub struct Found<'a> {
    pub node: &'a GraphNode,
    pub opset: Option<u32>,
    /// The subgraph that has the node; `None` for the main graph.
    pub place: Option<String>,
}

/// All such nodes: those of the main graph, in its order, then the others.
pub fn nodes(model: &Model) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    inside(&model.graph.nodes, model.opset, None, &mut found);
    for function in &model.functions {
        let name = match function.domain.as_str() {
            "" => function.name.clone(),
            domain => format!("{domain}.{}", function.name),
        };
        inside(&function.nodes, function.opset, Some(format!("function {name}")), &mut found);
    }
    found
}

/// The nodes of a graph or function, then those of the subgraphs of its nodes. The decoder limits
/// how deeply they are nested.
fn inside<'a>(
    nodes: &'a [GraphNode],
    opset: Option<u32>,
    place: Option<String>,
    found: &mut Vec<Found<'a>>,
) {
    let implemented = nodes.iter().filter(|node| is_implemented(node));
    found.extend(implemented.map(|node| Found { node, opset, place: place.clone() }));
    let before = place.map(|place| format!("{place}, ")).unwrap_or_default();
    for node in nodes {
        for (attribute, Graph { nodes, .. }) in &node.subgraphs {
            let place = format!("{before}{attribute} of {}", label(node));
            inside(nodes, opset, Some(place), found);
        }
    }
}

fn is_implemented(node: &GraphNode) -> bool {
    let is_one_of = |operators: &[&str]| operators.contains(&node.operator.as_str());
    let reduction = || node.attributes().ok()?.remove("reduction");
    let has_extremum =
        || matches!(reduction(), Some(Attribute::Text(name)) if name == "max" || name == "min");
    node.domain.is_empty() && (is_one_of(&OPERATORS) || is_one_of(&SCATTERS) && has_extremum())
}

/// Whether every node of the graph can run here.
pub fn is_whole(model: &Model) -> bool {
    let constant = |node: &GraphNode| matches!(node.constant(), Ok(Some(_)));
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
