//! `wgmax shader`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

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

/// The kernels of the list, with the cells of their first lines, and the file below the name.
fn listed() -> BTreeMap<String, Vec<String>> {
    let list = succeeds(&["shader"]);
    let lines = list.lines().filter(|line| line.starts_with('│')).skip(2);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in lines {
        let mut cells = line.trim_matches('│').split('┆').map(|cell| cell.trim().to_string());
        match cells.next().unwrap() {
            file if file.ends_with(".wgsl") => rows.last_mut().unwrap().push(file),
            name if name.is_empty() => {}
            name => rows.push(std::iter::once(name).chain(cells).collect()),
        }
    }
    rows.into_iter().map(|row| (row[0].clone(), row)).collect()
}

#[test]
fn the_text_of_a_kernel_is_whole() {
    let rows = text(&["reduce_rows", "u8"]);
    assert_is_whole(&rows);
    assert!(rows.contains("const WORKGROUP: u32 = 256u;"), "{rows}");
    assert!(rows.contains("const BLOCK: u32 = 128u / ELEMENT_BITS;"), "{rows}");
    let small = text(&["reduce_rows", "u8", "--workgroup", "64"]);
    assert_eq!(small, rows.replace("WORKGROUP: u32 = 256u", "WORKGROUP: u32 = 64u"));
    assert_ne!(text(&["reduce_rows", "u8", "--words"]), rows);
    let shared_buffer = text(&["reduce_rows", "u8", "--shared-buffer"]);
    assert!(rows.contains("var<storage, read> ") && !shared_buffer.contains("var<storage, read> "));
    let from = text(&["pool_gather", "f32", "--flag", "indices"]);
    assert_is_whole(&from);
    assert_ne!(from, text(&["pool_gather", "f32", "--flag", "contiguous"]));
}

/// The list has all kernels, and each prints for every type in it.
#[test]
fn every_kernel_prints_for_every_type() {
    let listed = listed();
    assert_eq!(listed.len(), kernels().len(), "{listed:?}");
    for kernel in kernels() {
        let row = &listed[kernel.name()];
        assert_eq!(row[3], format!("{}.wgsl", kernel.file()));
        let types: Vec<&str> = match row[2].as_str() {
            "-" => vec![""],
            "all" => wgmax::ElementType::ALL.map(|t| t.name()).to_vec(),
            "floats" => vec!["f32", "f64", "f16", "bf16"],
            list => list.split(", ").collect(),
        };
        // The first existing variant.
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
    run(&["unpack", "f32", "--flag", "fast"], "it has none");
    run(&["pool_tile", "f32", "--flag", "fast"], "its flags are indices");
    run(&["fill", "f32"], "one text for all types");
    run(&["fill", "--words"], "leave them out");
    run(&["reduce_rows", "f32", "--workgroup", "100"], "power of two");
    run(&["reduce_rows", "f32", "--workgroup", "512"], "from 8 to 256");
    run(&["--flag", "fast"], "NAME");
    run(&["--language", "hlsl"], "NAME");
    run(&["fill", "--language", "cuda"], "wgsl, spirv, hlsl, msl, glsl");
    run(&["fill", "--all", "shaders"], "cannot be used with");
    run(&["--all", "Cargo.toml"], "Cargo.toml");
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

/// The files of a folder, with their content.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
    files.map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

/// In two languages; `scripts/compilers` writes all texts in all languages.
#[test]
fn every_text_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let shaders: Vec<_> = kernels().iter().flat_map(|kernel| kernel.shaders(64)).collect();
    let texts: BTreeSet<String> = shaders.iter().map(|shader| shader.source()).collect();
    let mut stems = Vec::new();
    for (language, extension, sign) in
        [("wgsl", "wgsl", "@workgroup_size("), ("spirv", "spv", "main")]
    {
        let folder = folder.path().join(language);
        let path = folder.to_str().unwrap();
        let run = ["shader", "--all", path, "--language", language, "--workgroup", "64"];
        assert_eq!(succeeds(&run), format!("{} shaders in {path}\n", texts.len()));
        let files = content(&folder);
        assert_eq!(files.len(), texts.len(), "{language}");
        for (name, bytes) in &files {
            let text = String::from_utf8_lossy(bytes);
            assert!(text.contains(sign), "{name} has no {sign}");
        }
        let safe = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let stem = |name: &String| name.strip_suffix(&format!(".{extension}")).map(str::to_string);
        stems.push(files.keys().map(|name| stem(name).unwrap()).collect::<Vec<_>>());
        assert!(stems.last().unwrap().iter().all(|stem| stem.chars().all(safe)));
        if language == "wgsl" {
            let written = files.into_values().map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(written.collect::<BTreeSet<_>>(), texts);
        }
    }
    assert!(stems.iter().all(|names| *names == stems[0]), "names differ by language");
    for name in ["fill-u32", "reduce_rows-u8-words", "pool_tile-f32-indices-shared_buffer"] {
        assert!(stems[0].iter().any(|stem| stem == name), "{name} is not there");
    }
}

/// The bindings and checks that wgpu's back ends have, where they differ from naga's defaults.
#[test]
fn a_text_is_translated_as_wgpu_does() {
    // Source 1 and result 2, parameters 0; and workgroup memory.
    let rows = |language: &str| text(&["reduce_rows", "u32", "--language", language]);
    let has = |text: &str, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    };
    let hlsl = rows("hlsl");
    has(&hlsl, &["source_blocks : register(t0)", "result : register(u0)", ": register(b0)"]);
    has(&hlsl, &["[numthreads(256, 1, 1)]"]);
    // The number of workgroups, and loops that end.
    has(&hlsl, &["_NagaConstants: register(b1)", "uint2 loop_bound"]);
    assert!(!hlsl.contains("__local_invocation_id"), "workgroup memory is zeroed: {hlsl}");
    let shared_buffer = text(&["reduce_rows", "u32", "--shared-buffer", "--language", "hlsl"]);
    has(&shared_buffer, &["source_blocks : register(u0)", "result : register(u1)"]);

    let msl = rows("msl");
    has(&msl, &["// language: metal3.1", "params [[buffer(0)]]", "source_blocks [[buffer(1)]]"]);
    has(
        &msl,
        &[
            "kernel void main_(",
            "result [[buffer(2)]]",
            "_buffer_sizes [[buffer(3)]]",
            "loop_bound",
        ],
    );
    has(&msl, &["source_blocks[metal::min(unsigned("]);
    assert!(!msl.contains("__local_invocation_id"), "workgroup memory is zeroed: {msl}");

    let glsl = rows("glsl");
    has(&glsl, &["#version 310 es", "layout(std140, binding = 0) uniform"]);
    has(&glsl, &["layout(local_size_x = 256,"]);
    has(
        &glsl,
        &["layout(std430, binding = 0) readonly buffer", "layout(std430, binding = 1) buffer"],
    );
    assert!(!glsl.contains("gl_LocalInvocationID == "), "workgroup memory is zeroed: {glsl}");

    let output = wgmax(&["shader", "reduce_rows", "u32", "--language", "spirv"]);
    let words: &[u8] = &output.stdout;
    assert!(output.status.success() && words.len().is_multiple_of(4), "{output:?}");
    // The magic number and version 1.3.
    assert_eq!(words[..8], [0x03, 0x02, 0x23, 0x07, 0, 3, 1, 0]);
}
