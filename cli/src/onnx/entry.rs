//! The nodes of a report: what is known about each, and its measurement.

use std::time::Duration;

use wgmax::dialect::Attribute;
use wgmax::io::onnx::GraphNode;
use wgmax::operator::Operator;
use wgmax::plan::Plan;
use wgmax::{Comparison, Device, TensorDesc};

/// A node that was found, and its state.
pub struct Entry<'a> {
    pub node: &'a GraphNode,
    pub opset: Option<u32>,
    /// The subgraph that has the node; `None` for the main graph.
    pub place: Option<String>,
    /// Names and values of the node's attributes, and of inputs that are parameters.
    pub attributes: Vec<(String, Attribute)>,
    /// Further remarks for the report.
    pub remarks: Vec<String>,
    pub state: State,
}

/// Whether a node can run.
pub enum State {
    /// Something is unknown; the reason.
    Blocked(String),
    /// The node is not valid; the reason.
    Refused(String),
    Ready(Box<Ready>),
}

/// A node that can run.
pub struct Ready {
    pub operator: Operator,
    /// Types and shapes of the first inputs of the node, which the operator takes.
    pub inputs: Vec<TensorDesc>,
    /// Names, types and shapes. The name of an unused output is empty.
    pub outputs: Vec<(String, TensorDesc)>,
    /// Set when the node has run: the measurement, or the error.
    pub trial: Option<Result<Trial, String>>,
}

impl State {
    /// Why the node cannot run.
    pub fn reason(&self) -> String {
        match self {
            Self::Blocked(reason) | Self::Refused(reason) => reason.clone(),
            Self::Ready(_) => String::new(),
        }
    }
}

impl Ready {
    /// The plan of the node for a device.
    pub fn plan(&self, device: &Device) -> wgmax::Result<Plan> {
        device.plan(&self.operator, self.inputs.iter().collect::<Vec<_>>())
    }
}

impl Entry<'_> {
    /// The names of the tensors that the node takes, if it can run.
    pub fn tensors(&self) -> &[String] {
        match &self.state {
            State::Ready(ready) => &self.node.inputs[..ready.inputs.len()],
            _ => &[],
        }
    }

    /// Whether the node cannot run because something is unknown.
    pub fn is_blocked(&self) -> bool {
        matches!(self.state, State::Blocked(_))
    }

    /// The measurement, if the node ran to its end.
    pub fn trial(&self) -> Option<&Trial> {
        let State::Ready(ready) = &self.state else { return None };
        ready.trial.as_ref()?.as_ref().ok()
    }

    /// Whether the node ran to its end.
    pub fn has_run(&self) -> bool {
        self.trial().is_some()
    }

    /// Whether the node is not valid, failed, or has results that differ.
    pub fn is_bad(&self) -> bool {
        let failed = match &self.state {
            State::Blocked(_) => false,
            State::Refused(_) => true,
            State::Ready(ready) => matches!(ready.trial, Some(Err(_))),
        };
        failed || self.trial().is_some_and(|trial| trial.differing() > 0)
    }
}

/// The source of a node's inputs; if there are several, the last in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// From a file or from an earlier node.
    Tensor,
    /// From the model.
    Model,
    Random,
}

/// The measurement of a node.
pub struct Trial {
    pub origin: Origin,
    /// Median times of a run.
    pub cpu: Duration,
    pub device: Option<Duration>,
    /// The device's results compared with the CPU's; none if only the CPU ran.
    pub comparisons: Vec<Comparison>,
}

impl Trial {
    /// The number of elements that differ.
    pub fn differing(&self) -> usize {
        self.comparisons.iter().map(|report| report.differing).sum()
    }
}
