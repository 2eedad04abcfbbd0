//! The functions of operators that Python calls. Their documentation is in `docs/`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wgmax::operator::{
    MaxPoolBackward, MaxUnpool, ReduceMaxBackward, ScatterMaxBackward, SegmentMaxBackward,
};
use wgmax::{Extremum, TensorDesc};

use crate::attributes::{self, Optional};
use crate::error::{ArgumentError, raised};
use crate::exchange::element_type_of;
use crate::fields::Fields;
use crate::run::{Input, call, call_batched, check_ids, counted};

/// An argument of a call.
type Given<'a, 'py> = &'a Bound<'py, PyAny>;

/// The return value of a call.
type Returned<'py> = PyResult<Bound<'py, PyAny>>;

/// The functions of each kind of operator: two with the same body, for the maximum and for the
/// minimum.
macro_rules! both {
    ($(
        [$($max:ident $min:ident),*] $args:tt $signature:tt $text:tt
        |$py:ident, $extremum:ident, $fields:ident| $body:block
    )*) => {
        $($(
            both! { @one $max, Maximum, $args $signature $text, $py, $extremum, $fields, $body }
            both! { @one $min, Minimum, $args $signature $text, $py, $extremum, $fields, $body }
        )*)*

        /// Adds the operators to the module.
        pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $($(
                module.add_function(wrap_pyfunction!($max, module)?)?;
                module.add_function(wrap_pyfunction!($min, module)?)?;
            )*)*
            module.add_function(wrap_pyfunction!(pool_shape, module)?)?;
            module.add_function(wrap_pyfunction!(max_unpool, module)?)
        }
    };
    (
        @one $name:ident, $which:ident, ($($arg:ident: $type:ty),*) $signature:tt $text:tt,
        $py:ident, $extremum:ident, $fields:ident, $body:block
    ) => {
        #[doc = include_str!(concat!("docs/", stringify!($name), ".txt"))]
        #[pyfunction]
        #[pyo3(signature = $signature, text_signature = $text)]
        fn $name<'py>(
            $py: Python<'py>,
            $($arg: $type,)*
            keywords: Option<&Bound<'py, PyDict>>,
        ) -> Returned<'py> {
            let ($extremum, mut $fields) =
                (Extremum::$which, Fields::new(stringify!($name), keywords));
            $body
        }
    };
}

both! {
    [reduce_max reduce_min](x: Given<'_, 'py>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, return_indices=False, select_last=False, \
         index_type='int64', nan='propagate', empty='negative_infinity', initial=None, out=None, \
         device=None)"
    |py, extremum, fields| {
        let (op, _) = attributes::reduce(extremum, axis, &mut fields, false)?;
        call(py, op.into(), &[Input::of(x)?], fields)
    }
    [arg_max arg_min](x: Given<'_, 'py>, axis: Optional<'_, 'py>)
        (x, axis = None, **keywords)
        "(x, axis=None, *, keepdims=False, select_last=False, index_type='int64', \
         nan='propagate', out=None, device=None)"
    |py, extremum, fields| {
        let (op, _) = attributes::reduce(extremum, axis, &mut fields, true)?;
        call(py, op.into(), &[Input::of(x)?], fields)
    }
    [max_pool min_pool, max_pool1d min_pool1d, max_pool2d min_pool2d, max_pool3d min_pool3d]
        (x: Given<'_, 'py>, kernel_size: Given<'_, 'py>,
            stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, kernel_size, stride = None, padding = None, **keywords)
        "(x, kernel_size, stride=None, padding=0, *, dilation=1, ceil_mode=False, \
         return_indices=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         initial=None, index_type='int64', index_axis=None, index_order='row_major', out=None, \
         device=None)"
    |py, extremum, fields| {
        let (input, is_single) = batch(x, &mut fields)?;
        let rank = input.desc().rank();
        let (op, _) = attributes::pool(extremum, rank, kernel_size, stride, padding, &mut fields)?;
        call_batched(py, op.into(), &[input], fields, is_single)
    }
    [adaptive_max_pool adaptive_min_pool, adaptive_max_pool1d adaptive_min_pool1d,
        adaptive_max_pool2d adaptive_min_pool2d, adaptive_max_pool3d adaptive_min_pool3d]
        (x: Given<'_, 'py>, output_size: Given<'_, 'py>)
        (x, output_size, **keywords)
        "(x, output_size, *, return_indices=False, layout='NCX', nan='propagate', \
         initial=None, index_type='int64', index_axis=None, index_order='row_major', out=None, \
         device=None)"
    |py, extremum, fields| {
        let (input, is_single) = batch(x, &mut fields)?;
        let shape = input.desc().shape();
        let (op, _) = attributes::adaptive(extremum, shape, output_size, &mut fields)?;
        call_batched(py, op.into(), &[input], fields, is_single)
    }
    [segment_max segment_min](data: Given<'_, 'py>, segment_ids: Given<'_, 'py>,
            num_segments: Optional<'_, 'py>)
        (data, segment_ids, num_segments = None, **keywords)
        "(data, segment_ids, num_segments=None, *, segments='sorted', mode='raise', \
         empty='zero', initial=None, return_indices=False, index_type='int64', nan='propagate', \
         out=None, device=None)"
    |py, extremum, fields| {
        let (op, _, refuses) = attributes::segment(extremum, num_segments, &mut fields)?;
        let inputs = [Input::of(data)?, Input::of_integers(segment_ids)?];
        if refuses {
            check_ids(py, &op, inputs[0].desc(), &inputs[1])?;
        }
        call(py, op.into(), &inputs, fields)
    }
    [scatter_max scatter_min](data: Given<'_, 'py>, indices: Given<'_, 'py>,
            updates: Given<'_, 'py>, axis: Optional<'_, 'py>)
        (data, indices, updates, axis = None, **keywords)
        "(data, indices, updates, axis=0, *, vectors=False, include_data=True, \
         return_indices=False, index_type='int64', nan='propagate', out=None, device=None)"
    |py, extremum, fields| {
        let (op, _) = attributes::scatter(extremum, axis, &mut fields)?;
        let inputs = [Input::of(data)?, Input::of_integers(indices)?, Input::of(updates)?];
        call(py, op.into(), &inputs, fields)
    }
    [reduce_max_backward reduce_min_backward](x: Given<'_, 'py>, gradient: Given<'_, 'py>,
            axis: Optional<'_, 'py>)
        (x, gradient, axis = None, **keywords)
        "(x, gradient, axis=None, *, shape=None, keepdims=False, select_last=False, \
         index_type='int64', nan='propagate', out=None, device=None)"
    |py, extremum, fields| {
        let (op, indices) = attributes::reduce(extremum, axis, &mut fields, false)?;
        let mut op = ReduceMaxBackward::new(op.indices(indices));
        op.shape = attributes::shape(&mut fields, "shape")?;
        call(py, op.into(), &[Input::of(x)?, Input::of(gradient)?], fields)
    }
    [max_pool_backward min_pool_backward](x: Given<'_, 'py>, gradient: Given<'_, 'py>,
            kernel_size: Given<'_, 'py>, stride: Optional<'_, 'py>, padding: Optional<'_, 'py>)
        (x, gradient, kernel_size, stride = None, padding = None, **keywords)
        "(x, gradient, kernel_size, stride=None, padding=0, *, shape=None, dilation=1, \
         ceil_mode=False, layout='NCX', nan='propagate', empty='negative_infinity', \
         index_type='int64', index_axis=None, index_order='row_major', out=None, device=None)"
    |py, extremum, fields| {
        let input = Input::of(x)?;
        let rank = input.desc().rank();
        let (op, indices) =
            attributes::pool(extremum, rank, kernel_size, stride, padding, &mut fields)?;
        let mut op = MaxPoolBackward::new(op.indices(indices));
        op.shape = attributes::shape(&mut fields, "shape")?;
        call(py, op.into(), &[input, Input::of(gradient)?], fields)
    }
    [adaptive_max_pool_backward adaptive_min_pool_backward](x: Given<'_, 'py>,
            gradient: Given<'_, 'py>, output_size: Given<'_, 'py>)
        (x, gradient, output_size, **keywords)
        "(x, gradient, output_size, *, shape=None, layout='NCX', nan='propagate', \
         index_type='int64', index_axis=None, index_order='row_major', out=None, device=None)"
    |py, extremum, fields| {
        let (input, shape) = (Input::of(x)?, attributes::shape(&mut fields, "shape")?);
        let of_data = shape.as_deref().unwrap_or(input.desc().shape());
        let (op, indices) = attributes::adaptive(extremum, of_data, output_size, &mut fields)?;
        let mut op = MaxPoolBackward::new(op.indices(indices));
        op.shape = shape;
        call(py, op.into(), &[input, Input::of(gradient)?], fields)
    }
    // `segment_ids` is `None` if `data` are indices and `shape` is given.
    [segment_max_backward segment_min_backward](data: Given<'_, 'py>,
            segment_ids: Given<'_, 'py>, gradient: Given<'_, 'py>)
        (data, segment_ids, gradient, **keywords)
        "(data, segment_ids, gradient, *, shape=None, segments='sorted', mode='raise', \
         index_type='int64', nan='propagate', out=None, device=None)"
    |py, extremum, fields| {
        let (segment, index_type, refuses) = attributes::segment(extremum, None, &mut fields)?;
        let mut op = SegmentMaxBackward::new(segment.clone().indices(index_type));
        let mut inputs = vec![Input::of(data)?, Input::of(gradient)?];
        op.shape = attributes::shape(&mut fields, "shape")?;
        if !segment_ids.is_none() {
            let ids = Input::of_integers(segment_ids)?;
            if refuses {
                let segment = counted(&segment, inputs[1].desc());
                check_ids(py, &segment, inputs[0].desc(), &ids)?;
            }
            inputs.insert(1, ids);
        }
        call(py, op.into(), &inputs, fields)
    }
    // `indices` and `updates` are `None` if `data` are the winners' indices and `shape` is given.
    [scatter_max_backward scatter_min_backward](data: Given<'_, 'py>, indices: Given<'_, 'py>,
            updates: Given<'_, 'py>, gradient: Given<'_, 'py>, axis: Optional<'_, 'py>)
        (data, indices, updates, gradient, axis = None, **keywords)
        "(data, indices, updates, gradient, axis=0, *, shape=None, vectors=False, \
         include_data=True, index_type='int64', nan='propagate', out=None, device=None)"
    |py, extremum, fields| {
        let (scatter, index_type) = attributes::scatter(extremum, axis, &mut fields)?;
        let mut op = ScatterMaxBackward::new(scatter.indices(index_type));
        op.shape = attributes::shape(&mut fields, "shape")?;
        let mut inputs = vec![Input::of(data)?];
        if !indices.is_none() {
            inputs.push(Input::of_integers(indices)?);
        }
        if !updates.is_none() {
            inputs.push(Input::of(updates)?);
        }
        inputs.push(Input::of(gradient)?);
        call(py, op.into(), &inputs, fields)
    }
}

/// The input of a pooling, and whether its batch was added. If the function's name ends with a
/// number of spatial axes, the rank shows whether there is a batch.
fn batch(x: Given<'_, '_>, fields: &mut Fields<'_, '_>) -> PyResult<(Input, bool)> {
    let (input, function) = (Input::of(x)?, fields.function());
    let rank = input.desc().rank();
    let digit = function.strip_suffix('d').and_then(|name| name.chars().last()?.to_digit(10));
    match digit.map(|spatial| rank.checked_sub(spatial as usize)) {
        None | Some(Some(2)) => Ok((input, false)),
        Some(Some(1)) => {
            fields.shift("index_axis", rank)?;
            Ok((input.batched()?, true))
        }
        Some(_) => Err(ArgumentError::new_err(format!(
            "{function} takes channels and the spatial axes, with or without a batch before them; \
             x has {rank} axes"
        ))),
    }
}

#[doc = include_str!("docs/max_unpool.txt")]
#[pyfunction]
#[pyo3(
    signature = (values, indices, shape, **keywords),
    text_signature = "(values, indices, shape, *, indices_within=None, out=None, device=None)"
)]
fn max_unpool<'py>(
    py: Python<'py>,
    values: Given<'_, 'py>,
    indices: Given<'_, 'py>,
    shape: Given<'_, 'py>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> Returned<'py> {
    let mut fields = Fields::new("max_unpool", keywords);
    let mut op = MaxUnpool::new(attributes::sizes("shape", shape)?);
    op.indices_within =
        attributes::shape(&mut fields, "indices_within")?.unwrap_or(op.indices_within);
    call(py, op.into(), &[Input::of(values)?, Input::of_integers(indices)?], fields)
}

/// The shape of the result of `max_pool`, for data of a shape. For `wgmax.dask`.
#[pyfunction(name = "_pool_shape")]
#[pyo3(signature = (shape, dtype, kernel_size, stride = None, padding = None, **keywords))]
fn pool_shape<'py>(
    shape: Vec<usize>,
    dtype: Given<'_, 'py>,
    kernel_size: Given<'_, 'py>,
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
