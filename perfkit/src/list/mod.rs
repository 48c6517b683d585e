//! `perfkit list`: the events of this machine by name.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use perf_session::System;

use crate::cli::help;
use crate::out::message::{note, shown};

mod check;
mod events;
mod filter;

use check::Scope;
use events::{ListedEvent, Section, sections};
use filter::Filter;

/// List the events of this machine by name
#[derive(Args, Debug)]
#[command(
    after_help = help::end(
        "Without a filter the tracepoints are counted, not listed.",
        &[
            ("perfkit list", "the events of this machine"),
            ("perfkit list sched", "events whose names contain `sched`"),
            ("perfkit list 'syscalls:*_open*'", "events whose names match"),
            ("perfkit list hw --check", "whether each hardware event opens, and why not"),
        ],
        &[
            ("0", "success"),
            ("1", "no event matches the filter, or failure"),
            ("2", "wrong arguments"),
        ]
    )
)]
pub(crate) struct Options {
    /// Only events whose name contains this text, or matches it if it has *, ? or [..]; hw, sw, cache, pmu,
    /// tracepoint and form are the kinds
    filter: Option<String>,
    /// Try to open each event, and print the reason for each that does not open
    #[arg(long)]
    check: bool,
    /// Print a JSON object for each event
    #[arg(short, long)]
    json: bool,
}

/// Prints the events.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<ExitCode> {
    let system = System::new();
    let filter = Filter::new(options.filter.as_deref());
    let (mut count, mut unread) = (0, Vec::new());
    for section in sections(&system) {
        let matching: Vec<_> =
            section.events.iter().filter(|event| filter.matches(section.kind, event)).collect();
        count += matching.len();
        if let Some(error) = &section.error {
            let error = format!("{}: {error}", section.title);
            // The filter may name events that could not be read. Only the end of the list shows
            // whether that matters.
            if filter.is_empty() || filter.is_kind(section.kind) {
                note(error);
            } else {
                unread.push(error);
            }
        }
        if matching.is_empty() {
            continue;
        }
        if options.json {
            for event in matching {
                let result = section.try_open(event, options.check, &system);
                writeln!(out, "{}", event.json(section.kind, result.as_ref()))?;
            }
        } else {
            let is_counted = section.is_long && filter.is_empty();
            print(out, &section, &matching, is_counted, options.check, &system)?;
        }
    }
    out.flush()?;
    if count == 0 {
        let filter = options.filter.as_deref().unwrap_or_default();
        for error in unread {
            note(error);
        }
        note(format_args!("no event matches `{}`; `perfkit list` lists all", shown(filter)));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the events of a section as lines, or their number.
fn print(
    out: &mut dyn Write,
    section: &Section,
    events: &[&ListedEvent],
    is_counted: bool,
    check: bool,
    system: &System,
) -> io::Result<()> {
    match section.closed_because(system).filter(|_| !check) {
        Some(reason) => writeln!(out, "{} (do not open here: {reason}):", section.title)?,
        None => writeln!(out, "{}:", section.title)?,
    }
    if is_counted {
        return writeln!(out, "  {} events; `perfkit list {}` lists them\n", events.len(), section.kind);
    }
    let width = events.iter().map(|event| event.name.chars().count()).max().unwrap_or(0).min(48);
    for event in events {
        let result = section.try_open(event, check, system);
        let (state, text) = match result {
            None => ("", event.note.clone()),
            Some(Ok(Scope::All)) => ("ok  ", event.note.clone()),
            Some(Ok(Scope::UserOnly)) => ("ok  ", Some("user space only".to_owned())),
            Some(Err(reason)) => ("--  ", Some(reason)),
        };
        let text = text.unwrap_or_default();
        writeln!(out, "{}", format!("  {state}{:<width$}  {text}", event.name).trim_end())?;
    }
    writeln!(out)
}
