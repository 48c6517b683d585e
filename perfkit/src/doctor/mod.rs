//! `perfkit doctor`: what this machine permits, and how to permit the rest.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use perf_session::System;
use serde_json::{Value, json};

mod abilities;
mod facts;
mod process;

use crate::cli::help;
use crate::out::color::{Color, colored};
use abilities::{Ability, State};
use facts::Fact;

/// Show what you can measure here, what blocks the rest, and how to fix it
#[derive(Args, Debug)]
#[command(
    after_help = help::end(
        "Something that the machine does not have, such as a hardware PMU in most virtual machines, counts as missing, \
        not as refused.",
        &[
            ("perfkit doctor", "try each kind of measurement, and print the remedies"),
            ("perfkit doctor --json", "the same for a program"),
            ("perfkit doctor --process 1234", "whether the functions of a process have names, and which stacks fit"),
        ],
        &[
            ("0", "all that this machine has is permitted"),
            ("1", "something is refused, or failed"),
            ("2", "wrong arguments"),
        ]
    )
)]
pub(crate) struct Options {
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
    /// Show which runtime a process has, whether its functions have names, and which kind of stacks fits
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
}

/// Prints the report.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let system = System::new();
    if let Some(pid) = options.process {
        let facts = process::read(pid, &system)?;
        if options.json {
            writeln!(out, "{}", json!({"process": facts_json(facts)}))?;
        } else {
            print_facts(out, &facts)?;
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let facts = facts::read(&system);
    let abilities = abilities::try_all(&system);
    if options.json {
        let tried: Vec<_> = abilities.iter().map(Ability::json).collect();
        writeln!(out, "{}", json!({"system": facts_json(facts), "abilities": tried}))?;
    } else {
        writeln!(out, "System")?;
        print_facts(out, &facts)?;
        writeln!(out, "\nTried")?;
        print(out, &abilities, colored(&io::stdout()))?;
    }
    out.flush()?;
    let is_refused = abilities.iter().any(|ability| matches!(ability.state, State::Refused(_)));
    Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_facts(out: &mut dyn Write, facts: &[Fact]) -> io::Result<()> {
    facts.iter().try_for_each(|fact| writeln!(out, "  {:<22}{}", fact.name, fact.value))
}

fn facts_json(facts: Vec<Fact>) -> Value {
    facts.into_iter().map(|fact| (fact.name.to_owned(), Value::from(fact.value))).collect()
}

/// Prints the uses, and then each reason once, with the uses that it prevents.
fn print(out: &mut dyn Write, abilities: &[Ability], is_colored: bool) -> io::Result<()> {
    for ability in abilities {
        let color = match ability.state {
            State::Works => Color::Green,
            State::Missing(_) => Color::Yellow,
            State::Refused(_) => Color::Red,
        };
        writeln!(out, "  {:<9}{}", color.paint(ability.state.word(), is_colored), ability.title)?;
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for ability in abilities {
        let Some(reason) = ability.state.reason() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(ability.title),
            None => reasons.push((reason, vec![ability.title])),
        }
    }
    for (reason, titles) in reasons {
        writeln!(out, "\n{}", titles.join(", "))?;
        reason.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    Ok(())
}
