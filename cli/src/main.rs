//! The command `wgmax`: see `wgmax --help`.

use std::process::ExitCode;
#[cfg(target_os = "linux")]
use std::{ffi::OsString, path::Path};

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    silence_wayland();
    ExitCode::from(wgmax_cli::run(std::env::args_os().skip(1).collect()))
}

/// libwayland, which GPU drivers load, prints an error on stderr if this variable is not set to a
/// path. A process with threads cannot safely set it for itself, so the process starts itself again with
/// a path that has no socket. For libwayland that is the same as no path.
#[cfg(target_os = "linux")]
fn silence_wayland() {
    use std::os::unix::process::CommandExt;
    const NAME: &str = "XDG_RUNTIME_DIR";
    let is_path = |value: OsString| Path::new(&value).is_absolute();
    if std::env::var_os(NAME).is_some_and(is_path) {
        return;
    }
    let mut arguments = std::env::args_os();
    if let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) {
        let mut again = std::process::Command::new(program);
        // `exec` returns only if it fails. Then libwayland prints its error.
        let _ = again.arg0(name).args(arguments).env(NAME, "/nonexistent").exec();
    }
}
