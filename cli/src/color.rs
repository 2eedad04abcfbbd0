//! Whether output is coloured: `--color` first, then `NO_COLOR` and `CLICOLOR_FORCE`,
//! and else whether it is read on a terminal.
//!
//! The choice is a global one of anstream's, which clap follows, too.

use std::ffi::OsStr;
use std::io;

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

/// Takes `--color` to heart before the arguments are parsed, since help and errors
/// come from parsing them. What is no choice is left for clap to refuse.
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

/// How errors begin.
pub fn error(text: &str) -> String {
    match stderr() {
        true => {
            let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            format!("{style}{text}{style:#}")
        }
        false => text.to_string(),
    }
}
