//! Chains of operators: one submit, the same results, and no result read before the submit.

use crate::common::{Random, both_tunings, describe, gpu, seed, tensor};
use wgmax::operator::{Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::{Device, DeviceTensor, ElementType, Error, Run, Tensor, compare};

/// A pooling, two reductions in turn, and a segment maximum.
fn operators() -> [Operator; 4] {
    [
        MaxPool::new([3, 3]).strides([2, 2]).indices(Indices::default()).into(),
        ReduceMax::new().axes([3]).into(),
        ReduceMax::new().axes([2]).into(),
        SegmentMax::unsorted().num_segments(3).into(),
    ]
}

/// Runs the operators one by one, each with a submit of its own.
fn one_by_one(device: &Device, images: &Tensor, ids: &Tensor) -> Vec<Tensor> {
    let [pool, across, down, segments] = operators();
    let pooled = pool.run(device, [images]).unwrap();
    let across = across.run(device, [&pooled[0]]).unwrap();
    let down = down.run(device, [&across[0]]).unwrap();
    let segments = segments.run(device, [&down[0], ids]).unwrap();
    [pooled, across, down, segments].into_iter().flatten().collect()
}

fn chained(device: &Device, images: &Tensor, ids: &Tensor) -> Vec<Tensor> {
    let [pool, across, down, segments] = operators();
    let (images, ids) = (device.upload(images).unwrap(), device.upload(ids).unwrap());
    let mut chain = device.chain();
    let pooled = chain.run(&pool, [&images]).unwrap();
    let across = chain.run(&across, [&pooled[0]]).unwrap();
    let down = chain.run(&down, [&across[0]]).unwrap();
    // A refused operator leaves the chain unchanged.
    let refused = chain.run(MaxPool::new([2]), [&ids]);
    assert!(refused.is_err());
    let segments = chain.run(&segments, [&down[0], &ids]).unwrap();
    chain.submit().unwrap();
    let results: Vec<&DeviceTensor> =
        [&pooled, &across, &down, &segments].into_iter().flatten().collect();
    results.into_iter().map(|result| result.download().unwrap()).collect()
}

#[test]
fn a_chain_gives_what_its_operators_give_one_by_one() {
    let Some(device) = gpu() else { return };
    let [hardware, software] = both_tunings(&device);
    let seed = seed();
    let mut random = Random(seed);
    for t in ElementType::ALL {
        let images = tensor(t, &[5, 3, 23, 17], 0, &mut random);
        let ids = Tensor::from_slice([5], &[2i64, 0, 2, 7, 0]).unwrap();
        let expected = one_by_one(&Device::cpu(), &images, &ids);
        for device in [&hardware, &software, &Device::cpu()] {
            let on = describe(device);
            let found = chained(device, &images, &ids);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                let report = compare(found, expected).unwrap();
                assert!(report.is_equal(), "WGMAX_SEED={seed}, {t} on {on}: {report}");
            }
        }
    }
}

#[test]
fn nothing_is_read_before_its_chain_is_submitted() {
    let Some(device) = gpu() else { return };
    let input = device.upload(&Tensor::from_slice([2, 2], &[1i32, 4, 3, 2]).unwrap()).unwrap();
    let rows: Operator = ReduceMax::new().axes([-1]).keep_dims(true).into();
    let early = |result: wgmax::Result<()>| {
        assert!(matches!(result, Err(Error::NotSubmitted)), "{result:?}");
    };

    let mut chain = device.chain();
    let found = chain.run(&rows, [&input]).unwrap();
    early(found[0].download().map(drop));
    assert!(found[0].buffer().is_none());
    early(device.run(&rows, [&found[0]]).map(drop));
    early(device.chain().run(&rows, [&found[0]]).map(drop));
    chain.submit().unwrap();
    assert!(found[0].buffer().is_some());
    assert_eq!(found[0].download().unwrap().to_vec::<i32>().unwrap(), [4, 3]);
    assert!(device.run(ReduceMax::new(), [&found[0]]).is_ok());

    let mut dropped = device.chain();
    let lost = dropped.run(&rows, [&input]).unwrap();
    drop(dropped);
    early(lost[0].download().map(drop));
}
