//! Tensors on devices.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyBufferError, PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{IntoPyDict, PyDict, PyEllipsis, PySlice, PyTuple, PyType};
use wgmax::{DeviceTensor, TensorDesc, View};

use crate::attributes::{each, sizes};
use crate::device::{Device, Held, chosen, is_same, summary};
use crate::error::{ArgumentError, raised};
use crate::exchange::{NAMES, array_of, descr, view_of};
use crate::fields::{flag, integer, integers};
use crate::threads::wait;

/// A tensor in the memory of a device.
#[pyclass(frozen, module = "wgmax")]
pub(crate) struct Tensor(pub(crate) Held<(wgmax::Device, DeviceTensor)>);

impl Tensor {
    pub(crate) fn new(device: wgmax::Device, inner: DeviceTensor) -> Self {
        Self(Held::new(&device.clone(), (device, inner)))
    }

    fn desc(&self) -> &TensorDesc {
        self.0.described().1.desc()
    }

    fn view(&self) -> &View {
        self.0.described().1.view()
    }

    fn viewed(&self, view: wgmax::Result<View>) -> PyResult<Self> {
        let (device, inner) = self.0.get()?;
        let inner = view.and_then(|view| inner.with_view(view)).map_err(raised)?;
        Ok(Self::new(device.clone(), inner))
    }

    /// A view of the same memory by sizes, an offset and pitches, in elements.
    fn placed(&self, sizes: Vec<usize>, offset: usize, pitches: Vec<isize>) -> PyResult<Self> {
        let desc = TensorDesc::new(self.desc().element_type(), sizes);
        self.viewed(desc.and_then(|desc| View::new(desc, offset, pitches)))
    }

    /// The array that shares the tensor's memory.
    fn shared<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (device, tensor) = self.0.get()?;
        let refused = |what: &str| {
            Err(ArgumentError::new_err(format!("{what} is copied to make an array of it")))
        };
        if !device.is_cpu() {
            return refused("a tensor on a GPU");
        }
        // Two that share the memory are at one address; of copies each has its own.
        let [first, second] = [(); 2].map(|()| wait(py, tensor.download_async()));
        let (first, second) = (first?, second?);
        if !first.is_empty() && first.bytes().as_ptr() != second.bytes().as_ptr() {
            return refused("a part of a tensor");
        }
        array_of(py, first, false)
    }
}

#[pymethods]
impl Tensor {
    /// The elements of an array, copied to a device.
    #[new]
    #[pyo3(signature = (array, device = None, *, copy = true))]
    fn of(
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = flag)] copy: bool,
    ) -> PyResult<Self> {
        let device = chosen(py, device)?;
        let view = view_of(array)?;
        let inner = wait(py, async {
            let tensor = view.to_tensor()?;
            // A GPU copies them in any case.
            let tensor = match copy && device.is_cpu() {
                true => {
                    let (desc, bytes) = (tensor.desc(), tensor.bytes());
                    wgmax::Tensor::from_bytes(desc.element_type(), desc.shape(), bytes)?
                }
                false => tensor,
            };
            device.upload_async(&tensor).await
        })?;
        Ok(Self::new(device, inner))
    }

    /// The elements as an array. On the CPU a large one shares the tensor's memory and is read-only;
    /// one of up to 4 KiB is a copy.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array_of(py, wait(py, self.0.get()?.1.download_async())?, true)
    }

    /// The elements as lists in lists, or as one number.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numpy(py)?.call_method0("tolist")
    }

    /// The only element, as a number of Python.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.numpy(py)?.call_method0("item")
    }

    /// The tensor on a device; itself, if it is there already.
    fn to(slf: PyRef<'_, Self>, device: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let py = slf.py();
        let (own, inner) = slf.0.get()?;
        let device = chosen(py, Some(device))?;
        if is_same(&device, own) {
            return Ok(slf.into());
        }
        let copy = async { device.upload_async(&inner.download_async().await?).await };
        let copy = wait(py, copy)?;
        Py::new(py, Self::new(device, copy))
    }

    /// The content of a pickle: the elements, on the CPU.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyAny>,))> {
        if !self.0.described().0.is_cpu() {
            let message = "a tensor on a GPU cannot be pickled; tensor.to('cpu') can";
            return Err(PyTypeError::new_err(message));
        }
        Ok((py.get_type::<Self>(), (self.numpy(py)?,)))
    }

    fn __richcmp__(&self, _other: &Bound<'_, PyAny>, _op: CompareOp) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "tensors are not compared by operators: wgmax.compare(a, b) compares bits or values, and \
             a.numpy() == b.numpy() elements",
        ))
    }

    /// Whether the only element is not 0.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.numpy(py)?.is_truthy()
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = if copy == Some(false) { self.shared(py)? } else { self.numpy(py)? };
        let array = if copy == Some(true) { array.call_method0("copy")? } else { array };
        match dtype.filter(|dtype| !dtype.is_none()) {
            None => Ok(array),
            Some(dtype) => {
                let same = PyArrayDescr::new(py, dtype)?;
                let own = array.cast::<PyUntypedArray>()?.dtype();
                if copy == Some(false) && !same.is_equiv_to(&own) {
                    return Err(ArgumentError::new_err(format!(
                        "elements of {own} are copied to make an array of {same}"
                    )));
                }
                let options = PyDict::new(py);
                options.set_item("copy", false)?;
                array.call_method("astype", (dtype,), Some(&options))
            }
        }
    }

    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let option = |name: &str| match options {
            Some(options) => Ok::<_, PyErr>(options.get_item(name)?.filter(|v| !v.is_none())),
            None => Ok(None),
        };
        let shares = option("copy")?.is_some_and(|copy| copy.is_truthy().is_ok_and(|copy| !copy));
        let copied = |error: PyErr| match error.is_instance_of::<ArgumentError>(py) {
            true => PyBufferError::new_err(error.value(py).to_string()),
            false => error,
        };
        let array = if shares { self.shared(py).map_err(copied)? } else { self.numpy(py)? };
        match option("max_version")? {
            Some(_) => array.call_method("__dlpack__", (), options),
            None if shares => Err(PyBufferError::new_err(
                "before version 1 DLPack cannot mark memory as read-only, so it is copied",
            )),
            None => {
                let known = ["stream", "max_version", "dl_device", "copy"];
                let names = options.map(|options| options.keys().extract::<Vec<String>>());
                let names = names.transpose()?.unwrap_or_default();
                if let Some(other) = names.iter().find(|name| !known.contains(&name.as_str())) {
                    let what = format!("__dlpack__() got an unexpected keyword argument {other:?}");
                    return Err(PyTypeError::new_err(what));
                }
                let place = option("dl_device")?.map(|place| place.extract::<(i32, i32)>());
                if place.transpose()?.is_some_and(|place| place != self.__dlpack_device__()) {
                    return Err(PyBufferError::new_err("the memory is that of the host"));
                }
                let stream = option("stream")?.map(|stream| [("stream", stream)].into_py_dict(py));
                let copy = array.call_method0("copy")?;
                copy.call_method("__dlpack__", (), stream.transpose()?.as_ref())
            }
        }
    }

    /// The host's memory; for a GPU's tensor a copy.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    /// The sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.desc().shape())
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.desc().rank()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.desc().len()
    }

    /// The bytes of the elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.size() * self.desc().element_type().size()
    }

    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        descr(py, self.desc().element_type())
    }

    /// The device.
    #[getter]
    fn device(&self) -> PyResult<Device> {
        Ok(self.0.get()?.0.clone().into())
    }

    fn __repr__(&self) -> String {
        let (desc, device) = (self.desc(), summary(&self.0.described().0));
        let view = if self.view().is_contiguous() { "" } else { ", a view" };
        let dtype = NAMES[desc.element_type() as usize];
        format!("<wgmax.Tensor {dtype} {:?}{view} on {device}>", desc.shape())
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.desc().shape().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("a tensor without axes has no length"))
    }

    /// The views along the first axis.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let builtins = slf.py().import("builtins")?;
        let places = builtins.call_method1("range", (slf.len()?,))?;
        builtins.call_method1("map", (slf.getattr("__getitem__")?, places))
    }

    /// A view: integers, slices and an ellipsis, as in numpy.
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Self> {
        let view = self.view();
        let (sizes, pitches) = (view.desc().shape(), view.pitches());
        let parts: Vec<Bound<'_, PyAny>> = match index.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => vec![index.clone()],
        };
        let is_ellipsis = |part: &&Bound<'_, PyAny>| part.is_instance_of::<PyEllipsis>();
        let ellipses = parts.iter().filter(is_ellipsis).count();
        let named = parts.len() - ellipses;
        if ellipses > 1 || named > sizes.len() {
            return Err(PyIndexError::new_err("too many indices"));
        }
        let (mut new_sizes, mut new_pitches, mut offset) = (Vec::new(), Vec::new(), view.offset());
        let mut axis = 0;
        for part in &parts {
            if part.is_instance_of::<PyEllipsis>() {
                let skipped = sizes.len() - named;
                new_sizes.extend_from_slice(&sizes[axis..axis + skipped]);
                new_pitches.extend_from_slice(&pitches[axis..axis + skipped]);
                axis += skipped;
                continue;
            }
            let (size, pitch) = (sizes[axis], pitches[axis]);
            if let Ok(slice) = part.cast::<PySlice>() {
                let found = slice.indices(size as isize)?;
                new_sizes.push(found.slicelength);
                new_pitches.push(pitch.saturating_mul(found.step));
                if found.slicelength > 0 {
                    offset = offset.saturating_add_signed(found.start * pitch);
                }
            } else if let Some(at) = integer(part) {
                let from_front = if at < 0 { at.saturating_add(size as i64) } else { at };
                if !(0..size as i64).contains(&from_front) {
                    return Err(PyIndexError::new_err(format!(
                        "index {at} is out of range for axis {axis} of size {size}"
                    )));
                }
                offset = offset.saturating_add_signed(from_front as isize * pitch);
            } else {
                return Err(PyTypeError::new_err("a tensor is indexed by integers and slices"));
            }
            axis += 1;
        }
        new_sizes.extend_from_slice(&sizes[axis..]);
        new_pitches.extend_from_slice(&pitches[axis..]);
        self.placed(new_sizes, offset, new_pitches)
    }

    /// A view with the axes in another order; in reverse by default.
    #[pyo3(signature = (*axes))]
    fn transpose(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let rank = self.ndim();
        let axes: Vec<usize> = match axes.len() {
            0 => (0..rank).rev().collect(),
            _ => {
                let first = axes.get_item(0)?;
                let given = if axes.len() == 1 { integers(&first) } else { None };
                let given = given.or_else(|| integers(axes)).unwrap_or_default();
                let front = |&axis: &i64| if axis < 0 { axis + rank as i64 } else { axis };
                given.iter().map(front).map(|axis| usize::try_from(axis).unwrap_or(rank)).collect()
            }
        };
        self.viewed(self.view().permute(&axes))
    }

    /// The axes in reverse order.
    #[getter(T)]
    fn reversed(&self, py: Python<'_>) -> PyResult<Self> {
        self.transpose(&PyTuple::empty(py))
    }

    /// The same elements in another shape, if they are contiguous.
    #[pyo3(signature = (*given), text_signature = "($self, *sizes)")]
    fn reshape(&self, given: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let first = match given.len() {
            1 => given.get_item(0)?,
            _ => given.clone().into_any(),
        };
        let mut given = each(&first, 1);
        let len = self.size();
        if let Some(given) = &mut given
            && let Some(unknown) = given.iter().position(|&size| size == -1)
        {
            let others = given.iter().enumerate().filter(|&(at, _)| at != unknown);
            let others = others.map(|(_, &size)| size).try_fold(1, i64::checked_mul);
            if let Some(others) = others.filter(|&others| others > 0) {
                given[unknown] = len as i64 / others;
            }
        }
        let found = given.map(|given| {
            given.into_iter().map(|size| usize::try_from(size).ok()).collect::<Option<Vec<_>>>()
        });
        let found = found.flatten().map_or_else(|| sizes("sizes", &first), Ok)?;
        let view = self.view();
        let desc = TensorDesc::new(view.desc().element_type(), found).map_err(raised)?;
        if !view.is_contiguous() || desc.len() != len {
            return Err(ArgumentError::new_err(
                "a tensor takes another shape of as many elements, if it is contiguous",
            ));
        }
        self.viewed(Ok(View::from(&desc)))
    }
}
