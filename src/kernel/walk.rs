//! The written-out parts of `shaders/pool_walk.wgsl`: what a loop over taps would do, without the loop.

use std::collections::HashSet;
use std::fmt::Write;

/// What the text of [`Kernel::PoolWalk`](super::Kernel::PoolWalk) knows of its windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
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
    /// Along what an invocation walks.
    pub over: Over,
}

/// What lies along the last axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Over {
    /// Elements that follow one another.
    Elements {
        /// The element of a block of 16 bytes that the first window begins at.
        shift: u8,
        /// Whether lines of elements begin and end with blocks, rather than with words.
        from_blocks: bool,
        /// The same of results.
        to_blocks: bool,
    },
    /// Whole blocks of an inner axis.
    Blocks {
        /// How many of them an invocation walks along at once.
        abreast: u8,
    },
}

impl Over {
    /// Whether sources and results are whole blocks.
    pub(super) const fn blocks(self) -> (bool, bool) {
        match self {
            Self::Elements { from_blocks, to_blocks, .. } => (from_blocks, to_blocks),
            Self::Blocks { .. } => (true, true),
        }
    }
}

const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Walk {
    /// Some of all that there may be: with every part of the text that there is.
    pub(super) const SAMPLES: [Self; 6] = {
        const fn over(shift: u8, from_blocks: bool, to_blocks: bool) -> Over {
            Over::Elements { shift, from_blocks, to_blocks }
        }
        const fn walk(rows: [u8; 2], taps: u8, step: [u8; 3], over: Over) -> Walk {
            let [stride, dilation, reach] = step;
            Walk { rows, taps, stride, dilation, reach, over }
        }
        [
            walk([1, 3], 3, [2, 1, 2], over(1, true, true)),
            walk([1, 1], 13, [1, 1, 12], over(0, false, true)),
            walk([2, 2], 3, [1, 3, 5], over(1, true, false)),
            walk([1, 1], 2, [3, 1, 1], over(0, false, false)),
            walk([1, 3], 3, [2, 1, 2], Over::Blocks { abreast: 2 }),
            walk([1, 1], 6, [1, 2, 9], Over::Blocks { abreast: 1 }),
        ]
    };

    /// The text, for elements of so many bytes; `finds` is whether positions are wanted too, of elements of a word.
    pub(super) fn source(&self, size: usize, finds: bool) -> String {
        let mut text = String::new();
        self.write(&mut text, size, finds).expect("writing to a string cannot fail");
        text
    }

    /// Windows of a step along the last axis, and elements of a position.
    pub(crate) fn per(&self, size: usize) -> usize {
        if matches!(self.over, Over::Elements { .. }) { 16 / size } else { 1 }
    }

    fn shift(&self) -> usize {
        match self.over {
            Over::Elements { shift, .. } => shift.into(),
            Over::Blocks { .. } => 0,
        }
    }

    pub(crate) fn abreast(&self) -> usize {
        match self.over {
            Over::Elements { .. } => 1,
            Over::Blocks { abreast } => abreast.into(),
        }
    }

    /// Positions that the windows of a step look at.
    pub(crate) fn held(&self, size: usize) -> usize {
        let per = self.per(size);
        let windows = (per - 1) * usize::from(self.stride);
        (self.shift() + windows + usize::from(self.reach)) / per + 1
    }

    /// Positions that the next step has too.
    fn kept(&self, size: usize) -> usize {
        self.held(size).saturating_sub(self.stride.into())
    }

    /// Blocks that the text reads.
    pub(crate) fn reads(&self, size: usize) -> usize {
        let [first, before] = self.rows.map(usize::from);
        let stride = usize::from(self.stride);
        let positions = self.held(size).min(stride) + self.kept(size).min(stride);
        first * before * self.abreast() * positions
    }

    fn write(&self, text: &mut String, size: usize, finds: bool) -> std::fmt::Result {
        let (stride, abreast) = (usize::from(self.stride), self.abreast());
        let held = self.held(size);
        let kept = self.kept(size);
        let per = if self.per(size) == 1 { "1u" } else { "BLOCK" };
        writeln!(text, "const PER: u32 = {per};\nconst STRIDE: i32 = {stride};")?;
        writeln!(text, "const SHIFT: i32 = {};\nconst ABREAST: u32 = {abreast}u;", self.shift())?;

        let taps: Vec<(u8, u8)> =
            (0..self.rows[0]).flat_map(|i| (0..self.rows[1]).map(move |j| (i, j))).collect();
        writeln!(text, "alias Rows = array<Row, {}>;", taps.len())?;
        writeln!(text, "fn rows_of(origin: u32, first0: i32, first1: i32) -> Rows {{")?;
        let rows = taps.iter().map(|(i, j)| format!("row(origin, first0, first1, {i}u, {j}u)"));
        writeln!(text, "    return Rows({});\n}}", rows.collect::<Vec<_>>().join(", "))?;

        // What is known of a block: its keys, or also where they are.
        let (cell, look) = if finds { ("Found", "find") } else { ("vec4<u32>", "along") };
        let cells = (0..taps.len()).map(|i| format!("{look}(rows[{i}], across, at, beside)"));
        writeln!(text, "fn column(rows: Rows, across: Across, at: i32, beside: u32) -> {cell} {{")?;
        writeln!(text, "    return {};\n}}", join(finds, cells.collect()))?;
        writeln!(text, "alias Held = array<{cell}, {}>;", held * abreast)?;

        let fill = |text: &mut String, positions: std::ops::Range<usize>| {
            positions.flat_map(|k| (0..abreast).map(move |a| (k, a))).try_for_each(|(k, a)| {
                writeln!(
                    text,
                    "    (*h)[{}] = column(rows, across, at + {k}, {a}u);",
                    k * abreast + a
                )
            })
        };
        // Once more in a loop rather than all that is kept: some drivers take minutes for long texts.
        let again = kept.div_ceil(stride);
        writeln!(
            text,
            "fn begin_walk(h: ptr<function, Held>, rows: Rows, across: Across, at: i32) {{"
        )?;
        if kept <= stride {
            fill(text, 0..kept)?;
        } else {
            writeln!(text, "    for (var k = {again}; k > 0; k--) {{")?;
            writeln!(
                text,
                "        look(h, rows, across, at - k * STRIDE);\n        pass_on(h);\n    }}"
            )?;
        }
        writeln!(text, "}}")?;
        writeln!(text, "fn look(h: ptr<function, Held>, rows: Rows, across: Across, at: i32) {{")?;
        fill(text, kept..held)?;
        writeln!(text, "}}\nfn pass_on(h: ptr<function, Held>) {{")?;
        for k in 0..kept * abreast {
            writeln!(text, "    (*h)[{k}] = (*h)[{}];", k + stride * abreast)?;
        }
        writeln!(text, "}}")?;

        writeln!(
            text,
            "fn put_windows(h: ptr<function, Held>, targets: Targets, line: u32, number: u32) {{"
        )?;
        match self.over {
            Over::Elements { .. } => self.write_elements(text, size, finds)?,
            Over::Blocks { .. } => self.write_blocks(text, finds)?,
        }
        writeln!(text, "}}")
    }

    /// The windows of a step: of neighbouring elements, each a value.
    fn write_elements(&self, text: &mut String, size: usize, finds: bool) -> std::fmt::Result {
        let per = self.per(size);
        let element = |i: usize| {
            let (block, i) = (i / per, i % per);
            let word = |word: usize| format!("(*h)[{block}].{}", COMPONENTS[word]);
            match size {
                4 if finds => format!("one((*h)[{block}], {i}u)"),
                8 => format!("vec2<u32>({}, {})", word(2 * i), word(2 * i + 1)),
                // In the top bits of a word; what lies below them is anything.
                _ => match 32 - 8 * (size * (i % (4 / size)) + size) {
                    0 => word(i * size / 4),
                    left => format!("{} << {left}u", word(i * size / 4)),
                },
            }
        };
        let dilation = usize::from(self.dilation);
        let best = if finds { "better_one" } else { "key_max" };
        let mut made = Made { text, known: HashSet::new(), dilation, best };
        let last = usize::from(self.reach);
        let even = last == usize::from(self.taps - 1) * dilation;
        for window in 0..per {
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
                let words = (0..per).step_by(4 / size).map(word).map(|keys: Vec<_>| packed(&keys));
                format!("vec4<u32>({})", words.collect::<Vec<_>>().join(", "))
            }
        };
        writeln!(text, "    put(line, targets, number, {words});")
    }

    /// The windows of a step: of one place, blocks beside one another.
    fn write_blocks(&self, text: &mut String, finds: bool) -> std::fmt::Result {
        let abreast = self.abreast();
        for a in 0..abreast {
            let place = |tap: usize| (tap * usize::from(self.dilation)).min(self.reach.into());
            let taps = 0..usize::from(self.taps);
            let cells = taps.map(|tap| format!("(*h)[{}]", place(tap) * abreast + a));
            let all = join(finds, cells.collect());
            writeln!(text, "    put(line + {a}u, targets, number, {all});")?;
        }
        Ok(())
    }
}

/// The maximum of blocks.
fn join(finds: bool, cells: Vec<String>) -> String {
    if cells.len() == 1 {
        return cells[0].clone();
    }
    let cells = cells.into_iter();
    if finds {
        return cells.reduce(|best, cell| format!("better({best}, {cell})")).unwrap_or_default();
    }
    let sum = cells.fold("Acc()".to_string(), |sum, keys| format!("acc_add_keys({sum}, {keys})"));
    format!("acc_pack({sum})")
}

/// A word of keys that are each in the top bits of one.
fn packed(keys: &[String]) -> String {
    match keys {
        [a, b] => format!("({a} >> 16u) | ({b} & 0xffff0000u)"),
        [a, b, c, d] => format!(
            "({a} >> 24u) | (({b} >> 16u) & 0xff00u) | (({c} >> 8u) & 0xff0000u) | ({d} & 0xff000000u)"
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
    /// The name of the maximum of so many taps from an element on: of two of half as many, which may overlap.
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
