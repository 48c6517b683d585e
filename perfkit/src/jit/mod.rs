//! `perfkit jit`: names of functions in a runtime that runs already.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use perf_record::runtime::Runtime;
use perf_session::System;

use crate::cli::help;
use crate::out::message::note;

/// Let a running Python or Java process name its functions for profiles
#[derive(Args, Debug)]
#[command(
    after_help = help::end(
        "Python 3.14 and newer: the process runs one line by sys.remote_exec (PEP 768), which needs the permission to trace it, and \
        names each function that it calls from then on, until it exits; calls become some percent slower.\n\
        Java 17 and newer: jcmd of the JDK writes the names of what is compiled now; for what is compiled later, run it again.\n\n\
        The names are in /tmp/perf-PID.map, which `record` and `top` find. For a program that is started anew there is \
        `perfkit record --jit`.",
        &[
            ("perfkit jit 1234", "then: perfkit record --call-graph dwarf -p 1234"),
            ("perfkit doctor --process 1234", "which runtime it is, and whether it names its functions"),
        ],
        &[
            ("0", "the functions have names"),
            ("1", "they do not, for the reason printed"),
            ("2", "wrong arguments"),
        ]
    )
)]
pub(crate) struct Options {
    /// The process
    #[arg(value_name = "PID")]
    process: u32,
}

/// Attaches, and prints where the names are.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let (pid, system) = (options.process, System::new());
    let Some(runtime) = Runtime::of(pid, &system).map_err(io::Error::other)? else {
        note(format_args!("process {pid} has none of the runtimes whose functions need names from them"));
        return Ok(ExitCode::FAILURE);
    };
    let attached = runtime.attach(pid, &system).map_err(io::Error::other)?;
    let later = if attached.follows { "" } else { ", of what is compiled now" };
    writeln!(out, "{runtime}: names in {}{later}", attached.map.display())?;
    writeln!(out, "perfkit record {} -p {pid}", runtime.call_graph())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
