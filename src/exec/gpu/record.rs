//! Records a prepared operator: checks the buffers, binds them, encodes the passes.

use std::sync::{Arc, PoisonError};

use super::TENSOR;
use super::bound::{BoundSet, Place};
use super::launch::Pass;
use super::operand::{BufferRange, Operand};
use super::prepared::Prepared;
use super::texture::{TextureCopy, TextureRange};
use crate::base::error::{Error, Result};

/// An open debug group. Dropping it closes the group, even when the stack unwinds.
pub(super) struct DebugGroup<'a>(pub(super) &'a mut wgpu::CommandEncoder);

impl<'a> DebugGroup<'a> {
    pub(super) fn new(encoder: &'a mut wgpu::CommandEncoder, label: &str) -> Self {
        encoder.push_debug_group(label);
        Self(encoder)
    }
}

impl Drop for DebugGroup<'_> {
    fn drop(&mut self) {
        self.0.pop_debug_group();
    }
}

/// The inputs and results of a recording. [`Record::finish`] records them. Created by
/// [`Prepared::record`] and [`Prepared::reserve`].
#[must_use = "nothing is recorded before `finish`"]
pub struct Record<'a, 't> {
    prepared: &'a Prepared,
    /// Without an encoder, the objects of the recording are only created.
    encoder: Option<&'a mut wgpu::CommandEncoder>,
    inputs: Vec<Operand<'t>>,
    outputs: Vec<Operand<'t>>,
    size: Option<BufferRange<'t>>,
}

impl<'t> Record<'_, 't> {
    /// Adds the next input: a buffer, a [`BufferRange`], a texture or a [`TextureRange`].
    pub fn input(mut self, input: impl Into<Operand<'t>>) -> Self {
        self.inputs.push(input.into());
        self
    }

    /// Adds the next inputs.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = impl Into<Operand<'t>>>) -> Self {
        self.inputs.extend(inputs.into_iter().map(Into::into));
        self
    }

    /// Adds the destination of the next result: a buffer, a [`BufferRange`], a texture or a
    /// [`TextureRange`].
    pub fn output(mut self, output: impl Into<Operand<'t>>) -> Self {
        self.outputs.push(output.into());
        self
    }

    /// Adds the destinations of the next results.
    pub fn outputs(mut self, outputs: impl IntoIterator<Item = impl Into<Operand<'t>>>) -> Self {
        self.outputs.extend(outputs.into_iter().map(Into::into));
        self
    }

    /// Names the `u32` from which the GPU reads the number of rows when it runs the recording, for
    /// operators prepared by [`Device::prepare_sizes`](crate::Device::prepare_sizes). Without this
    /// call they process all rows.
    ///
    /// The buffer needs the usage `STORAGE`, not `INDIRECT`, and an offset that [`BufferRange`]
    /// allows, such as a multiple of 256. Copy a counter at another offset first. The number may be
    /// in the buffer of an input, and must share no byte with a result.
    pub fn size(mut self, size: impl Into<BufferRange<'t>>) -> Self {
        self.size = Some(size.into());
        self
    }

    /// Records the operator.
    ///
    /// # Errors
    /// If an error is returned, nothing has been recorded: [`Error::InputCount`] and
    /// [`Error::OutputBuffers`] for a wrong number of tensors, [`Error::BufferUsage`] for a buffer
    /// without `STORAGE`, [`Error::BufferAlignment`] for an offset, [`Error::BufferTooSmall`] for a
    /// range that ends outside of its buffer, [`Error::BufferOverlap`] for a result that shares
    /// bytes with an input or another result (a view occupies all bytes from its first to its last
    /// element), and in a browser for bindings that overlap, [`Error::BufferDestroyed`],
    /// [`Error::BufferDevice`] for a buffer of another device, [`Error::BadTexture`] for a texture
    /// whose elements differ from those that the operator was prepared for, that shares texels with
    /// another result, that would lose others of its elements, or that is destroyed or of another
    /// device, [`Error::DeviceLost`], and [`Error::OverLimit`], [`Error::OutOfMemory`] and
    /// [`Error::Gpu`] for new buffers.
    ///
    /// wgpu does not expose the device of an encoder: an encoder of another device becomes invalid,
    /// and its `finish` reports that. Resources of another `wgpu::Instance` are not recognised
    /// either. In a browser, destroyed and foreign resources are reported when the caller submits.
    pub fn finish(self) -> Result<()> {
        let (passes, copies) = self.prepared.bound(&self.inputs, &self.outputs, self.size)?;
        let Some(encoder) = self.encoder else { return Ok(()) };
        let group = DebugGroup::new(encoder, &self.prepared.label);
        copies.iter().for_each(|copy| copy.load(group.0));
        passes.iter().for_each(|pass| pass.encode(group.0));
        copies.iter().for_each(|copy| copy.store(group.0));
        Ok(())
    }
}

impl std::fmt::Debug for Record<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { prepared, inputs, outputs, size, .. } = self;
        write!(f, "Record({prepared:?}, {inputs:?} to {outputs:?}, size {size:?})")
    }
}

impl Prepared {
    /// Records the operator into a command encoder. The operator reads and writes the caller's buffers,
    /// or textures, which are copied to scratch and back.
    ///
    /// ```no_run
    /// # use wgmax::{Prepared, wgpu::{Buffer, CommandEncoder, Texture}};
    /// # fn record(depth: &Prepared, encoder: &mut CommandEncoder, texture: &Texture, result: &Buffer)
    /// # -> wgmax::Result<()> {
    /// depth.record(encoder).input(texture).output(result).finish()
    /// # }
    /// ```
    ///
    /// It submits nothing, waits for nothing, and leaves no error scope open. Results are written in
    /// whole words: if a result of 1- or 2-byte elements ends within a word, the rest of the word is
    /// unspecified. A result that was prepared as a view keeps the bytes between its elements.
    ///
    /// Bind groups are kept for the last four sets of buffers and offsets; if dropped sets recur, for
    /// up to 64 sets. They keep the buffers alive until [`Prepared::clear_bindings`]. Recording with a
    /// kept set creates no bind groups, buffers or pipelines. The first recording of a set creates its
    /// bind groups, and scratch for its textures, unless [`Prepared::reserve`] did. Each recording
    /// checks that the device is not lost, and that textures are of the device, by calls that wgpu
    /// refuses, or by an encoder that is not submitted.
    ///
    /// Inputs and results may be separate ranges of one buffer. In a browser their bindings must be
    /// separate, too: that of a view begins at the multiple of the device's
    /// `min_storage_buffer_offset_alignment` before its first element.
    pub fn record<'a, 't>(&'a self, encoder: &'a mut wgpu::CommandEncoder) -> Record<'a, 't> {
        Record { encoder: Some(encoder), ..self.reserve() }
    }

    /// Creates the bind groups, and the scratch for textures, that [`Prepared::record`] needs for the
    /// same inputs and results, so that recording is faster. Its [`finish`](Record::finish) records
    /// nothing.
    pub fn reserve<'t>(&self) -> Record<'_, 't> {
        Record { prepared: self, encoder: None, inputs: vec![], outputs: vec![], size: None }
    }

    /// The passes on these inputs and results, and the copies of textures.
    fn bound<'a>(
        &self,
        inputs: &[Operand<'a>],
        outputs: &[Operand<'a>],
        size: Option<BufferRange<'a>>,
    ) -> Result<(Arc<[Pass]>, Vec<TextureCopy<'a>>)> {
        self.gpu.check_alive()?;
        self.check(inputs, outputs, size)?;
        let mut places = Vec::with_capacity(inputs.len() + outputs.len() + 1);
        let mut copies = Vec::new();
        let size = size.map(Operand::Buffer);
        for (i, operand) in inputs.iter().chain(outputs).chain(&size).enumerate() {
            places.push(match operand {
                Operand::Buffer(range) => Place(range.buffer.clone(), range.offset),
                Operand::Texture(range) => {
                    let copy = self.stage(i, range)?;
                    let place = Place(copy.buffer.clone(), 0);
                    copies.push(copy);
                    place
                }
            });
        }
        let passes = match self.bind_groups.find(&places) {
            Some(passes) => passes,
            None => {
                self.check_aliases(&places)?;
                let passes = self.gpu.catch_now("binding", || Ok(self.bind(&places)));
                let passes = passes.map_err(|error| self.foreign(&places).unwrap_or(error));
                let passes: Arc<[Pass]> = passes?.into();
                self.bind_groups.keep(BoundSet { places, passes: passes.clone() });
                passes
            }
        };
        Ok((passes, copies))
    }

    /// In a browser, an error for bindings that overlap, though their tensors share no byte, or are two
    /// inputs.
    fn check_aliases(&self, places: &[Place]) -> Result<()> {
        let aliases = self.gpu.is_browser.then(|| self.aliases(places)).flatten();
        aliases.map_or(Ok(()), |[(result, bytes), (other, other_bytes)]| {
            Err(Error::BufferOverlap {
                operator: self.label.clone(),
                result: self.tensor(result),
                bytes,
                other: self.tensor(other),
                other_bytes,
            })
        })
    }

    /// The error of the first buffer that cannot be bound even alone. All else was checked, so it belongs
    /// to another device.
    fn foreign(&self, places: &[Place]) -> Option<Error> {
        let foreign = places.iter().position(|Place(buffer, _)| !self.gpu.can_bind(buffer))?;
        self.gpu.check_alive().err().or_else(|| {
            Some(Error::BufferDevice {
                operator: self.label.clone(),
                tensor: self.tensor(foreign),
                device: self.gpu.described(),
            })
        })
    }

    fn check(
        &self,
        inputs: &[Operand<'_>],
        outputs: &[Operand<'_>],
        size: Option<BufferRange<'_>>,
    ) -> Result<()> {
        if inputs.len() != self.plan.inputs.len() {
            return Err(Error::input_count(&self.label, self.plan.inputs.len(), inputs.len()));
        }
        if outputs.len() != self.plan.outputs.len() {
            return Err(Error::OutputBuffers {
                operator: self.label.clone(),
                expected: self.plan.outputs.len(),
                actual: outputs.len(),
            });
        }
        // Textures have scratch of their own, all of which is copied back.
        let all = inputs.iter().chain(outputs).enumerate();
        let results = outputs.iter().enumerate().filter_map(|(i, operand)| match operand {
            Operand::Buffer(_) => None,
            Operand::Texture(range) => Some((inputs.len() + i, range)),
        });
        for (i, range) in results.clone() {
            if let Some((j, _)) = results.clone().find(|(j, other)| *j < i && range.overlaps(other))
            {
                let reason = format!("it shares texels with {}", self.tensor(j));
                return Err(self.bad_texture(i, reason));
            }
        }
        let ranges = all.filter_map(|(i, operand)| match operand {
            Operand::Buffer(range) => Some((i, range)),
            Operand::Texture(_) => None,
        });
        let count = inputs.len() + outputs.len();
        if let (Some(_), None) = (size, &self.choice) {
            let expected = "no size: it was not prepared for several sizes".into();
            return Err(Error::InputCount { operator: self.label.clone(), expected, actual: 1 });
        }
        let ranges = ranges.chain(size.iter().map(|range| (count, range)));
        for (i, range) in ranges.clone() {
            self.check_range(i, range)?;
        }
        for (i, result) in ranges.clone().filter(|(i, _)| (inputs.len()..count).contains(i)) {
            let mine = self.bytes(i, result);
            for (j, other) in ranges.clone().filter(|(j, _)| *j < i || *j == count) {
                let theirs = self.bytes(j, other);
                // An empty range overlaps nothing.
                let overlap = theirs.start.max(mine.start) < theirs.end.min(mine.end);
                if overlap && other.buffer == result.buffer {
                    return Err(Error::BufferOverlap {
                        operator: self.label.clone(),
                        result: self.tensor(i),
                        bytes: mine,
                        other: self.tensor(j),
                        other_bytes: theirs,
                    });
                }
            }
        }
        Ok(())
    }

    /// The copy of a tensor's texture to the tensor's scratch, and back.
    fn stage<'a>(&self, i: usize, range: &TextureRange<'a>) -> Result<TextureCopy<'a>> {
        let is_result = i >= self.plan.inputs.len();
        let staged = range.staged(&self.plan.view(i), is_result);
        let staged = staged.map_err(|reason| self.bad_texture(i, reason))?;
        let is_texel = || staged.is_texel(self.plan.bytes(i).end);
        if is_result && !staged.whole && self.plan.overwrites_rest(i) && is_texel() {
            let reason = "other texels share its last word, which is written; use prepare_into";
            return Err(self.bad_texture(i, reason.to_string()));
        }
        let mut buffers = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = match &buffers[i] {
            Some(buffer) if buffer.size() >= staged.bytes => buffer.clone(),
            _ => {
                let create = || self.gpu.create_buffer("wgmax texture", staged.bytes, TENSOR);
                let buffer = self.gpu.catch_now("a texture", create)?;
                buffers[i] = Some(buffer.clone());
                buffer
            }
        };
        let copy = TextureCopy { range: *range, buffer, staged, is_result };
        self.check_texture(i, &copy).map(|()| copy)
    }

    /// Checks that the texture of a copy belongs to this device and is not destroyed. wgpu reports the
    /// former when an encoder is finished, the latter at the submit; so both are tried first.
    fn check_texture(&self, i: usize, copy: &TextureCopy<'_>) -> Result<()> {
        let tried = self.gpu.catch_now("a texture", || {
            let mut encoder = self.gpu.encoder("wgmax plan");
            copy.load(&mut encoder);
            copy.store(&mut encoder);
            Ok(encoder.finish())
        });
        match tried {
            Ok(_) => {}
            Err(Error::Gpu { reason, .. }) if reason.contains("doesn't match Device") => {
                let reason = format!("the texture is not one of {}", self.gpu.described());
                return Err(self.bad_texture(i, format!("{reason}, but of another device")));
            }
            Err(error) => return Err(error),
        }
        // No texture has such a view.
        let no_view =
            wgpu::TextureViewDescriptor { base_mip_level: u32::MAX, ..Default::default() };
        match self.gpu.catch_now("a texture", || Ok(copy.range.texture.create_view(&no_view))) {
            Err(Error::Gpu { reason, .. }) if reason.contains("has been destroyed") => {
                self.gpu.check_alive()?;
                Err(self.bad_texture(i, "the texture was destroyed".to_string()))
            }
            Err(Error::DeviceLost { device, reason }) => Err(Error::DeviceLost { device, reason }),
            _ => Ok(()),
        }
    }

    /// Checks the range of a tensor. Inputs are numbered first, then results.
    fn check_range(&self, i: usize, range: &BufferRange<'_>) -> Result<()> {
        let alignment = self.gpu.info.limits.alignment;
        let (offset, usage, size) = (range.offset, range.buffer.usage(), range.buffer.size());
        let names = || (self.label.clone(), self.tensor(i));
        if !usage.contains(wgpu::BufferUsages::STORAGE) {
            let ((operator, tensor), usage) = (names(), format!("{usage:?}"));
            return Err(Error::BufferUsage { operator, tensor, usage });
        }
        if !offset.is_multiple_of(alignment) {
            let (operator, tensor) = names();
            return Err(Error::BufferAlignment { operator, tensor, offset, alignment });
        }
        let needed = self.bytes(i, range).end;
        if needed > size {
            let (operator, tensor) = names();
            return Err(Error::BufferTooSmall { operator, tensor, needed, size });
        }
        self.gpu.check_not_destroyed(range.buffer, names)
    }

    fn bad_texture(&self, i: usize, reason: String) -> Error {
        Error::BadTexture { operator: self.label.clone(), tensor: self.tensor(i), reason }
    }

    /// The name of a tensor in errors.
    fn tensor(&self, i: usize) -> String {
        match i.checked_sub(self.plan.inputs.len()) {
            None => format!("input {i}"),
            Some(result) if result < self.plan.outputs.len() => format!("result {result}"),
            Some(_) => "the size".to_string(),
        }
    }

    /// The bytes of a tensor in its buffer, from its first element to its last one, rounded to
    /// whole words.
    fn bytes(&self, i: usize, range: &BufferRange<'_>) -> std::ops::Range<u64> {
        let is_size = i == self.plan.inputs.len() + self.plan.outputs.len();
        let bytes = if is_size { 0..4 } else { self.plan.bytes(i) };
        let (first, end) = (bytes.start as u64 / 4 * 4, (bytes.end as u64).next_multiple_of(4));
        range.offset.saturating_add(first)..range.offset.saturating_add(end)
    }
}
