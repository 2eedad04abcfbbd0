//! Operators from JavaScript objects.

use std::collections::BTreeMap;

use js_sys::{Array, Object};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wgmax::dialect::{Attribute, Dialect, Input, Node};
use wgmax::operator::{
    EmptySet, Indices, Layout, MaxPool, MaxUnpool, Numbering, Padding, ReduceMax, Rounding,
    ScatterBy, ScatterMax, SegmentMax, Segments,
};
use wgmax::{ElementType, Error, Extremum, Nan};

use crate::error::{Result, js};
use crate::host::HostTensor;
use crate::object::{
    Choices, Fields, LIST, bad, choices, integer, integers, text, unsigned, unsigned_list,
};
use crate::tensor::Tensor;

type Made<T> = std::result::Result<T, Error>;

const NAN: Choices<Nan> = choices!(Nan: "propagate" = Propagate; "ignore" = Ignore);
const EXTREMUM: Choices<Extremum> = choices!(Extremum: "maximum" = Maximum; "minimum" = Minimum);
const EMPTY_SET: Choices<EmptySet> =
    choices!(EmptySet: "negativeInfinity" = Identity; "lowest" = Finite);
const INDEX_TYPE: Choices<ElementType> = choices!(ElementType: "i32" = I32; "i64" = I64);
const ROUNDING: Choices<Rounding> =
    choices!(Rounding: "floor" = Floor, "ceil" = Ceil; "ceilTorch" = CeilTorch);
const LAYOUT: Choices<Layout> = choices!(Layout: "ncx" = Ncx; "nxc" = Nxc);
const ORDER: Choices<Numbering> =
    choices!(Numbering: "rowMajor" = Natural; "columnMajor" = ColumnMajor);
const SEGMENTS: Choices<Segments> =
    choices!(Segments: "sorted" = Sorted, "unsorted" = Unsorted; "offsets" = Offsets);
const EMPTY_SEGMENT: Choices<EmptySet> =
    choices!(EmptySet: "zero" = Zero, "lowest" = Finite; "negativeInfinity" = Identity);
const DIALECT: Choices<Dialect> = choices!(
    Dialect: "onnx" = Onnx, "onednn" = OneDnn, "openvino" = OpenVino, "webnn" = WebNn;
    "neutral" = Neutral
);

/// An operator with its attributes.
#[wasm_bindgen]
pub struct Operator(pub(crate) wgmax::operator::Operator);

#[wasm_bindgen]
impl Operator {
    /// The operator with a name, such as `"maxPool"`, or its gradient, such as `"maxPoolBackward"`, with
    /// the attributes of an object. A gradient may have the `shape` of the data: then its first input is
    /// indices.
    pub fn make(name: &str, attributes: JsValue) -> Result<Operator> {
        make(name, attributes).map(Self).map_err(js)
    }

    /// The operator of a node of ONNX, oneDNN Graph, OpenVINO or WebNN. `others` are the inputs after the
    /// data, as [`HostTensor`]s; absent ones are `undefined`. Ids and indices are checked.
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

    /// The operator for segment ids on the host. They are checked, and counted.
    pub fn checked(&self, data: &Tensor, ids: JsValue) -> Result<Operator> {
        match (&self.0, HostTensor::of(&ids)?) {
            (wgmax::operator::Operator::SegmentMax(op), Some(ids)) => {
                op.checked(data.inner.desc(), &ids).map(|op| Self(op.into())).map_err(js)
            }
            (other, _) => Ok(Self(other.clone())),
        }
    }
}

fn make(name: &str, attributes: JsValue) -> Made<wgmax::operator::Operator> {
    type Read = fn(Fields) -> Made<wgmax::operator::Operator>;
    let (base, is_gradient) =
        name.strip_suffix("Backward").map_or((name, false), |base| (base, true));
    let (operator, read): (_, Read) = match base {
        "reduceMax" => ("ReduceMax", |fields| Ok(reduce_max(fields)?.into())),
        "maxPool" => ("MaxPool", |fields| Ok(max_pool(fields)?.into())),
        "segmentMax" => ("SegmentMax", |fields| Ok(segment_max(fields)?.into())),
        "scatterMax" => ("ScatterMax", |fields| Ok(scatter_max(fields)?.into())),
        _ => ("MaxUnpool", |fields| Ok(max_unpool(fields)?.into())),
    };
    let mut fields = Fields::new(attributes, operator);
    if !is_gradient {
        return read(fields);
    }
    let given = fields.shape("shape")?;
    let read = read(fields)?;
    let mut made = read.clone().backward().unwrap_or(read);
    match &mut made {
        wgmax::operator::Operator::ReduceMaxBackward(op) => op.shape = given,
        wgmax::operator::Operator::MaxPoolBackward(op) => op.shape = given,
        wgmax::operator::Operator::SegmentMaxBackward(op) => op.shape = given,
        wgmax::operator::Operator::ScatterMaxBackward(op) => op.shape = given,
        _ => {}
    }
    Ok(made)
}

fn max_unpool(mut fields: Fields) -> Made<MaxUnpool> {
    let missing = || bad("shape", LIST, &JsValue::UNDEFINED);
    let mut op = MaxUnpool::new(fields.shape("shape")?.ok_or_else(missing)?);
    op.indices_within = fields.shape("indicesWithin")?.unwrap_or(op.indices_within);
    fields.end()?;
    Ok(op)
}

fn reduce_max(mut fields: Fields) -> Made<ReduceMax> {
    let mut op = ReduceMax::new();
    op.axes = fields.integers("axes")?;
    op.keep_dims = fields.boolean("keepDims", op.keep_dims)?;
    op.extremum = fields.choice("extremum", &EXTREMUM, op.extremum)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    op.empty_set = fields.choice("emptySet", &EMPTY_SET, op.empty_set)?;
    op.initial = fields.scalar("initial")?;
    op.indices = read_indices(&mut fields, |fields, indices| {
        indices.last = fields.boolean("last", indices.last)?;
        Ok(())
    })?;
    op.values = fields.boolean("values", op.values)?;
    fields.end()?;
    Ok(op)
}

/// `indices`: `true`, `false`, or an object with `type` and the fields that `read` reads.
fn read_indices(
    fields: &mut Fields,
    read: impl FnOnce(&mut Fields, &mut Indices) -> Made<()>,
) -> Made<Option<Indices>> {
    let Some(value) = fields.take("indices") else { return Ok(None) };
    let object = match value.as_bool() {
        Some(false) => return Ok(None),
        Some(true) => JsValue::UNDEFINED,
        None if value.is_object() => value,
        None => return Err(bad("indices", "true, false, or an object", &value)),
    };
    let (mut fields, mut indices) = (Fields::new(object, "indices"), Indices::default());
    indices.element_type = fields.choice("type", &INDEX_TYPE, indices.element_type)?;
    read(&mut fields, &mut indices)?;
    fields.end()?;
    Ok(Some(indices))
}

fn max_pool(mut fields: Fields) -> Made<MaxPool> {
    let (kernel, output_sizes) = (fields.numbers("kernel")?, fields.numbers("outputSizes")?);
    if kernel.is_none() && output_sizes.is_none() {
        return Err(bad("kernel", LIST, &JsValue::UNDEFINED));
    }
    let mut op = MaxPool::new(kernel.unwrap_or_default());
    op.output_sizes = output_sizes;
    op.strides = fields.numbers("strides")?;
    op.dilations = fields.numbers("dilations")?;
    if let Some(padding) = fields.take("padding") {
        op.padding = read_padding(&padding)?;
    }
    op.rounding = fields.choice("rounding", &ROUNDING, op.rounding)?;
    op.layout = fields.choice("layout", &LAYOUT, op.layout)?;
    op.extremum = fields.choice("extremum", &EXTREMUM, op.extremum)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    op.empty_window = fields.choice("emptyWindow", &EMPTY_SET, op.empty_window)?;
    op.initial = fields.scalar("initial")?;
    op.indices = read_indices(&mut fields, |fields, indices| {
        indices.numbering = fields.choice("order", &ORDER, indices.numbering)?;
        match (fields.integer("axis")?, indices.numbering) {
            (None | Some(0), _) => {}
            (Some(axis), Numbering::Natural) => indices.numbering = Numbering::FromAxis(axis),
            (Some(axis), _) => {
                let (attribute, expected) = ("axis", "0 where indices are column-major");
                return Err(Error::BadAttribute { attribute, expected, value: axis.to_string() });
            }
        }
        Ok(())
    })?;
    fields.end()?;
    Ok(op)
}

/// `"valid"`, `"sameUpper"`, `"sameLower"`, or the positions before all spatial axes and then those after
/// them.
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
    let begin = unsigned_list("padding", "0 or more", begin)?;
    Ok(Padding::Explicit { begin, end: unsigned_list("padding", "0 or more", end)? })
}

fn segment_max(mut fields: Fields) -> Made<SegmentMax> {
    let mut op = SegmentMax::sorted();
    op.segments = fields.choice("segments", &SEGMENTS, op.segments)?;
    if let Some(count) = fields.integer("numSegments")? {
        op.num_segments = Some(unsigned("numSegments", "0 or more", count, &count)?);
    }
    op.empty_segment = fields.choice("emptySegment", &EMPTY_SEGMENT, op.empty_segment)?;
    op.initial = fields.scalar("initial")?;
    op.extremum = fields.choice("extremum", &EXTREMUM, op.extremum)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    // Rows are numbered in one way, whatever the order and axis.
    op.indices = read_indices(&mut fields, |fields, _| {
        fields.choice("order", &ORDER, Numbering::Natural)?;
        fields.integer("axis").map(drop)
    })?;
    op.status = fields.boolean("status", op.status)?;
    fields.end()?;
    Ok(op)
}

fn scatter_max(mut fields: Fields) -> Made<ScatterMax> {
    let mut op = ScatterMax::along(0);
    match (fields.boolean("vectors", false)?, fields.integer("axis")?) {
        (true, None) => op.by = ScatterBy::Vectors,
        (true, Some(axis)) => {
            let (attribute, expected) = ("axis", "absent beside vectors");
            return Err(Error::BadAttribute { attribute, expected, value: axis.to_string() });
        }
        (false, axis) => op.by = ScatterBy::Axis(axis.unwrap_or(0)),
    }
    op.include_data = fields.boolean("includeData", op.include_data)?;
    op.extremum = fields.choice("extremum", &EXTREMUM, op.extremum)?;
    op.nan = fields.choice("nan", &NAN, op.nan)?;
    op.indices = read_indices(&mut fields, |_, _| Ok(()))?;
    op.status = fields.boolean("status", op.status)?;
    fields.end()?;
    Ok(op)
}

fn read_node(mut fields: Fields) -> Made<Node> {
    let dialect = DIALECT.named("dialect", &fields.take("dialect").unwrap_or_default())?;
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
