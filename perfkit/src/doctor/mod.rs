//! `perfkit doctor`: what this machine permits, and the remedy for what it does not.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use perf_events::System;
use serde_json::json;

mod abilities;
mod facts;

use abilities::{Ability, State};

/// Report what this machine and user may measure, why not more, and the remedy
#[derive(Args, Debug)]
#[command(
    after_help = "The exit status is 0 if everything is permitted that this machine has, and 1 if something \
    is refused. What the machine does not have, such as a hardware PMU in most virtual machines, counts as missing, not as refused."
)]
pub(crate) struct Options {
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

/// Prints the report.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let system = System::new();
    let facts = facts::read(&system);
    let abilities = abilities::try_all(&system);
    if options.json {
        let facts: serde_json::Map<_, _> =
            facts.into_iter().map(|fact| (fact.name.to_owned(), json!(fact.value))).collect();
        let tried: Vec<_> = abilities.iter().map(Ability::json).collect();
        writeln!(out, "{}", json!({"system": facts, "abilities": tried}))?;
    } else {
        writeln!(out, "System")?;
        for fact in &facts {
            writeln!(out, "  {:<22}{}", fact.name, fact.value)?;
        }
        writeln!(out, "\nTried")?;
        abilities.iter().try_for_each(|ability| print(out, ability))?;
    }
    out.flush()?;
    let is_refused = abilities.iter().any(|ability| matches!(ability.state, State::Refused(_)));
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(out: &mut dyn Write, ability: &Ability) -> io::Result<()> {
    let (word, reason) = match &ability.state {
        State::Works => ("ok", None),
        State::Missing(reason) => ("missing", Some(reason)),
        State::Refused(reason) => ("refused", Some(reason)),
    };
    writeln!(out, "  {word:<9}{}", ability.title)?;
    let lines = reason.map_or("", String::as_str).lines();
    lines.into_iter().try_for_each(|line| writeln!(out, "             {line}"))
}
