//! The lines before a report: the recording, its events, and what it lacks.

use std::io::{self, Write};

use perf_profile::{Event, Profile, Unit};

use crate::message::{count, shown};
use crate::recording::{About, sample_count};

/// Prints the machine, the recording and the losses as lines that begin with `#`. Nothing that is lost is left out.
pub(crate) fn print(out: &mut dyn Write, about: &About, profile: &Profile) -> io::Result<()> {
    for line in about.lines() {
        writeln!(out, "# {line}")?;
    }
    for (id, event) in profile.event_ids() {
        let samples = sample_count(profile, id);
        writeln!(
            out,
            "# {}: {}, {}",
            shown(&event.name),
            count(samples, "sample"),
            value(event, profile.total(id))
        )?;
    }
    let losses = profile.losses().lines();
    for line in &losses {
        writeln!(out, "# {}", shown(line))?;
    }
    if losses.is_empty() {
        writeln!(out, "# nothing was lost, all stacks are complete and all addresses have names")?;
    }
    Ok(())
}

/// Returns a value of an event with its unit.
pub(crate) fn value(event: &Event, value: u64) -> String {
    match event.unit {
        Unit::Nanoseconds => {
            let (seconds, rest) = (value / 1_000_000_000, value % 1_000_000_000);
            format!("{seconds}.{:03} s", rest / 1_000_000)
        }
        _ => format!("{value} events"),
    }
}
