//! What a device reports: errors in scopes of ours, and its loss, also where the callbacks are the caller's.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::Gpu;
use crate::error::{Error, Result};

impl Gpu {
    /// Runs `f` with out-of-memory and validation errors caught, and returns the first of them.
    pub(super) async fn catch<T>(&self, what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_alive()?;
        let (value, reported) = self.scoped(f);
        let reported = reported.await;
        // A device that is lost refuses all without an error, and what is made of that has errors of its own.
        self.check_alive()?;
        self.judge(what, value, reported)
    }

    /// As [`Gpu::catch`], for those who cannot wait. A browser reports later, to nobody; what is wrong
    /// then shows when the caller submits.
    pub(super) fn catch_now<T>(&self, what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let (value, reported) = self.scoped(f);
        self.check_alive()?;
        match pin!(reported).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reported) => self.judge(what, value, reported),
            Poll::Pending => value,
        }
    }

    fn scoped<T, F: FnOnce() -> T>(
        &self,
        f: F,
    ) -> (T, impl Future<Output = Option<wgpu::Error>> + use<T, F>) {
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let value = f();
        let (memory, validation, internal) = (memory.pop(), validation.pop(), internal.pop());
        let first = async {
            let (memory, validation, internal) = (memory.await, validation.await, internal.await);
            memory.or(validation).or(internal)
        };
        (value, first)
    }

    fn judge<T>(&self, what: &str, value: Result<T>, reported: Option<wgpu::Error>) -> Result<T> {
        let device = self.info.name.clone();
        match reported {
            None => value,
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(Error::OutOfMemory { device, what: what.to_string() })
            }
            Some(error) => Err(self.failed(what, error.to_string())),
        }
    }

    /// An error if the device is lost.
    pub(crate) fn check_alive(&self) -> Result<()> {
        if !self.told && self.lost.get().is_none() && self.is_deaf() {
            let _ = self.lost.set("it was destroyed, or its driver gave it up".to_string());
        }
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => {
                Err(Error::DeviceLost { device: self.info.name.clone(), reason: reason.clone() })
            }
        }
    }

    /// Whether the device does not even refuse any more.
    ///
    /// wgpu tells of a lost device by its callback alone, and a caller's device has the caller's. But a lost
    /// device gives no errors, so one that should come and does not tells the same. Asking touches
    /// neither the driver nor anything that is there.
    fn is_deaf(&self) -> bool {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        drop(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgmax, never made"),
            size: 4,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        }));
        let error = pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop()));
        matches!(error, Poll::Ready(None))
    }

    /// What went wrong at `what`, or that the device is lost.
    pub(super) fn failed(&self, what: &str, reason: String) -> Error {
        let (device, what) = (self.info.name.clone(), what.to_string());
        self.check_alive().err().unwrap_or(Error::Gpu { device, what, reason })
    }

    /// Polls the device. wgpu panics there when the driver says that the device is lost; that is an error here.
    pub(super) fn poll(&self, how: wgpu::PollType) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(how))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(self.failed("waiting", error.to_string())),
            Err(panic) => match self.check_alive() {
                Err(lost) => Err(lost),
                // A callback of the caller's, which runs in a poll.
                Ok(()) => resume_unwind(panic),
            },
        }
    }

    /// Waits until all that was submitted is done.
    pub(crate) fn wait(&self) -> Result<()> {
        self.check_alive()?;
        self.poll(wgpu::PollType::wait_indefinitely())?;
        self.check_alive()
    }
}
