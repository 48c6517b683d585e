//! The table of counts as text.

use std::fmt;

use super::row::{Row, Value};

/// Rows with aligned columns, one a line.
pub(crate) struct Table<'a>(pub(crate) &'a [Row]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            |cell: fn(&Row) -> String| self.0.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
        let (values, units, events) =
            (width(value), width(|row| row.unit.clone()), width(|row| row.event.clone()));
        for row in self.0 {
            write!(f, "  {:>values$}  ", value(row))?;
            if units != 0 {
                write!(f, "{:<units$}  ", row.unit)?;
            }
            let notes = notes(row);
            if notes.is_empty() {
                writeln!(f, "{}", row.event)?;
            } else {
                writeln!(f, "{:<events$}  {notes}", row.event)?;
            }
        }
        Ok(())
    }
}

/// Returns the value with separated thousands, `~` if it is an estimate.
fn value(row: &Row) -> String {
    match row.value {
        Value::NotCounted => "<not counted>".to_owned(),
        Value::NotSupported => "<not supported>".to_owned(),
        Value::Counted { value, is_estimate } => {
            let decimals = if row.unit.is_empty() { 0 } else { 2 };
            let sign = if is_estimate { "~" } else { "" };
            format!("{sign}{}", separated(&format!("{value:.decimals$}")))
        }
    }
}

/// Returns the spread and the share of the time that the event ran.
fn notes(row: &Row) -> String {
    let mut notes = Vec::new();
    if let Some(percent) = row.spread {
        notes.push(format!("+- {percent:.2} %"));
    }
    if matches!(row.value, Value::Counted { is_estimate: true, .. }) {
        notes.push(format!("ran {:.1} %", row.percent_running));
    }
    notes.join("  ")
}

/// Separates the thousands of a decimal number.
fn separated(number: &str) -> String {
    let (whole, fraction) =
        number.split_once('.').map_or((number, None), |(whole, rest)| (whole, Some(rest)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::row::Reading;

    #[test]
    fn columns_are_aligned_and_thousands_separated() {
        let counted = |value, is_estimate| Reading {
            value: Value::Counted { value, is_estimate },
            enabled: 200,
            running: if is_estimate { 100 } else { 200 },
        };
        let rows = [
            Row::new("task-clock", "msec", &[counted(1234.5, false)]),
            Row::new("page-faults", "", &[counted(12_345.0, false), counted(12_345.0, false)]),
            Row::new("cycles:u", "", &[counted(2_000_000.0, true)]),
            Row::new("instructions", "", &[]),
        ];
        let lines = [
            "         1,234.50  msec  task-clock",
            "           12,345        page-faults   +- 0.00 %",
            "       ~2,000,000        cycles:u      ran 50.0 %",
            "  <not supported>        instructions",
            "",
        ];
        assert_eq!(Table(&rows).to_string(), lines.join("\n"));
    }

    #[test]
    fn thousands_of_negative_and_short_numbers_are_separated() {
        let numbers = ["0", "999", "1000", "-1000.25", "-100"].map(separated);
        assert_eq!(numbers, ["0", "999", "1,000", "-1,000.25", "-100"]);
    }
}
