use core::fmt;
use core::iter::{FusedIterator, once};
use std::sync::Arc;

use perf_decode::ReadValues;

use super::Count;
use crate::event::Event;

/// The counts of the events of a [`Group`](crate::Group), all read at the same moment.
///
/// Prints one count a line, with aligned values.
#[derive(Clone, Copy, Debug)]
pub struct GroupCount<'g> {
    now: ReadValues<'g>,
    /// The counts at the start of a measurement, to be subtracted.
    before: Option<ReadValues<'g>>,
    leader: &'g Event,
    members: &'g [Arc<Event>],
}

impl<'g> GroupCount<'g> {
    pub(crate) const fn new(
        now: ReadValues<'g>,
        before: Option<ReadValues<'g>>,
        leader: &'g Event,
        members: &'g [Arc<Event>],
    ) -> Self {
        Self { now, before, leader, members }
    }

    /// Returns the counts, the group leader's first, then those of the members in the order of
    /// [`Group::open`](crate::Group::open). All have the same times.
    pub fn iter(&self) -> impl FusedIterator<Item = Count> + Clone + use<'g> {
        let Self { now, before, leader, members } = *self;
        let mut earlier = before.map(|before| (before, before.iter()));
        let events = once(leader).chain(members.iter().map(Arc::as_ref)).zip(now.iter());
        let counts = events.map(move |(event, entry)| {
            let count = |values, entry| Count::new(event.label().clone(), values, entry);
            let of_now = count(&now, entry);
            let of_before =
                earlier.as_mut().and_then(|(values, entries)| Some(count(values, entries.next()?)));
            match of_before {
                Some(before) => of_now.since(&before),
                None => of_now,
            }
        });
        counts.fuse()
    }
}

impl fmt::Display for GroupCount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |count: Count| count.to_string().find("  ").unwrap_or(0);
        let width = self.iter().map(value).max().unwrap_or(0);
        for (index, count) in self.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{count:>width$}")?;
        }
        Ok(())
    }
}
