//! `perfkit completions`: a script that completes the command line in a shell.

use std::io::{self, Write};

use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;

use crate::Arguments;
use crate::cli::help;

/// Print a script that completes the options and commands in a shell
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "",
    &[
        ("source <(perfkit completions bash)", "in this bash; in ~/.bashrc for each one"),
        ("perfkit completions zsh > _perfkit", "in a folder of zsh's $fpath"),
        ("perfkit completions fish > ~/.config/fish/completions/perfkit.fish", ""),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    /// Shell that reads the script
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    // The generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut visible(&Arguments::command()), "perfkit", &mut script);
    out.write_all(&script)?;
    out.flush()
}

/// Returns the command line without hidden commands, which the generator would list.
fn visible(command: &Command) -> Command {
    let commands = command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned();
    Command::new("perfkit")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().cloned())
        .subcommands(commands)
}
