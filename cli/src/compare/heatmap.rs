//! A picture of where two tensors differ.

use wgmax::{Result, Tensor};

/// Cells of the picture in a row, or rows of them, at most.
const MAX_CELLS: usize = 1536;
/// Tensors of more planes than these have one, with the rows of all.
const MAX_PLANES: usize = 1024;
/// The longer side of small pictures, about, and of a cell.
const SIDE: usize = 512;
const MAX_SCALE: usize = 16;
/// Pixels between tiles.
const GAP: usize = 2;

const EQUAL: [u8; 3] = [255, 255, 255];
const BETWEEN: [u8; 3] = [90, 90, 100];
const NAN: [u8; 3] = [150, 60, 220];
/// From the smallest difference to the largest.
const RAMP: [[u8; 3]; 3] = [[255, 200, 60], [225, 50, 30], [110, 0, 30]];

/// How the elements are laid out: tiles of cells.
struct Sheet {
    /// Elements of a place: the channels of a picture.
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
            [n] if n > SIDE => (1, n.div_ceil(n.isqrt()), n.isqrt()),
            [n] => (1, 1, n),
            [.., rows, columns] => {
                (shape[..shape.len() - 2].iter().product::<usize>(), rows, columns)
            }
        };
        if planes > MAX_PLANES {
            (planes, rows) = (1, planes * rows);
        }
        // About as many tiles across as make a square, of planes as they are drawn.
        let [tall, wide] = [rows, columns].map(|cells| cells.min(MAX_CELLS) as f64);
        let square = (planes as f64 * tall / wide.max(1.0)).sqrt().ceil() as usize;
        // Where the innermost of the other axes makes about such rows, a row is one of its lines.
        let inner = shape.iter().rev().nth(2).copied().filter(|_| planes > 1).unwrap_or(1);
        let tiles = match (square / 2..=square * 2).contains(&inner) {
            true => inner,
            false => square.clamp(1, planes),
        };
        let tiles_down = planes.div_ceil(tiles);
        let down = rows.min((MAX_CELLS / tiles_down).max(1));
        let across = columns.min((MAX_CELLS / tiles).max(1));
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

    /// The picture, with the colour that `of` gives each cell.
    fn draw(&self, of: impl Fn(usize) -> [u8; 3]) -> Result<Tensor> {
        let [tall, wide] = [self.down, self.across].map(|cells| cells * self.scale);
        let tiles_down = self.planes.div_ceil(self.tiles);
        let height = tiles_down * (tall + GAP) - GAP;
        let width = self.tiles * (wide + GAP) - GAP;
        let mut pixels = BETWEEN.repeat(height * width);
        for plane in 0..self.planes {
            let (top, left) =
                (plane / self.tiles * (tall + GAP), plane % self.tiles * (wide + GAP));
            for y in 0..tall {
                for x in 0..wide {
                    let cell = (plane * self.down + y / self.scale) * self.across + x / self.scale;
                    let at = ((top + y) * width + left + x) * 3;
                    pixels[at..at + 3].copy_from_slice(&of(cell));
                }
            }
        }
        Tensor::from_slice([height, width, 3], &pixels)
    }
}

/// A picture of the elements that differ; by their values, or else by their bits.
///
/// # Errors
/// [`wgmax::Error::NotComparable`].
pub fn draw(a: &Tensor, b: &Tensor, values: bool) -> anyhow::Result<Tensor> {
    anyhow::ensure!(!a.is_empty(), "--heatmap: {} has no elements to draw", a.desc());
    let sheet = Sheet::new(a.shape());
    // 0 where all are equal, else 1 and the bits of the distance, and the maximum for NaN.
    let mut cells = vec![0u8; sheet.planes * sheet.down * sheet.across];
    wgmax::each_difference(a, b, values, |index, ulp| {
        let level = ulp.map_or(u8::MAX, |ulp| 1 + (u64::BITS - ulp.leading_zeros()) as u8);
        let cell = &mut cells[sheet.cell(index)];
        *cell = level.max(*cell);
    })?;
    let bits = 8 * a.element_type().size();
    Ok(sheet.draw(|cell| match cells[cell] {
        0 => EQUAL,
        u8::MAX => NAN,
        level => ramp(f32::from(level - 1) / bits as f32),
    })?)
}

/// A colour between those of the ramp.
fn ramp(part: f32) -> [u8; 3] {
    let at = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f32;
    let from = (at as usize).min(RAMP.len() - 2);
    let mix = at - from as f32;
    let (low, high) = (RAMP[from], RAMP[from + 1]);
    std::array::from_fn(|i| {
        (f32::from(low[i]) + mix * (f32::from(high[i]) - f32::from(low[i]))).round() as u8
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
            let equal = draw(&tensor(&zeros), &tensor(&zeros), false).unwrap();
            let picture = draw(&tensor(&zeros), &tensor(&last), false).unwrap();
            let [height, width, 3] = *picture.shape() else { panic!("{picture:?}") };
            assert!((1..4 * MAX_CELLS).contains(&height), "{shape:?}: {picture:?}");
            assert!((1..4 * MAX_CELLS).contains(&width), "{shape:?}: {picture:?}");
            assert!(height.max(width) >= MAX_SCALE, "{shape:?}: {picture:?}");
            // One cell is not white any more.
            let red = |bytes: &Tensor| bytes.bytes().chunks(3).filter(|p| *p == RAMP[2]).count();
            assert_eq!((red(&equal), red(&picture) > 0), (0, true), "{shape:?}");
        }
    }

    #[test]
    fn colours_say_how_far_apart_elements_are() {
        let a = [0f32, 1.0, f32::NAN, 0.0];
        let b = [-0f32, 1.0 + f32::EPSILON, 1.0, 0.0];
        let tensor = |elements: &[f32]| Tensor::from_slice([2, 2], elements).unwrap();
        let picture = draw(&tensor(&a), &tensor(&b), false).unwrap();
        let half = picture.shape()[0] / 2;
        assert_eq!(pixel(&picture, 0, 0), RAMP[0]);
        assert_eq!(pixel(&picture, 0, half), ramp(1.0 / 32.0));
        assert_eq!(pixel(&picture, half, 0), NAN);
        assert_eq!(pixel(&picture, half, half), EQUAL);
        let values = draw(&tensor(&a), &tensor(&b), true).unwrap();
        assert_eq!(pixel(&values, 0, 0), EQUAL);
        assert_eq!(pixel(&values, half, 0), NAN);
    }
}
