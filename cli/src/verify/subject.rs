//! What is verified: adapters against the CPU, and the CPU against the oracle.

use wgmax::plan::Plan;
use wgmax::{Device, DeviceInfo, Tensor};
use wgmax_verify::Case;

use crate::options::Planning;

/// Computes the results of a case by a plan.
pub type Compute = Box<dyn Fn(&Case, &Plan) -> wgmax::Result<Vec<Tensor>>>;
/// Computes what the results shall be.
pub type Reference = Box<dyn Fn(&Case) -> wgmax::Result<Vec<Tensor>>>;

/// An adapter, or the CPU.
pub struct Subject {
    /// Its name and backend.
    pub name: String,
    /// The device that cases are planned for.
    pub device: Device,
    /// How `--device` names it.
    pub argument: String,
    /// The subject itself.
    pub actual: Compute,
    /// What it is compared with.
    pub expected: Reference,
    /// The name of what it is compared with.
    pub against: &'static str,
}

impl Subject {
    /// An adapter against the CPU.
    pub fn adapter(device: Device, cpu: Device) -> Self {
        let on = device.clone();
        let name = format!("{} · {}", device.info().name, device.info().backend);
        Self {
            name: name.clone(),
            argument: name,
            device,
            actual: Box::new(move |case, plan| case.execute(&on, plan)),
            expected: Box::new(move |case| case.execute(&cpu, &case.own_plan(&cpu)?)),
            against: "the CPU",
        }
    }

    /// The CPU against the oracle.
    pub fn cpu(cpu: Device) -> Self {
        let on = cpu.clone();
        Self {
            name: "CPU".to_string(),
            argument: "cpu".to_string(),
            device: cpu,
            actual: Box::new(move |case, plan| case.execute(&on, plan)),
            expected: Box::new(Case::expected),
            against: "the oracle",
        }
    }

    /// What the subject is.
    pub fn info(&self) -> &DeviceInfo {
        self.device.info()
    }
}

/// The subjects, and why other adapters could not be opened.
pub struct Subjects {
    pub open: Vec<Subject>,
    pub refused: Vec<String>,
}

impl Subjects {
    /// Every adapter, or the device of a name, and the CPU.
    pub fn find(name: Option<&str>, planning: &Planning) -> wgmax::Result<Self> {
        let (mut devices, mut refused) = (Vec::new(), Vec::new());
        match name {
            None => {
                for device in planning.open_all() {
                    match device {
                        Ok(device) => devices.push(device),
                        Err(error) => refused.push(error.to_string()),
                    }
                }
            }
            Some(name) => devices.push(planning.open(name)?),
        }
        devices.retain(|device| !device.is_cpu());
        // The reference has its own plans, whatever is chosen for the subjects.
        let cpu = Device::cpu();
        let mut open: Vec<Subject> =
            devices.into_iter().map(|device| Subject::adapter(device, cpu.clone())).collect();
        // Adapters of the same name are distinguished by their indices.
        let names: Vec<String> = open.iter().map(|subject| subject.name.clone()).collect();
        for (index, subject) in open.iter_mut().enumerate() {
            if names.iter().filter(|&name| *name == subject.name).count() > 1 {
                subject.name = format!("{index}: {}", subject.name);
                subject.argument = index.to_string();
            }
        }
        open.push(Subject::cpu(planning.open("cpu")?));
        Ok(Self { open, refused })
    }
}
