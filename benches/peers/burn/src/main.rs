//! One item through burn's wgpu backend: tensors on the device, the time from the call until
//! the device is done.

#[path = "../../common/mod.rs"]
mod common;

use anyhow::{Context, bail};
use burn::tensor::module::{max_pool1d, max_pool2d, max_pool2d_with_indices};
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{DType, Device, DeviceKind, IndexingUpdateOp, Int, Tensor, TensorData};
use common::Job;

struct Peer {
    job: Job,
    device: Device,
}

fn main() -> anyhow::Result<()> {
    let peer =
        Peer { job: Job::from_arguments()?, device: Device::wgpu(DeviceKind::DefaultDevice) };
    match (peer.job.operator(), peer.job.shape.len()) {
        ("ReduceMax", 1) => peer.reduce::<1>(),
        ("ReduceMax", 2) => peer.reduce::<2>(),
        ("ReduceMax", 3) => peer.reduce::<3>(),
        ("ReduceMax", 4) => peer.reduce::<4>(),
        ("MaxPool", _) => peer.pool(),
        ("SegmentMax", 1) => peer.segments::<1>(),
        ("SegmentMax", 2) => peer.segments::<2>(),
        (operator, rank) => bail!("no {operator} of rank {rank}"),
    }
}

impl Peer {
    fn dtype(&self) -> anyhow::Result<DType> {
        Ok(match self.job.dtype.as_str() {
            "f16" => DType::F16,
            "f32" => DType::F32,
            "f64" => DType::F64,
            "i8" => DType::I8,
            "u8" => DType::U8,
            "i32" => DType::I32,
            "i64" => DType::I64,
            other => bail!("no {other}"),
        })
    }

    fn data(&self) -> anyhow::Result<TensorData> {
        let bytes = self.job.input(0)?;
        Ok(TensorData::from_bytes_vec(bytes, self.job.shape.clone(), self.dtype()?))
    }

    fn floats<const D: usize>(&self) -> anyhow::Result<Vec<Tensor<D>>> {
        let (data, dtype) = (self.data()?, self.dtype()?);
        let tensor = |_| Tensor::from_data(data.clone(), (&self.device, dtype));
        Ok((0..self.job.copies).map(tensor).collect())
    }

    fn wait(&self) -> anyhow::Result<()> {
        self.device.sync().map_err(|error| anyhow::anyhow!("{error:?}"))
    }

    /// Times `f` for each copy, and writes down its answer for the first.
    fn measure<T>(
        &self,
        how: &str,
        f: impl Fn(usize) -> T,
        answer: impl Fn(T) -> TensorData,
    ) -> anyhow::Result<()> {
        let bytes = answer(f(0)).as_bytes().to_vec();
        let times = self.job.time(|copy| {
            let _result = f(copy);
            self.wait()
        })?;
        self.job.finish(how, &bytes, &times)
    }

    fn reduce<const D: usize>(&self) -> anyhow::Result<()> {
        let axes = self.job.sizes("axes");
        if self.job.dtype.starts_with('f') {
            let x = self.floats::<D>()?;
            return match axes[..] {
                _ if axes.len() == D => {
                    self.measure("max", |i| x[i].clone().max(), |y| y.into_data())
                }
                [axis] => {
                    self.measure("max_dim", |i| x[i].clone().max_dim(axis), |y| y.into_data())
                }
                _ => self.measure("max_dims", |i| x[i].clone().max_dims(&axes), |y| y.into_data()),
            };
        }
        let (data, dtype) = (self.data()?, self.dtype()?);
        let tensor = |_| Tensor::<D, Int>::from_data(data.clone(), (&self.device, dtype));
        let x: Vec<_> = (0..self.job.copies).map(tensor).collect();
        let [axis] = axes[..] else { bail!("no integers along several axes") };
        self.measure("max_dim", |i| x[i].clone().max_dim(axis), |y| y.into_data())
    }

    fn pool(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.job.dtype.starts_with('f'), "max_pool is of floats only");
        let two = |name: &str| -> anyhow::Result<[usize; 2]> {
            self.job.sizes(name)[..].first_chunk().copied().with_context(|| name.to_string())
        };
        match self.job.sizes("kernel").len() {
            1 => {
                let one = |name: &str| [self.job.sizes(name)[0]];
                let options = MaxPoolOptions::new(one("kernel"))
                    .with_stride(one("strides"))
                    .with_padding(one("pads"))
                    .with_dilation(one("dilations"));
                let x = self.floats::<3>()?;
                let pool = |i: usize| max_pool1d(x[i].clone(), options.clone());
                self.measure("max_pool1d", pool, |y| y.into_data())
            }
            2 => {
                let options = MaxPoolOptions::new(two("kernel")?)
                    .with_stride(two("strides")?)
                    .with_padding(two("pads")?)
                    .with_dilation(two("dilations")?);
                let x = self.floats::<4>()?;
                if self.job.indices() {
                    let pool = |i: usize| max_pool2d_with_indices(x[i].clone(), options.clone());
                    return self.measure("max_pool2d_with_indices", pool, |y| y.0.into_data());
                }
                if self.job.channels_last() {
                    let pool = |i: usize| {
                        let x = x[i].clone().permute([0, 3, 1, 2]);
                        max_pool2d(x, options.clone()).permute([0, 2, 3, 1])
                    };
                    return self.measure("max_pool2d, permuted", pool, |y| y.into_data());
                }
                let pool = |i: usize| max_pool2d(x[i].clone(), options.clone());
                self.measure("max_pool2d", pool, |y| y.into_data())
            }
            more => bail!("no pooling over {more} axes"),
        }
    }

    fn segments<const D: usize>(&self) -> anyhow::Result<()> {
        let x = self.floats::<D>()?;
        let rows = self.job.shape[0];
        let ids = TensorData::from_bytes_vec(self.job.input(1)?, [rows], DType::I32);
        let ids = Tensor::<1, Int>::from_data(ids, (&self.device, DType::I32));
        let mut shape: [usize; D] = self.job.shape[..].try_into()?;
        shape[0] = self.job.item["attrs"]["num_segments"].as_u64().context("num_segments")? as usize;
        let run = |i: usize| {
            Tensor::<D>::full(shape, f32::NEG_INFINITY, (&self.device, DType::F32)).select_assign(
                0,
                ids.clone(),
                x[i].clone(),
                IndexingUpdateOp::Max,
            )
        };
        self.measure("full, select_assign Max", run, |y| y.into_data())
    }
}
