//! The table of locks, with the stacks on demand.

use std::io::{self, Write};

use perf_profile::read::ReadLocks;
use perf_profile::{Durations, LockId, Profile, StackId};
use perf_session::text_width;

use super::place;
use super::row::{Row, Subject};
use crate::out::message::{count, milliseconds, shown};

/// Titles of the columns. Numbers are on the right; the last two columns are texts.
const TITLES: [&str; 8] = ["Waits", "Total", "Avg", "p99", "Max", "Open", "Lock", "Function"];

/// Stacks of a lock that are printed, at most.
const STACKS: usize = 3;

/// Frames of a stack that are printed, at most.
const FRAMES: usize = 12;

/// Prints the locks.
pub(super) fn print(out: &mut dyn Write, read: &ReadLocks, rows: &[Row], has_stacks: bool) -> io::Result<()> {
    writeln!(out, "# {}; times in ms", count(rows.len() as u64, "row"))?;
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let mut widths = TITLES.map(str::len);
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(text_width(cell));
        }
    }
    writeln!(out, "#{}", line(&TITLES.map(str::to_owned), &widths))?;
    for (row, cells) in rows.iter().zip(&cells) {
        writeln!(out, " {}", line(cells, &widths))?;
        if has_stacks {
            print_stacks(out, &read.profile, "waits", &row.waiters)?;
            print_stacks(out, &read.profile, "woken by", &row.wakers)?;
            let owners: Vec<_> = row
                .owners
                .iter()
                .take(STACKS)
                .map(|(tid, count)| format!("thread {tid} ({count} times)"))
                .collect();
            if !owners.is_empty() {
                writeln!(out, "      owned by {}", owners.join(", "))?;
            }
        }
    }
    Ok(())
}

fn print_stacks(
    out: &mut dyn Write,
    profile: &Profile,
    title: &str,
    stacks: &[(Option<StackId>, Durations)],
) -> io::Result<()> {
    for (stack, waits) in stacks.iter().take(STACKS) {
        let functions = place::functions(profile, *stack);
        writeln!(out, "      {title} {}, {} ms:", count(waits.count(), "time"), milliseconds(waits.total()))?;
        for (name, is_kernel) in functions.iter().take(FRAMES) {
            writeln!(out, "        {}{}", if *is_kernel { "[k] " } else { "" }, shown(name))?;
        }
        if functions.len() > FRAMES {
            writeln!(out, "        ... {} more", functions.len() - FRAMES)?;
        }
    }
    if stacks.len() > STACKS {
        writeln!(out, "      {title}: {} more", count((stacks.len() - STACKS) as u64, "stack"))?;
    }
    Ok(())
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an average has no sign")]
fn cells(row: &Row) -> [String; 8] {
    let waits = &row.waits;
    let text = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), milliseconds);
    let known = |durations: &Durations, time: u64| text((durations.count() > 0).then_some(time));
    let lock = match &row.subject {
        Subject::Lock(LockId::User { pid, address }) => format!("futex {address:#x} of {pid}"),
        Subject::Lock(LockId::Kernel { address, flags }) => format!("{flags} {address:#x}"),
        Subject::Function(flags, _) => flags.to_string(),
        Subject::Lock(_) => String::new(),
    };
    [
        waits.count().to_string(),
        milliseconds(waits.total()),
        text(waits.mean().map(|mean| mean.round() as u64)),
        text(waits.quantile(0.99)),
        known(waits, waits.max()),
        known(&row.unfinished, row.unfinished.total()),
        lock,
        row.place.as_deref().map(shown).unwrap_or_default(),
    ]
}

fn line(row: &[String; 8], widths: &[usize; 8]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let blanks = " ".repeat(width.saturating_sub(text_width(cell)));
        match index {
            0 => text.extend([&*blanks, cell]),
            1..6 => text.extend([" ", &*blanks, cell]),
            _ => text.extend(["  ", cell, &*blanks]),
        }
    }
    text.truncate(text.trim_end().len());
    text
}
