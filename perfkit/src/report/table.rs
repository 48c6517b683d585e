//! The table of a report: a line for each row, with the shares of each event.

use std::io::{self, Write};

use perf_profile::{Cost, EventId, Order, Row, Table};
use perf_session::{Columns, text_width};

use super::sort::{FileNames, SortKey};
use super::text::{columns, dots, fitting, widths};
use super::{Percent, Shares};
use crate::out::message::shown;

/// How the table is printed.
pub(crate) struct Style<'a> {
    pub(crate) keys: &'a [SortKey],
    /// The events with their columns, from left to right.
    pub(crate) events: &'a [(EventId, &'a str, Shares)],
    pub(crate) order: Order,
    pub(crate) has_total: bool,
    pub(crate) has_counts: bool,
    pub(crate) limit: f64,
    /// Maximum number of printed rows.
    pub(crate) most: usize,
    pub(crate) is_colored: bool,
}

/// Width of a share, as in the perf tool: `   12.34%`.
const SHARE: usize = 10;
/// Width of a number of samples.
const COUNT: usize = 10;

impl Style<'_> {
    /// Prints the first rows whose share of an event is not below the limit. Returns the number of
    /// rows that are left out.
    pub(crate) fn print(&self, out: &mut dyn Write, table: &Table<'_>) -> io::Result<u64> {
        let rows: Vec<_> = table.rows.iter().filter(|row| self.is_shown(row)).take(self.most).collect();
        let names = FileNames::new(table.rows.iter().map(|row| row.entry));
        let texts = |row: &Row<'_>| self.keys.iter().map(|key| key.text(&row.entry, &names)).collect();
        let texts: Vec<Vec<String>> = rows.iter().map(|row| texts(row)).collect();
        let widths = widths(self.keys, &texts);
        self.print_head(out, &widths)?;
        for (row, texts) in rows.iter().zip(&texts) {
            for (event, name, shares) in self.events {
                out.write_all(self.blanks(name).as_bytes())?;
                self.print_shares(out, row.cost(*event), *shares)?;
            }
            writeln!(out, "{}", columns(texts, &widths))?;
        }
        Ok((table.rows.len() - rows.len()) as u64)
    }

    fn is_shown(&self, row: &Row<'_>) -> bool {
        self.events.iter().any(|(event, _, shares)| {
            let cost = row.cost(*event);
            let value = if self.order == Order::BySelf { cost.self_value } else { cost.total_value };
            shares.of(value) >= self.limit && (value > 0 || self.limit <= 0.0)
        })
    }

    /// Prints the names of several events over their columns, then the titles of all columns and a
    /// line below.
    fn print_head(&self, out: &mut dyn Write, widths: &Columns) -> io::Result<()> {
        let titles = self.titles();
        let groups = self.events.iter().map(|(_, name, _)| self.blanks(name) + &titles);
        let shares = commented(&groups.collect::<String>());
        if self.events.len() > 1 {
            let names = self.events.iter().map(|(_, name, _)| {
                let name = ending(&shown(name));
                let width = (text_width(&name) + 2).max(titles.len());
                " ".repeat(width - text_width(&name)) + &name
            });
            writeln!(out, "{}", commented(&names.collect::<String>()))?;
        }
        let keys: Vec<_> = self.keys.iter().map(|key| key.title.to_owned()).collect();
        writeln!(out, "{shares}{}", columns(&keys, widths))?;
        let below = shares.chars().map(|character| if character.is_alphabetic() { '.' } else { character });
        writeln!(out, "{}{}", below.collect::<String>(), dots(self.keys, widths))
    }

    /// Returns the titles of an event's columns.
    fn titles(&self) -> String {
        let total = if self.has_total { format!("{:>SHARE$}", "Children") } else { String::new() };
        let own = if self.has_total { "Self" } else { "Overhead" };
        let count = if self.has_counts { format!("{:>COUNT$}", "Samples") } else { String::new() };
        format!("{total}{own:>SHARE$}{count}")
    }

    /// Returns the blanks before the columns of an event, whose name may be wider than the columns
    /// if there are several events.
    fn blanks(&self, name: &str) -> String {
        let width = if self.events.len() > 1 { text_width(&ending(&shown(name))) + 2 } else { 0 };
        " ".repeat(width.saturating_sub(self.titles().len()))
    }

    fn print_shares(&self, out: &mut dyn Write, cost: Cost, shares: Shares) -> io::Result<()> {
        if self.has_total {
            write!(out, "{}", Percent::new(shares.of(cost.total_value), self.is_colored))?;
        }
        write!(out, "{}", Percent::new(shares.of(cost.self_value), self.is_colored))?;
        if self.has_counts {
            let count = if self.order == Order::BySelf { cost.self_count } else { cost.total_count };
            write!(out, "{count:>COUNT$}")?;
        }
        Ok(())
    }
}

/// Returns a line as a comment: `#` replaces its first blank.
fn commented(line: &str) -> String {
    format!("#{}", line.strip_prefix(' ').unwrap_or(line))
}

/// Returns the last characters of the name of an event, as wide as three columns.
fn ending(name: &str) -> String {
    let kept = fitting(name.chars().rev(), 3 * SHARE);
    name.chars().skip(name.chars().count() - kept).collect()
}
