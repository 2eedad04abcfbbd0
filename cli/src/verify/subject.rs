//! What is put to the test.

use wgmax::sweep::Case;
use wgmax::{Device, DeviceInfo, Tensor, oracle};

/// Something that computes cases.
pub type Compute = Box<dyn Fn(&Case) -> wgmax::Result<Vec<Tensor>>>;

/// An adapter, or the CPU.
pub struct Subject {
    /// Its name and backend.
    pub name: String,
    /// What it is; nothing if it did not open.
    pub info: Option<DeviceInfo>,
    /// How `--device` calls it.
    pub argument: String,
    /// What it computes.
    pub actual: Compute,
    /// What is expected of it.
    pub expected: Compute,
    /// What `expected` is called.
    pub against: &'static str,
    /// The device behind it, for a closer look at what differs.
    pub device: Option<Device>,
    /// One of so many cases is for it.
    pub one_in: u64,
}

/// One of so many cases is looked at by the oracle where adapters are compared, too.
const ORACLE_ONE_IN: u64 = 4;

impl Subject {
    /// An adapter against the CPU.
    pub fn adapter(device: Device, cpu: Device) -> Self {
        let info = device.info().clone();
        let on = device.clone();
        Self {
            name: format!("{} · {}", info.name, info.backend),
            argument: format!("{} · {}", info.name, info.backend),
            info: Some(info),
            actual: Box::new(move |case| case.run(&on)),
            expected: Box::new(move |case| case.operator.run(&cpu, &case.inputs())),
            against: "the CPU",
            device: Some(device),
            one_in: 1,
        }
    }

    /// The CPU against the oracle.
    pub fn cpu(cpu: Device, alone: bool) -> Self {
        Self {
            name: "CPU".to_string(),
            argument: "cpu".to_string(),
            info: Some(cpu.info().clone()),
            actual: Box::new(move |case| case.run(&cpu)),
            expected: Box::new(|case| oracle::run(&case.operator, &case.inputs())),
            against: "the oracle",
            device: None,
            one_in: if alone { 1 } else { ORACLE_ONE_IN },
        }
    }
}

/// The subjects, and why what is there could not be opened.
pub struct Subjects {
    pub open: Vec<Subject>,
    pub refused: Vec<String>,
}

impl Subjects {
    /// Every adapter and the CPU, or the device of a name and the CPU.
    pub fn find(name: Option<&str>) -> wgmax::Result<Self> {
        let cpu = Device::cpu();
        let (mut devices, mut refused) = (Vec::new(), Vec::new());
        match name {
            None => {
                for device in Device::all() {
                    match device {
                        Ok(device) => devices.push(device),
                        Err(error) => refused.push(error.to_string()),
                    }
                }
            }
            Some(name) => devices.push(Device::named(name)?),
        }
        devices.retain(|device| !device.is_cpu());
        let mut open: Vec<Subject> =
            devices.into_iter().map(|device| Subject::adapter(device, cpu.clone())).collect();
        // Adapters of one name are told apart by their numbers.
        let names: Vec<String> = open.iter().map(|subject| subject.name.clone()).collect();
        for (index, subject) in open.iter_mut().enumerate() {
            if names.iter().filter(|&name| *name == subject.name).count() > 1 {
                subject.name = format!("{index}: {}", subject.name);
                subject.argument = index.to_string();
            }
        }
        open.push(Subject::cpu(cpu, open.is_empty()));
        Ok(Self { open, refused })
    }
}
