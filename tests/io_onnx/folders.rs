//! Golden cases in ONNX's folders.

use std::fs;

use tempfile::TempDir;
use wgmax::io::case::{Case, CaseFolder, CaseKind};
use wgmax::{Result, Tensor};

use super::{assert_bad, assert_unsupported, outputs};
use crate::common::onnx::{Model, len, node, tensor, value};

fn bytes_tensor(values: &[u8]) -> Vec<u8> {
    tensor(&[values.len() as i64], 2, &[len(9, values)])
}

/// The name of a data set's folder, and its files with their elements.
type DataSet<'a> = (&'a str, &'a [(&'a str, &'a [u8])]);

/// A folder of a model and data sets.
fn onnx_case(model: &Model, sets: &[DataSet]) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("model.onnx"), model.bytes()).unwrap();
    for (set, files) in sets {
        let set = dir.path().join(set);
        fs::create_dir(&set).unwrap();
        for (name, values) in *files {
            fs::write(set.join(name), bytes_tensor(values)).unwrap();
        }
    }
    dir
}

fn load_onnx(dir: &TempDir) -> Result<Vec<Case>> {
    CaseFolder { path: dir.path().to_path_buf(), kind: CaseKind::Onnx }.load()
}

const PLAIN: &[(&str, &[u8])] =
    &[("input_0.pb", &[1]), ("input_1.pb", &[2]), ("output_0.pb", &[3])];

fn bytes_of(case: &Case) -> (Vec<Option<&[u8]>>, Vec<&[u8]>) {
    let inputs = case.inputs.iter().map(|i| i.as_ref().map(Tensor::bytes)).collect();
    (inputs, outputs(case).iter().map(Tensor::bytes).collect())
}

#[test]
fn an_onnx_folder_gives_a_case_a_data_set() {
    let dir = onnx_case(&Model::new(), &[("test_data_set_0", PLAIN)]);
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let cases = load_onnx(&dir).unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].id, name);
    assert_eq!(cases[0].node, Model::new().parse().unwrap().node);
    assert_eq!(bytes_of(&cases[0]), (vec![Some(&[1][..]), Some(&[2])], vec![&[3][..]]));

    let sets =
        [("test_data_set_10", PLAIN), ("test_data_set_9", PLAIN), ("test_data_set_x", PLAIN)];
    let dir = onnx_case(&Model::new(), &sets);
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    let ids: Vec<String> = load_onnx(&dir).unwrap().into_iter().map(|c| c.id).collect();
    let expected = ["9", "10", "x"].map(|n| format!("{name}/test_data_set_{n}"));
    assert_eq!(ids, expected);
}

#[test]
fn files_follow_the_graph_and_slots_follow_the_node() {
    // The graph lists its values the other way round, and the node skips a slot.
    let mut model = Model::new();
    model.nodes = vec![node("Any", &["x", "", "a"], &["y", "z"], &[])];
    model.graph = vec![value(11, "a"), value(11, "x"), value(12, "z"), value(12, "y")];
    let files: &[(&str, &[u8])] =
        &[("input_0.pb", &[1]), ("input_1.pb", &[2]), ("output_0.pb", &[3]), ("output_1.pb", &[4])];
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", files)])).unwrap();
    let expected = (vec![Some(&[2][..]), None, Some(&[1])], vec![&[4][..], &[3]]);
    assert_eq!(bytes_of(&cases[0]), expected);

    // The graph has the first output alone; then the second alone, which a case cannot express.
    model.graph = vec![value(11, "a"), value(11, "x"), value(12, "y")];
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])).unwrap();
    assert_eq!(bytes_of(&cases[0]).1, [&[3]]);
    model.graph[2] = value(12, "z");
    assert_unsupported(load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])), "leaves out");
}

#[test]
fn constants_fill_what_the_files_do_not() {
    let constant = len(5, [len(8, "a"), bytes_tensor(&[9])].concat());
    let one: &[(&str, &[u8])] = &[("input_0.pb", &[1]), ("output_0.pb", &[3])];
    for graph in [
        vec![value(11, "x"), value(12, "y"), constant.clone()],
        vec![value(11, "a"), value(11, "x"), value(12, "y"), constant.clone()],
    ] {
        let model = Model { graph, ..Model::new() };
        let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", one)])).unwrap();
        assert_eq!(bytes_of(&cases[0]).0, [Some(&[1][..]), Some(&[9])]);
    }
    // A constant that is a graph input too is only its default.
    let graph = vec![value(11, "x"), value(11, "a"), value(12, "y"), constant];
    let model = Model { graph, ..Model::new() };
    let cases = load_onnx(&onnx_case(&model, &[("test_data_set_0", PLAIN)])).unwrap();
    assert_eq!(bytes_of(&cases[0]).0, [Some(&[1][..]), Some(&[2])]);
}

#[test]
fn data_sets_that_do_not_fit_the_model_are_refused() {
    let with = |files: &[(&str, &[u8])]| {
        load_onnx(&onnx_case(&Model::new(), &[("test_data_set_0", files)]))
    };
    let set = "test_data_set_0";
    assert_bad(with(&PLAIN[..1]), set, "1 input files for a graph of 2 inputs");
    assert_bad(with(&PLAIN[..2]), set, "0 output files for a graph of 1 outputs");
    assert_bad(with(&[PLAIN, &[("input_2.pb", &[0])]].concat()), set, "3 input files");
    assert_bad(with(&[PLAIN, &[("output_1.pb", &[0])]].concat()), set, "2 output files");
    assert_bad(with(&[PLAIN[0], PLAIN[2], ("input_2.pb", &[0])]), set, "input_1.pb is missing");
    assert_bad(with(&[PLAIN, &[("input_01.pb", &[0])]].concat()), set, "input_01.pb");
    assert_bad(load_onnx(&onnx_case(&Model::new(), &[])), "model.onnx", "test_data_set_0");

    let dir = onnx_case(&Model::new(), &[(set, PLAIN)]);
    fs::write(dir.path().join(set).join("output_0.pb"), [1]).unwrap();
    assert_bad(load_onnx(&dir), "output_0.pb", "");
}
