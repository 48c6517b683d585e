//! The lines before a report: the recording, its events and its losses.

use std::io::{self, Write};

use perf_profile::read::Metadata;
use perf_profile::{Event, Losses, Profile, Unit};

use crate::out::message::{count, number, shown};
use crate::recording::{lines, losses};

/// Prints the machine, the recording and the losses as lines that begin with `#`. All losses are
/// printed.
pub(crate) fn print(out: &mut dyn Write, about: &Metadata, profile: &Profile) -> io::Result<()> {
    for line in lines(about) {
        writeln!(out, "# {line}")?;
    }
    for (id, event) in profile.event_ids() {
        let samples = profile.sample_count(id);
        writeln!(
            out,
            "# {}: {}, {}",
            shown(&event.name),
            count(samples, "sample"),
            value(event, profile.total(id))
        )?;
    }
    loss_lines(profile).iter().try_for_each(|line| writeln!(out, "# {line}"))
}

/// Returns the losses of a profile as lines without control characters, or a line that nothing was
/// lost.
pub(crate) fn loss_lines(profile: &Profile) -> Vec<String> {
    let (losses, few) = losses(profile);
    let mut lines: Vec<_> = losses.lines().iter().map(shown).collect();
    let names = match few {
        0 if profile.samples().is_empty() => None,
        0 => Some("all addresses have names".to_owned()),
        few => Some(format!("all addresses but {} have names", number(few))),
    };
    if lines.is_empty() {
        lines.push(without_losses(&losses, names));
    } else if few > 0 {
        lines.extend(names);
    }
    lines
}

/// Returns the line for a profile without losses, which claims nothing about callchains, because
/// nothing proves that a callchain is complete.
fn without_losses(losses: &Losses, names: Option<String>) -> String {
    let stacks = match (losses.complete_stacks, losses.unverified_stacks) {
        (0, 0) => None,
        (_, 0) => Some("all stacks are complete".to_owned()),
        _ => Some("no stack is known to be incomplete".to_owned()),
    };
    let clauses: Vec<_> =
        [Some("nothing was lost".to_owned()), stacks, names].into_iter().flatten().collect();
    match &clauses[..] {
        [clauses @ .., last] if !clauses.is_empty() => format!("{} and {last}", clauses.join(", ")),
        clauses => clauses.concat(),
    }
}

/// Returns a value of an event with its unit.
pub(crate) fn value(event: &Event, value: u64) -> String {
    match event.unit {
        Unit::Nanoseconds => {
            let least = if value == u64::MAX { "at least " } else { "" };
            let (seconds, rest) = (value / 1_000_000_000, value % 1_000_000_000);
            format!("{least}{seconds}.{:03} s", rest / 1_000_000)
        }
        _ => format!("{} events", number(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_without_losses_has_what_was_counted() {
        let text = |complete, unverified, has_samples: bool| {
            let mut losses = Losses::default();
            (losses.complete_stacks, losses.unverified_stacks) = (complete, unverified);
            without_losses(&losses, has_samples.then(|| "all addresses have names".to_owned()))
        };
        assert_eq!(
            text(9, 0, true),
            "nothing was lost, all stacks are complete and all addresses have names"
        );
        let unverified = "nothing was lost, no stack is known to be incomplete and all addresses have names";
        assert_eq!((text(0, 9, true), text(1, 9, true)), (unverified.to_owned(), unverified.to_owned()));
        assert_eq!(text(0, 0, true), "nothing was lost and all addresses have names");
        assert_eq!(text(0, 0, false), "nothing was lost");
    }
}
