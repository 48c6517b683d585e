use perf_abi::{Attr, AttrFlags, IocFlags, ReadFormat};
use perf_decode::ReadValues;

use crate::{Event, GroupCount, OpenOptions, Result, Target};

/// Events that are counted together: a leader and its members, on the PMU at the same time or not at
/// all. That makes their ratios right even when events share the hardware.
///
/// Holding one proves that the leader reads all of them in one system call, and that the buffer for it
/// has their length: nothing is allocated after the open.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, Software};
/// use perf_sys::{Group, Target};
///
/// # fn main() -> perf_sys::Result<()> {
/// let off = |event| Attr::software(event).with_flags(AttrFlags::DISABLED | AttrFlags::EXCLUDE_KERNEL);
/// let (clock, faults) = (off(Software::TASK_CLOCK), off(Software::PAGE_FAULTS));
/// let mut group = match Group::open(&clock, &[faults], Target::calling_thread()) {
///     Ok(group) => group,
///     Err(refused) => return Ok(println!("{refused}")),
/// };
/// let (text, counts) = group.measure(|| "work".repeat(100_000))?;
/// println!("{counts}");
/// # drop(text);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Group {
    // Before the leader: without it they would go on for a moment as groups of their own.
    members: Vec<Event>,
    leader: Event,
    buffers: Buffers,
}

/// Room for two readings.
#[derive(Debug)]
pub(crate) struct Buffers {
    pub(crate) now: Box<[u64]>,
    pub(crate) before: Box<[u64]>,
}

impl Group {
    /// `perf_event_open(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC)`—Opens a leader and its
    /// members, all on one target.
    ///
    /// The leader gets [`ReadFormat::GROUP`]; what else its format has is read of every member, whose
    /// own formats do not matter. Members count when the leader does: their
    /// [`DISABLED`](AttrFlags::DISABLED) is taken off. Leave it on in the leader's attr, or counting begins
    /// before the group is complete.
    ///
    /// # Errors
    ///
    /// As [`Event::open`]. Above all: `EINVAL` if the group has more hardware events than the CPU has
    /// counters, if hardware events are of two PMUs, or if a member is pinned.
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, "Arguments".
    #[doc(alias = "group_fd")]
    pub fn open(leader: &Attr, members: &[Attr], target: Target<'_>) -> Result<Self> {
        let format = leader.read_format | ReadFormat::GROUP;
        let leader = Event::open(&leader.with_read_format(format), target)?;
        let join = OpenOptions::new().leader(&leader);
        let members = members.iter().map(|attr| join.open(&attr.without_flags(AttrFlags::DISABLED), target));
        let members = members.collect::<Result<Vec<_>>>()?;
        // No more than the answer has: the kernel refuses a shorter buffer, and so does not leave out in
        // silence what joined the group elsewhere.
        let len = ReadValues::words(format, 1 + members.len() as u64) as usize;
        let buffers = Buffers { now: vec![0; len].into(), before: vec![0; len].into() };
        Ok(Self { members, leader, buffers })
    }

    /// The event that leads: it reads and controls the group.
    pub const fn leader(&self) -> &Event {
        &self.leader
    }

    /// The other events, as they were given to [`open`](Self::open).
    pub fn members(&self) -> &[Event] {
        &self.members
    }

    /// The events by themselves, still a group in the kernel: to give the leader a
    /// [`Ring`](crate::Ring).
    pub fn into_parts(self) -> (Event, Vec<Event>) {
        (self.leader, self.members)
    }

    /// `ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)`—Starts counting, all at once: members follow their leader.
    /// One that was disabled by itself stays so.
    // Not with PERF_IOC_FLAG_GROUP, which stops and starts each member: newer kernels (6.18 does) place
    // one of another PMU than the leader's, TASK_CLOCK beside PAGE_FAULTS, only at the next task switch.
    pub fn enable(&self) -> Result<()> {
        self.leader.enable()
    }

    /// `ioctl(fd, PERF_EVENT_IOC_DISABLE, 0)`—Stops counting, all at once: members follow their leader.
    pub fn disable(&self) -> Result<()> {
        self.leader.disable()
    }

    /// `ioctl(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP)`—Sets all counts to 0; the times go on.
    pub fn reset(&self) -> Result<()> {
        self.leader.reset_with(IocFlags::GROUP)
    }

    /// `read(fd, buf, len)`—Reads all counts at one moment, leader first, in the order of
    /// [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// As [`Event::read_values`]; `ENOSPC` while there are events in the group that were opened elsewhere,
    /// `ECHILD` if copies were inherited before it was complete.
    pub fn read(&mut self) -> Result<GroupCount<'_>> {
        let now = self.leader.read_values(&mut self.buffers.now)?;
        Ok(GroupCount::new(now, None, &self.leader, &self.members))
    }

    /// All parts, each by itself.
    pub(crate) fn parts_mut(&mut self) -> (&Event, &[Event], &mut Buffers) {
        (&self.leader, &self.members, &mut self.buffers)
    }
}
