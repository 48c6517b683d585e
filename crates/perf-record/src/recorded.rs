//! The attrs of events that are recorded.

use perf_session::ring::{Attr, AttrFlags, Clock, SampleType, Software};
use perf_session::{EventGroup, EventSpec, NamedEvent};

/// Fields of every sample: with the same ones up to `TIME`, records of all events have their times at the
/// same place.
pub const FIELDS: SampleType =
    SampleType::IDENTIFIER.union(SampleType::IP).union(SampleType::TID).union(SampleType::TIME);

/// Flags of the side-band records by which threads and addresses are named. Those for BPF programs are in Linux since 5.1, and
/// `BUILD_ID` since 5.12.
pub const NAMING: AttrFlags = AttrFlags::MMAP
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK)
    .union(AttrFlags::KSYMBOL)
    .union(AttrFlags::BPF_EVENT)
    .union(AttrFlags::BUILD_ID);

/// Samples per second of an event that has neither a frequency nor a period.
const FREQUENCY: u64 = 999;

/// Returns the events with what a [`Recorder`](crate::Recorder) and the readers of its recordings need: the sample fields
/// [`FIELDS`], times of `CLOCK_MONOTONIC`, and a last event that never fires and has the flags [`NAMING`].
///
/// An event without a period or a frequency has 999 samples per second, and a tracepoint or probe one for each hit. More
/// fields, such as [`CALLCHAIN`](SampleType::CALLCHAIN), are added by
/// [`EventSetOptions::map_attrs`](perf_session::EventSetOptions::map_attrs). With
/// [`allow_fallback`](perf_session::EventSetOptions::allow_fallback) the set opens on kernels that lack some of the flags.
pub fn recorded(groups: impl IntoIterator<Item = EventGroup>) -> Vec<EventGroup> {
    // By itself, so that the losses of the others are losses of samples alone, and on all CPUs of the target.
    let side_band = NamedEvent::from(EventSpec::new(Attr::software(Software::DUMMY).with_flags(NAMING)));
    let groups = groups.into_iter().chain([EventGroup::from(side_band)]);
    groups.map(|group| group.map_members(|event| event.map_specs(sampled))).collect()
}

fn sampled(spec: EventSpec) -> EventSpec {
    let is_hit = spec.is_hit();
    spec.map_attr(|attr| {
        let attr = match attr.sample_period {
            0 if is_hit => attr.with_period(1).with_sample_type(SampleType::RAW),
            0 => attr.with_frequency(FREQUENCY),
            _ => attr,
        };
        let attr = attr.with_sample_type(FIELDS).with_flags(AttrFlags::SAMPLE_ID_ALL);
        attr.with_clock(Clock::MONOTONIC)
    })
}
