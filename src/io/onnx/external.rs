//! External data: tensors whose elements are in files beside the model.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::numbers::bad;
use super::proto::StringStringEntryProto;
use crate::base::error::Result;
use crate::base::output::io_error;
use crate::io::source::{self, SharedBytes, part};
use crate::io::unsupported;

/// The external files of a model. Each is memory-mapped when the first tensor in it is read.
#[derive(Default)]
pub(super) struct Files {
    /// The folder to which locations are relative; `None` if the model was not read from a file.
    folder: Option<PathBuf>,
    /// The folders in which files may be, with links resolved: the folder of the model and, if the
    /// model is a link, the folder of its target. Model stores link to files with other names.
    roots: Vec<PathBuf>,
    open: Mutex<BTreeMap<PathBuf, SharedBytes>>,
}

impl Files {
    /// The external files of the model at a path.
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

    /// The file of a location.
    pub(super) fn place(&self, location: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(location))
    }

    /// The `needed` bytes of the tensor `name`, at the location in `entries`.
    pub(super) fn bytes(
        &self,
        name: &str,
        entries: &[StringStringEntryProto],
        needed: usize,
    ) -> Result<SharedBytes> {
        let (location, offset, length) = external_data(name, entries)?;
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
        range.and_then(|range| part(&file, range)).ok_or_else(|| {
            let reason = format!(
                "{needed} bytes from byte {offset} of {location:?} are needed, but it has {size}"
            );
            bad(name, reason)
        })
    }

    /// The bytes of a file, which is mapped once.
    fn file(&self, name: &str, location: &str) -> Result<SharedBytes> {
        let Some(folder) = &self.folder else {
            let reason = "the elements are in another file, and there is no folder to look in";
            return Err(unsupported(name, reason));
        };
        let relative = Path::new(location);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(inside) || relative.file_name().is_none() {
            let reason = format!("location {location:?} is not inside the model's folder");
            return Err(bad(name, reason));
        }
        let path = folder.join(relative);
        let real = fs::canonicalize(&path).map_err(|e| io_error(&path, e))?;
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            let reason = format!("location {location:?} leads out of the model's folder");
            return Err(bad(name, reason));
        }
        // Opening a pipe would block until somebody writes to it.
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

/// The location, offset and length in the entries of a tensor's `external_data`. No key may occur twice.
fn external_data<'a>(
    name: &str,
    entries: &'a [StringStringEntryProto],
) -> Result<(&'a str, u64, Option<u64>)> {
    let mut found = [None; 3];
    for entry in entries {
        let key = entry.key.as_deref().unwrap_or_default();
        let Some(index) = ["location", "offset", "length"].iter().position(|&k| k == key) else {
            // Other keys, such as a checksum, are not needed.
            continue;
        };
        if found[index].replace(entry.value.as_deref().unwrap_or_default()).is_some() {
            return Err(bad(name, format!("its external data has two entries {key:?}")));
        }
    }
    let [location, offset, length] = found;
    let number = |key: &str, text: &str| {
        text.parse::<u64>()
            .map_err(|_| bad(name, format!("the {key} of its external data is {text:?}")))
    };
    let location = location.ok_or_else(|| bad(name, "its external data has no location"))?;
    let offset = offset.map_or(Ok(0), |text| number("offset", text))?;
    Ok((location, offset, length.map(|text| number("length", text)).transpose()?))
}
