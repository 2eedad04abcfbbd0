//! Golden cases in `case.json`.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wgmax::dialect::{Attribute, Dialect};
use wgmax::io::case::{Case, CaseFolder, CaseKind, Expect};
use wgmax::{ElementType, Error, Result};

use super::{assert_bad, outputs};

/// A `.npy` file of version 1.0.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data]
        .concat()
}

const JSON: &str = r#"{
    "id": "the id", "op": "ReduceMax", "dialect": "openvino", "version": 1,
    "attrs": {"keep_dims": true, "n": 3, "list": [1, -2], "none": [], "text": "NXC",
        "real": 1.5, "mixed": [1, "a"], "null": null, "large": 18446744073709551615},
    "inputs": [{"name": "data", "file": "in0.npy", "dtype": "f32", "shape": [2]},
        {"name": "axes", "file": "in1.npy", "dtype": "i64", "shape": []}],
    "outputs": [{"file": "out0.npy", "dtype": "bf16", "shape": [1]}],
    "expect": "ok", "contested": false, "oracle": "openvino", "tags": ["what", 1]
}"#;

/// A folder with `case.json` and the files that [`JSON`] names.
fn json_case(json: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).unwrap();
    write("case.json", json.as_bytes());
    write("in0.npy", &npy("<f4", "2,", &[0, 0, 128, 63, 0, 0, 0, 64]));
    write("in1.npy", &npy("<i8", "", &[0; 8]));
    write("out0.npy", &npy("<u2", "1,", &[0x00, 0x40]));
    write("rec0.npy", &npy("<u2", "1,", &[0xc0, 0x7f]));
    write("u8.npy", &npy("|u1", "2,", &[1, 2]));
    dir
}

fn load_in(dir: &Path) -> Result<Case> {
    let folder = CaseFolder { path: dir.to_path_buf(), kind: CaseKind::Json };
    let mut cases = folder.load()?;
    assert_eq!(cases.len(), 1);
    Ok(cases.remove(0))
}

fn load(json: &str) -> Result<Case> {
    load_in(json_case(json).path())
}

/// [`JSON`] with one text replaced, which must be in it.
#[track_caller]
fn edited(from: &str, to: &str) -> String {
    assert!(JSON.contains(from), "{from}");
    JSON.replacen(from, to, 1)
}

#[test]
fn a_case_json_is_read_in_full() {
    let case = load(JSON).unwrap();
    assert_eq!(case.id, "the id");
    assert_eq!(case.node.dialect, Dialect::OpenVino);
    assert_eq!((case.node.operator.as_str(), case.node.version), ("ReduceMax", Some(1)));
    let other = |text: &str| Attribute::Other(text.to_string());
    for (name, value) in [
        ("keep_dims", Attribute::Bool(true)),
        ("n", Attribute::Int(3)),
        ("list", Attribute::Ints(vec![1, -2])),
        ("none", Attribute::Ints(vec![])),
        ("text", Attribute::Text("NXC".to_string())),
        ("real", other("1.5")),
        ("mixed", other("[1,\"a\"]")),
        ("null", other("null")),
        ("large", other("18446744073709551615")),
    ] {
        assert_eq!(case.node.attributes[name], value, "{name}");
    }
    let [Some(data), Some(axes)] = &case.inputs[..] else { panic!("{:?}", case.inputs) };
    assert_eq!(data.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!((axes.shape(), axes.to_vec::<i64>().unwrap()), (&[][..], vec![0]));
    let [output] = outputs(&case) else { panic!("{:?}", case.expect) };
    assert_eq!((output.element_type(), output.bytes()), (ElementType::Bf16, &[0x00, 0x40][..]));
}

#[test]
fn versions_belong_to_dialects() {
    let from = "\"openvino\", \"version\": 1";
    let read = |to: &str| load(&edited(from, to));
    let onednn = read("\"onednn\", \"version\": \"graph\"").unwrap().node;
    assert_eq!((onednn.dialect, onednn.version), (Dialect::OneDnn, None));
    let onnx = read("\"onnx\", \"version\": 18").unwrap().node;
    assert_eq!((onnx.dialect, onnx.version), (Dialect::Onnx, Some(18)));
    for to in [
        "\"onnx\", \"version\": \"graph\"",
        "\"onednn\", \"version\": 1",
        "\"onnx\", \"version\": -1",
        "\"onnx\", \"version\": 4294967296",
        "\"onnx\", \"version\": null",
    ] {
        assert_bad(read(to), "case.json", "`version` is");
    }
    assert_bad(read("\"caffe\", \"version\": 1"), "case.json", "caffe");
}

#[test]
fn inputs_go_where_their_names_say() {
    let swapped = edited("\"data\"", "\"AXES\"").replace("\"axes\"", "\"data\"");
    let swapped = swapped.replace("AXES", "axes");
    let case = load(&swapped).unwrap();
    assert_eq!(case.inputs[0].as_ref().unwrap().element_type(), ElementType::I64);
    assert_eq!(case.inputs[1].as_ref().unwrap().element_type(), ElementType::F32);

    // segment_ids is left out: its slot stays empty.
    let gap = edited("ReduceMax", "SegmentMax").replace("\"axes\"", "\"num_segments\"");
    let case = load(&gap).unwrap();
    let there: Vec<bool> = case.inputs.iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, true]);

    // Inputs without a name, or with a name that the operator does not have, follow the list.
    for (from, to) in [("\"name\": \"axes\",", ""), ("\"axes\"", "\"reduction_axes\"")] {
        let case = load(&edited(from, to)).unwrap();
        assert_eq!(case.inputs[1].as_ref().unwrap().element_type(), ElementType::I64);
    }
    assert_bad(load(&edited("\"axes\"", "\"data\"")), "case.json", "input 0 of ReduceMax");
}

#[test]
fn a_contested_answer_gives_way_to_the_recommended_one() {
    let rec = r#""recommended": [{"file": "rec0.npy", "dtype": "bf16", "shape": [1]}], "expect""#;
    let with_rec = edited("\"expect\"", rec);
    let bits = |json: &str| outputs(&load(json).unwrap())[0].bytes().to_vec();
    let contested = |json: &str| json.replace("\"contested\": false", "\"contested\": true");
    assert_eq!(bits(&with_rec), [0x00, 0x40]);
    assert_eq!(bits(&contested(&with_rec)), [0xc0, 0x7f]);
    assert_eq!(bits(&contested(JSON)), [0x00, 0x40]);
}

#[test]
fn an_error_case_has_no_outputs() {
    for outputs in ["[]", "null"] {
        let at = JSON.find("\"outputs\"").unwrap();
        let end = JSON.find("\"expect\"").unwrap();
        let json = format!("{}\"outputs\": {outputs}, {}", &JSON[..at], &JSON[end..]);
        let error = load(&json.replace("\"ok\"", "\"error\"")).unwrap();
        assert!(matches!(error.expect, Expect::Error));
        assert_bad(load(&json), "case.json", "outputs");
    }
}

#[test]
fn a_case_json_without_a_required_field_is_refused_by_its_name() {
    for field in [
        "op", "dialect", "version", "attrs", "inputs", "outputs", "expect", "file", "dtype",
        "shape",
    ] {
        let without = edited(&format!("\"{field}\":"), "\"other\":");
        assert_bad(load(&without), "case.json", &format!("missing field `{field}`"));
    }
    let dir = json_case(&edited("\"id\":", "\"other\":"));
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(load_in(dir.path()).unwrap().id, name);
}

#[test]
fn a_case_json_that_lies_is_refused() {
    for (from, to, reason) in [
        ("\"shape\": [2]", "\"shape\": [1, 2]", "said to be f32[1, 2], but is f32[2]"),
        ("\"shape\": [2]", "\"shape\": [-2]", "-2"),
        ("\"f32\"", "\"i32\"", "said to be i32[2], but is f32[2]"),
        ("\"f32\"", "\"float\"", "float"),
        ("\"bf16\"", "\"f16\"", "said to be f16[1], but is u16[1]"),
        // Raw bits stand for bf16 and for nothing else.
        ("\"in0.npy\", \"dtype\": \"f32\"", "\"u8.npy\", \"dtype\": \"i8\"", "but is u8[2]"),
        ("\"expect\": \"ok\"", "\"expect\": \"fine\"", "fine"),
    ] {
        assert_bad(load(&edited(from, to)), "case.json", reason);
    }
}

#[test]
fn files_outside_the_folder_are_refused() {
    let dir = json_case(JSON);
    let inner = dir.path().join("inner");
    fs::create_dir(&inner).unwrap();
    for name in ["out0.npy", "in1.npy"] {
        fs::copy(dir.path().join(name), inner.join(name)).unwrap();
    }
    let absolute = dir.path().join("in0.npy");
    let absolute = absolute.to_str().unwrap();
    for file in ["../in0.npy", "../inner/in1.npy", absolute, "", ".", "/", "x/../in0.npy"] {
        let file = quoted(file);
        fs::write(inner.join("case.json"), edited("\"in0.npy\"", &file)).unwrap();
        assert_bad(load_in(&inner), "case.json", "not inside the folder");
    }
    fs::write(inner.join("case.json"), edited("in0.npy", "absent.npy")).unwrap();
    let absent = load_in(&inner);
    assert!(matches!(absent, Err(Error::Io { path, .. }) if path.ends_with("absent.npy")));
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\"))
}

#[test]
fn a_cut_case_json_is_refused_and_a_flipped_one_never_panics() {
    let dir = json_case(JSON);
    let path = dir.path().join("case.json");
    let whole = JSON.as_bytes();
    for end in 0..whole.len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert_bad(load_in(dir.path()), "case.json", "");
    }
    let mut bytes = whole.to_vec();
    for at in 0..whole.len() {
        for flip in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            bytes[at] = whole[at] ^ flip;
            fs::write(&path, &bytes).unwrap();
            drop(load_in(dir.path()));
        }
        bytes[at] = whole[at];
    }
}
