//! Runs an operator on what a call gave, on the device that it is to run on.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wgmax::operator::Operator;
use wgmax::{DeviceTensor, RunOptions, TensorView};

use crate::array::scalar_or_array;
use crate::device::chosen;
use crate::error::raised;
use crate::exchange::{array_of, view_of};
use crate::fields::Fields;
use crate::tensor::Tensor;
use crate::threads::detached;

/// An input of an operator.
pub(crate) enum Input {
    /// An array.
    Host(TensorView),
    /// A tensor that is on a device.
    Device(wgmax::Device, DeviceTensor),
}

impl Input {
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match object.cast::<Tensor>() {
            Ok(tensor) => {
                let tensor = tensor.get();
                Ok(Self::Device(tensor.device.clone(), tensor.inner.clone()))
            }
            Err(_) => view_of(object).map(Self::Host),
        }
    }

    pub(crate) fn desc(&self) -> &wgmax::TensorDesc {
        match self {
            Self::Host(view) => view.desc(),
            Self::Device(_, tensor) => tensor.desc(),
        }
    }

    /// The elements on the host, one after the other.
    pub(crate) fn to_host(&self, py: Python<'_>) -> PyResult<wgmax::Tensor> {
        match self {
            Self::Host(view) => view.to_tensor(),
            Self::Device(_, tensor) => detached(py, || tensor.download()),
        }
        .map_err(raised)
    }
}

/// Runs an operator with the rest of a call's arguments. Of arrays the results are arrays. If an input
/// is a tensor, all is done on its device, and the results stay there.
pub(crate) fn call<'py>(
    py: Python<'py>,
    operator: Operator,
    inputs: &[Input],
    mut rest: Fields<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let device = rest.take("device")?;
    rest.end()?;
    let mut results = run(py, operator, inputs, device.as_ref())?;
    for result in &mut results {
        if !result.is_instance_of::<Tensor>() {
            *result = scalar_or_array(result.clone())?;
        }
    }
    match results.len() {
        1 => Ok(results.swap_remove(0)),
        _ => Ok(PyTuple::new(py, results)?.into_any()),
    }
}

/// The results of an operator: arrays or tensors.
pub(crate) fn run<'py>(
    py: Python<'py>,
    operator: Operator,
    inputs: &[Input],
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let own = inputs.iter().find_map(|input| match input {
        Input::Device(device, _) => Some(device),
        Input::Host(_) => None,
    });
    if let Some(own) = own {
        if device.is_some_and(|device| !device.is_none()) {
            return Err(crate::error::ArgumentError::new_err(
                "a wgmax.Tensor has a device; device is for arrays",
            ));
        }
        let found = detached(py, || on_device(own, operator, inputs)).map_err(raised)?;
        let tensors = found.into_iter().map(|inner| Tensor { device: own.clone(), inner });
        return tensors.map(|tensor| Ok(Bound::new(py, tensor)?.into_any())).collect();
    }
    let device = chosen(py, device)?;
    let views: Vec<&TensorView> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::Host(view) => Some(view),
            Input::Device(..) => None,
        })
        .collect();
    let in_order = |view: &&TensorView| view.memory().desc() == view.desc();
    let found = detached(py, || match views.iter().all(in_order) {
        true => {
            let tensors: Vec<&wgmax::Tensor> = views.iter().map(|view| view.memory()).collect();
            operator.run(&device, &tensors)
        }
        false => operator.run_views(&device, &views, RunOptions::new()),
    });
    found.map_err(raised)?.into_iter().map(|tensor| array_of(py, tensor)).collect()
}

/// Runs an operator on a device. Arrays among the inputs are checked, and copied there.
fn on_device(
    device: &wgmax::Device,
    operator: Operator,
    inputs: &[Input],
) -> wgmax::Result<Vec<DeviceTensor>> {
    let operator = match (&operator, inputs) {
        (Operator::SegmentMax(op), [data, Input::Host(ids)]) => {
            op.checked(data.desc(), &ids.to_tensor()?)?.into()
        }
        (Operator::SegmentMaxBackward(op), [data, Input::Host(ids), _]) => {
            op.get_segment().checked(data.desc(), &ids.to_tensor()?)?;
            operator
        }
        (Operator::MaxUnpool(_), [values, Input::Host(indices)]) => {
            operator.checked_for(values.desc(), &[&indices.to_tensor()?])?
        }
        _ => operator,
    };
    let uploaded = inputs.iter().map(|input| match input {
        Input::Host(view) => device.upload(&view.to_tensor()?),
        Input::Device(_, tensor) => Ok(tensor.clone()),
    });
    let uploaded = uploaded.collect::<wgmax::Result<Vec<_>>>()?;
    device.run(operator, &uploaded.iter().collect::<Vec<_>>())
}
