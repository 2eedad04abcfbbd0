//! Cases that are rare among random ones. Each detects a fault that no other case detected.

use wgmax::operator::{
    Indices, Layout, MaxPool, MaxPoolBackward, MaxUnpool, Numbering, Operator, ReduceMax,
    ReduceMaxBackward, Rounding, ScatterMax, ScatterMaxBackward, SegmentMax,
};
use wgmax::{Device, ElementType, Result, Run, Tensor, Tuning, View};
use wgmax_verify::{Case, PlanOverrides, Random, Style, oracle, tensor};

use crate::cases::{Prepared, limits};
use crate::keys;

use ElementType::{Bf16, F16, F32, I64, U8};

pub fn cases() -> Result<Vec<Case>> {
    Ok([poolings()?, gradients()?, others()?].concat())
}

/// Elements that end with the memory. The last ones do not fill a word.
pub fn ends() -> Result<Vec<Prepared>> {
    let (cpu, limits) = (Device::cpu(), limits());
    let case = |(t, has_indices): (ElementType, bool)| {
        let operator = ReduceMax::new().indices(has_indices.then(|| Indices::new(I64)));
        let operator = Operator::from(operator);
        let memory = drawn(t, &[64 / t.size()])?;
        let view = View::from(memory.desc()).slice(0, 3..memory.len())?;
        let tensor = cpu.upload(&memory)?.with_view(&view)?.download()?;
        let plan = operator.plan_views(&[&view], &[], &limits, &Tuning::hardware())?;
        let results = cpu.execute(&plan, [&cpu.upload(&memory)?.with_view(&view)?])?;
        let expected = results
            .iter()
            .enumerate()
            .map(|(i, result)| Ok((1 + i, result.view().clone(), result.download()?)));
        Ok(Prepared {
            name: format!("the end of {t}"),
            expected: expected.collect::<Result<_>>()?,
            case: Case { operator, tensors: vec![tensor], overrides: own() },
            plan,
            max_iterations: limits.max_iterations,
            inputs: vec![(memory, view)],
            are_right: true,
            is_rare: true,
        })
    };
    [(U8, true), (U8, false), (F16, true), (F16, false)].into_iter().map(case).collect()
}

/// Poolings of poolings that one launch computes: each level is a case, as a pooling of the elements.
pub fn pyramids() -> Result<Vec<Prepared>> {
    let (cpu, limits) = (Device::cpu(), limits());
    let mut cases = Vec::new();
    for (t, sizes, ceil) in [
        // Windows of 2, or of 3 where a size is odd: no element is left out.
        (U8, [21, 96], None),
        (Bf16, [44, 80], None),
        (F32, [70, 77], None),
        (I64, [8, 200], None),
        // Several tiles along both axes, and windows that end after their level: partial windows of the first
        // level are left out, those of later levels are kept.
        (F32, [131, 147], Some(2)),
        (F32, [132, 150], Some(3)),
        (U8, [270, 257], Some(2)),
    ] {
        let count = 2 * sizes[0] * sizes[1];
        let patterns: Vec<u8> = keys::patterns(t, count as u64)
            .flat_map(|bits| bits.to_le_bytes()[..t.size()].to_vec())
            .collect();
        let bytes: Vec<u8> = patterns.into_iter().cycle().take(count * t.size()).collect();
        let data = Tensor::from_bytes(t, [1, 2, sizes[0], sizes[1]], &bytes)?;
        let mut chain = cpu.prepare_chain();
        let mut slot = chain.input(data.desc());
        let (mut sizes, mut taps, mut levels) = (sizes, [1usize, 1], Vec::new());
        let (mut used, mut layout) = (data.clone(), View::from(data.desc()));
        for level in 0..3 {
            let kernel = sizes.map(|size| ceil.unwrap_or(2 + size % 2));
            let is_ceil = ceil.is_some() && level > 0;
            let rounding = if is_ceil { Rounding::Ceil } else { Rounding::Floor };
            let pool = MaxPool::new(kernel).strides([2, 2]).rounding(rounding);
            slot = chain.add(pool, slot)?[0];
            if level == 0 {
                // The elements that are in windows.
                let ends = [0, 1].map(|i| (sizes[i] - kernel[i]) / 2 * 2 + kernel[i]);
                layout = layout.slice(2, 0..ends[0])?.slice(3, 0..ends[1])?;
                used = cpu.upload(&data)?.with_view(&layout)?.download()?;
            }
            taps = [0, 1].map(|i| taps[i] + (kernel[i] - 1) * (1 << level));
            let operator = MaxPool::new(taps).strides([2 << level; 2]).rounding(rounding);
            let result = operator.run(&cpu, &used)?.into_vec().remove(0);
            sizes = [result.shape()[2], result.shape()[3]];
            // The second level begins after other elements.
            let pitches = View::from(result.desc()).pitches();
            let view = View::new(result.desc().clone(), if level == 1 { 8 } else { 0 }, pitches)?;
            chain.output_as(slot, view.clone())?;
            levels.push((operator, view, result));
        }
        let plan = chain.plan(&limits, &Tuning::hardware())?;
        for (i, (operator, view, result)) in levels.into_iter().enumerate() {
            cases.push(Prepared {
                name: format!("level {i} of {t} {:?}", data.shape()),
                case: Case {
                    operator: operator.into(),
                    tensors: vec![used.clone()],
                    overrides: own(),
                },
                plan: plan.clone(),
                max_iterations: limits.max_iterations,
                inputs: vec![(data.clone(), layout.clone())],
                expected: vec![(1 + i, view, result)],
                are_right: true,
                is_rare: true,
            });
        }
    }
    Ok(cases)
}

fn own() -> PlanOverrides {
    PlanOverrides::default()
}

/// Limits with small bindings.
fn bound(bytes: u64) -> PlanOverrides {
    PlanOverrides { max_binding_size: Some(bytes), ..own() }
}

fn groups(max: u32) -> PlanOverrides {
    PlanOverrides { max_workgroups_per_dimension: Some(max), ..own() }
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
    let all: [(MaxPool, ElementType, &[usize], PlanOverrides); 20] = [
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
        // More workgroups than there are tiles of levels.
        (apart(&[12, 8]), I64, &[3, 1, 30, 36], groups(2)),
        // Adaptive windows along an axis of so many elements that their ratio is rounded.
        (MaxPool::adaptive([100_000]), U8, &[1, 1, 199_999], own()),
        // Groups of two dimensions, and of three.
        (pool(&[2]), F32, &[3, 3, 400], groups(3)),
        (pool(&[2]), F32, &[1, 1, 6000], groups(2)),
        // Windows too far apart for a tile, whose lines are gathered.
        (
            padded(&[2, 2, 2], &[2, 2, 0], &[2, 2, 0]).dilations([20; 3]),
            F32,
            &[1, 1, 22, 22, 24],
            own(),
        ),
        // A later launch of so many results that the end of the last vector is beyond them.
        (padded(&[40], &[40], &[20]).strides([5]), F32, &[1, 60, 4], bound(392)),
        // Windows of one element of each plane.
        (pool(&[33, 1, 1]).strides([1, 2, 2]), F32, &[1, 1, 80, 2, 2], own()),
        // Channels of several blocks, and positions.
        (pool(&[2]).layout(Layout::Nxc).indices(indices), F32, &[1, 20, 32], own()),
        // Tiles that are full, of windows that double.
        (pool(&[100]), F32, &[1, 1, 9000], own()),
        (pool(&[40, 40]), F32, &[1, 1, 200, 200], own()),
    ];
    let case = |(op, t, shape, overrides): (MaxPool, _, &[usize], _)| {
        Ok(Case { operator: op.into(), tensors: vec![drawn(t, shape)?], overrides })
    };
    all.into_iter().map(case).collect()
}

fn gradients() -> Result<Vec<Case>> {
    let pool = |kernel: &[usize]| MaxPool::new(kernel.to_vec());
    let from_data: [(MaxPool, &[usize]); 4] = [
        // Several tiles, and elements after the last window.
        (pool(&[2]), &[1, 1, 3000]),
        // Tiles of two planes.
        (pool(&[2, 2]), &[2, 1, 3, 3]),
        // Tiles with as many windows as there is memory for.
        (pool(&[2]), &[1, 1, 1345]),
        (pool(&[2, 2]), &[1, 1, 33, 43]),
    ];
    let from_indices: [(MaxPool, i64, ElementType, &[usize], PlanOverrides); 13] = [
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
        // A window that spans the first element and has none.
        (
            pool(&[2, 2, 2]).dilations([1, 1, 5]).pads([0, 0, 1], [0, 0, 3]),
            0,
            F32,
            &[1, 1, 2, 2, 3],
            own(),
        ),
        // Windows without elements, whose distance from the first element is none of a tap, or below 0.
        (pool(&[2]).strides([2]).dilations([2]).pads([1], [4]), 0, F32, &[1, 1, 1], own()),
        (pool(&[2]).dilations([3]).pads([1], [2]), 0, F32, &[1, 1, 1], own()),
        // More windows than elements.
        (MaxPool::adaptive([9]), 0, F32, &[1, 1, 3], own()),
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
    // Positions of all elements, of which a launch has a part.
    let all = Tensor::from_slice([1, 1, 300], &(0..300).collect::<Vec<i32>>())?;
    let operator = MaxUnpool::new([1, 1, 300]).into();
    cases.push(Case {
        operator,
        tensors: vec![drawn(F32, &[1, 1, 300])?, all],
        overrides: bound(516),
    });
    // Positions along axes that are not adjacent.
    let reduce = ReduceMax::new().axes([1, 3]).indices(Indices::new(ElementType::I32));
    let shape = [2, 3, 2, 3, 2];
    let results = oracle::run(&reduce.clone().into(), &[&drawn(F32, &shape)?])?;
    let tensors = vec![results[1].clone(), drawn(F32, results[0].shape())?];
    let operator = ReduceMaxBackward::new(reduce).from_indices(shape).into();
    cases.push(Case { operator, tensors, overrides: own() });
    // A position that names no update: updates are fewer than the data along the other axis.
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
    // Ids that are negative, that descend, or that name no segment.
    for ids in [vec![-1i64, 0, 1, 1], vec![1, 0, 2, 3], vec![0, 1, -2, 2], vec![0, 0, 1, 9]] {
        let narrow: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
        let data = drawn(F32, &[4, 3])?;
        let ascending = || SegmentMax::sorted().num_segments(5).status(true);
        add(ascending().into(), &[data.clone(), Tensor::from_slice([4], &ids)?], own());
        add(ascending().into(), &[data, Tensor::from_slice([4], &narrow)?], own());
        // As indices along an axis they count back from its end.
        let indices = Tensor::from_slice([4, 1], &ids)?;
        let inputs = [drawn(F32, &[3, 5])?, indices, drawn(F32, &[4, 5])?];
        add(
            ScatterMax::by_vectors().status(ids.iter().any(|id| !(-3..3).contains(id))).into(),
            &inputs,
            own(),
        );
    }
    // An offset after the last row.
    let after = Tensor::from_slice([3], &[0i32, 2, 9])?;
    add(SegmentMax::offsets().status(true).into(), &[drawn(F32, &[4])?, after], own());
    // Wide ids at the end, whose low words are valid ids.
    let wide: Vec<i64> =
        (0..256).map(|row| if row < 200 { row / 50 } else { (1 << 32) + 3 }).collect();
    let wide = Tensor::from_slice([256], &wide)?;
    add(SegmentMax::sorted().num_segments(5).into(), &[drawn(F32, &[256])?, wide], own());
    // Offsets that several launches read, because rows have no elements; with rows before and after all
    // segments.
    let offsets: Vec<i32> = (0..300).map(|segment| 2 + segment).collect();
    let offsets = Tensor::from_slice([300], &offsets)?;
    add(SegmentMax::offsets().status(true).into(), &[drawn(F32, &[310, 0])?, offsets], bound(520));
    // Results and carry lists that begin within a binding.
    let wide: Vec<i32> = (0..4096).map(|row| row / 7).collect();
    let wide = Tensor::from_slice([4096], &wide)?;
    add(SegmentMax::sorted().into(), &[drawn(F32, &[4096])?, wide], bound(1040));
    let long: Vec<i32> = (0..2000).map(|row| row / 1500).collect();
    let long = Tensor::from_slice([2000], &long)?;
    let few = PlanOverrides { max_iterations: Some(37), ..bound(516) };
    add(SegmentMax::sorted().into(), &[drawn(F16, &[2000])?, long], few);
    let winners = || Indices::new(ElementType::I32);
    let fewer = PlanOverrides { max_iterations: Some(5), ..bound(2048) };
    let segments = SegmentMax::sorted().indices(winners());
    let three: Vec<i32> = (0..1500).map(|row| row / 700).collect();
    let three = Tensor::from_slice([1500], &three)?;
    add(segments.into(), &[drawn(U8, &[1500])?, three], fewer);
    // Winners in rows that no single binding holds.
    let mixed: Vec<i32> = (0..300).map(|row| row * 7 % 101).collect();
    let mixed = Tensor::from_slice([300], &mixed)?;
    let segments = SegmentMax::unsorted().indices(winners());
    add(segments.into(), &[drawn(F32, &[300, 3])?, mixed], bound(1040));
    // Twice as many blocks of columns as a workgroup has invocations, so that it has one run.
    let small = PlanOverrides { workgroup_size: Some(8), ..own() };
    add(SegmentMax::sorted().into(), &[drawn(F32, &[20, 64])?, ids.clone()], small);
    // Invocations of several words of results, of which the last one has five results.
    let one = PlanOverrides { target_parallelism: Some(1), ..own() };
    add(reduce(1).into(), &[drawn(U8, &[13, 2048])?], one.clone());
    // Windows that slide along several lines: over elements of whole blocks and words, over blocks, with
    // lines left over, and with planes before planes.
    let rows = |strides: [usize; 2]| MaxPool::new([3, 3]).strides(strides).pads([1, 1], [1, 1]);
    for t in [F32, U8, F16, I64] {
        for shape in [[2, 1, 11, 64], [1, 2, 10, 36]] {
            for strides in [[1, 1], [2, 2], [1, 2]] {
                add(rows(strides).into(), &[drawn(t, &shape)?], one.clone());
            }
        }
        let blocks = rows([1, 1]).layout(Layout::Nxc);
        add(blocks.into(), &[drawn(t, &[2, 7, 3, 32])?], one.clone());
        let planes = MaxPool::new([2, 3, 2]).strides([2, 1, 1]).dilations([1, 2, 1]);
        add(planes.into(), &[drawn(t, &[2, 1, 4, 9, 17])?], one.clone());
    }
    // Columns of so many blocks that a tile has several, in two matrices.
    add(reduce(1).into(), &[drawn(F32, &[2, 8, 4100])?], own());
    // Views of rows, and results of 3 and 5 elements among other ones.
    for seed in 0..8 {
        let views = PlanOverrides { views: Some(seed), ..own() };
        add(reduce(0).into(), &[drawn(U8, &[13 + seed as usize])?], views.clone());
        let segments = SegmentMax::sorted().indices(Indices::new(ElementType::I32));
        add(segments.into(), &[drawn(F32, &[20, 3])?, ids.clone()], views.clone());
        for rows in [3, 5] {
            add(reduce(1).into(), &[drawn(U8, &[rows, 7])?], views.clone());
        }
    }
    Ok(cases)
}
