//! Finding cases in folders.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wgmax::io::case::{CaseFolder, CaseKind, find};
use wgmax::{Error, Result};

use super::assert_unsupported;

/// `b/case`, `a/model` (ONNX), and things that are no case, under one root.
fn forest() -> TempDir {
    let root = TempDir::new().unwrap();
    let file = |path: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    };
    file("b/case/case.json");
    file("b/case/z.npy");
    file("b/case/deeper/case.json");
    file("a/model/model.onnx");
    file("a/model/test_data_set_0/input_0.pb");
    file("a/bare/model.onnx");
    file("a/data/test_data_set_0/input_0.pb");
    file("c/note.txt");
    fs::create_dir_all(root.path().join("d/case.json")).unwrap();
    root
}

fn found(root: &Path, paths: &[&str]) -> Result<Vec<(String, CaseKind)>> {
    let paths: Vec<PathBuf> = paths.iter().map(|p| root.join(p)).collect();
    let relative = |folder: CaseFolder| {
        let path = folder.path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        (path, folder.kind)
    };
    Ok(find(&paths)?.into_iter().map(relative).collect())
}

#[test]
fn cases_are_found_in_order_and_once() {
    use CaseKind::{Json, Onnx};
    let root = forest();
    let found = |paths: &[&str]| found(root.path(), paths).unwrap();
    let pairs = |list: &[(&str, CaseKind)]| -> Vec<(String, CaseKind)> {
        list.iter().map(|(path, kind)| (path.to_string(), *kind)).collect()
    };
    let all = pairs(&[("a/model", Onnx), ("b/case", Json), ("b/case/deeper", Json)]);
    assert_eq!(found(&[""]), all);
    assert_eq!(found(&["", "b", "a/model/model.onnx"]), all);
    let turned = pairs(&[("b/case", Json), ("b/case/deeper", Json), ("a/model", Onnx)]);
    assert_eq!(found(&["b", "a"]), turned);
    assert_eq!(found(&["b/case/case.json"]), pairs(&[("b/case", Json)]));
    assert_eq!(found(&["a/bare/model.onnx"]), pairs(&[("a/bare", Onnx)]));
    assert_eq!(found(&["c", "a/bare", "a/data", "d"]), []);
    assert_eq!(found(&[]), []);
}

#[test]
fn paths_that_lead_to_no_case_are_refused() {
    let root = forest();
    let absent = found(root.path(), &["b", "absent"]);
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("absent")));
    assert_unsupported(found(root.path(), &["c/note.txt"]), "case.json");
}

#[cfg(unix)]
#[test]
fn links_to_folders_are_followed_only_where_they_are_named() {
    use std::os::unix::fs::symlink;
    let root = forest();
    symlink(root.path(), root.path().join("b/loop")).unwrap();
    symlink(root.path().join("a"), root.path().join("b/link")).unwrap();
    symlink("nowhere", root.path().join("b/broken")).unwrap();
    let paths = |list: &[&str]| -> Vec<String> {
        found(root.path(), list).unwrap().into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(paths(&["b"]), ["b/case", "b/case/deeper"]);
    assert_eq!(paths(&["b/link"]), ["b/link/model"]);
    assert_eq!(paths(&["b/link", "a"]), ["b/link/model"]);
    // A file may be a link.
    fs::create_dir(root.path().join("e")).unwrap();
    symlink(root.path().join("b/case/case.json"), root.path().join("e/case.json")).unwrap();
    assert_eq!(paths(&["e"]), ["e"]);
}

/// The cases that come with the sources, if they are present.
#[test]
fn every_case_of_the_sources_loads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    if !root.exists() {
        return;
    }
    let folders = find(&[root]).unwrap();
    assert!(!folders.is_empty());
    for folder in folders {
        let cases = folder.load().unwrap_or_else(|e| panic!("{e}"));
        assert!(!cases.is_empty());
        for case in cases {
            assert!(case.inputs.first().is_some_and(Option::is_some), "{}", case.id);
        }
    }
}
