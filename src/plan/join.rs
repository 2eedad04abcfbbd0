//! `shaders/common/join.wgsl`: joins an initial value to each result.

use super::kernel::Views;
use super::{Builder, Call, Kernel, LaunchDesc, Shader};
use crate::base::error::Result;
use crate::base::threads;
use crate::tensor::key::{Key, KeyOrder, Ranking, key_words, with_order};
use crate::wgsl::params;

/// Joins an initial value to each result, in place.
pub(crate) static JOIN: Kernel =
    Kernel::new::<Params>("join", "common/join", run).views(Views::Not).updates();

params! {
    struct Params {
        /// Words of results.
        words: u32,
        /// The key of the initial value, repeated in both words.
        low: u32,
        high: u32,
        ranking: Ranking,
        padding: [u32; 3],
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
        let key = self.repeated(u64::from(high) << 32 | u64::from(low));
        for range in self.parts(buffer)? {
            let words = range.size.div_ceil(4);
            let params = Params {
                words: words as u32,
                low: key as u32,
                high: (key >> 32) as u32,
                ranking: self.ranking,
                padding: [0; 3],
            };
            let launch = LaunchDesc {
                purpose: "each result joined with the initial value",
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
const ELEMENTS: usize = 1 << 16;

fn run(shader: &Shader, call: Call<'_, '_>) {
    let params: &Params = call.params();
    let bytes = &mut *call.results[0];
    with_order!(shader.element, params.ranking, order => join(order, params, bytes));
}

fn join<O: KeyOrder>(order: O, params: &Params, bytes: &mut [u8]) {
    let initial = O::Key::from_words(params.low, params.high);
    let end = bytes.len().min(params.words as usize * 4);
    let results: &mut [O::Key] = bytemuck::cast_slice_mut(&mut bytes[..end]);
    threads::each_chunk(results, ELEMENTS, |_, part| {
        part.iter_mut().for_each(|bits| *bits = order.bits(order.key(*bits).max(initial)));
    });
}
