//! The text of a sliding window: the parts of its shaders that are specialised.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use super::{Over, SlidingWindow};

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// What the generated text takes from the files.
const IMPORTS: &str = "\
import kernel::store_step;
import package::common::block::{Acc, acc_add_keys, acc_pack};
import package::common::key::key_max;
import package::software::sliding_window::{ResultLines, Row, SourceLines, row, row_keys};
import package::software::sliding_window::{Candidates, better, better_each};
import package::software::sliding_window::{candidate, candidates, together};
";

/// What a column is where no positions are wanted, and the function that loads one of a row.
const KEYS: (&str, &str) = ("vec4<u32>", "row_keys");
/// The same where they are.
const CANDIDATES: (&str, &str) = ("Candidates", "candidates");

/// What the functions take that load columns.
const LOAD: &str = "held: ptr<function, Held>, rows: Rows, lines: SourceLines, at: i32";

impl SlidingWindow {
    /// The text, for elements of so many bytes; `finds` is whether positions are wanted too, of
    /// elements of a word.
    pub(super) fn text(&self, size: usize, finds: bool) -> String {
        let mut text = IMPORTS.to_string();
        self.write_constants(&mut text, size)
            .and_then(|()| self.write_columns(&mut text, finds))
            .and_then(|()| self.write_held(&mut text, size))
            .and_then(|()| self.write_windows(&mut text, size, finds))
            .expect("writing to a string cannot fail");
        text
    }

    fn write_constants(&self, text: &mut String, size: usize) -> std::fmt::Result {
        writeln!(text, "const PER_POSITION: u32 = {}u;", self.per_position(size))?;
        writeln!(text, "const STRIDE: i32 = {};", self.stride)?;
        writeln!(text, "const SHIFT: i32 = {};", self.shift())?;
        writeln!(text, "const BREADTH: u32 = {}u;", self.breadth())
    }

    /// The rows of a window, and how a column is made of what they have at a position.
    fn write_columns(&self, text: &mut String, finds: bool) -> std::fmt::Result {
        let taps: Vec<(u8, u8)> =
            (0..self.rows[0]).flat_map(|i| (0..self.rows[1]).map(move |j| (i, j))).collect();
        writeln!(text, "alias Rows = array<Row, {}>;", taps.len())?;
        writeln!(text, "fn rows_of(origin: u32, first0: i32, first1: i32) -> Rows {{")?;
        let rows = taps.iter().map(|(i, j)| format!("row(origin, first0, first1, {i}u, {j}u)"));
        writeln!(text, "    return Rows({});\n}}", rows.collect::<Vec<_>>().join(", "))?;

        // Keys, or also where they are.
        let (column, load) = if finds { CANDIDATES } else { KEYS };
        writeln!(text, "alias Column = {column};")?;
        let at = "lines: SourceLines, at: i32, beside: u32";
        writeln!(text, "fn column(rows: Rows, {at}) -> Column {{")?;
        if finds && taps.len() > 1 {
            // SwiftShader takes a time that is exponential in the depth of comparisons: a loop, which
            // other drivers unroll, keeps those of the rows apart from those of the windows.
            let load = |i: &str| format!("{load}(all[{i}], lines, at, beside)");
            writeln!(text, "    var all = rows;\n    var best = {};", load("0"))?;
            writeln!(text, "    for (var i = 1u; i < {}u; i++) {{", taps.len())?;
            writeln!(text, "        best = better_each(best, {});", load("i"))?;
            return writeln!(text, "    }}\n    return best;\n}}");
        }
        let each = (0..taps.len()).map(|i| format!("{load}(rows[{i}], lines, at, beside)"));
        writeln!(text, "    return {};\n}}", join(finds, each.collect()))
    }

    /// The columns that a step holds, and how the next step comes to hold its own.
    fn write_held(&self, text: &mut String, size: usize) -> std::fmt::Result {
        let (stride, breadth) = (usize::from(self.stride), self.breadth());
        let (held, kept) = (self.held(size), self.kept(size));
        writeln!(text, "alias Held = array<Column, {}>;", held * breadth)?;
        let fill = |text: &mut String, positions: Range<usize>| {
            positions.flat_map(|k| (0..breadth).map(move |a| (k, a))).try_for_each(|(k, a)| {
                let place = k * breadth + a;
                writeln!(text, "    (*held)[{place}] = column(rows, lines, at + {k}, {a}u);")
            })
        };
        // Once more in a loop rather than all that is kept: some drivers take minutes for long
        // texts.
        writeln!(text, "fn begin_strip({LOAD}) {{")?;
        if kept <= stride {
            fill(text, 0..kept)?;
        } else {
            writeln!(text, "    for (var k = {}; k > 0; k--) {{", kept.div_ceil(stride))?;
            writeln!(text, "        add_position(held, rows, lines, at - k * STRIDE);")?;
            writeln!(text, "        move_on(held);\n    }}")?;
        }
        writeln!(text, "}}\nfn add_position({LOAD}) {{")?;
        fill(text, kept..held)?;
        writeln!(text, "}}\nfn move_on(held: ptr<function, Held>) {{")?;
        for k in 0..kept * breadth {
            writeln!(text, "    (*held)[{k}] = (*held)[{}];", k + stride * breadth)?;
        }
        writeln!(text, "}}")
    }

    /// How the windows of a step are made and stored.
    fn write_windows(&self, text: &mut String, size: usize, finds: bool) -> std::fmt::Result {
        let held = "held: ptr<function, Held>, lines: ResultLines";
        writeln!(text, "fn store_windows({held}, line: u32, step: u32) {{")?;
        match self.over {
            Over::Elements { .. } => self.write_elements(text, size, finds)?,
            Over::Blocks { .. } => self.write_blocks(text, finds)?,
        }
        writeln!(text, "}}")
    }

    /// The windows of a step along neighbouring elements, each a value.
    fn write_elements(&self, text: &mut String, size: usize, finds: bool) -> std::fmt::Result {
        let per_position = self.per_position(size);
        let element = |i: usize| {
            let (block, i) = (i / per_position, i % per_position);
            let word = |word: usize| format!("(*held)[{block}].{}", COMPONENTS[word]);
            match size {
                4 if finds => format!("candidate((*held)[{block}], {i}u)"),
                8 => format!("vec2<u32>({}, {})", word(2 * i), word(2 * i + 1)),
                // In the top bits of a word; what lies below them is anything.
                _ => match 32 - 8 * (size * (i % (4 / size)) + size) {
                    0 => word(i * size / 4),
                    left => format!("{} << {left}u", word(i * size / 4)),
                },
            }
        };
        let dilation = usize::from(self.dilation);
        let best = if finds { "better" } else { "key_max" };
        let mut made = Made { text, known: HashSet::new(), dilation, best };
        let last = usize::from(self.reach);
        let even = last == usize::from(self.taps - 1) * dilation;
        for window in 0..per_position {
            let first = self.shift() + window * usize::from(self.stride);
            let taps = usize::from(self.taps) - usize::from(!even);
            let some = made.maximum(first, taps, &element)?;
            // The last tap is one of the others where these are even.
            let last = made.maximum(first + last, 1, &element)?;
            writeln!(made.text, "    let k{window} = {best}({some}, {last});")?;
        }
        let words = match size {
            4 if finds => "together(k0, k1, k2, k3)".to_string(),
            8 => "vec4<u32>(k0, k1)".to_string(),
            4 => "vec4<u32>(k0, k1, k2, k3)".to_string(),
            _ => {
                let word = |i: usize| (i..i + 4 / size).map(|i| format!("k{i}")).collect();
                let words = (0..per_position).step_by(4 / size).map(word);
                let words = words.map(|keys: Vec<_>| packed(&keys)).collect::<Vec<_>>();
                format!("vec4<u32>({})", words.join(", "))
            }
        };
        writeln!(text, "    store_step(line, lines, step, {words});")
    }

    /// The windows of a step at one place, blocks beside one another.
    fn write_blocks(&self, text: &mut String, finds: bool) -> std::fmt::Result {
        let breadth = self.breadth();
        for a in 0..breadth {
            let place = |tap: usize| (tap * usize::from(self.dilation)).min(self.reach.into());
            let taps = 0..usize::from(self.taps);
            let columns = taps.map(|tap| format!("(*held)[{}]", place(tap) * breadth + a));
            let all = join(finds, columns.collect());
            writeln!(text, "    store_step(line + {a}u, lines, step, {all});")?;
        }
        Ok(())
    }
}

/// The maximum of blocks.
fn join(finds: bool, blocks: Vec<String>) -> String {
    if blocks.len() == 1 {
        return blocks[0].clone();
    }
    let blocks = blocks.into_iter();
    if finds {
        return blocks.reduce(|a, b| format!("better_each({a}, {b})")).unwrap_or_default();
    }
    let sum = blocks.fold("Acc()".to_string(), |sum, keys| format!("acc_add_keys({sum}, {keys})"));
    format!("acc_pack({sum})")
}

/// A word of keys that are each in the top bits of one.
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

/// Maxima that there are already.
struct Made<'a> {
    text: &'a mut String,
    known: HashSet<(usize, usize)>,
    dilation: usize,
    /// The function of two that makes them.
    best: &'static str,
}

impl Made<'_> {
    /// The name of the maximum of so many taps from an element on: of two of half as many, which
    /// may overlap.
    fn maximum(
        &mut self,
        first: usize,
        taps: usize,
        element: &impl Fn(usize) -> String,
    ) -> Result<String, std::fmt::Error> {
        let name = format!("m{first}_{taps}");
        if self.known.insert((first, taps)) {
            if taps == 1 {
                writeln!(self.text, "    let {name} = {};", element(first))?;
            } else {
                let half = taps.next_power_of_two() / 2;
                let low = self.maximum(first, half, element)?;
                let high = self.maximum(first + (taps - half) * self.dilation, half, element)?;
                writeln!(self.text, "    let {name} = {}({low}, {high});", self.best)?;
            }
        }
        Ok(name)
    }
}
