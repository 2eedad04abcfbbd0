//! `shaders/common/join.wgsl`: joins an initial value to each result.

use super::kernel::Views;
use super::{Builder, Call, Kernel, LaunchDesc, Shader};
use crate::base::error::Result;
use crate::base::threads;
use crate::tensor::key::{Key, KeyOrder, Ranking, key_words, with_order};
use crate::wgsl::params;

/// Joins an initial value to each result, in place.
pub(crate) static JOIN: Kernel =
    Kernel::new::<Params>("join", "common/join", run).views(Views::Not);

params! {
    struct Params {
        /// Words of results.
        words: u32,
        /// The bits of the last word that belong to results. The others become 0.
        last_mask: u32,
        /// The key of the initial value, repeated in both words.
        low: u32,
        high: u32,
        ranking: Ranking,
        padding: [u32; 2],
    }
}

impl Builder<'_> {
    /// Joins an element, if there is one, to all elements of a buffer.
    pub(crate) fn join(&mut self, buffer: usize, initial: Option<u64>) -> Result<()> {
        let Some(bits) = initial else { return Ok(()) };
        let [low, high] = key_words(self.element, self.ranking, bits);
        if [low, high] == [0, 0] {
            // Every result has this key or a larger one.
            return Ok(());
        }
        let (low, high) = match self.element.size() {
            1 => (low * 0x0101_0101, low * 0x0101_0101),
            2 => (low * 0x0001_0001, low * 0x0001_0001),
            4 => (low, low),
            _ => (low, high),
        };
        for range in self.parts(buffer)? {
            let words = range.size.div_ceil(4);
            let params = Params {
                words: words as u32,
                last_mask: u32::MAX >> ((words * 4 - range.size) * 8),
                low,
                high,
                ranking: self.ranking,
                padding: [0; 2],
            };
            let launch = LaunchDesc {
                purpose: "the initial value joins each result",
                shader: self.shader(&JOIN),
                params: &params,
                sources: vec![],
                results: vec![range],
            };
            self.push(launch, words.div_ceil(4))?;
        }
        Ok(())
    }
}

/// Elements that a thread takes at a time.
const PART: usize = 1 << 16;

fn run(shader: &Shader, call: Call<'_, '_>) {
    let params: &Params = call.params();
    let bytes = &mut *call.results[0];
    with_order!(shader.element, params.ranking, order => join(order, params, bytes));
}

fn join<O: KeyOrder>(order: O, params: &Params, bytes: &mut [u8]) {
    let initial = O::Key::from_words(params.low, params.high);
    // The last word may have bytes after the results: they become 0, as far as the memory has them.
    let words = params.words as usize * 4;
    let end = words - params.last_mask.leading_zeros() as usize / 8;
    let padded = words.min(bytes.len());
    bytes[end..padded].fill(0);
    let results: &mut [O::Key] = bytemuck::cast_slice_mut(&mut bytes[..end]);
    threads::each_chunk(results, PART, |_, part| {
        part.iter_mut().for_each(|bits| *bits = order.bits(order.key(*bits).max(initial)));
    });
}
