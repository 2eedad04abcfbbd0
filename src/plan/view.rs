//! Plans for views.
//!
//! A plan is first made as if all elements were contiguous. Then each launch that reads a view gets its
//! layout, if the view has whole rows; otherwise a launch *packs* the view first. A result that is a
//! view is written to scratch, and *unpacked*. Shaders use `shaders/common/view.wgsl`.

use super::kernel::Views;
use super::placement::Placement;
use super::{
    Builder, Call, Kernel, Launch, LaunchDesc, Limits, Plan, Range, Region, Shader, Target,
};
use crate::base::error::{Error, Result};
use crate::tensor::{TensorDesc, View};
use crate::wgsl::params;

/// Copies the elements of a view to contiguous memory.
pub(crate) static PACK: Kernel =
    Kernel::new::<Pack>("pack", "common/pack", pack).views(Views::Reads);

/// Copies contiguous elements to a view.
pub(crate) static UNPACK: Kernel =
    Kernel::new::<Unpack>("unpack", "common/unpack", unpack).views(Views::Writes);

impl Plan {
    /// Changes a plan for contiguous tensors: its inputs and results get these views. If `results`
    /// is empty, each result is contiguous. Nothing changes for a result that the plan already
    /// writes in its view.
    ///
    /// # Errors
    /// [`Error::BadView`] for a result with two elements at one address, [`Error::OutputBuffers`],
    /// [`Error::WrongResult`], and [`Error::OverLimit`].
    pub(crate) fn with_views(
        self,
        inputs: &[&View],
        results: &[&View],
        target: Target<'_>,
    ) -> Result<Self> {
        check_results(&self.outputs, results)?;
        // Kernels write whole words, which would overwrite bytes after a result that ends within a
        // word.
        let is_written = |(i, view): (usize, &&View)| match view.is_contiguous() {
            true => view.byte_len().is_multiple_of(4),
            false => self.view(inputs.len() + i).as_ref() == *view,
        };
        let unpacked: Vec<_> = results.iter().enumerate().filter(|&of| !is_written(of)).collect();
        if inputs.iter().all(|view| view.is_contiguous()) && unpacked.is_empty() {
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
        for (i, view) in unpacked {
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

    /// Whether a kernel that writes whole words writes the bytes after result `i`, which ends within a
    /// word. Results are numbered after the inputs.
    pub(crate) fn overwrites_rest(&self, i: usize) -> bool {
        let writes = |launch: &&Launch| launch.results.iter().any(|range| range.buffer == i);
        !self.bytes(i).end.is_multiple_of(4)
            && !self.launches.iter().filter(writes).all(|launch| launch.shader.kernel == &UNPACK)
    }

    /// The same launches, with other views of the same memory as inputs and results.
    pub(crate) fn seen_as(self, inputs: &[&View], results: &[View]) -> Self {
        let descs =
            |views: &mut dyn Iterator<Item = &View>| views.map(|v| v.desc().clone()).collect();
        Self {
            inputs: descs(&mut inputs.iter().copied()),
            outputs: self.outputs.with(descs(&mut results.iter())),
            views: inputs.iter().copied().chain(results).cloned().collect(),
            ..self
        }
    }
}

/// Refuses results that differ from the outputs, and those with two elements at one address. The list
/// may be empty.
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
    let mut results = results.iter().zip(outputs).enumerate();
    results.try_for_each(|(position, (view, desc))| check_result(position, desc, view))
}

/// Refuses a view of another type or shape than a result's, or with two elements at one address.
///
/// # Errors
/// [`Error::WrongResult`], [`Error::BadView`].
pub(crate) fn check_result(position: usize, desc: &TensorDesc, view: &View) -> Result<()> {
    if view.desc() != desc {
        return Err(Error::WrongResult {
            position,
            expected_type: desc.element_type(),
            expected_shape: desc.shape().to_vec(),
            actual_type: view.desc().element_type(),
            actual_shape: view.desc().shape().to_vec(),
        });
    }
    view.check_distinct()
}

/// Makes the launches that read an input read the view in place. Returns false, without a change,
/// unless all of them can: the view needs whole rows, and a binding must hold those of each launch.
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
        /// The offset of the first word that is written.
        result_base: u32,
        padding: [u32; 2],
    }

    struct Unpack {
        /// The offset of the first word of elements in the source.
        base: u32,
        padding: [u32; 3],
    }
}

impl Builder<'_> {
    /// Launches that copy an input, a view, into scratch. Returns the scratch.
    fn pack(&mut self, input: usize, view: &View) -> Result<usize> {
        self.element = view.desc().element_type();
        let item = self.item();
        let scratch = self.scratch(view.desc().len() as u64);
        self.pieces(view, |builder, first, len, range| {
            let (result, result_base) = builder.range(scratch.after(first), len);
            let words = (len * item).div_ceil(4);
            let result_base = (u64::from(result_base) * item / 4) as u32;
            let params = Pack { words: words as u32, result_base, padding: [0; 2] };
            let launch = LaunchDesc {
                purpose: "elements of a view, made contiguous",
                shader: builder.shader(&PACK),
                params: &params,
                sources: vec![Range { buffer: input, ..range }],
                results: vec![result],
            };
            builder.push(launch, words.div_ceil(4))
        })?;
        Ok(scratch.buffer)
    }

    /// Launches that copy scratch to a result, a view.
    fn unpack(&mut self, scratch: usize, result: usize, view: &View) -> Result<()> {
        self.element = view.desc().element_type();
        let per_word = self.per_word();
        self.pieces(view, |builder, first, len, range| {
            let (source, base) = builder.range(Region::all(scratch).after(first), len);
            let params = Unpack { base: base / per_word as u32, padding: [0; 3] };
            let launch = LaunchDesc {
                purpose: "elements of a result, copied to a view",
                shader: builder.shader(&UNPACK),
                params: &params,
                sources: vec![source],
                results: vec![Range { buffer: result, ..range }],
            };
            builder.push(launch, len.div_ceil(per_word))
        })
    }

    /// Cuts a view into pieces that the bindings hold. All but the last are whole words. `each` adds
    /// the launch of a piece, given its first element, its number of elements, and their range.
    fn pieces(
        &mut self,
        view: &View,
        mut each: impl FnMut(&mut Self, u64, u64, Range) -> Result<()>,
    ) -> Result<()> {
        let (loops, item, all) = (view.loops(), self.item(), view.desc().len() as u64);
        let capacity = self.capacity(item);
        let mut first = 0;
        while first < all {
            let mut len = capacity.min(all - first);
            let ((offset, size), placement) = loop {
                if first + len < all {
                    // Whole blocks, unless a binding does not hold one.
                    let unit = if len >= self.block() { self.block() } else { self.per_word() };
                    len = len / unit * unit;
                }
                if len == 0 {
                    return Err(
                        self.over_binding("a binding of elements of a view that are far apart", 4)
                    );
                }
                match Placement::new(&loops, item, first, len, self.target.limits) {
                    Some(found) => break found,
                    None => len /= 2,
                }
            };
            each(self, first, len, Range { buffer: 0, offset, size })?;
            self.set_view(placement);
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
