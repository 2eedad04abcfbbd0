//! Elements in files beside a model.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wgmax::io::onnx::{parse_model, parse_tensor, read_model, read_tensor};
use wgmax::{Error, Result, Tensor};

use super::{assert_bad, assert_unsupported};
use crate::common::onnx::{Model, external, int, len, value};

const F32: i64 = 1;
const U8: i64 = 2;

/// A folder with `w.bin`, the bytes 0 to 99, and a folder beside it with the same.
fn folder() -> (TempDir, PathBuf) {
    let root = TempDir::new().unwrap();
    let model = root.path().join("model");
    let bytes: Vec<u8> = (0..100).collect();
    for folder in [&model, &root.path().join("other")] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("w.bin"), &bytes).unwrap();
    }
    (root, model)
}

fn read(folder: &Path, bytes: &[u8]) -> Result<Tensor> {
    let path = folder.join("t.pb");
    fs::write(&path, bytes).unwrap();
    read_tensor(&path)
}

#[test]
fn elements_are_read_at_their_offsets() {
    let (_root, model) = folder();
    let read = |dims: &[i64], entries: &[(&str, &str)]| {
        read(&model, &external(dims, U8, entries)).unwrap().bytes().to_vec()
    };
    let all: Vec<u8> = (0..100).collect();
    let place = ("location", "w.bin");
    assert_eq!(read(&[100], &[place]), all);
    assert_eq!(read(&[2], &[place]), [0, 1]);
    // An offset that is no multiple of 8, and one that is.
    assert_eq!(read(&[1, 3], &[place, ("offset", "7"), ("length", "3")]), [7, 8, 9]);
    assert_eq!(read(&[2], &[("length", "2"), ("offset", "96"), place]), [96, 97]);
    assert_eq!(read(&[0], &[place, ("offset", "100")]), [0u8; 0]);
    assert_eq!(read(&[1], &[("location", "./w.bin"), ("checksum", "?")]), [0]);
    fs::create_dir(model.join("sub")).unwrap();
    fs::copy(model.join("w.bin"), model.join("sub/v.bin")).unwrap();
    assert_eq!(read(&[1], &[("location", "sub/v.bin"), ("offset", "5")]), [5]);
}

#[test]
fn floats_come_from_any_offset() {
    let (_root, model) = folder();
    for offset in [0usize, 1, 8, 96] {
        let entries = [("location", "w.bin"), ("offset", &offset.to_string())];
        let found = read(&model, &external(&[1], F32, &entries)).unwrap();
        let bytes: Vec<u8> = (offset as u8..offset as u8 + 4).collect();
        assert_eq!(found.bytes(), bytes);
        found.as_slice::<f32>().unwrap();
    }
}

#[test]
fn no_file_outside_the_folder_is_opened() {
    let (root, model) = folder();
    let absolute = root.path().join("other/w.bin");
    let refused = |location: &str, reason: &str| {
        let tensor = external(&[1], U8, &[("location", location)]);
        assert_bad(read(&model, &tensor), "t.pb", reason);
    };
    for location in [
        "../other/w.bin",
        "../model/w.bin",
        "x/../../other/w.bin",
        "..",
        "",
        ".",
        "/",
        "/etc/passwd",
    ] {
        refused(location, "not inside the model's folder");
    }
    refused(absolute.to_str().unwrap(), "not inside the model's folder");
    fs::create_dir(model.join("sub")).unwrap();
    refused("sub", "not a regular file");
    let absent = read(&model, &external(&[1], U8, &[("location", "absent")]));
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("absent")));
    let unnamed = read(&model, &external(&[1], U8, &[]));
    assert_bad(unnamed, "t.pb", "no location");
    let nowhere = parse_tensor("t.pb", &external(&[1], U8, &[("location", "w.bin")]));
    assert_unsupported(nowhere, "no folder to look in");
}

#[cfg(unix)]
#[test]
fn links_may_not_lead_out_unless_the_model_itself_is_one() {
    use std::os::unix::fs::symlink;
    let (root, model) = folder();
    symlink(root.path().join("other/w.bin"), model.join("link")).unwrap();
    symlink("w.bin", model.join("near")).unwrap();
    let tensor = |location: &str| external(&[1], U8, &[("location", location)]);
    assert_bad(read(&model, &tensor("link")), "t.pb", "leads out of the model's folder");
    assert!(read(&model, &tensor("near")).is_ok());
    // Some stores of models keep all files in one folder and link to them from others.
    fs::write(root.path().join("other/t.pb"), tensor("link")).unwrap();
    symlink(root.path().join("other/t.pb"), model.join("stored.pb")).unwrap();
    assert_eq!(read_tensor(model.join("stored.pb")).unwrap().bytes(), [0]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let (_root, model) = folder();
    let place = ("location", "w.bin");
    for (dims, entries, reason) in [
        (&[101][..], &[place][..], "101 bytes from byte 0 of \"w.bin\" are needed, but it has 100"),
        (&[1], &[place, ("offset", "100")], "from byte 100"),
        (&[2], &[place, ("offset", "18446744073709551615")], "18446744073709551615"),
        (&[i64::MAX], &[place], "are needed"),
        (&[2], &[place, ("length", "3")], "2 bytes are needed, but its data has a length of 3"),
        (&[2], &[place, ("length", "-1")], "the length of its external data is \"-1\""),
        (&[2], &[place, ("offset", "0x1")], "the offset of its external data is \"0x1\""),
        (&[2], &[place, ("offset", "18446744073709551616")], "the offset of"),
        (&[2], &[place, place], "two entries \"location\""),
        (&[-2], &[place], "dimension -2"),
        (&[i64::MAX, 3], &[place], "too large"),
    ] {
        assert_bad(read(&model, &external(dims, U8, entries)), "t.pb", reason);
    }
    let both = [external(&[2], U8, &[place]), len(9, [1, 2])].concat();
    assert_bad(read(&model, &both), "t.pb", "both raw_data and another file");
    let typed = [external(&[1], U8, &[place]), int(5, 1)].concat();
    assert_bad(read(&model, &typed), "t.pb", "both int32_data and another file");
    fs::write(model.join("w.bin"), "").unwrap();
    assert_bad(read(&model, &external(&[1], U8, &[place])), "t.pb", "but it has 0");
}

/// A model of two constants, the second of which cannot be read.
fn two_constants(entries: &[(&str, &str)]) -> Vec<u8> {
    let good = [len(8, "a"), external(&[1], 7, entries)].concat();
    let bad = [len(8, "b"), external(&[1], 7, &[("location", "absent")])].concat();
    let mut model = Model::new();
    model.graph = vec![value(11, "x"), value(12, "y"), len(5, good), len(5, bad)];
    model.bytes()
}

#[test]
fn only_requested_tensors_are_opened() {
    let (_root, folder) = folder();
    let path = folder.join("m.onnx");
    fs::write(&path, two_constants(&[("location", "w.bin"), ("offset", "8")])).unwrap();
    let model = read_model(&path).unwrap();
    let constants = &model.graph.initializers;
    assert_eq!(constants["a"].desc().unwrap().to_string(), "i64[1]");
    assert_eq!(constants["b"].desc().unwrap().to_string(), "i64[1]");
    assert_eq!(constants["a"].read().unwrap().bytes(), [8, 9, 10, 11, 12, 13, 14, 15]);
    assert!(matches!(constants["b"].read(), Err(Error::Io { .. })));

    let bytes = fs::read(&path).unwrap();
    let nowhere = parse_model("m.onnx", std::sync::Arc::new(bytes)).unwrap();
    assert_unsupported(nowhere.graph.initializers["a"].read(), "no folder");
}

/// The file is sparse: it takes no room, and no memory either unless it is read whole.
#[test]
fn more_than_two_gibibytes_are_opened() {
    let (_root, folder) = folder();
    let offset = 5u64 << 30;
    let mut file = File::create(folder.join("large.bin")).unwrap();
    file.set_len(offset + 8).unwrap();
    file.seek(SeekFrom::Start(offset)).unwrap();
    file.write_all(&[9, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    drop(file);
    let path = folder.join("m.onnx");
    let entries = [("location", "large.bin"), ("offset", &offset.to_string())];
    fs::write(&path, two_constants(&entries)).unwrap();
    let model = read_model(&path).unwrap();
    assert_eq!(model.graph.initializers["a"].read().unwrap().to_vec::<i64>().unwrap(), [9]);
}
