//! `wgmax shader`.

use std::collections::BTreeMap;

use wgmax::operator::kernels;

use super::{refused, stderr, stdout, succeeds, wgmax};

/// The text of a shader. Specialized kernels say on stderr that it is a sample.
fn text(arguments: &[&str]) -> String {
    let output = wgmax(&[&["shader"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let kernel = kernels().into_iter().find(|kernel| kernel.name() == arguments[0]).unwrap();
    assert_eq!(stderr(&output).contains("sample"), kernel.is_specialized(), "{output:?}");
    stdout(&output)
}

fn assert_is_whole(text: &str) {
    assert!(text.contains("@compute @workgroup_size(") && text.contains("fn main("), "{text}");
    assert!(!text.contains("@if(") && !text.contains("@else"), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("import ")), "{text}");
}

/// The kernels of the list, with the cells of their first lines.
fn listed() -> BTreeMap<String, Vec<String>> {
    let list = succeeds(&["shader"]);
    let rows = list.lines().filter(|line| line.starts_with('│')).skip(1);
    let cells = rows.map(|row| {
        let row = row.trim_matches('│').split('┆');
        row.map(|cell| cell.trim().to_string()).collect::<Vec<String>>()
    });
    let cells = cells.filter(|row| !row[0].is_empty());
    cells.map(|row| (row[0].clone(), row)).collect()
}

#[test]
fn the_text_of_a_kernel_is_whole() {
    let rows = text(&["reduce_rows", "u8"]);
    assert_is_whole(&rows);
    assert!(rows.contains("const WORKGROUP: u32 = 256u;"), "{rows}");
    assert!(rows.contains("const BLOCK: u32 = 16u;"), "{rows}");
    let small = text(&["reduce_rows", "u8", "--workgroup", "64"]);
    assert_eq!(small, rows.replace("WORKGROUP: u32 = 256u", "WORKGROUP: u32 = 64u"));
    assert_ne!(text(&["reduce_rows", "u8", "--words"]), rows);
    let in_place = text(&["reduce_rows", "u8", "--in-place"]);
    assert!(rows.contains("var<storage, read> ") && !in_place.contains("var<storage, read> "));
    let from = text(&["pool_index", "f32", "--flag", "from_positions"]);
    assert_is_whole(&from);
    assert_ne!(from, text(&["pool_index", "f32", "--flag", "to_positions"]));
}

/// The list has all kernels, and each prints for every type in it.
#[test]
fn every_kernel_prints_for_every_type() {
    let listed = listed();
    assert_eq!(listed.len(), kernels().len(), "{listed:?}");
    for kernel in kernels() {
        let row = &listed[kernel.name()];
        assert_eq!(row[2], format!("{}.wgsl", kernel.file()));
        let types: Vec<&str> = match row[3].as_str() {
            "-" => vec![""],
            "all" => wgmax::ElementType::ALL.map(|t| t.name()).to_vec(),
            list => list.split(", ").collect(),
        };
        // The first variant that there is.
        for element_type in types {
            let shaders = kernel.shaders(256);
            let mut shaders = shaders.iter();
            let shader = match element_type {
                "" => shaders.next(),
                name => shaders.find(|shader| shader.element.name() == name),
            };
            let shader = shader.unwrap();
            let mut arguments = vec![kernel.name()];
            arguments.extend([element_type].into_iter().filter(|t| !t.is_empty()));
            for flag in kernel.flag_names().iter().filter(|flag| shader.is(flag)) {
                arguments.extend(["--flag", flag]);
            }
            let text = text(&arguments);
            assert_is_whole(&text);
            assert_eq!(text.trim(), shader.source().trim(), "{arguments:?}");
        }
    }
}

#[test]
fn what_does_not_exist_is_refused_with_what_there_is() {
    let run = |arguments: &[&str], word: &str| refused(&[&["shader"], arguments].concat(), word);
    run(&["reduce_diagonals", "f32"], "reduce_rows");
    run(&["reduce_rows"], "needs a type: f32, f64, ");
    run(&["reduce_rows", "f12"], "there are f32, f64, ");
    run(&["reduce_rows", "f32", "--flag", "fast"], "it has none");
    run(&["pool_index", "f32", "--flag", "fast"], "its flags are from_positions, to_positions");
    run(&["fill", "f32"], "one text for all types");
    run(&["fill", "--words"], "leave them out");
    run(&["reduce_rows", "f32", "--workgroup", "100"], "power of two");
    run(&["reduce_rows", "f32", "--workgroup", "512"], "from 8 to 256");
    run(&["--flag", "fast"], "NAME");
    // Combinations of a type and flags that a kernel does not have.
    for kernel in kernels() {
        for t in wgmax::ElementType::ALL {
            let shaders = kernel.shaders(64);
            let plain = |shader: &&wgmax::plan::Shader| {
                shader.element == t && !kernel.flag_names().iter().any(|flag| shader.is(flag))
            };
            if kernel.is_typed() && !shaders.iter().any(|shader| plain(&shader)) {
                let some = shaders.iter().any(|shader| shader.element == t);
                run(&[kernel.name(), t.name()], if some { "there are: " } else { "only for " });
            }
        }
    }
}
