//! The costs of a call that do not depend on the number of elements.

use serde_json::{Value, json};
use wgmax::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::{Device, ElementType, Tensor, TensorDesc};

use super::times::{Times, seconds};
use crate::interrupt;

/// The number of elements of a small call.
pub const SMALL: usize = 1000;

pub struct Cost {
    pub name: String,
    pub times: Times,
}

impl Cost {
    pub fn new(name: impl Into<String>, times: Times) -> Self {
        Self { name: name.into(), times }
    }

    pub fn json(&self) -> Value {
        json!({ "cost": self.name, "min_s": self.times.min(), "median_s": self.times.median() })
    }
}

/// The operators with small inputs.
pub fn small() -> anyhow::Result<Vec<(&'static str, Operator, Vec<Tensor>)>> {
    let elements: Vec<f32> = (0..SMALL).map(|i| (i * 7919 % SMALL) as f32).collect();
    let ids: Vec<i32> = (0..SMALL).map(|i| (i / 10) as i32).collect();
    let tensor = |shape: &[usize]| Tensor::from_slice(shape, &elements);
    Ok(vec![
        ("ReduceMax f32[1000]", ReduceMax::new().all_axes().into(), vec![tensor(&[SMALL])?]),
        (
            "MaxPool k3 f32[1, 1, 1000]",
            MaxPool::new([3]).strides([2]).pads([1], [1]).into(),
            vec![tensor(&[1, 1, SMALL])?],
        ),
        (
            "SegmentMax f32[1000], 100 segments",
            SegmentMax::sorted().num_segments(100).into(),
            vec![tensor(&[SMALL])?, Tensor::from_slice([SMALL], &ids)?],
        ),
    ])
}

/// Planning for tensors as large as those of the items.
pub fn planning(device: &Device) -> anyhow::Result<Vec<Cost>> {
    let f32 = |shape: &[usize]| TensorDesc::new(ElementType::F32, shape);
    let pool = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1], [1, 1]);
    let cases: [(&str, Operator, Vec<TensorDesc>); 3] = [
        ("ReduceMax", ReduceMax::new().axes([1]).into(), vec![f32(&[4096, 4096])?]),
        ("MaxPool", pool.into(), vec![f32(&[16, 64, 112, 112])?]),
        (
            "SegmentMax",
            SegmentMax::sorted().num_segments(4000).into(),
            vec![f32(&[4_000_000])?, TensorDesc::new(ElementType::I32, [4_000_000])?],
        ),
    ];
    let mut costs = Vec::new();
    for (name, operator, inputs) in cases {
        let inputs: Vec<&TensorDesc> = inputs.iter().collect();
        let times = repeat(|| Ok(device.plan(&operator, &inputs).map(drop)?))?;
        costs.push(Cost::new(format!("plan {name}"), times));
    }
    Ok(costs)
}

/// Seconds of a call on the host, measured in batches because the clock takes time as well.
pub fn repeat(mut f: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Times> {
    const BATCH: usize = 20;
    let mut times = Times::default();
    for round in 0..60 {
        if interrupt::requested() {
            break;
        }
        let (time, result) = seconds(|| (0..BATCH).try_for_each(|_| f()));
        result?;
        if round >= 10 {
            times.push(time / BATCH as f64);
        }
    }
    Ok(times)
}
