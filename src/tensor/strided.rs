//! Copies elements between views on the host.

use std::borrow::Cow;

use bytemuck::Pod;

use super::view::Loops;
use super::{View, memory};
use crate::base::error::Result;
use crate::base::threads;

/// Maximum elements of a block that plain loops copy. Larger blocks are halved along their longest axis, so
/// that a block's source and target are in the first cache, whatever the order of the pitches.
const BLOCK: usize = 1024;
/// Minimum bytes that a thread copies at a time.
const PART: usize = 1 << 18;
/// Maximum elements of a cache line.
const LINE: usize = 64;

/// An axis of a copy: its size, and its pitches in the source and in the target.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    from: isize,
    to: isize,
}

impl View {
    /// The view's elements in row-major order, read from its memory. A contiguous view is borrowed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the host cannot hold the copy.
    pub(crate) fn gather<'a>(&self, memory: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let (loops, item) = (self.loops(), self.desc().element_type().size());
        if self.desc().is_empty() {
            return Ok(Cow::Borrowed(&[]));
        }
        if let [] | [(_, 1)] = loops.axes[..] {
            return Ok(Cow::Borrowed(&memory[loops.first as usize * item..][..loops.len() * item]));
        }
        let mut bytes = memory::repeated(0, self.desc().byte_len())?;
        loops.gather(item, memory, &mut bytes);
        Ok(Cow::Owned(bytes))
    }
}

impl Loops {
    /// Copies the elements, of `item` bytes each, from their offsets in `from` to the beginning of
    /// `to`, in their order.
    pub(crate) fn gather(&self, item: usize, from: &[u8], to: &mut [u8]) {
        match item {
            1 => self.gather_as::<[u8; 1]>(from, to),
            2 => self.gather_as::<[u8; 2]>(from, to),
            4 => self.gather_as::<[u8; 4]>(from, to),
            _ => self.gather_as::<[u8; 8]>(from, to),
        }
    }

    /// Copies elements from the beginning of `from` to their offsets in `to`.
    pub(crate) fn scatter(&self, item: usize, from: &[u8], to: &mut [u8]) {
        match item {
            1 => self.scatter_as::<[u8; 1]>(from, to),
            2 => self.scatter_as::<[u8; 2]>(from, to),
            4 => self.scatter_as::<[u8; 4]>(from, to),
            _ => self.scatter_as::<[u8; 8]>(from, to),
        }
    }

    fn gather_as<T: Pod + Send + Sync>(&self, from: &[u8], to: &mut [u8]) {
        let (from, to): (&[T], &mut [T]) = (items(from), bytemuck::cast_slice_mut(to));
        let (len, min) = (self.len(), PART / size_of::<T>());
        let to = &mut to[..len];
        // A part is some whole steps along the outermost axis: at least as many as a cache line has
        // elements, because the source may be contiguous along this axis. If the axis is short, parts
        // may begin anywhere.
        let (outer, inner) = self.axes.first().map_or((1, 1), |axis| (axis.0, len / axis.0.max(1)));
        let some = match outer >= 4 * LINE * threads::count() {
            true => min.div_ceil(inner.max(1)).max(LINE) * inner,
            false => min.max(len.div_ceil(4 * threads::count())),
        };
        threads::each_chunk(to, some, |i, to| {
            self.parts(i * some, to.len(), 0, &mut |at, part| {
                copy(&part.copied(true), from, part.first, to, at as isize);
            });
        });
    }

    fn scatter_as<T: Pod + Send + Sync>(&self, from: &[u8], to: &mut [u8]) {
        if let Some((first, inverse)) = self.inverse() {
            // Each thread writes contiguous memory.
            let to = &mut to[first * size_of::<T>()..];
            return inverse.gather_as::<T>(from, to);
        }
        let (from, to): (&[T], &mut [T]) = (items(from), bytemuck::cast_slice_mut(to));
        let axes = self.copied(false);
        match axes[..] {
            [] => to[self.first as usize] = from[0],
            _ if self.len() == 0 => {}
            _ => copy(&axes, from, 0, to, self.first),
        }
    }

    /// The lowest offset, and loops over the numbers of the elements in memory order. `None` if memory
    /// has gaps between the elements.
    fn inverse(&self) -> Option<(usize, Self)> {
        let (mut first, mut from) = (self.first, 0);
        // For each axis its size, its pitch, and its step among the numbers of the elements.
        let mut axes: Vec<(usize, isize, isize)> = Vec::with_capacity(self.axes.len());
        let mut step = 1;
        for &(size, pitch) in self.axes.iter().rev() {
            let reach = size.checked_sub(1)? as isize;
            match pitch < 0 {
                true => axes.push((size, -pitch, -step)),
                false => axes.push((size, pitch, step)),
            }
            if pitch < 0 {
                (first, from) = (first + reach * pitch, from + reach * step);
            }
            step *= size as isize;
        }
        axes.sort_unstable_by_key(|axis| axis.1);
        let mut dense = 1;
        for &(size, pitch, _) in &axes {
            if pitch != dense {
                return None;
            }
            dense *= size as isize;
        }
        let (shape, steps): (Vec<usize>, Vec<isize>) =
            axes.iter().rev().map(|&(size, _, step)| (size, step)).unzip();
        Some((first as usize, Self::new(from, &shape, &steps)))
    }

    /// The axes of a copy. One side is contiguous: the target or, without `to_order`, the source.
    fn copied(&self, to_order: bool) -> Vec<Axis> {
        let mut pitch = 1;
        let mut axes: Vec<Axis> = Vec::with_capacity(self.axes.len());
        for &(size, place) in self.axes.iter().rev() {
            let (from, to) = if to_order { (place, pitch) } else { (pitch, place) };
            axes.push(Axis { size, from, to });
            pitch *= size as isize;
        }
        axes.reverse();
        axes
    }
}

/// The whole items at the beginning of some bytes. A binding may end within an item.
fn items<T: Pod>(bytes: &[u8]) -> &[T] {
    bytemuck::cast_slice(&bytes[..bytes.len() / size_of::<T>() * size_of::<T>()])
}

/// Copies a block of elements from `from`, which begins at `first`, to `to`, at `at`. No axis has size 0.
fn copy<T: Pod>(axes: &[Axis], from: &[T], first: isize, to: &mut [T], at: isize) {
    let len: usize = axes.iter().map(|axis| axis.size).product();
    // Contiguous elements are not cut but copied as a whole.
    let run = usize::from(matches!(axes.last(), Some(Axis { from: 1, to: 1, .. })));
    let longest = (0..axes.len() - run).max_by_key(|&i| axes[i].size);
    match longest.filter(|&i| len > BLOCK && axes[i].size > 1) {
        None => plain(axes, from, first, to, at),
        Some(i) => {
            let half = axes[i].size / 2;
            let mut part = axes.to_vec();
            part[i].size = half;
            copy(&part, from, first, to, at);
            part[i].size = axes[i].size - half;
            let skipped = half as isize;
            copy(&part, from, first + skipped * axes[i].from, to, at + skipped * axes[i].to);
        }
    }
}

fn plain<T: Pod>(axes: &[Axis], from: &[T], first: isize, to: &mut [T], at: isize) {
    let Some((axis, inner)) = axes.split_first() else {
        to[at as usize] = from[first as usize];
        return;
    };
    let (size, apart) = (axis.size, axis.from.unsigned_abs());
    match *axis {
        Axis { from: 1, to: 1, .. } => {
            let target = &mut to[at as usize..][..size];
            target.copy_from_slice(&from[first as usize..][..size]);
        }
        Axis { from: 0, to: 1, .. } if inner.is_empty() => {
            to[at as usize..][..size].fill(from[first as usize]);
        }
        // A plain loop, without a bounds check for each element.
        Axis { to: 1, .. } if inner.is_empty() => {
            let target = to[at as usize..][..size].iter_mut();
            let reach = (size - 1) * apart;
            if axis.from > 0 {
                let from = from[first as usize..][..=reach].iter().step_by(apart);
                target.zip(from).for_each(|(to, &from)| *to = from);
            } else {
                let from = from[first as usize - reach..][..=reach].iter().rev().step_by(apart);
                target.zip(from).for_each(|(to, &from)| *to = from);
            }
        }
        _ => {
            for i in 0..size as isize {
                plain(inner, from, first + i * axis.from, to, at + i * axis.to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{ElementType, TensorDesc};

    #[test]
    fn elements_go_to_the_places_of_the_view_and_come_back() {
        for t in [ElementType::U8, ElementType::Bf16, ElementType::F32, ElementType::U64] {
            let desc = TensorDesc::new(t, [40, 30, 7, 11]).unwrap();
            let memory: Vec<u64> =
                (0..140_000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let memory: &[u8] = bytemuck::cast_slice(&memory);
            let whole = View::from(&desc);
            for view in [
                whole.permute(&[3, 2, 1, 0]).unwrap(),
                whole.permute(&[2, 0, 3, 1]).unwrap().step_by(1, -3).unwrap(),
                whole.slice(1, 2..29).unwrap(),
                whole.slice(0, 7..9).unwrap(),
                whole.slice(3, 5..6).unwrap().slice(2, 1..7).unwrap(),
                View::with_aligned_rows(desc.clone(), 64).unwrap(),
                whole.slice(0, 3..3).unwrap(),
                View::new(TensorDesc::new(t, []).unwrap(), 17, []).unwrap(),
            ] {
                let (item, loops) = (t.size(), view.loops());
                let element = |i: usize| &memory[i * item..][..item];
                let expected: Vec<u8> =
                    (0..loops.len()).flat_map(|i| element(loops.offset(i))).copied().collect();
                let found = view.gather(memory).unwrap();
                assert!(*found == *expected, "{view}");
                let mut scattered = vec![0u64; memory.len() / 8];
                let scattered: &mut [u8] = bytemuck::cast_slice_mut(&mut scattered);
                loops.scatter(item, &expected, scattered);
                assert!(*view.gather(scattered).unwrap() == *expected, "{view}");
                let others = scattered.iter().filter(|&&byte| byte != 0).count();
                assert!(others <= expected.len(), "{view}");
            }
        }
    }
}
