//! A picture of the elements that differ in two tensors.

use wgmax::{Result, Tensor};

use super::canvas::{self, Canvas};

/// Maximum cells along each side of the picture, so that a single cell that differs is visible.
const MAX_CELLS: usize = 384;
/// Minimum cells across a narrow plane, if it has as many elements.
const MIN_CELLS: usize = 16;
/// A tensor of more planes than this is drawn as one plane, which has the rows of all.
const MAX_PLANES: usize = 1024;
/// The approximate longer side of pictures, and the maximum side of a cell, in pixels.
const SIDE: usize = 3 * MAX_CELLS;
const MAX_SCALE: usize = 64;
/// A 1-D tensor of more elements is broken into rows.
const MAX_LINE: usize = 512;
/// Pixels between tiles.
const GAP: usize = 2;

const EQUAL: [u8; 3] = [255, 255, 255];
const BETWEEN: [u8; 3] = [90, 90, 100];
const NAN: [u8; 3] = [150, 60, 220];
/// Colours from the smallest difference to the largest.
const RAMP: [[u8; 3]; 3] = [[255, 170, 0], [225, 40, 30], [90, 0, 50]];
/// The width of the scale, and the blanks between the parts of its line.
const BAR: usize = 160;
const BLANK: usize = 10;

/// How the elements are laid out: tiles of cells.
struct Sheet {
    /// Elements for each row and column: the channels of a picture.
    depth: usize,
    /// Rows and columns of a plane: the last two axes.
    rows: usize,
    columns: usize,
    planes: usize,
    /// Cells of a tile.
    down: usize,
    across: usize,
    /// Tiles in a row.
    tiles: usize,
    /// The side of a cell.
    scale: usize,
}

impl Sheet {
    fn new(shape: &[usize]) -> Self {
        let (depth, shape) = match shape {
            [places @ .., width, channels]
                if !places.is_empty() && *channels <= 4 && *width > 4 =>
            {
                (*channels, &shape[..shape.len() - 1])
            }
            _ => (1, shape),
        };
        let (mut planes, mut rows, columns) = match *shape {
            [] => (1, 1, 1),
            // A line is broken, so that its picture is about square.
            [n] if n > MAX_LINE => (1, n.div_ceil(n.isqrt()), n.isqrt()),
            [n] => (1, 1, n),
            [.., rows, columns] => {
                (shape[..shape.len() - 2].iter().product::<usize>(), rows, columns)
            }
        };
        if planes > MAX_PLANES {
            (planes, rows) = (1, planes * rows);
        }
        // The tiles across that make the picture about square.
        let [tall, wide] = [rows, columns].map(|cells| cells.min(MAX_CELLS) as f64);
        let square = (planes as f64 * tall / wide.max(1.0)).sqrt().ceil() as usize;
        // If the axis before those of a plane has about this size, each of its lines is a row of tiles.
        let inner = shape.iter().rev().nth(2).copied().filter(|_| planes > 1).unwrap_or(1);
        let tiles = match (square / 2..=square * 2).contains(&inner) {
            true => inner,
            false => square.clamp(1, planes),
        };
        // Each tile has at least one cell along each side.
        let tiles = tiles.clamp(planes.div_ceil(MAX_CELLS), MAX_CELLS);
        let tiles_down = planes.div_ceil(tiles);
        // Both sides are divided by the same factor, but narrow planes keep some width.
        let max_cells = [MAX_CELLS / tiles_down, MAX_CELLS / tiles].map(|cells| cells.max(1));
        let parts = [rows as f64 / max_cells[0] as f64, columns as f64 / max_cells[1] as f64];
        let factor = parts[0].max(parts[1]).max(1.0);
        let cells = |side: usize, max: usize| {
            let cells = (side as f64 / factor).round() as usize;
            cells.max(side.min(MIN_CELLS)).min(max).max(1)
        };
        let (down, across) = (cells(rows, max_cells[0]), cells(columns, max_cells[1]));
        let longer = (down * tiles_down).max(across * tiles).max(1);
        Self {
            depth,
            rows,
            columns,
            planes,
            down,
            across,
            tiles,
            scale: (SIDE / longer).clamp(1, MAX_SCALE),
        }
    }

    /// The cell of an element: its tile, row and column.
    fn cell(&self, index: usize) -> usize {
        let index = index / self.depth;
        let (row, column) = (index / self.columns % self.rows, index % self.columns);
        let plane = index / (self.columns * self.rows);
        let (row, column) = (row * self.down / self.rows, column * self.across / self.columns);
        (plane * self.down + row) * self.across + column
    }

    /// The size of the picture.
    fn size(&self) -> (usize, usize) {
        let [tall, wide] = [self.down, self.across].map(|cells| cells * self.scale);
        let tiles_down = self.planes.div_ceil(self.tiles);
        (tiles_down * (tall + GAP) - GAP, self.tiles * (wide + GAP) - GAP)
    }

    /// Draws each cell with the colour that `of` gives it.
    fn draw(&self, canvas: &mut Canvas, of: impl Fn(usize) -> [u8; 3]) {
        let [tall, wide] = [self.down, self.across].map(|cells| cells * self.scale);
        for plane in 0..self.planes {
            let (top, left) =
                (plane / self.tiles * (tall + GAP), plane % self.tiles * (wide + GAP));
            for (row, column) in (0..self.down).flat_map(|r| (0..self.across).map(move |c| (r, c)))
            {
                let color = of((plane * self.down + row) * self.across + column);
                let corner = (top + row * self.scale, left + column * self.scale);
                canvas.fill(corner, (self.scale, self.scale), |_| color);
            }
        }
    }
}

/// The state of a cell.
#[derive(Clone, Copy, Default, PartialEq)]
enum Cell {
    #[default]
    Equal,
    /// The largest difference of its elements.
    Apart(u64),
    /// One of two elements is NaN, or both are.
    Nan,
}

impl Cell {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Apart(a), Self::Apart(b)) => Self::Apart(a.max(b)),
            (Self::Equal, cell) | (cell, Self::Equal) => cell,
        }
    }
}

/// The legend: a scale from the smallest difference that is drawn to the largest. Differences of
/// 8-bit elements have a linear scale, others a logarithmic one.
struct Scale {
    min: u64,
    max: u64,
    is_linear: bool,
    /// The unit of the numbers.
    unit: &'static str,
}

impl Scale {
    fn position(&self, distance: u64) -> f64 {
        if self.is_linear { distance as f64 } else { (distance as f64).ln_1p() }
    }

    fn color(&self, distance: u64) -> [u8; 3] {
        let [min, max, at] = [self.min, self.max, distance].map(|d| self.position(d));
        // A single difference is the largest.
        ramp(if max > min { (at - min) / (max - min) } else { 1.0 })
    }

    /// The difference in the middle.
    fn middle(&self) -> u64 {
        let middle = (self.position(self.min) + self.position(self.max)) / 2.0;
        (if self.is_linear { middle } else { middle.exp_m1() }).round() as u64
    }
}

/// A number in few characters.
fn short(number: u64) -> String {
    match number {
        0..1_000_000 => number.to_string(),
        _ => format!("{:.1e}", number as f64).to_uppercase(),
    }
}

/// A part of the line below the picture.
enum Part {
    Text(String),
    /// A part of this width, with a colour for each column.
    Bar(usize, Box<dyn Fn(f64) -> [u8; 3]>),
}

/// The line below the picture: each colour, and its meaning.
fn legend(cells: &[Cell], scale: Option<&Scale>) -> Vec<Part> {
    let swatch = |color| Part::Bar(canvas::TEXT, Box::new(move |_| color));
    let text = |text: &str| Part::Text(text.to_string());
    let mut parts = vec![swatch(EQUAL), text("EQUAL")];
    match scale {
        None => {}
        Some(scale) if scale.min == scale.max => {
            parts.push(swatch(ramp(1.0)));
            parts.push(Part::Text(format!("{} {}", short(scale.max), scale.unit)));
        }
        Some(scale) => {
            parts.push(Part::Text(short(scale.min)));
            parts.push(Part::Bar(BAR, Box::new(|part| ramp(part / 2.0))));
            parts.push(Part::Text(short(scale.middle())));
            parts.push(Part::Bar(BAR, Box::new(|part| ramp(0.5 + part / 2.0))));
            parts.push(Part::Text(format!("{} {}", short(scale.max), scale.unit)));
        }
    }
    if cells.contains(&Cell::Nan) {
        parts.extend([swatch(NAN), text("NAN")]);
    }
    parts
}

impl Part {
    fn width(&self) -> usize {
        match self {
            Self::Text(text) => canvas::width(text),
            Self::Bar(width, _) => *width,
        }
    }
}

/// A picture of the elements that differ, in value if `values`, otherwise in bits. `None` for tensors
/// without elements.
///
/// # Errors
/// [`wgmax::Error::NotComparable`].
pub fn draw(a: &Tensor, b: &Tensor, values: bool) -> Result<Option<Tensor>> {
    if a.is_empty() {
        return Ok(None);
    }
    let sheet = Sheet::new(a.shape());
    let mut cells = vec![Cell::Equal; sheet.planes * sheet.down * sheet.across];
    wgmax::internals::each_difference(a, b, values, |index, ulp| {
        let cell = &mut cells[sheet.cell(index)];
        *cell = cell.join(ulp.map_or(Cell::Nan, Cell::Apart));
    })?;
    let apart =
        || cells.iter().filter_map(|c| if let Cell::Apart(d) = c { Some(*d) } else { None });
    let scale = apart().min().zip(apart().max()).map(|(min, max)| Scale {
        min,
        max,
        is_linear: a.element_type().size() == 1,
        unit: if a.element_type().is_float() { "ULP" } else { "APART" },
    });
    let legend = legend(&cells, scale.as_ref());
    let (height, width) = sheet.size();
    let line: usize = legend.iter().map(|part| part.width() + BLANK).sum();
    let mut canvas =
        Canvas::new(height + 2 * BLANK + canvas::TEXT, width.max(line + BLANK), BETWEEN);
    sheet.draw(&mut canvas, |cell| match (cells[cell], &scale) {
        (Cell::Apart(distance), Some(scale)) => scale.color(distance),
        (Cell::Nan, _) => NAN,
        _ => EQUAL,
    });
    let mut at = (height + BLANK, BLANK);
    for part in &legend {
        match part {
            Part::Text(text) => canvas.write(at, text, EQUAL),
            Part::Bar(width, color) => canvas.fill(at, (canvas::TEXT, *width), color),
        }
        at.1 += part.width() + BLANK;
    }
    canvas.tensor().map(Some)
}

/// A colour between those of the ramp.
fn ramp(part: f64) -> [u8; 3] {
    let at = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let from = (at as usize).min(RAMP.len() - 2);
    let mix = at - from as f64;
    let (low, high) = (RAMP[from], RAMP[from + 1]);
    std::array::from_fn(|i| {
        (f64::from(low[i]) + mix * (f64::from(high[i]) - f64::from(low[i]))).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixel(picture: &Tensor, y: usize, x: usize) -> [u8; 3] {
        let at = (y * picture.shape()[1] + x) * 3;
        picture.bytes()[at..at + 3].try_into().unwrap()
    }

    #[test]
    fn every_rank_has_a_picture_of_a_moderate_size() {
        for shape in [
            &[][..],
            &[1],
            &[7],
            &[100_003],
            &[1, 1],
            &[3, 5],
            &[3000, 5],
            &[5, 3000],
            &[2, 3, 4],
            &[5000, 2, 2],
            &[20, 30, 10, 10],
            &[1000, 1, 900],
            &[3, 2000, 2],
            &[40, 60, 3],
            &[9, 40, 60, 4],
        ] {
            let elements: usize = shape.iter().product();
            let zeros = vec![0u8; elements];
            let mut last = zeros.clone();
            last[elements - 1] = 255;
            let tensor = |bytes: &[u8]| Tensor::from_slice(shape, bytes).unwrap();
            let picture = |b| draw(&tensor(&zeros), &tensor(b), false).unwrap().unwrap();
            let (equal, picture) = (picture(&zeros), picture(&last));
            let [height, width, 3] = *picture.shape() else { panic!("{picture:?}") };
            assert!((1..2 * SIDE).contains(&height), "{shape:?}: {picture:?}");
            assert!((1..2 * SIDE).contains(&width), "{shape:?}: {picture:?}");
            assert!(height.max(width) >= MAX_SCALE, "{shape:?}: {picture:?}");
            // One cell is not white any more, and large enough to be visible.
            let red = |bytes: &Tensor| {
                let rows = bytes.bytes().chunks(3 * bytes.shape()[1]);
                let rows = rows.take(bytes.shape()[0] - canvas::TEXT - 2 * BLANK);
                rows.flat_map(|row| row.chunks(3)).filter(|p| *p == RAMP[2]).count()
            };
            assert_eq!(red(&equal), 0, "{shape:?}");
            assert!(red(&picture) >= 9, "{shape:?}: {}", red(&picture));
        }
    }

    #[test]
    fn colours_say_how_far_apart_elements_are() {
        let a = [0f32, 1.0, f32::NAN, 0.0];
        let b = [-0f32, 1.0 + f32::EPSILON, 1.0, 0.0];
        let tensor = |elements: &[f32]| Tensor::from_slice([2, 2], elements).unwrap();
        let picture = draw(&tensor(&a), &tensor(&b), false).unwrap().unwrap();
        let next = MAX_SCALE;
        assert_eq!(pixel(&picture, 0, 0), RAMP[0]);
        assert_eq!(pixel(&picture, 0, next), RAMP[2]);
        assert_eq!(pixel(&picture, next, 0), NAN);
        assert_eq!(pixel(&picture, next, next), EQUAL);
        let values = draw(&tensor(&a), &tensor(&b), true).unwrap().unwrap();
        assert_eq!(pixel(&values, 0, 0), EQUAL);
        assert_eq!(pixel(&values, 0, next), RAMP[2]);
        assert_eq!(pixel(&values, next, 0), NAN);
    }

    /// Every difference of 8 bits has its own colour, which the line below explains.
    #[test]
    fn the_scale_goes_from_the_least_to_the_most() {
        let all: Vec<u8> = (0..=255).collect();
        let tensor = |elements: &[u8]| Tensor::from_slice([16, 16], elements).unwrap();
        let picture = draw(&tensor(&[0; 256]), &tensor(&all), false).unwrap().unwrap();
        let side = SIDE.min(16 * MAX_SCALE) / 16;
        let mut seen = std::collections::BTreeSet::new();
        for cell in 0..256 {
            seen.insert(pixel(&picture, cell / 16 * side, cell % 16 * side));
        }
        assert!(seen.len() > 250, "{}", seen.len());

        let scale = |max, is_linear| Scale { min: 1, max, is_linear, unit: "ULP" };
        let texts = |scale: Scale, cells: &[Cell]| {
            let parts = legend(cells, Some(&scale));
            let text = |part| if let Part::Text(text) = part { Some(text) } else { None };
            parts.into_iter().filter_map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts(scale(255, true), &[]), ["EQUAL", "1", "128", "255 ULP"]);
        assert_eq!(texts(scale(1, true), &[Cell::Nan]), ["EQUAL", "1 ULP", "NAN"]);
        let wide = texts(scale(u64::MAX, false), &[]);
        assert_eq!(wide, ["EQUAL", "1", "6.1E9", "1.8E19 ULP"]);
        // The font has all its characters.
        let blank = Canvas::new(canvas::TEXT, 300, BETWEEN).tensor().unwrap();
        for character in wide.concat().chars().chain("APART NAN".chars()).filter(|c| *c != ' ') {
            let mut canvas = Canvas::new(canvas::TEXT, 300, BETWEEN);
            canvas.write((0, 0), &character.to_string(), EQUAL);
            assert_ne!(canvas.tensor().unwrap().bytes(), blank.bytes(), "{character}");
        }
    }

    #[test]
    fn nothing_has_no_picture() {
        let empty = Tensor::from_slice([0, 3], &[0u8; 0]).unwrap();
        assert!(draw(&empty, &empty, false).unwrap().is_none());
    }
}
