//! The input tensor of an operator.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use wgmax::{ElementType, Tensor};

use super::files;
use super::options::element_type;
use super::picture::Format;

#[derive(Args)]
pub struct Source {
    /// FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.pb, a picture FILE.png, FILE.pgm or
    /// FILE.ppm, or - for standard input
    pub input: String,
    /// Read the file's unsigned integers as the bits of this type, such as bf16
    #[arg(long = "type", value_name = "TYPE", value_parser = element_type)]
    element_type: Option<ElementType>,
    /// Take the elements in this shape, such as 1,3,224,224
    #[arg(long, value_name = "SHAPE")]
    pub reshape: Option<Shape>,
}

impl Source {
    /// Whether the tensor is a picture as its file has it.
    pub fn is_picture(&self) -> bool {
        Format::of(&self.input).is_some() && self.reshape.is_none()
    }

    /// The command line with this shape of the tensor.
    pub fn reshaped(&self, shape: &[usize]) -> String {
        let mut words = words();
        if let Some(at) = words.iter().position(|word| word == "--reshape") {
            words.drain(at..words.len().min(at + 2));
        }
        words.retain(|word| !word.starts_with("--reshape="));
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, ["--reshape".to_string(), join(shape, ",")]);
        words.join(" ")
    }

    pub fn read(&self) -> anyhow::Result<Tensor> {
        let tensor = files::read(&self.input, self.element_type)?;
        let Some(shape) = &self.reshape else { return Ok(tensor) };
        let elements = shape.sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size));
        anyhow::ensure!(
            elements == Some(tensor.len()),
            "--reshape {shape}: {} has another number of elements, {}",
            tensor.desc(),
            tensor.len()
        );
        Ok(tensor.reshape(&shape.sizes[..])?)
    }
}

/// The words of the command line, quoted where a shell asks for it.
fn words() -> Vec<String> {
    let plain = |c: char| c.is_alphanumeric() || "-_=,.:/+@%".contains(c);
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let quoted = arguments.map(|word| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    std::iter::once("wgmax".to_string()).chain(quoted).collect()
}

fn join(sizes: &[usize], by: &str) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(by)
}

/// The sizes of axes: `64x224x224` or `64,224,224`. Blank text is the shape of a scalar.
#[derive(Clone)]
pub struct Shape {
    /// As it was written.
    text: String,
    pub sizes: Vec<usize>,
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |part: &str| {
            let size = part.trim().parse();
            size.map_err(|_| format!("{part:?} is not a size; give a shape such as 64x224x224"))
        };
        let sizes = match text.trim() {
            "" => Vec::new(),
            text => text.split([',', 'x', 'X']).map(size).collect::<Result<_, _>>()?,
        };
        Ok(Self { text: text.to_string(), sizes })
    }
}

impl Shape {
    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The command line with another shape in place of this one.
    pub fn replaced(&self, shape: &[usize]) -> String {
        let put = |word| if word == self.text { join(shape, "x") } else { word };
        words().into_iter().map(put).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
