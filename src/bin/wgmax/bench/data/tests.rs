use super::*;
use crate::bench::item;

fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Digests of what numpy 2.4.6 makes: `default_rng(1234).standard_normal(1 << 20, dtype)`, and
/// `integers(min, max, 4099, dtype, endpoint=True)`.
#[test]
fn data_are_those_of_numpy() {
    let cases = [
        (ElementType::F32, 1 << 20, 0xACEE_A3CD),
        (ElementType::F64, 1 << 20, 0x6E8B_AA22),
        (ElementType::F16, 1 << 20, 0x9C88_062A),
        (ElementType::I8, 4099, 0xF983_8277),
        (ElementType::U8, 4099, 0xD53D_BF54),
        (ElementType::I32, 4099, 0x49EE_4B10),
        (ElementType::I64, 4099, 0x2B86_2D3A),
    ];
    for (element_type, count, expected) in cases {
        let tensor = data(element_type, &[count]).unwrap();
        assert_eq!(crc(tensor.bytes()), expected, "{element_type}");
    }
}
