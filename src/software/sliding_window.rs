//! `shaders/software/sliding_window_maximum.wgsl` and `sliding_window_index.wgsl`: what a loop over
//! the taps of a window would do, without the loop. Here are written the parts of their texts that
//! are specialised for a window.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::plan::{Attributes, Call, Flags, Kernel, Shader, Specialization};
use crate::pool::{Numbering, Params, run_index, run_maxima};
use crate::tensor::ElementType;

/// Maxima of windows. `unaligned_source` and `unaligned_result`: lines begin and end with words,
/// but not with blocks.
pub(super) static MAXIMUM: Kernel = Kernel::new(
    "pool_sliding_window",
    "software/sliding_window_maximum",
    |shader, call| {
        let params: &MaximumParams = call.params();
        run_maxima(shader, &params.pool, call);
    },
)
.flags(&["unaligned_source", "unaligned_result"])
.specialized(&Specialization {
    write: |shader| SlidingWindow::of(shader).text(shader.element.size(), false),
    samples: || SlidingWindow::SAMPLES.iter().map(SlidingWindow::attributes).collect(),
});

/// Where they are, of elements of a word. `wide`: indices have two words.
pub(super) static POSITIONS: Kernel = Kernel::new(
    "pool_sliding_window_index",
    "software/sliding_window_index",
    |shader: &Shader, call: Call<'_, '_>| {
        let params: &IndexParams = call.params();
        run_index(shader, &params.pool, &params.numbering, call);
    },
)
.flags(&["unaligned_result", "wide"])
.only(|element: ElementType, _: Flags| element.size() == 4)
.specialized(&Specialization {
    write: |shader| SlidingWindow::of(shader).text(shader.element.size(), true),
    samples: || SlidingWindow::SAMPLES.iter().map(SlidingWindow::attributes).collect(),
});

/// As the `Strips` of `shaders/software/sliding_window.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Strips {
    pub count: u32,
    pub per_line: u32,
    pub steps: u32,
    pub per_invocation: u32,
    pub by_per_line: [u32; 4],
    pub by_inner: [u32; 4],
}

/// As the `Params` of `shaders/software/sliding_window_maximum.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct MaximumParams {
    pub pool: Params,
    pub strips: Strips,
}

/// As the `Params` of `shaders/software/sliding_window_index.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct IndexParams {
    pub pool: Params,
    pub numbering: Numbering,
    pub strips: Strips,
}

/// What a text knows of its window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlidingWindow {
    /// Taps along the two axes before the last.
    pub rows: [u8; 2],
    /// Taps along the last axis.
    pub taps: u8,
    /// From one window to the next along it.
    pub stride: u8,
    /// From one tap to the next along it.
    pub dilation: u8,
    /// From the first tap to the last one, which may be nearer than taps and dilation make it.
    pub reach: u8,
    /// Along what the window slides.
    pub over: Over,
}

/// What lies along the last axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Over {
    /// Elements that follow one another.
    Elements {
        /// The element of a block of 16 bytes that the first window begins at.
        shift: u8,
    },
    /// Whole blocks of an inner axis.
    Blocks {
        /// How many of them an invocation slides along at once.
        breadth: u8,
    },
}

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

/// What the generated text takes from the files.
const IMPORTS: &str = "\
import kernel::store_step;
import package::common::block::{Acc, acc_add_keys, acc_pack};
import package::common::key::key_max;
import package::software::sliding_window::{ResultLines, Row, SourceLines, row, row_keys};
import package::software::sliding_window_index::{Candidates, better, better_each};
import package::software::sliding_window_index::{candidate, candidates, together};
";

impl SlidingWindow {
    /// Some of all that there may be: with every part of the text that there is.
    const SAMPLES: [Self; 4] = [
        Self::sample([2, 2], 3, [2, 1, 2], Over::Elements { shift: 1 }),
        Self::sample([1, 1], 13, [1, 1, 11], Over::Elements { shift: 0 }),
        Self::sample([1, 3], 3, [2, 1, 2], Over::Blocks { breadth: 2 }),
        Self::sample([1, 1], 6, [1, 2, 9], Over::Blocks { breadth: 1 }),
    ];

    const fn sample(rows: [u8; 2], taps: u8, step: [u8; 3], over: Over) -> Self {
        let [stride, dilation, reach] = step;
        Self { rows, taps, stride, dilation, reach, over }
    }

    /// The window as a shader has it.
    pub(super) fn attributes(&self) -> Attributes {
        let (kind, number) = match self.over {
            Over::Elements { shift } => (0, shift),
            Over::Blocks { breadth } => (1, breadth),
        };
        let &Self { rows: [a, b], taps, stride, dilation, reach, .. } = self;
        [a, b, taps, stride, dilation, reach, kind, number, 0, 0, 0, 0, 0, 0, 0, 0]
    }

    /// The window that a shader is for.
    fn of(shader: &Shader) -> Self {
        let [a, b, taps, stride, dilation, reach, kind, number, ..] = shader.attributes;
        let over = match kind {
            0 => Over::Elements { shift: number },
            _ => Over::Blocks { breadth: number },
        };
        Self { rows: [a, b], taps, stride, dilation, reach, over }
    }

    /// Elements of a position, which are also the windows of a step.
    pub(super) fn per_position(&self, size: usize) -> usize {
        if matches!(self.over, Over::Elements { .. }) { 16 / size } else { 1 }
    }

    fn shift(&self) -> usize {
        match self.over {
            Over::Elements { shift } => shift.into(),
            Over::Blocks { .. } => 0,
        }
    }

    /// Blocks that an invocation slides along at once.
    pub(super) fn breadth(&self) -> usize {
        match self.over {
            Over::Elements { .. } => 1,
            Over::Blocks { breadth } => breadth.into(),
        }
    }

    /// Positions that the windows of a step look at.
    pub(super) fn held(&self, size: usize) -> usize {
        let per_position = self.per_position(size);
        let windows = (per_position - 1) * usize::from(self.stride);
        (self.shift() + windows + usize::from(self.reach)) / per_position + 1
    }

    /// Positions that the next step has too.
    fn kept(&self, size: usize) -> usize {
        self.held(size).saturating_sub(self.stride.into())
    }

    /// Blocks that the text reads.
    pub(super) fn reads(&self, size: usize) -> usize {
        let [first, before] = self.rows.map(usize::from);
        let stride = usize::from(self.stride);
        let positions = self.held(size).min(stride) + self.kept(size).min(stride);
        first * before * self.breadth() * positions
    }

    /// The text, for elements of so many bytes; `finds` is whether positions are wanted too, of
    /// elements of a word.
    fn text(&self, size: usize, finds: bool) -> String {
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
        let (column, load) = if finds { ("Candidates", "candidates") } else { KEYS };
        writeln!(text, "alias Column = {column};")?;
        let each = (0..taps.len()).map(|i| format!("{load}(rows[{i}], lines, at, beside)"));
        writeln!(
            text,
            "fn column(rows: Rows, lines: SourceLines, at: i32, beside: u32) -> Column {{"
        )?;
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
        const PARAMETERS: &str =
            "held: ptr<function, Held>, rows: Rows, lines: SourceLines, at: i32";
        // Once more in a loop rather than all that is kept: some drivers take minutes for long
        // texts.
        writeln!(text, "fn begin_strip({PARAMETERS}) {{")?;
        if kept <= stride {
            fill(text, 0..kept)?;
        } else {
            writeln!(text, "    for (var k = {}; k > 0; k--) {{", kept.div_ceil(stride))?;
            writeln!(text, "        add_position(held, rows, lines, at - k * STRIDE);")?;
            writeln!(text, "        move_on(held);\n    }}")?;
        }
        writeln!(text, "}}\nfn add_position({PARAMETERS}) {{")?;
        fill(text, kept..held)?;
        writeln!(text, "}}\nfn move_on(held: ptr<function, Held>) {{")?;
        for k in 0..kept * breadth {
            writeln!(text, "    (*held)[{k}] = (*held)[{}];", k + stride * breadth)?;
        }
        writeln!(text, "}}")
    }

    /// How the windows of a step are made and stored.
    fn write_windows(&self, text: &mut String, size: usize, finds: bool) -> std::fmt::Result {
        writeln!(
            text,
            "fn store_windows(held: ptr<function, Held>, lines: ResultLines, line: u32, step: u32) {{"
        )?;
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

/// What a column is where no positions are wanted, and the function that loads one of a row.
const KEYS: (&str, &str) = ("vec4<u32>", "row_keys");

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shader_knows_its_window() {
        for window in SlidingWindow::SAMPLES {
            let shader = Shader::new(&MAXIMUM, ElementType::F32, 64);
            let shader = Shader { attributes: window.attributes(), ..shader };
            assert_eq!(SlidingWindow::of(&shader), window);
        }
    }
}
