//! The signals that end the command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! At a signal, temporary files are removed, and the command ends. A command that can report
//! partial results holds a [`Polling`] and calls [`requested`] from time to time. It then returns
//! [`Outcome::CutOff`](crate::Outcome::CutOff). A second signal ends it at once.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::output;

/// The number of the first signal; 0 before.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

static STATE: Mutex<State> = Mutex::new(State { polling: 0, note: None });

struct State {
    /// How many [`Polling`]s there are.
    polling: usize,
    /// The thread that reports the first signal.
    note: Option<JoinHandle<()>>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Handles signals from now on.
pub fn prepare() {
    if let Err(error) = platform::handle(arrived) {
        tracing::warn!("signals are not handled, so they may leave temporary files: {error}");
    }
}

/// While it exists, the first signal does not end the command. Call [`requested`] once more after
/// it is dropped: a signal that did not end the command may have come just before.
pub struct Polling(());

impl Polling {
    pub fn start() -> Self {
        state().polling += 1;
        Self(())
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        state().polling -= 1;
    }
}

/// Whether the command should end.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) > 0
}

/// The exit status of a command that a signal has cut off, as in shells: 130 for Ctrl-C. Waits
/// until the message that the command stops has been printed.
pub fn status() -> u8 {
    let note = state().note.take();
    if let Some(note) = note {
        let _ = note.join();
    }
    128 + SIGNAL.load(Ordering::SeqCst)
}

fn note() {
    let note = "wgmax: stopping; what is done will be reported, a second signal ends at once";
    output::note(format_args!("\n{note}"));
}

/// Called for each signal, in a thread of its own. Returns whether the process should end.
fn arrived(signal: u8) -> bool {
    {
        let mut state = state();
        let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if first && state.polling > 0 {
            // In its own thread: stderr may be a pipe that nobody reads, and a second signal must
            // end the command even then.
            state.note = std::thread::Builder::new().name("note".into()).spawn(note).ok();
            return false;
        }
    }
    wgmax::io::remove_temporary_files();
    true
}

#[cfg(unix)]
mod platform {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    pub fn handle(arrived: fn(u8) -> bool) -> std::io::Result<()> {
        let ignored = ignored();
        let signals = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let mut signals = Signals::new(signals.filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if arrived(signal as u8) {
                    // As without a handler, so that a shell sees which signal has ended the
                    // command.
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        Ok(())
    }

    /// The signals that the command's parent has set to be ignored, as a mask. `nohup` does this,
    /// and shells do for commands in the background. Known on Linux only.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod platform {
    /// Elsewhere the signal 2 is Ctrl-C.
    const INTERRUPT: u8 = 2;

    pub fn handle(arrived: fn(u8) -> bool) -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(move || {
            if arrived(INTERRUPT) {
                std::process::exit(128 + i32::from(INTERRUPT));
            }
        })
    }
}
