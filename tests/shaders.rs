//! naga must validate every shader, and translate it for each back end to text that the
//! compilers there accept.

use std::collections::HashSet;

use naga::back::{PipelineConstants, glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgmax::ElementType;
use wgmax::operator::kernels;
use wgmax::plan::Shader;

use crate::common::rounds;

/// All shaders of all kernels.
fn shaders(workgroup: u32) -> Vec<Shader> {
    kernels().into_iter().flat_map(|kernel| kernel.shaders(workgroup)).collect()
}

/// Validates a WGSL text and translates it for each back end.
fn check(text: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    let options = spv::Options::default();
    spv::write_vec(&module, &info, &options, None).map_err(|error| format!("SPIR-V: {error}"))?;
    let options = msl::Options { fake_missing_bindings: true, ..Default::default() };
    msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
        .map_err(|error| format!("MSL: {error}"))?;
    let text = hlsl(&module, &info).map_err(|error| format!("HLSL: {error}"))?;
    defined_once(&text).map_err(|error| format!("HLSL: {error}"))?;
    glsl(&module, &info).map_err(|error| format!("GLSL: {error}"))
}

fn hlsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, hlsl::Error> {
    let options = hlsl::Options { fake_missing_bindings: true, ..Default::default() };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None)?;
    Ok(text)
}

fn glsl(module: &naga::Module, info: &ModuleInfo) -> Result<(), Box<dyn std::error::Error>> {
    let constants = PipelineConstants::default();
    let (module, info) =
        naga::back::pipeline_constants::process_overrides(module, info, None, &constants)?;
    let options =
        glsl::Options { version: glsl::Version::new_gles(310), ..glsl::Options::default() };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".into(),
        multiview: None,
    };
    let mut text = String::new();
    let (bounds, out) = (Default::default(), &mut text);
    glsl::Writer::new(out, &module, &info, &options, &pipeline, bounds)?.write()?;
    Ok(())
}

/// Whether each function, type and variable of an HLSL text is defined once.
///
/// The compilers of DX12 refuse a text that defines one twice, and naga writes such texts: for
/// `array<u32, 8>` and `array<Key, 8>`, where `Key` is an alias of `u32`, it writes the same
/// constructor twice. Functions of one name may differ in their parameters' types.
fn defined_once(text: &str) -> Result<(), String> {
    let mut known = HashSet::new();
    for line in text.lines() {
        let Some(definition) = definition(line) else { continue };
        if !known.insert(definition.clone()) {
            return Err(format!("{definition} is defined twice"));
        }
    }
    // Without a recognised definition, no duplicate would be found.
    match known.iter().any(|name| name.starts_with("main(")) {
        true => Ok(()),
        false => Err(format!("no entry point among {known:?}")),
    }
}

/// The name that a line of HLSL defines, if it begins a definition. That of a function is followed by the
/// types of its parameters.
fn definition(line: &str) -> Option<String> {
    let code = line.split("//").next()?.trim_end();
    // Bodies are indented, and attributes have lines of their own.
    if !code.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return None;
    }
    let name = |text: &str| {
        let text = text.split(['[', ':', '{', ';']).next().unwrap_or(text);
        text.split_whitespace().last().map(str::to_string)
    };
    if let Some((_, rest)) = code.split_once("typedef ") {
        return name(rest);
    }
    if code.starts_with("struct ") || code.starts_with("cbuffer ") {
        return name(code.split_once(' ')?.1);
    }
    let declaration = code.split(" = ").next()?;
    let Some((head, parameters)) = declaration.split_once('(') else { return name(declaration) };
    if head.contains(':') {
        // A variable and the register that it is bound to.
        return name(head);
    }
    let parameters = parameters.rsplit_once(')')?.0;
    let types = parameters.split(',').map(|parameter| {
        let parameter = parameter.split(':').next().unwrap_or("").trim();
        let (kind, name) = parameter.rsplit_once(' ').unwrap_or((parameter, ""));
        format!("{kind}{}", name.find('[').map_or("", |dimensions| &name[dimensions..]))
    });
    Some(format!("{}({})", name(head)?, types.collect::<Vec<_>>().join(", ")))
}

/// Each for one size of workgroups, which is a number in its text; for both with `WGMAX_ROUNDS=400`.
#[test]
fn every_shader_validates_for_every_back_end() {
    let every = if rounds(u64::MAX) < 400 { 2 } else { 1 };
    for (turn, workgroup) in [64, 256].into_iter().enumerate() {
        for shader in shaders(workgroup).iter().skip(turn % every).step_by(every) {
            check(&shader.source()).unwrap_or_else(|error| panic!("{}: {error}", shader.label()));
        }
    }
}

/// A fault of each kind, planted in a real text.
#[test]
fn broken_shaders_are_noticed() {
    let shader = shaders(64).into_iter().find(|s| s.kernel.name() == "reduce_rows").unwrap();
    let text = shader.source();
    check(&text).unwrap();
    let noticed = |broken: String, reason: &str| {
        assert_ne!(broken, text, "nothing was planted for {reason:?}");
        let error = check(&broken).unwrap_err();
        assert!(error.contains(reason), "{reason:?} is not in {error}");
    };
    noticed(text.replace("max(", "min_of("), "min_of");
    noticed(text.replace("@compute", ""), "entry point");
    noticed(text.replacen("u32", "bool", 1), "bool");
    noticed(format!("{text}\nfn unused() -> u32 {{\n    return 1i;\n}}\n"), "unused");
}

/// naga's HLSL writer repeats a constructor for an alias, and the check detects it.
#[test]
fn a_constructor_that_is_written_twice_is_noticed() {
    let text = |second: &str| {
        format!(
            "alias Key = u32;
            @group(0) @binding(0) var<storage, read_write> result: array<u32>;
            fn first(at: u32) -> u32 {{
                var keys = array<u32, 8>(at, 1u, 2u, 3u, 4u, 5u, 6u, 7u);
                return keys[at % 8u];
            }}
            fn second(at: u32) -> u32 {{
                var keys = array<{second}, 8>(at, 1u, 2u, 3u, 4u, 5u, 6u, 7u);
                return keys[at % 8u];
            }}
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                result[id.x] = first(id.x) + second(id.x);
            }}"
        )
    };
    check(&text("u32")).unwrap();
    let error = check(&text("Key")).unwrap_err();
    assert!(error.starts_with("HLSL: ") && error.ends_with(" is defined twice"), "{error}");
}

#[test]
fn definitions_of_hlsl_are_recognised() {
    let found = |line| definition(line).unwrap_or_default();
    assert_eq!(found("uint f(uint a, ByteAddressBuffer b)"), "f(uint, ByteAddressBuffer)");
    assert_eq!(found("uint2 g(uint a[8], inout uint2 b) {"), "g(uint[8], inout uint2)");
    assert_eq!(
        found("void main(uint3 at : SV_DispatchThreadID, uint i : SV_GroupIndex)"),
        "main(uint3, uint)"
    );
    assert_eq!(found("typedef uint ret_array8_uint_[8];"), "ret_array8_uint_");
    assert_eq!(found("struct Held {"), "Held");
    assert_eq!(found("cbuffer params : register(b0) { Params params; }"), "params");
    assert_eq!(found("ByteAddressBuffer source : register(t1);"), "source");
    assert_eq!(found("static const uint BLOCK = 4u;"), "BLOCK");
    assert_eq!(found("groupshared uint keys[64];"), "keys");
    for line in ["", "}", "    uint a = f(1);", "[numthreads(64, 1, 1)]", "// uint f(uint a)"] {
        assert_eq!(definition(line), None, "{line}");
    }
}

/// The element types of a kernel.
fn types_of(kernel: &str) -> Vec<ElementType> {
    let all = ElementType::ALL.into_iter();
    match kernel {
        "pool_gradient" | "pool_tile_gradient" | "gradient_scatter" | "unpool_scatter" => {
            all.filter(|t| t.is_float()).collect()
        }
        "pool_gradient_rows" => vec![ElementType::F32, ElementType::F64],
        _ => all.collect(),
    }
}

/// The number of variants of each kernel, for types of less than a word, of one and of two: the
/// combinations of flags that exist, times the samples of a specialized kernel.
const VARIANTS: [(&str, [usize; 3]); 29] = [
    ("fill", [1, 1, 1]),
    ("gradient_scatter", [1, 1, 1]),
    ("join", [1, 1, 1]),
    ("pack", [1, 1, 1]),
    ("pool_blocks", [2, 2, 2]),
    ("pool_gather", [11, 11, 11]),
    ("pool_gradient", [5, 5, 5]),
    ("pool_gradient_rows", [0, 1, 1]),
    // Its samples differ in the number of results.
    ("pool_pyramid", [3, 3, 3]),
    // It finds positions only of elements of one word.
    ("pool_sliding_window", [20, 40, 20]),
    ("pool_tile", [7, 5, 5]),
    ("pool_tile_gradient", [2, 2, 2]),
    ("reduce_column_tiles", [1, 1, 1]),
    ("reduce_columns", [2, 2, 2]),
    ("reduce_columns_index", [4, 4, 4]),
    ("reduce_rows", [3, 3, 3]),
    ("reduce_short_rows", [1, 1, 1]),
    ("scatter_locate", [4, 4, 4]),
    ("segment_blocks", [2, 2, 2]),
    ("segment_check_ids", [2, 2, 2]),
    ("segment_column_tiles", [2, 2, 2]),
    // Only for elements that share a word is there `from_carry` without `argmax`.
    ("segment_elements", [12, 10, 10]),
    ("segment_expand_offsets", [2, 2, 2]),
    // With `initial`, a launch of its own stores positions.
    ("segment_finish", [5, 5, 5]),
    ("segment_scatter", [4, 4, 4]),
    ("segment_unrolled", [1, 1, 1]),
    ("unpack", [1, 1, 1]),
    ("unpool_claim", [1, 1, 1]),
    ("unpool_scatter", [1, 1, 1]),
];

/// Whether a kernel reads contiguous elements, and whether it reads views with gaps.
fn sources(kernel: &str) -> [bool; 2] {
    match kernel {
        "fill"
        | "join"
        | "scatter_locate"
        | "segment_check_ids"
        | "segment_expand_offsets"
        | "unpack"
        | "unpool_claim" => [true, false],
        "pack" => [false, true],
        _ => [true, true],
    }
}

/// So the other tests cover every kernel, element type and variant.
#[test]
fn every_kernel_has_its_shaders() {
    let kernels = kernels();
    let mut names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
    names.sort_unstable();
    assert_eq!(names, VARIANTS.map(|(name, _)| name));
    for kernel in kernels {
        let (all, name) = (kernel.shaders(64), kernel.name());
        assert!(all.iter().all(|s| s.kernel == kernel && s.workgroup == 64), "{name}");
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{name}: one twice");
        let types = if kernel.is_typed() { types_of(name) } else { vec![ElementType::U32] };
        let mut found: Vec<ElementType> = all.iter().map(|shader| shader.element).collect();
        found.dedup();
        assert_eq!(found, types, "{name}");
        // A kernel without an element type reads words.
        let words: &[bool] = if kernel.is_typed() { &[false, true] } else { &[false] };
        let (_, variants) = VARIANTS.into_iter().find(|(known, _)| *known == name).unwrap();
        for t in types {
            for (&words, shared_buffer) in words.iter().flat_map(|w| [(w, false), (w, true)]) {
                for (pitched, there) in [false, true].into_iter().zip(sources(name)) {
                    let wanted = (t, words, shared_buffer, pitched);
                    let these =
                        |s: &&Shader| (s.element, s.words, s.shared_buffer, s.pitched) == wanted;
                    let count = all.iter().filter(these).count();
                    let expected = variants[t.size() / 4] * usize::from(there);
                    assert_eq!(count, expected, "{name} {t}");
                }
            }
        }
    }
}

#[test]
fn no_kernel_holds_a_float() {
    let mut count = 0;
    for shader in shaders(256) {
        let source = shader.source();
        let code = source.lines().map(|line| line.split("//").next().unwrap_or(""));
        let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        for word in code.flat_map(|line| line.split(|c| !in_word(c))) {
            assert!(!is_float(word), "{}: {word}", shader.label());
            count += 1;
        }
    }
    assert!(count > 100_000, "{count} words");
}

#[test]
fn floats_are_recognised() {
    for word in [
        "f16",
        "f32",
        "vec4f",
        "vec2h",
        "mat2x2f",
        "unpack2x16float",
        "1f",
        "2h",
        "1.",
        "0.5",
        "1e3",
    ] {
        assert!(is_float(word), "{word}");
    }
    for word in
        ["u32", "0x1fu", "0xff", "17u", "a.x", "pair.y1", "vec4", "vector_above", "half", "self.f"]
    {
        assert!(!is_float(word), "{word}");
    }
}

/// Whether a word of WGSL is a type of floats, a literal of one, or a function that has them.
fn is_float(word: &str) -> bool {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return !word.starts_with("0x") && word.contains(['.', 'e', 'f', 'h']);
    }
    let of_floats = |prefix: &str, length: usize| {
        word.starts_with(prefix) && word.len() == length && word.ends_with(['f', 'h'])
    };
    matches!(word, "f16" | "f32" | "f64")
        || of_floats("vec", 5)
        || of_floats("mat", 7)
        || ["float", "unorm", "snorm"].iter().any(|part| word.contains(part))
}
