//! Values of the options about a model.

use std::str::FromStr;

use wgmax::ElementType;

use crate::options::no_number;

/// `NAME=N`: the value of a dimension.
#[derive(Clone, Debug)]
pub struct Binding {
    pub name: String,
    pub value: usize,
}

/// `TENSOR=[TYPE:]N,..`: the shape of a tensor.
#[derive(Clone, Debug)]
pub struct Shape {
    pub name: String,
    pub element_type: Option<ElementType>,
    pub shape: Vec<usize>,
}

/// `TENSOR=FILE`: the file that a tensor is read from or written to.
#[derive(Clone, Debug)]
pub struct File {
    pub name: String,
    pub spec: String,
}

impl FromStr for Binding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The name may contain `=`, the number may not.
        let (name, value) = named(text.rsplit_once('='), "NAME=N, such as batch=1")?;
        Ok(Self { name, value: number(value)? })
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, shape) = named(text.rsplit_once('='), "TENSOR=N,.., such as x=1,3,224,224")?;
        let (element_type, shape) = match shape.split_once(':') {
            Some((name, shape)) => {
                let element_type = name.trim().parse().map_err(|e: wgmax::Error| e.to_string())?;
                (Some(element_type), shape)
            }
            None => (None, shape),
        };
        let shape = match shape.trim() {
            "" => Vec::new(),
            shape => shape.split(',').map(number).collect::<Result<_, _>>()?,
        };
        Ok(Self { name, element_type, shape })
    }
}

impl FromStr for File {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, spec) = named(text.split_once('='), "TENSOR=FILE, such as x=x.npy")?;
        Ok(Self { name, spec: spec.to_string() })
    }
}

fn named<'a>(parts: Option<(&'a str, &'a str)>, form: &str) -> Result<(String, &'a str), String> {
    match parts {
        Some((name, rest)) if !name.is_empty() => Ok((name.to_string(), rest)),
        _ => Err(format!("give {form}")),
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|error| no_number(text, &error, "a number of elements"))
}

/// A list of names for messages.
pub fn list(names: &[&str]) -> String {
    wgmax::io::list_names(names, 8, "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_separators() {
        let binding: Binding = "a=b=3".parse().unwrap();
        assert_eq!((binding.name.as_str(), binding.value), ("a=b", 3));
        let shape: Shape = "/conv/Relu:0=u8:1, 3,0".parse().unwrap();
        assert_eq!(shape.name, "/conv/Relu:0");
        assert_eq!((shape.element_type, shape.shape), (Some(ElementType::U8), vec![1, 3, 0]));
        let scalar: Shape = "x=".parse().unwrap();
        assert_eq!((scalar.element_type, scalar.shape), (None, vec![]));
        let file: File = "x=a=b.npy".parse().unwrap();
        assert_eq!((file.name.as_str(), file.spec.as_str()), ("x", "a=b.npy"));
        for text in ["", "a", "=1", "a=", "a=-1", "a=1.0", "a=99999999999999999999"] {
            assert!(text.parse::<Binding>().is_err(), "{text}");
        }
        for text in ["", "x", "=1", "x=1,,2", "x=f99:1", "x=-1"] {
            assert!(text.parse::<Shape>().is_err(), "{text}");
        }
        assert!("x".parse::<File>().is_err() && "=x".parse::<File>().is_err());
    }
}
