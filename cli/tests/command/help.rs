//! Help, suggestions, completions, manual pages and colours.

use super::{command, folder, refused, stderr, stdout, succeeds};

/// The arguments of each command.
pub const COMMANDS: [&[&str]; 43] = [
    &[],
    &["demo"],
    &["devices"],
    &["reduce-max"],
    &["max-pool"],
    &["adaptive-max-pool"],
    &["segment-max"],
    &["reduce-min"],
    &["min-pool"],
    &["adaptive-min-pool"],
    &["segment-min"],
    &["scatter-max"],
    &["scatter-min"],
    &["arg-max"],
    &["arg-min"],
    &["compare"],
    &["compare", "reduce-max"],
    &["compare", "max-pool"],
    &["compare", "adaptive-max-pool"],
    &["compare", "segment-max"],
    &["compare", "reduce-min"],
    &["compare", "min-pool"],
    &["compare", "adaptive-min-pool"],
    &["compare", "segment-min"],
    &["compare", "scatter-max"],
    &["compare", "scatter-min"],
    &["bench"],
    &["verify"],
    &["check"],
    &["onnx"],
    &["explain"],
    &["explain", "reduce-max"],
    &["explain", "max-pool"],
    &["explain", "adaptive-max-pool"],
    &["explain", "segment-max"],
    &["explain", "reduce-min"],
    &["explain", "min-pool"],
    &["explain", "adaptive-min-pool"],
    &["explain", "segment-min"],
    &["explain", "scatter-max"],
    &["explain", "scatter-min"],
    &["shader"],
    &["completions"],
];

#[test]
fn each_command_has_an_example_of_itself() {
    for command in COMMANDS.into_iter().chain([&["man"][..]]) {
        let help = succeeds(&[command, &["--help"]].concat());
        let (_, examples) = help.split_once("\nExample").unwrap_or_else(|| panic!("{help}"));
        let called = ["wgmax"].iter().chain(command).copied().collect::<Vec<_>>().join(" ");
        assert!(examples.contains(&called), "{examples}");
        // The short help has them as well.
        assert!(succeeds(&[command, &["-h"]].concat()).contains("\nExample"), "{command:?}");
    }
    // The list above is complete.
    let help = succeeds(&["--help"]);
    let (_, list) = help.split_once("\nCommands:\n").unwrap();
    let listed = list.lines().take_while(|line| !line.is_empty());
    // The description of a command may have several lines.
    let listed = listed.filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    let known: Vec<&str> = COMMANDS.iter().filter_map(|command| command.first().copied()).collect();
    for name in names {
        assert!(
            known.contains(&name) || ["man", "help"].contains(&name),
            "{name} has no example tested here"
        );
    }
}

#[test]
fn similar_names_are_suggested() {
    let (_folder, at) = folder();
    let x = at("x.npy");
    refused(&["reduce-mx", &x], "'reduce-max'");
    refused(&["onx", &x], "'onnx'");
    refused(&["reduce-max", &x, "--axs", "0"], "'--axes'");
    refused(&["max-pool", &x, "--kernal", "2"], "'--kernel'");
    refused(&["reduce-max", &x, "--nan", "ignor"], "'ignore'");
    refused(&["compare", "maxpool", &x], "'max-pool'");
    refused(&["completions", "bahs"], "'bash'");
    refused(&["shader", "reduce_row"], "'reduce_rows'");
    refused(&["explain", "maxpool", "1x1x9"], "'max-pool'");
    refused(&["reduce-max", &x, "--tuning", "hard"], "'hardware'");
    refused(&["devices", "--color", "alway"], "'always'");
}

/// Errors of arguments send the reader to the help of the command itself.
#[test]
fn errors_name_the_help_that_helps() {
    let line = |arguments: &[&str], wanted: &str| refused(arguments, &format!("{wanted}\n"));
    let x = "x.npy";
    line(&["reduce-mx", x], "; try wgmax --help");
    line(&["reduce-max", x, "--axs", "1"], "; try wgmax reduce-max --help");
    line(&["--color", "never", "bench", "--runs", "0"], "; try wgmax bench --help");
    line(&["compare", "max-pool", x, "--kernal", "1"], "; try wgmax compare max-pool --help");
    // There is no advice to pass an unknown option as a file.
    for command in [&["compare", x, x][..], &["devices"], &["shader", "fill"]] {
        let help = format!("found; try wgmax {} --help", command[0]);
        line(&[command, &["--force"]].concat(), &format!("unexpected argument '--force' {help}"));
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeeds(&["completions", shell]);
        assert!(script.contains("reduce-max") && script.contains("keep-dims"), "{shell}");
    }
    refused(&["completions"], "SHELL");
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    for command in COMMANDS {
        let page = succeeds(&[&["man"], command].concat());
        assert!(page.contains(".TH ") && page.contains("\n.SH NAME\n"), "{command:?}: {page}");
    }
    let page = succeeds(&["man", "compare", "max-pool"]);
    assert!(page.contains("wgmax\\-compare\\-max\\-pool") && page.contains("kernel"), "{page}");
    refused(&["man", "reduce-mean"], "reduce-mean");
    refused(&["man", "reduce-max", "more"], "more");
}

/// `wgmax help X` is `wgmax X --help`.
#[test]
fn help_is_a_command_too() {
    for command in COMMANDS {
        let [help, option] = [[&["help"], command], [command, &["--help"]]].map(|a| a.concat());
        assert_eq!(succeeds(&help), succeeds(&option));
    }
    refused(&["help", "reduce-mx"], "reduce-mx");
}

/// Help fits the columns of the terminal, as tables do.
#[test]
fn help_fits() {
    for command in COMMANDS {
        for (columns, max_width) in [(None, 80), (Some("70"), 70), (Some("120"), 120)] {
            let mut help = super::command(&[command, &["--help"]].concat());
            help.env_remove("COLUMNS");
            columns.map(|columns| help.env("COLUMNS", columns));
            let shown = stdout(&help.output().unwrap());
            // The usage is not broken.
            let max_of = |line: &str| match line.starts_with("Usage:") {
                true => max_width.max(80),
                false => max_width,
            };
            let fits = |line: &&str| line.chars().count() <= max_of(line);
            assert!(shown.lines().all(|line| fits(&line)), "{command:?} in {columns:?}: {shown}");
        }
    }
}

/// What a command prints on stdout and stderr, with variables in its environment.
fn printed(arguments: &[&str], environment: &[(&str, &str)]) -> (String, String) {
    let mut command = command(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).output().unwrap();
    (stdout(&output), stderr(&output))
}

#[test]
fn colours_are_printed_on_request() {
    const ESCAPE: char = '\u{1b}';
    let help = ["reduce-max", "--help"];
    let missing = ["reduce-max", "missing.npy", "--device", "cpu"];
    let unknown = ["reduce-max", "--unknown"];
    // Without a request, a pipe gets no colours.
    for (arguments, environment, wanted) in [
        (&[][..], &[][..], false),
        (&["--color", "auto"], &[], false),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&["--color=always"], &[], true),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
    ] {
        let with = |command: &[&str]| printed(&[command, arguments].concat(), environment);
        let (shown, _) = with(&help);
        assert!(shown.contains("--keep-dims"), "{shown}");
        assert_eq!(shown.contains(ESCAPE), wanted, "{arguments:?} {environment:?}");
        for command in [&missing[..], &unknown] {
            let (nothing, error) = with(command);
            assert!(nothing.is_empty() && error.contains("wgmax:"), "{nothing} {error}");
            assert_eq!(error.contains(ESCAPE), wanted, "{arguments:?} {environment:?} {error}");
        }
    }
    // The option may come before the command.
    assert!(printed(&["--color", "always", "devices", "--help"], &[]).0.contains(ESCAPE));
}
