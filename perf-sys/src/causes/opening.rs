use perf_abi::{Attr, AttrFlags, EventType, OpenFlags, SampleType};

use crate::Target;

/// The arguments of a failed `perf_event_open`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) attr: &'a Attr,
    pub(crate) target: Target<'a>,
    /// Set if the event joins a group.
    pub(crate) is_sibling: bool,
    pub(crate) flags: OpenFlags,
}

impl Opening<'_> {
    /// Returns whether one of `flags` is set.
    pub(super) fn has(&self, flags: AttrFlags) -> bool {
        self.attr.flags.intersects(flags)
    }

    /// Returns whether all of `flags` are set.
    pub(super) fn has_all(&self, flags: AttrFlags) -> bool {
        self.attr.flags.contains(flags)
    }

    /// Returns whether samples have one of `fields`.
    pub(super) fn samples(&self, fields: SampleType) -> bool {
        self.attr.sample_type.intersects(fields)
    }

    /// Returns whether the event samples, instead of only counting.
    pub(super) fn is_sampling(&self) -> bool {
        self.attr.sample_period != 0
    }

    pub(super) fn is(&self, kind: EventType) -> bool {
        self.attr.kind == kind
    }

    /// Returns whether the event is one of the CPU's PMU.
    pub(super) fn is_of_cpu_pmu(&self) -> bool {
        [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW].contains(&self.attr.kind)
    }

    /// Returns whether the kernel chose the number of the PMU, as for probes, uncore PMUs and trace
    /// units.
    pub(super) fn is_of_dynamic_pmu(&self) -> bool {
        self.attr.kind > EventType::BREAKPOINT
    }

    /// Returns whether precise instruction pointers are requested.
    pub(super) fn is_precise(&self) -> bool {
        self.attr.flags.precise_ip().level() > 0
    }
}
