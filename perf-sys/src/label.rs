use core::fmt;

use perf_abi::{Attr, CacheEvent, EventType, HW_EVENT_MASK, Hardware, PMU_TYPE_SHIFT, Software};

/// What an event counts, to be printed beside its count.
///
/// The names are those of the kernel's header, as far as the attr alone tells them: `PAGE_FAULTS`,
/// `L1D-READ-MISS`; of everything else the type and the number: `TRACEPOINT:0x1a3`. The names of
/// tracepoints and of a PMU's own events are in files, and this crate reads none: who knows the name gives
/// it by [`named`](Self::named).
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_sys::Label;
///
/// assert_eq!(Label::of(&Attr::software(Software::PAGE_FAULTS)).to_string(), "PAGE_FAULTS");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(Source);

/// Where the text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Source {
    Attr { kind: EventType, config: u64 },
    Name(&'static str),
}

impl Label {
    /// The label of events that are opened with `attr`.
    pub const fn of(attr: &Attr) -> Self {
        Self(Source::Attr { kind: attr.kind, config: attr.config })
    }

    /// A name of one's own, for the [`label`](crate::Count::label) of a count.
    ///
    /// ```
    /// # use perf_abi::Attr;
    /// # use perf_sys::{Event, Target};
    /// use perf_sys::Label;
    ///
    /// # fn main() -> perf_sys::Result<()> {
    /// # let opened = Event::open(&Attr::tracepoint(0x1a3), Target::calling_thread());
    /// # let Ok(event) = opened else { return Ok(()) };
    /// let mut count = event.read()?; // 7  TRACEPOINT:0x1a3
    /// count.label = Label::named("sched:sched_switch");
    /// println!("{count}"); // 7  sched:sched_switch
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self(Source::Name(name))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, config) = match self.0 {
            Source::Attr { kind, config } => (kind, config),
            Source::Name(name) => return f.write_str(name),
        };
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
    fn a_name_of_ones_own_is_printed_as_it_is() {
        const SWITCH: Label = Label::named("sched:sched_switch");
        assert_eq!(SWITCH.to_string(), "sched:sched_switch");
        assert_ne!(SWITCH, Label::of(&Attr::tracepoint(0x1a3)));
    }

    #[test]
    fn what_has_no_name_is_a_number() {
        assert_eq!(label(EventType::TRACEPOINT, 0x1a3), "TRACEPOINT:0x1a3");
        assert_eq!(label(EventType::HW_CACHE, 0xff00_0000), "HW_CACHE:0xff000000");
        assert_eq!(label(EventType::SOFTWARE, 77), "Software(77)");
        assert_eq!(label(EventType(9), 2), "EventType(9):0x2");
    }
}
