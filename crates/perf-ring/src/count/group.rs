//! Groups: events that count together and are read together.

use core::fmt;
use core::iter::{FusedIterator, once};
use std::sync::Arc;

use perf_abi::{Attr, AttrFlags, IocFlags, ReadFormat};
use perf_decode::ReadValues;
use perf_sys::{Event, OpenOptions, Target};

use super::{Count, read_values};
use crate::error::Result;
use crate::ring::Ring;

/// A group leader and its members, which are on the PMU at the same time or not at all. Their
/// ratios are exact even if the group is multiplexed with other events.
///
/// Holding one proves that the leader reads all of them in one system call, into a buffer of the
/// right length. Nothing is allocated after the open.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, Software};
/// use perf_ring::{Group, Target};
///
/// # fn main() -> perf_ring::Result<()> {
/// let off = |event| Attr::software(event).with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
/// let (clock, faults) = (off(Software::TASK_CLOCK), off(Software::PAGE_FAULTS));
/// # if Group::open(&clock, &[faults], Target::calling_thread()).is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let mut group = Group::open(&clock, &[faults], Target::calling_thread())?;
/// let (text, counts) = group.measure(|| "work".repeat(100_000))?;
/// println!("{counts}");
/// # drop(text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Group {
    // Dropped before the leader. Without the leader they would count for a moment as separate
    // events.
    members: Vec<Arc<Event>>,
    leader: Arc<Event>,
    buffers: Buffers,
}

/// Buffers for two readings, in words.
#[derive(Debug)]
struct Buffers {
    now: Box<[u64]>,
    before: Box<[u64]>,
}

impl Group {
    /// `perf_event_open(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC)`—Opens a group leader and
    /// its members, all with one target.
    ///
    /// Sets [`ReadFormat::GROUP`] in the leader's format, which applies to all events; the members'
    /// own formats are not used. Clears [`DISABLED`](AttrFlags::DISABLED) in the members' attrs, so
    /// that they count when the leader does. Set it in the leader's, or counting starts before the
    /// group is complete.
    ///
    /// # Errors
    ///
    /// The errors of [`Event::open`]. The usual one is `EINVAL`, for more hardware events than the
    /// CPU has counters, for hardware events of two PMUs, or for a pinned member.
    /// # References
    ///
    /// `perf_event_open(2)`, "Arguments".
    #[doc(alias = "group_fd")]
    pub fn open(leader: &Attr, members: &[Attr], target: Target<'_>) -> Result<Self> {
        let leader = leader.with_read_format(ReadFormat::GROUP);
        let format = leader.read_format;
        let leader = Event::open(&leader, target)?;
        let join = OpenOptions::new().leader(&leader);
        let members = members
            .iter()
            .map(|attr| join.open(&attr.without_flags(AttrFlags::DISABLED), target).map(Arc::new));
        let members = members.collect::<perf_sys::Result<Vec<_>>>()?;
        // Exactly the length of the read. If other code added an event to the group, the kernel
        // returns ENOSPC instead of counts of other events.
        let len = ReadValues::words(format, 1 + members.len() as u64) as usize;
        let buffers = Buffers { now: vec![0; len].into(), before: vec![0; len].into() };
        Ok(Self { members, leader: Arc::new(leader), buffers })
    }

    /// Maps a ring of `data_pages` pages for the records of all events. It is the leader's ring,
    /// into which the members are [redirected](Ring::redirect). The group is read and controlled as
    /// before, also while the ring is read.
    ///
    /// The records of the events differ in layout. Set [`IDENTIFIER`] and, for records other than
    /// samples, [`SAMPLE_ID_ALL`] in all attrs, and find the layouts by id, with
    /// [`Layouts`](perf_decode::Layouts). A member without a period writes no samples. The ids do
    /// not distinguish two software events of one kind, because Linux 6.18 writes the id of the
    /// event that was opened last into the samples of both.
    ///
    /// The ring shares the events with the group, so they count until both are dropped.
    ///
    /// ```
    /// use perf_abi::{Attr, AttrFlags, SampleType, Software};
    /// use perf_decode::{Layouts, SampleLayout};
    /// use perf_ring::{Group, Target};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let sampled = |event, period| {
    ///     Attr::software(event)
    ///         .with_period(period)
    ///         .with_sample_type(SampleType::IDENTIFIER | SampleType::TIME | SampleType::IP)
    ///         .with_flags(AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL)
    /// };
    /// let (clock, faults) = (sampled(Software::CPU_CLOCK, 1_000_000), sampled(Software::PAGE_FAULTS, 1));
    /// # if Group::open(&clock, &[faults], Target::calling_thread()).is_err() {
    /// #     return Ok(()); // not permitted here
    /// # }
    /// let mut group = Group::open(&clock, &[faults], Target::calling_thread())?;
    /// let mut ring = group.map_ring(16)?;
    /// let mut table = [group.leader(), &group.members()[0]]
    ///     .map(|event| (event.id().unwrap_or(0), SampleLayout::new(event.attr())));
    /// let layouts = Layouts::new(&mut table)?;
    ///
    /// group.enable()?;
    /// let memory = vec![1_u8; 1 << 20];
    /// for record in ring.batch()?.records() {
    ///     let record = record?;
    ///     println!("{}", record.decode(layouts.find(record)?)?);
    /// }
    /// println!("{}", group.read()?);
    /// # drop(memory);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::map`] for the leader and of [`Ring::redirect`] for the members:
    /// `EINVAL` if a member differs from the leader in clock or in [`WRITE_BACKWARD`]. No member is
    /// redirected after an error.
    ///
    /// [`IDENTIFIER`]: perf_abi::SampleType::IDENTIFIER
    /// [`SAMPLE_ID_ALL`]: AttrFlags::SAMPLE_ID_ALL
    /// [`WRITE_BACKWARD`]: AttrFlags::WRITE_BACKWARD
    pub fn map_ring(&self, data_pages: usize) -> Result<Ring> {
        let mut ring = Ring::map(Arc::clone(&self.leader), data_pages)?;
        for member in &self.members {
            if let Err(refused) = ring.redirect(Arc::clone(member)) {
                while ring.undo_redirect().is_some() {}
                return Err(refused.error);
            }
        }
        Ok(ring)
    }

    /// Returns the group leader, which reads and controls the group.
    pub const fn leader(&self) -> &Arc<Event> {
        &self.leader
    }

    /// Returns the other events, in the order of [`open`](Self::open).
    pub fn members(&self) -> &[Arc<Event>] {
        &self.members
    }

    /// Returns the events. They stay a group in the kernel.
    pub fn into_parts(self) -> (Arc<Event>, Vec<Arc<Event>>) {
        (self.leader, self.members)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)`—Enables the leader, and with it all members that were
    /// not disabled separately.
    // Not with PERF_IOC_FLAG_GROUP, which disables and enables each member. Linux 6.18 then
    // schedules a member of another PMU than the leader's (such as TASK_CLOCK with PAGE_FAULTS)
    // only at the next switch.
    pub fn enable(&self) -> Result<()> {
        Ok(self.leader.enable()?)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)`—Disables the leader, and with it all members.
    pub fn disable(&self) -> Result<()> {
        Ok(self.leader.disable()?)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP)`—Sets all counts to 0. The times are
    /// not reset.
    pub fn reset(&self) -> Result<()> {
        Ok(self.leader.reset_with(IocFlags::GROUP)?)
    }

    /// `read(fd, buf, len)`—Reads all counts at one moment, first the leader's, then the members'
    /// in the order of [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// The errors of [`read_values`]; `ENOSPC` while the group has events that other code added,
    /// `ECHILD` if copies were inherited before the group was complete.
    pub fn read(&mut self) -> Result<GroupCount<'_>> {
        let now = read_values(&self.leader, &mut self.buffers.now)?;
        Ok(GroupCount { now, before: None, leader: &self.leader, members: &self.members })
    }

    /// Counts all events of the group while `work` runs, as [`Count::measure`] does with one.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read) and [`enable`](Self::enable).
    #[doc(alias = "MeasureGroup")]
    pub fn measure<R>(&mut self, work: impl FnOnce() -> R) -> Result<(R, GroupCount<'_>)> {
        let Self { members, leader, buffers } = self;
        let before = read_values(leader, &mut buffers.before)?;
        leader.enable()?;
        let result = work();
        leader.disable()?;
        let now = read_values(leader, &mut buffers.now)?;
        Ok((result, GroupCount { now, before: Some(before), leader, members }))
    }
}

/// The counts of the events of a [`Group`](crate::Group), all read at the same moment.
///
/// Prints one count a line: the value, aligned, the [event](Event#impl-Display-for-Event), and the
/// fields of the read format.
#[derive(Clone, Copy, Debug)]
pub struct GroupCount<'g> {
    now: ReadValues<'g>,
    /// The counts at the start of a measurement, to be subtracted.
    before: Option<ReadValues<'g>>,
    leader: &'g Event,
    members: &'g [Arc<Event>],
}

impl<'g> GroupCount<'g> {
    /// Iterates over the counts: the group leader's first, then the members' in the order of
    /// [`Group::open`](crate::Group::open). All have the same times.
    pub fn iter(&self) -> impl FusedIterator<Item = Count> + Clone + use<'g> {
        let Self { now, before, .. } = *self;
        let mut earlier = before.map(|before| (before, before.iter()));
        let counts = now.iter().map(move |entry| {
            let of_now = Count::from_entry(&now, entry);
            match earlier
                .as_mut()
                .and_then(|(values, entries)| Some(Count::from_entry(values, entries.next()?)))
            {
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
