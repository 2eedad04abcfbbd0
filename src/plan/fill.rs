//! `shaders/common/fill.wgsl`: sets a buffer to one value.

use super::{Builder, Call, Kernel, LaunchDesc, Range, Shader};
use crate::base::error::Result;
use crate::base::threads;
use crate::wgsl::params;

/// Sets a buffer to one value.
pub(crate) static FILL: Kernel = Kernel::new::<Params>("fill", "common/fill", run).untyped();

params! {
    struct Params {
        /// Words to write.
        words: u32,
        /// The words at even and at odd offsets: the element, repeated.
        even: u32,
        odd: u32,
        /// Contiguous words of an invocation: 1 or 8.
        words_per_thread: u32,
    }
}

impl Builder<'_> {
    /// Sets all of a buffer to one element.
    pub(crate) fn fill(&mut self, buffer: usize, bits: u64) -> Result<()> {
        self.fill_repeated(buffer, self.repeated(bits))
    }

    /// The bits of an element, or of its key, repeated over eight bytes.
    pub(super) fn repeated(&self, bits: u64) -> u64 {
        match self.element.size() {
            1 => bits * 0x0101_0101_0101_0101,
            2 => bits * 0x0001_0001_0001_0001,
            4 => bits | bits << 32,
            _ => bits,
        }
    }

    /// Repeats eight bytes over all of a buffer.
    pub(crate) fn fill_repeated(&mut self, buffer: usize, repeated: u64) -> Result<()> {
        for range in self.parts(buffer)? {
            let words = range.size.div_ceil(4);
            let (even, odd) = (repeated as u32, (repeated >> 32) as u32);
            let words_per_thread = self.target.words_per_fill;
            let params = Params { words: words as u32, even, odd, words_per_thread };
            let launch = LaunchDesc {
                purpose: "one value for all elements",
                shader: self.shader(&FILL),
                params: &params,
                sources: vec![],
                results: vec![range],
            };
            self.push(launch, words.div_ceil(words_per_thread.into()))?;
        }
        Ok(())
    }

    /// The parts of a buffer, each of which fits a binding.
    pub(super) fn parts(&self, buffer: usize) -> Result<impl Iterator<Item = Range> + use<>> {
        let (bytes, limits) = (self.size(buffer), self.target.limits);
        let words_fit = limits.max_binding_size.min(1 << 32) / 4;
        let step = words_fit * 4 / limits.alignment * limits.alignment;
        if step == 0 {
            return Err(self.over_binding("a binding of a part of a buffer", 0));
        }
        Ok((0..bytes.div_ceil(step)).map(move |part| {
            let offset = part * step;
            Range { buffer, offset, size: (bytes - offset).min(step) }
        }))
    }
}

/// Bytes that a thread takes at a time: whole pairs of words.
const BYTES: usize = 1 << 18;

fn run(_: &Shader, call: Call<'_, '_>) {
    let params: &Params = call.params();
    let pair = (u64::from(params.odd) << 32 | u64::from(params.even)).to_le_bytes();
    // The last word of a packed tensor may have fewer than four bytes on the host.
    let end = call.results[0].len().min(params.words as usize * 4);
    threads::each_chunk(&mut call.results[0][..end], BYTES, |_, part| {
        let mut pairs = part.chunks_exact_mut(8);
        pairs.by_ref().for_each(|two| two.copy_from_slice(&pair));
        let rest = pairs.into_remainder();
        rest.copy_from_slice(&pair[..rest.len()]);
    });
}
