//! Golden cases: an operator, its inputs, and the expected outputs or an expected error.
//!
//! Two layouts are read: folders with a `case.json` and `.npy` files, and the folders of ONNX's
//! node tests, with a `model.onnx` and folders `test_data_set_N`.

mod json;
mod node_test;

pub use json::parse;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use crate::base::error::{Error, Result};
use crate::dialect::Node;
use crate::tensor::Tensor;

const JSON: &str = "case.json";
const MODEL: &str = "model.onnx";
const DATA_SET: &str = "test_data_set_";

/// One operator on one set of inputs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Case {
    /// The name in reports.
    pub id: String,
    /// The operator.
    pub node: Node,
    /// The inputs in the operator's order. An absent optional input is `None`, or left out at the
    /// end.
    pub inputs: Vec<Option<Tensor>>,
    /// The expected result.
    pub expect: Expect,
}

/// The expected result of a [`Case`].
#[derive(Clone, Debug)]
pub enum Expect {
    /// These outputs: all of the operator's outputs, or the first ones.
    Outputs(Vec<Tensor>),
    /// Any error.
    Error,
}

/// The layout of a case folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CaseKind {
    /// `case.json` and `.npy` files.
    Json,
    /// `model.onnx` and `test_data_set_N` folders.
    Onnx,
}

/// A folder with one case, or with several cases of one ONNX model.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseFolder {
    /// The folder.
    pub path: PathBuf,
    /// The layout.
    pub kind: CaseKind,
}

/// Finds the case folders at and below `paths`. They are in the order of `paths`, and below each
/// path in the order of their names. No folder is listed twice.
///
/// A path may also be a `case.json` or a `model.onnx`. Links to folders are not followed below
/// `paths`.
///
/// # Errors
/// [`Error::Io`] for a path that does not exist or a folder that cannot be read,
/// [`Error::Unsupported`] for another file.
pub fn find(paths: &[PathBuf]) -> Result<Vec<CaseFolder>> {
    let mut found = Vec::new();
    for path in paths {
        if fs::metadata(path).map_err(io(path))?.is_dir() {
            find_below(path, &mut found)?;
            continue;
        }
        let kind = match path.file_name().and_then(|name| name.to_str()) {
            Some(JSON) => CaseKind::Json,
            Some(MODEL) => CaseKind::Onnx,
            _ => {
                let reason = format!("a case is a folder, a {JSON} or a {MODEL}");
                return Err(super::unsupported(path.display(), reason));
            }
        };
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        found.push(CaseFolder { path: folder.to_path_buf(), kind });
    }
    let mut seen = BTreeSet::new();
    found.retain(|folder| {
        let path = fs::canonicalize(&folder.path).unwrap_or_else(|_| folder.path.clone());
        seen.insert((path, folder.kind))
    });
    Ok(found)
}

/// Adds the case folders at and below `root`.
fn find_below(root: &Path, found: &mut Vec<CaseFolder>) -> Result<()> {
    let mut pending = vec![root.to_path_buf()];
    while let Some(path) = pending.pop() {
        let mut below = Vec::new();
        let mut data_sets = false;
        for entry in entries(&path)? {
            data_sets |= entry.file_name().as_encoded_bytes().starts_with(DATA_SET.as_bytes());
            // The type of the entry itself: links to folders are not followed.
            if entry.file_type().map_err(io(&entry.path()))?.is_dir() {
                below.push(entry.path());
            }
        }
        below.sort_unstable_by(|a, b| b.cmp(a));
        pending.append(&mut below);
        if path.join(JSON).is_file() {
            found.push(CaseFolder { path: path.clone(), kind: CaseKind::Json });
        }
        if data_sets && path.join(MODEL).is_file() {
            found.push(CaseFolder { path, kind: CaseKind::Onnx });
        }
    }
    Ok(())
}

impl CaseFolder {
    /// Reads the cases of the folder: one for a `case.json`, or one for each data set of an ONNX
    /// model.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::BadFile`], [`Error::Unsupported`]; each names the file.
    pub fn load(&self) -> Result<Vec<Case>> {
        match self.kind {
            CaseKind::Json => Ok(vec![json::load(&self.path)?]),
            CaseKind::Onnx => node_test::load(&self.path),
        }
    }
}

/// The name of a folder, which is the name of its cases.
fn folder_name(path: &Path) -> String {
    // "." and "a/.." must be resolved to get a name.
    let resolved = match path.file_name() {
        Some(_) => path.to_path_buf(),
        None => fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
    };
    let name = resolved.file_name().unwrap_or(resolved.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The entries of a folder.
fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>> {
    fs::read_dir(folder).and_then(Iterator::collect).map_err(io(folder))
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| crate::base::output::io_error(path, source)
}

fn bad(path: &Path, reason: impl Display) -> Error {
    super::bad_file(path.display(), "golden case", reason)
}
