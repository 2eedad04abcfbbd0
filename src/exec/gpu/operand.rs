//! The memory of a recorded operator's inputs and results.

use super::texture::TextureRange;

/// A part of a caller's buffer: it begins at an offset and has the size of the tensor.
#[derive(Clone, Copy, Debug)]
pub struct BufferRange<'a> {
    /// The buffer. Its usage must include `STORAGE`.
    pub buffer: &'a wgpu::Buffer,
    /// The offset of the tensor in bytes: a multiple of the device's
    /// `min_storage_buffer_offset_alignment` and of 16.
    pub offset: u64,
}

impl<'a> BufferRange<'a> {
    /// The part that begins at an offset in bytes.
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64) -> Self {
        Self { buffer, offset }
    }
}

impl<'a> From<&'a wgpu::Buffer> for BufferRange<'a> {
    fn from(buffer: &'a wgpu::Buffer) -> Self {
        Self { buffer, offset: 0 }
    }
}

/// An input or a result of a [`Record`](super::Record).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Operand<'a> {
    /// A range of a buffer.
    Buffer(BufferRange<'a>),
    /// A part of a texture.
    Texture(TextureRange<'a>),
}

macro_rules! operands {
    ($($kind:ident: $($from:ty),*;)*) => {$($(
        impl<'a> From<$from> for Operand<'a> {
            fn from(range: $from) -> Self {
                Self::$kind(range.into())
            }
        }

        impl<'a> From<&$from> for Operand<'a> {
            fn from(range: &$from) -> Self {
                (*range).into()
            }
        }
    )*)*};
}

operands! {
    Buffer: BufferRange<'a>, &'a wgpu::Buffer;
    Texture: TextureRange<'a>, &'a wgpu::Texture;
}
