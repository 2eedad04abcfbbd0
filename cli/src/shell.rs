//! `wgmax completions` and `wgmax man`.

use std::io::Write;

use clap::{Args, Command};
use clap_complete::Shell;

use super::output::Output;
use crate::Outcome;

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax completions bash > ~/.local/share/bash-completion/completions/wgmax
  wgmax completions zsh > ~/.zfunc/_wgmax")]
pub struct Completions {
    /// Shell to print completions for
    shell: Shell,
}

/// `command` is `wgmax` with all subcommands.
pub fn completions(
    arguments: &Completions,
    mut command: Command,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    // In memory first: the generator panics if it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "wgmax", &mut text);
    output.write_all(&text)?;
    Ok(Outcome::Good)
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax man > wgmax.1
  wgmax man reduce-max > wgmax-reduce-max.1
  wgmax man compare max-pool > wgmax-compare-max-pool.1")]
pub struct Man {
    /// Command to document; wgmax itself by default
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn man(arguments: &Man, mut page: Command, output: &mut Output) -> anyhow::Result<Outcome> {
    // Builds the full names of the subcommands, such as `wgmax-reduce-max`.
    page.build();
    for name in &arguments.command {
        let below = page.get_subcommands().find(|below| below.get_name() == name);
        page = below.cloned().ok_or_else(|| {
            anyhow::anyhow!("there is no command {}", arguments.command.join(" "))
        })?;
    }
    clap_mangen::Man::new(page).render(output)?;
    Ok(Outcome::Good)
}
