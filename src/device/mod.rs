//! Devices, GPU and CPU alike, and the tensors that live on them.

mod chain;
mod info;
mod options;
mod tensor;

pub use chain::Chain;
pub use info::DeviceInfo;
pub use options::DeviceOptions;
pub use tensor::DeviceTensor;

use std::fmt;
use std::sync::Arc;

use tensor::Storage;

use crate::cpu;
use crate::error::{Error, Result};
use crate::gpu::{self, Gpu, Prepared};
use crate::operator::Operator;
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorDesc};

/// The GPU adapters that wgpu finds and that can compute, best first, without opening any.
///
/// `WGPU_BACKEND` (`vulkan`, `gl`, ...) narrows the search, as in every wgpu program.
pub fn adapters() -> Vec<DeviceInfo> {
    pollster::block_on(gpu::adapters())
}

/// The adapter that [`Device::named`] opens for a name, unopened: for those who ask it for
/// features of their own and go on with [`Device::from_wgpu`]. `auto` is `gpu` here.
///
/// # Errors
/// [`Error::NoAdapter`].
pub fn adapter(name: &str) -> Result<wgpu::Adapter> {
    let wanted = (!matches!(name, "auto" | "gpu")).then_some(name);
    pollster::block_on(gpu::find(wanted))
}

/// Something that runs operators: a GPU through wgpu, or the CPU. Cloning shares it.
#[derive(Clone)]
pub struct Device {
    info: Arc<DeviceInfo>,
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    Cpu(Arc<cpu::Memory>),
    Gpu(Arc<Gpu>),
}

/// Tensors of a device, and the backend that holds them.
enum Here<'a> {
    Cpu(&'a Arc<cpu::Memory>, Vec<&'a Tensor>),
    Gpu(&'a Arc<Gpu>, Vec<&'a gpu::Buffer>),
}

impl Device {
    fn from_gpu(gpu: Gpu) -> Self {
        Self { info: Arc::new(gpu.info.clone()), backend: Backend::Gpu(Arc::new(gpu)) }
    }

    /// The best GPU adapter: discrete before integrated before software ones.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::AdapterRefused`].
    pub fn gpu() -> Result<Self> {
        pollster::block_on(Self::gpu_async())
    }

    /// As [`Device::gpu`], without blocking.
    ///
    /// # Errors
    /// As [`Device::gpu`].
    pub async fn gpu_async() -> Result<Self> {
        DeviceOptions::new().open_async("gpu").await
    }

    /// The CPU, all cores.
    ///
    /// It keeps up to 64 MiB of the memory of results that were dropped, and of scratch, for its next runs, as long as
    /// it or a clone of it lives: fresh memory costs as much time as the work on it.
    pub fn cpu() -> Self {
        Self { info: Arc::new(DeviceInfo::cpu()), backend: Backend::Cpu(Arc::default()) }
    }

    /// The best GPU adapter, or the CPU where none opens.
    pub fn auto() -> Self {
        // Nothing refuses `auto`.
        Self::named("auto").unwrap_or_else(|_| Self::cpu())
    }

    /// A device by name: `auto`, `cpu`, `gpu`, the index of an adapter in
    /// [`adapters`], or a part of an adapter's name, backend or driver in any case.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::AdapterRefused`].
    pub fn named(name: &str) -> Result<Self> {
        DeviceOptions::new().open(name)
    }

    /// Every adapter, opened, in the order of [`adapters`], and then the CPU.
    pub fn all() -> Vec<Result<Self>> {
        let gpus = pollster::block_on(gpu::open_all()).into_iter();
        gpus.map(|gpu| gpu.map(Self::from_gpu)).chain([Ok(Self::cpu())]).collect()
    }

    /// A device that the caller has opened. Its limits are the ones that count.
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        Self::from_gpu(Gpu::from_wgpu(device, queue))
    }

    /// Opens an adapter that the caller has chosen.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`].
    pub async fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self> {
        DeviceOptions::new().open_adapter(adapter).await
    }

    /// This device with shaders whose texts are changed before they are compiled: faults
    /// planted on purpose, to see that they are found. The CPU, which has no shaders, stays as it is.
    #[cfg(feature = "oracle")]
    #[doc(hidden)]
    pub fn with_edited_shaders(&self, edit: fn(&crate::kernel::Shader, String) -> String) -> Self {
        match &self.backend {
            Backend::Cpu(_) => self.clone(),
            Backend::Gpu(gpu) => Self::from_gpu(gpu.with_edit(edit)),
        }
    }

    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self.backend, Backend::Cpu(_))
    }

    /// The GPU, if this is one.
    pub(crate) fn gpu_backend(&self) -> Option<&Arc<Gpu>> {
        match &self.backend {
            Backend::Cpu(_) => None,
            Backend::Gpu(gpu) => Some(gpu),
        }
    }

    /// Copies a tensor to the device. The CPU shares it.
    ///
    /// # Errors
    /// [`Error::OverLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn upload(&self, tensor: &Tensor) -> Result<DeviceTensor> {
        pollster::block_on(self.upload_async(tensor))
    }

    /// As [`Device::upload`], without blocking.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub async fn upload_async(&self, tensor: &Tensor) -> Result<DeviceTensor> {
        let storage = match &self.backend {
            Backend::Cpu(_) => Storage::Host(tensor.clone()),
            Backend::Gpu(gpu) => Storage::Gpu(gpu.upload(tensor.bytes()).await?),
        };
        Ok(DeviceTensor { desc: tensor.desc().clone(), storage })
    }

    /// Runs an operator on tensors of this device. The results stay there.
    ///
    /// # Errors
    /// What the operator does not allow, [`Error::WrongDevice`], [`Error::NotSubmitted`], and what the
    /// device reports.
    pub fn run(&self, operator: &Operator, inputs: &[&DeviceTensor]) -> Result<Vec<DeviceTensor>> {
        pollster::block_on(self.run_async(operator, inputs))
    }

    /// As [`Device::run`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Device::run`].
    pub async fn run_async(
        &self,
        operator: &Operator,
        inputs: &[&DeviceTensor],
    ) -> Result<Vec<DeviceTensor>> {
        let descs: Vec<&TensorDesc> = inputs.iter().map(|input| &input.desc).collect();
        let plan = operator.plan(&descs, &self.info.limits)?;
        self.execute_async(&plan, inputs).await
    }

    /// Runs a plan that was made for this device's limits and for tensors like `inputs`.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::WrongDevice`], [`Error::NotSubmitted`], and what the device reports.
    pub fn execute(&self, plan: &Plan, inputs: &[&DeviceTensor]) -> Result<Vec<DeviceTensor>> {
        pollster::block_on(self.execute_async(plan, inputs))
    }

    /// As [`Device::execute`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Device::execute`].
    pub async fn execute_async(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
    ) -> Result<Vec<DeviceTensor>> {
        let storages: Vec<Storage> = match self.here(plan, inputs)? {
            Here::Cpu(memory, tensors) => cpu::execute(plan, &tensors, memory, |_, _| ())?
                .into_iter()
                .map(Storage::Host)
                .collect(),
            Here::Gpu(gpu, buffers) => {
                gpu.execute(plan, &buffers).await?.into_iter().map(Storage::Gpu).collect()
            }
        };
        let outputs = plan.outputs.iter().zip(storages);
        Ok(outputs.map(|(desc, storage)| DeviceTensor { desc: desc.clone(), storage }).collect())
    }

    /// Plans and compiles an operator for inputs of these types and shapes, to be
    /// recorded into the caller's command encoders.
    ///
    /// ```no_run
    /// # fn program(device: &wgpu::Device, queue: &wgpu::Queue, input: &wgpu::Buffer, output: &wgpu::Buffer) -> wgmax::Result<()> {
    /// # use wgmax::wgpu;
    /// use wgmax::operator::ReduceMax;
    /// use wgmax::{Device, ElementType, TensorDesc};
    ///
    /// let matrix = TensorDesc::new(ElementType::F32, [1000, 64])?;
    /// let operator = ReduceMax::new().axes([1]).into();
    /// let rows = Device::from_wgpu(device, queue).prepare(&operator, &[&matrix])?;
    ///
    /// let mut encoder = device.create_command_encoder(&Default::default());
    /// rows.record(&mut encoder, &[input.into()], &[output.into()])?;
    /// queue.submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the operator does not allow, [`Error::CannotRecord`] on the CPU, and what the device reports.
    pub fn prepare(&self, operator: &Operator, inputs: &[&TensorDesc]) -> Result<Prepared> {
        pollster::block_on(self.prepare_async(operator, inputs))
    }

    /// As [`Device::prepare`], without blocking.
    ///
    /// # Errors
    /// As [`Device::prepare`].
    pub async fn prepare_async(
        &self,
        operator: &Operator,
        inputs: &[&TensorDesc],
    ) -> Result<Prepared> {
        let Backend::Gpu(gpu) = &self.backend else { return Err(Error::CannotRecord) };
        let plan = operator.plan(inputs, &self.info.limits)?;
        gpu.prepare(plan, inputs, &format!("wgmax {}", operator.name())).await
    }

    /// Waits until all that was given to the device is done.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Gpu`].
    pub fn wait(&self) -> Result<()> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(gpu) => gpu.wait(),
        }
    }

    /// Runs a plan launch by launch and hands `after` the number of each launch
    /// and all bytes of each buffer that it wrote into, scratch included: so one
    /// finds the launch at which two devices part.
    ///
    /// # Errors
    /// As [`Device::execute`].
    pub fn execute_traced(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
        after: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        match self.here(plan, inputs)? {
            // Fresh scratch is zero, as on a GPU.
            Here::Cpu(_, tensors) => cpu::execute(plan, &tensors, &Arc::default(), after).map(drop),
            Here::Gpu(gpu, buffers) => {
                pollster::block_on(gpu.execute_traced(plan, &buffers, after))
            }
        }
    }

    /// The inputs of a plan as this device's backend holds them.
    fn here<'a>(&'a self, plan: &Plan, inputs: &[&'a DeviceTensor]) -> Result<Here<'a>> {
        if inputs.len() != plan.input_count() {
            return Err(Error::InputCount {
                operator: "the plan".into(),
                expected: if plan.input_count() == 1 { "1 input" } else { "2 inputs" },
                actual: inputs.len(),
            });
        }
        match &self.backend {
            Backend::Cpu(memory) => inputs
                .iter()
                .map(|input| match &input.storage {
                    Storage::Host(tensor) => Ok(tensor),
                    Storage::Gpu(_) => Err(self.not_here(input)),
                })
                .collect::<Result<_>>()
                .map(|tensors| Here::Cpu(memory, tensors)),
            Backend::Gpu(gpu) => inputs
                .iter()
                .map(|input| match &input.storage {
                    Storage::Gpu(buffer) if Arc::ptr_eq(gpu, &buffer.gpu) => Ok(buffer),
                    _ => Err(self.not_here(input)),
                })
                .collect::<Result<_>>()
                .map(|buffers| Here::Gpu(gpu, buffers)),
        }
    }

    fn not_here(&self, tensor: &DeviceTensor) -> Error {
        Error::WrongDevice {
            expected: self.info.to_string(),
            actual: match &tensor.storage {
                Storage::Host(_) => "the CPU".into(),
                Storage::Gpu(buffer) => buffer.gpu.info.to_string(),
            },
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.info)
    }
}
