//! The memory of numpy's arrays as tensors, and of tensors as arrays: all unsafe code of this package.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::sync::Arc;

use numpy::npyffi::flags::{NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE};
use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NpyTypes, get_type_object, npy_intp};
use numpy::{
    PY_ARRAY_API, PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use wgmax::{ElementType, Tensor};

use crate::error::raised;
use crate::threads::detached;

/// Bytes of an array, which they keep alive.
struct Borrowed {
    data: *const u8,
    len: usize,
    _array: Py<PyUntypedArray>,
}

// SAFETY: the pointer is to memory of the array, which any thread may read, and which is neither moved
// nor freed while the array lives: numpy refuses to resize an array that others refer to. Dropping a
// `Py` on another thread is what pyo3 allows.
unsafe impl Send for Borrowed {}
// SAFETY: as above; nothing of it changes.
unsafe impl Sync for Borrowed {}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the range, which `borrow` found, is that of the array's elements. They are in one
        // allocation: numpy checked the strides when it made the array. As everywhere in numpy, a thread
        // that reads an array while another one writes to it may read any bytes. Elements are numbers, and
        // any bytes are a number. (`bool`s were checked; kernels treat any byte as a number.)
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

/// The bytes of memory from the first to the last of an array's elements.
pub(crate) struct Span {
    pub(crate) len: usize,
    /// The bytes before the element that all indices of 0 name.
    before: usize,
}

pub(crate) fn span(array: &Bound<'_, PyUntypedArray>) -> Span {
    let (mut before, mut behind) = (0usize, array.dtype().itemsize());
    for (&size, &stride) in array.shape().iter().zip(array.strides()) {
        let reach = stride.unsigned_abs().saturating_mul(size.saturating_sub(1));
        if stride < 0 { before += reach } else { behind += reach }
    }
    Span { len: before + behind, before }
}

/// The address of the element that all indices of 0 name.
fn data(array: &Bound<'_, PyUntypedArray>) -> *const u8 {
    // SAFETY: the pointer of a live array is valid. Its data is not read.
    unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast::<u8>().cast_const() }
}

/// The memory from the first to the last of an array's elements, as a 1-D tensor; and the offset of the
/// array's first element in it, in elements. Strides must be multiples of elements.
pub(crate) fn borrow(
    array: &Bound<'_, PyUntypedArray>,
    element_type: ElementType,
) -> PyResult<(Tensor, usize)> {
    let item = element_type.size();
    // An empty slice needs an address too: an aligned one, so that it is not copied.
    let (data, len, before) = match array.is_empty() {
        true => (std::ptr::dangling::<u64>().cast(), 0, 0),
        false => {
            let span = span(array);
            (data(array).wrapping_sub(span.before), span.len, span.before)
        }
    };
    let bytes = Arc::new(Borrowed { data, len, _array: array.clone().unbind() });
    let tensor = detached(array.py(), || Tensor::from_shared(element_type, [len / item], bytes));
    Ok((tensor.map_err(raised)?, before / item))
}

/// A new array with the elements of a tensor. Small ones are copied, if `copies`. Others share the tensor's
/// memory, and are writable if nothing else does.
pub(crate) fn array(
    descr: Bound<'_, PyArrayDescr>,
    mut tensor: Tensor,
    copies: bool,
) -> PyResult<Bound<'_, PyAny>> {
    /// The maximum bytes that are copied: an object that keeps memory takes about as much time.
    const SMALL: usize = 4 << 10;
    let py = descr.py();
    let mut shape: Vec<npy_intp> = tensor.shape().iter().map(|&size| size as npy_intp).collect();
    let len = tensor.bytes().len();
    let copied = copies && len <= SMALL;
    if tensor.element_type() == ElementType::Bool {
        tensor = tensor.bools_as_u8().map_err(raised)?;
    }
    let (data, flags) = match (copied, tensor.bytes_mut()) {
        (true, _) => (std::ptr::null_mut(), 0),
        (false, Some(bytes)) => (bytes.as_mut_ptr(), NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE),
        (false, None) => (tensor.bytes().as_ptr().cast_mut(), NPY_ARRAY_C_CONTIGUOUS),
    };
    // SAFETY: the type is numpy's array, which is not changed. The function takes over the description.
    // `shape` has `shape.len()` sizes, and numpy copies them. If `data` is null, numpy allocates. Otherwise
    // it points to as many bytes as shape and type have, which the base below keeps alive. They are flagged
    // as writeable only if they came from a mutable borrow of their only owner, which is not borrowed again.
    let made = unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            shape.len() as c_int,
            shape.as_mut_ptr(),
            std::ptr::null_mut(),
            data.cast(),
            flags,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)?
    };
    if copied {
        // SAFETY: numpy has allocated `len` bytes for the array, in row-major order. Nothing else refers to it.
        unsafe {
            let data = (*_PyArray_GET_ITEM_DATA(made.as_ptr().cast())).data;
            std::ptr::copy_nonoverlapping(tensor.bytes().as_ptr(), data.cast(), len);
        }
    } else {
        let base = Bound::new(py, Memory { _tensor: tensor })?.into_ptr();
        // SAFETY: `made` is an array without a base, and the base is given away.
        let status = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_ptr().cast(), base) };
        if status != 0 {
            return Err(PyErr::fetch(py));
        }
    }
    Ok(made)
}

/// The array; without axes its element, as a scalar.
pub(crate) fn scalar_or_array<'py>(array: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    // SAFETY: this is called with arrays that `array` has made. `PyArray_Return` takes over the reference,
    // and returns one to the array or to a scalar.
    unsafe {
        let result = PY_ARRAY_API.PyArray_Return(py, array.into_ptr().cast());
        Bound::from_owned_ptr_or_err(py, result)
    }
}

/// Keeps the memory of an array.
#[pyclass(frozen)]
struct Memory {
    _tensor: Tensor,
}
