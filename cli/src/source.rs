//! The input tensor of an operator.

use std::str::FromStr;

use clap::Args;
use wgmax::{ElementType, Error, Tensor};

use super::files;
use super::options::{element_type, no_number};
use super::output::counted;

#[derive(Args)]
pub struct Source {
    /// FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.pb, a picture FILE.png, FILE.pgm or
    /// FILE.ppm, or - for standard input
    pub input: String,
    /// Read the file's unsigned integers as the bits of this type, such as bf16
    #[arg(long = "type", value_name = "TYPE", value_parser = element_type)]
    element_type: Option<ElementType>,
    /// Read the elements in this shape, such as 1,3,224,-1; one size of -1 is inferred
    #[arg(long, value_name = "SHAPE", allow_hyphen_values = true)]
    pub reshape: Option<Reshape>,
}

impl Source {
    /// The command line with this shape of the tensor.
    pub fn reshaped(&self, shape: &[usize]) -> String {
        let mut words = crate::words();
        if let Some(at) = words.iter().position(|word| word == "--reshape") {
            words.drain(at..words.len().min(at + 2));
        }
        words.retain(|word| !word.starts_with("--reshape="));
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, ["--reshape".to_string(), join(shape, ",")]);
        words.join(" ")
    }

    /// A tensor of this type, and whether its file is a picture.
    pub fn read_file(&self, file: &str) -> anyhow::Result<(Tensor, bool)> {
        files::read_kind(file, self.element_type).map_err(|error| {
            let is_of_type = matches!(error, Error::WrongElementType { .. });
            match self.element_type.filter(|_| is_of_type) {
                Some(wanted) => anyhow::anyhow!("{file}: --type {wanted}: {error}"),
                None => error.into(),
            }
        })
    }

    /// The tensor, and whether its file is a picture.
    pub fn read(&self) -> anyhow::Result<(Tensor, bool)> {
        let (tensor, is_picture) = self.read_file(&self.input)?;
        let Some(shape) = &self.reshape else { return Ok((tensor, is_picture)) };
        let sizes = shape.of(tensor.len()).map_err(|reason| {
            let (text, file, desc) = (&shape.text, &self.input, tensor.desc());
            anyhow::anyhow!("--reshape {text}: {reason} ({file}: {desc})")
        })?;
        Ok((tensor.reshape(sizes)?, false))
    }
}

fn join(sizes: &[usize], by: &str) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(by)
}

/// A shape for existing elements. One size may be inferred.
#[derive(Clone)]
pub struct Reshape {
    /// The text, quoted if a shell needs it.
    text: String,
    /// `None` for -1.
    sizes: Vec<Option<usize>>,
}

impl Reshape {
    /// The sizes for a number of elements.
    fn of(&self, elements: usize) -> Result<Vec<usize>, String> {
        let known = self.sizes.iter().flatten().try_fold(1usize, |n, &size| n.checked_mul(size));
        let open = self.sizes.contains(&None);
        let rest = match known {
            // Any size is valid.
            Some(0) if open && elements == 0 => {
                return Err("-1 could be any size beside a size of 0".to_string());
            }
            Some(known) if open => elements.checked_div(known).filter(|n| n * known == elements),
            known => known.filter(|&known| known == elements),
        };
        match rest {
            Some(rest) => Ok(self.sizes.iter().map(|size| size.unwrap_or(rest)).collect()),
            _ => Err(match (open, known) {
                (true, Some(known)) => {
                    format!("{elements} elements are no multiple of the other sizes, {known}")
                }
                (_, Some(known)) => format!("it has {}, not {elements}", counted(known, "element")),
                (_, None) => format!("it has too many elements, not {elements}"),
            }),
        }
    }
}

impl FromStr for Reshape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| match part.trim() {
            "-1" => Ok(None),
            part => size(part).map(Some),
        };
        let sizes: Vec<_> = sizes(text, one)?;
        if sizes.iter().filter(|size| size.is_none()).count() > 1 {
            return Err("only one size can be -1".to_string());
        }
        Ok(Self { text: wgmax_verify::quoted(text), sizes })
    }
}

/// Parses the parts of a shape with `one`.
fn sizes<T>(text: &str, one: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    match text.trim() {
        "" => Ok(Vec::new()),
        text => text.split([',', 'x', 'X']).map(one).collect(),
    }
}

fn size(part: &str) -> Result<usize, String> {
    let what = "a size; give a shape such as 64x224x224";
    part.trim().parse().map_err(|error| no_number(part, &error, what))
}

/// The sizes of axes: `64x224x224` or `64,224,224`. Blank text is the shape of a scalar.
#[derive(Clone)]
pub struct Shape {
    /// The text, quoted if a shell needs it.
    pub text: String,
    pub sizes: Vec<usize>,
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(|c: char| c == '.' || std::path::is_separator(c)) {
            return Err("give a shape such as 64x224x224, not a file".to_string());
        }
        Ok(Self { text: wgmax_verify::quoted(text), sizes: sizes(text, size)? })
    }
}

impl Shape {
    /// The command line with another shape instead of this one. `valued` are the options that have a value, which
    /// may have the same text.
    pub fn replaced(&self, shape: &[usize], valued: &[String]) -> String {
        let mut words = crate::words();
        let is_own = |&at: &usize| words[at] == self.text;
        let is_value = |&at: &usize| at > 0 && valued.contains(&words[at - 1]);
        let places = || (0..words.len()).filter(is_own);
        if let Some(at) = places().find(|at| !is_value(at)).or_else(|| places().next_back()) {
            words[at] = join(shape, "x");
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_size_may_be_left_open() {
        let of = |text: &str, elements| text.parse::<Reshape>().unwrap().of(elements);
        assert_eq!(of("2,-1", 6), Ok(vec![2, 3]));
        assert_eq!(of("-1", 0), Ok(vec![0]));
        assert_eq!(of("-1x5", 0), Ok(vec![0, 5]));
        assert_eq!(of("1, -1 ,1", 1), Ok(vec![1, 1, 1]));
        assert_eq!(of("", 1), Ok(vec![]));
        assert_eq!(of("3,2", 6), Ok(vec![3, 2]));
        assert!(of("4,-1", 6).unwrap_err().contains("no multiple of the other sizes, 4"));
        assert!(of("0,-1", 6).unwrap_err().contains("no multiple of the other sizes, 0"));
        assert!(of("0,-1", 0).unwrap_err().contains("any size"));
        assert_eq!(of("", 6).unwrap_err(), "it has 1 element, not 6");
        assert_eq!(of("5,5", 6).unwrap_err(), "it has 25 elements, not 6");
        let huge = format!("{0},{0},-1", usize::MAX);
        assert!(of(&huge, 6).unwrap_err().contains("too many elements"));
        for text in ["-1,-1", "-2", "1,,2", "-", "2.5"] {
            assert!(text.parse::<Reshape>().is_err(), "{text}");
        }
    }
}
