//! Plans for tensors whose elements do not lie one after the other.
//!
//! A plan is made as if they did. Then each launch that reads such an input is told where the
//! elements lie, if they lie in rows; otherwise a launch *packs* the input first. A result is
//! written to scratch, and *unpacked*. `shaders/common/view.wgsl` has the other part.

use super::kernel::Views;
use super::{
    Builder, Call, Kernel, Launch, Limits, MAX_ELEMENTS, New, Plan, Range, Region, Shader, Target,
    divisor,
};
use crate::error::{Error, Result};
use crate::tensor::view::Loops;
use crate::tensor::{TensorDesc, View};
use crate::wgsl::params;

/// The elements of a view, one after the other.
pub(crate) static PACK: Kernel =
    Kernel::new::<Pack>("pack", "common/pack", pack).views(Views::Reads);

/// Elements that lie one after the other, to the places of a view.
pub(crate) static UNPACK: Kernel =
    Kernel::new::<Unpack>("unpack", "common/unpack", unpack).views(Views::Writes);

/// The most loops that elements can be numbered by in 31 bits.
const MAX_AXES: usize = 32;

/// Where the elements of a binding lie that is a part of a view.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// As the shaders' `View`.
    pub words: Words,
    /// Places are counted from the beginning of the binding.
    loops: Loops,
}

params! {
    /// Where the elements of a source lie that is a view: nested loops.
    pub(crate) struct Words {
        /// The number of the source's first element, counted from where all loops begin.
        first: u32,
        /// Elements of the source.
        len: u32,
        /// The place of number 0.
        base: u32,
        unit: u32,
        /// Loops.
        axes: u32,
        padding: [u32; 3],
        /// Of each loop, the innermost first, its size as a divisor, and in w its pitch. The size
        /// of the outermost one is not needed: it is 0.
        axis: [[u32; 4]; MAX_AXES],
    }
}

impl Placement {
    /// The binding of `len` elements of a view from number `first` on, of `item` bytes each, and
    /// where they lie in it. `None` if no binding holds them.
    fn new(
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
        // Outer loops that stay where they are.
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
        let places = i128::from(MAX_ELEMENTS);
        let fits = bytes <= i128::from(limits.max_binding_size) && bytes / item_wide < places;
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
    fn scatter(&self, item: usize, from: &[u8], binding: &mut [u8]) {
        self.parts(self.len(), &mut |i, loops| loops.scatter(item, &from[i * item..], binding));
    }

    /// The first `len` elements as a few nested loops, each with the number of its first element.
    fn parts(&self, len: usize, each: &mut dyn FnMut(usize, &Loops)) {
        self.loops.parts(self.words.first as usize, len, 0, each);
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.words.len as usize
    }

    /// Whether the elements from number `base` on lie in lines of `line` elements without gaps.
    pub(crate) fn has_lines(&self, base: u32, line: u32) -> bool {
        let first = self.words.first as usize + base as usize;
        let together = |elements: usize| elements.is_multiple_of(line.max(1) as usize);
        match self.loops.axes[..] {
            [] | [(_, 1)] => true,
            _ => together(self.loops.run()) && together(first),
        }
    }

    /// Elements that lie one after the other, at least.
    pub(crate) fn run(&self) -> usize {
        self.loops.run()
    }

    /// The place of the first element, and the pitch of each axis, if the elements are seen in
    /// another shape. `None` if an axis would have several, or runs backwards.
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

/// Where lines of elements begin in a source.
#[derive(Clone, Copy)]
pub(crate) struct Lines<'a> {
    pub base: usize,
    /// Elements of a line, which lie one after the other.
    pub line: usize,
    pub view: Option<&'a Placement>,
}

impl Lines<'_> {
    /// Where a line begins.
    #[inline]
    pub(crate) fn begin(&self, number: usize) -> usize {
        let element = self.base + number * self.line;
        match self.view {
            None => element,
            Some(view) => view.loops.place(view.words.first as usize + element),
        }
    }

    /// How many lines from one on lie one after the other: 0 if not all of it does.
    pub(crate) fn together(&self, number: usize) -> usize {
        match self.run_from(number * self.line) {
            usize::MAX => usize::MAX,
            run => run / self.line.max(1),
        }
    }

    /// How many elements from one on, counted from the first line's first, lie one after the other.
    pub(crate) fn run_from(&self, element: usize) -> usize {
        match self.view {
            Some(Placement { words, loops }) if loops.axes.len() > 1 => {
                let run = loops.run();
                run - (words.first as usize + self.base + element) % run
            }
            _ => usize::MAX,
        }
    }

    /// The place of an element, counted from the first line's first.
    pub(crate) fn place(&self, element: usize) -> usize {
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
        // So many elements lie together, from each that begins as many of them.
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

impl Plan {
    /// The same plan for inputs and results that lie as views say. `results` may be empty: then
    /// they lie one after the other.
    ///
    /// # Errors
    /// [`Error::BadView`] for a result with two elements in one place, [`Error::OutputBuffers`],
    /// [`Error::WrongResult`], and [`Error::OverLimit`].
    pub(crate) fn with_views(
        self,
        inputs: &[&View],
        results: &[&View],
        target: Target<'_>,
    ) -> Result<Self> {
        check_results(&self.outputs, results)?;
        // Kernels write whole words, and so what follows a result that ends within one.
        let is_written = |view: &View| view.is_contiguous() && view.byte_len().is_multiple_of(4);
        if inputs.iter().all(|view| view.is_contiguous())
            && results.iter().all(|view| is_written(view))
        {
            return Ok(self);
        }
        let (mut builder, mut launches) = Builder::resume(self, target);
        let mut replaced = Vec::new();
        for (i, view) in inputs.iter().enumerate().filter(|(_, view)| !view.is_contiguous()) {
            builder.place(i, view);
            if !read_directly(&mut launches, i, view, target.limits) {
                replaced.push((i, builder.pack(i, view)?));
            }
        }
        let first_result = inputs.len();
        let mut written = Vec::new();
        for (i, view) in results.iter().enumerate().filter(|(_, view)| !is_written(view)) {
            let scratch = builder.scratch_bytes(builder.size(first_result + i));
            builder.place(first_result + i, view);
            replaced.push((first_result + i, scratch));
            written.push((first_result + i, scratch, *view));
        }
        for launch in &mut launches {
            for range in launch.sources.iter_mut().chain(&mut launch.results) {
                if let Some((_, scratch)) = replaced.iter().find(|(from, _)| *from == range.buffer)
                {
                    range.buffer = *scratch;
                }
            }
        }
        builder.append(launches);
        for (buffer, scratch, view) in written {
            builder.unpack(scratch, buffer, view)?;
        }
        Ok(builder.finish())
    }

    /// The same plan for callers who see its inputs and results as other views of the same memory.
    pub(crate) fn seen_as(self, inputs: &[&View], results: &[View]) -> Self {
        let descs =
            |views: &mut dyn Iterator<Item = &View>| views.map(|v| v.desc().clone()).collect();
        Self {
            inputs: descs(&mut inputs.iter().copied()),
            outputs: descs(&mut results.iter()),
            views: inputs.iter().copied().chain(results).cloned().collect(),
            ..self
        }
    }
}

/// Refuses results unlike the outputs, and those with two elements in one place. There may be none.
///
/// # Errors
/// [`Error::OutputBuffers`], [`Error::WrongResult`], [`Error::BadView`].
pub(crate) fn check_results(outputs: &[TensorDesc], results: &[&View]) -> Result<()> {
    if results.is_empty() {
        return Ok(());
    }
    if results.len() != outputs.len() {
        return Err(Error::OutputBuffers {
            operator: "the plan".to_string(),
            expected: outputs.len(),
            actual: results.len(),
        });
    }
    for (position, (view, desc)) in results.iter().zip(outputs).enumerate() {
        if view.desc() != desc {
            return Err(Error::WrongResult {
                position,
                expected_type: desc.element_type(),
                expected_shape: desc.shape().to_vec(),
                actual_type: view.desc().element_type(),
                actual_shape: view.desc().shape().to_vec(),
            });
        }
        view.check_distinct()?;
    }
    Ok(())
}

/// Makes the launches that read an input read it as a view, if all of them can: the elements lie
/// in rows, and those of each launch in a binding.
fn read_directly(launches: &mut [Launch], input: usize, view: &View, limits: &Limits) -> bool {
    let (loops, element) = (view.loops(), view.desc().element_type());
    let item = element.size() as u64;
    if !matches!(loops.axes.last(), None | Some((_, 1))) {
        return false;
    }
    let mut found = Vec::new();
    for (number, launch) in launches.iter().enumerate() {
        let Some(at) = launch.sources.iter().position(|range| range.buffer == input) else {
            continue;
        };
        let shader = launch.shader;
        if at > 0 || shader.kernel.views != Views::MayRead || shader.element != element {
            return false;
        }
        let range = &launch.sources[0];
        let placement =
            Placement::new(&loops, item, range.offset / item, range.size / item, limits);
        let Some(((offset, size), placement)) = placement else { return false };
        found.push((number, Range { buffer: input, offset, size }, placement));
    }
    for (number, range, placement) in found {
        let launch = &mut launches[number];
        launch.shader.pitched = true;
        launch.sources[0] = range;
        launch.view = Some(Box::new(placement));
    }
    true
}

params! {
    struct Pack {
        /// Words to write.
        words: u32,
        /// Where the first one goes.
        result_base: u32,
        padding: [u32; 2],
    }

    struct Unpack {
        /// Where the first word of elements is in the source.
        base: u32,
        padding: [u32; 3],
    }
}

impl Builder<'_> {
    /// Launches that copy a view, an input, into scratch. Gives the scratch.
    fn pack(&mut self, input: usize, view: &View) -> Result<usize> {
        self.element = view.desc().element_type();
        let item = self.item();
        let scratch = self.scratch(view.desc().len() as u64);
        self.pieces(view, |builder, first, placement, range| {
            let len = placement.len() as u64;
            let (result, result_base) = builder.range(scratch.after(first), len);
            let words = (len * item).div_ceil(4);
            let result_base = (u64::from(result_base) * item / 4) as u32;
            let params = Pack { words: words as u32, result_base, padding: [0; 2] };
            let launch = New {
                purpose: "elements of a view, one after the other",
                shader: builder.shader(&PACK),
                params: &params,
                sources: vec![Range { buffer: input, ..range }],
                results: vec![result],
            };
            builder.push(launch, words.div_ceil(4))?;
            builder.set_view(placement);
            Ok(())
        })?;
        Ok(scratch.buffer)
    }

    /// Launches that copy scratch to a view, a result.
    fn unpack(&mut self, scratch: usize, result: usize, view: &View) -> Result<()> {
        self.element = view.desc().element_type();
        let per_word = self.per_word();
        self.pieces(view, |builder, first, placement, range| {
            let len = placement.len() as u64;
            let (source, base) = builder.range(Region::all(scratch).after(first), len);
            let params = Unpack { base: base / per_word as u32, padding: [0; 3] };
            let launch = New {
                purpose: "elements of a result, to the places of a view",
                shader: builder.shader(&UNPACK),
                params: &params,
                sources: vec![source],
                results: vec![Range { buffer: result, ..range }],
            };
            builder.push(launch, len.div_ceil(per_word))?;
            builder.set_view(placement);
            Ok(())
        })
    }

    /// Cuts a view into pieces that the bindings hold. Each but the last is whole words.
    fn pieces(
        &mut self,
        view: &View,
        mut each: impl FnMut(&mut Self, u64, Placement, Range) -> Result<()>,
    ) -> Result<()> {
        let (loops, item, all) = (view.loops(), self.item(), view.desc().len() as u64);
        let capacity = self.capacity(item);
        let mut first = 0;
        while first < all {
            let mut len = capacity.min(all - first);
            let found = loop {
                if first + len < all {
                    // Whole blocks, unless even one is too much.
                    let unit = if len >= self.block() { self.block() } else { self.per_word() };
                    len = len / unit * unit;
                }
                if len == 0 {
                    return Err(self.over_binding("elements of a view that lie apart", 4));
                }
                match Placement::new(&loops, item, first, len, self.target.limits) {
                    Some(found) => break found,
                    None => len /= 2,
                }
            };
            let ((offset, size), placement) = found;
            each(self, first, placement, Range { buffer: 0, offset, size })?;
            first += len;
        }
        Ok(())
    }
}

fn pack(shader: &Shader, call: Call<'_, '_>) {
    let Some(view) = call.view else { return };
    let item = shader.element.size();
    let params: &Pack = call.params();
    let to = &mut call.results[0][params.result_base as usize * 4..];
    view.gather(item, call.sources[0], to);
}

fn unpack(shader: &Shader, call: Call<'_, '_>) {
    let Some(view) = call.view else { return };
    let item = shader.element.size();
    let params: &Unpack = call.params();
    let from = &call.sources[0][params.base as usize * item.max(4)..];
    view.scatter(item, from, call.results[0]);
}
