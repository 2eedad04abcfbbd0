//! Comparisons with the data of numpy 2.4.6.

use super::*;

/// `default_rng(seed).bit_generator.random_raw(4)`, and draws of 32 bits.
#[test]
fn the_generator_is_numpys() {
    let mut generator = Generator::new(1234);
    let raw: [u64; 4] = std::array::from_fn(|_| generator.u64());
    let expected = [
        0xFA08_FEF3_FAB6_BBBA,
        0x6154_81F7_FCE9_AC81,
        0xEC59_DD7C_2BDE_3CB4,
        0x42FE_4652_1ADA_3E8E,
    ];
    assert_eq!(raw, expected);
    assert_eq!(Generator::new(0).u64(), 0xA30F_EBCF_D9C2_825F);
    assert_eq!(Generator::new(u32::MAX).u64(), 0x407F_5FA9_30D8_FD9F);

    // integers(0, 3_000_000_000, 6, uint32), where many draws are rejected, and then below 10.
    let mut generator = Generator::new(1234);
    let wide: [u32; 6] = std::array::from_fn(|_| generator.up_to(2_999_999_999));
    let expected =
        [2_938_052_366, 2_930_099_299, 2_963_821_739, 1_140_587_204, 314_677_933, 785_077_271];
    assert_eq!(wide, expected);
    let narrow: [u32; 6] = std::array::from_fn(|_| generator.up_to(9));
    assert_eq!(narrow, [1, 3, 5, 1, 7, 2]);

    let mut numbers: [u8; 10] = std::array::from_fn(|i| i as u8);
    Generator::new(1234).shuffle(&mut numbers);
    assert_eq!(numbers, [8, 9, 5, 0, 2, 6, 4, 7, 1, 3]);
}

/// Digests of `default_rng(1234).standard_normal(1 << 20, dtype)` and of
/// `integers(min, max, 4099, dtype, endpoint=True)`. Of a million normal numbers hundreds are from
/// the tail and thousands from the edges of layers.
#[test]
fn data_are_numpys() {
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
        let tensor = data(element_type, &[count], DATA_SEED).unwrap();
        assert_eq!(crc32fast::hash(tensor.bytes()), expected, "{element_type}");
    }
}

#[test]
fn ids_are_numpys() {
    let cases = [
        (SegmentSizes::Uniform, 4000, 40, 0xECCE_60F7),
        (SegmentSizes::Random, 10_000, 2500, 0xCB9A_1653),
        (SegmentSizes::Powerlaw, 100_000, 3000, 0x8F97_1FA2),
        (SegmentSizes::Giant, 5000, 2000, 0x455B_0DF3),
    ];
    for (sizes, rows, segments, expected) in cases {
        let ids = ids(rows, segments, sizes);
        assert_eq!(ids.len(), rows);
        assert_eq!(crc32fast::hash(bytemuck::cast_slice(&ids)), expected, "{sizes:?}");
    }
}

/// The bytes in the items are those of their tensors.
#[test]
fn the_bytes_of_items_are_right() {
    let items = crate::bench::item::all().unwrap();
    assert_eq!(items.len(), 51);
    for item in items {
        let inputs = item.inputs().unwrap();
        let results = item.operator().infer(&inputs.iter().collect::<Vec<_>>()).unwrap();
        let sum = |descs: &[wgmax::TensorDesc]| -> u64 {
            descs.iter().map(|desc| desc.byte_len() as u64).sum()
        };
        assert_eq!(
            (sum(&inputs), sum(&results)),
            (item.bytes_read, item.bytes_write),
            "{}",
            item.name
        );
    }
}
