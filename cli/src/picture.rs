//! Pictures as tensors: `[H, W]` in gray, `[H, W, C]` otherwise. Elements are the samples of the
//! file; if these have neither 8 nor 16 bits, they are expanded to the element's range.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ColorType, ExtendedColorType, ImageDecoder, ImageEncoder, ImageReader};
use wgmax::io::WholeFile;
use wgmax::{ElementType, Error, Result, Tensor, TensorDesc};

/// Maximum bytes of samples for a byte of a file: deflate expands one byte to at most 1032, and
/// samples of one bit become bytes, with a palette of four.
const MAX_EXPANSION: usize = 32 * 1032;

/// The colours of one to four channels, of 8 and of 16 bits.
const COLORS: [[ExtendedColorType; 2]; 4] = [
    [ExtendedColorType::L8, ExtendedColorType::L16],
    [ExtendedColorType::La8, ExtendedColorType::La16],
    [ExtendedColorType::Rgb8, ExtendedColorType::Rgb16],
    [ExtendedColorType::Rgba8, ExtendedColorType::Rgba16],
];

#[derive(Clone, Copy, PartialEq)]
pub enum Format {
    Png,
    /// Gray.
    Pgm,
    /// RGB.
    Ppm,
}

impl Format {
    /// The format of a file, by its extension; `None` if it is not a picture's. An array of an archive
    /// is no picture, whatever its name.
    pub fn of(spec: &str) -> Option<Self> {
        if matches!(wgmax::io::split(spec), Ok((_, Some(_)))) {
            return None;
        }
        let extension = Path::new(spec).extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "pgm" => Some(Self::Pgm),
            "ppm" => Some(Self::Ppm),
            _ => None,
        }
    }
}

/// Reads a picture: u8, or u16 from more than 8 bits. Palettes are expanded.
///
/// # Errors
/// [`Error::Io`], [`Error::BadFile`], [`Error::OutOfMemory`].
pub fn read(path: &str) -> Result<Tensor> {
    let bytes = fs::read(path).map_err(|source| Error::Io { path: path.to_string(), source })?;
    parse(path, &bytes)
}

/// Whether bytes begin as a picture does, even in a format that is not supported.
pub fn is_begun(bytes: &[u8]) -> bool {
    image::guess_format(bytes).is_ok()
}

/// The picture in bytes, as [`read`]. `path` is for errors.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &str, bytes: &[u8]) -> Result<Tensor> {
    let io = |source| Error::Io { path: path.to_string(), source };
    let bad = |error: &dyn std::fmt::Display| Error::BadFile {
        path: path.to_string(),
        format: "picture",
        reason: error.to_string(),
    };
    // The bytes decide, not the extension.
    let length = bytes.len();
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(io)?;
    if reader.format().is_none() {
        return Err(bad(&"it is neither PNG nor PGM nor PPM"));
    }
    let decoder = reader.into_decoder().map_err(|e| bad(&e))?;
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let element_type = match color {
        ColorType::L8 | ColorType::La8 | ColorType::Rgb8 | ColorType::Rgba8 => ElementType::U8,
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => ElementType::U16,
        other => return Err(bad(&format!("its samples are {other:?}"))),
    };
    let mut shape = vec![height as usize, width as usize];
    if color.channel_count() > 1 {
        shape.push(color.channel_count().into());
    }
    let desc = TensorDesc::new(element_type, shape).map_err(|e| bad(&e))?;
    let size = desc.byte_len();
    // A file may claim any size.
    if size / MAX_EXPANSION > length {
        return Err(bad(&format!("{length} bytes cannot hold {desc}")));
    }
    let mut samples = Vec::new();
    samples.try_reserve_exact(size).map_err(|_| Error::OutOfMemory {
        device: "the CPU".to_string(),
        what: path.to_string(),
    })?;
    samples.resize(size, 0);
    decoder.read_image(&mut samples).map_err(|e| bad(&e))?;
    if element_type == ElementType::U16 {
        // Decoders use the byte order of this machine, tensors have little-endian elements.
        for sample in samples.chunks_exact_mut(2) {
            let bytes = u16::from_ne_bytes([sample[0], sample[1]]).to_le_bytes();
            sample.copy_from_slice(&bytes);
        }
    }
    Tensor::from_bytes(element_type, desc.shape(), &samples)
}

/// The width, the height and the colours of a tensor as a picture.
///
/// # Errors
/// [`Error::Unsupported`] for a tensor that is not a picture, or not one that the format supports.
pub fn check(
    path: &str,
    format: Format,
    desc: &TensorDesc,
) -> Result<((u32, u32), ExtendedColorType)> {
    let refuse = |what: &str| Error::Unsupported {
        path: path.to_string(),
        reason: format!("{desc} is no picture{what}"),
    };
    let deep = match desc.element_type() {
        ElementType::U8 => false,
        ElementType::U16 => true,
        _ => return Err(refuse(": samples are u8 or u16")),
    };
    let (height, width, channels) = match *desc.shape() {
        [h, w] => (h, w, 1),
        [h, w, c] => (h, w, c),
        _ => return Err(refuse(": the axes are [H, W] or [H, W, C]")),
    };
    let color = match (format, channels) {
        (Format::Pgm, 1) | (Format::Ppm, 3) | (Format::Png, 1..=4) => {
            COLORS[channels - 1][usize::from(deep)]
        }
        (Format::Png, _) => return Err(refuse(": PNG has 1 to 4 channels")),
        (Format::Pgm, _) => return Err(refuse(" for PGM, which has one channel")),
        (Format::Ppm, _) => return Err(refuse(" for PPM, which has three channels")),
    };
    let side = |size| u32::try_from(size).ok().filter(|&size| size > 0);
    let (Some(width), Some(height)) = (side(width), side(height)) else {
        return Err(refuse(": both sides are 1 to 4294967295"));
    };
    Ok(((width, height), color))
}

/// The complete file of a picture.
///
/// # Errors
/// As [`check`]; [`Error::Io`].
pub fn stage(path: &str, format: Format, tensor: &Tensor) -> Result<WholeFile> {
    let (size, color) = check(path, format, tensor.desc())?;
    let mut file = WholeFile::create(Path::new(path))?;
    write(&mut file, format, tensor.bytes(), size, color)
        .map_err(|source| Error::Io { path: path.to_string(), source })?;
    Ok(file)
}

fn write(
    file: &mut WholeFile,
    format: Format,
    samples: &[u8],
    (width, height): (u32, u32),
    color: ExtendedColorType,
) -> std::io::Result<()> {
    let deep = matches!(color, ExtendedColorType::L16 | ExtendedColorType::Rgb16);
    match format {
        Format::Png => PngEncoder::new(file)
            .write_image(samples, width, height, color)
            .map_err(std::io::Error::other),
        Format::Pgm | Format::Ppm => {
            let magic = if format == Format::Pgm { "P5" } else { "P6" };
            writeln!(file, "{magic}\n{width} {height}\n{}", if deep { 65535 } else { 255 })?;
            match deep {
                false => file.write_all(samples),
                // The high byte comes first in the format.
                true => samples.chunks_exact(2).try_for_each(|s| file.write_all(&[s[1], s[0]])),
            }
        }
    }
}
