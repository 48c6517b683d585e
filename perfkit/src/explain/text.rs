//! The page as text.

use std::io::{self, Write};

use perf_profile::Profile;
use perf_profile::read::Metadata;

use super::facts::Facts;
use crate::out::message::{count, file_name, shown};
use crate::recording::lines;
use crate::report::header::value;

/// Longest name in characters. Names of templates can have thousands.
const NAME: usize = 120;
/// Longest sentence in characters.
const SENTENCE: usize = 300;

/// Prints the page.
pub(super) fn print(
    out: &mut dyn Write,
    about: &Metadata,
    profile: &Profile,
    facts: &Facts<'_>,
) -> io::Result<()> {
    for line in lines(about).iter().take(8) {
        writeln!(out, "{}", cut(line))?;
    }
    if let Some(event) = profile.event(facts.event) {
        let samples = count(profile.sample_count(facts.event), "sample");
        let total = value(event, profile.total(facts.event));
        let busy = facts.busy_cpus.map_or_else(String::new, |cpus| format!(", {cpus:.1} CPUs busy"));
        writeln!(out, "\n{}: {samples}, {total}{busy}", shown(&event.name))?;
    }
    if !facts.functions.is_empty() {
        writeln!(out, "\nhottest functions, without their callees:")?;
    }
    for row in &facts.functions {
        let entry = &row.entry;
        let percent = facts.shares.of(row.cost(facts.event).self_value);
        let object = file_name(entry.object.unwrap_or(""));
        writeln!(out, "{percent:6.1} %  {}  ({})", name(entry.function), cut(&shown(object)))?;
    }
    if facts.threads.len() > 1 {
        writeln!(out, "\nthreads, by name:")?;
        for row in &facts.threads {
            let percent = facts.shares.of(row.cost(facts.event).self_value);
            writeln!(out, "{percent:6.1} %  {}", name(row.entry.comm))?;
        }
    }
    if !facts.path.is_empty() {
        writeln!(out, "\nhottest path, with callees:")?;
    }
    for node in &facts.path {
        let percent = facts.shares.of(node.cost.total_value);
        writeln!(out, "{percent:6.1} %  {}{}", " ".repeat(node.depth), name(node.entry.function))?;
    }
    writeln!(out, "\nwhat is missing or unreliable:")?;
    for line in facts.unreliable.iter().take(8) {
        writeln!(out, "- {}", cut_at(line, SENTENCE))?;
    }
    if let Some(more) = facts.unreliable.len().checked_sub(8).filter(|more| *more > 0) {
        writeln!(out, "- {more} more: perfkit report has all")?;
    }
    writeln!(out, "\nnext:")?;
    for (command, reason) in &facts.next {
        writeln!(out, "- {}  # {reason}", cut(&shown(command)))?;
    }
    Ok(())
}

fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "[unknown]".to_owned(), |name| cut(&shown(name)))
}

fn cut(text: &str) -> String {
    cut_at(text, NAME)
}

/// Returns the first characters of a text.
fn cut_at(text: &str, len: usize) -> String {
    match text.char_indices().nth(len) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
