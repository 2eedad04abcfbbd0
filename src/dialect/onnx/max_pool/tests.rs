use super::*;
use crate::dialect::Attribute::{self, *};
use crate::operator::Padding;

const EVERY_VERSION: [u32; 6] = MaxPool::VERSIONS;

fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<MaxPool> {
    let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    MaxPool::from_attributes(version, &attributes)
}

/// A pooling with a window of 2 along one axis, and this attribute.
fn read_2(version: u32, name: &str, value: Attribute) -> Result<MaxPool> {
    read(version, &[("kernel_shape", Ints(vec![2])), (name, value)])
}

fn text(text: &str) -> Attribute {
    Text(text.to_string())
}

fn data(shape: &[usize]) -> TensorDesc {
    TensorDesc::new(ElementType::F32, shape).unwrap()
}

/// The window and stride along one axis, for opset 22.
fn pool(kernel: i64, stride: i64) -> MaxPool {
    MaxPool { strides: Some(vec![stride]), ..MaxPool::new(22, [kernel]) }
}

/// The number of windows along an axis of `size` elements.
fn windows(operator: &MaxPool, size: usize) -> usize {
    let data = data(&[1, 1, size]);
    operator.operator(&data, false).unwrap().infer(&data).unwrap()[0].shape()[2]
}

/// The operator for f32 data of 8 elements.
fn resolved(operator: &MaxPool) -> operator::MaxPool {
    operator.operator(&data(&[1, 1, 8]), false).unwrap()
}

#[test]
fn an_opset_has_the_newest_version_up_to_it() {
    let version = |opset| MaxPool::new(opset, [2]).name().unwrap().version.unwrap();
    let opsets = [1, 7, 8, 9, 10, 11, 12, 13, 21, 22, 23, 27, 28];
    let versions = [1, 1, 8, 8, 10, 11, 12, 12, 12, 22, 22, 22, 22];
    assert_eq!(opsets.map(version), versions);

    assert!(matches!(read_2(0, "pads", Int(0)), Err(Error::UnknownVersion { .. })));
    let error = MaxPool::new(0, [2]).operator(&data(&[1, 1, 2]), false).unwrap_err();
    assert_eq!(error.to_string(), "ONNX has no MaxPool-0");
}

#[test]
fn the_element_types_grow_with_the_opset() {
    use ElementType as T;
    let mut added = vec![(1, vec![T::F32, T::F64, T::F16]), (8, vec![]), (10, vec![])];
    added.extend([(11, vec![]), (12, vec![T::I8, T::U8]), (22, vec![T::Bf16])]);
    let mut allowed = Vec::new();
    for (version, types) in added {
        allowed.extend(types);
        for t in T::ALL {
            let data = TensorDesc::new(t, [1, 1, 2]).unwrap();
            match MaxPool::new(version, [2]).operator(&data, false) {
                Ok(_) => assert!(allowed.contains(&t), "{version} {t}"),
                Err(Error::TypeNotInDialect { element_type, .. }) => {
                    assert!(element_type == t && !allowed.contains(&t), "{version} {t}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn the_defaults_are_dense_windows_one_by_one() {
    for version in EVERY_VERSION {
        let operator = read(version, &[("kernel_shape", Ints(vec![2, 3]))]).unwrap();
        assert_eq!(operator, MaxPool::new(version, [2, 3]));
        let data = data(&[1, 2, 4, 5]);
        let resolved = operator.operator(&data, false).unwrap();
        let expected = operator::MaxPool::new([2, 3])
            .strides([1, 1])
            .dilations([1, 1])
            .pads([0, 0], [0, 0])
            .nan(Nan::Ignore);
        assert_eq!(resolved, expected, "opset {version}");
        assert_eq!(resolved.empty_window, EmptySet::Identity);
        assert_eq!(resolved.infer(&data).unwrap()[0].shape(), [1, 2, 3, 3]);
    }
}

#[test]
fn reads_every_attribute() {
    let attributes = [
        ("kernel_shape", Ints(vec![2, 3])),
        ("strides", Ints(vec![1, 2])),
        ("pads", Ints(vec![1, 2, 3, 4])),
        ("dilations", Ints(vec![3, 2])),
        ("auto_pad", text("NOTSET")),
        ("ceil_mode", Int(1)),
        ("storage_order", Int(1)),
    ];
    let resolved = read(22, &attributes).unwrap().operator(&data(&[1, 1, 8, 8]), true).unwrap();
    let indices = Indices::default().numbering(Numbering::ColumnMajor);
    let expected = operator::MaxPool::new([2, 3])
        .strides([1, 2])
        .dilations([3, 2])
        .pads([1, 2], [3, 4])
        .rounding(Rounding::CeilTorch)
        .nan(Nan::Ignore)
        .indices(indices);
    assert_eq!(resolved, expected);
}

#[test]
fn nan_is_the_callers_choice() {
    let operator = MaxPool { nan: Nan::Propagate, ..MaxPool::new(22, [2]) };
    assert_eq!(resolved(&operator).nan, Nan::Propagate);
}

#[test]
fn the_kernel_is_required() {
    let error = read(11, &[("strides", Ints(vec![1]))]).unwrap_err();
    assert_eq!(error.to_string(), r#"ONNX MaxPool-11 needs the attribute "kernel_shape""#);
    assert!(matches!(error, Error::MissingAttribute { .. }));
}

#[test]
fn attributes_come_with_their_opset() {
    for (since, name, value) in
        [(8, "storage_order", Int(0)), (10, "dilations", Ints(vec![1])), (10, "ceil_mode", Int(0))]
    {
        for version in EVERY_VERSION {
            match read_2(version, name, value.clone()) {
                Ok(_) => assert!(version >= since, "{name} {version}"),
                Err(Error::UnknownAttribute { attribute, .. }) => {
                    assert!(attribute == name && version < since, "{name} {version}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    // Filled in by hand.
    for (operator, name) in [
        (MaxPool { storage_order: 1, ..MaxPool::new(7, [2]) }, "storage_order"),
        (MaxPool { dilations: Some(vec![1]), ..MaxPool::new(9, [2]) }, "dilations"),
        (MaxPool { ceil_mode: 1, ..MaxPool::new(9, [2]) }, "ceil_mode"),
    ] {
        let error = operator.operator(&data(&[1, 1, 4]), false);
        assert!(
            matches!(error, Err(Error::UnknownAttribute { attribute, .. }) if attribute == name)
        );
    }
    let error = read_2(22, "kernel", Ints(vec![2])).unwrap_err();
    assert_eq!(error.to_string(), r#"ONNX MaxPool-22 has no attribute "kernel""#);
}

#[test]
fn attributes_have_their_kind_and_range() {
    for (name, value) in [
        ("kernel_shape", Int(2)),
        ("strides", Int(1)),
        ("pads", text("0")),
        ("dilations", Bool(true)),
        ("auto_pad", text("same_upper")),
        ("auto_pad", text("EXPLICIT")),
        ("auto_pad", Int(0)),
        ("ceil_mode", Int(2)),
        ("ceil_mode", Bool(true)),
        ("storage_order", Int(-1)),
        ("storage_order", Ints(vec![0])),
    ] {
        let error = read(22, &[("kernel_shape", Ints(vec![2])), (name, value.clone())]);
        assert!(
            matches!(error, Err(Error::BadAttribute { attribute, .. }) if attribute == name),
            "{name} {value}"
        );
    }
    let error = read_2(22, "auto_pad", text("SAME")).unwrap_err().to_string();
    let expected = "must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, but is \"SAME\"";
    assert_eq!(error, format!("attribute auto_pad {expected}"));

    // The same holds for fields filled in by hand.
    for operator in [
        MaxPool { ceil_mode: 2, ..MaxPool::new(22, [2]) },
        MaxPool { storage_order: -1, ..MaxPool::new(22, [2]) },
    ] {
        let error = operator.operator(&data(&[1, 1, 4]), false);
        assert!(matches!(error, Err(Error::BadAttribute { expected: "0 or 1", .. })));
    }
}

#[test]
fn lists_suit_the_spatial_axes() {
    let data = data(&[1, 1, 4, 4]);
    let good = MaxPool::new(22, [2, 2]);
    let some = |list: &[i64]| Some(list.to_vec());
    let resolve = |operator: MaxPool| operator.operator(&data, false);

    for (operator, name, count) in [
        (MaxPool::new(22, [2]), "kernel_shape", 2),
        (MaxPool::new(22, []), "kernel_shape", 2),
        (MaxPool { strides: some(&[1]), ..good.clone() }, "strides", 2),
        (MaxPool { dilations: some(&[1, 1, 1]), ..good.clone() }, "dilations", 2),
        (MaxPool { pads: some(&[0, 0]), ..good.clone() }, "pads", 4),
        (MaxPool { pads: some(&[]), ..good.clone() }, "pads", 4),
    ] {
        let error = resolve(operator);
        assert!(
            matches!(error, Err(Error::AttributeLength { attribute, expected, .. })
                if attribute == name && expected == count),
            "{name} {error:?}"
        );
    }
    for (operator, name, range) in [
        (MaxPool::new(22, [2, 0]), "kernel_shape", "1 or more"),
        (MaxPool { strides: some(&[0, 1]), ..good.clone() }, "strides", "1 or more"),
        (MaxPool { dilations: some(&[1, -1]), ..good.clone() }, "dilations", "1 or more"),
        (MaxPool { pads: some(&[0, 0, 0, -1]), ..good.clone() }, "pads", "0 or more"),
    ] {
        let error = resolve(operator);
        assert!(
            matches!(error, Err(Error::BadAttribute { attribute, expected, .. })
                if attribute == name && expected == range),
            "{name} {error:?}"
        );
    }
}

#[test]
fn data_has_a_batch_channels_and_spatial_axes() {
    for rank in 0..8 {
        let data = data(&vec![2; rank]);
        let kernel = vec![2; rank.saturating_sub(2)];
        let result = MaxPool::new(22, kernel).operator(&data, false);
        match result {
            Ok(_) => assert!(rank >= 3),
            Err(Error::ShapeNotInDialect { shape, .. }) => assert!(rank < 3 && shape.len() == rank),
            Err(error) => panic!("{error}"),
        }
    }
    let error = MaxPool::new(12, []).operator(&data(&[2, 3]), false).unwrap_err();
    let expected = "ONNX MaxPool-12 takes data of rank 3 or more; given: [2, 3]";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_batch_of_nothing_is_fine() {
    let data = data(&[0, 2, 5, 5]);
    let resolved = MaxPool::new(22, [2, 2]).operator(&data, true).unwrap();
    let outputs = resolved.infer(&data).unwrap();
    assert_eq!(outputs[0].shape(), [0, 2, 4, 4]);
    assert_eq!(outputs[1].shape(), [0, 2, 4, 4]);
}

#[test]
fn a_window_fits_the_padded_data() {
    let error = MaxPool::new(22, [5]).operator(&data(&[1, 1, 4]), false);
    assert!(matches!(error, Err(Error::WindowTooLarge { extent: 5, padded: 4, .. })));
    let dilated = MaxPool { dilations: Some(vec![4]), ..MaxPool::new(22, [2]) };
    let error = dilated.operator(&data(&[1, 1, 4]), false);
    assert!(matches!(error, Err(Error::WindowTooLarge { extent: 5, padded: 4, .. })));
    let padded = MaxPool { pads: Some(vec![0, 1]), ..dilated };
    assert_eq!(windows(&padded, 4), 1);
    // Padding as wide as the window is allowed, though some runtimes refuse it.
    let wide = MaxPool { pads: Some(vec![2, 2]), ..MaxPool::new(22, [2]) };
    assert_eq!(windows(&wide, 1), 4);
}

/// As in ONNX Runtime 1.32 and the shape inference of onnx 1.23, which disagree about the window that
/// is larger by a stride.
#[test]
fn rounded_up_a_window_may_be_larger_by_less_than_a_stride() {
    for version in [10, 11, 12, 22] {
        let ceil = |kernel, stride, dilation| MaxPool {
            version,
            ceil_mode: 1,
            dilations: Some(vec![dilation]),
            ..pool(kernel, stride)
        };
        for (kernel, stride, dilation, size) in [(3, 2, 1, 2), (4, 3, 1, 2), (2, 3, 4, 3)] {
            let ceil = ceil(kernel, stride, dilation);
            assert_eq!(windows(&ceil, size), 1);
            assert_eq!(windows(&MaxPool { auto_pad: AutoPad::Valid, ..ceil.clone() }, size), 1);
            let floor = MaxPool { ceil_mode: 0, ..ceil }.operator(&data(&[1, 1, size]), false);
            assert!(matches!(floor, Err(Error::WindowTooLarge { .. })));
        }
        for (kernel, stride, dilation, size) in [(4, 2, 1, 2), (3, 1, 1, 2), (2, 2, 4, 3)] {
            let error = ceil(kernel, stride, dilation).operator(&data(&[1, 1, size]), false);
            let too_large = Error::WindowTooLarge {
                axis: 0,
                extent: ((kernel - 1) * dilation + 1) as u128,
                padded: size as u128,
                only_end_padding: false,
            };
            assert_eq!(error.unwrap_err().to_string(), too_large.to_string());
        }
        let padded = |pads: [i64; 2]| MaxPool { pads: Some(pads.to_vec()), ..ceil(5, 2, 1) };
        assert_eq!([[1, 1], [2, 0], [0, 2]].map(|pads| windows(&padded(pads), 2)), [1; 3]);
    }
}

#[test]
fn pads_hold_the_begins_and_then_the_ends() {
    let pads = MaxPool { pads: Some(vec![1, 2, 3, 4]), ..MaxPool::new(22, [5, 5]) };
    let resolved = pads.operator(&data(&[1, 1, 8, 8]), false).unwrap();
    let expected = Padding::Explicit { begin: vec![1, 2], end: vec![3, 4] };
    assert_eq!(resolved, resolved.clone().padding(expected));
}

#[test]
fn pads_exclude_an_auto_pad() {
    let names = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];
    for (name, auto_pad) in names.into_iter().zip(AutoPad::ALL) {
        let with =
            |pads: &[i64]| MaxPool { auto_pad, pads: Some(pads.to_vec()), ..MaxPool::new(22, [2]) };
        assert_eq!(read_2(22, "auto_pad", text(name)).unwrap().auto_pad, auto_pad);
        let zero = resolved(&with(&[0, 0]));
        let absent = resolved(&MaxPool { auto_pad, ..MaxPool::new(22, [2]) });
        assert_eq!(zero, absent);
        let error = with(&[0, 1]).operator(&data(&[1, 1, 8]), false);
        match auto_pad {
            AutoPad::Explicit => assert!(error.is_ok()),
            _ => assert!(
                matches!(error, Err(Error::BadAttribute { attribute: "pads", .. })),
                "{name}"
            ),
        }
    }
}

#[test]
fn auto_pad_decides_the_shape() {
    for auto_pad in [AutoPad::SameUpper, AutoPad::SameLower] {
        for ceil_mode in [0, 1] {
            let same = |kernel, stride, dilation| MaxPool {
                auto_pad,
                ceil_mode,
                dilations: Some(vec![dilation]),
                ..pool(kernel, stride)
            };
            // ceil(size / stride), independent of the window and its dilation.
            for (kernel, stride, dilation, size) in
                [(3, 2, 1, 7), (2, 1, 1, 5), (2, 2, 2, 7), (3, 1, 4, 2), (1, 3, 1, 5), (1, 4, 1, 4)]
            {
                let expected = usize::div_ceil(size, stride as usize);
                assert_eq!(windows(&same(kernel, stride, dilation), size), expected);
            }
        }
    }
    let valid = |ceil_mode| MaxPool { auto_pad: AutoPad::Valid, ceil_mode, ..pool(2, 2) };
    assert_eq!([5, 6].map(|size| windows(&valid(0), size)), [2, 3]);
    assert_eq!([5, 6].map(|size| windows(&valid(1), size)), [3, 3]);
}

#[test]
fn same_padding_counts_the_dilation() {
    // A window of 2 covers 4 positions: 3 of padding make 5 windows of 5 elements.
    let same = |auto_pad| MaxPool { auto_pad, dilations: Some(vec![3]), ..pool(2, 1) };
    let data = data(&[1, 1, 5]);
    for (auto_pad, begin) in [(AutoPad::SameUpper, 1), (AutoPad::SameLower, 2)] {
        let windows = same(auto_pad).operator(&data, false).unwrap().windows(&data).unwrap();
        assert_eq!((windows[0].output, windows[0].pad_begin), (5, begin));
    }
}

#[test]
fn a_window_never_starts_in_the_end_padding() {
    // 5 + 1 + 1 positions, stride 3: a third window would start at 6, the padding.
    for version in [10, 11, 12, 22] {
        let ceil = |ceil_mode, pads: [i64; 2]| MaxPool {
            version,
            ceil_mode,
            pads: Some(pads.to_vec()),
            ..pool(2, 3)
        };
        assert_eq!(windows(&ceil(0, [1, 1]), 5), 2);
        assert_eq!(windows(&ceil(1, [1, 1]), 5), 2, "opset {version}");
        assert_eq!(windows(&ceil(1, [1, 1]), 6), 3, "opset {version}");
        assert_eq!(windows(&ceil(0, [1, 1]), 6), 3);
        assert_eq!(windows(&ceil(1, [2, 1]), 5), 3, "opset {version}");
    }
    let no_pads = |ceil_mode| MaxPool { ceil_mode, ..pool(2, 2) };
    assert_eq!([windows(&no_pads(0), 5), windows(&no_pads(1), 5)], [2, 3]);
}

#[test]
fn indices_come_with_opset_8() {
    let data = data(&[2, 3, 4]);
    for version in EVERY_VERSION {
        let operator = MaxPool::new(version, [2]);
        assert_eq!(operator.operator(&data, false).unwrap().indices, None);
        match operator.operator(&data, true) {
            Ok(resolved) => {
                assert_eq!(resolved.indices, Some(Indices::default()));
                let outputs = resolved.infer(&data).unwrap();
                assert_eq!(outputs[1], TensorDesc::new(ElementType::I64, [2, 3, 3]).unwrap());
            }
            Err(error) => {
                assert_eq!(version, 1);
                assert_eq!(error.to_string(), "ONNX MaxPool-1 gives 1 output; requested: 2");
            }
        }
    }
    let column = MaxPool { storage_order: 1, ..MaxPool::new(8, [2]) };
    let indices = column.operator(&data, true).unwrap().indices.unwrap();
    assert_eq!(indices, Indices::default().numbering(Numbering::ColumnMajor));
}
