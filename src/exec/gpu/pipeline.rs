//! Compute pipelines, created once for each shader.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(feature = "pipeline-cache")]
use super::cache::PipelineFile;
use crate::plan::Shader;

/// The maximum number of pipelines that are kept. Each takes memory in the driver, a megabyte or two
/// in software drivers, and the number of specialized shaders is unbounded.
const MAX_KEPT: usize = 384;

/// A pipeline, set by the first thread that needs it.
type Slot = Arc<OnceLock<Arc<wgpu::ComputePipeline>>>;

/// The pipelines by their shaders, each with the time of its last use.
#[derive(Default)]
struct Slots {
    slots: HashMap<Shader, (Slot, u64)>,
    /// A clock that counts uses.
    now: u64,
}

impl Slots {
    fn get(&mut self, shader: &Shader) -> Slot {
        self.now += 1;
        if self.slots.len() >= MAX_KEPT && !self.slots.contains_key(shader) {
            // The least recently used one. Its current users keep it alive.
            let oldest = self.slots.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(&shader, _)| shader) {
                self.slots.remove(&oldest);
            }
        }
        let (slot, used) = self.slots.entry(*shader).or_default();
        *used = self.now;
        slot.clone()
    }
}

/// The pipelines of a device.
#[derive(Default)]
pub(crate) struct Pipelines {
    #[cfg(feature = "pipeline-cache")]
    file: Option<PipelineFile>,
    slots: Mutex<Slots>,
    edited: Option<Edited>,
}

/// Changes the texts of shaders before compilation.
pub(crate) type Edit = Arc<dyn Fn(&Shader, String) -> String + Send + Sync>;

/// An edit, and the pipelines of shaders that it does not change.
struct Edited {
    edit: Edit,
    others: Arc<Pipelines>,
}

impl Pipelines {
    /// The pipeline of a shader. Errors are reported to the caller's error scopes.
    ///
    /// If another thread is creating this pipeline, the call waits for it. Other pipelines can be
    /// created at the same time.
    pub(crate) fn get(&self, device: &wgpu::Device, shader: &Shader) -> Arc<wgpu::ComputePipeline> {
        let slot = self.slots().get(shader);
        slot.get_or_init(|| self.create(device, shader)).clone()
    }

    /// Whether the pipeline of a shader has been created.
    pub(crate) fn has(&self, shader: &Shader) -> bool {
        self.slots().slots.get(shader).is_some_and(|(slot, _)| slot.get().is_some())
    }

    fn create(&self, device: &wgpu::Device, shader: &Shader) -> Arc<wgpu::ComputePipeline> {
        let source = shader.source();
        let source = match &self.edited {
            None => source,
            Some(Edited { edit, others }) => match edit(shader, source.clone()) {
                same if same == source => return others.get(device, shader),
                edited => edited,
            },
        };
        Arc::new(create(device, shader, source, self.cache()))
    }

    fn slots(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pipelines of edited texts. Shaders that the edit does not change use `others`.
    pub(crate) fn with_edit(edit: Edit, others: Arc<Self>) -> Self {
        Self { edited: Some(Edited { edit, others }), ..Self::default() }
    }

    /// No pipelines yet. They are kept in a file in the directory `cache`, if one is given and the
    /// device supports it.
    #[cfg_attr(not(feature = "pipeline-cache"), expect(unused_variables, reason = "no files"))]
    pub(crate) fn new(device: &wgpu::Device, cache: Option<&Path>) -> Self {
        Self {
            #[cfg(feature = "pipeline-cache")]
            file: cache.and_then(|directory| PipelineFile::open(device, directory)),
            ..Self::default()
        }
    }

    /// Writes the file if there are new pipelines. Returns whether it did.
    #[cfg(feature = "pipeline-cache")]
    pub(crate) fn save(&self) -> crate::base::error::Result<bool> {
        self.file.as_ref().map_or(Ok(false), PipelineFile::save)
    }

    #[cfg(feature = "pipeline-cache")]
    fn cache(&self) -> Option<&wgpu::PipelineCache> {
        self.file.as_ref().map(PipelineFile::cache)
    }

    #[cfg(not(feature = "pipeline-cache"))]
    fn cache(&self) -> Option<&wgpu::PipelineCache> {
        None
    }

    /// Removes a pipeline whose creation failed.
    pub(crate) fn forget(&self, shader: &Shader) {
        self.slots().slots.remove(shader);
        if let Some(Edited { others, .. }) = &self.edited {
            others.forget(shader);
        }
    }
}

fn create(
    device: &wgpu::Device,
    shader: &Shader,
    source: String,
    cache: Option<&wgpu::PipelineCache>,
) -> wgpu::ComputePipeline {
    let label = shader.label();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            // Kernels write workgroup memory before they read it.
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::KERNELS;
    use crate::tensor::ElementType;

    /// The number of shaders is unbounded, that of pipelines is not: the most recently used ones are
    /// kept.
    #[test]
    fn pipelines_of_many_shaders_are_few() {
        let mut slots = Slots::default();
        let shader = |number: u8| {
            let shader = Shader::new(KERNELS[0], ElementType::F32, 64);
            Shader { attributes: [number; 16], flags: 0, ..shader }
        };
        let always = Shader::new(KERNELS[0], ElementType::U8, 64);
        let kept = slots.get(&always);
        let workgroups = [64, 128, 256];
        for (workgroup, number) in workgroups.iter().flat_map(|w| (0..=255).map(move |n| (w, n))) {
            let shader = Shader { workgroup: *workgroup, ..shader(number) };
            slots.get(&shader);
            assert!(Arc::ptr_eq(&kept, &slots.get(&always)));
            assert!(slots.slots.len() <= MAX_KEPT && slots.slots.contains_key(&shader));
        }
        assert_eq!(slots.slots.len(), MAX_KEPT);
    }
}
