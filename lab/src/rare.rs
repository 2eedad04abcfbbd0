//! Cases that random ones rarely have: each shows a mistake that no other one showed.

use wgmax::operator::{
    Indices, Layout, MaxPool, MaxPoolBackward, Numbering, Operator, ReduceMax, ScatterMax,
    ScatterMaxBackward, SegmentMax,
};
use wgmax::{ElementType, Result, Tensor};
use wgmax_verify::{Case, PlanOverrides, Random, Style, oracle, tensor};

use ElementType::{F16, F32, I64, U8};

pub fn cases() -> Result<Vec<Case>> {
    Ok([poolings()?, gradients()?, others()?].concat())
}

fn own() -> PlanOverrides {
    PlanOverrides::default()
}

/// Limits with small bindings.
fn bound(bytes: u64) -> PlanOverrides {
    PlanOverrides { max_binding_size: Some(bytes), ..own() }
}

fn groups(most: u32) -> PlanOverrides {
    PlanOverrides { max_workgroups_per_dimension: Some(most), ..own() }
}

fn drawn(t: ElementType, shape: &[usize]) -> Result<Tensor> {
    tensor(t, shape, Style::Numbers, &mut Random(shape.iter().sum::<usize>() as u64))
}

fn poolings() -> Result<Vec<Case>> {
    let pool = |kernel: &[usize]| MaxPool::new(kernel.to_vec());
    let padded = |kernel: &[usize], begin: &[usize], end: &[usize]| {
        pool(kernel).pads(begin.to_vec(), end.to_vec())
    };
    let indices = Indices::new(ElementType::I32).numbering(Numbering::FromAxis(0));
    let apart = |kernel: &[usize]| pool(kernel).strides(kernel.to_vec());
    let small = PlanOverrides { workgroup_size: Some(8), ..own() };
    let all: [(MaxPool, ElementType, &[usize], PlanOverrides); 13] = [
        // Tiles that begin behind all borders, and end behind one.
        (padded(&[3, 3], &[1, 1], &[1, 1]), F32, &[2, 1, 300, 300], own()),
        // Padding at the end of the outermost axis alone.
        (padded(&[2, 2, 2], &[0; 3], &[1, 0, 0]), F32, &[1, 1, 3, 8, 8], own()),
        // More workgroups than tiles, of several planes.
        (pool(&[3, 3]), F32, &[3, 1, 50, 50], groups(2)),
        // Windows that double along three axes.
        (padded(&[3, 3, 3], &[1; 3], &[1; 3]), F32, &[1, 1, 12, 12, 12], own()),
        // Windows that are far longer than their axis and begin and end within padding.
        (padded(&[40], &[45], &[0]).strides([5]), F32, &[1, 1, 12], own()),
        (padded(&[40], &[0], &[43]).strides([5]), F32, &[1, 1, 12], own()),
        (padded(&[20], &[0], &[30]).indices(indices), F32, &[1, 1, 1], own()),
        // Channels beyond a binding, with windows of padding.
        (
            padded(&[1], &[1], &[0]).strides([2]).layout(Layout::Nxc).indices(indices),
            F32,
            &[1, 1, 300],
            bound(516),
        ),
        // Levels of pyramids whose strips fill the tile, and whose rows have more words than a
        // workgroup has invocations.
        (apart(&[12, 8]), I64, &[1, 1, 30, 36], own()),
        (apart(&[4, 9]), F32, &[1, 1, 96, 96], small),
        // Windows that split an axis of so many elements that their ratio is rounded.
        (MaxPool::adaptive([100_000]), U8, &[1, 1, 199_999], own()),
        // Groups of more than one dimension.
        (pool(&[2]), F32, &[1, 1, 1500], groups(2)),
        (pool(&[2]), F32, &[3, 3, 400], groups(3)),
    ];
    let case = |(op, t, shape, overrides): (MaxPool, _, &[usize], _)| {
        Ok(Case { operator: op.into(), tensors: vec![drawn(t, shape)?], overrides })
    };
    all.into_iter().map(case).collect()
}

fn gradients() -> Result<Vec<Case>> {
    let pool = |kernel: &[usize]| MaxPool::new(kernel.to_vec());
    let from_data: [(MaxPool, &[usize]); 4] = [
        // Several tiles, and elements behind the last window.
        (pool(&[2]), &[1, 1, 3000]),
        // Tiles of two planes.
        (pool(&[2, 2]), &[2, 1, 3, 3]),
        // Tiles with as many windows as there is memory for.
        (pool(&[2]), &[1, 1, 1345]),
        (pool(&[2, 2]), &[1, 1, 33, 43]),
    ];
    let from_indices: [(MaxPool, i64, ElementType, &[usize], PlanOverrides); 9] = [
        (pool(&[2, 2]).strides([2, 1]), 0, F32, &[1, 1, 4, 4], own()),
        (pool(&[2, 2]), 0, F32, &[1, 1, 3, 3], own()),
        (pool(&[2]), 0, F32, &[1, 1, 8], own()),
        // Rows of more words than are cleared one by one.
        (pool(&[12]), 0, F32, &[1, 1, 20], own()),
        // Launches that begin with half a word, and in the middle of a period.
        (pool(&[2]), 0, F16, &[3, 1, 101], bound(1000)),
        (pool(&[2]), 0, F16, &[3, 1, 101], bound(516)),
        (pool(&[2]), 0, F16, &[1, 1, 203], bound(516)),
        (pool(&[2]), 1, F32, &[2, 3, 90], bound(1000)),
        (pool(&[2]).pads([1], [0]), 0, F32, &[1, 1, 2], own()),
    ];
    let mut cases = Vec::new();
    for (op, shape) in from_data {
        let data = drawn(F32, shape)?;
        let results = op.infer(data.desc())?;
        let gradient = drawn(F32, results[0].shape())?;
        let operator = MaxPoolBackward::new(op).into();
        cases.push(Case { operator, tensors: vec![data, gradient], overrides: own() });
    }
    for (op, axis, t, shape, overrides) in from_indices {
        let indices = Indices::new(ElementType::I32).numbering(Numbering::FromAxis(axis));
        let op = op.indices(indices);
        let results = oracle::run(&op.clone().into(), &[&drawn(t, shape)?])?;
        let tensors = vec![results[1].clone(), drawn(t, results[0].shape())?];
        let operator = MaxPoolBackward::new(op).from_indices(shape).into();
        cases.push(Case { operator, tensors, overrides });
    }
    // A position of no update: these are fewer than the data along the other axis.
    let scatter = ScatterMax::along(0).indices(Indices::new(ElementType::I32));
    let operator = ScatterMaxBackward::new(scatter).from_indices([2, 2]).into();
    let tensors = vec![Tensor::from_slice([2, 3], &[0i32, 1, 0, -1, 0, 1])?, drawn(F32, &[2, 3])?];
    cases.push(Case { operator, tensors, overrides: own() });
    Ok(cases)
}

fn others() -> Result<Vec<Case>> {
    let reduce = |axis: i64| ReduceMax::new().axes([axis]);
    let mut cases = Vec::new();
    let mut add = |operator: Operator, tensors: &[Tensor], overrides| {
        cases.push(Case { operator, tensors: tensors.to_vec(), overrides });
    };
    // Columns of which each word has elements of two rows.
    add(reduce(1).into(), &[drawn(U8, &[40, 7, 3])?], own());
    // Rows before the first segment, and after it whole segments within a chunk.
    let offsets: Vec<i64> = (0..50).map(|segment| 3 + 2 * segment).collect();
    let offsets = Tensor::from_slice([50], &offsets)?;
    add(SegmentMax::offsets().into(), &[drawn(F32, &[128])?, offsets], own());
    let ids =
        Tensor::from_slice([20], &[0i32, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 6])?;
    // Rows of as many blocks as a workgroup has invocations.
    add(SegmentMax::sorted().into(), &[drawn(F32, &[20, 1024])?, ids.clone()], own());
    // Views of rows, and results of 3 and 5 elements among other ones.
    for seed in 0..8 {
        let views = PlanOverrides { views: Some(seed), ..own() };
        let segments = SegmentMax::sorted().indices(Indices::new(ElementType::I32));
        add(segments.into(), &[drawn(F32, &[20, 3])?, ids.clone()], views.clone());
        for rows in [3, 5] {
            add(reduce(1).into(), &[drawn(U8, &[rows, 7])?], views.clone());
        }
    }
    Ok(cases)
}
