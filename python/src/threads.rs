//! Threads, also in a forked process, and signals while a call waits.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::error::raised;

/// Whether this process is a fork of one that had loaded wgmax. It has none of its parent's threads, but
/// rayon's pool would wait for them.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Called in a process that was just forked.
#[pyfunction(name = "_forked")]
pub(crate) fn forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// A pool of this forked process. A process that it forks needs its own.
fn pool() -> Option<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*kept
        && *owner == process
    {
        return Some(pool.clone());
    }
    let made = Arc::new(rayon::ThreadPoolBuilder::new().build().ok()?);
    // The pool of another process is not dropped: it would wait for its threads.
    std::mem::forget(kept.replace((process, made.clone())));
    Some(made)
}

/// Does work that may need threads, without blocking other Python threads.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match FORKED.load(Ordering::Relaxed).then(pool).flatten() {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// Waits for work of a device. Every 50 ms Python's signal handlers are called; if one raises an
/// exception, as that of Ctrl-C does, the work is dropped, and the GPU finishes what it has begun. The
/// CPU does its work without such interruptions.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    work: impl Future<Output = wgmax::Result<T>> + Send,
) -> PyResult<T> {
    const SLICE: Duration = Duration::from_millis(50);
    let mut work = pin!(work);
    loop {
        if let Some(result) = detached(py, || wait_until(Instant::now() + SLICE, work.as_mut())) {
            return result.map_err(raised);
        }
        py.check_signals()?;
    }
}

/// The value of a future, if it is ready by then.
fn wait_until<T>(end: Instant, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    struct Waker(Thread);
    impl Wake for Waker {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Waker(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return Some(result);
        }
        let left = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        thread::park_timeout(left);
    }
}
