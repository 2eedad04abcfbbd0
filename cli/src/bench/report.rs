//! The measurements as a table and as JSON.

use std::fmt;

use serde_json::{Value, json};
use wgmax::{Device, DeviceInfo};
use wgmax_verify::Kind;

use super::Measured;
use super::item::Item;
use super::times::Times;
use crate::table::Table;

pub struct Report {
    device: DeviceInfo,
    tuning: &'static str,
    clock: &'static str,
    /// Seconds of an empty submit.
    fixed: f64,
    pub rows: Vec<Row>,
    /// A signal came before everything was measured.
    pub cut_off: bool,
}

/// An item, and its measurement or the error.
pub struct Row {
    pub item: Item,
    pub result: Result<Measured, String>,
    /// A signal came before the item was measured for long enough.
    pub cut_off: bool,
}

impl Row {
    /// The item's fewest bytes, per second.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.item.bytes() as f64 / seconds
    }

    /// The item's rate as a fraction of the ceiling: for the shortest times and for the medians.
    pub fn fractions(&self) -> Option<(f64, f64)> {
        let measured = self.result.as_ref().ok()?;
        let fraction =
            |item: f64, ceiling: f64| self.rate(item) / (measured.ceiling_bytes as f64 / ceiling);
        let (item, ceiling) = (&measured.item, &measured.ceiling);
        let median = fraction(item.median(), ceiling.median());
        Some((fraction(item.min(), ceiling.min()), median))
    }

    /// A line of progress.
    pub fn line(&self) -> String {
        let name = &self.item.name;
        match &self.result {
            Err(reason) => format!("{name}: not measured: {reason}"),
            Ok(measured) => format!(
                "{name}: {} of {} GB/s, {:.0} %{}",
                giga(self.rate(measured.item.min())),
                giga(measured.ceiling_bytes as f64 / measured.ceiling.min()),
                100.0 * self.fractions().unwrap_or_default().0,
                self.mark()
            ),
        }
    }

    /// Remarks that it is cut off, or that its times vary.
    pub fn mark(&self) -> &'static str {
        match (self.cut_off, self.is_busy()) {
            (true, _) => ", cut off",
            (_, true) => ", busy",
            _ => "",
        }
    }

    /// Whether other work seems to have used the machine.
    pub fn is_busy(&self) -> bool {
        let far = |times: &Times| times.count() > 0 && times.median() > BUSY * times.min();
        self.result.as_ref().is_ok_and(|m| far(&m.item) || far(&m.ceiling))
    }

    fn cells(&self) -> Vec<String> {
        let name = format!("{}\n{}", self.item.name, self.item.description());
        let (Ok(measured), Some((fraction, median))) = (&self.result, self.fractions()) else {
            return vec![name, "not measured".into()];
        };
        let (item, ceiling) = (&measured.item, &measured.ceiling);
        let rate = giga(self.rate(item.min()));
        let ceiling = giga(measured.ceiling_bytes as f64 / ceiling.min());
        vec![
            name,
            format!("{}\n{}", time(item.min()), time(item.median())),
            format!("{rate}\n{ceiling}"),
            format!("{fraction:.2}\n{median:.2}"),
            format!("{}{}", item.count(), self.mark()).replace(", ", "\n"),
        ]
    }

    fn json(&self) -> Value {
        let item = &self.item;
        let mut row = json!({
            "item": item.name,
            "op": format!("{:?}", item.op),
            "dtype": item.dtype,
            "bytes": item.bytes(),
            "cut_off": self.cut_off,
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
                    "wall_s": measured.wall.as_ref().map(Times::min),
                    "wall_median_s": measured.wall.as_ref().map(Times::median),
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
    pub fn new(device: &Device, (clock, fixed): (&'static str, f64)) -> Self {
        Self {
            device: device.info().clone(),
            tuning: device.tuning().name(),
            clock,
            fixed,
            rows: Vec::new(),
            cut_off: false,
        }
    }

    /// Whether an item's times vary.
    pub fn is_busy(&self) -> bool {
        self.rows.iter().any(Row::is_busy)
    }

    /// The device, the tuning, and the clock; and whether something is missing.
    pub fn subtitle(&self) -> String {
        let cut_off = if self.cut_off { "; cut off by a signal" } else { "" };
        format!("{}; {} tuning; timed by {}{cut_off}", self.device, self.tuning, self.clock)
    }

    pub fn json(&self) -> Value {
        json!({
            "wgmax": env!("CARGO_PKG_VERSION"),
            "device": self.device.to_string(),
            "tuning": self.tuning,
            "clock": self.clock,
            "fixed_s": self.fixed,
            "cut_off": self.cut_off,
            "rows": self.rows.iter().map(Row::json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.subtitle())?;
        if self.fixed > 0.0 {
            write!(f, "\nan empty submit and the wait for it: {}", time(self.fixed))?;
        }
        if self.rows.is_empty() {
            return Ok(());
        }
        let header = ["item", "min\nmedian", "GB/s\nceiling", "fraction\nat median", "runs"];
        let mut table = Table::new(&header).wrap(0);
        let mut reasons = String::new();
        for row in &self.rows {
            table.add_row(row.cells());
            if row.result.is_err() {
                reasons += &format!("\n{}", row.line());
            }
        }
        write!(f, "\n{table}{reasons}\n{LEGEND}")?;
        if self.is_busy() {
            write!(f, "\n{BUSY_LEGEND}")?;
        }
        Ok(())
    }
}

const LEGEND: &str = "\
GB/s: the bytes of inputs and results, each moved once, per second of the min
ceiling: GB/s of the fastest of a few plain reads (MaxPool: reads and writes),
  in turn with the item
fraction: GB/s as a fraction of the ceiling, of the minima and of the medians";

/// A median that exceeds the shortest time by this factor shows that the machine was busy.
const BUSY: f64 = 1.5;
pub const BUSY_LEGEND: &str = "\
busy: a median is over 1.5 times the min, so other work disturbed the measuring";

/// Billions of bytes per second, with three digits.
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
