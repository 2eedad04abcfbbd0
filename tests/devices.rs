//! Which device a name means.

mod common;

use wgmax::{Device, DeviceOptions, Error, adapter, adapters};

fn is_software(device: &Device) -> bool {
    device.info().kind == "software"
}

/// The CPU's own kernels are faster than shaders that a driver emulates on it.
#[test]
fn auto_is_a_hardware_gpu_or_the_cpu() {
    let all = adapters();
    let hardware = all.iter().find(|info| info.kind != "software");
    for device in [Device::auto().unwrap(), DeviceOptions::new().open("auto").unwrap()] {
        match hardware {
            // One that refuses leaves the CPU, too.
            Some(best) => assert!(device.is_cpu() || device.info() == best, "{device:?}"),
            None => assert!(device.is_cpu(), "{device:?}"),
        }
    }
    match (Device::named("hardware"), hardware) {
        (Ok(device), Some(_)) => assert!(!is_software(&device) && !device.is_cpu(), "{device:?}"),
        (Err(Error::NoAdapter { found, .. }), None) => {
            // It says what there is instead.
            assert!(all.iter().all(|info| found.contains(&info.name)), "{found}");
        }
        (opened, _) => assert!(matches!(opened, Err(Error::AdapterRefused { .. })), "{opened:?}"),
    }
}

/// A software adapter is there for those who ask for it.
#[test]
fn the_best_adapter_has_names() {
    let Some(best) = common::gpu() else { return };
    let listed = adapters();
    let best = best.info();
    assert!(&listed[0] == best);
    for name in ["gpu", "0", &best.name, &best.name.to_uppercase(), &best.backend] {
        assert_eq!(Device::named(name).unwrap().info(), best, "{name}");
    }
    for name in ["gpu", "auto"] {
        assert_eq!(adapter(name).unwrap().get_info().name, best.name, "{name}");
    }
    for name in ["no such adapter", "1000"] {
        let error = Device::named(name).unwrap_err();
        assert!(matches!(error, Error::NoAdapter { .. }), "{error}");
    }
}
