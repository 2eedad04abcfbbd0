//! Arrays in and out, whatever their type, strides and owner.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use wgmax::{ElementType, TensorDesc, TensorView, View};

use crate::array;
use crate::error::{ArgumentError, raised};

/// The names of the dtypes, in the order of the element types. Each begins with numpy's kind of the
/// dtype.
pub(crate) const NAMES: [&str; ElementType::ALL.len()] = [
    "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64", "bool",
];

/// The dtype of an element type. For `bf16` it is that of the package ml_dtypes.
pub(crate) fn descr(
    py: Python<'_>,
    element_type: ElementType,
) -> PyResult<Bound<'_, PyArrayDescr>> {
    static DESCRS: [PyOnceLock<Py<PyArrayDescr>>; NAMES.len()] =
        [const { PyOnceLock::new() }; NAMES.len()];
    let name = NAMES[element_type as usize];
    let find = || match element_type {
        ElementType::Bf16 => PyArrayDescr::new(py, py.import("ml_dtypes")?.getattr(name)?),
        _ => PyArrayDescr::new(py, name),
    };
    let found = DESCRS[element_type as usize].get_or_try_init(py, || find().map(Bound::unbind));
    match found {
        Err(_) if element_type == ElementType::Bf16 => {
            Err(ArgumentError::new_err("bfloat16 arrays need the package ml_dtypes"))
        }
        found => Ok(found?.bind(py).clone()),
    }
}

/// The element type of a dtype, in any byte order.
pub(crate) fn element_type(descr: &Bound<'_, PyArrayDescr>) -> PyResult<ElementType> {
    let unknown = || {
        ArgumentError::new_err(format!(
            "dtype {descr} is none of the types of wgmax: float16, float32, float64, bfloat16, int8 to \
             int64, uint8 to uint64, bool"
        ))
    };
    // Types that other packages add have numbers from 256 on.
    if descr.num() >= 256 {
        return match self::descr(descr.py(), ElementType::Bf16) {
            Ok(known) if descr.is_equiv_to(&known) => Ok(ElementType::Bf16),
            _ => Err(unknown()),
        };
    }
    let is_of = |t: &ElementType| {
        NAMES[*t as usize].as_bytes()[0] == descr.kind() && t.size() == descr.itemsize()
    };
    let mut all = ElementType::ALL.into_iter().filter(|&t| t != ElementType::Bf16);
    all.find(is_of).ok_or_else(unknown)
}

/// The element type of a dtype, its name, or numpy's type.
pub(crate) fn element_type_of(named: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    element_type(&PyArrayDescr::new(named.py(), named)?)
}

/// A numpy array: the object itself, or made of it by DLPack, or by numpy from a list.
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
        true => {
            // DLPack does not say that PyTorch has yet to negate the elements.
            let is_neg = object.getattr_opt(intern!(py, "is_neg"))?.filter(Bound::is_callable);
            let object = match is_neg {
                Some(is_neg) if is_neg.call0()?.is_truthy()? => {
                    object.call_method0("resolve_neg")?
                }
                _ => object.clone(),
            };
            numpy.call_method1(intern!(py, "from_dlpack"), (object,))?
        }
        false => numpy.call_method1(intern!(py, "asarray"), (object,))?,
    };
    Ok(made.cast_into::<PyUntypedArray>()?)
}

/// The elements of an array, in place or copied by numpy.
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

/// The elements of a contiguous array.
fn row_major(array: &Bound<'_, PyUntypedArray>, element_type: ElementType) -> PyResult<TensorView> {
    let (memory, _) = array::borrow(array, element_type)?;
    Ok(memory.reshape(array.shape()).map_err(raised)?.into())
}

/// The elements of an array, in place. `None` if they must be copied: they are not at multiples of
/// their size, have another byte order, or have gaps with bytes that are not a `bool`.
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

/// The array of a tensor. `copies`: whether the elements of a small one are copied.
pub(crate) fn array_of(
    py: Python<'_>,
    tensor: wgmax::Tensor,
    copies: bool,
) -> PyResult<Bound<'_, PyAny>> {
    array::array(descr(py, tensor.element_type())?, tensor, copies)
}
