//! The signals that end the command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
//!
//! At a signal, temporary files are removed, and the command ends. A command that can report what
//! it has done so far holds a [`Polling`] and asks [`requested`] from time to time. It then returns
//! [`Outcome::CutOff`](crate::Outcome::CutOff). A second signal ends it at once.

use std::io::Write;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// The number of the first signal; 0 before.
static SIGNAL: AtomicU8 = AtomicU8::new(0);
/// How many [`Polling`]s there are.
static POLLING: AtomicUsize = AtomicUsize::new(0);

/// Handles signals from now on.
pub fn prepare() {
    if let Err(error) = platform::handle(arrived) {
        tracing::warn!("signals are not handled, so they may leave temporary files: {error}");
    }
}

/// While it exists, the first signal does not end the command.
pub struct Polling(());

impl Polling {
    pub fn start() -> Self {
        POLLING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        POLLING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether the command should end.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) > 0
}

/// The exit status of a command that a signal has cut off, as shells have it: 130 for Ctrl-C.
pub fn status() -> u8 {
    128 + SIGNAL.load(Ordering::SeqCst)
}

/// Called for each signal, in a thread of its own. Returns whether the process should end.
fn arrived(signal: u8) -> bool {
    let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    if first && POLLING.load(Ordering::SeqCst) > 0 {
        let note = "wgmax: stopping; what is done will be reported, a second signal ends at once";
        // An error here means that stderr is closed.
        let _ = writeln!(std::io::stderr(), "\n{note}");
        return false;
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
                    // As without a handler, so that a shell sees what has ended the command.
                    let _ = emulate_default_handler(signal);
                }
            }
        })?;
        Ok(())
    }

    /// The signals that the command's parent has told it to ignore, as a mask. `nohup` does so, and
    /// shells for commands in the background. Known on Linux only.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod platform {
    /// Ctrl-C is the signal 2 elsewhere.
    const INTERRUPT: u8 = 2;

    pub fn handle(arrived: fn(u8) -> bool) -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(move || {
            if arrived(INTERRUPT) {
                std::process::exit(128 + i32::from(INTERRUPT));
            }
        })
    }
}
