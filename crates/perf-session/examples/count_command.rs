//! Counts the events of a command from its `exec` to its exit, with all its children.
//!
//! Usage: `count_command [-e EVENTS] COMMAND [ARGUMENT...]`

use std::error::Error;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use perf_session::{Counts, EventSetOptions, EventSetTarget, System, parse};

/// Runs `command`, and returns how it exited and the counts.
pub(crate) fn run(events: &str, command: &mut Command) -> Result<(ExitStatus, Counts), Box<dyn Error>> {
    let events = parse(events, &System::new())?;
    // Most users may count user space only.
    let options =
        EventSetOptions::new().groups(events).target(EventSetTarget::command()).user_only_if_refused();
    let mut set = options.open().map_err(|error| {
        // The cause, the evidence and the remedy, where they are known.
        error.explain(&System::new()).map_or(error.to_string(), |why| format!("{error}\n{why}"))
    })?;
    let status = set.spawn(command)?.wait()?;
    Ok((status, set.counts()?))
}

fn main() -> Result<(), perf_session::Report> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut events = "task-clock,page-faults,context-switches,cpu-migrations".to_owned();
    if arguments.first().is_some_and(|first| first == "-e") && arguments.len() > 2 {
        events = arguments.remove(1);
        arguments.remove(0);
    }
    let Some((program, arguments)) = arguments.split_first() else {
        return Err("usage: stat [-e EVENTS] COMMAND [ARGUMENT...]".into());
    };
    let (status, counts) = run(&events, Command::new(program).args(arguments))?;
    // Rates, and instructions per cycle if both are counted. An elapsed time would add the CPUs
    // utilized.
    let metrics = counts.metrics(Duration::ZERO);
    for (index, event) in counts.iter().enumerate() {
        match event.in_unit() {
            Some(value) => eprintln!("{value:>18} {:<8} {}", event.unit, event.name),
            None => eprintln!("{:>18} {:<8} {}", "not counted", "", event.name),
        }
        for metric in metrics.iter().filter(|metric| metric.event == index) {
            eprintln!("{:>18} {}", metric.number(), metric.unit());
        }
    }
    std::process::exit(status.code().unwrap_or(1));
}
