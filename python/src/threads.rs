//! Threads, also of a process that was forked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::ThreadPool;

/// Whether this process is a fork of one that had wgmax loaded. It has none of that one's threads, but
/// rayon's pool is as if they were there, and would wait for them.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Called in a process that was just forked.
#[pyfunction(name = "_forked")]
pub(crate) fn forked() {
    FORKED.store(true, Ordering::Relaxed);
}

/// A pool of this process, which was forked. A process that it forks needs one of its own.
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

/// Does work that may need threads, without holding up other threads of Python.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match FORKED.load(Ordering::Relaxed).then(pool).flatten() {
        Some(pool) => pool.install(work),
        None => work(),
    })
}
