//! A heat map of the wrong elements of a result.
use maud::{Markup, html};
use wgmax::Tensor;

use crate::text::counted;

/// The maximum number of cells across and down.
const MAX_ACROSS: usize = 48;
const MAX_DOWN: usize = 32;

/// The side of a cell and the gap between two, in the units of the picture.
const SIDE: usize = 10;
const GAP: usize = 1;

/// Counts of wrong elements over the last two axes of a tensor, summed over the other axes.
pub struct Heat {
    /// The sizes of the last two axes; 1 for axes that the tensor does not have.
    rows: usize,
    columns: usize,
    /// Elements with the same position along the last two axes.
    layers: usize,
    /// Cells of the picture.
    down: usize,
    across: usize,
    /// The wrong elements and all elements of each cell, row by row.
    cells: Vec<(u64, u64)>,
}

impl Heat {
    /// For two tensors of the same type and shape; `None` if they are empty.
    pub fn new(actual: &Tensor, expected: &Tensor) -> Option<Self> {
        if actual.desc() != expected.desc() || actual.is_empty() {
            return None;
        }
        let shape = actual.shape();
        let last = |n: usize| shape.len().checked_sub(n).map_or(1, |axis| shape[axis]);
        let (rows, columns) = (last(2), last(1));
        let (down, across) = (rows.min(MAX_DOWN), columns.min(MAX_ACROSS));
        let mut cells = vec![(0, 0); down * across];
        let size = actual.element_type().size();
        let pairs = actual.bytes().chunks_exact(size).zip(expected.bytes().chunks_exact(size));
        for (i, (a, b)) in pairs.enumerate() {
            let (row, column) = (i / columns % rows, i % columns);
            let cell = &mut cells[row * down / rows * across + column * across / columns];
            cell.0 += u64::from(a != b);
            cell.1 += 1;
        }
        Some(Self { rows, columns, layers: actual.len() / (rows * columns), down, across, cells })
    }

    /// The picture, as SVG.
    pub fn picture(&self) -> Markup {
        let step = SIDE + GAP;
        let (width, height) = (self.across * step + GAP, self.down * step + GAP);
        // Pictures of few cells stay small.
        let scale = (320.0 / width as f64).min(2.4);
        html! {
            svg.heat viewBox=(format!("0 0 {width} {height}"))
                style=(format!("width:{:.0}px", width as f64 * scale)) role="img"
                aria-label=(self.caption()) {
                @for (i, &(wrong, all)) in self.cells.iter().enumerate() {
                    @let (row, column) = (i / self.across, i % self.across);
                    rect x=(GAP + column * step) y=(GAP + row * step) width=(SIDE) height=(SIDE)
                        class=(if wrong > 0 { "wrong" } else { "right" })
                        fill-opacity=[(wrong > 0).then(|| opacity(wrong, all))] {
                        title {
                            (range("row", row, self.down, self.rows)) ", "
                            (range("column", column, self.across, self.columns))
                            ": " (wrong) " of " (all) " wrong"
                        }
                    }
                }
            }
        }
    }

    /// A description of the picture.
    pub fn caption(&self) -> String {
        let wrong: u64 = self.cells.iter().map(|&(wrong, _)| wrong).sum();
        let all: u64 = self.cells.iter().map(|&(_, all)| all).sum();
        let rows = counted(self.rows, "row");
        let columns = counted(self.columns, "column");
        let layers = match self.layers {
            1 => String::new(),
            layers => format!(", summed over {layers} layers"),
        };
        let binned = match (self.down, self.across) == (self.rows, self.columns) {
            true => "",
            false => "; a cell is several elements",
        };
        format!("{wrong} of {all} wrong, in {rows} of {columns}{layers}{binned}")
    }
}

/// A single wrong element is visible, and more of them are more visible.
fn opacity(wrong: u64, all: u64) -> String {
    format!("{:.2}", 0.35 + 0.65 * wrong as f64 / all as f64)
}

/// The rows or columns of a cell, if `size` of them are distributed over `cells`.
fn range(noun: &str, cell: usize, cells: usize, size: usize) -> String {
    let first = (cell * size).div_ceil(cells);
    let last = ((cell + 1) * size).div_ceil(cells) - 1;
    if first == last { format!("{noun} {first}") } else { format!("{noun}s {first} to {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_elements_are_counted_in_their_cells() {
        let right = vec![0u8; 3 * 100 * 7];
        let mut wrong = right.clone();
        // Element [1, 99, 6] and [2, 99, 6], and [0, 0, 0].
        wrong[199 * 7 + 6] = 1;
        wrong[299 * 7 + 6] = 1;
        wrong[0] = 1;
        let tensor = |bytes: &[u8]| Tensor::from_slice([3, 100, 7], bytes).unwrap();
        let heat = Heat::new(&tensor(&wrong), &tensor(&right)).unwrap();
        assert_eq!((heat.down, heat.across, heat.layers), (MAX_DOWN, 7, 3));
        assert_eq!(heat.cells.last(), Some(&(2, 9)));
        assert_eq!(heat.cells[0], (1, 12));
        assert_eq!(heat.cells.iter().filter(|cell| cell.0 > 0).count(), 2);
        assert_eq!(heat.cells.iter().map(|cell| cell.1).sum::<u64>(), 2100);
        let picture = heat.picture().into_string();
        assert!(picture.contains("rows 97 to 99, column 6: 2 of 9 wrong"), "{picture}");
        assert!(picture.contains("rows 0 to 3, column 0: 1 of 12 wrong"), "{picture}");
    }

    #[test]
    fn scalars_have_a_picture_and_empty_tensors_none() {
        let scalar = |v: f32| Tensor::from_slice([], &[v]).unwrap();
        let heat = Heat::new(&scalar(1.0), &scalar(2.0)).unwrap();
        assert_eq!(heat.caption(), "1 of 1 wrong, in 1 row of 1 column");
        let nothing = Tensor::from_slice([0, 3], &[0u8; 0]).unwrap();
        assert!(Heat::new(&nothing, &nothing).is_none());
    }
}
