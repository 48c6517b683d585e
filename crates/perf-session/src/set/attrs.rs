//! The attrs with which a set opens its events.

use perf_ring::{Attr, AttrFlags, EventType, ReadFormat, SampleType};

use super::plan::PlannedGroup;
use super::{EventSetOptions, Inherit, Scope};
use crate::names::{EventGroup, NamedEvent};

/// The flags that the set controls.
const CONTROLLED: AttrFlags = AttrFlags::DISABLED
    .union(AttrFlags::ENABLE_ON_EXEC)
    .union(AttrFlags::INHERIT)
    .union(AttrFlags::INHERIT_THREAD);

/// Sample fields that every event has, and that need no other field of the attr.
const SHARED: SampleType = SampleType::IP
    .union(SampleType::TID)
    .union(SampleType::TIME)
    .union(SampleType::ADDR)
    .union(SampleType::CALLCHAIN)
    .union(SampleType::ID)
    .union(SampleType::CPU)
    .union(SampleType::PERIOD)
    .union(SampleType::STREAM_ID)
    .union(SampleType::RAW)
    .union(SampleType::IDENTIFIER);

const CALLCHAIN_FLAGS: AttrFlags =
    AttrFlags::EXCLUDE_CALLCHAIN_KERNEL.union(AttrFlags::EXCLUDE_CALLCHAIN_USER);

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

impl EventSetOptions {
    /// Returns the attrs with which the events of a group are opened at `scope`.
    pub(super) fn attrs(&self, group: &PlannedGroup, scope: Scope, reads_lost: bool) -> Vec<Attr> {
        let inherit = self.inherited_flags(scope);
        // Copies of a group may differ from it while it is read. With rings, the formats of all
        // events are one, so that their layouts are.
        let is_single_read = group.specs.len() > 1 && inherit.is_empty() && self.ring_pages.is_none();
        let attrs = group.specs.iter().enumerate().map(|(index, spec)| {
            let is_leader = index == 0;
            let mut flags = inherit;
            // The kernel schedules members only with their leader, so disabling it is enough.
            if is_leader {
                flags |= AttrFlags::DISABLED;
            }
            let is_task_of_command = self.target.is_command() && scope.thread_id().is_some();
            if is_leader && is_task_of_command && !self.is_deferred(group.first) {
                flags |= AttrFlags::ENABLE_ON_EXEC;
            }
            let attr = one_sample_a_hit(spec.attr());
            let attr = if group.is_leader_sampling { of_leader_sampling(attr, is_leader) } else { attr };
            // Without the times, multiplexed counts cannot be scaled.
            let mut format = attr.read_format | TIMES;
            format.set(ReadFormat::LOST, reads_lost);
            if is_leader && is_single_read {
                format |= ReadFormat::GROUP;
            }
            let attr = attr.without_flags(CONTROLLED).with_flags(flags).with_read_format(format);
            if self.ring_pages.is_none() {
                return attr;
            }
            let mut attr = with_origin(self.with_layout_of_samples(attr), !self.is_one_event);
            // All events of a ring write it in one direction.
            attr.flags.set(AttrFlags::WRITE_BACKWARD, self.is_overwritten);
            attr
        });
        attrs.collect()
    }

    /// Gives an event that does not sample the sample type of the sampling events, if they all have
    /// the same.
    ///
    /// Then all records of a ring have one layout, and are decoded even if no event of the ring has
    /// their id: the kernel writes the id of a foreign event into samples of software events.
    fn with_layout_of_samples(&self, attr: Attr) -> Attr {
        let members = self.groups.iter().flat_map(EventGroup::members);
        // System-wide events have other rings.
        let specs = members.flat_map(NamedEvent::specs).filter(|spec| !spec.is_system_wide());
        let attrs = specs.map(|spec| one_sample_a_hit(spec.attr()));
        let mut sampling = attrs.filter(|attr| attr.sample_period != 0);
        let Some(first) = sampling.next().filter(|_| attr.sample_period == 0) else { return attr };
        let is_one = sampling.all(|other| other.sample_type == first.sample_type);
        // A field that needs settings of the attr (registers, branches) cannot be given to another
        // event, and no field of the event's own is dropped.
        if !is_one || !SHARED.contains(first.sample_type) || !first.sample_type.contains(attr.sample_type) {
            return attr;
        }
        let mut attr = attr;
        attr.sample_max_stack = first.sample_max_stack;
        attr.with_sample_type(first.sample_type).with_flags(first.flags & CALLCHAIN_FLAGS)
    }

    /// Returns the flags by which an event at `scope` follows new tasks.
    pub(super) fn inherited_flags(&self, scope: Scope) -> AttrFlags {
        match (scope.thread_id(), self.inherits()) {
            (None, _) | (_, Inherit::Nothing) => AttrFlags::empty(),
            (_, Inherit::Threads) => AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD,
            (_, Inherit::Tasks) => AttrFlags::INHERIT,
        }
    }
}

/// Gives a tracepoint with a period of 1 the field `PERIOD`.
///
/// Some tracepoints count more than 1 at a hit, `sched:sched_stat_runtime` nanoseconds. Without the
/// field the kernel writes one sample per count, hundreds of copies, and then throttles the event,
/// so that the next hits are missing. With it, each hit is one sample that contains its count.
fn one_sample_a_hit(attr: Attr) -> Attr {
    let is_each_hit = attr.kind == EventType::TRACEPOINT
        && attr.sample_period == 1
        && !attr.flags.contains(AttrFlags::FREQ);
    if is_each_hit { attr.with_sample_type(SampleType::PERIOD) } else { attr }
}

/// Returns the attr of an event of a group in which only the leader samples, with the counts of
/// all.
fn of_leader_sampling(attr: Attr, is_leader: bool) -> Attr {
    if is_leader {
        attr.with_sample_type(SampleType::READ).with_read_format(ReadFormat::GROUP | ReadFormat::ID)
    } else {
        attr.with_period(0).with_read_format(ReadFormat::ID)
    }
}

/// Adds the fields by which records are sorted, and attributed to one of several events.
fn with_origin(attr: Attr, is_one_of_several: bool) -> Attr {
    let attr = attr.with_sample_type(SampleType::TIME).with_flags(AttrFlags::SAMPLE_ID_ALL);
    if is_one_of_several { attr.with_sample_type(SampleType::IDENTIFIER) } else { attr }
}

#[cfg(test)]
mod tests {
    use perf_ring::Software;

    use super::*;
    use crate::names::EventSpec;
    use crate::set::EventSetTarget;
    use crate::set::plan::Plan;

    fn faults() -> NamedEvent {
        EventSpec::new(Attr::software(Software::PAGE_FAULTS)).into()
    }

    /// Returns the attrs of a group of two software events at `scope`.
    fn attrs(options: &EventSetOptions, scope: Scope) -> Vec<Attr> {
        options.attrs(&Plan::new(&options.groups).unwrap().groups[0], scope, true)
    }

    #[test]
    fn only_the_leader_is_disabled_and_enabled_on_exec() {
        let options = EventSetOptions::new().group([faults(), faults()]).target(EventSetTarget::command());
        let [leader, member] = attrs(&options, Scope::thread(7))[..] else { unreachable!() };
        let start = AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC;
        assert_eq!((leader.flags, member.flags), (start | AttrFlags::INHERIT, AttrFlags::INHERIT));
        assert!(!leader.read_format.contains(ReadFormat::GROUP), "copies are read separately");
        // An event that counts for CPUs only is not started by an exec.
        let [leader, member] = attrs(&options, Scope::cpu(7))[..] else { unreachable!() };
        assert_eq!((leader.flags, member.flags), (AttrFlags::DISABLED, AttrFlags::empty()));
        assert!(leader.read_format.contains(ReadFormat::GROUP));
        assert!(!member.read_format.contains(ReadFormat::GROUP));
    }

    #[test]
    fn inheritance_follows_the_target_unless_it_is_set() {
        let flags =
            |options: &EventSetOptions| attrs(options, Scope::thread(7))[0].flags - AttrFlags::DISABLED;
        let process = EventSetOptions::new().event(faults()).target(EventSetTarget::process(1));
        assert_eq!(flags(&process), AttrFlags::INHERIT);
        assert_eq!(flags(&process.clone().inherit(Inherit::Nothing)), AttrFlags::empty());
        let thread = EventSetOptions::new().event(faults()).target(EventSetTarget::thread(1));
        assert_eq!(flags(&thread), AttrFlags::empty());
        assert_eq!(flags(&thread.inherit(Inherit::Threads)), AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD);
    }

    #[test]
    fn records_have_what_attributes_and_sorts_them() {
        let options = EventSetOptions::new().event(faults()).ring_pages(1);
        let attr = attrs(&options, Scope::cpu(0))[0];
        assert!(attr.sample_type.contains(SampleType::IDENTIFIER | SampleType::TIME));
        assert!(attr.flags.contains(AttrFlags::SAMPLE_ID_ALL));
    }
}
