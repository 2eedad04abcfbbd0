//! Devices, GPUs and the CPU, and the tensors on them.

mod chain;
#[cfg(feature = "cpu")]
mod cpu;
mod options;
mod prepare;
mod probe;
mod tensor;
pub(crate) mod waiting;

pub use chain::Chain;
pub use options::DeviceOptions;
pub use prepare::{PrepareChain, Slot};
pub use probe::{Probe, ProbeCheck};
pub use tensor::DeviceTensor;

use std::fmt;
use std::sync::Arc;

use tensor::Storage;

use crate::base::error::{Error, Result};
use crate::device::waiting::{block_on, block_on_gpu};
use crate::exec::cpu::{self as executor, Memory, Watch};
use crate::exec::gpu::{self, Gpu};
pub use crate::exec::gpu::{DeviceBackend, DeviceInfo, DeviceKind};
use crate::operator::Operator;
use crate::plan::{Plan, Shader};
use crate::tensor::{Inputs, Outputs, Tensor, TensorDesc, View};
use crate::tuning::Tuning;

/// Lists the GPU adapters that support compute shaders, best first, without opening any.
///
/// `WGPU_BACKEND` (`vulkan`, `gl`, ...) restricts the search, as in every wgpu program.
///
/// # Errors
/// [`Error::WouldBlock`] in a browser.
pub fn adapters() -> Result<Vec<DeviceInfo>> {
    block_on_gpu(async { Ok(adapters_async().await) })
}

/// As [`adapters`], without blocking. A browser has one adapter, or none.
pub async fn adapters_async() -> Vec<DeviceInfo> {
    gpu::adapters().await
}

/// Finds the adapter that [`Device::named`] would open, without opening it.
///
/// Use it to request a device with your own features, for [`Device::from_wgpu`]. The name `auto` means
/// `gpu` here: the best adapter, which may be a software one.
///
/// # Errors
/// [`Error::NoAdapter`]; [`Error::WouldBlock`] in a browser.
pub fn adapter(name: &str) -> Result<wgpu::Adapter> {
    block_on_gpu(adapter_async(name))
}

/// As [`adapter`], without blocking.
///
/// # Errors
/// [`Error::NoAdapter`].
pub async fn adapter_async(name: &str) -> Result<wgpu::Adapter> {
    let is_auto = name.trim().eq_ignore_ascii_case("auto");
    gpu::find(if is_auto { "gpu" } else { name }, Default::default()).await
}

/// Runs operators: on a GPU through wgpu, or on the CPU. Clones share the device.
///
/// ```
/// use wgmax::{Device, Tensor, operator::ReduceMax};
///
/// let device = Device::auto()?;
/// let data = device.upload(&Tensor::from_slice([2, 2], &[1u8, 4, 3, 2])?)?;
/// let [columns] = device.run(ReduceMax::new().axes([0]), &data)?.exactly()?;
/// assert_eq!(columns.download()?.as_slice::<u8>()?, [3, 4]);
/// # Ok::<(), wgmax::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    info: Arc<DeviceInfo>,
    tuning: Arc<Tuning>,
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    #[cfg_attr(not(feature = "cpu"), expect(dead_code, reason = "nothing makes one"))]
    Cpu(Arc<Memory>),
    Gpu(Arc<Gpu>),
}

/// The inputs of a plan, as a backend holds them.
enum BackendInputs<'a> {
    Cpu(&'a Arc<Memory>, Vec<&'a Tensor>),
    Gpu(&'a Arc<Gpu>, Vec<&'a gpu::Buffer>),
}

impl Device {
    #[cfg_attr(
        all(target_family = "wasm", feature = "webgpu"),
        expect(clippy::arc_with_non_send_sync, reason = "a browser's device stays on its thread")
    )]
    fn from_gpu(gpu: Gpu) -> Self {
        Self {
            info: Arc::new(gpu.info.clone()),
            tuning: Arc::new(gpu.info.tuning()),
            backend: Backend::Gpu(Arc::new(gpu)),
        }
    }

    /// The best GPU adapter: discrete before integrated before software ones.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::AdapterRefused`]; [`Error::WouldBlock`] in a browser.
    pub fn gpu() -> Result<Self> {
        block_on_gpu(Self::gpu_async())
    }

    /// As [`Device::gpu`], without blocking.
    ///
    /// # Errors
    /// As [`Device::gpu`].
    pub async fn gpu_async() -> Result<Self> {
        DeviceOptions::new().open_async("gpu").await
    }

    /// The best hardware GPU, or the CPU if there is none or it cannot be opened.
    ///
    /// Software adapters, which a driver emulates on the CPU, are left out: the CPU backend is
    /// several times as fast on the same cores. [`Device::gpu`] and [`Device::named`] open them.
    /// Without the feature `cpu`, this opens the adapter that [`Device::gpu`] opens; if that fails,
    /// the error is [`Error::NoCpu`].
    ///
    /// # Errors
    /// [`Error::NoCpu`] if no adapter can be opened and the feature `cpu` is off.
    pub fn auto() -> Result<Self> {
        Self::named("auto")
    }

    /// A device by name:
    ///
    /// - `auto`: as [`Device::auto`]; `cpu`: as [`Device::cpu`]; `gpu`: as [`Device::gpu`];
    /// - `hardware`: the best GPU adapter that is not a software adapter;
    /// - the index of an adapter in [`adapters`];
    /// - a part of an adapter's name, backend or driver.
    ///
    /// Case does not matter.
    ///
    /// # Errors
    /// [`Error::NoAdapter`], [`Error::AdapterRefused`], [`Error::NoCpu`]; [`Error::WouldBlock`] in a
    /// browser, unless it is the CPU.
    pub fn named(name: &str) -> Result<Self> {
        DeviceOptions::new().open(name)
    }

    /// As [`Device::named`], without blocking.
    ///
    /// # Errors
    /// As [`Device::named`].
    pub async fn named_async(name: &str) -> Result<Self> {
        DeviceOptions::new().open_async(name).await
    }

    /// Opens every adapter, in the order of [`adapters_async`]. The CPU comes last, if the feature
    /// `cpu` is on. In a browser the first item is [`Error::WouldBlock`].
    pub fn all() -> Vec<Result<Self>> {
        let opened = block_on_gpu(async { Ok(gpu::open_all().await) });
        Self::with_cpu(opened.unwrap_or_else(|error| vec![Err(error)]))
    }

    /// As [`Device::all`], without blocking.
    pub async fn all_async() -> Vec<Result<Self>> {
        Self::with_cpu(gpu::open_all().await)
    }

    /// All devices. The CPU comes last.
    fn with_cpu(gpus: Vec<Result<Gpu>>) -> Vec<Result<Self>> {
        let gpus = gpus.into_iter().map(|gpu| gpu.map(Self::from_gpu));
        #[cfg(feature = "cpu")]
        let gpus = gpus.chain([Ok(Self::cpu())]);
        gpus.collect()
    }

    /// A device that the caller has opened. Plans respect the limits it was opened with.
    /// [`DeviceOptions::wrap`] does the same with options.
    ///
    /// Call this once and keep the device, or clones of it: it holds the compiled pipelines, and each
    /// takes milliseconds to compile. Devices that wrap the same wgpu device accept each other's
    /// tensors.
    ///
    /// # Errors
    /// [`Error::WrongQueue`] for the queue of another device, [`Error::DeviceLost`].
    pub fn from_wgpu(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self> {
        DeviceOptions::new().wrap(device, queue)
    }

    /// Opens an adapter that the caller has chosen.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`]; [`Error::WouldBlock`] in a browser.
    pub fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self> {
        DeviceOptions::new().open_adapter(adapter)
    }

    /// As [`Device::from_adapter`], without blocking.
    ///
    /// # Errors
    /// [`Error::AdapterRefused`].
    pub async fn from_adapter_async(adapter: &wgpu::Adapter) -> Result<Self> {
        DeviceOptions::new().open_adapter_async(adapter).await
    }

    /// This device with `edit` applied to each shader's text before it is compiled. Tests inject
    /// faults with it, to check that they are detected. The CPU has no shaders and is unchanged.
    #[doc(hidden)]
    pub fn with_edited_shaders(
        &self,
        edit: impl Fn(&crate::plan::Shader, String) -> String + Send + Sync + 'static,
    ) -> Self {
        match &self.backend {
            Backend::Cpu(_) => self.clone(),
            Backend::Gpu(gpu) => {
                let gpu = gpu.with_edit(Arc::new(edit));
                Self::from_gpu(gpu).with_tuning((*self.tuning).clone())
            }
        }
    }

    /// The device's name, backend, driver, kind and limits.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The tuning of plans for this device.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The same device with another tuning. Results do not depend on the tuning.
    pub fn with_tuning(&self, tuning: Tuning) -> Self {
        Self { tuning: Arc::new(tuning), ..self.clone() }
    }

    /// Plans an operator for inputs of these types and shapes, with this device's limits and
    /// tuning.
    ///
    /// # Errors
    /// As [`Operator::plan`].
    pub fn plan<'a>(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<&'a TensorDesc>,
    ) -> Result<Plan> {
        operator.into().plan(inputs, &self.info.limits, &self.tuning)
    }

    /// As [`Device::plan`], for inputs and results with these views.
    ///
    /// # Errors
    /// As [`Operator::plan_views`].
    pub fn plan_views(
        &self,
        operator: impl Into<Operator>,
        inputs: &[&View],
        results: &[&View],
    ) -> Result<Plan> {
        operator.into().plan_views(inputs, results, &self.info.limits, &self.tuning)
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self.backend, Backend::Cpu(_))
    }

    /// The wgpu device and its queue, for the caller's own work; `None` for the CPU.
    pub fn wgpu(&self) -> Option<(&wgpu::Device, &wgpu::Queue)> {
        self.gpu_backend().map(|gpu| (&gpu.device, &gpu.queue))
    }

    /// Waits for work of this device.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] for a GPU in a browser; then no work has begun.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        match &self.backend {
            Backend::Cpu(_) => block_on(work),
            Backend::Gpu(_) => block_on_gpu(work),
        }
    }

    /// The GPU, if this is one.
    pub(crate) fn gpu_backend(&self) -> Option<&Arc<Gpu>> {
        match &self.backend {
            Backend::Cpu(_) => None,
            Backend::Gpu(gpu) => Some(gpu),
        }
    }

    /// Copies a tensor to a GPU. The CPU shares its memory.
    ///
    /// # Errors
    /// [`Error::OverLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`], [`Error::Gpu`];
    /// [`Error::WouldBlock`] for a GPU in a browser, where only the `async` functions can wait for
    /// one.
    pub fn upload(&self, tensor: &Tensor) -> Result<DeviceTensor> {
        self.block_on(self.upload_async(tensor))
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
        Ok(DeviceTensor::new(tensor.desc(), storage))
    }

    /// A tensor. On the CPU it is `host`, or zeros without one. On a GPU it is zeros, and `write` gets the
    /// buffer, so that bytes outside of the WebAssembly memory can be written to it.
    #[cfg(target_family = "wasm")]
    #[doc(hidden)]
    pub async fn filled_async(
        &self,
        desc: &TensorDesc,
        host: Option<Tensor>,
        write: impl FnOnce(&wgpu::Buffer),
    ) -> Result<DeviceTensor> {
        let storage = match &self.backend {
            Backend::Cpu(_) => {
                let zeros = || Tensor::filled(desc.clone(), |_| ());
                Storage::Host(host.map_or_else(zeros, Ok)?)
            }
            Backend::Gpu(gpu) => Storage::Gpu(gpu.filled(desc.byte_len() as u64, write).await?),
        };
        Ok(DeviceTensor::new(desc, storage))
    }

    /// Runs an operator on tensors of this device. The results stay on the device. [`Run`](crate::Run)
    /// takes tensors on the host.
    ///
    /// # Errors
    /// As [`Device::plan`], [`Error::WrongDevice`], [`Error::NotSubmitted`], and errors of the device.
    pub fn run<'a>(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        self.block_on(self.run_async(operator, inputs))
    }

    /// As [`Device::run`], without blocking on a GPU. Missing pipelines are compiled on this
    /// thread.
    ///
    /// # Errors
    /// As [`Device::run`].
    pub async fn run_async<'a>(
        &self,
        operator: impl Into<Operator>,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        let inputs = inputs.into_inputs();
        let plan = self.plan_for(operator, &inputs)?;
        self.execute_async(&plan, inputs).await
    }

    /// Runs a plan. It must have been made for this device's limits.
    ///
    /// # Errors
    /// [`Error::InputCount`] and [`Error::WrongInput`] for inputs that differ from those that the plan
    /// was made for, [`Error::WrongDevice`], [`Error::NotSubmitted`], and errors of the device.
    pub fn execute<'a>(
        &self,
        plan: &Plan,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        self.block_on(self.execute_async(plan, inputs))
    }

    /// As [`Device::execute`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Device::execute`].
    pub async fn execute_async<'a>(
        &self,
        plan: &Plan,
        inputs: impl Inputs<&'a DeviceTensor>,
    ) -> Result<Outputs<DeviceTensor>> {
        self.execute_watched(plan, &inputs.into_inputs(), None).await
    }

    /// As [`Device::execute_async`]; on the CPU `watch` gets the progress.
    pub(crate) async fn execute_watched(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
        watch: Option<Watch>,
    ) -> Result<Outputs<DeviceTensor>> {
        let storages: Vec<Storage> = match self.backend_inputs(plan, inputs)? {
            BackendInputs::Cpu(memory, tensors) => {
                executor::execute(plan, &tensors, memory, watch, |_, _| ())?
                    .into_iter()
                    .map(Storage::Host)
                    .collect()
            }
            BackendInputs::Gpu(gpu, buffers) => {
                gpu.execute(plan, &buffers).await?.into_iter().map(Storage::Gpu).collect()
            }
        };
        Ok(DeviceTensor::results(plan, storages))
    }

    /// The plan of an operator for tensors of a device, which may be views.
    fn plan_for(&self, operator: impl Into<Operator>, inputs: &[&DeviceTensor]) -> Result<Plan> {
        let views: Vec<&View> = inputs.iter().map(|input| &input.view).collect();
        self.plan_views(operator, &views, &[])
    }

    /// Compiles the pipeline of a shader, unless the device has it.
    ///
    /// # Errors
    /// [`Error::CannotRecord`] on the CPU, and errors of the device.
    #[doc(hidden)]
    pub fn compile(&self, shader: &Shader) -> Result<()> {
        match &self.backend {
            Backend::Cpu(_) => Err(Error::CannotRecord),
            Backend::Gpu(gpu) => block_on_gpu(gpu.compile_one(shader)),
        }
    }

    /// Waits until the device has finished all submitted work.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Gpu`]; [`Error::WouldBlock`] in a browser.
    pub fn wait(&self) -> Result<()> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(gpu) => block_on_gpu(gpu.wait(true)),
        }
    }

    /// As [`Device::wait`], without blocking.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Gpu`].
    pub async fn wait_async(&self) -> Result<()> {
        match &self.backend {
            Backend::Cpu(_) => Ok(()),
            Backend::Gpu(gpu) => gpu.wait(false).await,
        }
    }

    /// Runs a plan one launch at a time. After each launch, `after` is called for each buffer that the
    /// launch wrote to, scratch included, with the launch's number and all bytes of the buffer. This
    /// finds the first launch at which two devices differ.
    ///
    /// # Errors
    /// As [`Device::execute`].
    pub fn execute_traced(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
        after: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        self.block_on(self.traced(plan, inputs, after, true))
    }

    /// As [`Device::execute_traced`], without blocking on a GPU.
    ///
    /// # Errors
    /// As [`Device::execute`].
    pub async fn execute_traced_async(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
        after: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        self.traced(plan, inputs, after, false).await
    }

    /// `wait`: whether this may block until the device is done.
    async fn traced(
        &self,
        plan: &Plan,
        inputs: &[&DeviceTensor],
        after: impl FnMut(usize, &[u8]),
        wait: bool,
    ) -> Result<()> {
        match self.backend_inputs(plan, inputs)? {
            BackendInputs::Cpu(memory, tensors) => {
                // No memory is reused: new scratch is zero, as on a GPU.
                executor::execute(plan, &tensors, &memory.fresh(), None, after).map(drop)
            }
            BackendInputs::Gpu(gpu, buffers) => {
                gpu.execute_traced(plan, &buffers, after, wait).await
            }
        }
    }

    /// Checks that the inputs are those that the plan was made for, and are on this device.
    fn backend_inputs<'a>(
        &'a self,
        plan: &Plan,
        inputs: &[&'a DeviceTensor],
    ) -> Result<BackendInputs<'a>> {
        plan.check_inputs(inputs.iter().map(|input| &input.view))?;
        match &self.backend {
            Backend::Cpu(memory) => inputs
                .iter()
                .map(|input| match &input.storage {
                    Storage::Host(tensor) => Ok(tensor),
                    Storage::Gpu(_) => Err(self.wrong_device(input)),
                })
                .collect::<Result<_>>()
                .map(|tensors| BackendInputs::Cpu(memory, tensors)),
            Backend::Gpu(gpu) => inputs
                .iter()
                .map(|input| match &input.storage {
                    Storage::Gpu(buffer) if gpu.is_same(&buffer.gpu) => Ok(buffer),
                    _ => Err(self.wrong_device(input)),
                })
                .collect::<Result<_>>()
                .map(|buffers| BackendInputs::Gpu(gpu, buffers)),
        }
    }

    fn wrong_device(&self, tensor: &DeviceTensor) -> Error {
        Error::WrongDevice {
            expected: self.described(),
            actual: match &tensor.storage {
                Storage::Host(_) => "the CPU".into(),
                Storage::Gpu(buffer) => buffer.gpu.described(),
            },
        }
    }

    /// Name and driver, and the number of a GPU.
    fn described(&self) -> String {
        match &self.backend {
            Backend::Cpu(_) => self.info.to_string(),
            Backend::Gpu(gpu) => gpu.described(),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.described())
    }
}
