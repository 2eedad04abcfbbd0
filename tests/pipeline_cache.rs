//! Pipelines kept in a file: made once, read again, and never trusted when damaged.

mod common;

use wgmax::operator::{Operator, ReduceMax};
use wgmax::{Device, DeviceOptions, Tensor};

fn largest(device: &Device) -> f32 {
    let input = device.upload(&Tensor::from_slice([3], &[1.0f32, 7.0, 3.0]).unwrap()).unwrap();
    let operator: Operator = ReduceMax::new().into();
    let found = device.run(&operator, &[&input]).unwrap();
    found[0].download().unwrap().to_vec::<f32>().unwrap()[0]
}

#[test]
fn pipelines_are_kept_where_the_backend_can() {
    if common::gpu().is_none() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("not/there/yet");
    let options = DeviceOptions::new().pipeline_cache(&directory);
    let files = || -> Vec<std::path::PathBuf> {
        match directory.read_dir() {
            Ok(files) => files.map(|file| file.unwrap().path()).collect(),
            Err(_) => Vec::new(),
        }
    };

    let device = options.open("gpu").unwrap();
    assert_eq!(largest(&device), 7.0);
    if device.info().backend != "vulkan" {
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

    // Read again, cut short, changed, and not there.
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

    // A place that cannot be written to costs the cache and nothing else.
    let occupied = place.path().join("file");
    std::fs::write(&occupied, "").unwrap();
    let device = DeviceOptions::new().pipeline_cache(&occupied).open("gpu").unwrap();
    assert_eq!(largest(&device), 7.0);
    assert!(device.save_pipelines().is_err());
}
