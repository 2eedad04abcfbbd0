use super::*;
use crate::dialect::Attribute::{self, *};

const EVERY_VERSION: [u32; 3] = MaxPool::VERSIONS;

/// A pooling with a window of 2 along one axis. `attributes` are added, or replace its own.
fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<MaxPool> {
    let mut all = Attributes::new();
    for (name, number) in [("kernel", 2), ("strides", 1)] {
        all.insert(name.to_string(), Ints(vec![number]));
    }
    all.extend(attributes.iter().map(|(n, v)| (n.to_string(), v.clone())));
    MaxPool::from_attributes(version, &all)
}

fn text(text: &str) -> Attribute {
    Text(text.to_string())
}

fn data(shape: &[usize]) -> TensorDesc {
    TensorDesc::new(ElementType::F32, shape).unwrap()
}

/// A pooling along one axis with pads, version 14.
fn pool(kernel: i64, stride: i64, pads: [i64; 2]) -> MaxPool {
    MaxPool {
        pads_begin: Some(vec![pads[0]]),
        pads_end: Some(vec![pads[1]]),
        ..MaxPool::new(14, [kernel], [stride])
    }
}

/// The number of windows along an axis of `size` elements.
fn windows(operator: &MaxPool, size: usize) -> usize {
    let data = data(&[1, 1, size]);
    operator.operator(&data, false).unwrap().infer(&data).unwrap()[0].shape()[2]
}

#[test]
fn reads_its_attributes() {
    for version in EVERY_VERSION {
        assert_eq!(read(version, &[]).unwrap(), MaxPool::new(version, [2], [1]));
    }
    let attributes = [
        ("kernel", Ints(vec![2, 3])),
        ("strides", Ints(vec![1, 2])),
        ("pads_begin", Ints(vec![1, 2])),
        ("pads_end", Ints(vec![3, 4])),
        ("dilations", Ints(vec![3, 2])),
        ("rounding_type", text("ceil")),
        ("auto_pad", text("explicit")),
        ("index_element_type", text("i32")),
        ("axis", Int(-2)),
    ];
    for version in [8, 14] {
        let operator = read(version, &attributes).unwrap();
        let indices = Indices::new(ElementType::I32).numbering(Numbering::FromAxis(-2));
        let expected = operator::MaxPool::new([2, 3])
            .strides([1, 2])
            .dilations([3, 2])
            .pads([1, 2], [3, 4])
            .rounding(Rounding::Ceil)
            .nan(Nan::Ignore)
            .indices(indices);
        assert_eq!(operator.operator(&data(&[1, 1, 8, 8]), true).unwrap(), expected);
    }
    for version in [0, 2, 7, 9, 13, 15] {
        assert!(matches!(read(version, &[]), Err(Error::UnknownVersion { .. })));
        let error = MaxPool::new(version, [2], [1]).operator(&data(&[1, 1, 4]), false);
        assert!(matches!(error, Err(Error::UnknownVersion { .. })));
    }
}

#[test]
fn kernel_and_strides_are_required() {
    for (given, missing) in [("strides", "kernel"), ("kernel", "strides")] {
        let attributes = Attributes::from([(given.to_string(), Ints(vec![1]))]);
        let error = MaxPool::from_attributes(8, &attributes).unwrap_err();
        let expected = format!("OpenVINO MaxPool-8 needs the attribute {missing:?}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn attributes_come_with_their_version() {
    for (name, value) in
        [("dilations", Ints(vec![1])), ("index_element_type", text("i64")), ("axis", Int(0))]
    {
        let error = read(1, &[(name, value.clone())]);
        assert!(
            matches!(error, Err(Error::UnknownAttribute { attribute, .. }) if attribute == name)
        );
        assert!(read(8, &[(name, value.clone())]).is_ok());
        assert!(read(14, &[(name, value)]).is_ok());
    }
    // Filled in by hand.
    let old = MaxPool::new(1, [2], [1]);
    for (operator, name) in [
        (MaxPool { dilations: Some(vec![1]), ..old.clone() }, "dilations"),
        (MaxPool { index_element_type: ElementType::I32, ..old.clone() }, "index_element_type"),
        (MaxPool { axis: 2, ..old.clone() }, "axis"),
    ] {
        let error = operator.operator(&data(&[1, 1, 4]), false);
        assert!(
            matches!(error, Err(Error::UnknownAttribute { attribute, .. }) if attribute == name)
        );
    }
    let error = read(14, &[("ceil_mode", Int(0))]).unwrap_err();
    assert_eq!(error.to_string(), r#"OpenVINO MaxPool-14 has no attribute "ceil_mode""#);
}

#[test]
fn ceil_torch_comes_with_version_14() {
    for version in EVERY_VERSION {
        let by_name = read(version, &[("rounding_type", text("ceil_torch"))]);
        let by_hand =
            MaxPool { rounding_type: Rounding::CeilTorch, ..MaxPool::new(version, [2], [1]) };
        let resolved = by_hand.operator(&data(&[1, 1, 4]), false);
        if version == 14 {
            assert_eq!(by_name.unwrap(), by_hand);
            assert!(resolved.is_ok());
            continue;
        }
        for error in [by_name.err(), resolved.err()] {
            assert!(
                matches!(
                    error,
                    Some(Error::BadAttribute {
                        attribute: "rounding_type",
                        expected: "floor or ceil",
                        ..
                    })
                ),
                "{version} {error:?}"
            );
        }
    }
}

#[test]
fn attributes_have_their_kind_and_names() {
    for (name, value) in [
        ("kernel", Int(2)),
        ("strides", text("1")),
        ("pads_begin", Int(0)),
        ("pads_end", Bool(false)),
        ("dilations", Int(1)),
        ("rounding_type", text("Ceil")),
        ("rounding_type", Int(1)),
        ("auto_pad", text("SAME_UPPER")),
        ("auto_pad", text("notset")),
        ("auto_pad", Int(0)),
        ("index_element_type", text("u32")),
        ("index_element_type", Int(64)),
        ("axis", Ints(vec![0])),
    ] {
        let error = read(14, &[(name, value.clone())]);
        assert!(
            matches!(error, Err(Error::BadAttribute { attribute, .. }) if attribute == name),
            "{name} {value}"
        );
    }
    for (name, auto_pad) in [
        ("explicit", AutoPad::Explicit),
        ("same_upper", AutoPad::SameUpper),
        ("same_lower", AutoPad::SameLower),
        ("valid", AutoPad::Valid),
    ] {
        assert_eq!(read(1, &[("auto_pad", text(name))]).unwrap().auto_pad, auto_pad);
    }
    let unsigned = MaxPool { index_element_type: ElementType::U32, ..pool(2, 1, [0, 0]) };
    for indices in [false, true] {
        let error = unsigned.operator(&data(&[1, 1, 4]), indices);
        assert!(matches!(error, Err(Error::BadAttribute { expected: "i64 or i32", .. })));
    }
}

#[test]
fn resolves_with_its_own_defaults() {
    let data = data(&[1, 2, 5]);
    for version in EVERY_VERSION {
        let operator = MaxPool::new(version, [2], [1]);
        let expected = operator::MaxPool::new([2])
            .strides([1])
            .dilations([1])
            .pads([0], [0])
            .nan(Nan::Ignore)
            .empty_window(EmptySet::Identity);
        assert_eq!(operator.operator(&data, false).unwrap(), expected);
        let propagating = MaxPool { nan: Nan::Propagate, ..operator };
        let resolved = propagating.operator(&data, false).unwrap();
        assert_eq!(resolved, expected.nan(Nan::Propagate));
    }
}

#[test]
fn takes_all_types_but_bool() {
    for t in ElementType::ALL {
        let data = TensorDesc::new(t, [1, 1, 4]).unwrap();
        for version in EVERY_VERSION {
            match MaxPool::new(version, [2], [1]).operator(&data, false) {
                Ok(_) => assert_ne!(t, ElementType::Bool),
                Err(Error::TypeNotInDialect { .. }) => assert_eq!(t, ElementType::Bool),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn data_has_three_spatial_axes_at_most() {
    for rank in 0..8usize {
        let list = |number| vec![number; rank.saturating_sub(2)];
        let operator = MaxPool::new(8, list(2), list(1));
        match operator.operator(&data(&vec![2; rank]), false) {
            Ok(_) => assert!((3..=5).contains(&rank)),
            Err(Error::ShapeNotInDialect { .. }) => assert!(!(3..=5).contains(&rank)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn batch_and_channels_are_not_zero() {
    for shape in [[0, 2, 4], [2, 0, 4]] {
        let error = MaxPool::new(8, [2], [1]).operator(&data(&shape), false).unwrap_err();
        assert!(matches!(error, Error::ShapeNotInDialect { .. }));
        let expected = "OpenVINO MaxPool-8 takes a batch and channels of 1 or more; given:";
        assert_eq!(error.to_string(), format!("{expected} {shape:?}"));
    }
}

#[test]
fn lists_suit_the_spatial_axes() {
    let good = pool(2, 1, [0, 0]);
    type Field = fn(&mut MaxPool) -> &mut Vec<i64>;
    let fields: [(&str, Field, &str); 5] = [
        ("kernel", |pool| &mut pool.kernel, "1 or more"),
        ("strides", |pool| &mut pool.strides, "1 or more"),
        ("dilations", |pool| pool.dilations.get_or_insert_default(), "1 or more"),
        ("pads_begin", |pool| pool.pads_begin.get_or_insert_default(), "0 or more"),
        ("pads_end", |pool| pool.pads_end.get_or_insert_default(), "0 or more"),
    ];
    for (name, field, range) in fields {
        let with = |list: &[i64]| {
            let mut operator = good.clone();
            *field(&mut operator) = list.to_vec();
            operator.operator(&data(&[1, 1, 4]), false)
        };
        assert!(with(&[1]).is_ok());
        for list in [&[][..], &[1, 1]] {
            assert!(
                matches!(with(list), Err(Error::AttributeLength { attribute, .. }) if attribute == name)
            );
        }
        let min = if range == "0 or more" { 0 } else { 1 };
        assert!(with(&[min]).is_ok());
        assert!(matches!(with(&[min - 1]), Err(Error::BadAttribute { attribute, expected, .. })
                if attribute == name && expected == range));
    }
}

#[test]
fn pads_count_without_an_auto_pad_only() {
    assert_eq!(windows(&pool(3, 1, [1, 2]), 5), 6);
    let one_sided = MaxPool { pads_begin: None, ..pool(3, 1, [1, 2]) };
    assert_eq!(windows(&one_sided, 5), 5);
    for auto_pad in [AutoPad::SameUpper, AutoPad::SameLower, AutoPad::Valid] {
        let given = MaxPool { auto_pad, ..pool(3, 1, [1, 2]) };
        let absent = MaxPool { auto_pad, ..MaxPool::new(14, [3], [1]) };
        let resolve = |operator: MaxPool| operator.operator(&data(&[1, 1, 5]), false).unwrap();
        assert_eq!(resolve(given), resolve(absent));
    }
}

#[test]
fn rounding_applies_with_every_auto_pad() {
    let count = |auto_pad, kernel, size| {
        [Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch].map(|rounding_type| {
            windows(&MaxPool { auto_pad, rounding_type, ..pool(kernel, 3, [0, 0]) }, size)
        })
    };
    assert_eq!(count(AutoPad::Explicit, 2, 7), [2, 3, 3]);
    assert_eq!(count(AutoPad::Valid, 2, 7), [2, 3, 3]);
    assert_eq!(count(AutoPad::SameUpper, 4, 6), [2, 2, 2]);
    // No padding is needed, and what is left over rounds up to a window without elements.
    assert_eq!(count(AutoPad::SameUpper, 1, 5), [2, 3, 2]);
    assert_eq!(count(AutoPad::SameLower, 1, 5), [2, 3, 2]);
}

#[test]
fn ceil_torch_drops_a_window_in_the_end_padding() {
    // The third window would start at position 6 of 1 + 5 + 1.
    let count = |rounding_type| windows(&MaxPool { rounding_type, ..pool(2, 3, [1, 1]) }, 5);
    let roundings = [Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch];
    assert_eq!(roundings.map(count), [2, 3, 2]);
}

#[test]
fn same_padding_counts_the_dilation() {
    let data = data(&[1, 1, 5]);
    for (auto_pad, begin) in [(AutoPad::SameUpper, 1), (AutoPad::SameLower, 2)] {
        let same = MaxPool { auto_pad, dilations: Some(vec![3]), ..pool(2, 1, [0, 0]) };
        let windows = same.operator(&data, false).unwrap().windows(&data).unwrap();
        assert_eq!((windows[0].output, windows[0].pad_begin), (5, begin));
    }
}

#[test]
fn a_window_fits_the_padded_data() {
    let error = pool(4, 1, [0, 0]).operator(&data(&[1, 1, 3]), false);
    assert!(matches!(error, Err(Error::WindowTooLarge { extent: 4, padded: 3, .. })));
    assert_eq!(windows(&pool(4, 1, [1, 0]), 3), 1);

    // Every rounding refuses a window that is larger, even by less than a stride.
    for rounding_type in [Rounding::Floor, Rounding::Ceil, Rounding::CeilTorch] {
        for auto_pad in [AutoPad::Explicit, AutoPad::Valid] {
            let larger = MaxPool { rounding_type, auto_pad, ..pool(4, 2, [0, 0]) };
            let error = larger.operator(&data(&[1, 1, 3]), false);
            assert!(matches!(error, Err(Error::WindowTooLarge { extent: 4, padded: 3, .. })));
        }
    }

    // The window fits only the end padding, where none may begin.
    let end = MaxPool { rounding_type: Rounding::CeilTorch, ..pool(1, 1, [0, 1]) };
    let error = end.operator(&data(&[1, 1, 0]), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the window covers 1 positions along spatial axis 0, but the padded input has 1, all of it \
         padding at the end, where no window may begin"
    );
}

#[test]
fn indices_come_with_version_8() {
    let data = data(&[2, 3, 4]);
    let error = MaxPool::new(1, [2], [1]).operator(&data, true).unwrap_err();
    assert_eq!(error.to_string(), "OpenVINO MaxPool-1 gives 1 output; requested: 2");
    for version in [8, 14] {
        let operator = MaxPool::new(version, [2], [1]);
        assert_eq!(operator.operator(&data, false).unwrap().indices, None);
        let resolved = operator.operator(&data, true).unwrap();
        let numbering = Numbering::FromAxis(0);
        assert_eq!(resolved.indices, Some(Indices::default().numbering(numbering)));
        let narrow = MaxPool { index_element_type: ElementType::I32, ..operator };
        let outputs = narrow.operator(&data, true).unwrap().infer(&data).unwrap();
        assert_eq!(outputs[1], TensorDesc::new(ElementType::I32, [2, 3, 3]).unwrap());
    }
}

#[test]
fn the_axis_of_indices_is_in_range() {
    for indices in [false, true] {
        for axis in -4..4 {
            let operator = MaxPool { axis, ..MaxPool::new(14, [2], [1]) };
            match operator.operator(&data(&[1, 1, 4]), indices) {
                Ok(_) => assert!((-3..3).contains(&axis)),
                Err(Error::AxisOutOfRange { .. }) => assert!(!(-3..3).contains(&axis)),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn i32_indices_number_2_to_the_31_elements() {
    let resolve = |axis, indices| {
        let data = TensorDesc::new(ElementType::U8, [2, 1, 1 << 31]).unwrap();
        let index_element_type = ElementType::I32;
        MaxPool { index_element_type, axis, ..MaxPool::new(8, [2], [1]) }.operator(&data, indices)
    };
    assert!(matches!(resolve(0, true), Err(Error::IndexTooLarge { .. })));
    assert!(resolve(0, false).is_ok());
    assert!(resolve(1, true).is_ok());
}
