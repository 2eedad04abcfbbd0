//! What is verified: adapters against the CPU, and the CPU against the oracle.

use wgmax::sweep::Case;
use wgmax::{Device, DeviceInfo, Tensor, Tuning, oracle};

use crate::options::Planning;

/// Computes the results of a case.
pub type Compute = Box<dyn Fn(&Case) -> wgmax::Result<Vec<Tensor>>>;

/// An adapter, or the CPU.
pub struct Subject {
    /// Its name and backend.
    pub name: String,
    pub info: DeviceInfo,
    /// The tuning of cases that have none themselves.
    pub tuning: Tuning,
    /// How `--device` names it.
    pub argument: String,
    /// The subject itself.
    pub actual: Compute,
    /// What it is compared with.
    pub expected: Compute,
    /// The name of what it is compared with.
    pub against: &'static str,
    /// The device whose launches are traced when results differ; `None` for the CPU.
    pub traced: Option<Device>,
    /// The subject takes one case in this many.
    pub one_in: u64,
}

/// The oracle is slow: beside adapters, the CPU takes one case in this many.
const ORACLE_ONE_IN: u64 = 4;

impl Subject {
    /// An adapter against the CPU.
    pub fn adapter(device: Device, cpu: Device) -> Self {
        let info = device.info().clone();
        let on = device.clone();
        Self {
            name: format!("{} · {}", info.name, info.backend),
            argument: format!("{} · {}", info.name, info.backend),
            info,
            tuning: device.tuning().clone(),
            actual: Box::new(move |case| case.run(&on)),
            expected: Box::new(move |case| case.operator.run(&cpu, &case.inputs())),
            against: "the CPU",
            traced: Some(device),
            one_in: 1,
        }
    }

    /// The CPU against the oracle.
    pub fn cpu(cpu: Device, alone: bool) -> Self {
        Self {
            name: "CPU".to_string(),
            argument: "cpu".to_string(),
            info: cpu.info().clone(),
            tuning: cpu.tuning().clone(),
            actual: Box::new(move |case| case.run(&cpu)),
            expected: Box::new(|case| oracle::run(&case.operator, &case.inputs())),
            against: "the oracle",
            traced: None,
            one_in: if alone { 1 } else { ORACLE_ONE_IN },
        }
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
        open.push(Subject::cpu(planning.open("cpu")?, open.is_empty()));
        Ok(Self { open, refused })
    }
}
