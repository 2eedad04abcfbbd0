//! Files of tensors: NumPy's `.npy` and `.npz`, safetensors, and ONNX's `.pb`.
//!
//! [`read`] and [`write()`] take a *spec*: a path whose extension, in upper or lower case, is the
//! format.
//!
//! | spec | tensor |
//! |---|---|
//! | `FILE.npy` | the array in the file |
//! | `FILE.npz:NAME` | one array of an archive; its name may end with `.npy` |
//! | `FILE.safetensors:NAME` | one tensor of the file |
//! | `FILE.pb` | an ONNX `TensorProto` |
//! | `-` | standard input as `.npy`, or as `.pb` if it is not; standard output as `.npy` |
//! | `npy:-`, `pb:-` | standard input or output in this format |
//!
//! `:NAME` may be left out if the file holds exactly one array. When writing, the name is then
//! `output`. The name starts after the last `.npz:` or `.safetensors:`; a path may contain other
//! colons.
//!
//! If a file stores the elements as [`Tensor`] does, they are memory-mapped and not copied. **Do
//! not change a file while a tensor that was read from it exists.** If another process writes to
//! the file, the elements change. If it truncates the file, the process with the tensor is ended by
//! a signal. [`write()`] is safe, also for the file from which the tensor was read: it replaces the
//! file and does not change it in place.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

pub mod case;
pub mod npy;
pub mod npz;
pub mod onnx;
pub mod safetensors;
mod source;

pub use source::SharedBytes;

use self::source::STANDARD_INPUT;
use crate::error::{Error, Result};
use crate::output::{self, Staged, io_error};
use crate::tensor::{ElementType, Tensor};

/// The name of a written array if the spec has none.
const DEFAULT_NAME: &str = "output";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    /// For `-` only: detected when reading, [`Format::Npy`] when writing.
    Any,
    Npy,
    Npz,
    Safetensors,
    Onnx,
}

/// A parsed spec.
#[derive(Debug, PartialEq)]
struct Spec<'a> {
    path: &'a Path,
    format: Format,
    name: Option<&'a str>,
    /// Whether it is standard input or output and not a file.
    standard: bool,
}

impl<'a> Spec<'a> {
    fn parse(spec: &'a str) -> Result<Self> {
        if let Some(format) = standard_format(spec) {
            return Ok(Self { path: Path::new(spec), format, name: None, standard: true });
        }
        // Changing ASCII case keeps all byte offsets.
        let lower = spec.to_ascii_lowercase();
        let split = [(".npz:", Format::Npz), (".safetensors:", Format::Safetensors)]
            .into_iter()
            .filter_map(|(mark, format)| Some((lower.rfind(mark)? + mark.len(), format)))
            .max_by_key(|&(at, _)| at);
        if let Some((at, format)) = split {
            let path = Path::new(&spec[..at - 1]);
            return Ok(Self { path, format, name: Some(&spec[at..]), standard: false });
        }
        let path = Path::new(spec);
        let format = match Path::new(&lower).extension().and_then(|e| e.to_str()) {
            Some("npy") => Format::Npy,
            Some("npz") => Format::Npz,
            Some("safetensors") => Format::Safetensors,
            Some("pb") => Format::Onnx,
            _ => {
                return Err(unsupported(
                    spec,
                    "unknown kind of tensor file; use FILE.npy, FILE.npz:NAME, \
                     FILE.safetensors:NAME, FILE.pb or -",
                ));
            }
        };
        Ok(Self { path, format, name: None, standard: false })
    }
}

/// The format of standard input or output; `None` if the spec is a file.
fn standard_format(spec: &str) -> Option<Format> {
    match spec {
        "-" => Some(Format::Any),
        "npy:-" => Some(Format::Npy),
        "pb:-" => Some(Format::Onnx),
        _ => None,
    }
}

/// Reads the tensor of `spec`; see the [module](self) for specs.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, [`Error::BadFile`] if it does not follow its format,
/// [`Error::Unsupported`] for an unknown extension, an element type that a [`Tensor`] does not
/// have, or a name that is not in the file. The last lists the names in the file.
pub fn read(spec: &str) -> Result<Tensor> {
    let Spec { path, format, name, standard } = Spec::parse(spec)?;
    if standard {
        return read_standard_input(format);
    }
    match format {
        Format::Npy | Format::Any => npy::read(path),
        Format::Npz => npz::read(path, name),
        Format::Safetensors => safetensors::read(path, name),
        Format::Onnx => onnx::read_tensor(path),
    }
}

fn read_standard_input(format: Format) -> Result<Tensor> {
    let bytes = source::standard_input()?;
    let is_npy = (*bytes).as_ref().starts_with(npy::MAGIC);
    match format {
        Format::Onnx => onnx::parse_tensor(STANDARD_INPUT, (*bytes).as_ref()),
        Format::Any if !is_npy => onnx::parse_tensor(STANDARD_INPUT, (*bytes).as_ref()),
        _ => npy::parse(STANDARD_INPUT, bytes),
    }
}

/// As [`read`], with a required element type. `None` accepts every type.
///
/// If the file has unsigned integers of the same width, their bits become the elements. Files store
/// types that their format lacks in this way, such as bf16 as `u16`. Values are not converted.
///
/// # Errors
/// As [`read`], and [`Error::WrongElementType`] if the file has another type that is not an
/// unsigned integer of the same width.
pub fn read_as(spec: &str, element_type: Option<ElementType>) -> Result<Tensor> {
    let tensor = read(spec)?;
    let actual = tensor.element_type();
    let Some(wanted) = element_type.filter(|&t| t != actual) else {
        return Ok(tensor);
    };
    let raw_bits =
        matches!(actual, ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64);
    if !raw_bits || actual.size() != wanted.size() {
        return Err(Error::WrongElementType {
            what: "the array in the file",
            expected: wanted.to_string(),
            actual,
        });
    }
    Tensor::from_shared(wanted, tensor.shape(), Arc::new(Elements(tensor.clone())))
        .map_err(|e| unsupported(spec, format!("the bits are not of {wanted}: {e}")))
}

/// The bytes of a tensor, to be shared with another tensor.
struct Elements(Tensor);

impl AsRef<[u8]> for Elements {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Writes the tensor to the file of `spec`; see the [module](self) for specs.
///
/// The file is written atomically: if an error is returned, an existing file is unchanged. An
/// existing archive is replaced and not extended.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written, [`Error::Unsupported`] for an unknown extension or
/// a name that the format reserves.
pub fn write(spec: &str, tensor: &Tensor) -> Result<()> {
    stage(spec, tensor)?.commit()
}

/// Writes several tensors to one file each, as [`write()`] does.
///
/// All tensors are written to temporary files before any file is replaced. So a full disk, a
/// missing folder or an unknown extension leaves all existing files unchanged.
///
/// # Errors
/// As [`write()`], and [`Error::Unsupported`] if two specs name the same file.
pub fn write_all(tensors: &[(&str, &Tensor)]) -> Result<()> {
    let mut staged: Vec<Staged> = Vec::with_capacity(tensors.len());
    for (spec, tensor) in tensors {
        let file = stage(spec, tensor)?;
        if staged.iter().any(|other| other.collides_with(&file)) {
            return Err(unsupported(spec, "two tensors cannot be written to one file"));
        }
        staged.push(file);
    }
    staged.into_iter().try_for_each(Staged::commit)
}

fn stage(spec: &str, tensor: &Tensor) -> Result<Staged> {
    let Spec { path, format, name, standard } = Spec::parse(spec)?;
    let name = name.unwrap_or(DEFAULT_NAME);
    if standard {
        return match format {
            Format::Onnx => Ok(Staged::Standard(onnx::encode_tensor(tensor))),
            _ => {
                let mut bytes = Vec::new();
                npy::encode(&mut bytes, tensor).map_err(|e| io_error(path, e))?;
                Ok(Staged::Standard(bytes))
            }
        };
    }
    match format {
        Format::Npy | Format::Any => npy::stage(path, tensor),
        Format::Npz => npz::stage(path, name, tensor),
        Format::Safetensors => safetensors::stage(path, name, tensor),
        Format::Onnx => {
            let bytes = onnx::encode_tensor(tensor);
            output::stage(path, |to| std::io::Write::write_all(to, &bytes))
        }
    }
}

/// The index of the array named `wanted`, or of the only array if `wanted` is `None`.
fn pick(path: &str, wanted: Option<&str>, names: &[String]) -> Result<usize> {
    const MAX_SHOWN: usize = 20;
    let found = match wanted {
        Some(wanted) => names.iter().position(|name| name == wanted),
        None if names.len() == 1 => Some(0),
        None => None,
    };
    found.ok_or_else(|| {
        let problem = match wanted {
            Some(wanted) => format!("there is no array {wanted:?}"),
            None => "an array must be named, as FILE:NAME".to_string(),
        };
        // Quoted: names in a file may contain any character, also newlines.
        let mut list: Vec<String> =
            names.iter().take(MAX_SHOWN).map(|n| format!("{n:?}")).collect();
        match names.len() {
            0 => list.push("nothing".to_string()),
            n if n > MAX_SHOWN => list.push(format!("and {} more", n - MAX_SHOWN)),
            _ => {}
        }
        unsupported(path, format!("{problem}; the file holds {}", list.join(", ")))
    })
}

fn bad_file(path: impl Display, format: &'static str, reason: impl Display) -> Error {
    Error::BadFile { path: path.to_string(), format, reason: reason.to_string() }
}

fn unsupported(path: impl Display, reason: impl Display) -> Error {
    Error::Unsupported { path: path.to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_split_after_the_extension() {
        let parts = |spec| {
            let Spec { path, format, name, standard } = Spec::parse(spec).unwrap();
            assert_eq!(standard, spec.ends_with('-'));
            (path.to_str().unwrap(), format, name)
        };
        assert_eq!(parts("run:1/a.npy"), ("run:1/a.npy", Format::Npy, None));
        assert_eq!(parts(r"C:\a.NPZ:x"), (r"C:\a.NPZ", Format::Npz, Some("x")));
        assert_eq!(parts("a.npz:w.npy"), ("a.npz", Format::Npz, Some("w.npy")));
        assert_eq!(parts("a.npz"), ("a.npz", Format::Npz, None));
        assert_eq!(parts("a.npz:x/b.npz:y:z"), ("a.npz:x/b.npz", Format::Npz, Some("y:z")));
        assert_eq!(
            parts("a.npz:b.safetensors:c"),
            ("a.npz:b.safetensors", Format::Safetensors, Some("c"))
        );
        assert_eq!(parts("é.pb"), ("é.pb", Format::Onnx, None));
        assert_eq!(parts("-"), ("-", Format::Any, None));
        assert_eq!(parts("pb:-"), ("pb:-", Format::Onnx, None));
        for spec in ["", "-:", "npz:-", "npy", ".npy", "a.txt", "a.npy:x", "a.npz/b"] {
            let error = Spec::parse(spec).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{spec}");
            assert!(error.to_string().contains("FILE.npz:NAME"), "{error}");
        }
    }

    #[test]
    fn a_long_list_of_names_is_shortened() {
        let names: Vec<String> = (0..25).map(|i| format!("w\n{i}")).collect();
        let line = pick("f.npz", Some("x"), &names).unwrap_err().to_string();
        assert!(line.ends_with(r#""w\n19", and 5 more"#) && !line.contains('\n'), "{line}");
        assert_eq!(pick("f.npz", Some("w\n3"), &names).unwrap(), 3);
        assert!(pick("f.npz", None, &[]).unwrap_err().to_string().ends_with("holds nothing"));
    }
}
