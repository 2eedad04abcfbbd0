//! No fault that can be planted in the CPU kernels is harmless: for each there is an input whose
//! result is wrong with it, and right without.
//!
//! A fault is planted in the whole process, so one test plants them all.

use std::collections::HashSet;

use wgmax::fault::{Fault, plant};
use wgmax::operator::{
    EmptySegment, Indices, Layout, MaxPool, MaxPoolBackward, MaxUnpool, Operator, Order, Positions,
    ReduceMax, ReduceMaxBackward, SegmentMax, kernels,
};
use wgmax::sweep::{Case, Narrow};
use wgmax::{Device, Element, ElementType, Extremum, Nan, Tensor, Tuning, compare, oracle};

/// 0, 1, 2, ...
fn ascending(shape: &[usize]) -> Tensor {
    each(shape, |i| i as f32)
}

/// ..., 2, 1, 0.
fn descending(shape: &[usize]) -> Tensor {
    each(shape, |i| (shape.iter().product::<usize>() - 1 - i) as f32)
}

/// 0, but for one element.
fn one_at(shape: &[usize], at: usize) -> Tensor {
    each(shape, |i| if i == at { 1.0f32 } else { 0.0 })
}

/// 0, but for a NaN.
fn nan_at(shape: &[usize], at: usize) -> Tensor {
    each(shape, |i| if i == at { f32::NAN } else { 0.0 })
}

fn each<T: Element>(shape: &[usize], element: impl Fn(usize) -> T) -> Tensor {
    let elements: Vec<T> = (0..shape.iter().product()).map(element).collect();
    Tensor::from_slice(shape, &elements).unwrap()
}

fn none(t: ElementType, shape: &[usize]) -> Tensor {
    Tensor::from_bytes(t, shape, &[]).unwrap()
}

fn ids(ids: impl IntoIterator<Item = i32>) -> Tensor {
    let ids: Vec<i32> = ids.into_iter().collect();
    Tensor::from_slice([ids.len()], &ids).unwrap()
}

fn case(operator: impl Into<Operator>, tensors: impl Into<Vec<Tensor>>) -> Case {
    Case { operator: operator.into(), tensors: tensors.into(), narrow: Narrow::default() }
}

/// The maxima of columns, of rows, of what is left of a tensor without elements.
fn reduce(axis: i64, input: Tensor) -> Case {
    case(ReduceMax::new().axes([axis]), [input])
}

fn pool(operator: MaxPool, input: Tensor) -> Case {
    case(operator, [input])
}

fn indices(order: Order, axis: i64) -> Indices {
    Indices { element_type: ElementType::I64, order, axis }
}

/// The maxima of rows, and where they are.
fn found(input: Tensor) -> Case {
    case(ReduceMax::new().axes([1]).indices(Positions::default()), [input])
}

fn segments(operator: SegmentMax, data: Tensor, ids: Tensor) -> Case {
    case(operator, [data, ids])
}

/// The same with one chunk of rows.
fn one_chunk(case: Case) -> Case {
    Case { narrow: Narrow { target_parallelism: Some(1), ..Narrow::default() }, ..case }
}

/// The same with short chunks: those of small workgroups.
fn short_chunks(case: Case) -> Case {
    Case { narrow: Narrow { workgroup_size: Some(8), ..Narrow::default() }, ..case }
}

/// The same with bindings of 256 bytes.
fn small_bindings(case: Case) -> Case {
    Case { narrow: Narrow { max_binding_size: Some(516), ..Narrow::default() }, ..case }
}

/// The same with views, such that a kernel is launched.
fn viewed(kernel: &str, case: Case) -> Case {
    let mut seeds = (0..1000).map(|seed| Narrow { views: Some(seed), ..Narrow::default() });
    let launches = |case: &Case| {
        let plan = case.plan(&Device::cpu()).unwrap();
        plan.launches().iter().any(|launch| launch.shader().kernel.name() == kernel)
    };
    seeds.find_map(|narrow| Some(Case { narrow, ..case.clone() }).filter(launches)).unwrap()
}

/// What shows a fault.
fn shown(fault: Fault) -> Case {
    let row_indices = || indices(Order::RowMajor, 0);
    match fault {
        Fault::FillRemainder => reduce(1, none(ElementType::F32, &[2, 0])),
        Fault::FillWordOrder => reduce(1, none(ElementType::F64, &[1, 0])),
        Fault::FillLastBytes => reduce(1, none(ElementType::F16, &[3, 0])),
        Fault::PackLast => viewed("pack", reduce(0, ascending(&[2, 3, 4]))),
        Fault::UnpackLast => viewed("unpack", reduce(0, ascending(&[2, 3, 4]))),
        Fault::BindingCleared => segments(
            SegmentMax::sorted().num_segments(3).empty_segment(EmptySegment::Lowest),
            ascending(&[4]),
            ids([0, 0, 2, 2]),
        ),

        Fault::RowsNan => reduce(1, nan_at(&[2, 3], 1)),
        Fault::RowsMinimum => {
            case(ReduceMax::new().axes([1]).extremum(Extremum::Minimum), [ascending(&[2, 3])])
        }
        Fault::RowsLastPiece => {
            let narrow =
                Narrow { tuning: Some("hardware"), workgroup_size: Some(8), ..Narrow::default() };
            Case { narrow, ..reduce(0, ascending(&[300])) }
        }
        Fault::RowsSecondBlock => reduce(1, ascending(&[2100, 2])),
        Fault::LongRowTail => reduce(0, ascending(&[65])),
        Fault::MediumRowMiddle => reduce(0, one_at(&[40], 20)),
        Fault::MediumRowTail => reduce(0, one_at(&[20], 18)),
        Fault::ShortRowLast => reduce(1, ascending(&[3, 5])),
        Fault::MiddleThird => reduce(1, one_at(&[1, 3], 1)),

        Fault::LastPosition => found(each(&[2, 3], |_| 0.0f32)),
        Fault::EarlierPosition => {
            let reduce = ReduceMax::new().axes([0, 2]).indices(Positions::default());
            case(reduce, [ascending(&[2, 3, 4])])
        }

        Fault::PlacesTail => found(ascending(&[2, 65])),

        Fault::ColumnsNan => {
            case(ReduceMax::new().axes([0]).nan(Nan::Ignore), [nan_at(&[3, 4], 5)])
        }
        Fault::ColumnsRemainder => reduce(0, ascending(&[5, 4])),
        Fault::ColumnsPieceEnd => reduce(0, one_at(&[40, 64], 19 * 64)),
        Fault::ColumnsWidenedRow => reduce(0, ascending(&[50, 4])),
        Fault::ColumnsSecondTile => reduce(0, ascending(&[2, 2100])),
        Fault::ColumnsStaleKeys => reduce(1, descending(&[600, 2, 4])),

        Fault::PoolNan => pool(MaxPool::new([2]), nan_at(&[1, 1, 4], 1)),
        Fault::PoolMinimum => {
            pool(MaxPool::new([2]).extremum(Extremum::Minimum), ascending(&[1, 1, 4]))
        }
        Fault::PoolResultBase => small_bindings(pool(MaxPool::new([2]), ascending(&[10, 1, 30]))),
        Fault::IndexNan => {
            let pool = MaxPool::new([2]).nan(Nan::Ignore).indices(row_indices());
            case(pool, [nan_at(&[1, 1, 4], 1)])
        }
        Fault::WindowsBehind => pool(MaxPool::new([2]).pads([0], [4]), ascending(&[1, 1, 3])),
        Fault::EmptyLines => {
            pool(MaxPool::new([2, 2]).pads([0, 0], [4, 0]), ascending(&[1, 1, 3, 3]))
        }
        Fault::DownSteps => pool(MaxPool::new([5, 2]), ascending(&[1, 1, 8, 8])),
        Fault::DownStride => pool(MaxPool::new([11, 2]).strides([2, 1]), ascending(&[1, 1, 15, 8])),
        Fault::StripBorder => pool(MaxPool::new([3]), ascending(&[1, 1, 5000])),
        Fault::HugeWindow => pool(MaxPool::new([100]).pads([99], [99]), ascending(&[1, 1, 3])),
        Fault::PlaneTaps => {
            pool(MaxPool::new([1, 4]).pads([0, 1], [0, 2]), one_at(&[1, 1, 2, 8], 3))
        }
        Fault::PlaneLines => {
            pool(MaxPool::new([3, 2]).pads([1, 0], [1, 1]), one_at(&[1, 1, 4, 8], 9))
        }
        Fault::LineStep => pool(MaxPool::new([2, 2]).strides([2, 2]), ascending(&[1, 1, 24, 4])),
        Fault::NextPlane => pool(MaxPool::new([2, 2]), ascending(&[8, 1, 3, 3])),
        Fault::PaddingClamp => {
            pool(MaxPool::new([1, 2, 2]).pads([1, 0, 0], [0, 0, 0]), ascending(&[1, 1, 2, 3, 3]))
        }
        Fault::StalePadding => {
            pool(MaxPool::new([3]).strides([2]).pads([1], [1]), ascending(&[40, 1, 5]))
        }
        Fault::OddRow => pool(MaxPool::new([5, 2]).strides([2, 1]), ascending(&[1, 1, 7, 4])),
        Fault::AlongSteps => pool(MaxPool::new([5]), ascending(&[1, 1, 10])),
        Fault::PairsThirdTap => pool(MaxPool::new([3]).strides([2]), ascending(&[1, 1, 9])),
        Fault::EachDilation => pool(
            MaxPool::new([2]).strides([3]).dilations([2]).layout(Layout::Nxc),
            ascending(&[1, 12, 2]),
        ),
        Fault::UnevenLastTap => {
            let narrow =
                Narrow { tuning: Some("hardware"), max_taps: Some(3), ..Narrow::default() };
            Case { narrow, ..pool(MaxPool::new([40]), ascending(&[1, 1, 200])) }
        }
        Fault::VectorOverrun => pool(MaxPool::new([1, 3]), ascending(&[1, 1, 8, 5000])),
        Fault::EmptyChannel => pool(
            MaxPool::new([2]).pads([0], [4]).layout(Layout::Nxc).indices(row_indices()),
            ascending(&[1, 3, 2]),
        ),
        Fault::ColumnMajor => pool(
            MaxPool::new([2, 2]).indices(indices(Order::ColumnMajor, 0)),
            ascending(&[1, 1, 3, 4]),
        ),
        Fault::IndexRestart => {
            pool(MaxPool::new([2]).indices(indices(Order::RowMajor, 2)), ascending(&[2, 1, 4]))
        }

        Fault::CarryUnused | Fault::CarryLast => short_chunks(segments(
            SegmentMax::sorted(),
            each(&[100, 2], |i| i as f32 - 1000.0),
            ids((0..100).map(|row| row / 50)),
        )),
        Fault::ElementsNan => {
            segments(SegmentMax::sorted().nan(Nan::Ignore), nan_at(&[3], 1), ids([0, 0, 1]))
        }
        Fault::BlockHalves => one_chunk(segments(
            SegmentMax::sorted(),
            ascending(&[512]),
            ids((0..512).map(|row| row / 20)),
        )),
        Fault::OddBlock => one_chunk(segments(
            SegmentMax::sorted(),
            ascending(&[261]),
            ids((0..261).map(|row| row / 20)),
        )),
        Fault::BlockBorder => one_chunk(segments(
            SegmentMax::sorted(),
            one_at(&[1024], 10),
            ids((0..1024).map(|row| (row - 540).max(0) / 20)),
        )),
        Fault::BlockEnd => one_chunk(segments(
            SegmentMax::sorted(),
            each(&[1024], |i| i as f32 + 1.0),
            ids((0..1024).map(|row| (row - 492).max(0) / 20)),
        )),
        Fault::CarryFirst => short_chunks(segments(
            SegmentMax::sorted(),
            ascending(&[300]),
            ids((0..300).map(|row| row / 3)),
        )),
        Fault::LastSegment => segments(SegmentMax::sorted(), ascending(&[4]), ids([0, 0, 1, 1])),
        Fault::ArgmaxLowest => segments(
            SegmentMax::sorted().indices(ElementType::I32),
            Tensor::from_slice([3], &[5, i32::MIN, i32::MIN]).unwrap(),
            ids([0, 1, 1]),
        ),
        Fault::ScatterZero => segments(
            SegmentMax::unsorted().num_segments(1).indices(ElementType::I32),
            Tensor::from_slice([2], &[-0.0f32, 0.0]).unwrap(),
            ids([0, 0]),
        ),
        Fault::ScatterLowWord => segments(
            SegmentMax::unsorted().num_segments(1).indices(ElementType::I32),
            Tensor::from_slice([2], &[1u64, 2]).unwrap(),
            ids([0, 0]),
        ),
        Fault::ScatterFirstRow => small_bindings(segments(
            SegmentMax::unsorted().num_segments(1).indices(ElementType::I32),
            ascending(&[100]),
            ids([0; 100]),
        )),
        Fault::EmptyHighWord => segments(
            SegmentMax::unsorted().num_segments(2).empty_segment(EmptySegment::NegativeInfinity),
            Tensor::from_slice([1], &[1.0f64]).unwrap(),
            ids([0]),
        ),
        Fault::EmptyIndex => segments(
            SegmentMax::sorted().num_segments(2).indices(ElementType::I64),
            ascending(&[1]),
            ids([0]),
        ),
        Fault::OffsetsNext => segments(SegmentMax::offsets(), ascending(&[4]), ids([0, 2, 2, 4])),
        Fault::OffsetsEnd => {
            segments(SegmentMax::offsets().status(true), ascending(&[4]), ids([0, 2, 4]))
        }
        // Bindings of 256 bytes end with the last id of each launch.
        Fault::IdCounted => {
            let dropped = SegmentMax::unsorted().num_segments(1).status(true);
            small_bindings(segments(dropped, ascending(&[100]), ids((0..100).map(|_| 1))))
        }
        // Both windows have the middle one.
        Fault::GradientSum => case(
            MaxPoolBackward::new(MaxPool::new([2])),
            [one_at(&[1, 1, 3], 1), each(&[1, 1, 2], |i| 1.0 + i as f32)],
        ),
        // Bindings that do not begin with the first gradient of a launch.
        Fault::GradientBase => small_bindings(case(
            ReduceMaxBackward::new(ReduceMax::new().axes([1])),
            [ascending(&[100, 3]), each(&[100], |i| 1.0 + i as f32)],
        )),
        Fault::UnpoolFirst => case(
            MaxUnpool::new([2]),
            [ascending(&[2]), Tensor::from_slice([2], &[1i64, 1]).unwrap()],
        ),
        Fault::WidenSign => segments(
            SegmentMax::unsorted().num_segments(256),
            descending(&[2]),
            Tensor::from_slice([2], &[-1i8, 0]).unwrap(),
        ),
    }
}

/// Whether a case comes out as the oracle says.
fn is_right(case: &Case, expected: &[Tensor]) -> bool {
    // A device of its own: what buffers held before does not depend on other cases.
    let device = Device::cpu().with_tuning(Tuning::cpu(2));
    let found = case.run(&device).unwrap();
    found.iter().zip(expected).all(|(a, b)| compare(a, b).unwrap().is_equal())
}

#[test]
fn every_fault_makes_a_result_wrong() {
    let mut wrong = Vec::new();
    for fault in Fault::ALL {
        let case = shown(fault);
        let expected = oracle::run(&case.operator, &case.inputs()).unwrap();
        let plan = case.plan(&Device::cpu().with_tuning(Tuning::cpu(2))).unwrap();
        let has = plan.shaders().any(|shader| fault.kernels().contains(&shader.kernel.name()));
        let right = is_right(&case, &expected);
        plant(Some(fault));
        let harmless = is_right(&case, &expected);
        plant(None);
        if !has || !right || harmless || !is_right(&case, &expected) {
            wrong.push(format!("{}: runs {has}, right {right}, harmless {harmless}", fault.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_kernel_has_faults() {
    let names: HashSet<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    assert_eq!(names.len(), Fault::ALL.len());
    let known: HashSet<&str> = kernels().iter().map(|kernel| kernel.name()).collect();
    let faulty = Fault::ALL.iter().flat_map(|fault| fault.kernels().iter().copied());
    assert_eq!(faulty.collect::<HashSet<_>>(), known);
}
