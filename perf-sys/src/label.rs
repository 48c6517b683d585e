use core::fmt;

use perf_abi::{Attr, CacheEvent, EventType, HW_EVENT_MASK, Hardware, PMU_TYPE_SHIFT, Software};

/// What an event counts, to be printed beside its count.
///
/// The names are those of the kernel's header, as far as the attr alone tells them: `PAGE_FAULTS`,
/// `L1D-READ-MISS`; of everything else the type and the number: `TRACEPOINT:0x1a3`. The names of
/// tracepoints and of a PMU's own events are in files, and this crate reads none.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_sys::Label;
///
/// assert_eq!(Label::of(&Attr::software(Software::PAGE_FAULTS)).to_string(), "PAGE_FAULTS");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    kind: EventType,
    config: u64,
}

impl Label {
    /// The label of events that are opened with `attr`.
    pub const fn of(attr: &Attr) -> Self {
        Self { kind: attr.kind, config: attr.config }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, config } = *self;
        match (kind, CacheEvent::from_config(config)) {
            (EventType::SOFTWARE, _) => return write!(f, "{}", Software(config)),
            (EventType::HARDWARE, _) => write!(f, "{}", Hardware(config & HW_EVENT_MASK))?,
            (EventType::HW_CACHE, Some(event)) => write!(f, "{event}")?,
            _ => return write!(f, "{kind}:{config:#x}"),
        }
        match config >> PMU_TYPE_SHIFT {
            0 => Ok(()),
            pmu => write!(f, "@{pmu}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: EventType, config: u64) -> String {
        Label::of(&Attr::new(kind, config)).to_string()
    }

    #[test]
    fn names_are_those_of_the_header() {
        assert_eq!(label(EventType::HARDWARE, 1), "INSTRUCTIONS");
        assert_eq!(label(EventType::SOFTWARE, 3), "CONTEXT_SWITCHES");
        assert_eq!(label(EventType::HW_CACHE, 0x1_0000), "L1D-READ-MISS");
    }

    #[test]
    fn a_core_pmu_of_a_hybrid_cpu_is_told() {
        assert_eq!(label(EventType::HARDWARE, 0xa_0000_0000), "CPU_CYCLES@10");
        assert_eq!(label(EventType::HW_CACHE, 0xa_0001_0000), "L1D-READ-MISS@10");
    }

    #[test]
    fn what_has_no_name_is_a_number() {
        assert_eq!(label(EventType::TRACEPOINT, 0x1a3), "TRACEPOINT:0x1a3");
        assert_eq!(label(EventType::HW_CACHE, 0xff00_0000), "HW_CACHE:0xff000000");
        assert_eq!(label(EventType::SOFTWARE, 77), "Software(77)");
        assert_eq!(label(EventType(9), 2), "EventType(9):0x2");
    }
}
