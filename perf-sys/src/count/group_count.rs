use core::fmt;
use core::iter::{FusedIterator, once};
use std::sync::Arc;

use perf_decode::ReadValues;

use super::Count;
use crate::event::Event;

/// The counts of the events of a [`Group`](crate::Group), all read at the same moment.
///
/// Prints one count a line: the value, aligned, the [event](Event#impl-Display-for-Event), and the fields of the
/// read format.
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

    /// Iterates over the counts: the group leader's first, then those of the members in the order of
    /// [`Group::open`](crate::Group::open). All have the same times.
    pub fn iter(&self) -> impl FusedIterator<Item = Count> + Clone + use<'g> {
        let Self { now, before, .. } = *self;
        let mut earlier = before.map(|before| (before, before.iter()));
        let counts = now.iter().map(move |entry| {
            let of_now = Count::new(&now, entry);
            match earlier.as_mut().and_then(|(values, entries)| Some(Count::new(values, entries.next()?))) {
                Some(before) => of_now.since(&before),
                None => of_now,
            }
        });
        counts.fuse()
    }

    /// Iterates over the events, in the order of the counts.
    pub fn events(&self) -> impl Iterator<Item = &'g Event> {
        once(self.leader).chain(self.members.iter().map(Arc::as_ref))
    }
}

impl fmt::Display for GroupCount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.iter().map(|count| count.value_text().len()).max().unwrap_or(0);
        for (index, (count, event)) in self.iter().zip(self.events()).enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{:>width$}  {event}", count.value_text())?;
            count.fmt_fields(f)?;
        }
        Ok(())
    }
}
