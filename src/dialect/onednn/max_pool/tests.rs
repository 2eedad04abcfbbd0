use super::*;
use crate::dialect::Attribute::{self, *};
use crate::tensor::ElementType;

const REQUIRED: [&str; 4] = ["kernel", "strides", "pads_begin", "pads_end"];

/// A pooling with a window of 2 along one axis. `attributes` are added, or replace its own.
fn read(attributes: &[(&str, Attribute)]) -> Result<MaxPool> {
    let mut all = Attributes::new();
    for (name, number) in REQUIRED.iter().zip([2, 1, 0, 0]) {
        all.insert(name.to_string(), Ints(vec![number]));
    }
    all.extend(attributes.iter().map(|(n, v)| (n.to_string(), v.clone())));
    MaxPool::from_attributes(&all)
}

fn text(text: &str) -> Attribute {
    Text(text.to_string())
}

fn data(shape: &[usize]) -> TensorDesc {
    TensorDesc::new(ElementType::F32, shape).unwrap()
}

/// A pooling along one axis.
fn pool(kernel: i64, stride: i64, pads: [i64; 2]) -> MaxPool {
    MaxPool::new([kernel], [stride], [pads[0]], [pads[1]])
}

/// The number of windows along an axis of `size` elements.
fn windows(operator: &MaxPool, size: usize) -> usize {
    let data = data(&[1, size, 1]);
    operator.operator(&data, false).unwrap().infer(&data).unwrap()[0].shape()[1]
}

#[test]
fn reads_its_attributes() {
    assert_eq!(read(&[]).unwrap(), pool(2, 1, [0, 0]));
    let attributes = [
        ("kernel", Ints(vec![2, 3])),
        ("strides", Ints(vec![1, 2])),
        ("pads_begin", Ints(vec![1, 2])),
        ("pads_end", Ints(vec![3, 4])),
        ("dilations", Ints(vec![3, 2])),
        ("rounding_type", text("ceil")),
        ("auto_pad", text("VALID")),
        ("data_format", text("NCX")),
    ];
    let expected = MaxPool {
        dilations: Some(vec![3, 2]),
        rounding_type: Rounding::Ceil,
        auto_pad: AutoPad::Valid,
        data_format: Layout::Ncx,
        ..MaxPool::new([2, 3], [1, 2], [1, 2], [3, 4])
    };
    assert_eq!(read(&attributes).unwrap(), expected);

    let error = read(&[("kernel_shape", Ints(vec![2]))]).unwrap_err();
    assert_eq!(error.to_string(), r#"oneDNN Graph MaxPool has no attribute "kernel_shape""#);
}

#[test]
fn four_attributes_are_required() {
    for missing in REQUIRED {
        for auto_pad in ["None", "SAME_UPPER", "VALID"] {
            let mut attributes = Attributes::from([("auto_pad".to_string(), text(auto_pad))]);
            for name in REQUIRED.into_iter().filter(|name| *name != missing) {
                attributes.insert(name.to_string(), Ints(vec![1]));
            }
            let error = MaxPool::from_attributes(&attributes).unwrap_err();
            let expected = format!("oneDNN Graph MaxPool needs the attribute {missing:?}");
            assert_eq!(error.to_string(), expected);
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
        ("rounding_type", text("ceil_torch")),
        ("rounding_type", text("FLOOR")),
        ("rounding_type", Int(0)),
        ("auto_pad", text("NOTSET")),
        ("auto_pad", text("Same_Upper")),
        ("auto_pad", Ints(vec![])),
        ("data_format", text("NCHW")),
        ("data_format", text("ncx")),
        ("data_format", Int(0)),
    ] {
        let error = read(&[(name, value.clone())]);
        assert!(
            matches!(error, Err(Error::BadAttribute { attribute, .. }) if attribute == name),
            "{name} {value}"
        );
    }
    let error = read(&[("data_format", text("NCHW"))]).unwrap_err();
    assert_eq!(error.to_string(), r#"attribute data_format must be NCX or NXC, but is "NCHW""#);

    let torch = MaxPool { rounding_type: Rounding::CeilTorch, ..pool(2, 1, [0, 0]) };
    let error = torch.operator(&data(&[1, 4, 1]), false);
    assert!(matches!(error, Err(Error::BadAttribute { attribute: "rounding_type", .. })));
}

#[test]
fn auto_pad_has_two_spellings() {
    for (names, auto_pad) in [
        (["None", "none"], AutoPad::Explicit),
        (["SAME_UPPER", "same_upper"], AutoPad::SameUpper),
        (["SAME_LOWER", "same_lower"], AutoPad::SameLower),
        (["VALID", "valid"], AutoPad::Valid),
    ] {
        for name in names {
            assert_eq!(read(&[("auto_pad", text(name))]).unwrap().auto_pad, auto_pad, "{name}");
        }
    }
}

#[test]
fn resolves_with_its_own_defaults() {
    let resolved = read(&[]).unwrap().operator(&data(&[1, 5, 3]), false).unwrap();
    let expected = operator::MaxPool::new([2])
        .strides([1])
        .dilations([1])
        .pads([0], [0])
        .layout(Layout::Nxc)
        .nan(Nan::Ignore)
        .empty_window(EmptySet::Finite);
    assert_eq!(resolved, expected);
    let propagating = MaxPool { nan: Nan::Propagate, ..pool(2, 1, [0, 0]) };
    let resolved = propagating.operator(&data(&[1, 5, 3]), false).unwrap();
    assert_eq!(resolved.nan, Nan::Propagate);
}

#[test]
fn the_layout_says_which_axes_are_spatial() {
    let shape = |data_format, shape: &[usize]| {
        let data = data(shape);
        let operator = MaxPool { data_format, ..MaxPool::new([2, 3], [1, 1], [0, 0], [0, 0]) };
        operator.operator(&data, false).unwrap().infer(&data).unwrap()[0].shape().to_vec()
    };
    assert_eq!(shape(Layout::Nxc, &[1, 5, 6, 4]), [1, 4, 4, 4]);
    assert_eq!(shape(Layout::Ncx, &[1, 4, 5, 6]), [1, 4, 4, 4]);
    assert_eq!(shape(Layout::Ncx, &[0, 4, 5, 6]), [0, 4, 4, 4]);
}

#[test]
fn takes_three_float_types() {
    let allowed = [ElementType::F32, ElementType::F16, ElementType::Bf16];
    for t in ElementType::ALL {
        let data = TensorDesc::new(t, [1, 2, 1]).unwrap();
        match pool(2, 1, [0, 0]).operator(&data, false) {
            Ok(_) => assert!(allowed.contains(&t), "{t}"),
            Err(Error::TypeNotInDialect { element_type, .. }) => {
                assert!(element_type == t && !allowed.contains(&t), "{t}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn data_has_three_spatial_axes_at_most() {
    for rank in 0..8usize {
        let list = |number| vec![number; rank.saturating_sub(2)];
        let operator = MaxPool::new(list(2), list(1), list(0), list(0));
        match operator.operator(&data(&vec![2; rank]), false) {
            Ok(_) => assert!((3..=5).contains(&rank)),
            Err(Error::ShapeNotInDialect { .. }) => assert!(!(3..=5).contains(&rank)),
            Err(error) => panic!("{error}"),
        }
    }
    let error = pool(2, 1, [0, 0]).operator(&data(&[2, 3]), false).unwrap_err();
    let expected = "oneDNN Graph MaxPool takes data of rank 3, 4 or 5; given: [2, 3]";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn lists_suit_the_spatial_axes() {
    let good = pool(2, 1, [0, 0]);
    type Field = fn(&mut MaxPool) -> &mut Vec<i64>;
    let fields: [(&str, Field, &str); 5] = [
        ("kernel", |pool| &mut pool.kernel, "1 or more"),
        ("strides", |pool| &mut pool.strides, "1 or more"),
        ("dilations", |pool| pool.dilations.get_or_insert_default(), "1 or more"),
        ("pads_begin", |pool| &mut pool.pads_begin, "0 or more"),
        ("pads_end", |pool| &mut pool.pads_end, "0 or more"),
    ];
    for (name, field, range) in fields {
        let with = |list: &[i64]| {
            let mut operator = good.clone();
            *field(&mut operator) = list.to_vec();
            operator.operator(&data(&[1, 4, 1]), false)
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
    for auto_pad in [AutoPad::SameUpper, AutoPad::SameLower, AutoPad::Valid] {
        let with = |pads| MaxPool { auto_pad, ..pool(3, 1, pads) };
        let resolve = |pads| with(pads).operator(&data(&[1, 5, 1]), false);
        assert_eq!(resolve([1, 2]).unwrap(), resolve([0, 0]).unwrap());
        // They are attributes of their own, which must be valid.
        let error = resolve([-1, 0]).unwrap_err();
        assert!(matches!(error, Error::BadAttribute { attribute: "pads_begin", .. }), "{error}");
        let short = MaxPool { pads_end: vec![], ..with([0, 0]) };
        let error = short.operator(&data(&[1, 5, 1]), false).unwrap_err();
        assert!(matches!(error, Error::AttributeLength { attribute: "pads_end", .. }), "{error}");
    }
    assert_eq!(windows(&pool(3, 1, [1, 2]), 5), 6);
}

#[test]
fn rounding_applies_with_every_auto_pad() {
    let count = |auto_pad, kernel, size| {
        [Rounding::Floor, Rounding::Ceil].map(|rounding_type| {
            windows(&MaxPool { auto_pad, rounding_type, ..pool(kernel, 3, [0, 0]) }, size)
        })
    };
    assert_eq!(count(AutoPad::Explicit, 2, 7), [2, 3]);
    assert_eq!(count(AutoPad::Valid, 2, 7), [2, 3]);
    assert_eq!(count(AutoPad::SameUpper, 4, 6), [2, 2]);
    // No padding is needed, and what is left over rounds up to a window without elements.
    assert_eq!(count(AutoPad::SameUpper, 1, 5), [2, 3]);
    assert_eq!(count(AutoPad::SameLower, 1, 5), [2, 3]);
}

#[test]
fn ceil_keeps_a_window_wholly_in_the_padding() {
    let ceil = MaxPool { rounding_type: Rounding::Ceil, ..pool(2, 3, [1, 1]) };
    // The third window starts at position 6 of 1 + 5 + 1.
    assert_eq!(windows(&ceil, 5), 3);
}

#[test]
fn same_padding_counts_the_dilation() {
    let data = data(&[1, 5, 1]);
    for (auto_pad, begin) in [(AutoPad::SameUpper, 1), (AutoPad::SameLower, 2)] {
        let same = MaxPool { auto_pad, dilations: Some(vec![3]), ..pool(2, 1, [0, 0]) };
        let windows = same.operator(&data, false).unwrap().windows(&data).unwrap();
        assert_eq!((windows[0].output, windows[0].pad_begin), (5, begin));
    }
}

#[test]
fn a_dilation_of_1_is_dense() {
    let dilated = |dilation| MaxPool { dilations: Some(vec![dilation]), ..pool(2, 1, [0, 0]) };
    assert_eq!([1, 2].map(|dilation| windows(&dilated(dilation), 4)), [3, 2]);
}

#[test]
fn a_window_fits_the_padded_data() {
    for size in [1, 3] {
        let error = pool(4, 1, [0, 0]).operator(&data(&[1, size, 1]), false);
        assert!(matches!(error, Err(Error::WindowTooLarge { extent: 4, .. })));
    }
    assert_eq!(windows(&pool(4, 1, [0, 1]), 3), 1);

    // With `ceil`, the formula allows a window that is larger by less than a stride.
    let ceil = |stride| MaxPool { rounding_type: Rounding::Ceil, ..pool(4, stride, [0, 0]) };
    assert_eq!(windows(&ceil(2), 3), 1);
    let error = ceil(2).operator(&data(&[1, 2, 1]), false);
    assert!(matches!(error, Err(Error::WindowTooLarge { extent: 4, padded: 2, .. })));
}

#[test]
fn there_are_no_indices() {
    let error = pool(2, 1, [0, 0]).operator(&data(&[1, 4, 1]), true).unwrap_err();
    assert_eq!(error.to_string(), "oneDNN Graph MaxPool gives 1 output; requested: 2");
}
