//! The operators, as Python calls them. `docs/` has their documentation.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wgmax::operator::{MaxPoolBackward, MaxUnpool, ReduceMaxBackward, SegmentMaxBackward};
use wgmax::{Extremum, TensorDesc};

use crate::attributes::{self, Optional};
use crate::error::raised;
use crate::exchange::element_type_of;
use crate::fields::Fields;
use crate::run::{Input, call, check_ids, counted};

/// What a call returns.
type Returned<'py> = PyResult<Bound<'py, PyAny>>;

/// Each kind of operator for the maximum and for the minimum.
macro_rules! both {
    ($(($name:ident, $extremum:ident) => $body:ident($($arg:ident: $type:ty),*) $signature:tt $text:literal)*) => {
        $(
            #[doc = include_str!(concat!("docs/", stringify!($name), ".txt"))]
            #[pyfunction]
            #[pyo3(signature = $signature, text_signature = $text)]
            fn $name<'py>(
                py: Python<'py>,
                $($arg: $type,)*
                keywords: Option<&Bound<'py, PyDict>>,
            ) -> Returned<'py> {
                let fields = Fields::new(stringify!($name), keywords);
                $body(py, Extremum::$extremum, $($arg,)* fields)
            }
        )*

        /// Adds the operators to the module.
        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            module.add_function(wrap_pyfunction!(pool_shape, module)?)?;
            module.add_function(wrap_pyfunction!(max_unpool, module)?)
        }
    };
}

both! {
    (reduce_max, Maximum) => reduce(x: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, return_indices=False, select_last=False, \
         index_type='int64', nan='propagate', empty='negative_infinity', device=None)"
    (reduce_min, Minimum) => reduce(x: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, return_indices=False, select_last=False, \
         index_type='int64', nan='propagate', empty='negative_infinity', device=None)"
    (arg_max, Maximum) => position(x: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, select_last=False, index_type='int64', \
         nan='propagate', device=None)"
    (arg_min, Minimum) => position(x: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, select_last=False, index_type='int64', \
         nan='propagate', device=None)"
    (max_pool, Maximum) => pool(x: &Bound<'py, PyAny>, kernel_size: &Bound<'py, PyAny>,
            stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, kernel_size, stride = None, padding = None, **keywords)
        "(x, kernel_size, stride=None, padding=0, *, dilation=1, ceil_mode=False, \
         return_indices=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         index_type='int64', index_axis=None, index_order='row_major', device=None)"
    (min_pool, Minimum) => pool(x: &Bound<'py, PyAny>, kernel_size: &Bound<'py, PyAny>,
            stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, kernel_size, stride = None, padding = None, **keywords)
        "(x, kernel_size, stride=None, padding=0, *, dilation=1, ceil_mode=False, \
         return_indices=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         index_type='int64', index_axis=None, index_order='row_major', device=None)"
    (segment_max, Maximum) => segment(data: &Bound<'py, PyAny>, segment_ids: &Bound<'py, PyAny>,
            num_segments: Optional<'_, 'py>)
        (data, segment_ids, num_segments = None, **keywords)
        "(data, segment_ids, num_segments=None, *, segments='sorted', mode='raise', \
         empty='zero', return_indices=False, index_type='int64', nan='propagate', device=None)"
    (segment_min, Minimum) => segment(data: &Bound<'py, PyAny>, segment_ids: &Bound<'py, PyAny>,
            num_segments: Optional<'_, 'py>)
        (data, segment_ids, num_segments = None, **keywords)
        "(data, segment_ids, num_segments=None, *, segments='sorted', mode='raise', \
         empty='zero', return_indices=False, index_type='int64', nan='propagate', device=None)"
    (reduce_max_backward, Maximum) => reduce_backward(x: &Bound<'py, PyAny>,
            gradient: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, gradient, axis = None, **keywords)
        "(x, gradient, axis=None, *, shape=None, keepdims=False, select_last=False, \
         index_type='int64', nan='propagate', device=None)"
    (reduce_min_backward, Minimum) => reduce_backward(x: &Bound<'py, PyAny>,
            gradient: &Bound<'py, PyAny>, axis: Optional<'_, 'py>)
        (x, gradient, axis = None, **keywords)
        "(x, gradient, axis=None, *, shape=None, keepdims=False, select_last=False, \
         index_type='int64', nan='propagate', device=None)"
    (max_pool_backward, Maximum) => pool_backward(x: &Bound<'py, PyAny>,
            gradient: &Bound<'py, PyAny>, kernel_size: &Bound<'py, PyAny>,
            stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, gradient, kernel_size, stride = None, padding = None, **keywords)
        "(x, gradient, kernel_size, stride=None, padding=0, *, shape=None, dilation=1, \
         ceil_mode=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         index_type='int64', index_axis=None, index_order='row_major', device=None)"
    (min_pool_backward, Minimum) => pool_backward(x: &Bound<'py, PyAny>,
            gradient: &Bound<'py, PyAny>, kernel_size: &Bound<'py, PyAny>,
            stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, gradient, kernel_size, stride = None, padding = None, **keywords)
        "(x, gradient, kernel_size, stride=None, padding=0, *, shape=None, dilation=1, \
         ceil_mode=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         index_type='int64', index_axis=None, index_order='row_major', device=None)"
    (segment_max_backward, Maximum) => segment_backward(data: &Bound<'py, PyAny>,
            segment_ids: &Bound<'py, PyAny>, gradient: &Bound<'py, PyAny>)
        (data, segment_ids, gradient, **keywords)
        "(data, segment_ids, gradient, *, shape=None, segments='sorted', mode='raise', \
         index_type='int64', nan='propagate', device=None)"
    (segment_min_backward, Minimum) => segment_backward(data: &Bound<'py, PyAny>,
            segment_ids: &Bound<'py, PyAny>, gradient: &Bound<'py, PyAny>)
        (data, segment_ids, gradient, **keywords)
        "(data, segment_ids, gradient, *, shape=None, segments='sorted', mode='raise', \
         index_type='int64', nan='propagate', device=None)"
}

fn reduce<'py>(
    py: Python<'py>,
    extremum: Extremum,
    x: &Bound<'py, PyAny>,
    axis: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let (op, _) = attributes::reduce(extremum, axis, &mut fields, false)?;
    call(py, op.into(), &[Input::of(x)?], fields)
}

fn position<'py>(
    py: Python<'py>,
    extremum: Extremum,
    x: &Bound<'py, PyAny>,
    axis: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let (op, _) = attributes::reduce(extremum, axis, &mut fields, true)?;
    call(py, op.into(), &[Input::of(x)?], fields)
}

fn pool<'py>(
    py: Python<'py>,
    extremum: Extremum,
    x: &Bound<'py, PyAny>,
    kernel_size: &Bound<'py, PyAny>,
    stride: Optional<'_, 'py>,
    padding: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let input = Input::of(x)?;
    let rank = input.desc().rank();
    let (op, _) = attributes::pool(extremum, rank, kernel_size, stride, padding, &mut fields)?;
    call(py, op.into(), &[input], fields)
}

fn segment<'py>(
    py: Python<'py>,
    extremum: Extremum,
    data: &Bound<'py, PyAny>,
    segment_ids: &Bound<'py, PyAny>,
    num_segments: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let (op, _, refuses) = attributes::segment(extremum, num_segments, &mut fields)?;
    let inputs = [Input::of(data)?, Input::of(segment_ids)?];
    if refuses {
        check_ids(py, &op, inputs[0].desc(), &inputs[1])?;
    }
    call(py, op.into(), &inputs, fields)
}

fn reduce_backward<'py>(
    py: Python<'py>,
    extremum: Extremum,
    x: &Bound<'py, PyAny>,
    gradient: &Bound<'py, PyAny>,
    axis: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let (op, positions) = attributes::reduce(extremum, axis, &mut fields, false)?;
    let op = ReduceMaxBackward::new(op.indices(positions));
    let op = match fields.take("shape")? {
        Some(shape) => op.from_indices(attributes::shape("shape", &shape)?),
        None => op,
    };
    call(py, op.into(), &[Input::of(x)?, Input::of(gradient)?], fields)
}

#[expect(clippy::too_many_arguments, reason = "those of the call")]
fn pool_backward<'py>(
    py: Python<'py>,
    extremum: Extremum,
    x: &Bound<'py, PyAny>,
    gradient: &Bound<'py, PyAny>,
    kernel_size: &Bound<'py, PyAny>,
    stride: Optional<'_, 'py>,
    padding: Optional<'_, 'py>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let input = Input::of(x)?;
    let rank = input.desc().rank();
    let (op, indices) =
        attributes::pool(extremum, rank, kernel_size, stride, padding, &mut fields)?;
    let op = MaxPoolBackward::new(op.indices(indices));
    let op = match fields.take("shape")? {
        Some(shape) => op.from_indices(attributes::shape("shape", &shape)?),
        None => op,
    };
    call(py, op.into(), &[input, Input::of(gradient)?], fields)
}

/// `segment_ids` is `None` if `data` are indices and `shape` is given.
fn segment_backward<'py>(
    py: Python<'py>,
    extremum: Extremum,
    data: &Bound<'py, PyAny>,
    segment_ids: &Bound<'py, PyAny>,
    gradient: &Bound<'py, PyAny>,
    mut fields: Fields<'_, 'py>,
) -> Returned<'py> {
    let (segment, index_type, refuses) = attributes::segment(extremum, None, &mut fields)?;
    let op = SegmentMaxBackward::new(segment.clone().indices(index_type));
    let mut inputs = vec![Input::of(data)?, Input::of(gradient)?];
    let op = match fields.take("shape")? {
        Some(shape) => op.from_indices(attributes::shape("shape", &shape)?),
        None => op,
    };
    if !segment_ids.is_none() {
        let ids = Input::of(segment_ids)?;
        if refuses {
            let segment = counted(&segment, inputs[1].desc());
            check_ids(py, &segment, inputs[0].desc(), &ids)?;
        }
        inputs.insert(1, ids);
    }
    call(py, op.into(), &inputs, fields)
}

#[doc = include_str!("docs/max_unpool.txt")]
#[pyfunction]
#[pyo3(
    signature = (values, indices, shape, **keywords),
    text_signature = "(values, indices, shape, *, indices_within=None, device=None)"
)]
fn max_unpool<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> Returned<'py> {
    let mut fields = Fields::new("max_unpool", keywords);
    let mut op = MaxUnpool::new(attributes::shape("shape", shape)?);
    if let Some(within) = fields.take("indices_within")? {
        op = op.indices_within(attributes::shape("indices_within", &within)?);
    }
    call(py, op.into(), &[Input::of(values)?, Input::of(indices)?], fields)
}

/// The shape of the result of `max_pool`, for data of a shape. For `wgmax.dask`.
#[pyfunction(name = "_pool_shape")]
#[pyo3(signature = (shape, dtype, kernel_size, stride = None, padding = None, **keywords))]
fn pool_shape<'py>(
    shape: Vec<usize>,
    dtype: &Bound<'py, PyAny>,
    kernel_size: &Bound<'py, PyAny>,
    stride: Optional<'_, 'py>,
    padding: Optional<'_, 'py>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<usize>> {
    let mut fields = Fields::new("max_pool", keywords);
    let (kernel, rank) = (kernel_size, shape.len());
    let pool = attributes::pool(Extremum::Maximum, rank, kernel, stride, padding, &mut fields)?.0;
    fields.end()?;
    let desc = TensorDesc::new(element_type_of(dtype)?, shape);
    let results = desc.and_then(|desc| pool.infer(&desc)).map_err(raised)?;
    Ok(results[0].shape().to_vec())
}
