//! Rectangles and short texts in a picture.

use wgmax::{Result, Tensor};

/// The height of text in pixels: five dots.
pub const TEXT: usize = 5 * DOT;
/// The side of a dot, and the width of a character with the blank after it.
const DOT: usize = 3;
const ADVANCE: usize = 5 * DOT;

/// The characters that can be written. Each has five rows of four dots, the first row in the
/// highest bits.
const CHARACTERS: &str = "0123456789.AELNPQRTU";
const GLYPHS: [u32; 20] = [
    0x69996, 0x26227, 0xe168f, 0xe161e, 0xaaf22, 0xf8e1e, 0x68e96, 0xf1244, 0x69696, 0x69716,
    0x00004, 0x69f99, 0xf8e8f, 0x8888f, 0x9db99, 0xe9e88, 0x699a5, 0xe9ea9, 0x72222, 0x99996,
];

/// The width of a text in pixels.
pub fn width(text: &str) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(DOT)
}

/// A picture in colours of three bytes.
pub struct Canvas {
    height: usize,
    width: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub fn new(height: usize, width: usize, color: [u8; 3]) -> Self {
        Self { height, width, pixels: color.repeat(height * width) }
    }

    /// Fills a rectangle, which is within the picture. `color` returns the colour for each part of
    /// its width.
    pub fn fill(
        &mut self,
        (top, left): (usize, usize),
        (height, width): (usize, usize),
        color: impl Fn(f64) -> [u8; 3],
    ) {
        for x in 0..width {
            let color = color(x as f64 / width as f64);
            for y in top..top + height {
                let at = (y * self.width + left + x) * 3;
                self.pixels[at..at + 3].copy_from_slice(&color);
            }
        }
    }

    /// Writes a text. Characters without a glyph are blank.
    pub fn write(&mut self, (top, left): (usize, usize), text: &str, color: [u8; 3]) {
        for (number, character) in text.chars().enumerate() {
            let dots = CHARACTERS.find(character).map_or(0, |at| GLYPHS[at]);
            for (row, column) in (0..5).flat_map(|row| (0..4).map(move |column| (row, column))) {
                if dots >> (19 - 4 * row - column) & 1 == 1 {
                    let corner = (top + row * DOT, left + number * ADVANCE + column * DOT);
                    self.fill(corner, (DOT, DOT), |_| color);
                }
            }
        }
    }

    pub fn tensor(&self) -> Result<Tensor> {
        Tensor::from_slice([self.height, self.width, 3], &self.pixels)
    }
}
