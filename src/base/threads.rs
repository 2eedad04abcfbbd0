//! Work on all threads of the caller's rayon pool. Without the feature `cpu` there is one thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Items of a chunk, if each takes little time.
pub(crate) const CHUNK_LEN: usize = 1 << 14;

/// The number of threads that share work.
pub(crate) fn count() -> usize {
    #[cfg(feature = "cpu")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "cpu"))]
    1
}

/// Works on all parts. Each thread takes the next part when it has finished one.
pub(crate) fn each<P: Send>(parts: Vec<P>, work: impl Fn(P) + Sync) {
    each_with(parts, || (), |(), part| work(part));
}

/// Works on chunks of `size` items, each with its number.
pub(crate) fn each_chunk<T: Send>(
    items: &mut [T],
    size: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    if items.is_empty() {
        return;
    }
    if items.len() <= size {
        return work(0, items);
    }
    let chunks = items.chunks_mut(size.max(1)).enumerate().collect();
    each(chunks, |(number, chunk)| work(number, chunk));
}

/// Sorts, and does not keep the order of equal items.
pub(crate) fn sort<T: Ord + Send>(items: &mut [T]) {
    #[cfg(feature = "cpu")]
    rayon::slice::ParallelSliceMut::par_sort_unstable(items);
    #[cfg(not(feature = "cpu"))]
    items.sort_unstable();
}

/// As [`each`]. `S` is a value that a thread makes once and keeps from one part to the next.
pub(crate) fn each_with<P: Send, S>(
    parts: Vec<P>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, P) + Sync,
) {
    let (threads, all, done) = (count().min(parts.len()), parts.len(), AtomicUsize::new(0));
    // Only this work is watched, not what this thread does for other work meanwhile.
    let check = CHECK.take();
    let goes_on = || {
        let share = || done.fetch_add(1, Relaxed) as f64 / all as f64;
        check.as_ref().is_none_or(|check| check(share()))
    };
    let parts = Mutex::new(parts.into_iter());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    run(threads, &|| {
        let mut state = state();
        while let Some(part) = next().filter(|_| goes_on()) {
            work(&mut state, part);
        }
    });
    CHECK.set(check);
}

/// Gets the fraction of the parts that have begun, from 0 to 1, and returns whether work continues.
pub(crate) type Check = Arc<dyn Fn(f64) -> bool + Send + Sync>;

thread_local! {
    /// The check of the work that this thread begins.
    static CHECK: RefCell<Option<Check>> = const { RefCell::new(None) };
}

/// Does work in parts, and calls `check` for each: after it returns false, the other parts are
/// skipped.
#[cfg_attr(not(feature = "cpu"), expect(dead_code, reason = "for the CPU's kernels"))]
pub(crate) fn watched(check: Check, work: impl FnOnce()) {
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CHECK.take();
        }
    }
    let _reset = Reset;
    CHECK.set(Some(check));
    work();
}

/// Calls `work` on several threads at once, including the calling one. It is not generic, so
/// rayon's part of it is compiled once.
fn run(threads: usize, work: &(dyn Fn() + Sync)) {
    #[cfg(feature = "cpu")]
    if threads > 1 {
        return rayon::in_place_scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    }
    if threads > 0 {
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_part_is_worked_on_once() {
        for parts in [0, 1, 2, 1000] {
            let mut found = vec![0; parts];
            let states = AtomicUsize::new(0);
            let state = || states.fetch_add(1, Ordering::Relaxed);
            let parts = found.iter_mut().enumerate().collect();
            each_with(parts, state, |_, (i, found): (usize, &mut usize)| *found += i + 1);
            assert!(found.iter().enumerate().all(|(i, &found)| found == i + 1));
            assert!(states.into_inner() <= count());
        }
    }
}
