use perf_sys::{Attr, AttrFlags, ReadFormat, SampleType};

use super::plan::PlannedGroup;
use super::{Inherit, Place, SetOptions};

/// The flags that the set controls.
const CONTROLLED: AttrFlags = AttrFlags::DISABLED
    .union(AttrFlags::ENABLE_ON_EXEC)
    .union(AttrFlags::INHERIT)
    .union(AttrFlags::INHERIT_THREAD);

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

impl SetOptions {
    /// Returns the attrs with which the events of a group are opened at `place`.
    pub(super) fn attrs(&self, group: &PlannedGroup, place: Place, reads_lost: bool) -> Vec<Attr> {
        let inherit = self.inherited_flags(place);
        let is_single_read = group.events.len() > 1 && inherit.is_empty();
        let attrs = group.events.iter().enumerate().map(|(index, event)| {
            let is_leader = index == 0;
            let mut flags = inherit;
            if is_leader {
                flags |= AttrFlags::DISABLED;
            }
            if is_leader && self.target.is_command() && place.thread_id().is_some() {
                flags |= AttrFlags::ENABLE_ON_EXEC;
            }
            let attr = event.spec.attr();
            let attr = if group.is_leader_sampling { of_leader_sampling(attr, is_leader) } else { attr };
            let mut format = attr.read_format | TIMES;
            format.set(ReadFormat::LOST, reads_lost);
            if is_leader && is_single_read {
                format |= ReadFormat::GROUP;
            }
            let attr = attr.without_flags(CONTROLLED).with_flags(flags).with_read_format(format);
            if self.ring_pages.is_some() { with_origin(attr) } else { attr }
        });
        attrs.collect()
    }

    /// Returns the flags by which an event at `place` follows new tasks.
    pub(super) fn inherited_flags(&self, place: Place) -> AttrFlags {
        match (place.thread_id(), self.inherits()) {
            (None, _) | (_, Inherit::Nothing) => AttrFlags::empty(),
            (_, Inherit::Threads) => AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD,
            (_, Inherit::Tasks) => AttrFlags::INHERIT,
        }
    }
}

/// Returns the attr of an event of a group in which only the leader samples, with the counts of all.
fn of_leader_sampling(attr: Attr, is_leader: bool) -> Attr {
    if is_leader {
        let format = attr.read_format | ReadFormat::GROUP | ReadFormat::ID;
        attr.with_sample_type(attr.sample_type | SampleType::READ).with_read_format(format)
    } else {
        attr.with_period(0).with_read_format(attr.read_format | ReadFormat::ID)
    }
}

/// Adds the fields by which records are attributed to their event, and sorted.
fn with_origin(attr: Attr) -> Attr {
    let fields = SampleType::IDENTIFIER | SampleType::TIME;
    attr.with_sample_type(attr.sample_type | fields).with_flags(AttrFlags::SAMPLE_ID_ALL)
}
