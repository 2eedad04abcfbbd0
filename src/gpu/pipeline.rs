//! Compute pipelines, made once for each shader.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "io")]
use super::cache::PipelineFile;
use crate::kernel::Shader;

/// Pipelines kept of shaders that are written for one set of attributes: there may be any number, and
/// each takes memory in the driver.
const WRITTEN_OUT: usize = 64;

#[derive(Default)]
struct Made {
    pipelines: HashMap<Shader, (Arc<wgpu::ComputePipeline>, u64)>,
    /// Counts what is asked for.
    now: u64,
}

impl Made {
    fn find(&mut self, shader: &Shader) -> Option<Arc<wgpu::ComputePipeline>> {
        self.now += 1;
        let (pipeline, used) = self.pipelines.get_mut(shader)?;
        *used = self.now;
        Some(pipeline.clone())
    }

    fn keep(&mut self, shader: &Shader, pipeline: Arc<wgpu::ComputePipeline>) {
        let ours = self.pipelines.iter().filter(|(shader, _)| shader.kernel.is_written_out());
        if shader.kernel.is_written_out() && ours.clone().count() >= WRITTEN_OUT {
            // What has not been used for longest; whoever has it keeps it alive.
            let oldest = ours.min_by_key(|(_, (_, used))| *used).map(|(shader, _)| *shader);
            oldest.map(|shader| self.pipelines.remove(&shader));
        }
        self.pipelines.insert(*shader, (pipeline, self.now));
    }
}

/// The pipelines of a device.
#[derive(Default)]
pub(crate) struct Pipelines {
    #[cfg(feature = "io")]
    file: Option<PipelineFile>,
    made: Mutex<Made>,
    /// What becomes of texts before they are compiled, where faults are planted on purpose.
    #[cfg(feature = "oracle")]
    edit: Option<fn(&Shader, String) -> String>,
}

impl Pipelines {
    /// The pipeline of a shader. Errors go to the caller's error scopes.
    pub(crate) fn get(&self, device: &wgpu::Device, shader: &Shader) -> Arc<wgpu::ComputePipeline> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.find(shader).unwrap_or_else(|| {
            let new = Arc::new(make(device, shader, self.source(shader), self.cache()));
            made.keep(shader, new.clone());
            new
        })
    }

    #[cfg(feature = "oracle")]
    pub(crate) fn with_edit(edit: fn(&Shader, String) -> String) -> Self {
        Self { edit: Some(edit), ..Self::default() }
    }

    fn source(&self, shader: &Shader) -> String {
        #[cfg(feature = "oracle")]
        if let Some(edit) = self.edit {
            return edit(shader, shader.source());
        }
        shader.source()
    }

    /// Pipelines that are kept in a file, if there is one.
    #[cfg(feature = "io")]
    pub(crate) fn with_file(file: Option<PipelineFile>) -> Self {
        Self { file, ..Self::default() }
    }

    /// Writes the file, if there is anything new. Whether it did.
    #[cfg(feature = "io")]
    pub(crate) fn save(&self) -> crate::error::Result<bool> {
        self.file.as_ref().map_or(Ok(false), PipelineFile::save)
    }

    #[cfg(feature = "io")]
    fn cache(&self) -> Option<&wgpu::PipelineCache> {
        self.file.as_ref().map(PipelineFile::cache)
    }

    #[cfg(not(feature = "io"))]
    fn cache(&self) -> Option<&wgpu::PipelineCache> {
        None
    }

    /// Forgets a pipeline that could not be made.
    pub(crate) fn forget(&self, shader: &Shader) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).pipelines.remove(shader);
    }
}

fn make(
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
            // Every slot is written before it is read.
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache,
    })
}
