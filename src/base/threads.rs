//! Work on all threads of the caller's rayon pool. Without the feature `cpu` there is one thread.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Items of a chunk, if each takes little time.
pub(crate) const CHUNK_LEN: usize = 1 << 14;

thread_local! {
    /// The number of threads for which work on this thread is cut, if it is not that of the pool.
    static THREADS: Cell<Option<usize>> = const { Cell::new(None) };
    /// How long each part took, for each call of [`each_with`] that is simulated.
    static TIMES: RefCell<Option<Vec<Vec<Duration>>>> = const { RefCell::new(None) };
}

/// The number of threads that share work: one within one of several parts.
pub(crate) fn count() -> usize {
    if let Some(threads) = THREADS.get() {
        return threads;
    }
    #[cfg(feature = "cpu")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "cpu"))]
    1
}

/// While it lives, work on this thread is cut for a number of threads.
struct CutFor(Option<usize>);

impl CutFor {
    fn new(threads: usize) -> Self {
        Self(THREADS.replace(Some(threads)))
    }
}

impl Drop for CutFor {
    fn drop(&mut self) {
        THREADS.set(self.0);
    }
}

/// Does work that is cut for a number of threads, all parts on this thread, one after the other. Returns how
/// long each part took, for each time that work was shared: what is left of the whole time was not shared.
pub fn simulated(threads: usize, work: impl FnOnce()) -> Vec<Vec<Duration>> {
    struct Earlier(Option<Vec<Vec<Duration>>>);
    impl Drop for Earlier {
        fn drop(&mut self) {
            TIMES.set(self.0.take());
        }
    }
    let _threads = CutFor::new(threads.max(1));
    let _earlier = Earlier(TIMES.replace(Some(Vec::new())));
    work();
    TIMES.take().unwrap_or_default()
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
    if count() > 1 {
        return rayon::slice::ParallelSliceMut::par_sort_unstable(items);
    }
    items.sort_unstable();
}

/// As [`each`]. `S` is a value that a thread makes once and keeps from one part to the next.
pub(crate) fn each_with<P: Send, S>(
    parts: Vec<P>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, P) + Sync,
) {
    let all = parts.len();
    let parts = Mutex::new(parts.into_iter());
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    share(all, &|goes_on| {
        let mut state = state();
        while goes_on()
            && let Some(part) = next()
        {
            work(&mut state, part);
        }
    });
}

/// Calls `work` on all threads that share so many parts. It asks before each part whether the work goes on. All but
/// the loop over parts is here, since this is not generic: it is compiled once.
fn share(all: usize, work: &(dyn Fn(&mut dyn FnMut() -> bool) + Sync)) {
    // Threads may share what a single part does.
    let is_single = all == 1;
    let times = if is_single { None } else { TIMES.take() };
    let threads = if times.is_some() { 1 } else { count().min(all) };
    let begins = times.as_ref().map(|_| Mutex::new(Vec::new()));
    // Only this work is watched, not what this thread does for other work meanwhile.
    let (check, begun) = (CHECK.take(), AtomicUsize::new(0));
    run(threads, &|| {
        let mut alone = None;
        work(&mut || {
            // What `check` does belongs to no part.
            drop(alone.take());
            if let Some(begins) = &begins {
                begins.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
            }
            let number = begun.fetch_add(1, Relaxed);
            let share = number as f64 / all as f64;
            if number >= all || check.as_ref().is_some_and(|check| !check(share)) {
                return false;
            }
            match is_single {
                true => CHECK.set(check.clone()),
                // Other threads have parts of their own.
                false => alone = Some(CutFor::new(1)),
            }
            true
        });
    });
    CHECK.set(check);
    if let (Some(mut times), Some(begins)) = (times, begins) {
        let begins = begins.into_inner().unwrap_or_else(PoisonError::into_inner);
        times.push(begins.windows(2).map(|pair| pair[1] - pair[0]).collect());
        TIMES.set(Some(times));
    }
}

/// Gets the fraction of the parts that have begun, from 0 to 1, and returns whether work continues. Once it
/// has returned false, it always does.
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

/// Does work whose parts are not watched.
pub(crate) fn unwatched<T>(work: impl FnOnce() -> T) -> T {
    let check = CHECK.take();
    let result = work();
    CHECK.set(check);
    result
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
    fn work_is_cut_for_simulated_threads_and_not_within_parts() {
        let outside = count();
        let all = simulated(7, || {
            assert_eq!(count(), 7);
            each(vec![(); 3], |()| {
                assert_eq!(count(), 1);
                each(vec![(); 5], |()| assert_eq!(count(), 1));
            });
            each(vec![(); 2], |()| {});
        });
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2]);
        each(vec![(); 9], |()| assert_eq!(count(), 1));
        each(vec![()], |()| assert_eq!(count(), outside));
        assert_eq!(count(), outside);
    }

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
