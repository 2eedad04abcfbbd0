//! Arrays in and out, whatever their type, strides and owner.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods, dtype};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use wgmax::{ElementType, TensorDesc, TensorView, View};

use crate::array;
use crate::error::{ArgumentError, raised};

/// ml_dtypes' bfloat16; `None` where that package is not installed.
fn bfloat16(py: Python<'_>) -> Option<Bound<'_, PyArrayDescr>> {
    static DESCR: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    let find = || {
        let found = py.import("ml_dtypes")?.getattr("bfloat16")?;
        PyArrayDescr::new(py, found).map(Bound::unbind)
    };
    DESCR.get_or_try_init(py, find).ok().map(|descr| descr.bind(py).clone())
}

/// The dtype of an element type.
pub(crate) fn descr(
    py: Python<'_>,
    element_type: ElementType,
) -> PyResult<Bound<'_, PyArrayDescr>> {
    Ok(match element_type {
        ElementType::F32 => dtype::<f32>(py),
        ElementType::F64 => dtype::<f64>(py),
        ElementType::F16 => {
            static DESCR: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
            let made =
                DESCR.get_or_try_init(py, || PyArrayDescr::new(py, "float16").map(Bound::unbind));
            made?.bind(py).clone()
        }
        ElementType::Bf16 => bfloat16(py)
            .ok_or_else(|| ArgumentError::new_err("bfloat16 arrays need the package ml_dtypes"))?,
        ElementType::I8 => dtype::<i8>(py),
        ElementType::U8 => dtype::<u8>(py),
        ElementType::I16 => dtype::<i16>(py),
        ElementType::U16 => dtype::<u16>(py),
        ElementType::I32 => dtype::<i32>(py),
        ElementType::U32 => dtype::<u32>(py),
        ElementType::I64 => dtype::<i64>(py),
        ElementType::U64 => dtype::<u64>(py),
        ElementType::Bool => dtype::<bool>(py),
    })
}

/// The element type of a dtype, in any order of bytes.
pub(crate) fn element_type(descr: &Bound<'_, PyArrayDescr>) -> PyResult<ElementType> {
    let unknown = || {
        ArgumentError::new_err(format!(
            "dtype {descr} is none of the types of wgmax: float16, float32, float64, bfloat16, int8 to \
             int64, uint8 to uint64, bool"
        ))
    };
    // Types that other packages add have numbers from 256 on.
    if descr.num() >= 256 {
        return match bfloat16(descr.py()) {
            Some(known) if descr.is_equiv_to(&known) => Ok(ElementType::Bf16),
            _ => Err(unknown()),
        };
    }
    let found = match (descr.kind(), descr.itemsize()) {
        (b'f', 4) => ElementType::F32,
        (b'f', 8) => ElementType::F64,
        (b'f', 2) => ElementType::F16,
        (b'i', 1) => ElementType::I8,
        (b'u', 1) => ElementType::U8,
        (b'i', 2) => ElementType::I16,
        (b'u', 2) => ElementType::U16,
        (b'i', 4) => ElementType::I32,
        (b'u', 4) => ElementType::U32,
        (b'i', 8) => ElementType::I64,
        (b'u', 8) => ElementType::U64,
        (b'b', 1) => ElementType::Bool,
        _ => return Err(unknown()),
    };
    Ok(found)
}

/// The element type that something names: a dtype, its name, or numpy's type.
pub(crate) fn element_type_of(named: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    element_type(&PyArrayDescr::new(named.py(), named)?)
}

/// An array of numpy's: the object itself, what DLPack makes of it, or what numpy makes of a list.
fn numpy_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    let numpy = py.import(intern!(py, "numpy"))?;
    if object.is_instance_of::<PyUntypedArray>() {
        if object.is_instance(&numpy.getattr("ma")?.getattr("MaskedArray")?)? {
            return Err(PyTypeError::new_err(
                "a masked array has elements that do not count; fill it",
            ));
        }
        return Ok(object.cast::<PyUntypedArray>()?.clone());
    }
    let is_scalar = object.is_instance(&numpy.getattr("generic")?)?;
    let made = match !is_scalar && object.hasattr(intern!(py, "__dlpack__"))? {
        true => numpy.call_method1(intern!(py, "from_dlpack"), (object,))?,
        false => numpy.call_method1(intern!(py, "asarray"), (object,))?,
    };
    Ok(made.cast_into::<PyUntypedArray>()?)
}

/// The elements of an array, where they lie, or as numpy has copied them.
pub(crate) fn view_of(object: &Bound<'_, PyAny>) -> PyResult<TensorView> {
    let array = match object.cast_exact::<PyUntypedArray>() {
        Ok(array) => array.clone(),
        Err(_) => numpy_array(object)?,
    };
    let element_type = element_type(&array.dtype())?;
    if let Some(view) = in_place(&array, element_type)? {
        return Ok(view);
    }
    let own = (descr(object.py(), element_type)?, "C", "unsafe", false);
    let copied = array.call_method1(intern!(object.py(), "astype"), own)?;
    row_major(copied.cast::<PyUntypedArray>()?, element_type)
}

/// The elements of an array that is contiguous.
fn row_major(array: &Bound<'_, PyUntypedArray>, element_type: ElementType) -> PyResult<TensorView> {
    let (memory, _) = array::borrow(array, element_type)?;
    Ok(memory.reshape(array.shape()).map_err(raised)?.into())
}

/// The elements of an array where they lie. `None` if they must be copied: they are not at multiples
/// of their size, have another order of bytes, or have gaps that hold what is no `bool`.
fn in_place(
    array: &Bound<'_, PyUntypedArray>,
    element_type: ElementType,
) -> PyResult<Option<TensorView>> {
    if array.dtype().is_native_byteorder() == Some(false) {
        return Ok(None);
    }
    if array.is_c_contiguous() || array.is_empty() {
        return row_major(array, element_type).map(Some);
    }
    let item = element_type.size() as isize;
    let axes = || array.shape().iter().zip(array.strides()).filter(|&(&size, _)| size > 1);
    let span = array::span(array);
    if !array.is_aligned()
        || axes().any(|(_, &stride)| stride % item != 0)
        || element_type == ElementType::Bool && span.len / 4 > array.len()
    {
        return Ok(None);
    }
    let (memory, offset) = match array::borrow(array, element_type) {
        Err(_) if element_type == ElementType::Bool => return Ok(None),
        found => found?,
    };
    let desc = TensorDesc::new(element_type, array.shape()).map_err(raised)?;
    let pitches: Vec<isize> = array.strides().iter().map(|stride| stride / item).collect();
    let view = View::new(desc, offset, pitches).and_then(|view| TensorView::new(&memory, view));
    view.map(Some).map_err(raised)
}

/// The array of a tensor.
pub(crate) fn array_of(py: Python<'_>, tensor: wgmax::Tensor) -> PyResult<Bound<'_, PyAny>> {
    array::array(descr(py, tensor.element_type())?, tensor)
}
