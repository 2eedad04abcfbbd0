//! Lost devices, exhausted memory and refusing adapters: each is a specific error, every time,
//! and the caller's callbacks are never replaced.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::program::{Program, program};
use crate::common::{Random, tensor};
use wgmax::operator::{MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::wgpu::{self, BufferUsages};
use wgmax::{BufferRange, Device, DeviceTensor, ElementType, Error, Result, Run, Scratch, Tensor};

/// The calls that a program's callbacks received.
#[derive(Clone, Default)]
struct Callbacks {
    lost: Arc<AtomicUsize>,
    errors: Arc<Mutex<Vec<String>>>,
}

/// A program with callbacks of its own on its device.
fn listening() -> Option<(Program, Callbacks)> {
    let program = program(|limits| limits)?;
    let callbacks = Callbacks::default();
    let (lost, errors) = (callbacks.lost.clone(), callbacks.errors.clone());
    program.device.set_device_lost_callback(move |_, _| {
        lost.fetch_add(1, Ordering::SeqCst);
    });
    program.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        errors.lock().unwrap().push(error.to_string());
    }));
    Some((program, callbacks))
}

impl Callbacks {
    /// Both callbacks are still set: each is called once, and was not called before.
    fn are_still_called(&self, program: &Program) {
        assert_eq!(*self.errors.lock().unwrap(), [""; 0]);
        if self.lost.load(Ordering::SeqCst) == 0 {
            drop(program.buffer(4, BufferUsages::empty()));
            let alive = self.errors.lock().unwrap().len() == 1;
            program.device.destroy();
            assert!(alive || program.device.poll(wgpu::PollType::Poll).is_ok());
        }
        program.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        assert_eq!(self.lost.load(Ordering::SeqCst), 1);
    }
}

fn operator() -> Operator {
    ReduceMax::new().axes([1]).into()
}

fn is_lost<T>(result: Result<T>) {
    match result {
        Err(Error::DeviceLost { reason, .. }) => assert!(!reason.is_empty()),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("no error"),
    }
}

/// All requests to a device fail once it is lost.
fn all_is_lost(device: &Device, tensor: &Tensor, there: &DeviceTensor) {
    for _ in 0..2 {
        is_lost(device.upload(tensor));
        is_lost(device.run(operator(), [there]));
        is_lost(there.download());
        is_lost(pollster::block_on(there.download_async()));
        is_lost(device.prepare(operator(), [tensor.desc()]));
        is_lost(device.wait());
        is_lost(pollster::block_on(device.wait_async()));
        is_lost(operator().run(device, [tensor]));
        let plan = device.plan(operator(), [tensor.desc()]).unwrap();
        is_lost(device.execute_traced(&plan, &[there], |_, _| ()));
        is_lost(pollster::block_on(device.execute_traced_async(&plan, &[there], |_, _| ())));
    }
}

/// A new device beside the lost one.
fn another_works(tensor: &Tensor) {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let found = operator().run(&device, [tensor]).unwrap();
    let expected = operator().run(&Device::cpu(), [tensor]).unwrap();
    assert!(found[0].bytes() == expected[0].bytes());
}

fn input(n: usize) -> Tensor {
    tensor(ElementType::F32, &[n, 257], 1, &mut Random(7))
}

#[test]
fn destroyed_before_any_work() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(33);
    let there = device.upload(&input).unwrap();
    program.device.destroy();
    all_is_lost(&device, &input, &there);
    // A later wrapper reports the loss, too.
    is_lost(Device::from_wgpu(&program.device, &program.queue));
    callbacks.are_still_called(&program);
    all_is_lost(&device, &input, &there);
    another_works(&input);
}

#[test]
fn destroyed_after_work() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(33);
    let there = device.upload(&input).unwrap();
    let results = device.run(operator(), [&there]).unwrap();
    let expected = operator().run(&Device::cpu(), [&input]).unwrap();
    assert!(results[0].download().unwrap().bytes() == expected[0].bytes());
    program.device.destroy();
    is_lost(results[0].download());
    all_is_lost(&device, &input, &there);
    callbacks.are_still_called(&program);
    another_works(&input);
}

/// Scratch of a lost device is not that of another one.
#[test]
fn destroyed_with_scratch() {
    let Some((program, _)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(200_000);
    let prepare = || device.prepare(ReduceMax::new(), [input.desc()]).unwrap();
    let (mut first, mut second, scratch) = (prepare(), prepare(), Scratch::new());
    first.share_scratch(&scratch).unwrap();
    assert!(scratch.bytes() > 0);
    program.device.destroy();
    is_lost(second.share_scratch(&scratch));
}

#[test]
fn destroyed_with_work_submitted() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = tensor(ElementType::U8, &[1, 4, 700, 700], 0, &mut Random(3));
    let pool: Operator = MaxPool::new([31, 31]).into();
    let there = device.upload(&input).unwrap();
    let results = device.run(&pool, [&there]).unwrap();
    program.device.destroy();
    is_lost(results[0].download());
    is_lost(device.wait());
    callbacks.are_still_called(&program);
}

#[test]
fn destroyed_with_a_mapping_pending() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(3000);
    let there = device.upload(&input).unwrap();
    let results = device.run(operator(), [&there]).unwrap();
    // Downloads that were begun and not awaited.
    let mut downloads: Vec<_> = (0..3).map(|_| Box::pin(results[0].download_async())).collect();
    let mut context = Context::from_waker(Waker::noop());
    let begun: Vec<_> = downloads.iter_mut().map(|d| d.as_mut().poll(&mut context)).collect();
    program.device.destroy();
    let expected = operator().run(&Device::cpu(), [&input]).unwrap();
    for (download, begun) in downloads.into_iter().zip(begun) {
        let ended = match begun {
            Poll::Ready(result) => result,
            Poll::Pending => pollster::block_on(download),
        };
        match ended {
            // A completed download has the right bytes.
            Ok(found) => assert!(found.bytes() == expected[0].bytes()),
            error => is_lost(error),
        }
    }
    callbacks.are_still_called(&program);
}

/// A future that waits while another thread destroys the device, at a random moment. The result is small: on GL
/// the program may crash if another thread polls the destroyed device while the result is read (see the guide to
/// embedding).
#[test]
fn destroyed_while_a_future_waits() {
    let input = tensor(ElementType::U8, &[1, 4, 2000, 2000], 0, &mut Random(3));
    let pool: Operator = MaxPool::new([31, 31]).strides([31, 31]).into();
    let expected = pool.run(&Device::cpu(), [&input]).unwrap();
    let mut random = Random(crate::common::seed());
    for _ in 0..4 {
        let Some((program, callbacks)) = listening() else { return };
        let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
        let pause = std::time::Duration::from_micros(random.below(30_000));
        let there = device.upload(&input).unwrap();
        let results = device.run(&pool, [&there]).unwrap();
        let (downloaded, waited) = std::thread::scope(|scope| {
            let download = scope.spawn(|| pollster::block_on(results[0].download_async()));
            let wait = scope.spawn(|| pollster::block_on(device.wait_async()));
            std::thread::sleep(pause);
            program.device.destroy();
            (download.join().unwrap(), wait.join().unwrap())
        });
        match downloaded {
            Ok(found) => assert!(found.bytes() == expected[0].bytes()),
            error => is_lost(error),
        }
        if waited.is_err() {
            is_lost(waited);
        }
        is_lost(pollster::block_on(results[0].download_async()));
        callbacks.are_still_called(&program);
    }
}

/// A device that wgmax opened can be lost like a caller's.
#[test]
fn a_device_of_our_own_is_destroyed() {
    let Some(device) = crate::common::gpu() else { return };
    let input = input(33);
    let there = device.upload(&input).unwrap();
    device.wgpu().unwrap().0.destroy();
    all_is_lost(&device, &input, &there);
    another_works(&input);
}

/// Recordings into one encoder, with the device destroyed between them.
#[test]
fn destroyed_half_way_through_recording() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(33);
    let prepared = device.prepare(operator(), [input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let [first, second] = [0; 2].map(|_| program.result(33 * 4));
    let mut encoder = program.encoder();
    prepared.record(&mut encoder).input(&source).output(&first).finish().unwrap();
    program.device.destroy();
    for _ in 0..2 {
        // With the same buffers, and with others.
        is_lost(prepared.record(&mut encoder).input(&source).output(&first).finish());
        is_lost(prepared.record(&mut encoder).input(&source).output(&second).finish());
    }
    program.queue.submit([encoder.finish()]);
    callbacks.are_still_called(&program);
    is_lost(device.wait());
}

/// Threads that work while another destroys the device, at a random moment.
#[test]
fn destroyed_while_threads_work() {
    let input = input(200);
    let mut random = Random(crate::common::seed());
    for _ in 0..6 {
        let Some((program, callbacks)) = listening() else { return };
        let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
        let pause = std::time::Duration::from_micros(random.below(30_000));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    is_lost(loop {
                        match operator().run(&device, [&input]) {
                            Ok(_) => {}
                            error => break error,
                        }
                    });
                });
            }
            std::thread::sleep(pause);
            program.device.destroy();
        });
        assert_eq!(*callbacks.errors.lock().unwrap(), [""; 0]);
    }
}

/// A recording that fails leaves the encoder unchanged: no debug group is open, no error is reported.
#[test]
fn recordings_that_fail_leave_the_encoder_alone() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(33);
    let prepared = device.prepare(operator(), [input.desc()]).unwrap();
    let source = program.upload(&input, 0);
    let result = program.result(33 * 4);
    let gone = program.upload(&input, 0);
    gone.destroy();
    let mut encoder = program.encoder();
    let mut record = |from, to| prepared.record(&mut encoder).input(from).output(to).finish();
    let (from, to) = (BufferRange::from(&source), BufferRange::from(&result));
    assert!(matches!(record(from, from), Err(Error::BufferOverlap { .. })));
    assert!(matches!(record((&gone).into(), to), Err(Error::BufferDestroyed { .. })));
    record(from, to).unwrap();
    program.queue.submit([encoder.finish()]);
    let expected = operator().run(&Device::cpu(), [&input]).unwrap();
    assert!(program.read(&result, 0, 33 * 4) == expected[0].bytes());
    callbacks.are_still_called(&program);
}

/// The caller's handlers stay while operators run on the device.
#[test]
fn handlers_of_the_caller_stay() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let input = input(33);
    let result = operator().run(&device, [&input]).unwrap();
    assert!(result[0].bytes() == operator().run(&Device::cpu(), [&input]).unwrap()[0].bytes());
    // wgmax handles its own errors; the caller's errors reach the caller's handler.
    assert_eq!(*callbacks.errors.lock().unwrap(), [""; 0]);
    drop(program.buffer(4, BufferUsages::empty()));
    assert_eq!(callbacks.errors.lock().unwrap().drain(..).count(), 1);
    assert_eq!(callbacks.lost.load(Ordering::SeqCst), 0);
    callbacks.are_still_called(&program);
}

/// An adapter that reports what a real one does, and refuses to open a device.
#[derive(Debug)]
struct Refusing(wgpu::Adapter);

impl wgpu::custom::AdapterInterface for Refusing {
    fn request_device(
        &self,
        _: &wgpu::DeviceDescriptor<'_>,
    ) -> Pin<Box<dyn wgpu::custom::RequestDeviceFuture>> {
        let error = wgpu::RequestDeviceError::from_message("it is busy".to_string());
        Box::pin(std::future::ready(Err(error)))
    }

    fn is_surface_supported(&self, _: &wgpu::custom::DispatchSurface) -> bool {
        false
    }

    fn features(&self) -> wgpu::Features {
        self.0.features()
    }

    fn limits(&self) -> wgpu::Limits {
        self.0.limits()
    }

    fn downlevel_capabilities(&self) -> wgpu::DownlevelCapabilities {
        self.0.get_downlevel_capabilities()
    }

    fn get_info(&self) -> wgpu::AdapterInfo {
        self.0.get_info()
    }

    fn get_texture_format_features(
        &self,
        format: wgpu::TextureFormat,
    ) -> wgpu::TextureFormatFeatures {
        self.0.get_texture_format_features(format)
    }

    fn get_presentation_timestamp(&self) -> wgpu::PresentationTimestamp {
        self.0.get_presentation_timestamp()
    }

    fn cooperative_matrix_properties(&self) -> Vec<wgpu::wgt::CooperativeMatrixProperties> {
        self.0.cooperative_matrix_properties()
    }
}

#[test]
fn an_adapter_that_refuses_is_named() {
    let Some(Program { adapter, .. }) = program(|limits| limits) else { return };
    let name = adapter.get_info().name;
    let opened = Device::from_adapter(&adapter).unwrap();
    assert_eq!(opened.info().name, name);
    let adapter = wgpu::Adapter::from_custom(Refusing(adapter));
    match Device::from_adapter(&adapter) {
        Err(Error::AdapterRefused { adapter, reason }) => {
            assert_eq!((adapter, reason.contains("busy")), (name, true), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

/// Runs in a process of its own, with a small limit on the address space.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_runs_out_is_reported() {
    let Some(Program { adapter, .. }) = program(|limits| limits) else { return };
    if adapter.get_info().backend != wgpu::Backend::Vulkan {
        println!("not tried: only Vulkan's drivers report memory that runs out");
        return;
    }
    let kibibytes = (12u64 << 20).to_string();
    let status = std::process::Command::new("sh")
        .args(["-c", "ulimit -v $0 && exec \"$@\"", &kibibytes])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "lost::runs_out_of_memory", "--ignored", "--nocapture"])
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "for memory_that_runs_out_is_reported"]
fn runs_out_of_memory() {
    let Some((program, callbacks)) = listening() else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let data = tensor(ElementType::U8, &[100, 2], 0, &mut Random(1));
    let ids = Tensor::from_slice([100], &[3i32; 100]).unwrap();
    // At least a binding of scratch, which is never touched.
    let large: Operator = SegmentMax::unsorted().num_segments(1 << 26).into();
    let mut prepared = Vec::new();
    let error = loop {
        match device.prepare(&large, [data.desc(), ids.desc()]) {
            Ok(more) => prepared.push(more),
            Err(error) => break error,
        }
        assert!(prepared.len() < 1000);
    };
    println!("after {} times: {error}", prepared.len());
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}");
    let input = input(33);
    prepared.clear();
    device.wait().unwrap();
    let found = operator().run(&device, [&input]).unwrap();
    assert!(found[0].bytes() == operator().run(&Device::cpu(), [&input]).unwrap()[0].bytes());
    callbacks.are_still_called(&program);
}
