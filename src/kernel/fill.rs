//! The twin of `shaders/fill.wgsl`.

use bytemuck::{Pod, Zeroable};

/// As the shader's `Params`, field for field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Params {
    pub words: u32,
    pub even: u32,
    pub odd: u32,
    pub last: u32,
}

pub(crate) fn twin(params: &Params, result: &mut [u8]) {
    for (i, bytes) in result.chunks_mut(4).take(params.words as usize).enumerate() {
        let value = match i + 1 == params.words as usize {
            true => params.last,
            false if i % 2 == 1 => params.odd,
            false => params.even,
        };
        // The last word of a packed tensor may have fewer than four bytes on the host.
        bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
    }
}
