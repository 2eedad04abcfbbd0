//! `wgmax explain`.

use serde_json::{Value, json};

use super::{refused, succeeds};

const PLANS: [&str; 3] = ["hardware", "software", "cpu"];

fn explain(arguments: &[&str]) -> Value {
    let text = succeeds(&[&["explain"], arguments, &["--json"]].concat());
    serde_json::from_str(&text).unwrap()
}

fn launches(plan: &Value) -> &[Value] {
    plan["launches"].as_array().unwrap()
}

/// The sums of a plan are those of its launches.
fn assert_sums(plan: &Value) {
    for bytes in ["bytes_read", "bytes_written"] {
        let sum: u64 = launches(plan).iter().map(|launch| launch[bytes].as_u64().unwrap()).sum();
        assert_eq!(plan[bytes], sum, "{plan}");
    }
    for (number, launch) in launches(plan).iter().enumerate() {
        let grid: Vec<u64> =
            launch["grid"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert!(grid.len() == 3 && grid.iter().all(|&n| n > 0), "launch {number}: {launch}");
        assert!(!launch["purpose"].as_str().unwrap().is_empty(), "launch {number}: {launch}");
    }
}

#[test]
fn a_small_binding_takes_several_launches() {
    let plan = explain(&["reduce-max", "1000x1000", "--axes", "0", "--max-binding", "64KiB"]);
    assert_sums(&plan);
    assert!(launches(&plan).len() > 50, "{plan}");
    for launch in launches(&plan) {
        assert!(launch["bytes_read"].as_u64().unwrap() <= 1 << 16, "{launch}");
        assert!(launch["bytes_written"].as_u64().unwrap() <= 1 << 16, "{launch}");
    }
    assert_eq!((&plan["input_bytes"], &plan["output_bytes"]), (&4_000_000.into(), &4000.into()));
    assert_eq!(plan["limits"]["max_binding_size"], 1 << 16);
    assert!(plan["scratch_bytes"].as_u64().unwrap() > 0, "{plan}");

    let shown =
        succeeds(&["explain", "reduce-max", "1000,1000", "--axes=0", "--max-binding", "64KiB"]);
    assert!(shown.starts_with("ReduceMax: f32[1000, 1000] -> f32[1000]\n"), "{shown}");
    assert!(shown.contains("reduce_columns") && shown.contains("bindings of 64 KiB"), "{shown}");
    assert!(shown.contains(&format!("launches  {}\n", launches(&plan).len())), "{shown}");
}

/// Tables are at most 80 characters wide, however long the names are.
#[test]
fn tables_fit() {
    for arguments in [
        &["reduce-max", "3x1000000x5", "--axes", "1"][..],
        &["max-pool", "8,16,300,300", "--kernel", "31,31", "--indices"],
        &["max-pool", "8,16,300,300", "--kernel", "3,3", "--indices", "--tuning", "software"],
        &["segment-max", "100000x7", "--num-segments", "99", "--indices", "--max-binding", "64k"],
        &["segment-max", "100000", "--num-segments", "99", "--unsorted", "--indices"],
    ] {
        let shown = succeeds(&[&["explain"], arguments].concat());
        for line in shown.lines().skip(1) {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn every_plan_is_explained() {
    for operator in [
        &["reduce-max", "64x224x224", "--axes", "0,-1", "--type", "f16"][..],
        &["max-pool", "2,3,64,64", "--kernel", "3,3", "--strides", "2,2", "--indices"],
        &["segment-max", "10000x8", "--num-segments", "100", "--ids-type", "i64"],
        &["segment-max", "10000", "--num-segments", "100", "--offsets"],
    ] {
        let plans = PLANS.map(|plan| explain(&[operator, &["--tuning", plan]].concat()));
        for (plan, name) in plans.iter().zip(PLANS) {
            assert_sums(plan);
            assert_eq!(plan["tuning"], name);
            assert_eq!(plan["outputs"], plans[0]["outputs"]);
            assert!(!launches(plan).is_empty(), "{plan}");
        }
        assert_eq!(plans[0]["limits"]["max_binding_size"], 128 << 20);
        assert_eq!(plans[2]["limits"]["max_binding_size"], u64::MAX);
    }
}

#[test]
fn attributes_are_those_of_the_operators() {
    let plan = explain(&["max-pool", "1,8,8,3", "--kernel", "2,2", "--layout", "nxc"]);
    assert_eq!(plan["outputs"], json!([{ "type": "f32", "shape": [1, 7, 7, 3] }]));
    let pool = ["max-pool", "1,2,9", "--kernel", "3", "--indices", "--index-type", "i32"];
    assert_eq!(explain(&pool)["outputs"][1], json!({ "type": "i32", "shape": [1, 2, 7] }));
    let plan = explain(&["reduce-max", "2x3x4", "--axes=-1", "--keep-dims", "--type", "u8"]);
    assert_eq!(plan["outputs"], json!([{ "type": "u8", "shape": [2, 3, 1] }]));
    let plan = explain(&["segment-max", "9x2", "--num-segments", "4", "--offsets"]);
    assert_eq!(plan["inputs"][1], json!({ "type": "i32", "shape": [5] }));
    assert_eq!(plan["outputs"][0]["shape"], json!([4, 2]));
    // Scalars and empty tensors.
    assert_eq!(explain(&["reduce-max", ""])["outputs"][0]["shape"], json!([]));
    let nothing = explain(&["reduce-max", "0x5", "--axes", "1"]);
    assert_eq!((launches(&nothing).len(), &nothing["bytes_read"]), (0, &0.into()));
    assert!(succeeds(&["explain", "reduce-max", "0x5"]).contains("the inputs are empty"));
}

/// A narrow device: every limit has an option.
#[test]
fn limits_are_respected() {
    let narrow = [
        "--max-binding",
        "4096",
        "--max-buffer",
        "8KiB",
        "--workgroup",
        "32",
        "--max-workgroups",
        "5",
        "--max-iterations",
        "100",
        "--storage-buffers",
        "4",
        "--alignment",
        "32",
        "--parallelism",
        "64",
    ];
    let plan = explain(&[&["reduce-max", "50x1000", "--axes", "1"], &narrow[..]].concat());
    assert_sums(&plan);
    let limits = json!({
        "workgroup_size": 32,
        "max_workgroups_per_dimension": 5,
        "max_binding_size": 4096,
        "max_buffer_size": 8192,
        "alignment": 32,
        "max_storage_buffers": 4,
        "max_iterations": 100,
    });
    assert_eq!((&plan["limits"], &plan["target_parallelism"]), (&limits, &64.into()));
    for launch in launches(&plan) {
        assert_eq!(launch["workgroup_size"], 32);
        assert!(launch["grid"].as_array().unwrap().iter().all(|n| n.as_u64().unwrap() <= 5));
    }
    let shown = succeeds(&[&["explain", "reduce-max", "50x1000"], &narrow[..]].concat());
    assert!(shown.contains("a buffer of 195.3 KiB exceeds the limit"), "{shown}");
}

#[test]
fn bad_arguments_are_refused_in_one_line() {
    let run = |arguments: &[&str], word: &str| refused(&[&["explain"], arguments].concat(), word);
    run(&["reduce-max"], "SHAPE");
    for shape in ["a", "3xx3", "3,", "3;3", "1.5"] {
        run(&["reduce-max", shape], "give a shape");
    }
    run(&["reduce-max", "99999999999999999999"], "too large");
    run(&["reduce-max", "9223372036854775807x4"], "too large");
    run(&["reduce-max", "3x3", "--axes", "2"], "axis 2 is out of range");
    run(&["reduce-max", "3x3", "--type", "f12"], "there are f32, f64");
    run(&["reduce-max", "3x3", "--tuning", "gpu"], "hardware");
    run(&["reduce-max", "3x3", "--max-binding", "0"], "--max-binding");
    run(&["reduce-max", "3x3", "--max-binding", "20"], "--max-binding 20: ");
    run(&["reduce-max", "3x3", "--workgroup", "3"], "power of two");
    run(&["reduce-max", "3x3", "--alignment", "7"], "power of two");
    run(&["reduce-max", "3x3", "--max-workgroups", "0"], "--max-workgroups");
    run(&["reduce-max", "3x3", "--storage-buffers", "1"], "--storage-buffers 1: give 2 or more");
    run(&["max-pool", "3x4", "--kernel", "2"], "3x4: pooling needs batch");
    run(&["max-pool", "1,1,4", "--kernel", "5"], "--kernel 5: the window covers 5");
    run(&["max-pool", "1,1,4", "--kernel", "2", "--index-type", "i32"], "--indices");
    let adaptive = |shape: &str, sizes: &str, word: &str| {
        run(&["adaptive-max-pool", shape, "--output-sizes", sizes], word);
    };
    adaptive("3x4", "2", "3x4: pooling needs batch");
    adaptive("1,1,0", "2", "1,1,0: spatial axis 0 has no elements");
    adaptive("1,1,4,4,4", "2,2", "--output-sizes 2,2");
    adaptive("1,1,4", "-2", "--output-sizes");
    run(&["segment-max", "9x2"], "--num-segments is required");
    run(&["segment-max", "9x2", "--offsets"], "--num-segments is required");
    run(&["segment-max", "9x2", "--num-segments", "-1"], "--num-segments -1");
    run(&["segment-max", "9x2", "--num-segments=-1", "--offsets"], "--num-segments -1");
    run(&["segment-max", "", "--num-segments", "1"], "needs at least one axis");
    run(&["segmentmax", "9x2"], "segment-max");
}

/// Advice replaces the shape, and no option with the same text.
#[test]
fn a_shape_is_corrected_and_nothing_else() {
    let right = "1x1x4x4x4";
    for line in [
        "explain max-pool 4,4,4 --kernel 4,4,4",
        "explain max-pool --kernel 4,4,4 4,4,4",
        "explain max-pool --kernel 4,4,4 -- 4,4,4",
        "explain max-pool --kernel 4,4,4 --indices 4,4,4",
        "explain max-pool --indices 4,4,4 --kernel 4,4,4",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let advice = match line.contains("max-pool --kernel") {
            true => format!("wgmax {}{right}\n", line.strip_suffix("4,4,4").unwrap()),
            false => format!("wgmax {}\n", line.replacen("4,4,4", right, 1)),
        };
        refused(&words, &advice);
    }
}
