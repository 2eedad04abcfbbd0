//! Attributes, shapes, limits and a tuning: planning returns an error, or a plan that keeps to its
//! limits and, if it is small, computes on the CPU the same as the plan for the CPU.

use arbitrary::{Result, Unstructured};
use wgmax::operator::Operator;
use wgmax::plan::{Limits, Plan};
use wgmax::{DeviceTensor, ElementType, Run, Tensor, TensorDesc, Tuning};

use super::CPU;
use super::operators::{backward, dimension, forward, neutral, node, scatter, unpool};

/// Maximum elements of all tensors of a plan that is run.
const SMALL: usize = 1 << 14;

/// Attributes to a plan.
pub fn plan(bytes: &[u8]) {
    // Too few bytes are not a finding.
    let _ = attempt(&mut Unstructured::new(bytes));
}

fn attempt(from: &mut Unstructured) -> Result<()> {
    let (limits, tuning) = (limits(from)?, tuning(from)?);
    if from.arbitrary()? {
        // A dialect's node, on tensors, some of which may hold attributes.
        let node = node(from)?;
        let count = from.int_in_range(0..=3)?;
        let inputs: Vec<Option<Tensor>> =
            (0..count).map(|_| optional(from)).collect::<Result<_>>()?;
        let given: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
        let Ok(operator) = node.operator(&given, None) else { return Ok(()) };
        let inputs: Vec<&Tensor> =
            given.into_iter().flatten().take(operator.input_count()).collect();
        run(&operator, &inputs, &limits, &tuning);
        // And of any size.
        let data = desc(from, inputs.first().map_or(1, |data| data.shape().len()))?;
        let others = inputs.iter().skip(1).map(|tensor| tensor.desc());
        if let Some(data) = &data {
            check(
                &operator,
                &[data].into_iter().chain(others).collect::<Vec<_>>(),
                &limits,
                &tuning,
            );
        }
        return Ok(());
    }
    let rank = from.int_in_range(0..=6)?;
    let operator = neutral(from, rank)?;
    if from.arbitrary()? {
        let Some(data) = desc(from, rank)? else { return Ok(()) };
        let ids = from.choose(&[ElementType::I32, ElementType::I64, ElementType::F32])?;
        let rows = if from.ratio(7, 8)? { data.shape().first().copied() } else { None };
        let Ok(ids) = TensorDesc::new(*ids, [rows.map_or_else(|| dimension(from), Ok)?]) else {
            return Ok(());
        };
        let inputs = &[&data, &ids][..operator.input_count()];
        check(&operator, inputs, &limits, &tuning);
        if let Ok(results) = operator.infer(inputs) {
            let gradient = backward(from, &operator, None)?;
            check(&gradient, &[inputs, &[&results[0]]].concat(), &limits, &tuning);
            // Only shapes: with indices of no operator, some gradients are unspecified.
            let saved = backward(from, &operator, Some((ids.element_type(), data.shape())))?;
            if let Ok(indices) = TensorDesc::new(ids.element_type(), results[0].shape()) {
                check(&saved, &[&indices, &results[0]], &limits, &tuning);
            }
        }
        let (scatter, [indices, updates]) = scatter(from, data.shape())?;
        let (Ok(indices), Ok(updates)) = (
            TensorDesc::new(ids.element_type(), indices),
            TensorDesc::new(data.element_type(), updates),
        ) else {
            return Ok(());
        };
        let gradient = backward(from, &(&scatter).into(), None)?;
        let saved = Some((ElementType::I64, indices.shape()));
        let saved = backward(from, &(&scatter).into(), saved)?;
        check(&scatter.into(), &[&data, &indices, &updates], &limits, &tuning);
        check(&gradient, &[&data, &indices, &updates, &data], &limits, &tuning);
        if let Ok(winners) = TensorDesc::new(ElementType::I64, data.shape()) {
            check(&saved, &[&winners, &data], &limits, &tuning);
        }
        return Ok(());
    }
    let shape = small_shape(from, rank)?;
    let rows = shape.first().copied().unwrap_or(0);
    let Some(data) = tensor(from, None, shape)? else { return Ok(()) };
    let ids: Vec<i64> =
        (0..rows).map(|_| Ok(from.arbitrary::<u8>()? as i64 - 2)).collect::<Result<_>>()?;
    let mut ids = ids;
    if from.arbitrary()? {
        ids.sort_unstable();
    }
    let ids = Tensor::from_slice([rows], &ids).expect("as many as rows");
    let inputs = &[&data, &ids][..operator.input_count()];
    run(&operator, inputs, &limits, &tuning);
    gradients(from, &operator, inputs, data.shape(), &limits, &tuning)?;
    let indices = tensor(from, Some(ids.element_type()), data.shape().to_vec())?;
    let Some(indices) = indices else { return Ok(()) };
    let sizes = from.int_in_range(0..=4)?;
    let shape = small_shape(from, sizes)?;
    let unpool = unpool(from, &shape)?;
    run(&unpool, &[&data, &indices], &limits, &tuning);
    let (scatter, [indices, updates]) = scatter(from, data.shape())?;
    let Some(updates) = tensor(from, Some(data.element_type()), updates)? else { return Ok(()) };
    let count = indices.iter().product();
    if count > SMALL {
        return Ok(());
    }
    let numbers: Vec<i64> = (0..count).map(|_| from.int_in_range(-2..=3)).collect::<Result<_>>()?;
    let indices = Tensor::from_slice(indices, &numbers).expect("as many as their shape says");
    let inputs = &[&data, &indices, &updates];
    let scatter = Operator::from(scatter);
    run(&scatter, inputs, &limits, &tuning);
    gradients(from, &scatter, inputs, indices.shape(), &limits, &tuning)
}

/// Runs the gradient of an operator, from its inputs and from the positions that it returns. The latter needs a
/// `shape`: that of the data or, for a scatter, of the indices.
fn gradients(
    from: &mut Unstructured,
    operator: &Operator,
    inputs: &[&Tensor],
    shape: &[usize],
    limits: &Limits,
    tuning: &Tuning,
) -> Result<()> {
    let Ok(operator) = operator.checked(inputs) else { return Ok(()) };
    let descs: Vec<&TensorDesc> = inputs.iter().map(|tensor| tensor.desc()).collect();
    let Ok(results) = operator.infer(&descs) else { return Ok(()) };
    let gradient = tensor(from, Some(inputs[0].element_type()), results[0].shape().to_vec())?;
    let Some(gradient) = gradient else { return Ok(()) };
    let from_data = backward(from, &operator, None)?;
    run(&from_data, &[inputs, &[&gradient]].concat(), limits, tuning);
    let index_type = *from.choose(&[ElementType::I32, ElementType::I64])?;
    let saved = backward(from, &operator, Some((index_type, shape)))?;
    if let Some(positions) = forward(&saved).and_then(|op| op.run(&CPU, inputs).ok()) {
        run(&saved, &[&positions[1], &gradient], limits, tuning);
    }
    Ok(())
}

/// Limits as devices have them, and smaller ones.
fn limits(from: &mut Unstructured) -> Result<Limits> {
    let exponent: u32 = from.int_in_range(6..=32)?;
    let binding = (1u64 << exponent) + 4 * from.int_in_range(0..=63)?;
    let mut limits = Limits::cpu();
    limits.workgroup_size = 1 << from.int_in_range(3..=8)?;
    limits.max_workgroups_per_dimension = from.int_in_range(1..=65535)?;
    limits.max_binding_size = binding;
    limits.max_buffer_size = binding.saturating_mul(from.int_in_range(1..=16)?);
    limits.alignment = 16 << from.int_in_range(0..=4)?;
    limits.max_storage_buffers = from.int_in_range(2..=10)?;
    limits.max_iterations = from.int_in_range(4..=65535)?;
    Ok(limits)
}

/// A tuning of some device, for any of them.
fn tuning(from: &mut Unstructured) -> Result<Tuning> {
    let (taps, parallelism) = (from.int_in_range(1..=64)?, from.int_in_range(1..=1 << 16)?);
    let tuning = match from.arbitrary::<u8>()? {
        240.. => Tuning::cpu(4),
        odd if odd % 2 == 1 => Tuning::hardware(),
        _ => Tuning::software(),
    };
    Ok(tuning.with_target_parallelism(parallelism).with_max_taps(taps))
}

fn small_shape(from: &mut Unstructured, rank: usize) -> Result<Vec<usize>> {
    (0..rank).map(|_| from.int_in_range(0..=if rank < 3 { 300 } else { 12 })).collect()
}

fn optional(from: &mut Unstructured) -> Result<Option<Tensor>> {
    if from.ratio(1, 8)? {
        return Ok(None);
    }
    let rank = from.int_in_range(0..=6)?;
    let shape = small_shape(from, rank)?;
    let element_type = match from.arbitrary()? {
        true => Some(*from.choose(&[ElementType::I32, ElementType::I64])?),
        false => None,
    };
    tensor(from, element_type, shape)
}

/// A tensor of a given or any type, with repeated elements; none if there are too many of them.
fn tensor(
    from: &mut Unstructured,
    element_type: Option<ElementType>,
    shape: Vec<usize>,
) -> Result<Option<Tensor>> {
    let element_type = match element_type {
        Some(element_type) => element_type,
        None => *from.choose(&ElementType::ALL)?,
    };
    let Ok(desc) = TensorDesc::new(element_type, shape.clone()) else { return Ok(None) };
    if desc.len() > SMALL {
        return Ok(None);
    }
    let seed = from.bytes(from.len().min(8))?.to_vec();
    let at = |i: usize| {
        seed.get(i % seed.len().max(1)).map_or(0, |s| s.wrapping_mul((i as u8).wrapping_add(1)))
    };
    let mut bytes: Vec<u8> = (0..desc.byte_len()).map(at).collect();
    if element_type == ElementType::Bool {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    } else if element_type.is_integer() && from.arbitrary()? {
        // Small numbers, which may be axes or ids.
        let size = element_type.size();
        for element in bytes.chunks_mut(size) {
            let high = if element[0] > 0xf0 { 0xff } else { 0 };
            element[1..].fill(high);
        }
    }
    Ok(Tensor::from_bytes(element_type, shape, &bytes).ok())
}

/// A type and a shape of any size.
fn desc(from: &mut Unstructured, rank: usize) -> Result<Option<TensorDesc>> {
    let shape: Vec<usize> = (0..rank).map(|_| dimension(from)).collect::<Result<_>>()?;
    Ok(TensorDesc::new(*from.choose(&ElementType::ALL)?, shape).ok())
}

/// Plans, and checks that the plan keeps to the limits.
fn check(
    operator: &Operator,
    inputs: &[&TensorDesc],
    limits: &Limits,
    tuning: &Tuning,
) -> Option<Plan> {
    let plan = operator.plan(inputs, limits, tuning).ok()?;
    assert_eq!(*plan.outputs(), operator.infer(inputs).unwrap());
    if let Err(wrong) = plan.check(limits) {
        panic!("{wrong}: {operator:?} of {inputs:?} within {limits:?} for {tuning:?}");
    }
    Some(plan)
}

/// As [`check`], and runs a small plan on the CPU, also with the CPU's own limits and tuning.
pub(super) fn run(operator: &Operator, inputs: &[&Tensor], limits: &Limits, tuning: &Tuning) {
    let descs: Vec<&TensorDesc> = inputs.iter().map(|tensor| tensor.desc()).collect();
    if inputs.len() != operator.input_count() {
        assert!(operator.plan(&descs, limits, tuning).is_err());
        return;
    }
    let Ok(operator) = operator.checked(inputs) else { return };
    let Some(plan) = check(&operator, &descs, limits, tuning) else { return };
    let results = plan.outputs().iter().map(TensorDesc::len).max().unwrap_or(0);
    let elements = inputs.iter().map(|tensor| tensor.len()).max().unwrap_or(0);
    if plan.shaders().count() > 256 || results.max(elements) > SMALL {
        return;
    }
    let expected = operator.run(&CPU, inputs).unwrap();
    let inputs: Vec<DeviceTensor> = inputs.iter().map(|t| CPU.upload(t).unwrap()).collect();
    let found = CPU.execute(&plan, inputs.iter().collect::<Vec<_>>()).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        let found = found.download().unwrap();
        assert!(
            found.bytes() == expected.bytes(),
            "{operator:?} of {descs:?} within {limits:?} for {tuning:?}"
        );
    }
}
