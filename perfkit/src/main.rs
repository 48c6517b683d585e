//! `perfkit`: Linux perf events on the command line.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(feature = "annotate")]
mod annotate;
mod archive;
mod buildid_list;
mod cli;
mod demo;
mod diff;
mod doctor;
mod dump;
mod explain;
mod export;
#[cfg(feature = "flamegraph")]
mod flamegraph;
mod jit;
mod list;
mod locks;
mod measure;
mod out;
mod record;
mod recording;
mod report;
mod sched;
mod script;
mod stat;
mod top;
mod trace;

use cli::{arguments, completions, help, man};
use measure::command;
use out::{color, message};

/// Linux perf events on the command line
#[derive(Debug, Parser)]
#[command(
    name = "perfkit",
    version,
    about,
    max_term_width = 100,
    after_help = help::end(
        "`perfkit COMMAND --help` has the options of a command, examples and its exit codes.",
        &[
            ("perfkit doctor", "what you can measure here, and what blocks the rest"),
            ("perfkit stat CMD", "count events of a command"),
            ("perfkit record -g CMD", "sample a command, with callchains"),
            ("perfkit report", "where the recorded program spends its time"),
            ("perfkit top", "the functions that run now"),
        ],
        help::EXIT
    )
)]
struct Arguments {
    /// Colors in the output; `auto` is for terminals alone, unless `NO_COLOR` is set
    #[arg(long, global = true, display_order = 900, value_enum, value_name = "WHEN", default_value = "auto")]
    color: color::When,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[cfg(feature = "annotate")]
    Annotate(annotate::Options),
    Archive(archive::Options),
    BuildidList(buildid_list::Options),
    Completions(completions::Options),
    Demo(demo::Options),
    Diff(diff::Options),
    /// Print every record of a perf.data file
    Dump(dump::Options),
    Doctor(doctor::Options),
    Explain(explain::Options),
    Export(export::Options),
    #[cfg(feature = "flamegraph")]
    Flamegraph(flamegraph::Options),
    Jit(jit::Options),
    List(list::Options),
    Locks(locks::Options),
    Man(man::Options),
    Record(record::Options),
    Report(report::Options),
    Sched(sched::Options),
    Script(script::Options),
    Stat(stat::Options),
    Top(top::Options),
    Trace(trace::Options),
    #[command(name = demo::workload::SUBCOMMAND, hide = true)]
    Workload(demo::workload::Arguments),
}

fn main() -> ExitCode {
    print_uncaught_panics();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return arguments::report(&error),
    };
    color::set(arguments.color);
    let mut out = io::stdout().lock();
    match run(&mut out, &arguments.command) {
        Ok(code) => code,
        // The reader of the output exited early, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            message::note(error);
            ExitCode::FAILURE
        }
    }
}

/// Runs a command, and returns the exit code of this program.
fn run(out: &mut dyn Write, command: &Command) -> io::Result<ExitCode> {
    if matches!(
        command,
        Command::Locks(_)
            | Command::Record(_)
            | Command::Sched(_)
            | Command::Stat(_)
            | Command::Top(_)
            | Command::Trace(_)
    ) {
        command::raise_descriptor_limit();
    }
    match command {
        #[cfg(feature = "annotate")]
        Command::Annotate(options) => annotate::run(out, options).map(success),
        Command::Archive(options) => archive::run(out, options),
        Command::BuildidList(options) => buildid_list::run(out, options).map(success),
        Command::Completions(options) => completions::run(out, options).map(success),
        Command::Demo(options) => demo::run(out, options),
        Command::Dump(options) => dump::run(out, options).map(success),
        Command::Diff(options) => diff::run(out, options),
        Command::Doctor(options) => doctor::run(out, options),
        Command::Explain(options) => explain::run(out, options).map(success),
        Command::Export(options) => export::run(options),
        #[cfg(feature = "flamegraph")]
        Command::Flamegraph(options) => flamegraph::run(options),
        Command::Jit(options) => jit::run(out, options),
        Command::List(options) => list::run(out, options),
        Command::Locks(options) => locks::run(out, options),
        Command::Man(options) => man::run(options).map(success),
        Command::Record(options) => record::run(options),
        Command::Report(options) => report::run(out, options).map(success),
        Command::Sched(options) => sched::run(out, options),
        Command::Script(options) => script::run(out, options).map(success),
        Command::Stat(options) => stat::run(options),
        Command::Top(options) => top::run(options),
        Command::Trace(options) => trace::run(options),
        Command::Workload(arguments) => demo::workload::run(arguments).map(success),
    }
}

/// Leaves out the text of panics that are caught: the losses count the addresses that are left
/// without a name or a caller.
fn print_uncaught_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !perf_symbols::is_panic_caught() {
            print(info);
        }
    }));
}

fn success((): ()) -> ExitCode {
    ExitCode::SUCCESS
}
