//! The shapes of tensors that are joined, cut, moved or viewed differently.

use std::ops::Range;

use wgmax::TensorDesc;

use super::{Inference, Inferred, axis, desc, dims, wrong};

impl Inference<'_> {
    pub(super) fn concat(&self, first: &TensorDesc) -> Inferred<Vec<i128>> {
        let at = axis(self.int("axis").unwrap_or(1), first.rank())?;
        let mut shape = dims(first);
        for other in &self.inputs()?[1..] {
            let others = dims(other);
            let is_alike = |i: usize| i == at || others[i] == shape[i];
            if others.len() != shape.len() || !(0..others.len()).all(is_alike) {
                return wrong(format!("{first} and {other} differ in more than axis {at}"));
            }
            shape[at] += others[at];
        }
        Ok(shape)
    }

    pub(super) fn blocks(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let size = i128::from(self.int("blocksize").unwrap_or(0));
        let (&[batch, channels, height, width], 1..0x1_0000) = (dims(input).as_slice(), size)
        else {
            return wrong(format!("blocks of {size} of {input}"));
        };
        Ok(match self.node.operator == "DepthToSpace" {
            true => vec![batch, channels / (size * size), height * size, width * size],
            false => vec![batch, channels * size * size, height / size, width / size],
        })
    }

    pub(super) fn flatten(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let at = self.int("axis").unwrap_or(1);
        // The axis may be the rank itself.
        let at = if at == input.rank() as i64 { input.rank() } else { axis(at, input.rank())? };
        let shape = dims(input);
        let product = |dims: &[i128]| dims.iter().fold(1i128, |all, &dim| all.saturating_mul(dim));
        Ok(vec![product(&shape[..at]), product(&shape[at..])])
    }

    pub(super) fn gather(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let at = axis(self.int("axis").unwrap_or(0), input.rank())?;
        let mut shape = dims(input);
        shape.splice(at..=at, dims(&self.input(1)?));
        Ok(shape)
    }

    pub(super) fn pad(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let pads = self.either("pads", 1)?.unwrap_or_default();
        let axes = match self.has(3) {
            true => self.integers(3)?,
            false => (0..input.rank() as i64).collect(),
        };
        if pads.len() != 2 * axes.len() {
            return wrong(format!("{} pads for {} axes", pads.len(), axes.len()));
        }
        let mut shape = dims(input);
        for (i, &a) in axes.iter().enumerate() {
            shape[axis(a, input.rank())?] += i128::from(pads[i]) + i128::from(pads[axes.len() + i]);
        }
        Ok(shape)
    }

    pub(super) fn reshape(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let given = self.either("shape", 1)?.unwrap_or_default();
        let allow_zero = self.int("allowzero").is_some_and(|value| value != 0);
        let mut shape = Vec::with_capacity(given.len());
        for (at, &dim) in given.iter().enumerate() {
            shape.push(match dim {
                0 if !allow_zero => match input.shape().get(at) {
                    Some(&dim) => dim as i128,
                    None => return wrong(format!("{input} has no dimension {at} to keep")),
                },
                dim => dim.into(),
            });
        }
        let elements = input.len() as i128;
        let mut known = shape.iter().filter(|&&dim| dim != -1);
        let known = known.try_fold(1i128, |product, &dim| product.checked_mul(dim)).unwrap_or(0);
        let open: Vec<usize> = (0..shape.len()).filter(|&at| shape[at] == -1).collect();
        match open.as_slice() {
            [] if known == elements => {}
            &[at] if known > 0 && elements % known == 0 => shape[at] = elements / known,
            _ => return wrong(format!("{input} does not become the shape {given:?}")),
        }
        Ok(shape)
    }

    /// The axes of its input whose sizes a `Shape` returns.
    pub(super) fn slice_of_shape(&self, input: &TensorDesc) -> Range<usize> {
        let rank = input.rank() as i64;
        let end = |name, default| {
            let at: i64 = self.int(name).unwrap_or(default);
            if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank)
        };
        let (begin, end) = (end("start", 0), end("end", rank));
        begin as usize..end.max(begin) as usize
    }

    /// Begins, ends and steps along axes.
    pub(super) fn cuts(&self) -> Inferred<Vec<(usize, i64, i64, i64)>> {
        let rank = self.input(0)?.rank();
        let starts = self.either("starts", 1)?.unwrap_or_default();
        let ends = self.either("ends", 2)?.unwrap_or_default();
        let axes = self.either("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = if self.has(4) { self.integers(4)? } else { vec![1; starts.len()] };
        if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] || steps.contains(&0) {
            return wrong("its starts, ends, axes and steps do not fit one another");
        }
        (0..starts.len())
            .map(|i| Ok((axis(axes[i], rank)?, starts[i], ends[i], steps[i])))
            .collect()
    }

    pub(super) fn slice(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let mut shape = dims(input);
        for (at, start, end, step) in self.cuts()? {
            shape[at] = cut(input.shape()[at], start, end, step).1;
        }
        Ok(shape)
    }

    pub(super) fn split(&self) -> Inferred<Vec<TensorDesc>> {
        let input = self.input(0)?;
        let at = axis(self.int("axis").unwrap_or(0), input.rank())?;
        let (all, parts) = (input.shape()[at] as i128, self.node.outputs.len().max(1) as i128);
        let sizes = match self.either("split", 1)? {
            Some(sizes) => sizes.into_iter().map(i128::from).collect(),
            None => {
                let size = (all + parts - 1) / parts;
                (0..parts).map(|part| size.min(all - (size * part).min(all))).collect::<Vec<_>>()
            }
        };
        let part = |size| {
            let mut shape = dims(&input);
            shape[at] = size;
            desc(input.element_type(), shape)
        };
        sizes.into_iter().map(part).collect()
    }

    pub(super) fn squeeze(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let mut shape: Vec<Option<i128>> = dims(input).into_iter().map(Some).collect();
        match self.either("axes", 1)? {
            Some(axes) => {
                for a in axes {
                    shape[axis(a, input.rank())?] = None;
                }
            }
            None => shape.retain(|&dim| dim != Some(1)),
        }
        Ok(shape.into_iter().flatten().collect())
    }

    pub(super) fn unsqueeze(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let axes = self.either("axes", 1)?.unwrap_or_default();
        let mut shape = vec![None; input.rank() + axes.len()];
        for a in axes {
            let at = axis(a, shape.len())?;
            shape[at] = Some(1);
        }
        let mut old = dims(input).into_iter();
        Ok(shape.into_iter().filter_map(|new| new.or_else(|| old.next())).collect())
    }

    pub(super) fn tile(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let repeats = self.wide(1)?;
        match repeats.len() == input.rank() {
            true => Ok(dims(input).into_iter().zip(repeats).map(|(dim, n)| dim * n).collect()),
            false => wrong(format!("{} repeats for {input}", repeats.len())),
        }
    }

    pub(super) fn transpose(&self, input: &TensorDesc) -> Inferred<Vec<i128>> {
        let rank = input.rank();
        let order = self.ints("perm").unwrap_or_else(|| (0..rank as i64).rev().collect());
        let shape = dims(input);
        order.iter().map(|&a| Ok(shape[axis(a, rank)?])).collect()
    }
}

/// The first element of a slice of an axis, and the number of its elements.
pub(super) fn cut(size: usize, start: i64, end: i64, step: i64) -> (i128, i128) {
    let [start, end, step] = [start, end, step].map(i128::from);
    let size = size as i128;
    if size == 0 {
        return (0, 0);
    }
    let from_end = |at: i128| if at < 0 { at + size } else { at };
    let (first, last) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let start = from_end(start).clamp(first, last).max(0);
    let span = (from_end(end).clamp(first, last) - start) * step.signum();
    (start, (span.max(0) + step.abs() - 1) / step.abs())
}
