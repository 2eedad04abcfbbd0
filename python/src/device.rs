//! Devices.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use wgmax::DeviceKind;

use crate::error::{forked, raised};
use crate::threads::{detached, wait};

/// An object of a device. A forked process has none of the threads and connections of a GPU that was
/// opened before the fork, and would wait for it forever. So only the process that created an object of a
/// GPU can use and free it.
pub(crate) struct Held<T: Clone> {
    value: T,
    /// The process, if the device is a GPU.
    process: Option<u32>,
}

impl<T: Clone> Held<T> {
    pub(crate) fn new(device: &wgmax::Device, value: T) -> Self {
        Self { value, process: (!device.is_cpu()).then(std::process::id) }
    }

    fn is_foreign(&self) -> bool {
        self.process.is_some_and(|process| process != std::process::id())
    }

    /// The object, for work with it.
    pub(crate) fn get(&self) -> PyResult<&T> {
        if self.is_foreign() { Err(forked()) } else { Ok(&self.value) }
    }

    /// The object, for its description.
    pub(crate) fn described(&self) -> &T {
        &self.value
    }
}

impl<T: Clone> Drop for Held<T> {
    fn drop(&mut self) {
        if self.is_foreign() {
            // Clones share memory, which is not freed.
            std::mem::forget(self.value.clone());
        }
    }
}

/// Runs operators: a GPU, or the CPU.
#[pyclass(frozen, module = "wgmax")]
pub(crate) struct Device(pub(crate) Held<wgmax::Device>);

impl From<wgmax::Device> for Device {
    fn from(device: wgmax::Device) -> Self {
        Self(Held::new(&device, device.clone()))
    }
}

/// A description of an adapter or the CPU, which is not opened.
#[pyclass(frozen, get_all, module = "wgmax")]
pub(crate) struct DeviceInfo {
    /// The name.
    name: String,
    /// The backend: "vulkan", "metal", "dx12", "gl" or "cpu".
    backend: String,
    /// The driver and its version, as far as known.
    driver: String,
    /// The kind: "discrete", "integrated", "virtual", "software", "other" or "host".
    kind: String,
    /// The name by which `wgmax.Device` opens this adapter and no other.
    description: String,
}

impl From<&wgmax::DeviceInfo> for DeviceInfo {
    fn from(info: &wgmax::DeviceInfo) -> Self {
        Self {
            name: info.name.clone(),
            backend: info.backend.to_string(),
            driver: info.driver.clone(),
            kind: info.kind.to_string(),
            description: description(info),
        }
    }
}

#[pymethods]
impl DeviceInfo {
    fn __repr__(&self) -> String {
        format!("<wgmax.DeviceInfo {}: {}, {}>", self.name, self.backend, self.kind)
    }
}

#[doc = include_str!("docs/devices.txt")]
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> PyResult<Vec<DeviceInfo>> {
    let adapters = detached(py, wgmax::adapters).map_err(raised)?;
    Ok(adapters.iter().chain([cpu().info()]).map(DeviceInfo::from).collect())
}

/// The CPU, with the memory that it keeps from run to run.
pub(crate) fn cpu() -> &'static wgmax::Device {
    static CPU: OnceLock<wgmax::Device> = OnceLock::new();
    CPU.get_or_init(wgmax::Device::cpu)
}

/// A device by name. A process opens it once, and again after a fork: the parent's GPU would never answer.
fn named(py: Python<'_>, name: &str) -> PyResult<wgmax::Device> {
    static OPENED: Mutex<Option<HashMap<(u32, String), wgmax::Device>>> = Mutex::new(None);
    if name == "cpu" {
        return Ok(cpu().clone());
    }
    let opened = || OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), name.to_string());
    if let Some(device) = opened().as_ref().and_then(|all| all.get(&key)) {
        return Ok(device.clone());
    }
    let device = wait(py, wgmax::Device::named_async(name))?;
    let device = if device.is_cpu() { cpu().clone() } else { device };
    let mut opened = opened();
    let opened = opened.get_or_insert_default();
    // If an adapter was opened by another name, its tensors belong to that device, which is returned.
    let mut others = opened.iter().filter(|((process, _), _)| *process == key.0);
    let known = others.find(|(_, other)| is_same(other, &device));
    let device = known.map_or(device, |(_, known)| known.clone());
    opened.insert(key, device.clone());
    Ok(device)
}

/// Whether both are of one adapter, of which a process opens one device. wgpu compares devices by numbers,
/// which begin anew for each that is opened.
pub(crate) fn is_same(a: &wgmax::Device, b: &wgmax::Device) -> bool {
    let adapter = |of: &wgmax::Device| of.wgpu().map(|(device, _)| device.adapter_info());
    adapter(a) == adapter(b)
}

/// The name by which another process opens a device.
pub(crate) fn description(info: &wgmax::DeviceInfo) -> String {
    if info.kind == DeviceKind::Host { "cpu".into() } else { info.to_string() }
}

/// A device as text.
pub(crate) fn summary(device: &wgmax::Device) -> String {
    let info = device.info();
    let driver = if info.driver.is_empty() { "" } else { ", driver " };
    format!("{}: {}, {}{driver}{}", info.name, info.backend, info.kind, info.driver)
}

/// The device of an argument: a [`Device`], a name, or by default the CPU, as for arrays.
pub(crate) fn chosen(py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<wgmax::Device> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(cpu().clone()) };
    if let Ok(device) = given.cast::<Device>() {
        return device.get().0.get().cloned();
    }
    match given.extract::<String>() {
        Ok(name) => named(py, &name),
        Err(_) => Err(PyTypeError::new_err("device must be a wgmax.Device or the name of one")),
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (name = "auto"))]
    fn new(py: Python<'_>, name: &str) -> PyResult<Self> {
        named(py, name).map(Self::from)
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.described().info().name
    }

    /// The backend.
    #[getter]
    fn backend(&self) -> &str {
        self.0.described().info().backend.name()
    }

    /// The driver and its version, as far as known.
    #[getter]
    fn driver(&self) -> &str {
        &self.0.described().info().driver
    }

    /// The kind of device.
    #[getter]
    fn kind(&self) -> &str {
        self.0.described().info().kind.name()
    }

    fn __repr__(&self) -> String {
        format!("<wgmax.Device {}>", summary(self.0.described()))
    }

    /// Devices are equal if they take each other's tensors: those of one adapter and process, and the CPU.
    fn __eq__(&self, other: &Self) -> bool {
        match (self.0.get(), other.0.get()) {
            (Ok(own), Ok(other)) => is_same(own, other),
            // Opened before a fork: nothing of them may be locked here.
            (Err(_), Err(_)) => self.__hash__() == other.__hash__(),
            _ => false,
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        description(self.0.described().info()).hash(&mut hasher);
        hasher.finish()
    }

    /// Another process opens its own adapter with this description.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<Self>(), (description(self.0.described().info()),))
    }
}
