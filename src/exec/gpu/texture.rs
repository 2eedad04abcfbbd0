//! Textures as inputs and results of a recorded operator.

use crate::base::error::{Error, Result};
use crate::tensor::{ElementType, TensorDesc, View};

/// Rows of a texture in a buffer begin at multiples of this many bytes.
const ROW: usize = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;

/// A part of a texture: a mip level, and a box of texels in it.
///
/// `From<&wgpu::Texture>` is the whole first mip level.
#[derive(Clone, Copy, Debug)]
pub struct TextureRange<'a> {
    /// The texture. An input needs the usage `COPY_SRC`, a result `COPY_DST`; a result that is only
    /// some channels of the texels needs both, and [`Device::prepare_into`](crate::Device::prepare_into)
    /// if it ends within a word. Depth can only be an input, in whole layers.
    pub texture: &'a wgpu::Texture,
    /// The mip level.
    pub mip_level: u32,
    /// The first texel, and the first array layer or slice.
    pub origin: wgpu::Origin3d,
    /// Texels of a row, rows, and array layers or slices.
    pub size: wgpu::Extent3d,
}

impl<'a> TextureRange<'a> {
    /// All of a mip level.
    pub fn mip_level(texture: &'a wgpu::Texture, mip_level: u32) -> Self {
        // No texture has more levels; a shift by more bits would panic.
        let size = texture.size().mip_level_size(mip_level.min(31), texture.dimension());
        Self { texture, mip_level, origin: wgpu::Origin3d::ZERO, size }
    }
}

impl<'a> From<&'a wgpu::Texture> for TextureRange<'a> {
    fn from(texture: &'a wgpu::Texture) -> Self {
        Self::mip_level(texture, 0)
    }
}

/// The element type of a texture's channels, and how many there are.
fn channels(format: wgpu::TextureFormat) -> Option<(ElementType, usize)> {
    use wgpu::TextureFormat as Format;
    Some(match format {
        Format::R8Unorm | Format::R8Uint => (ElementType::U8, 1),
        Format::R8Snorm | Format::R8Sint => (ElementType::I8, 1),
        Format::Rg8Unorm | Format::Rg8Uint => (ElementType::U8, 2),
        Format::Rg8Snorm | Format::Rg8Sint => (ElementType::I8, 2),
        Format::Rgba8Unorm
        | Format::Rgba8UnormSrgb
        | Format::Rgba8Uint
        | Format::Bgra8Unorm
        | Format::Bgra8UnormSrgb => (ElementType::U8, 4),
        Format::Rgba8Snorm | Format::Rgba8Sint => (ElementType::I8, 4),
        Format::R16Unorm | Format::R16Uint | Format::Depth16Unorm => (ElementType::U16, 1),
        Format::R16Snorm | Format::R16Sint => (ElementType::I16, 1),
        Format::R16Float => (ElementType::F16, 1),
        Format::Rg16Unorm | Format::Rg16Uint => (ElementType::U16, 2),
        Format::Rg16Snorm | Format::Rg16Sint => (ElementType::I16, 2),
        Format::Rg16Float => (ElementType::F16, 2),
        Format::Rgba16Unorm | Format::Rgba16Uint => (ElementType::U16, 4),
        Format::Rgba16Snorm | Format::Rgba16Sint => (ElementType::I16, 4),
        Format::Rgba16Float => (ElementType::F16, 4),
        Format::R32Uint => (ElementType::U32, 1),
        Format::R32Sint => (ElementType::I32, 1),
        Format::R32Float | Format::Depth32Float => (ElementType::F32, 1),
        Format::Rg32Uint => (ElementType::U32, 2),
        Format::Rg32Sint => (ElementType::I32, 2),
        Format::Rg32Float => (ElementType::F32, 2),
        Format::Rgba32Uint => (ElementType::U32, 4),
        Format::Rgba32Sint => (ElementType::I32, 4),
        Format::Rgba32Float => (ElementType::F32, 4),
        _ => return None,
    })
}

/// The tensor of a part of a texture, as a view of the buffer that the texture is copied to:
/// [layers, rows, texels, channels], with rows padded to 256 bytes. A 2-D pooling with channels
/// last accepts it directly; [`View::slice`] and [`View::permute`] derive other tensors.
///
/// Elements are the bits of the channels: unsigned integers for `Unorm` and `Uint`, signed ones for
/// `Snorm` and `Sint`, floats for `Float` and depth. They have the order of the values.
///
/// # Errors
/// [`Error::TextureFormat`] unless texels are whole channels of one element type (8, 16 or 32 bits);
/// [`Error::ShapeOverflow`], [`Error::BadView`] for sizes that do not fit memory.
pub fn texture_view(format: wgpu::TextureFormat, size: wgpu::Extent3d) -> Result<View> {
    let (element, channels) =
        channels(format).ok_or_else(|| Error::TextureFormat { format: format!("{format:?}") })?;
    let [layers, rows] = [size.depth_or_array_layers, size.height].map(|size| size as usize);
    let desc = TensorDesc::new(element, [layers, rows, size.width as usize, channels])?;
    let pitch = row_pitch(size.width as usize * channels, element.size());
    let layer = pitch.checked_mul(rows).and_then(|layer| isize::try_from(layer).ok());
    // A view with such a pitch is refused.
    let layer = layer.unwrap_or(isize::MAX);
    View::new(desc, 0, [layer, pitch as isize, channels as isize, 1])
}

/// The elements, of `item` bytes, from one row of a buffer to the next.
fn row_pitch(row: usize, item: usize) -> usize {
    (row * item).max(1).next_multiple_of(ROW) / item
}

/// A part of a texture and the buffer that it is copied to or from.
pub(super) struct TextureCopy<'a> {
    pub range: TextureRange<'a>,
    pub buffer: wgpu::Buffer,
    pub staged: Staged,
    pub is_result: bool,
}

impl TextureCopy<'_> {
    /// Records the copy to the buffer, if there is one.
    pub(super) fn load(&self, encoder: &mut wgpu::CommandEncoder) {
        // If a result has only some channels of the texels, the others must be kept.
        if !self.is_result || !self.staged.whole {
            encoder.copy_texture_to_buffer(self.texture(), self.buffer(), self.range.size);
        }
    }

    /// Records the copy to the texture, if there is one.
    pub(super) fn store(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.is_result {
            encoder.copy_buffer_to_texture(self.buffer(), self.texture(), self.range.size);
        }
    }

    fn texture(&self) -> wgpu::TexelCopyTextureInfo<'_> {
        let TextureRange { texture, mip_level, origin, .. } = self.range;
        let aspect = wgpu::TextureAspect::All;
        wgpu::TexelCopyTextureInfo { texture, mip_level, origin, aspect }
    }

    fn buffer(&self) -> wgpu::TexelCopyBufferInfo<'_> {
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(self.staged.row_bytes),
            rows_per_image: Some(self.range.size.height),
        };
        wgpu::TexelCopyBufferInfo { buffer: &self.buffer, layout }
    }
}

/// The layout of a part of a texture in a buffer.
pub(super) struct Staged {
    /// Bytes from one row to the next.
    pub row_bytes: u32,
    /// Bytes of the texels of a row.
    texel_bytes: usize,
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Whether a tensor has each element of the texels.
    pub whole: bool,
}

impl TextureRange<'_> {
    /// Whether two parts share a texel.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let mut axes = self.axes().into_iter().zip(other.axes());
        self.texture == other.texture
            && self.mip_level == other.mip_level
            && axes.all(|((a, a_size), (b, b_size))| {
                a.max(b) < a.saturating_add(a_size).min(b.saturating_add(b_size))
            })
    }

    /// The first texel and the size of this part along each axis.
    fn axes(&self) -> [(u32, u32); 3] {
        let (at, size) = (self.origin, self.size);
        [(at.x, size.width), (at.y, size.height), (at.z, size.depth_or_array_layers)]
    }

    /// The layout of this part in a buffer, for a tensor that was prepared with a view.
    ///
    /// # Errors
    /// The reason, as a sentence, why the part cannot hold the tensor.
    pub(super) fn staged(&self, view: &View, is_result: bool) -> Result<Staged, String> {
        let format = self.texture.format();
        let copied = texture_view(format, self.size).map_err(|error| error.to_string())?;
        let (wanted, element) = (view.desc().element_type(), copied.desc().element_type());
        if wanted != element {
            return Err(format!("the elements of {format:?} are {element}, not {wanted}"));
        }
        let level = Self::mip_level(self.texture, self.mip_level);
        let mut axes = self.axes().into_iter().zip(level.axes());
        if self.mip_level >= self.texture.mip_level_count()
            || !axes
                .all(|((at, size), (_, all))| at.checked_add(size).is_some_and(|end| end <= all))
        {
            return Err("the texture has no such mip level or texels".to_string());
        }
        if format.is_depth_stencil_format() {
            let (size, wgpu::Origin3d { x, y, .. }) = (self.size, self.origin);
            if is_result {
                return Err("depth cannot be written by a copy".to_string());
            }
            if (x, y, size.width, size.height) != (0, 0, level.size.width, level.size.height) {
                return Err("depth is copied by whole layers".to_string());
            }
        }
        let rows = self.size.height as usize * self.size.depth_or_array_layers as usize;
        let row = copied.desc().shape()[2..].iter().product();
        let pitch = row_pitch(row, element.size());
        if !lies_in_rows(view, pitch as isize, row, rows) {
            return Err(format!(
                "{view} is not {rows} rows of {row} elements, {pitch} apart, as texels are"
            ));
        }
        let row_bytes = pitch * element.size();
        let whole = view.desc().len() == copied.desc().len();
        let needed = match is_result {
            false => wgpu::TextureUsages::COPY_SRC,
            true if whole => wgpu::TextureUsages::COPY_DST,
            true => wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
        };
        if !self.texture.usage().contains(needed) {
            return Err(format!("the texture needs the usage {needed:?}"));
        }
        if self.texture.sample_count() > 1 {
            return Err("texels of several samples cannot be copied".to_string());
        }
        let texel_bytes = row * element.size();
        let bytes = (row_bytes * rows) as u64;
        Ok(Staged { row_bytes: row_bytes as u32, texel_bytes, bytes, whole })
    }
}

impl Staged {
    /// Whether a byte belongs to a texel, and not to the padding of a row.
    pub fn is_texel(&self, byte: usize) -> bool {
        byte % (self.row_bytes as usize) < self.texel_bytes
    }
}

/// Whether all elements of a view are within `len` elements of one of `rows` rows, `pitch` apart.
fn lies_in_rows(view: &View, pitch: isize, len: usize, rows: usize) -> bool {
    if view.desc().is_empty() {
        return true;
    }
    if pitch == len as isize {
        return view.byte_len() / view.desc().element_type().size() <= rows * len;
    }
    let offset = view.offset() as isize;
    let (mut row, mut column) = ([offset / pitch; 2], [offset % pitch; 2]);
    for (&size, step) in view.desc().shape().iter().zip(view.pitches()) {
        for (range, step) in [(&mut row, step / pitch), (&mut column, step % pitch)] {
            let reach = step.saturating_mul(size as isize - 1);
            let end = usize::from(reach > 0);
            range[end] = range[end].saturating_add(reach);
        }
    }
    row[0] >= 0 && row[1] < rows as isize && column[0] >= 0 && column[1] < len as isize
}
