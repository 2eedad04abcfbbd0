//! The layout of a binding that is a part of a view.

use super::{Limits, MAX_ELEMENTS, divisor};
use crate::tensor::view::Loops;
use crate::wgsl::params;

/// Maximum number of loops. Each has at least two elements, and elements are numbered in 31 bits.
const MAX_AXES: usize = 32;

/// The layout of a binding that is a part of a view.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// As the shaders' `View`.
    pub words: Words,
    /// Offsets count from the beginning of the binding.
    loops: Loops,
}

params! {
    /// The layout of a source that is a view, as nested loops.
    pub(crate) struct Words {
        /// The number of the source's first element, counted from the beginning of all loops.
        first: u32,
        /// Elements of the source.
        len: u32,
        /// The offset of element 0 in the binding.
        base: u32,
        unit: u32,
        /// Loops.
        axes: u32,
        padding: [u32; 3],
        /// For each loop, the innermost first: the divisor of its size, with its pitch in place of
        /// the last word. The divisor of the outermost loop is not needed: it is 0.
        axis: [[u32; 4]; MAX_AXES],
    }
}

impl Placement {
    /// The binding of `len` elements of a view from number `first` on, of `item` bytes each, and
    /// their layout in it. `None` if no binding holds them.
    pub(super) fn new(
        view: &Loops,
        item: u64,
        first: u64,
        len: u64,
        limits: &Limits,
    ) -> Option<((u64, u64), Self)> {
        let (mut first, mut last) = (first, first + len - 1);
        let mut base = view.first as i128;
        let mut axes = &view.axes[..];
        let mut inner: u64 = view.len() as u64;
        // Drops outer loops of which only one iteration is bound.
        while let Some(((size, pitch), rest)) = axes.split_first() {
            inner /= *size as u64;
            let at = first / inner;
            base += i128::from(at) * *pitch as i128;
            (first, last) = (first - at * inner, last - at * inner);
            if last >= inner {
                break;
            }
            axes = rest;
        }
        let (mut low, mut high) = (base, base);
        for (i, &(size, pitch)) in axes.iter().enumerate() {
            let steps = if i == 0 { last / inner } else { size as u64 - 1 };
            let reach = i128::from(steps) * pitch as i128;
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        let item_wide = i128::from(item);
        let begin = low * item_wide / i128::from(limits.alignment) * i128::from(limits.alignment);
        let bytes = (high + 1) * item_wide - begin;
        let max_elements = i128::from(MAX_ELEMENTS);
        let fits = bytes <= i128::from(limits.max_binding_size) && bytes / item_wide < max_elements;
        if !fits || last >= MAX_ELEMENTS - 1 {
            return None;
        }
        let loops = Loops { first: (base - begin / item_wide) as isize, axes: axes.to_vec() };
        let words = Words::new(&loops, item, first, len);
        Some(((begin as u64, bytes as u64), Self { words, loops }))
    }

    /// Copies the elements, of `item` bytes, out of the binding.
    pub(crate) fn gather(&self, item: usize, binding: &[u8], to: &mut [u8]) {
        self.parts(self.len(), &mut |i, loops| loops.gather(item, binding, &mut to[i * item..]));
    }

    /// Copies elements into the binding.
    pub(super) fn scatter(&self, item: usize, from: &[u8], binding: &mut [u8]) {
        self.parts(self.len(), &mut |i, loops| loops.scatter(item, &from[i * item..], binding));
    }

    /// The first `len` elements as a few nested loops. Each gets the number of its first element.
    fn parts(&self, len: usize, each: &mut dyn FnMut(usize, &Loops)) {
        self.loops.parts(self.words.first as usize, len, 0, each);
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.words.len as usize
    }

    /// Whether the elements from number `base` on form lines of `line` contiguous elements.
    pub(crate) fn has_lines(&self, base: u32, line: u32) -> bool {
        let first = self.words.first as usize + base as usize;
        let together = |elements: usize| elements.is_multiple_of(line.max(1) as usize);
        match self.loops.axes[..] {
            [] | [(_, 1)] => true,
            _ => together(self.loops.run()) && together(first),
        }
    }

    /// As [`Loops::run`].
    pub(crate) fn run(&self) -> usize {
        self.loops.run()
    }

    /// The offset of the first element, and the pitch of each axis, if the elements are a tensor of
    /// `shape`. `None` if an axis would have several pitches, or runs backwards.
    pub(crate) fn pitches(&self, shape: &[usize]) -> Option<(usize, Vec<usize>)> {
        let len: usize = shape.iter().product();
        if self.words.first > 0 || len != self.loops.len() {
            return None;
        }
        let mut loops = self.loops.axes.iter().rev().copied();
        let (mut left, mut pitch) = (1, 1);
        let mut pitches = Vec::with_capacity(shape.len());
        for &size in shape.iter().rev() {
            if left == 1 && size > 1 {
                (left, pitch) = loops.next()?;
            }
            pitches.push(usize::try_from(pitch).ok()?);
            if !left.is_multiple_of(size) {
                return None;
            }
            (left, pitch) = (left / size, pitch * size as isize);
        }
        pitches.reverse();
        Some((self.loops.first as usize, pitches))
    }
}

/// The lines of a source.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub base: usize,
    /// Elements of a line, which are contiguous.
    pub line: usize,
    pub view: Option<&'a Placement>,
}

impl Lines<'_> {
    /// The offset of the first element of a line.
    #[inline]
    pub(crate) fn begin(&self, number: usize) -> usize {
        let element = self.base + number * self.line;
        match self.view {
            None => element,
            Some(view) => view.loops.offset(view.words.first as usize + element),
        }
    }

    /// How many lines, from line `number` on, are contiguous; 0 if this line itself is not.
    pub(crate) fn together(&self, number: usize) -> usize {
        match self.contiguous_from(number * self.line) {
            usize::MAX => usize::MAX,
            run => run / self.line.max(1),
        }
    }

    /// How many elements are contiguous from `element` on. Elements are counted from the first line on.
    pub(crate) fn contiguous_from(&self, element: usize) -> usize {
        match self.view {
            Some(Placement { words, loops }) if loops.axes.len() > 1 => {
                let run = loops.run();
                run - (words.first as usize + self.base + element) % run
            }
            _ => usize::MAX,
        }
    }

    /// The offset of an element. Elements are counted from the first line on.
    pub(crate) fn offset(&self, element: usize) -> usize {
        Self { line: 1, ..*self }.begin(element)
    }
}

impl Words {
    fn new(loops: &Loops, item: u64, first: u64, len: u64) -> Self {
        let mut axis = [[0; 4]; MAX_AXES];
        for (i, (to, &(size, pitch))) in axis.iter_mut().zip(loops.axes.iter().rev()).enumerate() {
            let [by, multiplier, shift, _] =
                if i + 1 == loops.axes.len() { [0; 4] } else { divisor(size as u64) };
            *to = [by, multiplier, shift, pitch as u32];
        }
        // Whether `elements` elements are contiguous and aligned from every multiple of `elements` on.
        let together = |elements: u64| {
            let multiple = |n: isize| (n.unsigned_abs() as u64).is_multiple_of(elements);
            let outer = loops.axes.split_last().map_or(&[][..], |(_, outer)| outer);
            match loops.axes.last() {
                None => false,
                Some((_, 1)) if outer.is_empty() => multiple(loops.first + first as isize),
                Some(&(size, 1)) => {
                    multiple(loops.first)
                        && first.is_multiple_of(elements)
                        && multiple(size as isize)
                        && outer.iter().all(|axis| multiple(axis.1))
                }
                Some(_) => false,
            }
        };
        let unit = match (together(16 / item), together((4 / item).max(1))) {
            (true, _) => 2,
            (_, true) => 1,
            _ => 0,
        };
        let axes = loops.axes.len().max(1) as u32;
        let (first, len, base) = (first as u32, len as u32, loops.first as u32);
        Self { first, len, base, unit, axes, padding: [0; 3], axis }
    }
}
