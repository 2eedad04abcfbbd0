"""Writes the program that asks the Rust libraries: a function for each case, from the lines that the page shows."""

import re

HEAD = """// Written by scripts/answers.
#![allow(unused_imports)]
use half::{bf16, f16};
type Answer = anyhow::Result<(String, Vec<usize>, Vec<u8>)>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    std::panic::set_hook(Box::new(|_| ()));
    println!("{{\\"version\\": {:?}}}", version(&arguments[0]));
    for id in &arguments[1..] {
        let text = match std::panic::catch_unwind(|| ask(&arguments[0], id)) {
            Ok(Ok((kind, shape, bytes))) => {
                let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
                format!("\\"type\\": {kind:?}, \\"shape\\": {shape:?}, \\"hex\\": {hex:?}")
            }
            Ok(Err(error)) => format!("\\"error\\": {}", quoted(&error.root_cause().to_string())),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| s.to_string()));
                format!("\\"error\\": {}", quoted(&format!("panic: {}", said.unwrap_or_default())))
            }
        };
        println!("{{\\"id\\": {id:?}, {text}}}");
    }
}

fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { ' ' }).collect();
    format!("\\"{}\\"", plain.replace('\\\\', "/").replace('"', "'"))
}
"""
MODULES = {
    "candle": """use candle_core::{DType, Device, Tensor};
    fn answer(y: Tensor) -> Answer {
        let (kind, flat) = (y.dtype(), y.flatten_all()?);
        macro_rules! bytes { ($t:ty) => { flat.to_vec1::<$t>()?.iter().flat_map(|v| v.to_le_bytes()).collect() } }
        let bytes = match kind {
            DType::F32 => bytes!(f32), DType::F64 => bytes!(f64), DType::F16 => bytes!(f16), DType::BF16 => bytes!(bf16),
            DType::U8 => bytes!(u8), DType::I16 => bytes!(i16), DType::I32 => bytes!(i32), DType::U32 => bytes!(u32),
            _ => bytes!(i64),
        };
        Ok((kind.as_str().into(), y.dims().into(), bytes))
    }""",
    "tract": """use tract_onnx::prelude::*;
    fn answer(y: TValue) -> Answer {
        Ok((format!("{:?}", y.datum_type()).to_lowercase(), y.shape().into(), y.as_bytes().into()))
    }""",
    "burn": """use burn::tensor::{DType, Device, IndexingUpdateOp, Int, Tensor, TensorData};
    use burn::tensor::{module::{max_pool1d, max_pool2d, max_pool2d_with_indices}, ops::MaxPoolOptions};
    fn answer(y: TensorData) -> Answer {
        Ok((format!("{:?}", y.dtype()).to_lowercase(), y.shape().to_vec(), y.as_bytes().into()))
    }""",
}


def program(libraries):
    """`libraries`: name -> (module, version, lines by case)."""
    parts = [HEAD]
    for number, (module, _, lines) in enumerate(libraries.values()):
        cases = "".join(f"    fn {id.replace('-', '_')}() -> Answer {{\n        " + "\n        ".join(re.sub("case.onnx", f"../../models/{id}.onnx", l) for l in made)
                        + "\n        answer(y)\n    }\n" for id, made in lines.items())
        arms = "".join(f'            "{id}" => {id.replace("-", "_")}(),\n' for id in lines)
        parts.append(f"mod m{number} {{\n    use super::*;\n    {MODULES[module]}\n{cases}"
                     f"    pub fn ask(id: &str) -> Answer {{\n        match id {{\n{arms}            _ => anyhow::bail!(\"no such case\"),\n        }}\n    }}\n}}\n")
    asks = "".join(f'        "{name}" => m{number}::ask(id),\n' for number, name in enumerate(libraries))
    parts.append(f"fn ask(name: &str, id: &str) -> Answer {{\n    match name {{\n{asks}        _ => anyhow::bail!(\"no such library\"),\n    }}\n}}\n")
    versions = "".join(f'        "{name}" => "{version}",\n' for name, (_, version, _) in libraries.items())
    parts.append(f'fn version(name: &str) -> &\'static str {{\n    match name {{\n{versions}        _ => "",\n    }}\n}}\n')
    return "\n".join(parts)
