//! The table of a difference.

use std::io::{self, Write};

use perf_profile::{Change, Diff, Entry, Unit};

use super::{Compared, Options, markdown};
use crate::out::color::{Color, colored};
use crate::out::message::{count, shown};
use crate::recording::losses;
use crate::report::header;
use crate::report::sort::FileNames;
use crate::report::text::{columns, dots, widths};

/// Prints the recordings, the change of their totals, and the rows that are not below the limit.
pub(super) fn print(
    out: &mut dyn Write,
    options: &Options,
    base: &[Compared],
    new: &[Compared],
    diff: &Diff<'_>,
) -> io::Result<()> {
    for (name, side) in [("base", base), ("new", new)] {
        for compared in side {
            print_recording(out, name, compared)?;
        }
    }
    let unit = unit(base, new);
    writeln!(out, "# total: {}", total(unit, &diff.total))?;
    let (rows, left_out) = by_limit(options, diff);
    let spread = Spread::of(base, new);
    if let Spread::Sampling = spread {
        writeln!(
            out,
            "# Sampling is the part of the noise that is known of one recording. Runs of a program differ by more:"
        )?;
        writeln!(out, "# the noise is known of several recordings on each side of --to")?;
    }
    print_rows(out, options, diff, &rows, Number::new(unit, options.absolute), spread)?;
    if !left_out.is_empty() {
        let more = left_out.iter().filter(|row| !row.is_noise()).count();
        let (rows, limit) = (count(left_out.len() as u64, "row"), options.percent_limit);
        let spread = spread.phrase();
        writeln!(
            out,
            "#\n# {rows} changed by less than {limit} %, {more} of them by more than {spread}: --percent-limit 0 prints them"
        )?;
    }
    Ok(())
}

/// Returns the unit of the values that are compared.
pub(super) fn unit(base: &[Compared], new: &[Compared]) -> Unit {
    new.first().or(base.first()).and_then(Compared::event).map_or(Unit::Count, |event| event.unit)
}

/// Returns the totals of both sides and their change.
pub(super) fn total(unit: Unit, total: &Change<'_>) -> String {
    let text = |value| Number::new(unit, true).text(value).trim().to_owned();
    format!("{} -> {}, {}", text(total.base.mean), text(total.new.mean), relative(total))
}

/// Returns the rows that changed by at least the limit, and the others.
pub(super) fn by_limit<'d, 'p>(
    options: &Options,
    diff: &'d Diff<'p>,
) -> (Vec<&'d Change<'p>>, Vec<&'d Change<'p>>) {
    let total = diff.total;
    // For absolute values, the limit is a share of the larger total.
    let whole = if options.absolute { total.base.mean.max(total.new.mean) } else { 1.0 };
    let least = options.percent_limit / 100.0 * whole;
    diff.rows.iter().partition(|row| row.change().abs() >= least)
}

/// Prints what grew by more than the limit of the verdict.
pub(super) fn print_verdict(out: &mut dyn Write, options: &Options, grown: &[Change<'_>]) -> io::Result<()> {
    let limit = options.fail_above.unwrap_or_default();
    let names = FileNames::new(grown.iter().map(|change| change.entry));
    let text = |change: &Change<'_>| {
        if change.entry == Entry::default() {
            return "the total".to_owned();
        }
        let texts: Vec<_> = options.sort.iter().map(|key| key.text(&change.entry, &names)).collect();
        let text = texts.join(" ").trim().to_owned();
        if options.markdown { markdown::code(&text) } else { text }
    };
    let mark = if options.markdown { "" } else { "# " };
    writeln!(out, "{}", mark.trim_end())?;
    if grown.is_empty() {
        return writeln!(out, "{mark}nothing grew by more than {limit} % beyond its noise");
    }
    let grown: Vec<_> = grown.iter().map(text).collect();
    writeln!(out, "{mark}grew by more than {limit} % beyond the noise: {}", grown.join("; "))
}

fn print_recording(out: &mut dyn Write, side: &str, compared: &Compared) -> io::Result<()> {
    let profile = &compared.read.profile;
    if let Some(event) = compared.event() {
        let samples = count(profile.sample_count(compared.event), "sample");
        let value = header::value(event, profile.total(compared.event));
        let path = shown(&compared.path);
        writeln!(out, "# {side}: {path}: {}: {samples}, {value}", shown(&event.name))?;
    }
    if !losses(profile).0.is_empty() {
        header::loss_lines(profile).iter().try_for_each(|line| writeln!(out, "#   {line}"))?;
    }
    Ok(())
}

fn print_rows(
    out: &mut dyn Write,
    options: &Options,
    diff: &Diff<'_>,
    rows: &[&Change<'_>],
    number: Number,
    spread: Spread,
) -> io::Result<()> {
    let is_colored = colored(&io::stdout());
    let names = FileNames::new(diff.rows.iter().map(|row| row.entry));
    let texts = |row: &Change<'_>| options.sort.iter().map(|key| key.text(&row.entry, &names)).collect();
    let texts: Vec<Vec<String>> = rows.iter().map(|row| texts(row)).collect();
    let widths = widths(&options.sort, &texts);
    let titles: Vec<_> = options.sort.iter().map(|key| key.title.to_owned()).collect();
    let width = number.width();
    let heads = |texts: [&str; 4]| texts.map(|text| format!("{text:>width$}")).join(" ");
    let line = ".".repeat(width - 2);
    writeln!(out, "#\n#{}{}", heads(["Base", "New", "Change", spread.title()]), columns(&titles, &widths))?;
    writeln!(out, "#{}{}", heads([&line; 4]), dots(&options.sort, &widths))?;
    for (row, texts) in rows.iter().zip(&texts) {
        let mark = if row.is_noise() { '~' } else { ' ' };
        let change = number.signed(row.change());
        let color = match row.change() {
            _ if row.is_noise() => None,
            change if change > 0.0 => Some(Color::Red),
            _ => Some(Color::Green),
        };
        write!(out, "{mark}{} {} ", number.text(row.base.mean), number.text(row.new.mean))?;
        match color {
            Some(color) => write!(out, "{}", color.paint(change, is_colored))?,
            None => write!(out, "{change}")?,
        }
        writeln!(out, " {}{}", number.text(row.noise()), columns(texts, &widths))?;
    }
    Ok(())
}

/// Returns the change of a total in percent, with its noise if that is known.
fn relative(total: &Change<'_>) -> String {
    if total.base.mean <= 0.0 {
        return "without a base".to_owned();
    }
    let percent = |value: f64| 100.0 * value / total.base.mean;
    let noise = if total.noise() > 0.0 {
        format!(" with a noise of {:.1} %", percent(total.noise()))
    } else {
        String::new()
    };
    format!("{:+.1} %{noise}", percent(total.change()))
}

/// The content of the last column of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spread {
    /// Noise between the recordings of a side.
    Noise,
    /// Sampling error of a single recording, if a side has no other.
    Sampling,
}

impl Spread {
    pub(super) fn of(base: &[Compared], new: &[Compared]) -> Self {
        if base.len().min(new.len()) > 1 { Self::Noise } else { Self::Sampling }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Noise => "Noise",
            Self::Sampling => "Sampling",
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            Self::Noise => "their noise",
            Self::Sampling => "sampling explains",
        }
    }
}

/// How quantities are printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Share,
    Milliseconds,
    Count,
}

impl Number {
    pub(super) fn new(unit: Unit, is_absolute: bool) -> Self {
        match unit {
            _ if !is_absolute => Self::Share,
            Unit::Nanoseconds => Self::Milliseconds,
            _ => Self::Count,
        }
    }

    /// Returns the number of columns: for shares, few, so that a terminal of 80 columns has space
    /// for names.
    fn width(self) -> usize {
        match self {
            Self::Share => "-100.00%".len(),
            Self::Milliseconds | Self::Count => 11,
        }
    }

    pub(super) fn text(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:7.2}%", 100.0 * value),
            Self::Milliseconds => format!("{:8.1} ms", value / 1e6),
            Self::Count => format!("{value:11.0}"),
        }
    }

    pub(super) fn signed(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:+7.2}%", 100.0 * value),
            Self::Milliseconds => format!("{:+8.1} ms", value / 1e6),
            Self::Count => format!("{value:+11.0}"),
        }
    }
}
