//! Files of tensors: those of the library, and pictures.

use wgmax::io::WholeFile;
use wgmax::{ElementType, Error, Result, Tensor};

use super::picture::{self, Format};

/// The formats that arguments of inputs accept.
pub const PICTURES: &str = "FILE.png, FILE.pgm, FILE.ppm";

/// Reads as [`wgmax::io::read_as`] does, or a picture: by the extension of a file, by the content
/// of standard input.
pub fn read(spec: &str, element_type: Option<ElementType>) -> Result<Tensor> {
    read_kind(spec, element_type).map(|(tensor, _)| tensor)
}

/// As [`read`], and whether it is a picture.
pub fn read_kind(spec: &str, element_type: Option<ElementType>) -> Result<(Tensor, bool)> {
    let picture = match Format::of(spec) {
        Some(_) => picture::read(spec)?,
        None if spec == "-" => {
            let hint = "only npy, pb and pictures are read here, so give its path";
            let (bytes, name) = (wgmax::io::standard_input(hint)?, "standard input");
            match picture::is_begun((*bytes).as_ref()) {
                true => picture::parse(name, (*bytes).as_ref())?,
                false => {
                    let tensor = wgmax::io::parse(name, bytes)?;
                    return Ok((wgmax::io::as_type(spec, tensor, element_type)?, false));
                }
            }
        }
        None => {
            let tensor = wgmax::io::read_as(spec, element_type);
            return Ok((tensor.map_err(|error| with_models(with_pictures(error)))?, false));
        }
    };
    match element_type.filter(|&wanted| wanted != picture.element_type()) {
        None => Ok((picture, true)),
        Some(wanted) => Err(Error::WrongElementType {
            what: "the picture",
            expected: wanted.to_string(),
            actual: picture.element_type(),
        }),
    }
}

/// Writes each tensor to the file of its spec: all of them, or none. With `force`, archives of
/// several arrays are replaced as a whole.
pub fn write(tensors: &[(&str, &Tensor)], force: bool) -> Result<()> {
    let (mut pictures, mut others) = (Vec::new(), Vec::new());
    for &(spec, tensor) in tensors {
        match Format::of(spec) {
            // If there are several results, only one has elements that a picture can hold.
            Some(format) => pictures.push(picture::stage(spec, format, tensor)?),
            None => others.push((spec, tensor)),
        }
    }
    match force {
        true => wgmax::io::overwrite_all(&others),
        false => wgmax::io::write_all(&others),
    }
    .map_err(with_pictures)?;
    pictures.into_iter().try_for_each(WholeFile::finish)
}

/// The error of a model that should be a tensor, with the command that reads it.
fn with_models(error: Error) -> Error {
    match error {
        Error::Unsupported { path, .. } if path.to_ascii_lowercase().ends_with(".onnx") => {
            let reason = format!("a model; run its nodes with: wgmax onnx {path}");
            Error::Unsupported { path, reason }
        }
        error => error,
    }
}

/// The library's list of formats, with those of pictures.
pub fn with_pictures(error: Error) -> Error {
    match error {
        Error::Unsupported { path, reason }
            if reason.starts_with("unknown kind of tensor file") =>
        {
            Error::Unsupported { path, reason: format!("{reason}; pictures are {PICTURES}") }
        }
        error => error,
    }
}
