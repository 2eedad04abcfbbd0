//! Programs with a device of their own.

use wgmax::Tensor;
use wgmax::wgpu::{self, BufferUsages};

/// A program that opened a device with wgpu, not with wgmax.
pub struct Program {
    pub instance: wgpu::Instance,
    pub adapter: wgpu::Adapter,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// A program whose device has the given limits. `None` if there is no GPU and `WGMAX_NO_GPU` is set.
pub fn program(limits: impl Fn(wgpu::Limits) -> wgpu::Limits) -> Option<Program> {
    super::gpu()?;
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    assert!(!adapters.is_empty(), "Device::gpu found one");
    let adapter = adapters.swap_remove(0);
    Some(Program::new(instance, adapter, limits))
}

impl Program {
    fn new(
        instance: wgpu::Instance,
        adapter: wgpu::Adapter,
        limits: impl Fn(wgpu::Limits) -> wgpu::Limits,
    ) -> Self {
        let required_limits = limits(adapter.limits());
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        Self { instance, adapter, device, queue }
    }

    /// The same with another device.
    pub fn another(&self) -> Self {
        Self::new(self.instance.clone(), self.adapter.clone(), |limits| limits)
    }

    pub fn buffer(&self, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor =
            wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// A buffer of `offset` bytes and then only the tensor's words.
    pub fn upload(&self, tensor: &Tensor, offset: u64) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
        let mut bytes = tensor.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0xff);
        let buffer = self.buffer(offset + bytes.len().max(4) as u64, usage);
        self.queue.write_buffer(&buffer, offset, &bytes);
        buffer
    }

    pub fn result(&self, size: u64) -> wgpu::Buffer {
        self.buffer(size, BufferUsages::STORAGE | BufferUsages::COPY_SRC)
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    pub fn read(&self, buffer: &wgpu::Buffer, offset: u64, bytes: usize) -> Vec<u8> {
        let size = bytes.next_multiple_of(4) as u64;
        let staging = self.buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
        self.queue.submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
        self.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        staging.get_mapped_range(..).unwrap()[..bytes].to_vec()
    }
}
