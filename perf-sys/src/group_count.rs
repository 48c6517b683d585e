use core::fmt;
use core::iter::{FusedIterator, once};

use perf_decode::ReadValues;

use crate::count_row::{Columns, write_row};
use crate::{Count, Event, Label};

/// What the events of a [`Group`](crate::Group) have counted, all read at the same moment.
///
/// Printing it gives a table with a line for each event, as [`Count`] prints it.
#[derive(Clone, Copy, Debug)]
pub struct GroupCount<'g> {
    now: ReadValues<'g>,
    /// What was there already when the measuring began.
    before: Option<ReadValues<'g>>,
    leader: &'g Event,
    members: &'g [Event],
}

impl<'g> GroupCount<'g> {
    pub(crate) const fn new(
        now: ReadValues<'g>,
        before: Option<ReadValues<'g>>,
        leader: &'g Event,
        members: &'g [Event],
    ) -> Self {
        Self { now, before, leader, members }
    }

    /// The counts, leader first, then the members in the order of their opening. All have the same
    /// times.
    pub fn iter(&self) -> impl FusedIterator<Item = Count> + use<'g> {
        let Self { now, before, leader, members } = *self;
        let mut earlier = before.map(|before| (before, before.iter()));
        let events = once(leader).chain(members).zip(now.iter());
        let counts = events.map(move |(event, entry)| {
            let label = Label::of(event.attr());
            let count = Count::of(label, &now, entry);
            match &mut earlier {
                Some((before, entries)) => match entries.next() {
                    Some(entry) => count.since(&Count::of(label, before, entry)),
                    None => count,
                },
                None => count,
            }
        });
        counts.fuse()
    }
}

impl fmt::Display for GroupCount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = Columns::fit(self.iter());
        for (line, count) in self.iter().enumerate() {
            if line != 0 {
                writeln!(f)?;
            }
            write_row(f, &count, &columns)?;
        }
        Ok(())
    }
}
