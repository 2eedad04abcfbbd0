//! Every composed shader must pass naga and come out of each of its back ends.

use naga::back::{PipelineConstants, glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgmax::kernel::Shader;

fn check(shader: &Shader) {
    let text = shader.source();
    let label = shader.label();
    let module = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|error| panic!("{label}: {}", error.emit_to_string(&text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{label}: {}", error.emit_to_string(&text)));
    back_ends(&module, &info, &label);
}

fn back_ends(module: &naga::Module, info: &ModuleInfo, label: &str) {
    spv::write_vec(module, info, &spv::Options::default(), None)
        .unwrap_or_else(|error| panic!("{label}: SPIR-V: {error}"));
    let options = msl::Options { fake_missing_bindings: true, ..Default::default() };
    msl::write_string(module, info, &options, &msl::PipelineOptions::default())
        .unwrap_or_else(|error| panic!("{label}: MSL: {error}"));
    let options = hlsl::Options { fake_missing_bindings: true, ..Default::default() };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .unwrap_or_else(|error| panic!("{label}: HLSL: {error}"));
    let (module, info) = naga::back::pipeline_constants::process_overrides(
        module,
        info,
        None,
        &PipelineConstants::default(),
    )
    .unwrap_or_else(|error| panic!("{label}: constants: {error}"));
    let options =
        glsl::Options { version: glsl::Version::new_gles(310), ..glsl::Options::default() };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "main".into(),
        multiview: None,
    };
    let mut text = String::new();
    glsl::Writer::new(&mut text, &module, &info, &options, &pipeline, Default::default())
        .and_then(|mut writer| writer.write())
        .unwrap_or_else(|error| panic!("{label}: GLSL: {error}"));
}

#[test]
fn every_shader_validates_for_every_back_end() {
    for workgroup in [64, 256] {
        let all = Shader::all(workgroup);
        assert!(all.len() > 400);
        all.iter().for_each(check);
    }
}

#[test]
#[should_panic(expected = "reduce_rows")]
fn a_broken_shader_is_noticed() {
    let shader = Shader::all(64)[1];
    let text = shader.source().replace("max(", "min_of(");
    let error = naga::front::wgsl::parse_str(&text).map(drop);
    assert!(error.is_ok(), "{}", shader.label());
}

#[test]
fn no_kernel_holds_a_float() {
    for shader in Shader::all(256) {
        let source = shader.source();
        let code = source.lines().map(|line| line.split("//").next().unwrap_or(""));
        for word in code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())) {
            assert!(
                !["f16", "f32", "vec4f", "vec2f"].contains(&word),
                "{}: {word}",
                shader.label()
            );
        }
    }
}
