//! One item through wonnx. A session uploads its inputs and reads its results back in each run,
//! so the operator's own time is that of three more such nodes, divided by three.

#[path = "../../common/mod.rs"]
mod common;

use std::collections::HashMap;

use anyhow::{Context, bail};
use common::Job;
use wonnx::Session;
use wonnx::onnx::{self, TensorProto_DataType};
use wonnx::utils::{
    InputTensor, OutputTensor, attribute, graph, model_with_opset, node, tensor_of_type,
};

const MORE: usize = 3;

/// Elements as wonnx takes them.
enum Elements {
    F32(Vec<f32>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
}

impl Elements {
    fn new(job: &Job) -> anyhow::Result<Self> {
        fn cut<const N: usize, T>(bytes: &[u8], from: fn([u8; N]) -> T) -> Vec<T> {
            bytes.as_chunks::<N>().0.iter().map(|&chunk| from(chunk)).collect()
        }
        let bytes = job.input(0)?;
        Ok(match job.dtype.as_str() {
            "f32" => Self::F32(cut(&bytes, f32::from_le_bytes)),
            "i32" => Self::I32(cut(&bytes, i32::from_le_bytes)),
            "i64" => Self::I64(cut(&bytes, i64::from_le_bytes)),
            "u8" => Self::U8(bytes),
            other => bail!("no {other}"),
        })
    }

    fn kind(&self) -> TensorProto_DataType {
        match self {
            Self::F32(_) => TensorProto_DataType::FLOAT,
            Self::I32(_) => TensorProto_DataType::INT32,
            Self::I64(_) => TensorProto_DataType::INT64,
            Self::U8(_) => TensorProto_DataType::UINT8,
        }
    }

    fn input(&self) -> InputTensor<'_> {
        match self {
            Self::F32(x) => x.as_slice().into(),
            Self::I32(x) => x.as_slice().into(),
            Self::I64(x) => x.as_slice().into(),
            Self::U8(x) => InputTensor::U8(x.as_slice().into()),
        }
    }
}

fn main() -> anyhow::Result<()> {
    let job = Job::from_arguments()?;
    let elements = Elements::new(&job)?;
    let inputs = HashMap::from([("x".to_string(), elements.input())]);
    let one = session(&job, 1, elements.kind())?;
    let run = |session: &Session| {
        pollster::block_on(session.run(&inputs)).map_err(|error| anyhow::anyhow!("{error}"))
    };
    let answer = bytes(run(&one)?.remove("y0").context("no y0")?);
    let many = session(&job, 1 + MORE, elements.kind())?;
    let mut shortest = [f64::INFINITY; 2];
    let mut medians = [0.0; 2];
    for (i, session) in [&one, &many].into_iter().enumerate() {
        let mut times = job.time(|_| run(session).map(drop))?;
        times.sort_by(f64::total_cmp);
        (shortest[i], medians[i]) = (times[0], times[times.len() / 2]);
    }
    let each = |[one, many]: [f64; 2]| ((many - one) / MORE as f64).max(1e-9);
    job.finish("a node more", &answer, &[each(shortest), each(medians)])
}

fn session(job: &Job, nodes: usize, kind: TensorProto_DataType) -> anyhow::Result<Session> {
    let longs = |sizes: &[usize]| -> Vec<i64> { sizes.iter().map(|&size| size as i64).collect() };
    let list = |name: &str| attribute(name, longs(&job.sizes(name)));
    let result: Vec<usize> = result_shape(job);
    let mut outputs = Vec::new();
    let mut all: Vec<onnx::NodeProto> = Vec::new();
    for i in 0..nodes {
        let (y, name) = (format!("y{i}"), format!("node{i}"));
        outputs.push(tensor_of_type(&y, &longs(&result), kind));
        all.push(match job.operator() {
            "ReduceMax" => {
                let attributes = vec![list("axes"), attribute("keepdims", 0)];
                node(vec!["x"], vec![&y], &name, "ReduceMax", attributes)
            }
            "MaxPool" if !job.channels_last() && !job.indices() => {
                let kernel = attribute("kernel_shape", longs(&job.sizes("kernel")));
                let attributes = vec![kernel, list("strides"), list("pads"), list("dilations")];
                node(vec!["x"], vec![&y], &name, "MaxPool", attributes)
            }
            other => bail!("no such {other}"),
        });
    }
    let input = tensor_of_type("x", &longs(&job.shape), kind);
    let model = model_with_opset(graph(vec![input], outputs, vec![], vec![], all), 13);
    pollster::block_on(Session::from_model(model)).map_err(|error| anyhow::anyhow!("{error}"))
}

fn result_shape(job: &Job) -> Vec<usize> {
    if job.operator() == "ReduceMax" {
        let axes = job.sizes("axes");
        let kept = (0..job.shape.len()).filter(|axis| !axes.contains(axis));
        let shape: Vec<usize> = kept.map(|axis| job.shape[axis]).collect();
        return if shape.is_empty() { vec![1] } else { shape };
    }
    let mut shape = job.shape.clone();
    let [kernel, strides, pads, dilations] =
        ["kernel", "strides", "pads", "dilations"].map(|name| job.sizes(name));
    for (i, k) in kernel.iter().enumerate() {
        let padded = shape[2 + i] + pads[i] + pads[i + kernel.len()];
        shape[2 + i] = (padded - (dilations[i] * (k - 1) + 1)) / strides[i] + 1;
    }
    shape
}

fn bytes(tensor: OutputTensor) -> Vec<u8> {
    match tensor {
        OutputTensor::F32(x) => x.into_iter().flat_map(f32::to_le_bytes).collect(),
        OutputTensor::I32(x) => x.into_iter().flat_map(i32::to_le_bytes).collect(),
        OutputTensor::I64(x) => x.into_iter().flat_map(i64::to_le_bytes).collect(),
        OutputTensor::U8(x) => x,
    }
}
