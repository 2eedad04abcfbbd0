//! Nodes of all dialects.

use super::*;
use crate::operator::{
    EmptySet, Indices, Layout, MaxPool, Numbering, ReduceMax, ReduceMaxBackward, SegmentMax,
    SegmentMaxBackward,
};
use crate::tensor::ElementType;

fn node(dialect: Dialect, version: Option<u32>) -> Node {
    Node {
        dialect,
        operator: "ReduceMax".to_string(),
        version,
        attributes: Attributes::new(),
        outputs: 1,
    }
}

fn data() -> Tensor {
    Tensor::from_slice([2, 3], &[0f32; 6]).unwrap()
}

#[test]
fn each_dialect_resolves_a_node_by_its_own_rules() {
    let data = data();
    let wide = Tensor::from_slice([2], &[-1i64, 0]).unwrap();
    let narrow = Tensor::from_slice([2], &[-1i32, 0]).unwrap();
    let resolve = |node: Node, axes, nan| node.operator(&[Some(&data), Some(axes)], nan);
    let expected = ReduceMax::new().axes([0, 1]);
    let finite = expected.clone().nan(Nan::Ignore).empty_set(EmptySet::Finite);

    let onnx = resolve(node(Dialect::Onnx, Some(18)), &wide, None).unwrap();
    assert_eq!(onnx, Operator::ReduceMax(expected.clone().keep_dims(true)));
    let onednn = resolve(node(Dialect::OneDnn, None), &narrow, None).unwrap();
    assert_eq!(onednn, Operator::ReduceMax(finite.clone()));
    let openvino = resolve(node(Dialect::OpenVino, Some(1)), &wide, None).unwrap();
    assert_eq!(openvino, Operator::ReduceMax(finite.clone()));

    let onnx = resolve(node(Dialect::Onnx, Some(18)), &wide, Some(Nan::Ignore)).unwrap();
    let ignoring = expected.keep_dims(true).nan(Nan::Ignore);
    assert_eq!(onnx, Operator::ReduceMax(ignoring));
    let propagating = Operator::ReduceMax(finite.nan(Nan::Propagate));
    let nan = Some(Nan::Propagate);
    assert_eq!(resolve(node(Dialect::OneDnn, None), &narrow, nan).unwrap(), propagating);
    assert_eq!(resolve(node(Dialect::OpenVino, Some(1)), &wide, nan).unwrap(), propagating);
}

#[test]
fn attributes_reach_the_dialect() {
    let data = data();
    let attribute = |name: &str, value| Attributes::from([(name.to_string(), value)]);
    let old = Node {
        attributes: attribute("axes", Attribute::Ints(vec![1])),
        ..node(Dialect::Onnx, Some(13))
    };
    let expected = Operator::ReduceMax(ReduceMax::new().axes([1]).keep_dims(true));
    assert_eq!(old.operator(&[Some(&data)], None).unwrap(), expected);
    for (dialect, version) in
        [(Dialect::Onnx, Some(18)), (Dialect::OneDnn, None), (Dialect::OpenVino, Some(1))]
    {
        let odd =
            Node { attributes: attribute("odd", Attribute::Int(0)), ..node(dialect, version) };
        let error = odd.operator(&[Some(&data)], None);
        assert!(matches!(error, Err(Error::UnknownAttribute { .. })), "{dialect}");
    }
}

#[test]
fn inputs_are_counted() {
    let data = data();
    let axes = Tensor::from_slice([1], &[0i64]).unwrap();
    let (data, axes) = (Some(&data), Some(&axes));
    let all = [
        node(Dialect::Onnx, Some(13)),
        node(Dialect::Onnx, Some(18)),
        node(Dialect::OneDnn, None),
        node(Dialect::OpenVino, Some(1)),
    ];
    for node in &all {
        for (inputs, count) in [
            (&[][..], 0),
            (&[None], 0),
            (&[None, axes], 1),
            (&[data, axes, axes], 3),
            (&[data, None, axes], 2),
        ] {
            let error = node.operator(inputs, None).unwrap_err();
            assert!(
                matches!(error, Error::InputCount { actual, .. } if actual == count),
                "{error}"
            );
        }
    }
    // An absent input at the end may be `None` or left out.
    for node in &all[..2] {
        let expected = node.operator(&[data], None).unwrap();
        assert_eq!(node.operator(&[data, None, None], None).unwrap(), expected);
    }
    let error = all[0].operator(&[data, axes], None).unwrap_err();
    assert_eq!(error.to_string(), "ONNX ReduceMax-13 takes 1 input; given: 2");
    let neither = all[2].operator(&[data, None], None);
    assert!(matches!(neither, Err(Error::AxesSource { .. })));
    let missing = all[3].operator(&[data, None], None);
    assert!(matches!(missing, Err(Error::InputCount { actual: 1, .. })));
}

/// A MaxPool with a window of two positions along one axis.
fn pool(dialect: Dialect, version: Option<u32>) -> Node {
    let names: &[&str] = match dialect {
        Dialect::Onnx => &["kernel_shape"],
        Dialect::OneDnn => &["kernel", "strides", "pads_begin", "pads_end"],
        Dialect::OpenVino | Dialect::WebNn | Dialect::Neutral => &["kernel", "strides"],
    };
    let values = [2, 1, 0, 0].map(|number| Attribute::Ints(vec![number]));
    let attributes = names.iter().map(|name| name.to_string()).zip(values).collect();
    Node { operator: "MaxPool".to_string(), attributes, ..node(dialect, version) }
}

#[test]
fn each_dialect_has_max_pool() {
    let data = Tensor::from_slice([1, 3, 4], &[0f32; 12]).unwrap();
    let resolve = |node: &Node, nan| node.operator(&[Some(&data)], nan).unwrap();
    let expected = MaxPool::new([2]).strides([1]).dilations([1]).pads([0], [0]);
    let ignoring = expected.clone().nan(Nan::Ignore);
    let onednn = |pool: MaxPool| pool.layout(Layout::Nxc).empty_window(EmptySet::Finite);
    for (node, ignoring, propagating) in [
        (pool(Dialect::Onnx, Some(7)), ignoring.clone(), expected.clone()),
        (pool(Dialect::OneDnn, None), onednn(ignoring.clone()), onednn(expected.clone())),
        (pool(Dialect::OpenVino, Some(1)), ignoring.clone(), expected.clone()),
    ] {
        assert_eq!(resolve(&node, None), Operator::MaxPool(ignoring));
        assert_eq!(resolve(&node, Some(Nan::Propagate)), Operator::MaxPool(propagating));
    }
    for (node, numbering) in [
        (pool(Dialect::Onnx, Some(22)), Numbering::Natural),
        (pool(Dialect::OpenVino, Some(14)), Numbering::FromAxis(0)),
    ] {
        let node = Node { outputs: 2, ..node };
        let expected = ignoring.clone().indices(Indices::default().numbering(numbering));
        assert_eq!(resolve(&node, None), Operator::MaxPool(expected));
    }
}

#[test]
fn max_pool_takes_one_input() {
    let data = Tensor::from_slice([1, 3, 4], &[0f32; 12]).unwrap();
    let data = Some(&data);
    let all = [
        pool(Dialect::Onnx, Some(22)),
        pool(Dialect::OneDnn, None),
        pool(Dialect::OpenVino, Some(14)),
    ];
    for node in all {
        assert!(node.operator(&[data, None], None).is_ok());
        for inputs in [&[][..], &[None], &[data, data]] {
            let error = node.operator(inputs, None);
            assert!(matches!(error, Err(Error::InputCount { .. })), "{}", node.dialect);
        }
    }
}

fn segments(version: Option<u32>) -> Node {
    let fill_mode = ("fill_mode".to_string(), Attribute::Text("LOWEST".to_string()));
    Node {
        operator: "SegmentMax".to_string(),
        attributes: Attributes::from([fill_mode]),
        ..node(Dialect::OpenVino, version)
    }
}

#[test]
fn only_openvino_has_segment_max() {
    let ids = Tensor::from_slice([2], &[0i64, 4]).unwrap();
    let count = Tensor::from_slice([], &[7i32]).unwrap();
    let (data, ids, count) = (Some(&data()), Some(&ids), Some(&count));
    let resolve = |inputs: &[Option<&Tensor>], nan| segments(Some(16)).operator(inputs, nan);
    let expected = SegmentMax::sorted().empty_segment(EmptySet::Finite).nan(Nan::Ignore);
    for inputs in [&[data, ids][..], &[data, ids, None]] {
        let found = resolve(inputs, None).unwrap();
        assert_eq!(found, Operator::SegmentMax(expected.clone()));
        assert_eq!(found.input_count(), 2);
    }
    let propagating = expected.num_segments(7).nan(Nan::Propagate);
    let found = resolve(&[data, ids, count], Some(Nan::Propagate)).unwrap();
    assert_eq!(found, Operator::SegmentMax(propagating));

    for (inputs, given) in [
        (&[][..], 0),
        (&[None, ids], 1),
        (&[data], 1),
        (&[data, None], 1),
        (&[data, None, count], 2),
        (&[data, ids, count, count], 4),
    ] {
        let error = resolve(inputs, None).unwrap_err().to_string();
        let expected = format!("OpenVINO SegmentMax-16 takes 2 or 3 inputs; given: {given}");
        assert_eq!(error, expected);
    }
    for dialect in [Dialect::Onnx, Dialect::OneDnn] {
        let error = Node { dialect, ..segments(Some(16)) }.operator(&[data, ids], None);
        assert!(matches!(error, Err(Error::UnknownOperator { .. })), "{dialect}");
    }
}

#[test]
fn outputs_are_counted() {
    let data = Tensor::from_slice([1, 3, 4], &[0f32; 12]).unwrap();
    let axes = Tensor::from_slice([1], &[0i32]).unwrap();
    let wide = Tensor::from_slice([1], &[0i64]).unwrap();
    let (data, axes, wide) = (Some(&data), Some(&axes), Some(&wide));
    for (node, inputs, max) in [
        (node(Dialect::Onnx, Some(18)), &[data, wide][..], 1),
        (node(Dialect::OneDnn, None), &[data, axes], 1),
        (node(Dialect::OpenVino, Some(1)), &[data, axes], 1),
        (pool(Dialect::Onnx, Some(7)), &[data], 1),
        (pool(Dialect::Onnx, Some(8)), &[data], 2),
        (pool(Dialect::OneDnn, None), &[data], 1),
        (pool(Dialect::OpenVino, Some(1)), &[data], 1),
        (pool(Dialect::OpenVino, Some(8)), &[data], 2),
        (segments(Some(16)), &[data, axes], 1),
    ] {
        for outputs in 0..4 {
            let node = Node { outputs, ..node.clone() };
            let is_valid = (1..=max).contains(&outputs);
            match node.operator(inputs, None) {
                Ok(_) => assert!(is_valid),
                Err(Error::OutputCount { actual, .. }) => assert!(actual == outputs && !is_valid),
                Err(error) => panic!("{error}"),
            }
        }
    }
    let node = Node { outputs: 3, ..pool(Dialect::Onnx, Some(8)) };
    let error = node.operator(&[data], None).unwrap_err();
    assert_eq!(error.to_string(), "ONNX MaxPool-8 gives 1 or 2 outputs; requested: 3");
}

#[test]
fn a_version_is_required_where_the_dialect_has_versions() {
    let data = data();
    for dialect in [Dialect::Onnx, Dialect::OpenVino] {
        for node in [node(dialect, None), pool(dialect, None)] {
            let error = node.operator(&[Some(&data)], None);
            assert!(matches!(error, Err(Error::MissingVersion { .. })), "{dialect}");
        }
    }
    let error = segments(None).operator(&[Some(&data)], None).unwrap_err();
    assert_eq!(error.to_string(), "OpenVINO SegmentMax needs a version");
    let error = node(Dialect::OneDnn, Some(3)).operator(&[Some(&data)], None).unwrap_err();
    assert_eq!(error.to_string(), "oneDNN Graph has no ReduceMax-3");
    let error = pool(Dialect::OneDnn, Some(3)).operator(&[Some(&data)], None).unwrap_err();
    assert_eq!(error.to_string(), "oneDNN Graph has no MaxPool-3");
}

#[test]
fn other_operators_are_unknown() {
    let data = data();
    for operator in ["ReduceMean", "reducemax", ""] {
        let node = Node { operator: operator.to_string(), ..node(Dialect::Onnx, Some(18)) };
        let error = node.operator(&[Some(&data)], None);
        assert!(matches!(error, Err(Error::UnknownOperator { .. })), "{operator:?}");
    }
}

#[test]
fn dialects_have_a_short_name_and_a_long_one() {
    let name = |short: &str| short.parse::<Dialect>().unwrap().to_string();
    assert_eq!(["onnx", "onednn", "openvino"].map(name), ["ONNX", "oneDNN Graph", "OpenVINO"]);
    assert!(matches!("ONNX".parse::<Dialect>(), Err(Error::UnknownDialect { .. })));
}

/// Gradients have several inputs and a single version.
#[test]
fn the_neutral_dialect_has_gradients() {
    let data = data();
    let gradient = Tensor::from_slice([1], &[1f32]).unwrap();
    let node = |operator: &str, version, attributes: &[(&str, Attribute)]| {
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.clone()));
        Node {
            operator: operator.to_string(),
            attributes: attributes.collect(),
            ..node(Dialect::Neutral, version)
        }
    };
    let ids = Tensor::from_slice([data.shape()[0]], &vec![0i32; data.shape()[0]]).unwrap();
    let segments = node("SegmentMaxBackward", Some(1), &[]);
    let maxima = [&[1], &data.shape()[1..]].concat();
    let bytes = vec![0; TensorDesc::new(ElementType::F32, maxima.clone()).unwrap().byte_len()];
    let rows = Tensor::from_bytes(ElementType::F32, maxima, &bytes).unwrap();
    let found = segments.operator(&[Some(&data), Some(&ids), Some(&rows)], None).unwrap();
    assert_eq!(found, SegmentMaxBackward::new(SegmentMax::sorted()).into());
    let error = segments.operator(&[Some(&data), Some(&ids)], None).unwrap_err();
    assert!(matches!(error, Error::InputCount { actual: 2, .. }), "{error}");
    let ids = Tensor::from_slice([data.shape()[0]], &vec![0u8; data.shape()[0]]).unwrap();
    let error = segments.operator(&[Some(&data), Some(&ids), Some(&rows)], None).unwrap_err();
    assert!(matches!(error, Error::TypeNotInDialect { .. }), "{error}");

    let all = [("keep_dims", Attribute::Bool(false)), ("axes", Attribute::Ints(vec![]))];
    let reduce = node("ReduceMaxBackward", Some(1), &all);
    let found = reduce.operator(&[Some(&data), Some(&data)], Some(Nan::Ignore)).unwrap();
    let expected = ReduceMax::new().axes([]).nan(Nan::Ignore);
    assert_eq!(found, ReduceMaxBackward::new(expected).into());
    let error = reduce.operator(&[Some(&data), Some(&gradient)], None).unwrap_err();
    assert!(matches!(error, Error::WrongInput { position: 1, .. }), "{error}");
    let other = node("ReduceMaxBackward", Some(2), &all);
    let error = other.operator(&[Some(&data), Some(&data)], None).unwrap_err();
    assert!(matches!(error, Error::UnknownVersion { .. }), "{error}");
    let odd = node("ReduceMaxBackward", Some(1), &[("axis", Attribute::Int(0))]);
    let error = odd.operator(&[Some(&data), Some(&data)], None).unwrap_err();
    assert!(matches!(error, Error::UnknownAttribute { .. }), "{error}");
}

/// Only inputs that hold parameters need elements.
#[test]
fn types_and_shapes_are_enough_but_for_parameters() {
    let data = TensorDesc::new(ElementType::F32, [1, 1, 4]).unwrap();
    let [axes, ids] = [[2], [1]].map(|shape| TensorDesc::new(ElementType::I64, shape).unwrap());
    let [number, indices] =
        [&[][..], &[1, 1, 4]].map(|shape| TensorDesc::new(ElementType::I64, shape).unwrap());
    let unpool = Node {
        operator: "MaxUnpool".to_string(),
        attributes: [("kernel_shape".to_string(), Attribute::Ints(vec![2]))].into(),
        ..node(Dialect::Onnx, Some(22))
    };
    let segments = Node { operator: "SegmentMax".to_string(), ..node(Dialect::OpenVino, Some(16)) };
    let segments = Node {
        attributes: [("fill_mode".to_string(), Attribute::Text("ZERO".to_string()))].into(),
        ..segments
    };
    let resolve = |node: &Node, inputs: &[&TensorDesc]| {
        let inputs: Vec<_> = inputs.iter().map(|&desc| Some(Input::Desc(desc))).collect();
        node.operator_for(&inputs, None)
    };
    assert!(resolve(&unpool, &[&data, &indices]).is_ok());
    assert!(resolve(&segments, &[&data, &ids]).is_ok());
    for (node, inputs, needed) in [
        (node(Dialect::Onnx, Some(18)), &[&data, &axes][..], "axes"),
        (node(Dialect::OneDnn, None), &[&data, &axes], "axes"),
        (node(Dialect::OpenVino, Some(1)), &[&data, &axes], "axes"),
        (unpool, &[&data, &indices, &axes], "output_shape"),
        (segments, &[&data, &ids, &number], "num_segments"),
    ] {
        match resolve(&node, inputs) {
            Err(Error::UnknownElements { name }) => assert_eq!(name, needed),
            other => panic!("{node:?}: {other:?}"),
        }
    }
}
