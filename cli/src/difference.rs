//! The differences of two tensors, as a table.

use wgmax::Comparison;

use super::table::{self, Table};

/// The report as the library prints it or, if that is too wide, with a table that fits. Its lines
/// begin after `indent` columns.
pub fn text(report: &Comparison, indent: usize) -> String {
    in_columns(report, table::width().saturating_sub(indent))
}

fn in_columns(report: &Comparison, width: usize) -> String {
    let text = report.to_string();
    // The first line may follow other text, and is not part of a table.
    if text.lines().skip(1).all(|line| line.chars().count() <= width) {
        return text;
    }
    let mut table = Table::new(&["at", "a\nb", "bits of a\nbits of b", report.distance_name()])
        .right(&[1, 2, 3]);
    let digits = 2 * report.element_type.size();
    for found in &report.first {
        table.add_row([
            format!("{:?}", found.coordinates),
            format!("{}\n{}", found.a, found.b),
            format!("0x{:0digits$x}\n0x{:0digits$x}", found.a_bits, found.b_bits),
            found.ulp.map_or_else(|| table::NOTHING.to_string(), |ulp| ulp.to_string()),
        ]);
    }
    let head = text.lines().next().unwrap_or_default();
    let more = match report.differing - report.first.len() {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!("{head}\n{}{more}", table.text(width))
}

#[cfg(test)]
mod tests {
    use wgmax::Tensor;

    use super::*;

    #[test]
    fn wide_reports_get_another_table() {
        let zeros = [0f64; 12];
        let mut other = zeros;
        other[1] = -1.234_567_890_123_456_7e-300;
        other[5..].fill(f64::MAX);
        let tensor = |elements: &[f64]| Tensor::from_slice([1, 1, 2, 6], elements).unwrap();
        let report = wgmax::compare(&tensor(&zeros), &tensor(&other)).unwrap();
        assert_eq!(in_columns(&report, 200), report.to_string());
        for width in [100, 90, 80, 60, 40] {
            let text = in_columns(&report, width);
            assert_ne!(text, report.to_string());
            assert!(text.lines().skip(1).all(|line| line.chars().count() <= width), "{text}");
            let cells = ["[0, 0, 0, 1]", "-1.2345678901234568e-300", "0x7fefffffffffffff"];
            assert!(cells.iter().all(|cell| text.contains(cell)), "{text}");
        }
    }
}
