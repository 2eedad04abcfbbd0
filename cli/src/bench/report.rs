//! What was measured, as a table and as JSON.

use std::fmt;

use serde_json::{Value, json};
use wgmax::DeviceInfo;

use super::Measured;
use super::costs::Cost;
use super::item::{Item, Kind};
use crate::output;

pub struct Report {
    device: DeviceInfo,
    clock: &'static str,
    fixed: f64,
    pub costs: Vec<Cost>,
    pub rows: Vec<Row>,
    pub growth: Vec<Line>,
}

/// One kind of item at growing sizes.
pub struct Line {
    pub name: &'static str,
    pub rows: Vec<Row>,
}

/// An item, and what was measured or why not.
pub struct Row {
    pub item: Item,
    pub result: Result<Measured, String>,
}

impl Row {
    /// Bytes that have to move a second, at a time.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.item.bytes() as f64 / seconds
    }

    /// The part of the plain pass's rate that the item reaches: at the shortest times, and at the medians.
    pub fn fractions(&self) -> Option<(f64, f64)> {
        let measured = self.result.as_ref().ok()?;
        let fraction =
            |item: f64, ceiling: f64| self.rate(item) / (measured.ceiling_bytes as f64 / ceiling);
        let (item, ceiling) = (&measured.item, &measured.ceiling);
        let median = fraction(item.median(), ceiling.median());
        Some((fraction(item.min(), ceiling.min()), median))
    }

    /// A line for those who wait.
    pub fn line(&self) -> String {
        let name = &self.item.name;
        match &self.result {
            Err(reason) => format!("{name}: not measured: {reason}"),
            Ok(measured) => format!(
                "{name}: {} of {} GB/s, {:.0} %",
                giga(self.rate(measured.item.min())),
                giga(measured.ceiling_bytes as f64 / measured.ceiling.min()),
                100.0 * self.fractions().unwrap_or_default().0
            ),
        }
    }

    fn cells(&self) -> Vec<String> {
        let name = self.item.name.clone();
        let (Ok(measured), Some((fraction, median))) = (&self.result, self.fractions()) else {
            return vec![name, "not measured".into()];
        };
        let (item, ceiling) = (&measured.item, &measured.ceiling);
        vec![
            name,
            time(item.min()),
            time(item.median()),
            giga(self.rate(item.min())),
            giga(measured.ceiling_bytes as f64 / ceiling.min()),
            format!("{fraction:.2}"),
            format!("{median:.2}"),
            item.count().to_string(),
        ]
    }

    fn json(&self) -> Value {
        let item = &self.item;
        let mut row = json!({
            "item": item.name,
            "op": format!("{:?}", item.op),
            "dtype": item.dtype,
            "bytes": item.bytes(),
        });
        let more = match &self.result {
            Err(reason) => json!({ "error": reason }),
            Ok(measured) => {
                let (times, ceiling) = (&measured.item, &measured.ceiling);
                let rate = |seconds: f64| measured.ceiling_bytes as f64 / seconds * 1e-9;
                let (fraction, fraction_median) = self.fractions().unwrap_or_default();
                json!({
                    "min_s": times.min(),
                    "median_s": times.median(),
                    "runs": times.count(),
                    "gbps": self.rate(times.min()) * 1e-9,
                    "gbps_median": self.rate(times.median()) * 1e-9,
                    "ceiling": if item.op == Kind::MaxPool { "read and write" } else { "read" },
                    "ceiling_gbps": rate(ceiling.min()),
                    "ceiling_gbps_median": rate(ceiling.median()),
                    "ceiling_shape": measured.ceiling_how,
                    "fraction": fraction,
                    "fraction_median": fraction_median,
                    "copies": measured.copies,
                    "wall_s": measured.wall,
                    "record_s": measured.record,
                    "prepare_s": measured.prepare,
                    "inputs_crc32": measured.inputs_crc32,
                    "results_crc32": measured.results_crc32,
                })
            }
        };
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        row
    }
}

impl Report {
    pub fn new(device: &DeviceInfo, (clock, fixed): (&'static str, f64)) -> Self {
        Self {
            device: device.clone(),
            clock,
            fixed,
            costs: Vec::new(),
            rows: Vec::new(),
            growth: Vec::new(),
        }
    }

    /// The device, and how it was timed.
    pub fn subtitle(&self) -> String {
        format!("{}; timed by {}", self.device, self.clock)
    }

    pub fn json(&self) -> Value {
        json!({
            "wgmax": env!("CARGO_PKG_VERSION"),
            "device": self.device.to_string(),
            "clock": self.clock,
            "fixed_s": self.fixed,
            "costs": self.costs.iter().map(Cost::json).collect::<Vec<_>>(),
            "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
            "growth": self.growth.iter().flat_map(|line| &line.rows).map(Row::json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subtitle())?;
        if self.fixed > 0.0 {
            write!(f, "\nan empty submit and the wait for it: {}", time(self.fixed))?;
        }
        if !self.costs.is_empty() {
            let mut table = output::table(&["cost", "min", "median"]);
            for Cost { name, times } in &self.costs {
                table.add_row([name.clone(), time(times.min()), time(times.median())]);
            }
            write!(f, "\n{table}")?;
        }
        let growth = self.growth.iter().flat_map(|line| &line.rows);
        let mut rows = self.rows.iter().chain(growth).peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let mut table = output::table(&[
            "item",
            "min",
            "median",
            "GB/s",
            "ceiling",
            "fraction",
            "at median",
            "runs",
        ]);
        let mut reasons = String::new();
        for row in rows {
            table.add_row(row.cells());
            if row.result.is_err() {
                reasons += &format!("\n{}", row.line());
            }
        }
        write!(f, "\n{table}{reasons}\n{LEGEND}")
    }
}

const LEGEND: &str = "\
GB/s: the fewest bytes to read and write, over the shortest time
ceiling: GB/s of the fastest plain read, for MaxPool read and write, in turn with the item
fraction: the part of the ceiling that is reached";

/// Billions of bytes a second, in three digits.
pub fn giga(rate: f64) -> String {
    let giga = rate * 1e-9;
    match giga {
        100.0.. => format!("{giga:.0}"),
        10.0.. => format!("{giga:.1}"),
        _ => format!("{giga:.2}"),
    }
}

pub fn time(seconds: f64) -> String {
    let micro = seconds * 1e6;
    match micro {
        10_000.0.. => format!("{:.1} ms", micro / 1000.0),
        1000.0.. => format!("{:.2} ms", micro / 1000.0),
        10.0.. => format!("{micro:.0} µs"),
        _ => format!("{micro:.2} µs"),
    }
}
