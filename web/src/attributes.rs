//! Operators from JavaScript objects.

use std::collections::BTreeMap;

use js_sys::{Array, Object};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wgmax::dialect::{Attribute, Dialect, Input, Node};
use wgmax::operator::{
    EmptySegment, EmptySet, Indices, Layout, MaxPool, Order, Padding, Positions, ReduceMax,
    Rounding, SegmentMax, Segments,
};
use wgmax::{ElementType, Error, Extremum, Nan};

use crate::error::{Result, js};
use crate::host::HostTensor;
use crate::object::{Choices, Fields, LIST, bad, choices, integer, integers, text};
use crate::tensor::Tensor;

type Made<T> = std::result::Result<T, Error>;

const NAN: Choices<Nan> = choices!(Nan: "propagate" = Propagate; "ignore" = Ignore);
const EXTREMUM: Choices<Extremum> = choices!(Extremum: "maximum" = Maximum; "minimum" = Minimum);
const EMPTY_SET: Choices<EmptySet> =
    choices!(EmptySet: "negativeInfinity" = NegativeInfinity; "lowest" = Lowest);
const INDEX_TYPE: Choices<ElementType> = choices!(ElementType: "i32" = I32; "i64" = I64);
const ROUNDING: Choices<Rounding> =
    choices!(Rounding: "floor" = Floor, "ceil" = Ceil; "ceilTorch" = CeilTorch);
const LAYOUT: Choices<Layout> = choices!(Layout: "ncx" = Ncx; "nxc" = Nxc);
const ORDER: Choices<Order> = choices!(Order: "rowMajor" = RowMajor; "columnMajor" = ColumnMajor);
const SEGMENTS: Choices<Segments> =
    choices!(Segments: "sorted" = Sorted, "unsorted" = Unsorted; "offsets" = Offsets);
const EMPTY_SEGMENT: Choices<EmptySegment> =
    choices!(EmptySegment: "zero" = Zero, "lowest" = Lowest; "negativeInfinity" = NegativeInfinity);
const DIALECT: Choices<Dialect> = choices!(
    Dialect: "onnx" = Onnx, "onednn" = OneDnn, "openvino" = OpenVino; "neutral" = Neutral
);

/// An operator with its attributes.
#[wasm_bindgen]
pub struct Operator(pub(crate) wgmax::operator::Operator);

#[wasm_bindgen]
impl Operator {
    /// ReduceMax with the attributes of an object.
    #[wasm_bindgen(js_name = reduceMax)]
    pub fn reduce_max(attributes: JsValue) -> Result<Operator> {
        reduce_max(Fields::new(attributes, "ReduceMax")).map(|op| Self(op.into())).map_err(js)
    }

    /// MaxPool with the attributes of an object.
    #[wasm_bindgen(js_name = maxPool)]
    pub fn max_pool(attributes: JsValue) -> Result<Operator> {
        max_pool(Fields::new(attributes, "MaxPool")).map(|op| Self(op.into())).map_err(js)
    }

    /// SegmentMax with the attributes of an object.
    #[wasm_bindgen(js_name = segmentMax)]
    pub fn segment_max(attributes: JsValue) -> Result<Operator> {
        segment_max(Fields::new(attributes, "SegmentMax")).map(|op| Self(op.into())).map_err(js)
    }

    /// The operator of a node of ONNX, oneDNN Graph or OpenVINO. `others` are the inputs after the
    /// data, as [`HostTensor`]s; one that is absent is `undefined`. Ids and indices are checked.
    pub fn node(node: JsValue, data: &Tensor, others: Vec<JsValue>) -> Result<Operator> {
        let others: Vec<Option<wgmax::Tensor>> =
            others.iter().map(HostTensor::of).collect::<Result<_>>()?;
        let others: Vec<Option<&wgmax::Tensor>> = others.iter().map(Option::as_ref).collect();
        let data = data.inner.desc();
        let mut inputs = vec![Some(Input::Desc(data))];
        inputs.extend(others.iter().map(|other| other.map(Input::Tensor)));
        let made = read_node(Fields::new(node, "node")).and_then(|node| {
            let operator = node.operator_for(&inputs, None)?;
            let taken = others.iter().take(operator.input_count() - 1).flatten();
            operator.checked_for(data, &taken.copied().collect::<Vec<_>>())
        });
        made.map(Self).map_err(js)
    }

    /// How many tensors the operator takes.
    #[wasm_bindgen(getter, js_name = inputCount)]
    pub fn input_count(&self) -> usize {
        self.0.input_count()
    }

    /// The operator for segment ids on the host: they are checked, and counted.
    pub fn checked(&self, data: &Tensor, ids: JsValue) -> Result<Operator> {
        match (&self.0, HostTensor::of(&ids)?) {
            (wgmax::operator::Operator::SegmentMax(op), Some(ids)) => {
                op.checked(data.inner.desc(), &ids).map(|op| Self(op.into())).map_err(js)
            }
            (other, _) => Ok(Self(other.clone())),
        }
    }
}

/// An operator with an attribute, if it is given.
fn set<O, V>(op: O, value: Option<V>, with: impl FnOnce(O, V) -> O) -> O {
    match value {
        Some(value) => with(op, value),
        None => op,
    }
}

fn reduce_max(mut fields: Fields) -> Made<ReduceMax> {
    let mut op = ReduceMax::new();
    op = set(op, fields.integers("axes")?, ReduceMax::axes);
    op = set(op, fields.boolean("keepDims")?, ReduceMax::keep_dims);
    op = set(op, fields.choice("extremum", &EXTREMUM)?, ReduceMax::extremum);
    op = set(op, fields.choice("nan", &NAN)?, ReduceMax::nan);
    op = set(op, fields.choice("emptySet", &EMPTY_SET)?, ReduceMax::empty_set);
    op = set(op, fields.take("indices").map(read_positions).transpose()?, ReduceMax::indices);
    op = set(op, fields.boolean("values")?, ReduceMax::values);
    fields.end()?;
    Ok(op)
}

/// `true`, `false`, or an object with `type` and `last`.
fn read_positions(value: JsValue) -> Made<Option<Positions>> {
    let Some(mut fields) = indices_fields(value)? else { return Ok(None) };
    let mut positions = Positions::default();
    positions.element_type = fields.choice("type", &INDEX_TYPE)?.unwrap_or(positions.element_type);
    positions.last = fields.boolean("last")?.unwrap_or(positions.last);
    fields.end()?;
    Ok(Some(positions))
}

/// The fields of an object, none of `true`; `None` of `false`.
fn indices_fields(value: JsValue) -> Made<Option<Fields>> {
    match value.as_bool() {
        Some(false) => Ok(None),
        Some(true) => Ok(Some(Fields::new(JsValue::UNDEFINED, "indices"))),
        None if value.is_object() => Ok(Some(Fields::new(value, "indices"))),
        None => Err(bad("indices", "true, false, or an object", &value)),
    }
}

fn max_pool(mut fields: Fields) -> Made<MaxPool> {
    let kernel = fields.integers("kernel")?;
    let kernel = kernel.ok_or_else(|| bad("kernel", LIST, &JsValue::UNDEFINED))?;
    let mut op = MaxPool::new(kernel);
    op = set(op, fields.integers("strides")?, MaxPool::strides);
    op = set(op, fields.integers("dilations")?, MaxPool::dilations);
    op = set(op, fields.take("padding").as_ref().map(read_padding).transpose()?, MaxPool::padding);
    op = set(op, fields.choice("rounding", &ROUNDING)?, MaxPool::rounding);
    op = set(op, fields.choice("layout", &LAYOUT)?, MaxPool::layout);
    op = set(op, fields.choice("extremum", &EXTREMUM)?, MaxPool::extremum);
    op = set(op, fields.choice("nan", &NAN)?, MaxPool::nan);
    op = set(op, fields.choice("emptyWindow", &EMPTY_SET)?, MaxPool::empty_window);
    op = set(op, fields.take("indices").map(read_indices).transpose()?, MaxPool::indices);
    fields.end()?;
    Ok(op)
}

/// `"valid"`, `"sameUpper"`, `"sameLower"`, or the positions before and after each spatial axis,
/// all of those before first.
fn read_padding(value: &JsValue) -> Made<Padding> {
    let expected = "\"valid\", \"sameUpper\", \"sameLower\", or begins and then ends";
    match value.as_string().as_deref() {
        Some("valid") => return Ok(Padding::Valid),
        Some("sameUpper") => return Ok(Padding::SameUpper),
        Some("sameLower") => return Ok(Padding::SameLower),
        _ => {}
    }
    let pads = integers(value).filter(|pads| pads.len() % 2 == 0);
    let pads = pads.ok_or_else(|| bad("padding", expected, value))?;
    let (begin, end) = pads.split_at(pads.len() / 2);
    Ok(Padding::Explicit { begin: begin.to_vec(), end: end.to_vec() })
}

/// `true`, `false`, or an object with `type`, `order` and `axis`.
fn read_indices(value: JsValue) -> Made<Option<Indices>> {
    let Some(mut fields) = indices_fields(value)? else { return Ok(None) };
    let mut indices = Indices::default();
    indices.element_type = fields.choice("type", &INDEX_TYPE)?.unwrap_or(indices.element_type);
    indices.order = fields.choice("order", &ORDER)?.unwrap_or(indices.order);
    indices.axis = fields.integer("axis")?.unwrap_or(indices.axis);
    fields.end()?;
    Ok(Some(indices))
}

fn segment_max(mut fields: Fields) -> Made<SegmentMax> {
    let mut op = match fields.choice("segments", &SEGMENTS)? {
        None | Some(Segments::Sorted) => SegmentMax::sorted(),
        Some(Segments::Unsorted) => SegmentMax::unsorted(),
        Some(Segments::Offsets) => SegmentMax::offsets(),
    };
    op = set(op, fields.integer("numSegments")?, SegmentMax::num_segments);
    op = set(op, fields.choice("emptySegment", &EMPTY_SEGMENT)?, SegmentMax::empty_segment);
    op = set(op, fields.choice("extremum", &EXTREMUM)?, SegmentMax::extremum);
    op = set(op, fields.choice("nan", &NAN)?, SegmentMax::nan);
    if let Some(indices) = fields.take("indices") {
        op = op.indices(read_indices(indices)?.map(|indices| indices.element_type));
    }
    op = set(op, fields.boolean("status")?, SegmentMax::status);
    fields.end()?;
    Ok(op)
}

fn read_node(mut fields: Fields) -> Made<Node> {
    let dialect = fields.choice("dialect", &DIALECT)?;
    let dialect = dialect.ok_or_else(|| bad("dialect", DIALECT.expected, &JsValue::UNDEFINED))?;
    let operator = fields.take("operator").and_then(|name| name.as_string());
    let operator = operator.ok_or_else(|| bad("operator", "a name", &JsValue::UNDEFINED))?;
    let number = |attribute, value: i64| {
        u32::try_from(value).map_err(|_| Error::BadAttribute {
            attribute,
            expected: "an integer from 0 on",
            value: value.to_string(),
        })
    };
    let version = fields.integer("version")?.map(|v| number("version", v)).transpose()?;
    let mut attributes = BTreeMap::new();
    if let Some(given) = fields.take("attributes") {
        for entry in Object::entries(given.unchecked_ref()).iter() {
            let entry: Array = entry.unchecked_into();
            let name = entry.get(0).as_string().unwrap_or_default();
            attributes.insert(name, attribute(&entry.get(1)));
        }
    }
    let outputs = number("outputs", fields.integer("outputs")?.unwrap_or(1))? as usize;
    fields.end()?;
    Ok(Node { dialect, operator, version, attributes, outputs })
}

fn attribute(value: &JsValue) -> Attribute {
    let list = || integers(value).map(Attribute::Ints);
    let bool = value.as_bool().map(Attribute::Bool);
    let bool_or_text = bool.or_else(|| value.as_string().map(Attribute::Text));
    bool_or_text
        .or_else(|| integer(value).map(Attribute::Int))
        .or_else(list)
        .unwrap_or_else(|| Attribute::Other(text(value)))
}
