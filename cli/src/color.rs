//! Whether output is coloured. `--color` decides first, then `NO_COLOR` and `CLICOLOR_FORCE`, and
//! then whether the output is a terminal.
//!
//! The choice is stored in anstream's global, which clap follows as well.

use std::ffi::OsStr;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

/// Applies `--color` before the arguments are parsed, because parsing prints help and errors.
/// Invalid choices are left for clap to refuse.
pub fn prepare(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) {
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.as_ref().to_str() else { continue };
        let choice = match text.strip_prefix("--color") {
            Some("") => arguments.next().and_then(|next| choice(next.as_ref().to_str()?)),
            Some(value) => value.strip_prefix('=').and_then(choice),
            None if text == "--" => break,
            None => None,
        };
        if let Some(choice) = choice {
            choice.write_global();
        }
    }
}

fn choice(name: &str) -> Option<ColorChoice> {
    match name {
        "auto" => Some(ColorChoice::Auto),
        "always" => Some(ColorChoice::Always),
        "never" => Some(ColorChoice::Never),
        _ => None,
    }
}

/// Whether results on standard output are coloured.
pub fn stdout() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Whether errors and progress on standard error are coloured.
pub fn stderr() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// The text of a verdict on standard output: green or red, if it is such a verdict.
pub fn verdict(text: &str, good: Option<bool>) -> String {
    let color = if good == Some(true) { AnsiColor::Green } else { AnsiColor::Red };
    styled(text, Style::new().fg_color(Some(color.into())), good.is_some() && stdout())
}

/// The text in the style of errors.
pub fn error(text: &str) -> String {
    styled(text, Style::new().bold().fg_color(Some(AnsiColor::Red.into())), stderr())
}

fn styled(text: &str, style: Style, is_coloured: bool) -> String {
    if is_coloured { format!("{style}{text}{style:#}") } else { text.to_string() }
}
