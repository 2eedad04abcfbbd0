//! The counts as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use wgmax_cli::bench::item::Item;
use wgmax_cli::table::Table;

use crate::count::Counts;
use crate::machine::LANES;
use crate::model::{GPUS, Gpu, Share};

/// An item, made smaller, and its counts.
pub struct Row {
    pub item: Item,
    pub result: Result<Counted, String>,
}

/// The counts of an item.
pub struct Counted {
    /// The label of each launch, and its counts.
    pub launches: Vec<(String, Counts)>,
    pub sum: Counts,
    /// The operations of each function of the shaders.
    pub functions: BTreeMap<String, u64>,
    /// The fewest bytes: the inputs once, and the results once.
    pub fewest: u64,
}

/// The counts of all items.
pub struct Report {
    pub plan: &'static str,
    pub rows: Vec<Row>,
}

impl Counts {
    /// Bytes used of those requested; 1 if there are none.
    pub fn efficiency(&self) -> f64 {
        match self.requested {
            0 => 1.0,
            requested => self.used as f64 / requested as f64,
        }
    }

    /// Operations of an invocation for each of the fewest bytes.
    pub fn operations_of(&self, fewest: u64) -> f64 {
        of_lanes(self.operations, fewest)
    }

    /// The fraction of loops' iterations in which invocations wait for others.
    pub fn idle(&self) -> f64 {
        match self.slots {
            0 => 0.0,
            slots => 1.0 - self.iterations as f64 / slots as f64,
        }
    }

    /// Loads that a warp has in flight when it waits.
    pub fn loads_in_flight(&self) -> f64 {
        self.loads as f64 / self.waits.max(1) as f64
    }

    fn json(&self, fewest: u64) -> Value {
        json!({
            "efficiency": self.efficiency(),
            "requested": self.requested as f64 / fewest as f64,
            "traffic": self.memory as f64 / fewest as f64,
            "operations": self.operations_of(fewest),
            "common": of_lanes(self.common, fewest) / LANES as f64,
            "loads_in_flight": self.loads_in_flight(),
            "workgroup_steps": self.steps as f64 / fewest as f64,
            "barriers": self.barriers,
            "idle": self.idle(),
            "invocations": self.invocations,
        })
    }
}

/// Operations of an invocation for each byte, from those of warps.
fn of_lanes(operations: u64, bytes: u64) -> f64 {
    (LANES as u64 * operations) as f64 / bytes as f64
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let name = format!("{}\n{}", self.item.name, self.item.description());
        let Ok(counted) = &self.result else {
            return vec![name, "not counted".into()];
        };
        let (Counted { launches, sum, .. }, (requested, moved)) = (counted, counted.ratios());
        vec![
            name,
            format!("{}\n{}", launches.len(), sum.invocations),
            format!("{:.2}\n{:.2}", sum.efficiency(), sum.idle()),
            format!("{requested:.2}\n{moved:.2}"),
            format!("{:.1}", sum.operations_of(counted.fewest)),
        ]
    }

    fn json(&self) -> Value {
        let mut row = json!({
            "item": self.item.name,
            "dtype": self.item.dtype,
            "shape": self.item.shape,
        });
        match &self.result {
            Err(reason) => row["error"] = json!(reason),
            Ok(Counted { launches, sum, fewest, .. }) => {
                row["fewest_bytes"] = json!(fewest);
                row["sum"] = sum.json(*fewest);
                let launches = launches.iter().map(|(label, counts)| {
                    let mut launch = counts.json(*fewest);
                    launch["label"] = json!(label);
                    launch
                });
                row["launches"] = launches.collect();
            }
        }
        row
    }
}

impl Counted {
    /// The share of a GPU's memory speed, by the model.
    pub fn share(&self, gpu: &Gpu) -> Share {
        gpu.share(self.launches.iter().map(|(_, counts)| counts), self.fewest)
    }

    /// Bytes requested, and bytes to and from memory, divided by the fewest.
    pub fn ratios(&self) -> (f64, f64) {
        let ratio = |bytes: u64| bytes as f64 / self.fewest as f64;
        (ratio(self.sum.requested), ratio(self.sum.memory))
    }
}

impl Report {
    /// The operations of each function of the shaders, for each of the fewest bytes: the most first, down to
    /// 0.05.
    pub fn functions(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let Ok(Counted { functions, fewest, .. }) = &row.result else { continue };
            let each = functions.iter().map(|(name, &count)| (of_lanes(count, *fewest), name));
            let mut each: Vec<_> = each.filter(|(operations, _)| *operations >= 0.05).collect();
            each.sort_by(|a, b| b.0.total_cmp(&a.0));
            let each = each.iter().map(|(operations, name)| format!("{operations:.2} {name}"));
            text += &format!("{}: {}\n", row.item.name, each.collect::<Vec<_>>().join(", "));
        }
        text
    }

    /// The share of each GPU's memory speed that an item reaches in the model.
    pub fn model(&self) -> String {
        let header: Vec<&str> = ["item"].into_iter().chain(GPUS.map(|gpu| gpu.name)).collect();
        let mut table = Table::new(&header);
        for row in &self.rows {
            let Ok(counted) = &row.result else { continue };
            let shares = GPUS.iter().map(|gpu| counted.share(gpu).to_string());
            table.add_row([row.item.name.clone()].into_iter().chain(shares).collect::<Vec<_>>());
        }
        format!("{table}\n{MODEL_LEGEND}")
    }

    pub fn json(&self) -> Value {
        json!({
            "wgmax": env!("CARGO_PKG_VERSION"),
            "plan": self.plan,
            "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "counted on a modelled GPU, not timed; {} plans", self.plan)?;
        let header = [
            "item",
            "launches\ninvocations",
            "efficiency\nidle",
            "requested\ntraffic",
            "operations",
        ];
        let mut table = Table::new(&header).wrap(0);
        let mut reasons = String::new();
        for row in &self.rows {
            table.add_row(row.cells());
            if let Err(reason) = &row.result {
                reasons += &format!("\n{}: {reason}", row.item.name);
            }
        }
        write!(f, "\n{table}{reasons}\n{LEGEND}")
    }
}

const MODEL_LEGEND: &str = "\
a model, not measured: the share of the memory's speed, and what bounds it: m
memory, c near caches, a arithmetic, w workgroup memory, l the latency of loads";

const LEGEND: &str = "\
efficiency: bytes that warps of 32 use, of the 32-byte sectors they request
idle: the part of loop iterations in which an invocation waits for others of
  its warp
requested: bytes of these sectors, over the fewest (inputs and results, once)
traffic: bytes to and from memory behind caches of 128 KiB and 4 MiB, over the
  fewest
operations: operations of one component, as the text has them and with idle
  invocations, for each of the fewest bytes, without those that are the same
  in a whole workgroup; compilers save some";
