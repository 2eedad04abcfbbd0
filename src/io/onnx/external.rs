//! Elements that lie in files beside a model.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::proto::StringStringEntryProto;
use crate::error::{Error, Result};
use crate::io::source::{self, SharedBytes, window};
use crate::io::{bad_file, io_error, unsupported};

/// The files beside a model. Each is mapped when the first tensor in it is read.
#[derive(Default)]
pub(super) struct Files {
    /// The folder that locations are relative to; `None` for a model that is no file.
    folder: Option<PathBuf>,
    /// Where files may lie, links resolved. The model's own folder is one; if the
    /// model is a link, so is the folder of what it leads to, as stores of models
    /// keep files under other names.
    roots: Vec<PathBuf>,
    open: Mutex<BTreeMap<PathBuf, SharedBytes>>,
}

/// Where the elements of one tensor lie.
struct Place<'a> {
    location: &'a str,
    offset: u64,
    length: Option<u64>,
}

impl Files {
    /// The files beside `model`.
    pub(super) fn beside(model: &Path) -> Self {
        let parent = |path: &Path| match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let folder = parent(model);
        let real = fs::canonicalize(model).ok().map(|model| parent(&model));
        let roots = fs::canonicalize(&folder).ok().into_iter().chain(real).collect();
        Self { folder: Some(folder), roots, open: Mutex::default() }
    }

    /// The `needed` bytes of the tensor `name`, from where `entries` say.
    pub(super) fn bytes(
        &self,
        name: &str,
        entries: &[StringStringEntryProto],
        needed: usize,
    ) -> Result<SharedBytes> {
        let Place { location, offset, length } = place(name, entries)?;
        if let Some(length) = length.filter(|&length| length != needed as u64) {
            let reason =
                format!("{needed} bytes are needed, but its data has a length of {length}");
            return Err(bad(name, reason));
        }
        let file = self.file(name, location)?;
        let size = (*file).as_ref().len();
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(needed)?))
            .filter(|range| range.end <= size);
        range.and_then(|range| window(&file, range)).ok_or_else(|| {
            let reason = format!(
                "{needed} bytes from byte {offset} of {location:?} are needed, but it has {size}"
            );
            bad(name, reason)
        })
    }

    /// The bytes of a file, mapped once.
    fn file(&self, name: &str, location: &str) -> Result<SharedBytes> {
        let Some(folder) = &self.folder else {
            let reason = "the elements are in another file, and there is no folder to look in";
            return Err(unsupported(name, reason));
        };
        let relative = Path::new(location);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(inside) || relative.file_name().is_none() {
            return Err(bad(
                name,
                format!("location {location:?} is not inside the model's folder"),
            ));
        }
        let path = folder.join(relative);
        let real = fs::canonicalize(&path).map_err(|e| io_error(&path, e))?;
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err(bad(
                name,
                format!("location {location:?} leads out of the model's folder"),
            ));
        }
        // Opening a pipe would wait for somebody to write.
        if !fs::metadata(&real).map_err(|e| io_error(&path, e))?.is_file() {
            return Err(bad(name, format!("location {location:?} is not a regular file")));
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = open.get(&real) {
            return Ok(bytes.clone());
        }
        let bytes = source::open(&path)?;
        open.insert(real, Arc::clone(&bytes));
        Ok(bytes)
    }
}

/// The entries that are read here, each at most once.
fn place<'a>(name: &str, entries: &'a [StringStringEntryProto]) -> Result<Place<'a>> {
    let mut found = [None; 3];
    for entry in entries {
        let key = entry.key.as_deref().unwrap_or_default();
        let Some(slot) = ["location", "offset", "length"].iter().position(|&k| k == key) else {
            // Such as a checksum.
            continue;
        };
        if found[slot].replace(entry.value.as_deref().unwrap_or_default()).is_some() {
            return Err(bad(name, format!("its external data has two entries {key:?}")));
        }
    }
    let [location, offset, length] = found;
    let number = |key: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|_| bad(name, format!("the {key} of its external data is {text:?}")))
    };
    Ok(Place {
        location: location.ok_or_else(|| bad(name, "its external data has no location"))?,
        offset: offset.map_or(Ok(0), |text| number("offset", text))?,
        length: length.map(|text| number("length", text)).transpose()?,
    })
}

fn bad(name: &str, reason: impl Display) -> Error {
    bad_file(name, "ONNX tensor", reason)
}
