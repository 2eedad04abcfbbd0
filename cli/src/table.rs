//! Tables that fit the terminal. If a table does not fit, it becomes a list.

use std::fmt;
use std::io::IsTerminal;

use comfy_table::{CellAlignment, Color, ColumnConstraint, ContentArrangement, presets};

use super::color;

/// The width without a terminal and without `COLUMNS`.
const WIDTH: usize = 80;
/// A column that is broken into lines has at least this width.
const MIN_WRAPPED: usize = 12;

/// A cell that a list omits.
pub const NOTHING: &str = "-";

/// Columns of an output line.
pub fn width() -> usize {
    let terminal = || comfy_table::Table::new().width().map(usize::from);
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns| columns > 0);
    let found = if std::io::stdout().is_terminal() { terminal() } else { None };
    found.or_else(variable).unwrap_or(WIDTH)
}

/// Text in lines of at most `width` columns, each after `indent`. Words are not broken, nor is an
/// option separated from its value.
pub fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut().filter(|last| last.starts_with("--") && !last.contains([' ', '='])) {
            Some(option) => *option += &format!(" {word}"),
            None => words.push(word.to_string()),
        }
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("there is one");
        match line.is_empty() {
            true => *line = format!("{indent}{word}"),
            false if line.chars().count() + 1 + word.chars().count() <= width => {
                *line += &format!(" {word}");
            }
            false => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}

/// The text of a cell, perhaps of several lines, and whether it is a good verdict or a bad one.
pub struct Cell {
    text: String,
    good: Option<bool>,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), good: None }
    }
}

impl Cell {
    /// A verdict: green or red.
    pub fn verdict(text: impl Into<String>, good: bool) -> Self {
        Self { text: text.into(), good: Some(good) }
    }
}

/// A table. If a heading has several lines, each belongs to a line of the cells below.
pub struct Table {
    header: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    /// The column that is broken into lines if there is not enough space.
    wraps: Option<usize>,
    right: Vec<usize>,
}

impl Table {
    pub fn new(header: &[&'static str]) -> Self {
        Self { header: header.to_vec(), rows: Vec::new(), wraps: None, right: Vec::new() }
    }

    /// Breaks the cells of a column between words, if the table is too wide.
    pub fn wrap(mut self, column: usize) -> Self {
        self.wraps = Some(column);
        self
    }

    /// Aligns the cells of columns to the right.
    pub fn right(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    pub fn add_row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The texts of a column, the heading first.
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        let cells = self.rows.iter().filter_map(move |row| row.get(column));
        std::iter::once(self.header[column]).chain(cells.map(|cell| cell.text.as_str()))
    }

    /// The length, in characters, of the longest part into which `split` cuts the texts of a column.
    fn longest<'a, I: Iterator<Item = &'a str>>(
        &'a self,
        column: usize,
        split: fn(&'a str) -> I,
    ) -> usize {
        self.column(column).flat_map(split).map(|part| part.chars().count()).max().unwrap_or(0)
    }

    /// The table, at most `width` characters wide, or `None` if it does not fit.
    fn fitted(&self, width: usize) -> Option<comfy_table::Table> {
        let columns: Vec<usize> =
            (0..self.header.len()).map(|column| self.longest(column, str::lines)).collect();
        // Each column has a blank on both sides and a border; the table has one border more.
        let whole = columns.iter().sum::<usize>() + 3 * columns.len() + 1;
        let mut table = comfy_table::Table::new();
        if let Some(excess) = whole.checked_sub(width).filter(|&excess| excess > 0) {
            let wraps = self.wraps?;
            let rest = columns[wraps].checked_sub(excess)?;
            let words = self.longest(wraps, str::split_whitespace);
            if rest < words.max(MIN_WRAPPED) {
                return None;
            }
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(u16::try_from(width).ok()?);
        }
        // `--color` decides, not only whether this is a terminal.
        if color::stdout() {
            table.enforce_styling()
        } else {
            table.force_no_tty()
        };
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(self.header.iter().copied());
        for row in &self.rows {
            table.add_row(row.iter().map(|Cell { text, good }| {
                let cell = comfy_table::Cell::new(text);
                match good {
                    Some(good) => cell.fg(if *good { Color::Green } else { Color::Red }),
                    None => cell,
                }
            }));
        }
        for (number, column) in table.column_iter_mut().enumerate() {
            if Some(number) != self.wraps {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            if self.right.contains(&number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        Some(table)
    }

    /// A paragraph for each row: its first cell, and the others after their headings.
    fn list(&self, width: usize) -> String {
        let mut paragraphs = Vec::new();
        for row in &self.rows {
            let mut parts = Vec::new();
            for (heading, cell) in self.header.iter().zip(row).skip(1) {
                let headings = heading.lines().count();
                for (number, heading) in heading.lines().enumerate() {
                    let lines = cell.text.lines().skip(number);
                    // The last heading belongs to the remaining lines.
                    let take = if number + 1 == headings { usize::MAX } else { 1 };
                    let text = lines.take(take).collect::<Vec<_>>().join(", ");
                    if !text.is_empty() && text != NOTHING {
                        parts.push(format!("{heading} {}", color::verdict(&text, cell.good)));
                    }
                }
            }
            let first = row[0].text.lines().collect::<Vec<_>>().join(", ");
            paragraphs.push(wrapped(&first, width, ""));
            let parts = if parts.is_empty() { NOTHING.to_string() } else { parts.join("; ") };
            paragraphs.push(wrapped(&parts, width, "  "));
        }
        paragraphs.join("\n")
    }

    /// The table, or the list, at most `width` characters wide.
    pub fn text(&self, width: usize) -> String {
        self.fitted(width).map_or_else(|| self.list(width), |table| table.to_string())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["name", "min\nmax", "what"]).wrap(2);
        table.add_row(["first", "10\n20", "a few words that can be broken"]);
        table.add_row(["second", "", "unbreakable_word"]);
        table
    }

    #[test]
    fn tables_are_broken_between_words_or_become_lists() {
        let lines = |width| table().text(width).lines().map(str::to_string).collect::<Vec<_>>();
        let whole = lines(80);
        assert!(whole.iter().all(|line| line.chars().count() == 49), "{whole:#?}");
        for width in 34..=49 {
            let lines = lines(width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{lines:#?}");
            let table = width >= 35;
            assert_eq!(lines[0].starts_with('┌'), table, "{lines:#?}");
            assert!(lines.iter().any(|line| line.contains("unbreakable_word")), "{lines:#?}");
        }
        assert_eq!(
            table().text(30),
            "first\n  min 10; max 20; what a few\n  words that can be broken\nsecond\n  \
             what unbreakable_word"
        );
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("a bb ccc dddd", 6, "  "), "  a bb\n  ccc\n  dddd");
        assert_eq!(wrapped("", 6, "  "), "");
        assert_eq!(wrapped("give --dim a=N or more", 12, ""), "give\n--dim a=N or\nmore");
    }
}
