//! Errors that a device reports in our own error scopes, and its loss, which is detected even if the
//! loss callback belongs to the caller.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use super::Gpu;
use crate::base::error::{Error, Result};

impl Gpu {
    /// Runs `f` in error scopes. Returns its value, or the error that the device reported.
    pub(super) async fn catch<T>(&self, what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_alive()?;
        let (value, reported) = self.scoped(f);
        let reported = reported.await;
        // A lost device reports no error for the calls in `f`, only for the use of their results.
        self.check_alive()?;
        self.outcome(what, value, reported)
    }

    /// As [`Gpu::catch`], without waiting. In a browser, errors arrive too late and are dropped;
    /// they show up again when the caller submits.
    pub(super) fn catch_now<T>(&self, what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let (value, reported) = self.scoped(f);
        self.check_alive()?;
        match pin!(reported).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reported) => self.outcome(what, value, reported),
            Poll::Pending => value,
        }
    }

    /// Runs `f` in error scopes. Returns its value, and a future of the first error.
    fn scoped<T, F: FnOnce() -> T>(
        &self,
        f: F,
    ) -> (T, impl Future<Output = Option<wgpu::Error>> + use<T, F>) {
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let value = f();
        (value, first_error(memory.pop(), validation.pop(), internal.pop()))
    }

    /// `value`, unless the device has reported an error.
    fn outcome<T>(&self, what: &str, value: Result<T>, reported: Option<wgpu::Error>) -> Result<T> {
        let device = self.info.name.clone();
        match reported {
            None => value,
            Some(wgpu::Error::OutOfMemory { .. }) => {
                Err(Error::OutOfMemory { device, what: what.to_string() })
            }
            Some(error) => Err(self.failed(what, error.to_string())),
        }
    }

    /// An error if the device is lost, or if its queue belongs to another one.
    pub(crate) fn check_alive(&self) -> Result<()> {
        if self.has_wrong_queue {
            return Err(Error::WrongQueue { device: self.described() });
        }
        if !self.is_browser && self.lost.get().is_none() && self.is_unresponsive() {
            let _ = self.lost.set("it was destroyed, or its driver failed".to_string());
        }
        match self.lost.get() {
            None => Ok(()),
            Some(reason) => {
                Err(Error::DeviceLost { device: self.info.name.clone(), reason: reason.clone() })
            }
        }
    }

    /// Whether the device no longer reports errors.
    ///
    /// wgpu reports a loss only through a callback, which on a caller's device belongs to the caller,
    /// and the destruction of a device only in a later poll. But a lost device reports no other errors
    /// either. So this provokes a validation error: if it is not reported, the device is lost. The
    /// call reaches neither the driver nor existing objects.
    fn is_unresponsive(&self) -> bool {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        self.provoke_error();
        !has_caught(scope)
    }

    /// Whether both are the same wgpu device. If both are lost, the answer may be wrong: any use of
    /// them reports the loss.
    ///
    /// wgpu compares devices by numbers, which begin anew in each `wgpu::Instance`. So this provokes an
    /// error of the one, and checks whether a scope of the other catches it.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        if self.device != other.device {
            return false;
        }
        // In a browser, errors arrive late, and wgpu's numbers are unique.
        if cfg!(target_family = "wasm") || self.number == other.number {
            return true;
        }
        let theirs = other.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let mine = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        other.provoke_error();
        let (mine, theirs) = (has_caught(mine), has_caught(theirs));
        // If no scope catches it, the other device is lost.
        mine || !theirs && self.is_unresponsive()
    }

    /// Provokes a validation error, in a scope of the caller.
    fn provoke_error(&self) {
        drop(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgmax device check"),
            size: 4,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        }));
    }

    /// Whether the queue belongs to the device, as far as this can be determined.
    ///
    /// wgpu has no query for this, and reports errors of a wrong queue to that queue's device. But a
    /// submit also completes the mappings that are ready, only those of the queue's device, and calls
    /// their callbacks on the same thread.
    pub(super) fn owns_queue(&self) -> bool {
        // In a browser, errors arrive late, and the queue is a property of the device.
        if self.is_browser {
            return true;
        }
        // Another thread may poll the device first; then this tries again.
        for _ in 0..100 {
            let (sender, called) = mpsc::channel();
            let is_here = |called: Option<thread::ThreadId>| called == Some(thread::current().id());
            let map = || {
                let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let buffer = self.create_buffer("wgmax queue check", 4, usage)?;
                buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
                    let _ = sender.send(mapped.ok().map(|()| thread::current().id()));
                });
                Ok(buffer)
            };
            // If this fails, the device reports the same error again later.
            let Ok(_buffer) = self.catch_now("a queue check", map) else { return true };
            // If the callback ran before a submit, the device's own queue has been dropped.
            match called.try_recv() {
                Ok(None) => return true,
                Ok(called) if is_here(called) => return false,
                Ok(_) => continue,
                Err(_) => {}
            }
            self.queue.submit([]);
            match called.try_recv() {
                Ok(None) => return true,
                Ok(called) if is_here(called) => return true,
                Ok(_) => continue,
                Err(_) => {}
            }
            if self.poll(wgpu::PollType::Poll).is_err() {
                return true;
            }
            match called.recv_timeout(Duration::from_millis(100)) {
                Ok(None) => return true,
                Ok(called) if is_here(called) => return false,
                _ => {}
            }
        }
        true
    }

    /// An error if a buffer was destroyed: `names` are the operator and the tensor. wgpu reports it on
    /// access to a range that is not mapped; a browser does not.
    pub(super) fn check_not_destroyed(
        &self,
        buffer: &wgpu::Buffer,
        names: impl FnOnce() -> (String, String),
    ) -> Result<()> {
        let is_destroyed = !self.is_browser
            && buffer.size() >= 4
            && buffer.get_mapped_range(..4).is_err_and(|e| e.to_string().contains("destroyed"));
        if !is_destroyed {
            return Ok(());
        }
        // The destruction of a device destroys its buffers, too.
        self.check_alive()?;
        let (operator, tensor) = names();
        Err(Error::BufferDestroyed { operator, tensor })
    }

    /// The error of a failed operation `what`: [`Error::DeviceLost`] if that is the cause,
    /// otherwise [`Error::Gpu`].
    pub(super) fn failed(&self, what: &str, reason: String) -> Error {
        let (device, what) = (self.info.name.clone(), what.to_string());
        self.check_alive().err().unwrap_or(Error::Gpu { device, what, reason })
    }

    /// Polls the device. wgpu panics in it when the driver reports a loss; this returns an error.
    pub(super) fn poll(&self, how: wgpu::PollType) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(how))) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(self.failed("waiting", error.to_string())),
            Err(panic) => match self.check_alive() {
                Err(lost) => Err(lost),
                // Polling also runs the caller's callbacks; this panic came from one.
                Ok(()) => resume_unwind(panic),
            },
        }
    }

    /// Waits for the value that a callback of the device sends; `None` if the callback was dropped.
    pub(super) async fn receive<T: 'static>(
        &self,
        receiver: &OneshotReceiver<T>,
    ) -> Result<Option<T>> {
        let mut receive = pin!(receiver.receive());
        #[cfg(not(target_family = "wasm"))]
        let mut waiting: Option<super::poller::Waiting<'_>> = None;
        std::future::poll_fn(|context| {
            // If polling fails, nothing calls the callback.
            if let Err(error) = self.poll(wgpu::PollType::Poll) {
                return Poll::Ready(Err(error));
            }
            let state = receive.as_mut().poll(context);
            // A browser needs no polls; other platforms do.
            #[cfg(not(target_family = "wasm"))]
            if state.is_pending() {
                match &waiting {
                    Some(waiting) => waiting.set_waker(context.waker()),
                    None => match self.poller.wait(&self.device, context.waker()) {
                        Ok(begun) => waiting = Some(begun),
                        Err(error) => return Poll::Ready(Err(error)),
                    },
                }
            }
            state.map(Ok)
        })
        .await
    }

    /// Waits until all submitted work is finished. `wait`: whether this may block.
    pub(crate) async fn wait(&self, wait: bool) -> Result<()> {
        self.check_alive()?;
        if wait {
            self.poll(wgpu::PollType::wait_indefinitely())?;
        } else {
            let (sender, done) = oneshot_channel();
            self.queue.on_submitted_work_done(move || {
                let _ = sender.send(());
            });
            self.receive(&done).await?;
        }
        self.check_alive()
    }
}

/// Whether the scope has caught an error. In a browser, errors arrive later.
fn has_caught(scope: wgpu::ErrorScopeGuard) -> bool {
    let error = pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop()));
    matches!(error, Poll::Ready(Some(_)))
}

/// The first error of three scopes. It is compiled once, not for each `f` of [`Gpu::scoped`].
async fn first_error<F>(memory: F, validation: F, internal: F) -> Option<wgpu::Error>
where
    F: Future<Output = Option<wgpu::Error>>,
{
    let (memory, validation, internal) = (memory.await, validation.await, internal.await);
    memory.or(validation).or(internal)
}
