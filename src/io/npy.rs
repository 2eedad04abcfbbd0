//! NumPy's `.npy` format: one array per file.
//!
//! The readers accept the dtypes `f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1` in either byte order, C and
//! Fortran order, and the format versions 1, 2 and 3. NumPy has no bf16. The package `ml_dtypes`
//! saves it as raw items of two bytes, so `V2` is read as bf16, and bf16 is written as `|V2`; load
//! it with `numpy.load(...).view(bfloat16)`. To read bf16 from a file of `u2`, use
//! [`read_as`](super::read_as).

use std::io::{self, Read, Write};
use std::path::Path;

use super::source::{self, SharedBytes, part};
use super::{bad_file, bad_tensor, unsupported};
use crate::base::error::Result;
use crate::base::output::io_error;
use crate::tensor::{ElementType, Tensor, TensorDesc, TensorView, View, zeroed};

pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The maximum length of a header in bytes, which is that of version 1. The header of an array of
/// 64 dimensions, NumPy's maximum, is far shorter.
const MAX_HEADER: usize = u16::MAX as usize;

/// The dtypes without the byte order, in the order of [`ElementType::ALL`].
const DTYPES: [&str; ElementType::ALL.len()] =
    ["f4", "f8", "f2", "V2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1"];

/// Reads the array of a file. It is memory-mapped if it is little-endian and in C order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be read, otherwise as [`parse`].
pub fn read(path: impl AsRef<Path>) -> Result<Tensor> {
    read_view(path)?.to_tensor()
}

/// Reads the array of a file as a view: elements in Fortran order are not moved. It is
/// memory-mapped if it is little-endian.
///
/// # Errors
/// As [`read`].
pub fn read_view(path: impl AsRef<Path>) -> Result<TensorView> {
    let path = path.as_ref();
    parse_view(&path.display().to_string(), source::open(path)?)
}

/// The array in the bytes of a file. The bytes are shared if they are little-endian and in C order.
/// `name` is the name of the file in errors.
///
/// # Errors
/// [`Error::BadFile`](crate::Error::BadFile) if the bytes are not exactly one array,
/// [`Error::Unsupported`](crate::Error::Unsupported) for a dtype that is not an [`ElementType`] and
/// for more axes than a tensor may have, and [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn parse(name: &str, bytes: SharedBytes) -> Result<Tensor> {
    parse_view(name, bytes)?.to_tensor()
}

/// As [`parse`], without moving elements in Fortran order.
fn parse_view(name: &str, bytes: SharedBytes) -> Result<TensorView> {
    let whole = (*bytes).as_ref();
    let mut rest = whole;
    let header = Header::read(name, &mut rest)?;
    let data = part(&bytes, whole.len() - rest.len()..whole.len());
    header.view(name, data.expect("the rest of a slice is inside the slice"))
}

/// Writes a tensor atomically, in format version 1, little-endian and in C order.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if the file cannot be written.
pub fn write(path: impl AsRef<Path>, tensor: &Tensor) -> Result<()> {
    let path = path.as_ref();
    super::write_file(path, |to| encode(to, tensor).map_err(|e| io_error(path, e)))
}

/// Writes the header and the data.
pub(super) fn encode(to: &mut impl Write, tensor: &Tensor) -> io::Result<()> {
    let descr = DTYPES[tensor.element_type() as usize];
    // Single bytes and raw items have no byte order.
    let order = if descr.ends_with('1') || descr.starts_with('V') { '|' } else { '<' };
    let shape = format!("{:?}", tensor.shape());
    let shape = shape.trim_matches(['[', ']']);
    // Without the comma, Python reads a number in parentheses instead of a tuple.
    let comma = if tensor.shape().len() == 1 { "," } else { "" };
    let dictionary = format!(
        "{{'descr': '{order}{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}"
    );
    // Magic, version and length take 10 bytes, the newline 1. The data is aligned to 64 bytes, so
    // that it can be memory-mapped.
    let padded = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let length = u16::try_from(padded)
        .map_err(|_| io::Error::other("too many dimensions for an npy file"))?;
    to.write_all(MAGIC)?;
    to.write_all(&[1, 0])?;
    to.write_all(&length.to_le_bytes())?;
    writeln!(to, "{dictionary:<width$}", width = padded - 1)?;
    to.write_all(tensor.bytes())
}

/// The header of a file.
pub(super) struct Header {
    desc: TensorDesc,
    big_endian: bool,
    fortran_order: bool,
    /// The length of the header in bytes: the offset of the data.
    len: usize,
}

impl Header {
    /// Reads the header and leaves `from` at the data.
    pub(super) fn read(name: &str, from: &mut impl Read) -> Result<Self> {
        let bad = |reason: &str| bad_file(name, "npy", reason);
        let io = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => bad("it ends inside the header"),
            _ => bad(&error.to_string()),
        };
        let mut start = Vec::new();
        from.by_ref().take(8).read_to_end(&mut start).map_err(io)?;
        let magic = &start[..start.len().min(MAGIC.len())];
        if start.is_empty() {
            return Err(bad("it is empty"));
        }
        if !MAGIC.starts_with(magic) {
            return Err(bad("it does not start with \\x93NUMPY"));
        }
        if start.len() < 8 {
            return Err(io(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut take = |bytes: &mut [u8]| from.read_exact(bytes).map_err(io);
        let mut length = [0; 4];
        let width = match (start[6], start[7]) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            (major, minor) => return Err(bad(&format!("unknown version {major}.{minor}"))),
        };
        take(&mut length[..width])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_HEADER {
            return Err(bad(&format!("a header of {length} bytes; at most {MAX_HEADER} are read")));
        }
        let mut text = vec![0; length];
        take(&mut text)?;
        // Versions 1 and 2 are Latin-1, version 3 is UTF-8. They differ only in the names of fields
        // of structured types, which are not supported.
        let text = String::from_utf8_lossy(&text);
        let mut cursor = Cursor(&text);
        let Some((descr, fortran_order, shape)) = cursor.dictionary() else {
            let rest: String = cursor.0.chars().take(40).collect();
            let wanted = "its header is not a dictionary of descr, fortran_order and shape";
            return Err(bad(&format!("{wanted}; reading stopped before {rest:?}")));
        };
        let (element_type, big_endian) = element_type(&descr).ok_or_else(|| {
            let dtype: String = descr.chars().take(80).collect();
            let known = DTYPES.join(", ");
            let reason = format!("arrays of dtype {dtype:?} are not supported; there are {known}");
            unsupported(name, reason)
        })?;
        let desc = TensorDesc::new(element_type, shape).map_err(|e| bad_tensor(name, "npy", e))?;
        let len = start.len() + width + length;
        Ok(Self { desc, big_endian, fortran_order, len })
    }

    /// The length of the file in bytes: header and data.
    pub(super) fn file_len(&self) -> u64 {
        self.len as u64 + self.desc.byte_len() as u64
    }

    /// The tensor with this header and these data, without moving elements in Fortran order.
    pub(super) fn view(self, name: &str, data: SharedBytes) -> Result<TensorView> {
        let bytes = (*data).as_ref();
        let (expected, actual) = (self.desc.byte_len(), bytes.len());
        if actual != expected {
            let reason = format!("{} needs {expected} bytes of data, but has {actual}", self.desc);
            return Err(bad_file(name, "npy", reason));
        }
        self.placed(data).map_err(|e| bad_tensor(name, "npy", e))
    }

    /// `data` must have the length that the shape needs.
    fn placed(self, data: SharedBytes) -> Result<TensorView> {
        let element_type = self.desc.element_type();
        // In Fortran order the first axis is the innermost.
        let mut shape = self.desc.shape().to_vec();
        if self.fortran_order {
            shape.reverse();
        }
        let memory = match self.big_endian {
            true => {
                let bytes = (*data).as_ref();
                let mut words = zeroed(bytes.len().div_ceil(8))?;
                let to = &mut bytemuck::cast_slice_mut(&mut words)[..bytes.len()];
                to.copy_from_slice(bytes);
                to.chunks_exact_mut(element_type.size()).for_each(<[u8]>::reverse);
                Tensor::from_words(TensorDesc::new(element_type, shape)?, words)?
            }
            false => Tensor::from_shared(element_type, shape, data)?,
        };
        let mut view = View::from(memory.desc());
        if self.fortran_order {
            view = view.permute(&(0..view.desc().rank()).rev().collect::<Vec<_>>())?;
        }
        TensorView::new(&memory, view)
    }
}

/// The element type of a dtype, and whether it is big-endian.
fn element_type(descr: &str) -> Option<(ElementType, bool)> {
    let (order, code) = match descr.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|"), code)) => (order, code),
        _ => ("", descr),
    };
    // Some writers use `?` for bool, and NumPy reads it.
    let code = if code == "?" { "b1" } else { code };
    let element_type = ElementType::of(&DTYPES, &code)?;
    let big_endian = order == ">" && element_type.size() > 1;
    // Raw items have no byte order, so a big-endian `V2` is refused.
    (!big_endian || code != "V2").then_some((element_type, big_endian))
}

/// The unread rest of a header, with a parser for the few Python literals it may hold.
///
/// It does not recurse, so a file cannot overflow the stack.
struct Cursor<'a>(&'a str);

impl<'a> Cursor<'a> {
    /// The values of `descr`, `fortran_order` and `shape`. On `None`, the cursor is at the first
    /// text that could not be parsed.
    fn dictionary(&mut self) -> Option<(String, bool, Vec<usize>)> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        if !self.eat("{") {
            return None;
        }
        while !self.eat("}") {
            let before = self.0;
            match self.string().filter(|_| self.eat(":")) {
                Some("descr") => descr = Some(self.descr()?),
                Some("fortran_order") => fortran_order = Some(self.boolean()?),
                Some("shape") => shape = Some(self.shape()?),
                _ => {
                    self.0 = before;
                    return None;
                }
            }
            if !self.eat(",") && !self.0.starts_with('}') {
                return None;
            }
        }
        let all = (descr?, fortran_order?, shape?);
        self.0.trim_start().is_empty().then_some(all)
    }

    /// Skips white space, and then `token`. Whether `token` was there.
    fn eat(&mut self, token: &str) -> bool {
        self.0 = self.0.trim_start();
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = ["'", "\""].into_iter().find(|quote| self.eat(quote))?;
        let (string, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(string)
    }

    /// A dtype: a string, or a list, whose text is kept for the error message.
    fn descr(&mut self) -> Option<String> {
        if !self.eat("[") {
            return self.string().map(str::to_string);
        }
        let (list, rest) = self.0.rsplit_once(']')?;
        self.0 = rest;
        Some(format!("[{list}]"))
    }

    fn boolean(&mut self) -> Option<bool> {
        let found = self.eat("True");
        (found || self.eat("False")).then_some(found)
    }

    fn shape(&mut self) -> Option<Vec<usize>> {
        let mut shape = Vec::new();
        if !self.eat("(") {
            return None;
        }
        while !self.eat(")") {
            let end = self.0.find(|c: char| !c.is_ascii_digit())?;
            let (number, rest) = self.0.split_at(end);
            shape.push(number.parse().ok()?);
            // Python 2 wrote long integers with an L.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.eat(",") && !self.0.starts_with(')') {
                return None;
            }
        }
        Some(shape)
    }
}
