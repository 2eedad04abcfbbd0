//! The time of recorded work on a GPU: by timestamps of the GPU if it has them, otherwise by the
//! host's clock.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, bail};
use wgmax::wgpu;

/// Work to record and time.
pub type Work<'a> = Box<dyn Fn(&mut wgpu::CommandEncoder) -> anyhow::Result<()> + 'a>;

/// A wgpu device, its queue, and its clock.
pub struct Clock {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// Without timestamps, the host's clock is used.
    marks: Option<Marks>,
    /// Errors that no call has returned yet.
    errors: Arc<Mutex<Vec<String>>>,
    /// Seconds of an empty submit and the wait for it.
    pub fixed: f64,
}

/// Timestamps.
struct Marks {
    /// Whether they are written between passes, rather than by empty passes.
    between: bool,
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
}

/// The maximum number of timestamps of a submit.
const MAX_MARKS: u32 = 128;

impl Clock {
    /// Opens an adapter with all of its limits and the features for timestamps.
    pub fn open(adapter: &wgpu::Adapter) -> anyhow::Result<Self> {
        let timing =
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgmax bench"),
            required_features: adapter.features() & timing,
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let errors = Arc::<Mutex<Vec<String>>>::default();
        let reported = errors.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            reported.lock().unwrap_or_else(PoisonError::into_inner).push(error.to_string());
        }));
        let marks = Marks::new(&device);
        let mut clock = Self { device, queue, marks, errors, fixed: 0.0 };
        let empty = (0..50).map(|_| clock.submit(&[])).collect::<anyhow::Result<Vec<f64>>>()?;
        clock.fixed = empty.into_iter().fold(f64::INFINITY, f64::min);
        Ok(clock)
    }

    /// Whether the GPU has timestamps.
    pub fn has_timestamps(&self) -> bool {
        self.marks.is_some()
    }

    /// Seconds of each piece of work, one after the other. With the host's clock each is submitted
    /// alone, and the time of an empty submit is subtracted.
    pub fn time(&self, work: &[Work]) -> anyhow::Result<Vec<f64>> {
        match &self.marks {
            None => work
                .iter()
                .map(|work| Ok((self.submit(std::slice::from_ref(work))? - self.fixed).max(1e-9)))
                .collect(),
            Some(marks) => {
                let mut seconds = Vec::with_capacity(work.len());
                for work in work.chunks(MAX_MARKS as usize / 2) {
                    seconds.extend(self.by_timestamps(marks, work)?);
                }
                Ok(seconds)
            }
        }
    }

    /// Submits all the work at once and waits. Returns the seconds of the host's clock, without
    /// recording.
    pub fn submit(&self, work: &[Work]) -> anyhow::Result<f64> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        for work in work {
            work(&mut encoder)?;
        }
        self.submit_recorded(encoder)
    }

    fn submit_recorded(&self, encoder: wgpu::CommandEncoder) -> anyhow::Result<f64> {
        let commands = encoder.finish();
        let start = Instant::now();
        self.queue.submit([commands]);
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let seconds = start.elapsed().as_secs_f64();
        self.check()?;
        Ok(seconds)
    }

    /// Returns an error that was reported since the last call.
    pub fn check(&self) -> anyhow::Result<()> {
        let errors =
            std::mem::take(&mut *self.errors.lock().unwrap_or_else(PoisonError::into_inner));
        errors.first().map_or(Ok(()), |error| bail!("{error}"))
    }

    fn by_timestamps(
        &self,
        Marks { between, set, resolved, read }: &Marks,
        work: &[Work],
    ) -> anyhow::Result<Vec<f64>> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mark = |encoder: &mut wgpu::CommandEncoder, index: u32| match between {
            true => encoder.write_timestamp(set, index),
            false => drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("mark"),
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: set,
                    beginning_of_pass_write_index: Some(index),
                    end_of_pass_write_index: None,
                }),
            })),
        };
        for (index, work) in (0..).zip(work) {
            mark(&mut encoder, 2 * index);
            work(&mut encoder)?;
            mark(&mut encoder, 2 * index + 1);
        }
        let count = 2 * work.len() as u32;
        let size = u64::from(count) * 8;
        encoder.resolve_query_set(set, 0..count, resolved, 0);
        encoder.copy_buffer_to_buffer(resolved, 0, read, 0, size);
        self.submit_recorded(encoder)?;
        read.map_async(wgpu::MapMode::Read, 0..size, |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        let bytes = read.get_mapped_range(0..size).context("reading timestamps")?.to_vec();
        read.unmap();
        let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        let period = f64::from(self.queue.get_timestamp_period()) * 1e-9;
        // Work that is shorter than a tick counts as one.
        let elapsed = |pair: &[u64]| pair[1].saturating_sub(pair[0]).max(1) as f64 * period;
        Ok(ticks.chunks_exact(2).map(elapsed).collect())
    }
}

impl Marks {
    fn new(device: &wgpu::Device) -> Option<Self> {
        let features = device.features();
        if !features.contains(wgpu::Features::TIMESTAMP_QUERY) {
            return None;
        }
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: u64::from(MAX_MARKS) * 8,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Some(Self {
            between: features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: MAX_MARKS,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::MAP_READ),
        })
    }
}
