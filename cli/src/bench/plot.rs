//! Plots of the measurements, as SVG.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::item::{Item, Kind};
use super::report::{BUSY_LEGEND, Line, Report, Row, giga};
use super::traffic;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const INK: RGBColor = RGBColor(40, 40, 40);
const FAINT: RGBColor = RGBColor(215, 215, 215);
const COLOURS: [RGBColor; 5] = [
    RGBColor(31, 119, 180),
    RGBColor(214, 96, 20),
    RGBColor(44, 140, 60),
    RGBColor(148, 60, 170),
    RGBColor(120, 90, 50),
];

/// Bars, one below the other: each a wide one, and a narrow one within it.
struct Bars<'a> {
    title: &'a str,
    subtitle: String,
    /// What the wide bars are, and the narrow ones.
    legend: &'a str,
    /// Where the axis ends, and from one of its lines to the next.
    end: f64,
    step: f64,
    /// The line that is drawn thick, and what it is.
    mark: (f64, &'a str),
    label: fn(f64) -> String,
    /// What the notes beside the bars are.
    notes: &'a str,
    /// A line below the axis, or nothing.
    foot: &'a str,
}

struct Bar<'a> {
    item: &'a Item,
    /// The wide value and the narrow one, and the note; or why there are none.
    values: Result<(f64, f64, String), &'a str>,
}

impl Bars<'_> {
    fn draw(&self, rows: &[Bar]) -> anyhow::Result<String> {
        const LEFT: i32 = 330;
        const RIGHT: i32 = 880;
        const WIDTH: i32 = 1050;
        const TOP: i32 = 112;
        const ROW: i32 = 30;
        let bottom = TOP + ROW * rows.len() as i32;
        let mut svg = String::new();
        {
            let root = area(&mut svg, (WIDTH as u32, (bottom + 50) as u32))?;
            let wide = f64::from(RIGHT - LEFT);
            let x = |value: f64| LEFT + (value.min(self.end) / self.end * wide) as i32;
            text(&root, self.title, (16, 14), 18, HPos::Left)?;
            text(&root, &self.subtitle, (16, 38), 12, HPos::Left)?;
            text(&root, self.legend, (16, 56), 12, HPos::Left)?;
            for step in 0..=(self.end / self.step).round() as i32 {
                let value = f64::from(step) * self.step;
                let is_mark = (value - self.mark.0).abs() < self.step / 2.0;
                let style = if is_mark { INK.stroke_width(2) } else { FAINT.stroke_width(1) };
                root.draw(&PathElement::new([(x(value), TOP), (x(value), bottom)], style))
                    .map_err(failed)?;
                // Plots may be longer than a screen.
                for y in [TOP - 16, bottom + 8] {
                    text(&root, &(self.label)(value), (x(value), y), 12, HPos::Center)?;
                }
            }
            text(&root, self.mark.1, (x(self.mark.0), TOP - 32), 12, HPos::Center)?;
            text(&root, self.notes, (RIGHT + 14, TOP - 16), 12, HPos::Left)?;
            text(&root, self.foot, (16, bottom + 28), 12, HPos::Left)?;
            for (i, row) in (0..).zip(rows) {
                let y = TOP + i * ROW;
                text(&root, &row.item.name, (LEFT - 8, y + 2), 12, HPos::Right)?;
                text(&root, &row.item.description(), (LEFT - 8, y + 17), 10, HPos::Right)?;
                let (wide, narrow, note) = match &row.values {
                    Ok(values) => values,
                    Err(reason) => {
                        text(&root, reason, (LEFT + 6, y + 3), 12, HPos::Left)?;
                        continue;
                    }
                };
                let colour = colour(row.item.op);
                let bar = |to: f64, inset: i32, style: ShapeStyle| {
                    Rectangle::new([(LEFT, y + inset), (x(to), y + ROW - inset)], style)
                };
                root.draw(&bar(*wide, 5, colour.mix(0.35).filled())).map_err(failed)?;
                root.draw(&bar(*narrow, 9, colour.filled())).map_err(failed)?;
                text(&root, note, (RIGHT + 14, y + 2), 12, HPos::Left)?;
                // A bar that the axis does not hold is cut, and says how long it is.
                if wide.max(*narrow) > self.end {
                    let tip = [(RIGHT, y + 3), (RIGHT + 9, y + ROW / 2), (RIGHT, y + ROW - 3)];
                    root.draw(&Polygon::new(tip, colour.filled())).map_err(failed)?;
                    for x in [RIGHT - 22, RIGHT - 14] {
                        let slash = [(x, y + ROW - 3), (x + 7, y + 3)];
                        root.draw(&PathElement::new(slash, WHITE.stroke_width(3)))
                            .map_err(failed)?;
                    }
                    let lengths = [wide, narrow].map(|&length| (self.label)(length)).join(" and ");
                    let cut = format!("cut: {lengths}");
                    text(&root, &cut, (RIGHT + 14, y + 17), 10, HPos::Left)?;
                }
            }
            root.present().map_err(failed)?;
        }
        Ok(svg)
    }
}

/// A bar for each item: its rate as a fraction of the bandwidth ceiling.
pub fn fractions(report: &Report) -> anyhow::Result<String> {
    let bars = Bars {
        title: "Fraction of the bandwidth ceiling",
        subtitle: report.subtitle(),
        legend: "wide: the shortest times of item and plain pass; narrow: the medians of both, \
                 longer than wide where other work slowed the plain pass more",
        // An item may be faster than the plain pass, if it reads from a cache.
        end: 1.2,
        step: 0.2,
        mark: (1.0, "plain pass"),
        label: |fraction| format!("{:.0} %", 100.0 * fraction),
        notes: "GB/s, of",
        foot: if report.rows.iter().any(Row::is_busy) { BUSY_LEGEND } else { "" },
    };
    let rows = report.rows.iter().map(|row| {
        let values = match (&row.result, row.fractions()) {
            (Ok(measured), Some((best, median))) => {
                let rate = giga(row.rate(measured.item.min()));
                let ceiling = giga(measured.ceiling_bytes as f64 / measured.ceiling.min());
                Ok((best, median, format!("{rate} of {ceiling}{}", row.mark())))
            }
            _ => Err("not measured"),
        };
        Bar { item: &row.item, values }
    });
    bars.draw(&rows.collect::<Vec<_>>())
}

/// A bar for each item: what its launches request and move, over the fewest bytes.
pub fn traffic(report: &traffic::Report) -> anyhow::Result<String> {
    let bars = Bars {
        title: "Bytes requested and moved, over the fewest",
        subtitle: report.subtitle(),
        legend: "wide: requested; narrow: moved",
        end: 4.0,
        step: 0.5,
        mark: (1.0, "fewest"),
        label: |ratio| format!("{ratio:.1}"),
        notes: "requested, moved",
        foot: "",
    };
    let rows = report.rows.iter().map(|row| {
        let counted = row.result.as_ref().map_err(|_| "not counted");
        let values = counted.map(|counted| {
            let (requested, moved) = counted.ratios();
            (requested, moved, format!("{requested:.2}, {moved:.2}"))
        });
        Bar { item: &row.item, values }
    });
    bars.draw(&rows.collect::<Vec<_>>())
}

/// Time against bytes, on logarithmic axes.
pub fn growth(report: &Report) -> anyhow::Result<String> {
    let point = |row: &Row| {
        let seconds = row.result.as_ref().ok()?.item.min();
        Some((row.item.bytes() as f64 / f64::from(1 << 20), seconds * 1e3))
    };
    let points = |line: &Line| line.rows.iter().filter_map(point).collect::<Vec<_>>();
    let all: Vec<(f64, f64)> = report.growth.iter().flat_map(points).collect();
    anyhow::ensure!(!all.is_empty(), "no growing item could be measured");
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::MAX, 0.0), |(low, high), value| {
            (f64::min(low, value), f64::max(high, value))
        });
        low / 1.3..high * 1.3
    };
    let (bytes, times) = (range(&mut all.iter().map(|p| p.0)), range(&mut all.iter().map(|p| p.1)));
    let mut svg = String::new();
    {
        let root = area(&mut svg, (900, 620))?;
        text(&root, "Time as inputs grow", (16, 14), 18, HPos::Left)?;
        text(&root, &report.subtitle(), (16, 38), 12, HPos::Left)?;
        let (_, lower) = root.split_vertically(60);
        let mut chart = ChartBuilder::on(&lower)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(bytes.clone().log_scale(), times.clone().log_scale())
            .map_err(failed)?;
        chart
            .configure_mesh()
            .bold_line_style(FAINT)
            .light_line_style(FAINT.mix(0.4))
            .x_desc("MiB read and written")
            .y_desc("milliseconds, shortest time")
            .x_label_formatter(&|mib| format!("{mib}"))
            .y_label_formatter(&|ms| format!("{ms}"))
            .draw()
            .map_err(failed)?;
        // Linear growth, through the largest item of the first line.
        let (mib, ms) = all[points(&report.growth[0]).len().max(1) - 1];
        let linear = [bytes.start, bytes.end].map(|at| (at, ms * at / mib));
        chart
            .draw_series(LineSeries::new(linear, INK.mix(0.4).stroke_width(1)))
            .map_err(failed)?
            .label("linear")
            .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], INK.mix(0.4)));
        for (line, colour) in report.growth.iter().zip(COLOURS) {
            chart
                .draw_series(LineSeries::new(points(line), colour.stroke_width(2)).point_size(3))
                .map_err(failed)?
                .label(line.name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3))
                });
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE)
            .border_style(FAINT)
            .label_font(("sans-serif", 13).into_font().color(&INK))
            .draw()
            .map_err(failed)?;
        root.present().map_err(failed)?;
    }
    Ok(svg)
}

fn area(svg: &mut String, size: (u32, u32)) -> anyhow::Result<Area<'_>> {
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE).map_err(failed)?;
    Ok(root)
}

/// A line of text; `at` is its top.
fn text(root: &Area, text: &str, at: (i32, i32), size: i32, side: HPos) -> anyhow::Result<()> {
    let style = ("sans-serif", size).into_font().color(&INK).pos(Pos::new(side, VPos::Top));
    root.draw(&Text::new(text.to_string(), at, style)).map_err(failed)
}

fn colour(kind: Kind) -> RGBColor {
    match kind {
        Kind::ReduceMax => COLOURS[0],
        Kind::MaxPool => COLOURS[1],
        Kind::SegmentMax => COLOURS[2],
    }
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("drawing the plot: {error}")
}

#[cfg(test)]
mod tests {
    use wgmax::Device;

    use super::super::Measured;
    use super::super::item;
    use super::super::times::Times;
    use super::*;

    /// The plot, and the table, of the first item with these seconds of it and of the plain pass.
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
        (fractions(&report).unwrap(), report.to_string())
    }

    #[test]
    fn cut_bars_and_a_busy_machine_are_marked() {
        let (plot, table) = drawn([1e-3, 1.1e-3, 1.2e-3], 0.9e-3);
        for text in [&plot, &table] {
            assert!(!text.contains("cut") && !text.contains("busy"), "{text}");
            assert!(text.contains("ReduceMax f32 [1024], axis 0"), "{text}");
        }
        // Each line of the grid has its number, above the bars and below them.
        for number in ["0 %", "20 %", "100 %", "120 %"] {
            assert_eq!(plot.matches(&format!("\n{number}\n")).count(), 2, "{number}: {plot}");
        }
        assert!(plot.contains("the medians of both, longer than wide where"), "{plot}");
        // Twice as fast as the plain pass, and then in the median only.
        assert!(drawn([1e-3, 1.1e-3, 1.2e-3], 2.2e-3).0.contains("cut: 220 % and 200 %"));
        let (plot, table) = drawn([1e-3, 2e-3, 3e-3], 0.9e-3);
        for text in [&plot, &table] {
            assert!(text.contains("busy") && text.contains(BUSY_LEGEND), "{text}");
        }
        assert!(!plot.contains("cut"), "{plot}");
    }
}
