//! Counts as text in aligned columns.

use std::fmt;

/// A table of counts, one a line: value, unit, name and remarks, without a line break at the end.
///
/// [`Counts`](crate::Counts) prints itself by it. A program that has its own values, such as means of several runs,
/// makes the rows.
#[derive(Clone, Debug, Default)]
pub struct CountTable {
    rows: Vec<CountRow>,
}

/// A line of a [`CountTable`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountRow {
    /// The value as text: see [`CountRow::counted`].
    pub value: String,
    /// The unit of the value; empty for a number of events.
    pub unit: String,
    /// The name of the event.
    pub name: String,
    /// Remarks on the count, such as the share of the time that the event ran; empty for nothing.
    pub remarks: String,
}

impl CountRow {
    /// Returns the text of a value: `~` before an estimate, and the digits of the whole number in groups of three.
    pub fn counted(number: &str, is_estimate: bool) -> String {
        let (whole, fraction) = number.find('.').map_or((number, ""), |point| number.split_at(point));
        let mut text = String::from(if is_estimate { "~" } else { "" });
        for (index, digit) in whole.char_indices() {
            if index != 0 && (whole.len() - index) % 3 == 0 && !text.ends_with('-') {
                text.push(',');
            }
            text.push(digit);
        }
        text + fraction
    }

    /// Returns the remark that an event ran for a part of the time, in percent.
    pub fn ran(percent: f64) -> String {
        format!("ran {percent:.1} %")
    }
}

impl FromIterator<CountRow> for CountTable {
    fn from_iter<T: IntoIterator<Item = CountRow>>(rows: T) -> Self {
        Self { rows: rows.into_iter().collect() }
    }
}

impl fmt::Display for CountTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |cell: fn(&CountRow) -> &str| {
            self.rows.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0)
        };
        let (values, units, names) =
            (width(|row| &row.value), width(|row| &row.unit), width(|row| &row.name));
        for (index, CountRow { value, unit, name, remarks }) in self.rows.iter().enumerate() {
            if index != 0 {
                writeln!(f)?;
            }
            write!(f, "{value:>values$}  ")?;
            if units != 0 {
                write!(f, "{unit:<units$}  ")?;
            }
            if remarks.is_empty() {
                f.write_str(name)?;
            } else {
                write!(f, "{name:<names$}  {remarks}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_the_whole_number_are_in_groups_of_three() {
        for (number, text) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("12345678", "12,345,678"),
            ("-1000.2555", "-1,000.2555"),
            ("-100", "-100"),
        ] {
            assert_eq!(CountRow::counted(number, false), text);
        }
        assert_eq!(CountRow::counted("1000", true), "~1,000");
    }

    #[test]
    fn columns_are_aligned_and_names_are_padded_before_remarks_only() {
        let row = |value: &str, unit: &str, name: &str, remarks: &str| CountRow {
            value: value.to_owned(),
            unit: unit.to_owned(),
            name: name.to_owned(),
            remarks: remarks.to_owned(),
        };
        let rows = [row("1,234.50", "msec", "task-clock", ""), row("~20", "", "cycles", "ran 50.0 %")];
        let lines = ["1,234.50  msec  task-clock", "     ~20        cycles      ran 50.0 %"];
        assert_eq!(CountTable::from_iter(rows.clone()).to_string(), lines.join("\n"));
        let [_, cycles] = rows;
        assert_eq!(CountTable::from_iter([cycles]).to_string(), "~20  cycles  ran 50.0 %");
    }
}
