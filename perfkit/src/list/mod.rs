//! `perfkit list`: the events of this machine by name.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use perf_events::System;

mod check;
mod events;
mod filter;

use events::{Section, sections};
use filter::Filter;

/// List the events of this machine by name
#[derive(Args, Debug)]
#[command(
    after_help = "Without a filter the tracepoints are counted, not listed. The exit status is 1 if no \
    event matches the filter."
)]
pub(crate) struct Options {
    /// Only events whose name contains this text, or matches it if it has *, ? or [..]; hw, sw, cache, pmu and
    /// tracepoint are the kinds
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
    let mut count = 0;
    for Section { title, kind, events, note, is_long } in sections(&system) {
        let is_counted = is_long && filter.is_empty();
        let matching: Vec<_> = events.iter().filter(|event| filter.matches(kind, event)).collect();
        count += matching.len();
        if let Some(note) = note.filter(|_| filter.is_empty() || filter.is_kind(kind)) {
            eprintln!("perfkit: {title}: {note}");
        }
        if matching.is_empty() {
            continue;
        }
        if !options.json {
            writeln!(out, "{title}:")?;
        }
        if is_counted && !options.json {
            writeln!(out, "  {} events; `perfkit list {kind}` lists them\n", matching.len())?;
            continue;
        }
        let width = matching.iter().map(|event| event.name.chars().count()).max().unwrap_or(0).min(48);
        for event in matching {
            let result = options.check.then(|| check::check(&event.name, &system));
            if options.json {
                writeln!(out, "{}", event.json(kind, result.as_ref()))?;
                continue;
            }
            let state = match &result {
                None => "",
                Some(Ok(())) => "ok  ",
                Some(Err(_)) => "--  ",
            };
            let reason = result.and_then(Result::err);
            let text = reason.or_else(|| event.note.clone()).unwrap_or_default();
            writeln!(out, "{}", format!("  {state}{:<width$}  {text}", event.name).trim_end())?;
        }
        if !options.json {
            writeln!(out)?;
        }
    }
    out.flush()?;
    if count == 0 {
        let filter = options.filter.as_deref().unwrap_or_default();
        eprintln!("perfkit: no event matches `{filter}`; `perfkit list` lists all");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
