//! The plot of the measurements, as SVG.

use maud::{Markup, html};
use wgmax_verify::Kind;

use super::report::{BUSY_LEGEND, Report, Row, giga};

const LEFT: f64 = 410.0;
const RIGHT: f64 = 960.0;
const WIDTH: f64 = 1130.0;
const TOP: f64 = 112.0;
const ROW: f64 = 30.0;
/// The end of the axis. An item may be faster than the plain pass, if it reads from a cache.
const END: f64 = 1.2;
const STEP: f64 = 0.2;
const INK: &str = "#282828";

const LEGEND: &str = "wide: the shortest times of item and plain pass; narrow: the medians of both, \
    longer than wide where other work slowed the plain pass more";

/// A bar for each item: its rate as a fraction of the bandwidth ceiling.
pub fn fractions(report: &Report) -> String {
    let bottom = TOP + ROW * report.rows.len() as f64;
    let foot = if report.rows.iter().any(Row::is_busy) { BUSY_LEGEND } else { "" };
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(bottom + 50.0)
            font-family="sans-serif" fill=(INK) {
            rect width="100%" height="100%" fill="white" {}
            (text("Fraction of the bandwidth ceiling", (16.0, 28.0), 18, "start"))
            (text(&report.subtitle(), (16.0, 48.0), 12, "start"))
            (text(LEGEND, (16.0, 66.0), 12, "start"))
            @for line in 0..=(END / STEP).round() as usize {
                @let fraction = line as f64 * STEP;
                @let is_mark = (fraction - 1.0).abs() < STEP / 2.0;
                line x1=(x(fraction)) x2=(x(fraction)) y1=(TOP) y2=(bottom)
                    stroke=(if is_mark { INK } else { "#d7d7d7" })
                    stroke-width=(if is_mark { 2 } else { 1 }) {}
                // Plots may be longer than a screen.
                @for y in [TOP - 6.0, bottom + 18.0] {
                    (text(&percent(fraction), (x(fraction), y), 12, "middle"))
                }
            }
            (text("plain pass", (x(1.0), TOP - 22.0), 12, "middle"))
            (text("GB/s, of", (RIGHT + 14.0, TOP - 22.0), 12, "start"))
            (text(foot, (16.0, bottom + 38.0), 12, "start"))
            @for (i, row) in report.rows.iter().enumerate() {
                (bar(row, TOP + i as f64 * ROW))
            }
        }
    };
    svg.into_string()
}

fn bar(row: &Row, y: f64) -> Markup {
    let colour = match row.item.op {
        Kind::ReduceMax => "#1f77b4",
        Kind::MaxPool => "#d66014",
        Kind::SegmentMax => "#2c8c3c",
    };
    let note = |shown: &str, down: f64, size| text(shown, (RIGHT + 14.0, y + down), size, "start");
    html! {
        (text(&row.item.name, (LEFT - 8.0, y + 13.0), 12, "end"))
        (text(&row.item.description(), (LEFT - 8.0, y + 26.0), 10, "end"))
        @match (&row.result, row.fractions()) {
            (Ok(measured), Some((best, median))) => {
                @let ceiling = giga(measured.ceiling_bytes as f64 / measured.ceiling.min());
                @let rate = giga(row.rate(measured.item.min()));
                @for (to, inset, opacity) in [(best, 5.0, 0.35), (median, 9.0, 1.0)] {
                    rect x=(LEFT) y=(y + inset) width=(x(to) - LEFT) height=(ROW - 2.0 * inset)
                        fill=(colour) fill-opacity=(opacity) {}
                }
                (note(&format!("{rate} of {ceiling}{}", row.mark()), 13.0, 12))
                // A bar that is longer than the axis is cut, and labelled with its length.
                @if best.max(median) > END {
                    path fill=(colour)
                        d=(format!("M{RIGHT} {}l9 {}l-9 {}z", y + 3.0, ROW / 2.0 - 3.0, ROW / 2.0 - 3.0)) {}
                    (note(&format!("cut: {} and {}", percent(best), percent(median)), 26.0, 10))
                }
            }
            _ => (text("not measured", (LEFT + 6.0, y + 14.0), 12, "start")),
        }
    }
}

fn x(fraction: f64) -> f64 {
    (LEFT + fraction.min(END) / END * (RIGHT - LEFT)).round()
}

fn percent(fraction: f64) -> String {
    format!("{:.0} %", 100.0 * fraction)
}

/// A line of text on a base line.
fn text(text: &str, (x, y): (f64, f64), size: u32, anchor: &str) -> Markup {
    html! { text x=(x) y=(y) font-size=(size) text-anchor=(anchor) { (text) } "\n" }
}

#[cfg(test)]
mod tests {
    use wgmax::Device;

    use super::super::Measured;
    use super::super::item;
    use super::super::times::Times;
    use super::*;

    /// The plot, and the table, of the first item, with these seconds for it and for the plain
    /// pass.
    fn drawn(seconds: [f64; 3], ceiling: f64) -> (String, String) {
        let of = |seconds: &[f64]| {
            let mut times = Times::default();
            times.extend(seconds.iter().copied());
            times
        };
        let item = item::all().unwrap().remove(0);
        let measured = Measured {
            ceiling_bytes: item.bytes(),
            item: of(&seconds),
            ceiling: of(&[ceiling; 3]),
            ..Default::default()
        };
        let mut report = Report::new(&Device::cpu(), ("wall", 0.0));
        report.rows = vec![Row { item, result: Ok(measured), cut_off: false }];
        (fractions(&report), report.to_string())
    }

    #[test]
    fn cut_bars_and_a_busy_machine_are_marked() {
        let (plot, table) = drawn([1e-3, 1.1e-3, 1.2e-3], 0.9e-3);
        for text in [&plot, &table] {
            assert!(!text.contains("cut") && !text.contains("busy"), "{text}");
            assert!(text.contains("ReduceMax f32 [1024], axis 0"), "{text}");
        }
        // Each grid line has its number, above the bars and below them.
        for number in ["0 %", "20 %", "100 %", "120 %"] {
            assert_eq!(plot.matches(&format!(">{number}<")).count(), 2, "{number}: {plot}");
        }
        assert!(plot.contains("the medians of both, longer than wide where"), "{plot}");
        // Twice as fast as the plain pass, then only in the median.
        assert!(drawn([1e-3, 1.1e-3, 1.2e-3], 2.2e-3).0.contains("cut: 220 % and 200 %"));
        let (plot, table) = drawn([1e-3, 2e-3, 3e-3], 0.9e-3);
        for text in [&plot, &table] {
            assert!(text.contains("busy") && text.contains(BUSY_LEGEND), "{text}");
        }
        assert!(!plot.contains("cut"), "{plot}");
    }
}
