//! `wgmax completions` and `wgmax man`: what a shell and `man` know of the command.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::Output;
use super::{Cli, Outcome};

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax completions bash > ~/.local/share/bash-completion/completions/wgmax
  wgmax completions zsh > ~/.zfunc/_wgmax")]
pub struct Completions {
    /// The shell that will read them
    shell: Shell,
}

pub fn completions(arguments: &Completions, output: &mut Output) -> anyhow::Result<Outcome> {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "wgmax", output);
    Ok(Outcome::Good)
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  wgmax man > wgmax.1
  wgmax man reduce-max > wgmax-reduce-max.1
  wgmax man compare max-pool > wgmax-compare-max-pool.1")]
pub struct Man {
    /// The page of this command; that of wgmax itself if it is left out
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub fn man(arguments: &Man, output: &mut Output) -> anyhow::Result<Outcome> {
    let mut page = Cli::command();
    // Names the commands below `wgmax-reduce-max` and so on.
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
