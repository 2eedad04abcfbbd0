//! One device in many threads, and how waiting futures are woken.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::common::program::program;
use crate::common::{Random, tensor};
use wgmax::internals::simulated;
use wgmax::operator::{ArgMax, Indices, MaxPool, Operator, ReduceMax, SegmentMax};
use wgmax::plan::Plan;
use wgmax::{
    Chain, Comparison, Device, DeviceBackend, DeviceOptions, DeviceTensor, Element, ElementType,
};
use wgmax::{Error, Outputs, PrepareChain, Prepared, Probe, Run, RunOptions, Scratch, Tensor};
use wgmax::{TensorView, Tuning, View, dialect};

/// Types that threads can share, and errors that `anyhow` and `?` accept.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn boxed<T: std::error::Error + Send + Sync + 'static>() {}
    shared::<(Device, DeviceOptions, DeviceTensor, Chain, Probe)>();
    shared::<(Prepared, PrepareChain, Scratch, Plan, Tuning)>();
    shared::<(Tensor, TensorView, View, Outputs<Tensor>, Comparison)>();
    shared::<(Operator, ArgMax, RunOptions, dialect::Node)>();
    boxed::<Error>();
};

/// An operator for each thread and round, of few kinds, so that threads ask for the same pipelines
/// at once.
fn case(random: &mut Random) -> (Operator, Vec<Tensor>) {
    let element_type = random.pick(&[ElementType::F32, ElementType::U8, ElementType::I64]);
    let n = 1 + random.below(300) as usize;
    let mut make = |shape: &[usize]| tensor(element_type, shape, 1, random);
    match n % 3 {
        0 => (ReduceMax::new().axes([1]).into(), vec![make(&[n, 77])]),
        1 => (MaxPool::new([3, 5]).strides([2, 1]).into(), vec![make(&[1, 2, n + 2, 41])]),
        _ => {
            let ids: Vec<i32> = (0..n as i32).map(|row| row / 7).collect();
            let ids = Tensor::from_slice([n], &ids).unwrap();
            (SegmentMax::sorted().num_segments(50).into(), vec![make(&[n, 9]), ids])
        }
    }
}

/// Rows in any order: threads have their own maxima, which are joined, or segments of their own. A plain loop checks
/// them. Where one segment has most rows, threads share it.
#[test]
fn threads_join_the_maxima_of_segments() {
    fn check<T: Element + Ord + Default>(values: &[T], threads: Option<usize>, crowded: bool) {
        let narrow = [(1, 1), (700, 1), (300, 3), (values.len(), 1)];
        let wide = [(1, 40), (5, 40), (2000, 40)];
        // Narrow rows are cut in few ways.
        let narrow = narrow.into_iter().filter(|_| threads != Some(100) && !crowded);
        for (segments, inner) in narrow.chain(wide) {
            let rows = values.len() / inner;
            // The rows of a negative id belong to no segment.
            let id = |row: usize| match crowded && !row.is_multiple_of(8) {
                true => segments as i32 - 1,
                false => (row * 7919 % (segments.min(751) + 1)) as i32 - 1,
            };
            let ids: Vec<i32> = (0..rows).map(id).collect();
            let mut expected = vec![(T::default(), -1); segments * inner];
            for (i, &value) in values[..rows * inner].iter().enumerate() {
                let Ok(segment) = usize::try_from(ids[i / inner]) else { continue };
                let found = &mut expected[segment * inner + i % inner];
                if found.1 < 0 || value > found.0 {
                    *found = (value, (i / inner) as i64);
                }
            }
            let data = Tensor::from_slice([rows, inner], &values[..rows * inner]).unwrap();
            let ids = Tensor::from_slice([ids.len()], &ids).unwrap();
            let max = SegmentMax::unsorted().num_segments(segments);
            let argmax = max.clone().indices(Indices::new(ElementType::I64));
            let run = |operator: &SegmentMax| {
                let mut found = None;
                let mut run = || found = Some(operator.run(&Device::cpu(), [&data, &ids]).unwrap());
                match threads {
                    None => run(),
                    Some(threads) => drop(simulated(threads, run)),
                }
                found.unwrap()
            };
            let (maxima, found) = (run(&max), run(&argmax));
            assert!(maxima[0].bytes() == found[0].bytes());
            let rows = found[1].as_slice::<i64>().unwrap().iter().copied();
            let found = found[0].as_slice::<T>().unwrap().iter().copied().zip(rows);
            // An attribute sets the value of empty segments.
            let found = found.map(|(value, row)| (if row < 0 { T::default() } else { value }, row));
            assert!(
                found.eq(expected),
                "{segments} segments of rows of {inner}, {threads:?} threads"
            );
        }
    }
    // From 65,536 elements on there are several threads.
    let values = (0..100_000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7);
    // So many that 100 threads share them.
    let bytes: Vec<u8> = values.clone().cycle().take(1 << 21).map(|x| x as u8).collect();
    let words: Vec<i32> = values.clone().map(|x| x as i32 - (1 << 24)).collect();
    let wide: Vec<i64> = values.map(|x| i64::from(x % 9) << 33 | i64::from(x % 1001)).collect();
    for threads in [None, Some(1), Some(3), Some(100)] {
        for crowded in [false, true] {
            check(&bytes, threads, crowded);
            check(&words, threads, crowded);
            check(&wide, threads, crowded);
        }
    }
}

/// Each thread runs operators on tensors of its own, and records others into encoders of its own.
#[test]
fn many_threads_use_one_device() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    let seed = crate::common::seed();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, program) = (&device, &program);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_add(thread));
                for _ in 0..12 {
                    let (operator, inputs) = case(&mut random);
                    let inputs: Vec<_> = inputs.iter().collect();
                    let expected = operator.run(&Device::cpu(), &inputs).unwrap();
                    let found = operator.run(device, &inputs).unwrap();
                    assert!(found[0].bytes() == expected[0].bytes(), "{operator:?} run");

                    let descs: Vec<_> = inputs.iter().map(|t| t.desc()).collect();
                    let prepared = device.prepare(&operator, &descs).unwrap();
                    let from: Vec<_> = inputs.iter().map(|t| program.upload(t, 0)).collect();
                    let size = expected[0].bytes().len();
                    let to = program.result(size.next_multiple_of(4) as u64);
                    let mut encoder = program.encoder();
                    let from: Vec<_> = from.iter().collect();
                    prepared.record(&mut encoder).inputs(&from).output(&to).finish().unwrap();
                    program.queue.submit([encoder.finish()]);
                    assert!(
                        program.read(&to, 0, size) == expected[0].bytes(),
                        "{operator:?} recorded"
                    );
                }
            });
        }
    });
}

/// Counts how often a future is polled.
async fn counting<T>(polls: &AtomicUsize, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        polls.fetch_add(1, Ordering::Relaxed);
        future.as_mut().poll(context)
    })
    .await
}

/// Unparks a thread, and counts how often.
struct Unpark(Thread, AtomicUsize);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.unpark();
    }
}

/// The simplest executor. Returns how often it was woken, too.
fn block_on<T>(future: impl Future<Output = T>) -> (T, usize) {
    let woken = Arc::new(Unpark(std::thread::current(), AtomicUsize::new(0)));
    let waker = Waker::from(woken.clone());
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(found) => break (found, woken.1.load(Ordering::Relaxed)),
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A future is polled only when there is progress, however long the GPU works.
#[test]
fn futures_are_woken_by_news_alone() {
    let Some(device) = crate::common::gpu() else { return };
    let input = tensor(ElementType::U8, &[1, 4, 700, 700], 0, &mut Random(3));
    let pool: Operator = MaxPool::new([31, 31]).into();
    let expected = pool.run(&Device::cpu(), [&input]).unwrap();
    let there = device.upload(&input).unwrap();
    // The first run compiles.
    device.run(&pool, [&there]).unwrap();
    device.wait().unwrap();
    // GL drivers may finish all work within the submit.
    let may_wait = device.info().backend != DeviceBackend::Gl;
    let (mut waited, mut rounds) = (false, 0);
    // On a busy machine the GPU may be done before the first poll, but not every time.
    while rounds < 3 || may_wait && !waited && rounds < 100 {
        rounds += 1;
        let results = device.run(&pool, [&there]).unwrap();
        let polls = AtomicUsize::new(0);
        let found = pollster::block_on(counting(&polls, results[0].download_async())).unwrap();
        assert!(found.bytes() == expected[0].bytes());
        // Once at the beginning, and once for the copy.
        assert!(polls.load(Ordering::Relaxed) <= 4, "{polls:?} polls");
        waited |= polls.load(Ordering::Relaxed) > 1;

        let results = device.run(&pool, [&there]).unwrap();
        let polls = AtomicUsize::new(0);
        let (done, woken) = block_on(counting(&polls, device.wait_async()));
        done.unwrap();
        assert!(polls.load(Ordering::Relaxed) <= 4 && woken <= 4, "{polls:?} polls, {woken} wakes");
        let (found, woken) = block_on(results[0].download_async());
        assert!(found.unwrap().bytes() == expected[0].bytes() && woken <= 4, "{woken} wakes");
    }
    assert!(waited || !may_wait, "nothing was waited for");
}

/// A future that moved to another task wakes that task; dropping a future has no effect on others.
#[test]
fn futures_change_their_wakers() {
    let Some(device) = crate::common::gpu() else { return };
    let input = tensor(ElementType::U8, &[1, 4, 500, 500], 0, &mut Random(3));
    let pool: Operator = MaxPool::new([31, 31]).into();
    let expected = pool.run(&Device::cpu(), [&input]).unwrap();
    let results = device.run(&pool, [&device.upload(&input).unwrap()]).unwrap();
    let mut begun = Box::pin(results[0].download_async());
    let mut left = Box::pin(results[0].download_async());
    let mut context = Context::from_waker(Waker::noop());
    let ready = begun.as_mut().poll(&mut context);
    drop(left.as_mut().poll(&mut context));
    drop(left);
    let found = match ready {
        Poll::Ready(found) => found,
        Poll::Pending => std::thread::scope(|s| s.spawn(|| block_on(begun).0).join().unwrap()),
    };
    assert!(found.unwrap().bytes() == expected[0].bytes());
}

/// A device has one polling thread, which starts when a future waits and ends with the device. The test runs in
/// a process of its own, where no other test waits.
#[cfg(target_os = "linux")]
#[test]
fn a_device_has_one_polling_thread_and_ends_it() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "threads::polling_threads", "--ignored", "--nocapture"])
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "for a_device_has_one_polling_thread_and_ends_it"]
fn polling_threads() {
    let Some(device) = crate::common::gpu() else { return };
    let count = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let names =
            tasks.flat_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
        names.filter(|name| name.trim() == "wgmax poll").count()
    };
    let input = tensor(ElementType::U8, &[1, 4, 300, 300], 0, &mut Random(3));
    let pool: Operator = MaxPool::new([31, 31]).into();
    let there = device.upload(&input).unwrap();
    device.run(&pool, [&there]).unwrap()[0].download().unwrap();
    assert_eq!(count(), 0, "blocking forms poll by themselves");
    // GL drivers may finish all work within the submit.
    let may_wait = device.info().backend != DeviceBackend::Gl;
    let mut rounds = 0;
    // On a busy machine the GPU may be done before any future is polled, but not every time.
    while rounds < 3 || may_wait && count() == 0 && rounds < 100 {
        rounds += 1;
        let results = device.run(&pool, [&there]).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| pollster::block_on(results[0].download_async()).unwrap());
            }
        });
        assert!(count() <= 1, "{} threads", count());
    }
    assert!(count() == 1 || !may_wait, "nothing was waited for");
    drop((there, device));
    while count() > 0 {
        std::thread::yield_now();
    }
}

/// One prepared operator, whose scratch all recordings share, recorded by many threads at once.
#[test]
fn many_threads_record_one_operator() {
    let Some(program) = program(|limits| limits) else { return };
    let device = Device::from_wgpu(&program.device, &program.queue).unwrap();
    // A reduction that is split, and so has scratch.
    let operator: Operator = ReduceMax::new().axes([0, 1]).into();
    let desc = tensor(ElementType::F16, &[700, 333], 2, &mut Random(1)).desc().clone();
    let prepared = device.prepare(&operator, [&desc]).unwrap();
    let seed = crate::common::seed();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (prepared, program, operator) = (&prepared, &program, &operator);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_add(thread));
                let input = tensor(ElementType::F16, &[700, 333], 2, &mut random);
                let expected = operator.run(&Device::cpu(), [&input]).unwrap();
                let (from, to) = (program.upload(&input, 0), program.result(4));
                for _ in 0..12 {
                    let mut encoder = program.encoder();
                    prepared.record(&mut encoder).input(&from).output(&to).finish().unwrap();
                    program.queue.submit([encoder.finish()]);
                    assert!(program.read(&to, 0, 2) == expected[0].bytes());
                }
            });
        }
    });
}
