//! Wrong arguments: clap's errors in one line, with better advice.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Advice for words that a command does not have: the beginning of the command's name, the word, and the advice.
/// clap would suggest words that are similar, but mean something else.
const ADVICE: [(&str, &str, &str); 6] = [
    ("wgmax", "--plan", "it is now --tuning"),
    ("wgmax arg-", "--indices", "the result is the positions; write them with -o"),
    ("wgmax compare ", "--values", "it is for two files"),
    ("wgmax compare ", "--heatmap", "it is for two files"),
    ("wgmax explain", "arg-max", "give reduce-max with --indices"),
    ("wgmax explain", "arg-min", "give reduce-min with --indices"),
];

/// The command with options that accept negative numbers, so that errors of their values name the option.
pub fn naming_options(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        if is_option { arg.allow_negative_numbers(true) } else { arg }
    });
    command.mut_subcommands(naming_options)
}

/// The arguments, after the name of the program. `help --help` is `--help`: clap takes that for a command.
pub fn with_name(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = [&[OsString::from("wgmax")], arguments].concat();
    if let [.., help, option] = &all[..]
        && help == "help"
        && (option == "--help" || option == "-h")
    {
        all.remove(all.len() - 2);
    }
    all
}

/// The error of these arguments in one line. It ends with the call for help.
pub fn message(error: &clap::Error, arguments: &[OsString], command: &Command) -> String {
    let called = called(arguments, command);
    let better = match error.kind() {
        // clap prints a page of help for this instead of a message.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Some("a subcommand or an argument is missing".to_string())
        }
        ErrorKind::MissingRequiredArgument => requirement(error, arguments, command),
        ErrorKind::UnknownArgument => advice(error, ContextKind::InvalidArg, &called),
        ErrorKind::InvalidSubcommand => advice(error, ContextKind::InvalidSubcommand, &called),
        _ => None,
    };
    let text = better.unwrap_or_else(|| one_line(&error.render().to_string()));
    format!("{text}; try {called} --help")
}

/// The advice for a word that the command `called` does not have.
fn advice(error: &clap::Error, word: ContextKind, called: &str) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(word) else { return None };
    let (.., advice) =
        ADVICE.iter().find(|(command, name, _)| name == word && called.starts_with(command))?;
    Some(format!("unexpected '{word}': {advice}"))
}

/// The option that needs the missing arguments: the one without which clap accepts the others.
fn requirement(error: &clap::Error, arguments: &[OsString], command: &Command) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_accepted_without = |at: usize, words: usize| {
        let rest = [&arguments[..at], arguments.get(at + words..).unwrap_or_default()].concat();
        command.clone().try_get_matches_from(with_name(&rest)).is_ok()
    };
    // The value of an option is in the same word or in the next one.
    let option = arguments.iter().enumerate().find(|&(at, option)| {
        let is_option = option.as_encoded_bytes().starts_with(b"--");
        is_option && (1..=2).any(|words| is_accepted_without(at, words))
    });
    let option = option?.1.to_string_lossy();
    let option = option.split('=').next().unwrap_or_default();
    let missing: Vec<String> = missing.iter().map(|one| alternatives(one)).collect();
    Some(format!("{option} needs {}", missing.join(" and ")))
}

/// The names in clap's text for an argument or for a group, such as `<--backward <FILE>|--indices <FILE>>`.
fn alternatives(text: &str) -> String {
    let inner = text.strip_prefix('<').and_then(|inner| inner.strip_suffix('>'));
    let text = inner.filter(|_| text.contains('|')).unwrap_or(text);
    let name = |one: &str| one.split(' ').next().unwrap_or_default().to_string();
    text.split('|').map(name).collect::<Vec<_>>().join(" or ")
}

/// Clap's message without its usage text, and without the advice to pass an unknown option as a
/// value, because no file has such a name.
fn one_line(message: &str) -> String {
    let mut parts: Vec<&str> = message.split("\n\n").map(str::trim).collect();
    let is_value = |part: &str| part.starts_with("tip: to pass '-");
    parts.retain(|part| part.starts_with("error: ") || part.starts_with("tip: "));
    parts.retain(|part| !is_value(part));
    parts.join("; ").replacen("error: ", "", 1)
}

/// The command that the arguments call, down to its subcommand.
fn called(arguments: &[OsString], root: &Command) -> String {
    let mut name = "wgmax".to_string();
    let mut command = root;
    for argument in arguments {
        if let Some(found) = command.find_subcommand(argument) {
            name += &format!(" {}", found.get_name());
            command = found;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_named() {
        assert_eq!(alternatives("--indices <IDX_FILE>"), "--indices");
        let group = "<--backward <FILE>|--indices <IDX_FILE>>";
        assert_eq!(alternatives(group), "--backward or --indices");
        assert_eq!(alternatives("<NAME>"), "<NAME>");
    }
}
