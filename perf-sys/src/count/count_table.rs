use core::borrow::Borrow;
use core::fmt;

use super::Count;
use super::count_row::{Columns, write_row};

/// An aligned table of counts, one a line, as [`Count`] prints it.
///
/// The counts may be those of separate events and of several groups, with and without times, ids
/// and losses. They are read from the iterator twice, first for the widths of the columns, then for
/// the lines.
///
/// ```
/// # let (cycles, faults) = (perf_abi::Hardware::CPU_CYCLES, perf_abi::Software::PAGE_FAULTS);
/// # use perf_abi::Attr;
/// use perf_sys::{Count, CountTable, Label};
///
/// # let count = |label, value, times: Option<(u64, u64)>| Count {
/// #     label, value, time_enabled: times.map(|times| times.0),
/// #     time_running: times.map(|times| times.1), id: None, lost: None,
/// # };
/// # let cycles = count(Label::of(&Attr::hardware(cycles)), 1_000, Some((80, 40)));
/// # let faults = count(Label::of(&Attr::software(faults)), 256, None);
/// # let switches = count(Label::from("sched:sched_switch"), 7, Some((80, 80)));
/// let counts = [cycles, faults, switches]; // each by Event::read
/// let lines = [
///     "~2000  CPU_CYCLES          ran  50.0 %",
///     "  256  PAGE_FAULTS",
///     "    7  sched:sched_switch  ran 100.0 %",
/// ];
/// assert_eq!(CountTable::new(&counts).to_string(), lines.join("\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CountTable<I>(I);

impl<I> CountTable<I>
where
    I: IntoIterator<Item: Borrow<Count>> + Clone,
{
    /// Returns the table of `counts`, which is a reference to an array, slice or `Vec`, or an
    /// iterator that can be cloned.
    pub const fn new(counts: I) -> Self {
        Self(counts)
    }
}

impl<I> fmt::Display for CountTable<I>
where
    I: IntoIterator<Item: Borrow<Count>> + Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = || self.0.clone().into_iter();
        let columns = counts().fold(Columns::default(), |columns, count| columns.widened(count.borrow()));
        for (line, count) in counts().enumerate() {
            if line != 0 {
                writeln!(f)?;
            }
            write_row(f, count.borrow(), &columns)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Hardware};

    use super::*;
    use crate::count::Label;

    fn count(label: impl Into<Label>, value: u64) -> Count {
        let label = label.into();
        Count { label, value, time_enabled: None, time_running: None, id: None, lost: None }
    }

    fn table(counts: &[Count]) -> String {
        CountTable::new(counts).to_string()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let times = (Some(80), Some(40));
        let cycles = Count {
            time_enabled: times.0,
            time_running: times.1,
            id: Some(9),
            lost: Some(0),
            ..count(Label::of(&Attr::hardware(Hardware::CPU_CYCLES)), 1_000)
        };
        let label = Label::of(&Attr::hardware(Hardware::INSTRUCTIONS));
        let instructions = Count { label, value: 7, time_running: Some(80), id: Some(10), ..cycles.clone() };
        assert_eq!(
            table(&[cycles, instructions]),
            "~2000  CPU_CYCLES    ran  50.0 %  id  9  lost 0\n    7  INSTRUCTIONS  ran 100.0 %  id 10  lost 0"
        );
    }

    #[test]
    fn width_of_a_name_is_in_characters() {
        let lost = Some(0);
        let counts = [
            Count { lost, ..count("µops:all", 10) },
            Count { lost, ..count(Label::of(&Attr::tracepoint(0x1a3)), 7) },
        ];
        assert_eq!(table(&counts), "10  µops:all          lost 0\n 7  TRACEPOINT:0x1a3  lost 0");
    }

    #[test]
    fn absent_cells_are_blank_unless_they_end_the_line() {
        let times = |count| Count { time_enabled: Some(4), time_running: Some(4), ..count };
        let counts = [
            Count { id: Some(12), lost: Some(345), ..times(count("all", 1)) },
            Count { id: Some(7), ..count("id", 2) },
            Count { lost: Some(8), ..count("lost", 3) },
            times(count("times", 4)),
            Count { lost: Some(9), ..times(count("both", 5)) },
            count("none", 6),
        ];
        let lines = [
            "1  all    ran 100.0 %  id 12  lost 345",
            "2  id                  id  7",
            "3  lost                       lost   8",
            "4  times  ran 100.0 %",
            "5  both   ran 100.0 %         lost   9",
            "6  none",
        ];
        assert_eq!(table(&counts), lines.join("\n"));
    }

    #[test]
    fn column_that_no_count_has_takes_no_width() {
        let lost = |label, lost| Count { lost: Some(lost), ..count(label, 1) };
        assert_eq!(table(&[lost("a", 1), lost("bc", 10)]), "1  a   lost  1\n1  bc  lost 10");
    }

    #[test]
    fn any_iterator_of_counts_has_a_table() {
        let counts = [count("a", 1), count("b", 22)];
        let expected = " 1  a\n22  b";
        assert_eq!(CountTable::new(&counts.to_vec()).to_string(), expected);
        assert_eq!(CountTable::new(counts.iter().filter(|count| count.value > 0)).to_string(), expected);
        assert_eq!(CountTable::new(counts.into_iter()).to_string(), expected);
        assert_eq!(CountTable::new([] as [Count; 0]).to_string(), "");
    }
}
