//! The subjects of verification: adapters against the CPU, and the CPU against the oracle.
use std::pin::Pin;

use wgmax::plan::Plan;
use wgmax::{Device, DeviceInfo, Result, Tensor};

use crate::Case;

/// A future of results.
pub type Computed<'a> = Pin<Box<dyn Future<Output = Result<Vec<Tensor>>> + 'a>>;
/// Computes the results of a case by a plan.
pub type Compute = Box<dyn for<'a> Fn(&'a Case, &'a Plan) -> Computed<'a>>;
/// Computes the expected results.
pub type Reference = Box<dyn Fn(&Case) -> Result<Vec<Tensor>>>;

/// An adapter, or the CPU.
pub struct Subject {
    /// Its name and backend.
    pub name: String,
    /// The device that cases are planned for.
    pub device: Device,
    /// The name that the command's `--device` takes, if the command can open it.
    pub argument: Option<String>,
    /// The subject itself.
    pub actual: Compute,
    /// The reference that it is compared with.
    pub expected: Reference,
    /// The name of the reference.
    pub against: &'static str,
}

impl Subject {
    /// An adapter, against the CPU with its own plans; or the CPU, against the oracle.
    pub fn new(device: Device, cpu: &Device) -> Self {
        let (name, against) = match device.is_cpu() {
            true => ("CPU".to_string(), "the oracle"),
            false => (format!("{} · {}", device.info().name, device.info().backend), "the CPU"),
        };
        let cpu = cpu.clone();
        let expected: Reference = match device.is_cpu() {
            true => Box::new(Case::expected),
            false => Box::new(move |case| case.execute(&cpu, &case.own_plan(&cpu)?)),
        };
        let argument = if device.is_cpu() { "cpu".to_string() } else { name.clone() };
        let on = device.clone();
        let actual: Compute = Box::new(move |case, plan| {
            let on = on.clone();
            Box::pin(async move { case.execute_async(&on, plan).await })
        });
        Self { name, device, argument: Some(argument), actual, expected, against }
    }

    /// A description of the subject.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }
}

/// The subjects, and why other adapters could not be opened.
pub struct Subjects {
    /// The adapters, and the CPU last.
    pub open: Vec<Subject>,
    /// Why others were not opened.
    pub refused: Vec<String>,
}

impl Subjects {
    /// Subjects from devices, or the errors of opening them, and from the CPU.
    pub fn new(devices: Vec<Result<Device>>, cpu: Device) -> Self {
        let (mut open, mut refused) = (Vec::new(), Vec::new());
        let reference = Device::cpu();
        for device in devices {
            match device {
                Ok(device) if device.is_cpu() => {}
                Ok(device) => open.push(Subject::new(device, &reference)),
                Err(error) => refused.push(error.to_string()),
            }
        }
        // Adapters of the same name are distinguished by their indices.
        let names: Vec<String> = open.iter().map(|subject| subject.name.clone()).collect();
        for (index, subject) in open.iter_mut().enumerate() {
            if names.iter().filter(|&name| *name == subject.name).count() > 1 {
                subject.name = format!("{index}: {}", subject.name);
                subject.argument = Some(index.to_string());
            }
        }
        open.push(Subject::new(cpu, &reference));
        Self { open, refused }
    }
}
