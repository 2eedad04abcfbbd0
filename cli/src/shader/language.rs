//! What wgpu passes to the drivers' compilers: a kernel's text in the language of each API.
//!
//! The options are those of wgpu-hal 30 for a pipeline as the library creates it: with all checks,
//! with the bindings of its automatic layout, and without zeroed workgroup memory.

use anyhow::Context;
use clap::ValueEnum;
use naga::back::pipeline_constants::process_overrides;
use naga::back::{PipelineConstants, glsl, hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage, StorageAccess};

/// The entry point of every kernel.
const ENTRY: (ShaderStage, &str) = (ShaderStage::Compute, "main");

/// The language of an API's shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// WebGPU; the other languages are translated from it
    Wgsl,
    /// Vulkan: SPIR-V 1.3, binary
    Spirv,
    /// DX12: HLSL for shader model 6.0
    Hlsl,
    /// Metal: MSL 3.1
    Msl,
    /// GL: GLSL ES 3.10
    Glsl,
}

impl Language {
    /// The ending of a file's name.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Wgsl => "wgsl",
            Self::Spirv => "spv",
            Self::Hlsl => "hlsl",
            Self::Msl => "metal",
            Self::Glsl => "comp",
        }
    }

    /// Whether it is not text.
    pub fn is_binary(self) -> bool {
        self == Self::Spirv
    }

    /// A WGSL text in this language.
    pub fn translate(self, text: String) -> anyhow::Result<Vec<u8>> {
        if self == Self::Wgsl {
            return Ok(text.into_bytes());
        }
        let module = naga::front::wgsl::parse_str(&text)
            .map_err(|error| anyhow::anyhow!("{}", error.emit_to_string(&text)))?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .map_err(|error| anyhow::anyhow!("{}", error.emit_to_string(&text)))?;
        let constants = PipelineConstants::default();
        let (module, info) = process_overrides(&module, &info, Some(ENTRY), &constants)?;
        match self {
            Self::Wgsl => unreachable!("it is returned above"),
            Self::Spirv => spirv(&module, &info),
            Self::Hlsl => hlsl(&module, &info).map(String::into_bytes),
            Self::Msl => msl(&module, &info).map(String::into_bytes),
            Self::Glsl => glsl(&module, &info).map(String::into_bytes),
        }
    }
}

/// How a buffer is bound.
#[derive(PartialEq)]
enum Access {
    Uniform,
    Read,
    ReadWrite,
}

/// The buffers of a shader in the order of their bindings, which is the order of wgpu's slots.
fn buffers(module: &Module, info: &ModuleInfo) -> Vec<(ResourceBinding, Access)> {
    let used = info.get_entry_point(0);
    let variables = module.global_variables.iter().filter(|(at, _)| !used[*at].is_empty());
    let mut buffers: Vec<_> = variables
        .filter_map(|(_, variable)| match variable.space {
            AddressSpace::Uniform => Some((variable.binding?, Access::Uniform)),
            AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => {
                Some((variable.binding?, Access::ReadWrite))
            }
            AddressSpace::Storage { .. } => Some((variable.binding?, Access::Read)),
            _ => None,
        })
        .collect();
    buffers.sort_by_key(|(binding, _)| (binding.group, binding.binding));
    buffers
}

/// For Vulkan 1.1 without `robustBufferAccess2` or any optional feature: this text has the most checks
/// and the fewest capabilities.
fn spirv(module: &Module, info: &ModuleInfo) -> anyhow::Result<Vec<u8>> {
    let slots = buffers(module, info).into_iter().zip(0..);
    let binding_map = slots.map(|((at, _), binding)| {
        let descriptor_set = at.group;
        (at, spv::BindingInfo { descriptor_set, binding, binding_array_size: None })
    });
    let options = spv::Options {
        lang_version: (1, 3),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        fake_missing_bindings: false,
        binding_map: binding_map.collect(),
        capabilities: Some([spv::Capability::Shader].into_iter().collect()),
        bounds_check_policies: restricted(),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        use_storage_input_output_16: false,
        ..Default::default()
    };
    let pipeline = spv::PipelineOptions { shader_stage: ENTRY.0, entry_point: ENTRY.1.into() };
    let words = spv::write_vec(module, info, &options, Some(&pipeline)).context("SPIR-V")?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// Constants, sources and results have separate registers. The constants for the number of workgroups
/// come last.
fn hlsl(module: &Module, info: &ModuleInfo) -> anyhow::Result<String> {
    let [mut constants, mut sources, mut results] = [hlsl::BindTarget::default(); 3];
    let mut binding_map = hlsl::BindingMap::default();
    for (binding, access) in buffers(module, info) {
        let target = match access {
            Access::Uniform => &mut constants,
            Access::Read => &mut sources,
            Access::ReadWrite => &mut results,
        };
        binding_map.insert(binding, *target);
        target.register += 1;
    }
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V6_0,
        binding_map,
        fake_missing_bindings: false,
        special_constants_binding: Some(constants),
        zero_initialize_workgroup_memory: false,
        restrict_indexing: true,
        force_loop_bounding: true,
        ..Default::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: Some((ENTRY.0, ENTRY.1.into())) };
    let mut text = String::new();
    let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
    writer.write(module, info, None).context("HLSL")?;
    Ok(text)
}

/// The slots of all buffers are one sequence. The buffer of their sizes comes last.
fn msl(module: &Module, info: &ModuleInfo) -> anyhow::Result<String> {
    let mut resources = msl::EntryPointResources::default();
    let mut slots = 0..;
    for (binding, access) in buffers(module, info) {
        let mutable = access == Access::ReadWrite;
        let target = msl::BindTarget { buffer: slots.next(), mutable, ..Default::default() };
        resources.resources.insert(binding, target);
    }
    resources.sizes_buffer = slots.next();
    let options = msl::Options {
        lang_version: (3, 1),
        per_entry_point_map: [(ENTRY.1.to_string(), resources)].into(),
        fake_missing_bindings: false,
        bounds_check_policies: restricted(),
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: true,
        ..Default::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((ENTRY.0, ENTRY.1.into())),
        vertex_pulling_transform: true,
        ..Default::default()
    };
    let (text, _) = msl::write_string(module, info, &options, &pipeline).context("MSL")?;
    Ok(text)
}

/// Uniform and storage buffers have slots of their own. There are no checks in GL.
fn glsl(module: &Module, info: &ModuleInfo) -> anyhow::Result<String> {
    let (mut uniforms, mut storage) = (0..=u8::MAX, 0..=u8::MAX);
    let mut binding_map = glsl::BindingMap::default();
    for (binding, access) in buffers(module, info) {
        let slots = if access == Access::Uniform { &mut uniforms } else { &mut storage };
        binding_map.insert(binding, slots.next().context("GLSL: more than 256 buffers")?);
    }
    let options = glsl::Options {
        version: glsl::Version::new_gles(310),
        writer_flags: glsl::WriterFlags::ADJUST_COORDINATE_SPACE
            | glsl::WriterFlags::FORCE_POINT_SIZE,
        binding_map,
        zero_initialize_workgroup_memory: false,
    };
    let pipeline = glsl::PipelineOptions {
        shader_stage: ENTRY.0,
        entry_point: ENTRY.1.into(),
        multiview: None,
    };
    let mut text = String::new();
    let checks = BoundsCheckPolicies::default();
    glsl::Writer::new(&mut text, module, info, &options, &pipeline, checks)
        .and_then(|mut writer| writer.write())
        .context("GLSL")?;
    Ok(text)
}

/// Indices are clamped wherever a shader could access memory outside of its bindings.
fn restricted() -> BoundsCheckPolicies {
    let (restrict, unchecked) = (BoundsCheckPolicy::Restrict, BoundsCheckPolicy::Unchecked);
    BoundsCheckPolicies {
        index: restrict,
        buffer: restrict,
        image_load: restrict,
        binding_array: unchecked,
    }
}
