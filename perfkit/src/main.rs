//! `perfkit`: see what the Linux kernel's perf events have to say.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod demo;
mod dump;

/// See what the Linux kernel's perf events have to say
#[derive(Debug, Parser)]
#[command(name = "perfkit", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample a small workload for two seconds and show what came
    Demo(demo::Options),
    /// Print every record of a saved ring
    Dump(dump::Options),
    #[command(name = demo::workload::SUBCOMMAND, hide = true)]
    Workload(demo::workload::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = io::stdout().lock();
    let done = match &arguments.command {
        Command::Demo(options) => demo::run(&mut out, options).and_then(|()| out.flush()),
        Command::Dump(options) => dump::run(&mut out, options),
        Command::Workload(arguments) => demo::workload::run(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has seen enough, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody left to tell if this fails too.
            let _ = writeln!(io::stderr(), "perfkit: {error}");
            ExitCode::FAILURE
        }
    }
}
