//! The twin of `shaders/fill.wgsl`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

/// As the shader's `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub words: u32,
    pub even: u32,
    pub odd: u32,
    pub last: u32,
    pub run: u32,
    pub padding: [u32; 3],
}

pub(crate) fn twin(params: &Params, result: &mut [u8]) {
    let words = params.words as usize;
    let last = (words - 1) * 4;
    let (even, odd) = (u64::from(params.even), u64::from(params.odd));
    let pair = (odd << 32 | even).to_le_bytes();
    let (whole, rest) = result.split_at_mut(last);
    whole.par_chunks_mut(SOME).for_each(|part| {
        let mut pairs = part.chunks_exact_mut(8);
        pairs.by_ref().for_each(|two| two.copy_from_slice(&pair));
        let rest = pairs.into_remainder();
        rest.copy_from_slice(&pair[..rest.len()]);
    });
    // The last word of a packed tensor may have fewer than four bytes on the host.
    let bytes = rest.len().min(4);
    rest[..bytes].copy_from_slice(&params.last.to_le_bytes()[..bytes]);
}

/// Bytes that a thread takes at a time: whole pairs of words.
const SOME: usize = 1 << 18;
