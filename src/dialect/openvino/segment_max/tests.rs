use super::*;
use crate::Element;
use crate::dialect::Attribute::{self, *};

fn read(version: u32, attributes: &[(&str, Attribute)]) -> Result<SegmentMax> {
    let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    SegmentMax::from_attributes(version, &attributes)
}

fn text(text: &str) -> Attribute {
    Text(text.to_string())
}

fn desc(element_type: ElementType, shape: &[usize]) -> TensorDesc {
    TensorDesc::new(element_type, shape).unwrap()
}

/// The operator with the fill mode `LOWEST`, for f32 data of shape [5, 2] and i32 ids.
fn resolve(num_segments: Option<&Tensor>) -> Result<operator::SegmentMax> {
    let (data, ids) = (desc(ElementType::F32, &[5, 2]), desc(ElementType::I32, &[5]));
    SegmentMax::new(EmptySet::Finite).operator(&data, &ids, num_segments)
}

/// The same with a `num_segments`.
fn count<T: Element>(shape: &[usize], elements: &[T]) -> Result<operator::SegmentMax> {
    resolve(Some(&Tensor::from_slice(shape, elements).unwrap()))
}

fn expected() -> operator::SegmentMax {
    operator::SegmentMax::sorted().empty_segment(EmptySet::Finite).nan(Nan::Ignore)
}

#[test]
fn reads_its_attribute() {
    for (name, fill_mode) in ["ZERO", "LOWEST"].into_iter().zip(FILL_MODES) {
        for name in [
            name.to_string(),
            name.to_lowercase(),
            format!("{}{}", &name[..1], name[1..].to_lowercase()),
        ] {
            let operator = read(16, &[("fill_mode", Text(name))]).unwrap();
            assert_eq!(operator, SegmentMax::new(fill_mode));
            assert_eq!(operator.nan, Nan::Ignore);
        }
    }
    for value in [text(""), text("ZEROS"), text("LOWEST "), text("-inf"), Int(0), Bool(false)] {
        let error = read(16, &[("fill_mode", value.clone())]).unwrap_err();
        let expected = format!("attribute fill_mode must be ZERO or LOWEST, but is {value}");
        assert_eq!(error.to_string(), expected);
    }
    for version in [0, 1, 15, 17] {
        let error = read(version, &[("fill_mode", text("ZERO"))]).unwrap_err();
        assert_eq!(error.to_string(), format!("OpenVINO has no SegmentMax-{version}"));
    }
}

#[test]
fn fill_mode_is_required_and_the_only_one() {
    let error = read(16, &[]).unwrap_err();
    assert_eq!(error.to_string(), r#"OpenVINO SegmentMax-16 needs the attribute "fill_mode""#);
    // The specification's examples still have this instead.
    let old = ("empty_segment_value", Int(0));
    for attributes in [&[old.clone()][..], &[old, ("fill_mode", text("ZERO"))]] {
        let error = read(16, attributes).unwrap_err().to_string();
        let expected = r#"OpenVINO SegmentMax-16 has no attribute "empty_segment_value""#;
        assert_eq!(error, expected);
    }
}

#[test]
fn minus_infinity_is_no_fill_mode() {
    let (data, ids) = (desc(ElementType::F32, &[5, 2]), desc(ElementType::I32, &[5]));
    let own = SegmentMax::new(EmptySet::Identity);
    let error = own.operator(&data, &ids, None);
    assert!(matches!(error, Err(Error::BadAttribute { attribute: "fill_mode", .. })));
}

#[test]
fn resolves_with_its_own_defaults() {
    assert_eq!(resolve(None).unwrap(), expected());
    assert_eq!(count(&[], &[7i64]).unwrap(), expected().num_segments(7));
    let (data, ids) = (desc(ElementType::I8, &[5]), desc(ElementType::I64, &[5]));
    let own = SegmentMax { fill_mode: EmptySet::Zero, nan: Nan::Propagate };
    let zero = expected().empty_segment(EmptySet::Zero).nan(Nan::Propagate);
    assert_eq!(own.operator(&data, &ids, None).unwrap(), zero);
}

#[test]
fn takes_all_types_but_bool() {
    let ids = desc(ElementType::I32, &[2]);
    for t in ElementType::ALL {
        match SegmentMax::new(EmptySet::Zero).operator(&desc(t, &[2]), &ids, None) {
            Ok(_) => assert_ne!(t, ElementType::Bool),
            Err(Error::TypeNotInDialect { .. }) => assert_eq!(t, ElementType::Bool),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn ids_are_one_for_each_row() {
    let resolve = |data: &[usize], t, ids: &[usize]| {
        let (data, ids) = (desc(ElementType::F32, data), desc(t, ids));
        // The same with a number of segments as without.
        let count = Tensor::from_slice([], &[3i32]).unwrap();
        let operator = SegmentMax::new(EmptySet::Zero);
        let error = operator.operator(&data, &ids, Some(&count)).map(|_| ());
        let other = operator.operator(&data, &ids, None).map(|_| ());
        assert_eq!(format!("{error:?}"), format!("{other:?}"));
        error
    };
    for t in ElementType::ALL {
        match resolve(&[5, 2], t, &[5]) {
            Ok(()) => assert!(matches!(t, ElementType::I32 | ElementType::I64)),
            Err(Error::WrongElementType { what: "segment_ids", actual, .. }) => {
                assert!(actual == t && !matches!(t, ElementType::I32 | ElementType::I64));
            }
            Err(error) => panic!("{error}"),
        }
    }
    let i32 = ElementType::I32;
    assert!(resolve(&[0, 2], i32, &[0]).is_ok());
    assert!(resolve(&[3, 0], i32, &[3]).is_ok());
    assert!(matches!(resolve(&[], i32, &[1]), Err(Error::SegmentDataRank)));
    for length in [0, 3, 6] {
        let error = resolve(&[5, 2], i32, &[length]);
        assert!(matches!(error, Err(Error::SegmentIdsLength { rows: 5, .. })), "{length}");
    }
    for (shape, expected) in [(&[][..], 0), (&[1, 5], 2), (&[5, 1], 2)] {
        let error = resolve(&[5, 2], i32, shape);
        assert!(matches!(error, Err(Error::SegmentIdsRank { rank, .. }) if rank == expected));
    }
}

#[test]
fn num_segments_is_a_scalar_that_is_not_negative() {
    for (number, found) in
        [(0, count(&[], &[0i32])), (9, count(&[], &[9i32])), (9, count(&[], &[9i64]))]
    {
        assert_eq!(found.unwrap(), expected().num_segments(number));
    }
    for (shape, ones) in [(&[1][..], 1), (&[1, 1], 1), (&[0], 0), (&[2], 2)] {
        let error = count(shape, &vec![1i64; ones]);
        assert!(matches!(error, Err(Error::ShapeNotInDialect { .. })), "{shape:?}");
    }
    let error = count(&[1], &[4i32]).unwrap_err().to_string();
    assert_eq!(error, "OpenVINO SegmentMax-16 takes num_segments as a scalar; given: [1]");
    for error in [count(&[], &[-1i32]), count(&[], &[-1i64]), count(&[], &[i64::MIN])] {
        assert!(matches!(error, Err(Error::BadAttribute { attribute: "num_segments", .. })));
    }
    let others =
        [count(&[], &[3u32]), count(&[], &[3i16]), count(&[], &[3u64]), count(&[], &[3f32])];
    for error in others {
        assert!(matches!(error, Err(Error::WrongElementType { what: "num_segments", .. })));
    }
    let error = count(&[], &[i64::MAX]);
    assert!(matches!(error, Err(Error::ShapeOverflow { .. })));
}

#[test]
fn ids_tell_the_number_of_segments_and_are_looked_at() {
    let data = desc(ElementType::F32, &[3, 2]);
    let rows = |ids: [i32; 3]| {
        let ids = Tensor::from_slice([3], &ids).unwrap();
        let operator = SegmentMax::new(EmptySet::Zero).operator(&data, ids.desc(), None).unwrap();
        let checked = operator.checked(&data, &ids)?;
        Ok(checked.infer([&data, ids.desc()])?[0].shape()[0])
    };
    assert_eq!(rows([0, 0, 4]).unwrap(), 5);
    assert!(matches!(rows([0, 4, 3]), Err(Error::UnsortedSegments { .. })));
    assert!(matches!(rows([-1, 0, 0]), Err(Error::NegativeSegment { .. })));

    let (data, ids) =
        (desc(ElementType::F32, &[0, 2]), Tensor::from_slice([0], &[0i64; 0]).unwrap());
    let operator = SegmentMax::new(EmptySet::Zero).operator(&data, ids.desc(), None).unwrap();
    let none = operator.checked(&data, &ids).unwrap().infer([&data, ids.desc()]).unwrap();
    assert_eq!(*none, [desc(ElementType::F32, &[0, 2])]);
}
