//! `wgmax bench`, without its times.

use serde_json::Value;

use crate::{folder, refused, stdout, succeeds, wgmax};

/// The digest of the results of P05.
const P05: u64 = 570_332_239;

/// Runs a command that succeeds with progress on stderr, and reads the JSON that it wrote.
#[track_caller]
fn measured(arguments: &[&str], file: &str) -> (String, Value) {
    let output = wgmax(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let text = std::fs::read_to_string(file).unwrap();
    (stdout(&output), serde_json::from_str(&text).unwrap())
}

#[test]
fn items_are_listed() {
    let list = succeeds(&["bench", "--list"]);
    // A description may be of several lines.
    let items = |list: &str| list.lines().filter(|line| !line.starts_with(' ')).count();
    let file: Vec<Value> =
        serde_json::from_str(include_str!("../../src/bench/items.json")).unwrap();
    assert_eq!(items(&list), file.len(), "{list}");
    assert!(list.contains("R12_attn_1G          ReduceMax f32 [8, 32, 1024, 1024]"), "{list}");
    assert_eq!(items(&succeeds(&["bench", "--list", "--filter", "^S0[1-3]"])), 3);
}

#[test]
fn bad_arguments_are_refused() {
    refused(&["bench", "--filter", "("], "regex");
    refused(&["bench", "--filter", "no such item"], "no such item");
    refused(&["bench", "--device", "no such device"], "no such device");
    refused(&["bench", "--runs", "0"], "0");
    refused(&["bench", "--seconds", "-1"], "-1");
}

/// Small items of each operator, on the CPU and on an adapter if there is one.
#[test]
fn measurements_are_written() {
    let (_folder, at) = folder();
    let (json, plot) = (at("bench.json"), at("bench.svg"));
    // One run each. The inputs are the same on every machine, and so are the results.
    let expected = [
        ("R00_overhead_1k", 2_094_787_406u64, 1_806_334_704u64),
        ("P05_spp5", 1_564_630_950, P05),
        ("S03_powerlaw", 4_109_530_030, 119_458_073),
    ];
    let devices =
        if wgmax::adapters().unwrap().is_empty() { vec!["cpu"] } else { vec!["cpu", "gpu"] };
    for device in devices {
        let (shown, report) = measured(
            &[
                "bench",
                "--device",
                device,
                "--filter",
                "R00|P05|S03",
                "--runs",
                "1",
                "--json",
                &json,
                "--plot",
                &plot,
            ],
            &json,
        );
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{report}");
        for (row, (item, input, result)) in rows.iter().zip(expected) {
            assert_eq!(row["item"], item);
            assert!(shown.contains(item), "{shown}");
            assert_eq!(row["runs"], 1, "{row}");
            assert_eq!(row["inputs_crc32"][0], input, "{row}");
            assert_eq!(row["results_crc32"][0], result, "{row}");
            for field in ["min_s", "median_s", "gbps", "ceiling_gbps", "fraction", "copies"] {
                assert!(row[field].as_f64().unwrap() > 0.0, "{field}: {row}");
            }
        }
        let plot = std::fs::read_to_string(&plot).unwrap();
        assert!(plot.starts_with("<svg") && plot.contains("S03_powerlaw"), "{plot}");
    }
}

/// The requested tuning is shown, and has the same results.
#[test]
fn tunings_are_chosen() {
    let (_folder, at) = folder();
    let json = at("bench.json");
    let item = ["--filter", "P05", "--runs", "1", "--tuning", "software", "--json", &json];
    let (shown, report) = measured(&[&["bench", "--device", "cpu"], &item[..]].concat(), &json);
    assert!(shown.contains("; software tuning; timed by "), "{shown}");
    assert_eq!(report["tuning"], "software");
    assert_eq!(report["rows"][0]["results_crc32"][0], P05);
}

/// Any positive number of seconds: a run ends after so many runs, too.
#[test]
fn seconds_may_be_very_many() {
    let run = ["bench", "--device", "cpu", "--seconds", "1e300", "--filter", "R00"];
    let output = wgmax(&run);
    assert!(output.status.success(), "{output:?}");
}
