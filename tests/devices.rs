//! Which device a name means.

use wgmax::wgpu::{Features, PowerPreference};
use wgmax::{
    Device, DeviceKind, DeviceOptions, Error, Tensor, adapter, adapter_async, adapters,
    adapters_async,
};
use wgmax_verify::{Case, shrink, shrink_async};

fn is_software(device: &Device) -> bool {
    device.info().kind == DeviceKind::Software
}

/// The CPU's own kernels are faster than shaders that a driver emulates on it.
#[test]
fn auto_is_a_hardware_gpu_or_the_cpu() {
    let all = adapters().unwrap();
    let hardware = all.iter().find(|info| info.kind != DeviceKind::Software);
    for device in [Device::auto().unwrap(), DeviceOptions::new().open("auto").unwrap()] {
        match hardware {
            // If the adapter refuses to open, the device is the CPU.
            Some(best) => assert!(device.is_cpu() || device.info() == best, "{device:?}"),
            None => assert!(device.is_cpu(), "{device:?}"),
        }
    }
    match (Device::named("hardware"), hardware) {
        (Ok(device), Some(_)) => assert!(!is_software(&device) && !device.is_cpu(), "{device:?}"),
        (Err(Error::NoAdapter { found, .. }), None) => {
            // The error lists the devices that exist.
            assert!(all.iter().all(|info| found.contains(&info.name)), "{found}");
        }
        (opened, _) => assert!(matches!(opened, Err(Error::AdapterRefused { .. })), "{opened:?}"),
    }
}

/// A software adapter, too, can be opened by name.
#[test]
fn the_best_adapter_has_names() {
    let Some(best) = crate::common::gpu() else { return };
    let listed = adapters().unwrap();
    let best = best.info();
    assert!(&listed[0] == best);
    for name in ["gpu", "0", &best.name, &best.name.to_uppercase(), best.backend.name()] {
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

/// The async forms are the blocking ones: the same adapters, devices, results and bytes.
#[test]
fn async_forms_give_the_same() {
    pollster::block_on(async {
        assert!(adapters_async().await == adapters().unwrap());
        let names = |all: Vec<wgmax::Result<Device>>| -> Vec<String> {
            all.into_iter().map(|device| device.unwrap().info().to_string()).collect()
        };
        assert_eq!(names(Device::all_async().await), names(Device::all()));
        assert!(Device::named_async("cpu").await.unwrap().is_cpu());
        let mut devices = vec![Device::cpu()];
        if let Some(gpu) = crate::common::gpu() {
            let same = adapter_async(&gpu.info().name).await.unwrap();
            assert_eq!(same.get_info().name, gpu.info().name);
            devices.push(gpu);
        }
        for device in devices {
            for index in 0..39 {
                let case = Case::nth(5, index).unwrap();
                let bytes = |found: Vec<Tensor>| -> Vec<Vec<u8>> {
                    found.iter().map(|tensor| tensor.bytes().to_vec()).collect()
                };
                let found =
                    case.execute_async(&device, &case.plan(&device).unwrap()).await.unwrap();
                assert!(bytes(found) == bytes(case.run(&device).unwrap()), "{case}");
                let plan = case.plan(&device).unwrap();
                let inputs = case.upload_async(&device, &plan).await.unwrap();
                let inputs: Vec<_> = inputs.iter().collect();
                let (mut traced, mut expected) = (Vec::new(), Vec::new());
                let after = |launch, bytes: &[u8]| traced.push((launch, bytes.to_vec()));
                device.execute_traced_async(&plan, &inputs, after).await.unwrap();
                let after = |launch, bytes: &[u8]| expected.push((launch, bytes.to_vec()));
                device.execute_traced(&plan, &inputs, after).unwrap();
                assert!(traced == expected, "{case}");
            }
            device.wait_async().await.unwrap();
        }
        let case = Case::nth(1, 3).unwrap();
        let fails = |case: &Case| case.tensors[0].len() >= 3;
        let small = shrink_async(&case, 500, async |case: &Case| fails(case)).await;
        assert_eq!(small.to_string(), shrink(&case, 500, fails).to_string());
    });
}

/// Options of adapters and devices reach wgpu: the device has the requested features that the
/// adapter has.
#[test]
fn options_choose_adapters_and_features() {
    let Some(best) = crate::common::gpu() else { return };
    let wanted = Features::TIMESTAMP_QUERY | Features::MULTIVIEW;
    let options = DeviceOptions::new().features(wanted);
    let device = options.power_preference(PowerPreference::LowPower).open("gpu").unwrap();
    let has = adapter(&device.info().name).unwrap().features() & wanted;
    assert_eq!(device.wgpu().unwrap().0.features() & wanted, has);
    assert_eq!(best.wgpu().unwrap().0.features() & wanted, Features::empty());
    assert!(Device::cpu().wgpu().is_none());
    let low = adapters().unwrap().iter().any(|info| info.kind == DeviceKind::Integrated);
    assert!(!low || device.info().kind == DeviceKind::Integrated, "{device:?}");
}
