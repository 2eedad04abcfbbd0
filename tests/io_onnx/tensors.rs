//! `TensorProto`.

use std::fs;

use tempfile::TempDir;
use wgmax::io::onnx::{encode_tensor, parse_tensor, read_tensor};
use wgmax::{ElementType, Error, Result, Tensor};

use super::{assert_bad, assert_unsupported, flipped};
use crate::common::onnx::{int, len, packed, tensor, unpacked, varint};

fn parse(bytes: &[u8]) -> Result<Tensor> {
    parse_tensor("t.pb", bytes)
}

/// Each type's number in the format, a field that can hold it, and elements as
/// that field has them, with the bytes that they stand for.
type Numbers = (ElementType, i64, u64, [i64; 2], &'static [u8]);
const INTEGERS: [Numbers; 11] = [
    (ElementType::U8, 2, 5, [0, 255], &[0, 255]),
    (ElementType::I8, 3, 5, [-128, 127], &[128, 127]),
    (ElementType::U16, 4, 5, [1, 65535], &[1, 0, 255, 255]),
    (ElementType::I16, 5, 5, [-32768, 258], &[0, 128, 2, 1]),
    (ElementType::I32, 6, 5, [-2, 0x0102_0304], &[254, 255, 255, 255, 4, 3, 2, 1]),
    (
        ElementType::I64,
        7,
        7,
        [i64::MIN, 0x0102_0304_0506_0708],
        &[0, 0, 0, 0, 0, 0, 0, 128, 8, 7, 6, 5, 4, 3, 2, 1],
    ),
    (ElementType::Bool, 9, 5, [1, 0], &[1, 0]),
    (ElementType::F16, 10, 5, [0x3c00, 0xfc01], &[0, 0x3c, 1, 0xfc]),
    (ElementType::U32, 12, 11, [7, 0xffff_fffe], &[7, 0, 0, 0, 254, 255, 255, 255]),
    (
        ElementType::U64,
        13,
        11,
        [-1, 1],
        &[255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0],
    ),
    (ElementType::Bf16, 16, 5, [0x3f80, 0xffc0], &[0x80, 0x3f, 0xc0, 0xff]),
];

#[test]
fn integers_and_halves_come_from_their_field_or_from_raw_data() {
    for (element_type, code, field, values, bytes) in INTEGERS {
        for data in [packed(field, &values), unpacked(field, &values), len(9, bytes)] {
            let read = parse(&tensor(&[2], code, &[data])).unwrap();
            assert_eq!((read.element_type(), read.shape()), (element_type, &[2][..]));
            assert_eq!(read.bytes(), bytes, "{element_type}");
        }
    }
}

#[test]
fn floats_come_from_their_field_or_from_raw_data() {
    // A NaN with a payload and a negative zero must be unchanged.
    let singles = [0x7fa0_0001u32, 0x8000_0000].map(u32::to_le_bytes).concat();
    let doubles = [0xfff0_0000_0000_0001u64, 1 << 63].map(u64::to_le_bytes).concat();
    for (element_type, code, field, wire, bytes) in
        [(ElementType::F32, 1, 4, 5, &singles), (ElementType::F64, 11, 10, 1, &doubles)]
    {
        let key = varint(field << 3 | wire);
        let each = bytes.chunks(bytes.len() / 2).flat_map(|c| [&key, c].concat()).collect();
        for data in [len(field, bytes), each, len(9, bytes)] {
            let read = parse(&tensor(&[1, 2], code, &[data])).unwrap();
            assert_eq!((read.element_type(), read.shape()), (element_type, &[1, 2][..]));
            assert_eq!(read.bytes(), *bytes, "{element_type}");
        }
    }
}

#[test]
fn shapes_are_scalars_and_empty_ones_too() {
    let scalar = parse(&tensor(&[], 7, &[packed(7, &[-5])])).unwrap();
    assert_eq!((scalar.shape(), scalar.to_vec::<i64>().unwrap()), (&[][..], vec![-5]));
    for data in [vec![], len(9, [])] {
        let empty = parse(&tensor(&[2, 0, 4], 1, &[data])).unwrap();
        assert_eq!((empty.shape(), empty.len()), (&[2, 0, 4][..], 0));
    }
    // Packed dims are read like unpacked ones.
    let bytes = [packed(1, &[1, 2]), int(2, 2), len(9, [3, 4])].concat();
    assert_eq!(parse(&bytes).unwrap().shape(), [1, 2]);
}

#[test]
fn fields_of_no_interest_are_skipped() {
    let extra = [len(8, "name"), len(12, "doc"), len(13, ""), int(14, 0), len(999, "later")];
    let bytes = [extra.concat(), tensor(&[2], 2, &[len(9, [1, 2])])].concat();
    assert_eq!(parse(&bytes).unwrap().bytes(), [1, 2]);
}

#[test]
fn tensors_are_refused_for_what_is_wrong_with_them() {
    let two = || len(9, [1, 2]);
    let cases = [
        (tensor(&[2], 0, &[two()]), "data_type 0"),
        (tensor(&[2], 99, &[two()]), "data_type 99"),
        (tensor(&[2], -1, &[two()]), "data_type -1"),
        (unpacked(1, &[2]), "data_type 0"),
        (tensor(&[-2], 2, &[two()]), "dimension -2"),
        (tensor(&[i64::MAX, 3], 2, &[two()]), "too large"),
        (tensor(&[1 << 31, 1 << 31, 4], 2, &[]), "too large"),
        (tensor(&[i64::MAX, 3, 0], 2, &[]), "too large"),
        (tensor(&[1 << 40], 11, &[]), "double_data holds 0"),
        (tensor(&[1 << 40], 11, &[two()]), "2 were given"),
        (tensor(&[3], 2, &[two()]), "needs 3 bytes"),
        (tensor(&[1], 2, &[two()]), "needs 1 bytes"),
        (tensor(&[2], 2, &[]), "int32_data holds 0"),
        (tensor(&[3], 2, &[packed(5, &[1, 2])]), "int32_data holds 2"),
        (tensor(&[1], 2, &[packed(5, &[1, 2])]), "int32_data holds 2"),
        (tensor(&[2], 2, &[two(), packed(5, &[1, 2])]), "both raw_data and int32_data"),
        (tensor(&[2], 2, &[two(), packed(7, &[1, 2])]), "int64_data holds elements"),
        (tensor(&[2], 7, &[packed(5, &[1, 2])]), "int32_data holds elements"),
        (tensor(&[2], 2, &[two(), len(6, "text")]), "string_data holds elements"),
        (tensor(&[2], 9, &[len(9, [1, 2])]), "byte 2"),
        (tensor(&[2], 9, &[packed(5, &[1, 2])]), "byte 2"),
        (tensor(&[2], 2, &[two(), int(14, 2)]), "data_location 2"),
        (tensor(&[2], 2, &[vec![0x4a, 0xff, 0xff, 0xff, 0xff, 0x0f]]), ""),
    ];
    for (bytes, reason) in cases {
        assert_bad(parse(&bytes), "t.pb", reason);
    }
    for (bytes, reason) in [
        (tensor(&[2], 8, &[len(6, "a"), len(6, "b")]), "STRING"),
        (tensor(&[2], 17, &[two()]), "FLOAT8E4M3FN"),
        (tensor(&[2], 2, &[two(), len(3, int(1, 0))]), "segments"),
    ] {
        assert_unsupported(parse(&bytes), reason);
    }
}

#[test]
fn numbers_outside_their_type_are_refused() {
    for (code, field, value) in [
        (2, 5, -1),
        (2, 5, 256),
        (3, 5, -129),
        (3, 5, 128),
        (4, 5, -1),
        (4, 5, 65536),
        (5, 5, -32769),
        (5, 5, 32768),
        (9, 5, -1),
        (9, 5, 256),
        (10, 5, -1),
        (10, 5, 65536),
        (12, 11, 1 << 32),
        (16, 5, -1),
        (16, 5, 65536),
    ] {
        let bytes = tensor(&[2], code, &[packed(field, &[0, value])]);
        assert_bad(parse(&bytes), "t.pb", &format!("element 1 is {value}"));
    }
}

#[test]
fn what_is_encoded_is_read_back() {
    for element_type in ElementType::ALL {
        for shape in [vec![], vec![3, 2], vec![0, 5], vec![200]] {
            let count = shape.iter().product::<usize>() * element_type.size();
            let bool_or_byte = if element_type == ElementType::Bool { 2 } else { 256 };
            let bytes: Vec<u8> = (0..count).map(|i| (i * 37 % bool_or_byte) as u8).collect();
            let tensor = Tensor::from_bytes(element_type, shape, &bytes).unwrap();
            let read = parse(&encode_tensor(&tensor).unwrap()).unwrap();
            assert_eq!(read.desc(), tensor.desc());
            assert_eq!(read.bytes(), tensor.bytes());
        }
    }
    let tensor = Tensor::from_slice([1, 2], &[1u16, 0x0203]).unwrap();
    let literal = [0x08, 1, 0x08, 2, 0x10, 4, 0x4a, 4, 1, 0, 3, 2];
    assert_eq!(encode_tensor(&tensor).unwrap(), literal);
}

#[test]
fn a_file_is_read_and_named_in_errors() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.pb");
    fs::write(&path, tensor(&[2], 2, &[len(9, [1, 2])])).unwrap();
    assert_eq!(read_tensor(&path).unwrap().bytes(), [1, 2]);
    fs::write(&path, [0xff]).unwrap();
    assert_bad(read_tensor(&path), path.to_str().unwrap(), "");
    let absent = read_tensor(dir.path().join("b.pb"));
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("b.pb")));
}

#[test]
fn a_cut_tensor_is_refused_and_a_flipped_one_never_panics() {
    let raw = tensor(&[2, 3], 4, &[len(9, [1; 12])]);
    let typed = tensor(&[2, 3], 3, &[packed(5, &[0, 1, -2, 127, 4, 5])]);
    let doubles = tensor(&[2], 11, &[len(10, [0x40; 16])]);
    for whole in [raw, typed, doubles] {
        parse(&whole).unwrap();
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end} of {} bytes", whole.len());
        }
        flipped(&whole, |bytes| {
            if let Ok(tensor) = parse(bytes) {
                assert_eq!(tensor.bytes().len(), tensor.desc().byte_len());
            }
        });
    }
}
