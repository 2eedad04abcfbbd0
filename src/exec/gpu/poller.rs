//! A thread that polls a device while futures wait for it.
//!
//! wgpu calls callbacks only during a poll. The thread starts when a future first waits for the
//! device, sleeps while none does, and ends with the device. It polls at intervals instead of
//! blocking in wgpu: there it would hold locks that other threads need to destroy resources.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::base::error::{Error, Result};

/// The interval of polls is an eighth of the time waited so far, within these bounds.
const MIN_PAUSE: Duration = Duration::from_micros(20);
const MAX_PAUSE: Duration = Duration::from_millis(1);
/// How long dropping a device waits for a poll that has begun: it may run callbacks.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The polling thread of a device.
#[derive(Default)]
pub(super) struct Poller(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The waiting futures, in the order in which they began to wait.
    waiting: BTreeMap<u64, Waker>,
    /// How many futures have waited.
    count: u64,
    /// The device, while a future waits, and when the last one began to wait.
    polled: Option<(wgpu::Device, Instant)>,
    thread: Option<ThreadId>,
    is_polling: bool,
    ended: bool,
}

/// A future that waits for the device, until this value is dropped.
pub(super) struct Waiting<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Poller {
    /// Polls the device from now on. Callbacks wake the future themselves; `waker` is woken if a
    /// poll fails.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the system has no thread.
    pub(super) fn wait(&self, device: &wgpu::Device, waker: &Waker) -> Result<Waiting<'_>> {
        // Wakers are code of the caller: none is dropped or woken under the lock.
        let waker = waker.clone();
        let mut state = self.0.lock();
        if state.thread.is_none() {
            let shared = self.0.clone();
            let thread = thread::Builder::new().name("wgmax poll".to_string());
            let thread = thread.spawn(move || shared.run());
            let thread =
                thread.map_err(|error| Error::host_memory(format!("a thread: {error}")))?;
            state.thread = Some(thread.thread().id());
        }
        state.count += 1;
        let number = state.count;
        state.waiting.insert(number, waker);
        state.polled = Some((device.clone(), Instant::now()));
        self.0.changed.notify_all();
        Ok(Waiting { shared: &self.0, number })
    }
}

impl Waiting<'_> {
    /// Notes that the future was polled with another waker.
    pub(super) fn set_waker(&self, waker: &Waker) {
        let waker = waker.clone();
        let former = self.shared.lock().waiting.insert(self.number, waker);
        drop(former);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let waker = state.waiting.remove(&self.number);
        if state.waiting.is_empty() {
            state.polled = None;
        }
        drop(state);
        drop(waker);
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.ended = true;
        self.0.changed.notify_all();
        // The thread must not drop the last handle of the device: a driver that is closed while the
        // program ends may crash. A callback that runs in the poll may itself drop the device.
        if state.thread != Some(thread::current().id()) {
            let ended = self.0.changed.wait_timeout_while(state, END_TIMEOUT, |s| s.is_polling);
            drop(ended);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.ended {
            let Some((device, since)) = state.polled.clone() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.is_polling = true;
            drop(state);
            // wgpu panics when the driver reports a loss, and a callback of the caller may panic.
            // The futures distinguish these cases.
            let poll = AssertUnwindSafe(|| device.poll(wgpu::PollType::Poll));
            let has_failed = !matches!(catch_unwind(poll), Ok(Ok(_)));
            drop(device);
            if has_failed {
                let wakers: Vec<Waker> = self.lock().waiting.values().cloned().collect();
                let wake = |waker: Waker| {
                    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                };
                wakers.into_iter().for_each(wake);
            }
            state = self.lock();
            state.is_polling = false;
            self.changed.notify_all();
            let pause = (since.elapsed() / 8).clamp(MIN_PAUSE, MAX_PAUSE);
            if !state.ended {
                let waited = self.changed.wait_timeout(state, pause);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
