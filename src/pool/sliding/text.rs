//! The text of a sliding window: the specialized parts of its shaders.

use std::collections::HashSet;
use std::ops::Range;

use super::window::SlidingWindow;

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// The imports of the generated text.
const IMPORTS: &str = "\
import kernel::store_step;
import package::common::block::{Acc, acc_max, acc_pack};
import package::common::key::key_max;
import package::pool::sliding_window::{Candidates, Lines, Row, better, better_each};
import package::pool::sliding_window::{candidate, candidates, row, row_acc, together};
";

/// The arguments of the functions that load columns.
const LOAD: &str = "held: ptr<function, Held>, rows: Rows, lines: Lines, at: i32";

impl SlidingWindow {
    /// The text, for elements of `size` bytes. With `finds` it also finds positions, if an element
    /// is a word. Planners then take one line; a sample of several is reduced to one.
    pub(super) fn text(&self, size: usize, finds: bool) -> String {
        if finds && self.height > 1 {
            return Self { height: 1, ..*self }.text(size, finds);
        }
        let &Self { stride, shift, height, .. } = self;
        let (per_slice, beside) = (self.per_slice(size), self.beside());
        let (columns, held) = (self.columns(finds), self.held_columns(size));
        let windows = (0..height.into()).map(|i| {
            let windows = match self.breadth {
                0 => self.windows_of_elements(size, finds, i),
                _ => self.windows_of_blocks(finds, i),
            };
            if i == 0 { windows } else { format!("    if count > {i}u {{\n{windows}    }}\n") }
        });
        let windows: String = windows.collect();
        format!(
            "{IMPORTS}\
const PER_SLICE: u32 = {per_slice}u;
const STRIDE: i32 = {stride};
const SHIFT: i32 = {shift};
const BREADTH: u32 = {beside}u;
const HEIGHT: u32 = {height}u;
{columns}{held}\
fn store_windows(held: ptr<function, Held>, lines: Lines, line: u32, step: u32, count: u32) {{
{windows}}}
"
        )
    }

    /// The rows of windows; and how the columns of all lines are computed from the blocks of a slice.
    fn columns(&self, finds: bool) -> String {
        let [first, before] = self.rows.map(usize::from);
        let distances = self.row_distances();
        let rows = (0..first).flat_map(|i| distances.iter().map(move |d| (i, d)));
        let rows = rows.map(|(i, d)| format!("row(origin, first0, first1, {i}u, {d})"));
        let rows: Vec<_> = rows.collect();
        let (count, rows) = (rows.len(), rows.join(", "));
        // Keys, or keys and positions; and the function that loads those of a row.
        let (column, load) = if finds { ("Candidates", "candidates") } else { ("Acc", "row_acc") };
        let body = if finds && count > 1 {
            // The time that SwiftShader takes is exponential in the depth of comparisons. A loop,
            // which other drivers unroll, separates those of the rows from those of the windows.
            format!(
                "    var all = rows;
    var best = {load}(all[0], lines, at, beside);
    for (var i = 1u; i < {count}u; i++) {{
        best = better_each(best, {load}(all[i], lines, at, beside));
    }}
    return Columns(best);"
            )
        } else {
            let load = |i| format!("    let r{i} = {load}(rows[{i}], lines, at, beside);\n");
            let number = |i: usize, line: usize, j: usize| {
                let distance = self.row_distance(line, j);
                i * distances.len() + distances.partition_point(|&d| d < distance)
            };
            let columns = (0..self.height.into()).map(|line| {
                let taps = (0..first).flat_map(|i| (0..before).map(move |j| (i, j)));
                let rows = taps.map(|(i, j)| format!("r{}", number(i, line, j)));
                join(finds, rows.collect())
            });
            let columns = columns.collect::<Vec<_>>().join(", ");
            format!("{}    return Columns({columns});", (0..count).map(load).collect::<String>())
        };
        format!(
            "alias Rows = array<Row, {count}>;
fn rows_of(origin: u32, first0: i32, first1: i32) -> Rows {{
    return Rows({rows});
}}
alias Columns = array<{column}, HEIGHT>;
fn columns(rows: Rows, lines: Lines, at: i32, beside: u32) -> Columns {{
{body}
}}
"
        )
    }

    /// The columns that a step holds, and how the next step gets them.
    fn held_columns(&self, size: usize) -> String {
        let (stride, beside) = (usize::from(self.stride), self.beside());
        let (held, kept) = (self.held(size), self.kept(size));
        let fill = |slices: Range<usize>| {
            let columns = (slices.start * beside..slices.end * beside).map(|column| {
                let (k, a) = (column / beside, column % beside);
                format!("    (*held)[{column}] = columns(rows, lines, at + {k}, {a}u);\n")
            });
            columns.collect::<String>()
        };
        // A loop reads the columns again instead of keeping them: some drivers take minutes for
        // long texts.
        let begin = match kept.div_ceil(stride) {
            0 | 1 => fill(0..kept),
            steps => format!(
                "    for (var k = {steps}; k > 0; k--) {{
        add_slice(held, rows, lines, at - k * STRIDE);
        move_on(held);
    }}
"
            ),
        };
        let moves = (0..kept * beside)
            .map(|k| format!("    (*held)[{k}] = (*held)[{}];\n", k + stride * beside));
        let (columns, add, moves) = (held * beside, fill(kept..held), moves.collect::<String>());
        format!(
            "alias Held = array<Columns, {columns}>;
fn begin_strip({LOAD}) {{
{begin}}}
fn add_slice({LOAD}) {{
{add}}}
fn move_on(held: ptr<function, Held>) {{
{moves}}}
"
        )
    }

    /// How a line's windows of a step are computed and stored along elements: each window by itself.
    fn windows_of_elements(&self, size: usize, finds: bool, line: usize) -> String {
        let per_slice = self.per_slice(size);
        let element = |i: usize| {
            let (block, i) = (i / per_slice, i % per_slice);
            let column = format!("(*held)[{block}][{line}]");
            match size {
                4 if finds => format!("candidate({column}, {i}u)"),
                8 => format!("vec2<u32>({column}.low[{i}], {column}.high[{i}])"),
                // The top bits of a word; the bits below them are unspecified.
                _ => {
                    let part = match size {
                        1 => ["b0", "b1", "b2", "b3"][i % 4],
                        2 => ["h0", "h1"][i % 2],
                        _ => "w",
                    };
                    format!("{column}.{part}.{}", COMPONENTS[i * size / 4])
                }
            }
        };
        let dilation = usize::from(self.dilation);
        let best = if finds { "better" } else { "key_max" };
        let mut made = Made { text: String::new(), known: HashSet::new(), dilation, best };
        let last = usize::from(self.reach);
        let even = last == usize::from(self.taps - 1) * dilation;
        for window in 0..per_slice {
            let first = usize::from(self.shift) + window * usize::from(self.stride);
            let taps = usize::from(self.taps) - usize::from(!even);
            let some = made.maximum(first, taps, &element);
            // If the number of taps is even, the last tap is one of the others.
            let last = made.maximum(first + last, 1, &element);
            made.text += &format!("    let k{window} = {best}({some}, {last});\n");
        }
        let keys: Vec<_> = (0..per_slice).map(|i| format!("k{i}")).collect();
        let words = match size {
            4 if finds => format!("together({})", keys.join(", ")),
            _ => {
                let words: Vec<_> = keys.chunks((4 / size).max(1)).map(packed).collect();
                format!("vec4<u32>({})", words.join(", "))
            }
        };
        format!("{}    store_step({}, lines, step, {words});\n", made.text, line_of(line))
    }

    /// The same along blocks: each block has windows at one place.
    fn windows_of_blocks(&self, finds: bool, line: usize) -> String {
        let (beside, dilation) = (self.beside(), usize::from(self.dilation));
        let steps = (0..beside).map(|a| {
            let slice = |tap: usize| (tap * dilation).min(self.reach.into());
            let taps = 0..usize::from(self.taps);
            let columns = taps.map(|tap| format!("(*held)[{}][{line}]", slice(tap) * beside + a));
            let all = join(finds, columns.collect());
            let all = if finds { all } else { format!("acc_pack({all})") };
            format!("    store_step({} + {a}u, lines, step, {all});\n", line_of(line))
        });
        steps.collect()
    }
}

/// The text for the offset of the first result of a line.
fn line_of(line: usize) -> String {
    if line == 0 { "line".into() } else { format!("line + {line}u * lines.length") }
}

/// The maximum of blocks.
fn join(finds: bool, blocks: Vec<String>) -> String {
    let larger = if finds { "better_each" } else { "acc_max" };
    blocks.into_iter().reduce(|a, b| format!("{larger}({a}, {b})")).unwrap_or_default()
}

/// A word of keys, each in the top bits of a value.
fn packed(keys: &[String]) -> String {
    match keys {
        [a, b] => format!("({a} >> 16u) | ({b} & 0xffff0000u)"),
        [a, b, c, d] => format!(
            "({a} >> 24u) | (({b} >> 16u) & 0xff00u) | (({c} >> 8u) & 0xff0000u) \
             | ({d} & 0xff000000u)"
        ),
        _ => keys.concat(),
    }
}

/// Maxima that the text already computes.
struct Made {
    text: String,
    known: HashSet<(usize, usize)>,
    dilation: usize,
    /// The function that computes the maximum of two.
    best: &'static str,
}

impl Made {
    /// The name of the maximum of `taps` taps from element `first` on: the maximum of two maxima,
    /// each of half as many taps, which may overlap.
    fn maximum(&mut self, first: usize, taps: usize, element: &impl Fn(usize) -> String) -> String {
        let name = format!("m{first}_{taps}");
        if self.known.insert((first, taps)) {
            let made = if taps == 1 {
                element(first)
            } else {
                let half = taps.next_power_of_two() / 2;
                let low = self.maximum(first, half, element);
                let high = self.maximum(first + (taps - half) * self.dilation, half, element);
                format!("{}({low}, {high})", self.best)
            };
            self.text += &format!("    let {name} = {made};\n");
        }
        name
    }
}
