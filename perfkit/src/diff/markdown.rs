//! A difference as Markdown, for a comment on a change.

use std::io::{self, Write};

use perf_profile::{Change, Diff};

use super::text::{Number, Spread, by_limit, total, unit};
use super::{Compared, Options};
use crate::out::message::{count, shown};
use crate::recording::losses;
use crate::report::header;
use crate::report::sort::FileNames;

/// Prints the change of the totals, a table of the rows that changed beyond their noise, and the
/// recordings that lost something.
pub(super) fn print(
    out: &mut dyn Write,
    options: &Options,
    base: &[Compared],
    new: &[Compared],
    diff: &Diff<'_>,
) -> io::Result<()> {
    let unit = unit(base, new);
    let recordings = |side: &[Compared]| count(side.len() as u64, "recording");
    writeln!(out, "**{}** ({} and {})\n", total(unit, &diff.total), recordings(base), recordings(new))?;
    let (rows, left_out) = by_limit(options, diff);
    let (noise, changed): (Vec<&Change<'_>>, Vec<_>) = rows.into_iter().partition(|row| row.is_noise());
    if !changed.is_empty() {
        let titles: Vec<_> = options.sort.iter().map(|key| key.title).collect();
        let spread = Spread::of(base, new).title();
        writeln!(out, "| Base | New | Change | {spread} | {} |", titles.join(" | "))?;
        writeln!(out, "|--:|--:|--:|--:|{}", "---|".repeat(titles.len()))?;
    }
    let number = Number::new(unit, options.absolute);
    let names = FileNames::new(diff.rows.iter().map(|row| row.entry));
    for row in &changed {
        let numbers = [
            number.text(row.base.mean),
            number.text(row.new.mean),
            number.signed(row.change()),
            number.text(row.noise()),
        ];
        let texts = options.sort.iter().map(|key| code(&key.text(&row.entry, &names)));
        let cells: Vec<_> = numbers.iter().map(|text| text.trim().to_owned()).chain(texts).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    let others = count((noise.len() + left_out.len()) as u64, "row");
    let blank = if changed.is_empty() { "" } else { "\n" };
    writeln!(out, "{blank}{others} changed by less than {} % or within the noise.", options.percent_limit)?;
    for compared in base.iter().chain(new) {
        let profile = &compared.read.profile;
        if !losses(profile).0.is_empty() {
            writeln!(out, "\n{}: {}", code(&shown(&compared.path)), header::loss_lines(profile).join("; "))?;
        }
    }
    Ok(())
}

/// Returns a text as code in a cell of a table.
pub(super) fn code(text: &str) -> String {
    // A fence longer than any in the text, and a bar that does not end the cell.
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_their_cell() {
        assert_eq!(code("operator|"), r"`operator\|`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(code(""), "``");
    }
}
