//! Tables as text: refreshed on a terminal, one after the other in a pipe.

use std::io::{self, IsTerminal, Write};

use perf_profile::{EventId, Order, Table};
use rustix::termios::tcgetwinsize;
use serde_json::{Value, json};

use super::Options;
use super::screen::{Moment, Subject};
use crate::out::color::colored;
use crate::out::destination;
use crate::out::message;
use crate::report::json::{VERSION, cost, entry, event_object, losses};
use crate::report::sort::columns;
use crate::report::table::Style;

/// Rows of a table in a pipe.
const ROWS: usize = 20;

/// Lines of a table before its rows: the numbers, the titles and the line below them.
const HEAD: usize = 4;

/// Width and height of a terminal of unknown size.
const SIZE: (usize, usize) = (80, 24);

/// The printer of tables.
pub(super) struct Plain<'o> {
    options: &'o Options,
    out: Box<dyn Write>,
    subject: Subject,
    is_terminal: bool,
    is_colored: bool,
}

impl<'o> Plain<'o> {
    pub(super) fn new(options: &'o Options, subject: Subject) -> io::Result<Self> {
        let stdout = io::stdout();
        let (is_terminal, is_colored) = (stdout.is_terminal() && !options.json, colored(&stdout));
        Ok(Self { options, out: destination::open(None, false, false)?, subject, is_terminal, is_colored })
    }

    /// Prints a table.
    pub(super) fn print(&mut self, moment: &Moment) -> io::Result<()> {
        let text = if self.options.json {
            message::json(&self.json(moment)) + "\n"
        } else if self.is_terminal {
            let (width, height) = size();
            let text = self.text(moment, self.options.entries.unwrap_or(height.saturating_sub(HEAD + 1)))?;
            screen(&text, width, height)
        } else {
            self.text(moment, self.options.entries.unwrap_or(ROWS))? + "\n"
        };
        self.out.write_all(text.as_bytes())
    }

    /// Returns the order of rows: by the value including callees, if callers are sampled.
    fn order(&self, moment: &Moment) -> Order {
        if moment.has_callers() && !self.options.no_children { Order::ByTotal } else { Order::BySelf }
    }

    fn table<'m>(&self, moment: &'m Moment, event: EventId) -> Table<'m> {
        moment.table(&columns(&self.options.sort), event, self.order(moment))
    }

    fn text(&self, moment: &Moment, most: usize) -> io::Result<String> {
        let mut text = format!("# perfkit top: {}\n# {}\n", moment.text(), self.subject.text()).into_bytes();
        let events = moment.events();
        let order = self.order(moment);
        let style = Style {
            keys: &self.options.sort,
            events: &events,
            order,
            has_total: order == Order::ByTotal,
            has_counts: self.options.show_nr_samples,
            limit: 0.0,
            most,
            is_colored: self.is_colored,
        };
        match events.first() {
            Some(&(first, ..)) => drop(style.print(&mut text, &self.table(moment, first))?),
            None => writeln!(text, "# no samples")?,
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns a table as `docs/top-json.md` describes it.
    fn json(&self, moment: &Moment) -> Value {
        let (profile, numbers) = (&moment.profile, moment.numbers);
        let first = moment.events().first().map(|&(first, ..)| first);
        let table = first.map(|first| self.table(moment, first));
        let rows =
            table.iter().flat_map(|table| &table.rows).take(self.options.entries.unwrap_or(usize::MAX));
        let rows = rows.map(|row| {
            let costs: Vec<_> = profile.event_ids().map(|(id, _)| cost(row.cost(id))).collect();
            entry(&row.entry, [("events", costs.into())])
        });
        json!({
            "version": VERSION,
            "seconds": numbers.seconds,
            "samples": numbers.samples,
            "kernel_samples": numbers.kernel_samples,
            "lost": numbers.lost.total(),
            "lost_in_all": numbers.lost_in_all.total(),
            "skipped": numbers.skipped,
            "waiting": moment.waiting,
            "left_out": moment.left_out,
            "events": profile.event_ids().map(|(id, event)| event_object(profile, id, event)).collect::<Vec<_>>(),
            "sort": self.options.sort.iter().map(|key| key.name).collect::<Vec<_>>(),
            "rows": rows.collect::<Vec<_>>(),
            "losses": losses(profile.losses()),
        })
    }
}

fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => SIZE,
    }
}

/// Returns a text that overwrites the screen of a terminal from its first line on.
fn screen(text: &str, width: usize, height: usize) -> String {
    let lines = text.lines().take(height.saturating_sub(1));
    let lines: Vec<_> = lines.map(|line| clipped(line, width) + "\u{1b}[K\n").collect();
    format!("\u{1b}[H{}\u{1b}[J", lines.concat())
}

/// Returns the part of a line that fits a width. Escape codes of colors take no space, and are
/// kept.
fn clipped(line: &str, width: usize) -> String {
    let (mut used, mut is_escape) = (0, false);
    line.chars()
        .filter(|&character| {
            is_escape |= character == '\u{1b}';
            if is_escape {
                is_escape = character != 'm';
                return true;
            }
            used += 1;
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_as_wide_as_the_terminal_at_most() {
        assert_eq!(clipped("abcdef", 3), "abc");
        assert_eq!(clipped("\u{1b}[31mab\u{1b}[0mcdef", 3), "\u{1b}[31mab\u{1b}[0mc");
        assert_eq!(clipped("a\u{1b}[31mbc\u{1b}[0m", 1), "a\u{1b}[31m\u{1b}[0m");
    }

    #[test]
    fn screen_has_one_line_less_than_the_terminal() {
        assert_eq!(screen("a\nb\nc\n", 80, 3), "\u{1b}[Ha\u{1b}[K\nb\u{1b}[K\n\u{1b}[J");
    }
}
