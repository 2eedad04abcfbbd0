//! Runs an operator on the inputs of a call, on the right device.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyTuple};
use wgmax::internals::status_alone;
use wgmax::operator::{Operator, SegmentMax, Segments};
use wgmax::{DeviceTensor, ElementType, Outputs, Run, TensorDesc, TensorView, View};

use crate::array::scalar_or_array;
use crate::device::chosen;
use crate::error::{ArgumentError, raised};
use crate::exchange::{array_of, view_of};
use crate::fields::Fields;
use crate::tensor::Tensor;
use crate::threads::{detached, wait};

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
                let (device, inner) = tensor.get().0.get()?.clone();
                Ok(Self::Device(device, inner))
            }
            Err(_) => view_of(object).map(Self::Host),
        }
    }

    /// As [`Input::of`]. An input without elements and type, such as an empty list, becomes integers.
    pub(crate) fn of_integers(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let input = Self::of(object)?;
        let desc = input.desc();
        if desc.element_type() != ElementType::F64 || !desc.is_empty() || object.hasattr("dtype")? {
            return Ok(input);
        }
        let none = wgmax::Tensor::from_bytes(ElementType::I64, desc.shape(), &[]);
        Ok(Self::Host(none.map_err(raised)?.into()))
    }

    /// Adds a batch of one before all axes.
    pub(crate) fn batched(self) -> PyResult<Self> {
        let batched = |view: &View| view.broadcast(0, 1);
        match self {
            Self::Host(view) => {
                let made = batched(view.view());
                made.and_then(|made| TensorView::new(view.memory(), made)).map(Self::Host)
            }
            Self::Device(device, tensor) => {
                let made = batched(tensor.view()).and_then(|made| tensor.with_view(made));
                made.map(|made| Self::Device(device, made))
            }
        }
        .map_err(raised)
    }

    pub(crate) fn desc(&self) -> &wgmax::TensorDesc {
        match self {
            Self::Host(view) => view.desc(),
            Self::Device(_, tensor) => tensor.desc(),
        }
    }

    /// The elements on the host, contiguous.
    pub(crate) fn to_host(&self, py: Python<'_>) -> PyResult<wgmax::Tensor> {
        match self {
            Self::Host(view) => detached(py, || view.to_tensor()).map_err(raised),
            Self::Device(_, tensor) => wait(py, tensor.download_async()),
        }
    }
}

/// Runs an operator with the remaining arguments of a call. If all inputs are arrays, so are the
/// results. If an input is a tensor, the operator runs on its device, and the results stay there.
pub(crate) fn call<'py>(
    py: Python<'py>,
    operator: Operator,
    inputs: &[Input],
    rest: Fields<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    call_batched(py, operator, inputs, rest, false)
}

/// As [`call`]. `is_single`: the caller has given no batch, so results have none.
pub(crate) fn call_batched<'py>(
    py: Python<'py>,
    operator: Operator,
    inputs: &[Input],
    mut rest: Fields<'_, 'py>,
    is_single: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (device, out) = (rest.take("device")?, rest.take("out")?);
    rest.end()?;
    let mut results = run(py, operator, inputs, device.as_ref())?;
    if is_single {
        results = results.iter().map(|result| result.get_item(0)).collect::<PyResult<_>>()?;
    }
    match out {
        Some(out) => results = stored(&results, &out)?,
        None => {
            for result in results.iter_mut().filter(|each| !each.is_instance_of::<Tensor>()) {
                *result = scalar_or_array(result.clone())?;
            }
        }
    }
    match results.len() {
        1 => Ok(results.swap_remove(0)),
        _ => Ok(PyTuple::new(py, results)?.into_any()),
    }
}

/// The arrays that the caller gave for results, with the results in them.
fn stored<'py>(
    results: &[Bound<'py, PyAny>],
    out: &Bound<'py, PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let given: Vec<Bound<'_, PyAny>> = match out.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![out.clone()],
    };
    if results.iter().any(|result| result.is_instance_of::<Tensor>()) {
        let message = "out is for arrays; the results of a wgmax.Tensor stay on its device";
        return Err(ArgumentError::new_err(message));
    }
    for (at, result) in results.iter().enumerate() {
        let result = result.cast::<PyUntypedArray>()?;
        let fits = given.get(at).and_then(|given| given.cast::<PyUntypedArray>().ok());
        if given.len() != results.len()
            || !fits.is_some_and(|given| {
                given.shape() == result.shape() && given.dtype().is_equiv_to(&result.dtype())
            })
        {
            return Err(ArgumentError::new_err(format!(
                "out must be {} of numpy; result {at} has the dtype {} and the shape {:?}",
                if results.len() == 1 { "an array" } else { "a tuple of two arrays" },
                result.dtype(),
                result.shape()
            )));
        }
    }
    for (given, result) in given.iter().zip(results) {
        given.set_item(PyEllipsis::get(result.py()), result)?;
    }
    Ok(given)
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
            return Err(ArgumentError::new_err(
                "a wgmax.Tensor has a device; device is for arrays",
            ));
        }
        let found = wait(py, on_device(own, operator, inputs))?;
        let tensors = found.into_iter().map(|inner| Tensor::new(own.clone(), inner));
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
    let found = wait(py, operator.run_async(&device, views))?;
    found.into_iter().map(|tensor| array_of(py, tensor, true)).collect()
}

/// The operator whose gradient is computed, with the number of segments from the gradient of its maxima.
pub(crate) fn counted(op: &SegmentMax, gradient: &TensorDesc) -> SegmentMax {
    match op.segments {
        Segments::Offsets => op.clone(),
        _ => op.clone().num_segments(gradient.shape().first().copied()),
    }
}

/// Refuses ids at or above the number of segments, and other wrong ids in a tensor. A GPU checks them
/// itself; they are copied to the host only if it finds an error.
pub(crate) fn check_ids(
    py: Python<'_>,
    op: &SegmentMax,
    data: &TensorDesc,
    ids: &Input,
) -> PyResult<()> {
    if let Input::Device(device, tensor) = ids
        && !device.is_cpu()
        && let Some(&rows) = data.shape().first()
    {
        let status = wait(py, async {
            let (check, rows) = status_alone(op, rows)?;
            let rows = device.upload_async(&rows).await?;
            let found = device.run_async(check, [&rows, tensor]).await?;
            found.status()?.download_async().await?.to_vec::<u32>()
        })?;
        let is_offsets = op.segments == Segments::Offsets;
        if status[0] == 0 && (status[1] == 0 || is_offsets) {
            return Ok(());
        }
    }
    let values = ids.to_host(py)?;
    let known = match ids {
        Input::Device(device, _) if !device.is_cpu() => op.checked(data, &values).map(drop),
        // Those on the host are checked when the operator runs.
        _ => Ok(()),
    };
    known.and_then(|()| op.check_range(data, &values)).map_err(raised)
}

/// Runs an operator on a device. Ids and indices in the memory of the host are checked, arrays are copied
/// to the device.
async fn on_device(
    device: &wgmax::Device,
    operator: Operator,
    inputs: &[Input],
) -> wgmax::Result<Outputs<DeviceTensor>> {
    let checks = match &operator {
        Operator::SegmentMax(_) | Operator::ScatterMax(_) | Operator::MaxUnpool(_) => true,
        Operator::SegmentMaxBackward(_) => inputs.len() == 3,
        Operator::ScatterMaxBackward(_) => inputs.len() == 4,
        _ => false,
    };
    let on_host = match inputs.get(1).filter(|_| checks) {
        Some(Input::Host(view)) => Some(view.to_tensor()?),
        Some(Input::Device(own, tensor)) if own.is_cpu() => Some(tensor.download_async().await?),
        _ => None,
    };
    let operator = match (&operator, inputs, &on_host) {
        (Operator::SegmentMax(op), [data, given], Some(ids)) => {
            let counted = op.checked(data.desc(), ids)?;
            // A tensor's ids do not give the number of segments, on any device.
            if matches!(given, Input::Host(_)) { counted.into() } else { operator }
        }
        (Operator::SegmentMaxBackward(op), [data, _, gradient], Some(ids)) => {
            let _ = counted(&op.segment, gradient.desc()).checked(data.desc(), ids)?;
            operator
        }
        (Operator::ScatterMax(op), [data, _, updates], Some(indices)) => {
            op.checked(data.desc(), indices, updates.desc())?;
            operator
        }
        (Operator::ScatterMaxBackward(op), [data, _, updates, _], Some(indices)) => {
            op.scatter.checked(data.desc(), indices, updates.desc())?;
            operator
        }
        (Operator::MaxUnpool(_), [values, _], Some(indices)) => {
            operator.checked_for(values.desc(), &[indices])?
        }
        _ => operator,
    };
    let mut uploaded = Vec::new();
    for input in inputs {
        uploaded.push(match input {
            Input::Host(view) => device.upload_async(&view.to_tensor()?).await?,
            Input::Device(_, tensor) => tensor.clone(),
        });
    }
    device.run_async(operator, uploaded.iter().collect::<Vec<_>>()).await
}
