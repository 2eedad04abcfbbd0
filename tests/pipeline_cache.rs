//! Pipelines kept in a file: made once, read again, and never trusted when damaged.

use std::path::{Path, PathBuf};

use wgmax::operator::{Operator, ReduceMax};
use wgmax::{Device, DeviceBackend, DeviceOptions, Tensor, wgpu};

fn largest(device: &Device) -> f32 {
    let input = device.upload(&Tensor::from_slice([3], &[1.0f32, 7.0, 3.0]).unwrap()).unwrap();
    let operator: Operator = ReduceMax::new().into();
    let found = device.run(&operator, [&input]).unwrap();
    found[0].download().unwrap().to_vec::<f32>().unwrap()[0]
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let files = directory.read_dir().into_iter().flatten();
    files.map(|file| file.unwrap().path()).collect()
}

/// A caller's device keeps pipelines in the same file, if it was opened with the feature.
#[test]
fn pipelines_of_a_callers_device_are_kept() {
    if crate::common::gpu().is_none() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let options = DeviceOptions::new().pipeline_cache(place.path());
    let adapter = wgmax::adapter("gpu").unwrap();
    let open = |required_features| {
        let required_limits = adapter.limits();
        let descriptor =
            wgpu::DeviceDescriptor { required_features, required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        options.wrap(&device, &queue).unwrap()
    };
    let without = open(wgpu::Features::empty());
    assert_eq!(largest(&without), 7.0);
    assert!(!without.save_pipelines().unwrap(), "the device was not opened for it");

    let feature = wgpu::Features::PIPELINE_CACHE;
    if !adapter.features().contains(feature) {
        return;
    }
    let device = open(feature);
    assert_eq!(largest(&device), 7.0);
    assert!(device.save_pipelines().unwrap());
    drop(device);
    let own = options.open("gpu").unwrap();
    assert_eq!(largest(&own), 7.0);
    drop((own, without));
    assert_eq!(files(place.path()).len(), 1, "devices of one adapter share the file");

    // The file is written when the device is dropped.
    std::fs::remove_file(&files(place.path())[0]).unwrap();
    assert_eq!(largest(&open(feature)), 7.0);
    assert_eq!(files(place.path()).len(), 1);
}

#[test]
fn pipelines_are_kept_where_the_backend_can() {
    if crate::common::gpu().is_none() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("not/there/yet");
    let options = DeviceOptions::new().pipeline_cache(&directory);
    let files = || files(&directory);

    let device = options.open("gpu").unwrap();
    assert_eq!(largest(&device), 7.0);
    if device.info().backend != DeviceBackend::Vulkan {
        assert!(!device.save_pipelines().unwrap(), "only Vulkan hands pipelines out");
        drop(device);
        assert!(files().is_empty());
        return;
    }
    assert!(device.save_pipelines().unwrap());
    assert!(!device.save_pipelines().unwrap(), "there is nothing new");
    let file = files().pop().unwrap();
    let whole = std::fs::read(&file).unwrap();
    drop(device);

    // The file is intact, truncated, changed, and missing.
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    for content in [&whole[..], &whole[..whole.len() / 2], &[], &changed] {
        std::fs::write(&file, content).unwrap();
        let device = options.open("gpu").unwrap();
        assert_eq!(largest(&device), 7.0);
        drop(device);
        let found = std::fs::read(&file).unwrap();
        assert!(found.starts_with(b"wgmax pipelines\n"), "made anew when the device is dropped");
    }
    std::fs::remove_file(&file).unwrap();
    drop(options.open("gpu").unwrap());

    // If the directory is not writable, nothing is cached, and all else works.
    let occupied = place.path().join("file");
    std::fs::write(&occupied, "").unwrap();
    let device = DeviceOptions::new().pipeline_cache(&occupied).open("gpu").unwrap();
    assert_eq!(largest(&device), 7.0);
    assert!(device.save_pipelines().is_err());
}
