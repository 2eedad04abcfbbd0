//! `wgmax bench --traffic`: what launches load and store. The figures are counted, so they are the
//! same on every machine.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{folder, refused, stdout, wgmax};

/// What is allowed of some items' counts.
struct Gate {
    name: &'static str,
    /// Whether an item is one of these.
    is_for: fn(&str) -> bool,
    figure: fn(&Row) -> f64,
    /// At least, or at most.
    bound: Bound,
}

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

/// An item's counts.
struct Row {
    efficiency: f64,
    requested: f64,
    traffic: f64,
    launches: f64,
}

const GATES: &[Gate] = &[
    Gate {
        name: "reductions and segments of whole blocks use what they request",
        is_for: |item| is_reduction(item) || is_in_blocks(item),
        figure: |row| row.efficiency,
        bound: Bound::AtLeast(0.9),
    },
    Gate {
        name: "pools use half of what they request",
        is_for: |item| item.starts_with('P'),
        figure: |row| row.efficiency,
        bound: Bound::AtLeast(0.5),
    },
    Gate {
        name: "reductions and windows that do not overlap request each byte once",
        is_for: |item| is_reduction(item) || is_apart(item),
        figure: |row| row.requested,
        bound: Bound::AtMost(1.1),
    },
    Gate {
        name: "neighbouring 3 × 3 windows share what they request",
        is_for: |item| is_small(item) && !is_apart(item),
        figure: |row| row.requested,
        bound: Bound::AtMost(1.6),
    },
    Gate {
        name: "long windows request each byte a few times",
        is_for: |item| item.starts_with('P'),
        figure: |row| row.requested,
        bound: Bound::AtMost(3.0),
    },
    Gate {
        name: "reductions move each byte once",
        is_for: is_reduction,
        figure: |row| row.traffic,
        bound: Bound::AtMost(1.05),
    },
    Gate {
        name: "pools with small windows move each byte once",
        is_for: is_small,
        figure: |row| row.traffic,
        bound: Bound::AtMost(1.15),
    },
    Gate {
        name: "long segments move each byte once",
        is_for: |item| ["S01", "S03", "S04", "S06"].iter().any(|long| item.starts_with(long)),
        figure: |row| row.traffic,
        bound: Bound::AtMost(1.1),
    },
    Gate {
        name: "reductions of one merged axis take two launches",
        is_for: |item| is_reduction(item) && !item.starts_with("R05"),
        figure: |row| row.launches,
        bound: Bound::AtMost(2.0),
    },
    Gate {
        name: "reductions of two merged axes and sorted segments take three launches",
        is_for: |item| item.starts_with("R05") || item.starts_with('S'),
        figure: |row| row.launches,
        bound: Bound::AtMost(3.0),
    },
    Gate {
        name: "pools of small windows take one launch",
        is_for: is_small,
        figure: |row| row.launches,
        bound: Bound::AtMost(1.0),
    },
];

fn is_reduction(item: &str) -> bool {
    item.starts_with('R')
}

/// Segments whose rows are whole blocks.
fn is_in_blocks(item: &str) -> bool {
    ["S05", "S06", "S07"].iter().any(|blocks| item.starts_with(blocks))
}

/// Windows that do not overlap.
fn is_apart(item: &str) -> bool {
    ["P03", "P04", "P10"].iter().any(|apart| item.starts_with(apart))
}

/// Windows of up to three elements along each axis, side by side.
fn is_small(item: &str) -> bool {
    ["P01", "P02", "P03", "P09", "P10", "P12"].iter().any(|small| item.starts_with(small))
}

fn count(plan: &str, elements: &str) -> BTreeMap<String, Row> {
    let (_folder, at) = folder();
    let json = at("traffic.json");
    let output =
        wgmax(&["bench", "--traffic", "--plan", plan, "--elements", elements, "--json", &json]);
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let rows = report["rows"].as_array().unwrap().iter().map(|row| {
        let figure = |name: &str| row["sum"][name].as_f64().unwrap();
        let counts = Row {
            efficiency: figure("efficiency"),
            requested: figure("requested"),
            traffic: figure("traffic"),
            launches: row["launches"].as_array().unwrap().len() as f64,
        };
        (row["item"].as_str().unwrap().to_string(), counts)
    });
    let rows: BTreeMap<_, _> = rows.collect();
    assert_eq!(rows.len(), 42, "{}", stdout(&output));
    rows
}

/// The items that do not keep to a gate.
fn beyond(gate: &Gate, rows: &BTreeMap<String, Row>) -> Vec<String> {
    let items = rows.iter().filter(|(item, _)| (gate.is_for)(item)).filter_map(|(item, row)| {
        let figure = (gate.figure)(row);
        let (keeps, bound) = match gate.bound {
            Bound::AtLeast(bound) => (figure >= bound, bound),
            Bound::AtMost(bound) => (figure <= bound, bound),
        };
        (!keeps).then(|| format!("{item}: {figure:.3}, not {bound}"))
    });
    items.collect()
}

/// The plans for hardware keep to all gates.
#[test]
fn plans_for_hardware_move_few_bytes() {
    let rows = count("hardware", "1048576");
    let all = GATES.iter().map(|gate| (gate.name, beyond(gate, &rows)));
    let all: Vec<_> = all.filter(|(_, items)| !items.is_empty()).collect();
    assert!(all.is_empty(), "{all:#?}");
}

/// The plans for software adapters, where neighbours do not share what they load, go beyond each
/// gate that is about what is requested.
#[test]
fn other_plans_go_beyond_the_gates() {
    let rows = count("software", "65536");
    for gate in GATES.iter().filter(|gate| gate.name.contains("request")) {
        assert!(!beyond(gate, &rows).is_empty(), "{}", gate.name);
    }
}

#[test]
fn counts_need_a_plan_with_shaders() {
    refused(&["bench", "--traffic", "--plan", "cpu"], "the plan of the CPU launches no shaders");
    refused(&["bench", "--traffic", "--device", "gpu"], "--device");
}
