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
//! `:NAME` may be omitted if the file holds exactly one array. The name starts after the last
//! `.npz:` or `.safetensors:`; a path may contain other colons.
//!
//! Writing to `FILE:NAME` adds the array to an existing archive, or replaces the array of this
//! name; everything else in the archive is kept. Without `:NAME`, the whole file is replaced, and
//! the name is `output`. Then an archive with more than one member, array or not, is refused, and
//! so is one that cannot be read; [`overwrite_all`] replaces both.
//!
//! If another thread or process writes to the archive at the same time, the second to finish gets
//! an [`Error::Io`], and the archive of the first stays. Only if both finish at the same moment may
//! an array be lost.
//!
//! Regular files are replaced whole or not at all, through symbolic links, and keep their mode;
//! other hard links keep the old file. Devices and pipes are written to. If the folder allows no
//! new file, an existing file is overwritten in place, after its new content is complete. Files are
//! not synchronised with the disk: a loss of power soon afterwards may truncate them.
//!
//! If a file stores elements in the layout of [`Tensor`], they are memory-mapped and not copied.
//! **Do not change a file while a tensor that was read from it exists.** If another process writes
//! to the file, the elements change. If it truncates the file, a signal ends the process with the
//! tensor. [`write()`] is safe, even for the file from which the tensor was read: it replaces the
//! file.

use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub mod case;
pub mod npy;
pub mod npz;
pub mod onnx;
pub mod safetensors;
mod source;

pub use source::SharedBytes;

/// For the reports of the command, which are written like tensors.
#[doc(hidden)]
pub use crate::base::output::{WholeFile, remove_temporary_files, resolve};

use self::source::STANDARD_INPUT;
use crate::base::error::{Error, Result};
use crate::base::output::io_error;
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
        let standard = match spec {
            "-" => Some(Format::Any),
            "npy:-" => Some(Format::Npy),
            "pb:-" => Some(Format::Onnx),
            _ => None,
        };
        if let Some(format) = standard {
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
            _ if path.is_dir() => {
                return Err(io_error(path, std::io::Error::other("it is a folder")));
            }
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

    /// Whether the file may hold several arrays, with names.
    fn is_archive(&self) -> bool {
        matches!(self.format, Format::Npz | Format::Safetensors)
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
        let bytes = standard_input("only npy and pb are read here, so give its path")?;
        return match format {
            Format::Any => parse(STANDARD_INPUT, bytes),
            Format::Onnx => onnx::parse_shared(STANDARD_INPUT, bytes),
            _ => npy::parse(STANDARD_INPUT, bytes),
        };
    }
    match format {
        Format::Npy | Format::Any => npy::read(path),
        Format::Npz => npz::read(path, name),
        Format::Safetensors => safetensors::read(path, name),
        Format::Onnx => onnx::read_tensor(path),
    }
}

/// The tensor in bytes of an unknown format: `.npy`, or else `.pb`. `path` is for errors.
///
/// # Errors
/// [`Error::BadFile`], [`Error::Unsupported`], [`Error::OutOfMemory`].
#[doc(hidden)]
pub fn parse(path: &str, bytes: SharedBytes) -> Result<Tensor> {
    match (*bytes).as_ref().starts_with(npy::MAGIC) {
        true => npy::parse(path, bytes),
        false => onnx::parse_shared(path, bytes),
    }
}

/// All of standard input. Empty input and archives are refused; `hint` says what is accepted.
///
/// # Errors
/// [`Error::Io`], [`Error::OutOfMemory`], [`Error::Unsupported`].
#[doc(hidden)]
pub fn standard_input(hint: &str) -> Result<SharedBytes> {
    let bytes = source::standard_input()?;
    let whole = (*bytes).as_ref();
    if whole.is_empty() {
        return Err(unsupported(STANDARD_INPUT, "it is empty"));
    }
    // An archive is refused, whatever format is expected.
    match archive(whole) {
        Some(archive) => Err(unsupported(STANDARD_INPUT, format!("it is {archive}; {hint}"))),
        None => Ok(bytes),
    }
}

/// The kind of archive that the first bytes show. The end may be missing.
fn archive(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some("an npz archive"),
        _ if safetensors::is_begun(bytes) => Some("a safetensors file"),
        _ => None,
    }
}

/// As [`read`], with a required element type. `None` accepts every type.
///
/// If the file has unsigned integers of the same width, their bits become the elements. Formats
/// that lack a type, such as bf16, store it this way. Values are not converted.
///
/// # Errors
/// As [`read`], and [`Error::WrongElementType`] if the file has another type that is not an
/// unsigned integer of the same width.
pub fn read_as(spec: &str, element_type: Option<ElementType>) -> Result<Tensor> {
    as_type(spec, read(spec)?, element_type)
}

/// As [`read_as`], for a tensor that has been read from `spec`.
///
/// # Errors
/// As [`read_as`].
#[doc(hidden)]
pub fn as_type(spec: &str, tensor: Tensor, element_type: Option<ElementType>) -> Result<Tensor> {
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
    Tensor::from_shared(wanted, tensor.shape(), Arc::new(Elements(tensor.clone()))).map_err(|e| {
        match e {
            Error::OutOfMemory { .. } => e,
            e => unsupported(spec, format!("the bits are not valid {wanted}: {e}")),
        }
    })
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
/// The file is written atomically: if an error is returned, an existing file is unchanged.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written, [`Error::Unsupported`] for an unknown extension, a
/// name that the format reserves, and a spec without a name if the archive has several arrays,
/// [`Error::BadFile`] if an array should be added to a file that does not follow its format.
pub fn write(spec: &str, tensor: &Tensor) -> Result<()> {
    write_all(&[(spec, tensor)])
}

/// Writes several tensors, as [`write()`] does. Several may go to one archive, under their names.
///
/// All files are complete before the first existing one is replaced. So a full disk, a missing
/// folder or an unknown extension leaves all existing files unchanged.
///
/// # Errors
/// As [`write()`], and [`Error::Unsupported`] if two specs name the same array, or the same file
/// that is not an archive.
pub fn write_all(tensors: &[(&str, &Tensor)]) -> Result<()> {
    put(tensors, false)
}

/// As [`write_all`], but a spec without a name replaces an archive, whatever it holds, even if it
/// cannot be read.
///
/// # Errors
/// As [`write_all`].
pub fn overwrite_all(tensors: &[(&str, &Tensor)]) -> Result<()> {
    put(tensors, true)
}

/// Checks that tensors can be written to these specs, as far as that is known without the tensors:
/// the command calls it before it computes them. `force` is [`overwrite_all`]'s.
///
/// # Errors
/// As [`write_all`].
#[doc(hidden)]
pub fn check_writable(specs: &[&str], force: bool) -> Result<()> {
    group(specs)?.iter().try_for_each(|output| output.open(force).map(drop))
}

/// The path of a spec, `None` for standard input or output, and the name of its array.
///
/// # Errors
/// [`Error::Unsupported`] for an unknown extension.
#[doc(hidden)]
pub fn split(spec: &str) -> Result<(Option<&Path>, Option<&str>)> {
    let Spec { path, name, standard, .. } = Spec::parse(spec)?;
    Ok(((!standard).then_some(path), name))
}

/// A tensor and its name in an archive.
type Named<'a> = (&'a str, &'a Tensor);

/// The tensors of one file.
struct Output<'a> {
    spec: Spec<'a>,
    /// The path with links resolved; `None` for standard output.
    target: Option<PathBuf>,
    /// The name of each tensor, and its number in the list.
    tensors: Vec<(&'a str, usize)>,
    /// Whether all tensors have names, so that other arrays in the file are kept.
    keep: bool,
}

fn put(tensors: &[(&str, &Tensor)], force: bool) -> Result<()> {
    let specs: Vec<&str> = tensors.iter().map(|&(spec, _)| spec).collect();
    let outputs = group(&specs)?;
    let stage = |output: &Output<'_>| output.stage(tensors, force);
    let files = outputs.iter().map(stage).collect::<Result<Vec<_>>>()?;
    files.into_iter().try_for_each(WholeFile::finish)
}

/// The files that specs name.
fn group<'a>(specs: &[&'a str]) -> Result<Vec<Output<'a>>> {
    let mut outputs: Vec<Output<'_>> = Vec::new();
    for (number, &text) in specs.iter().enumerate() {
        let spec = Spec::parse(text)?;
        let target = (!spec.standard).then(|| resolve(spec.path));
        let name = spec.name.unwrap_or(DEFAULT_NAME);
        if name.is_empty() {
            let reason = "the name of the array is missing after the colon";
            return Err(unsupported(spec.path.display(), reason));
        }
        let keep = spec.name.is_some();
        match outputs.iter_mut().find(|output| output.target == target) {
            Some(output) if output.takes(&spec, name) => {
                output.tensors.push((name, number));
                output.keep &= keep;
            }
            Some(_) => return Err(unsupported(text, "two tensors cannot be written to one file")),
            None => outputs.push(Output { spec, target, tensors: vec![(name, number)], keep }),
        }
    }
    Ok(outputs)
}

impl Output<'_> {
    /// Whether the file can hold another tensor, with this name.
    fn takes(&self, spec: &Spec<'_>, name: &str) -> bool {
        let same = |&(other, _): &(&str, usize)| match spec.format {
            Format::Npz => npz::stem(other, &[]) == npz::stem(name, &[]),
            _ => other == name,
        };
        spec.format == self.spec.format && spec.is_archive() && !self.tensors.iter().any(same)
    }

    /// Opens the file, or refuses to write it.
    fn open(&self, force: bool) -> Result<WholeFile> {
        let Spec { path, standard, .. } = self.spec;
        let file = match standard {
            true => WholeFile::standard_output(),
            false => WholeFile::create(path)?,
        };
        if file.is_terminal() {
            let error = std::io::Error::other("it is a terminal, and a tensor is not text");
            return Err(io_error(file.path(), error));
        }
        if !self.keep && !force && self.spec.is_archive() {
            self.check_lost(&file)?;
        }
        Ok(file)
    }

    /// The file with all its content.
    fn stage(&self, tensors: &[(&str, &Tensor)], force: bool) -> Result<WholeFile> {
        let Spec { path, format, .. } = self.spec;
        let mut file = self.open(force)?;
        let named = |&(name, number): &(_, usize)| (name, tensors[number].1);
        let named: Vec<Named<'_>> = self.tensors.iter().map(named).collect();
        let (_, tensor) = named[0];
        let encoded = match format {
            Format::Npz => return npz::encode(&mut file, &named, self.keep).map(|()| file),
            Format::Safetensors => {
                return safetensors::encode(&mut file, &named, self.keep).map(|()| file);
            }
            Format::Npy | Format::Any => npy::encode(&mut file, tensor),
            Format::Onnx => onnx::encode(&mut file, tensor),
        };
        encoded.map_err(|e| io_error(path, e))?;
        Ok(file)
    }

    /// Refuses to replace an archive of several members as a whole, or one that cannot be read,
    /// whose members are unknown. A file that is not an archive may be replaced.
    fn check_lost(&self, file: &WholeFile) -> Result<()> {
        let Some(old) = file.old() else { return Ok(()) };
        let bytes = source::open(old)?;
        let (name, whole) = (self.spec.path.display().to_string(), (*bytes).as_ref());
        let (members, what) = match self.spec.format {
            Format::Npz => (npz::count(&name, whole), "members"),
            _ => (safetensors::count(&name, whole), "tensors"),
        };
        match members {
            Ok(0 | 1) => Ok(()),
            Ok(members) => {
                let advice = "name the array to write, as FILE:NAME";
                let reason = format!("it holds {members} {what}, which would be lost; {advice}");
                Err(unsupported(name, reason))
            }
            Err(Error::BadFile { reason, .. } | Error::Unsupported { reason, .. }) => {
                let Some(archive) = archive(whole) else { return Ok(()) };
                let lost = "what it holds would be lost; remove it first";
                let reason = format!("it is {archive} that cannot be read ({reason}); {lost}");
                Err(unsupported(name, reason))
            }
            Err(error) => Err(error),
        }
    }
}

/// Writes a file with the content that `fill` writes to it.
fn write_file(path: &Path, fill: impl FnOnce(&mut WholeFile) -> Result<()>) -> Result<()> {
    let mut file = WholeFile::create(path)?;
    fill(&mut file)?;
    file.finish()
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
        let held = list_names(names, MAX_SHOWN, "nothing");
        unsupported(path, format!("{problem}; the file holds {held}"))
    })
}

/// The first `max` names, for messages; `none` if there are none. They are quoted: names in a file
/// may contain any character, also newlines.
#[doc(hidden)]
pub fn list_names(names: &[impl Debug], max: usize, none: &str) -> String {
    let mut shown: Vec<String> = names.iter().take(max).map(|n| format!("{n:?}")).collect();
    match names.len() {
        0 => shown.push(none.to_string()),
        n if n > max => shown.push(format!("and {} more", n - max)),
        _ => {}
    }
    shown.join(", ")
}

fn bad_file(path: impl Display, format: &'static str, reason: impl Display) -> Error {
    Error::BadFile { path: path.to_string(), format, reason: reason.to_string() }
}

/// The error of a file with an invalid tensor.
fn bad_tensor(path: impl Display, format: &'static str, error: Error) -> Error {
    match error {
        Error::OutOfMemory { .. } => error,
        Error::TooManyAxes { .. } => unsupported(path, error),
        _ => bad_file(path, format, error),
    }
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
