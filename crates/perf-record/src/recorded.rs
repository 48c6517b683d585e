//! The attrs of events that are recorded.

use perf_session::ring::{Attr, AttrFlags, Clock, SampleType, Software};
use perf_session::{EventGroup, EventSpec, NamedEvent};

/// Fields of every sample. Events that agree in the fields up to `TIME` have their times at the
/// same offset in a record.
pub const FIELDS: SampleType =
    SampleType::IDENTIFIER.union(SampleType::IP).union(SampleType::TID).union(SampleType::TIME);

/// Flags of the side-band records that name threads and addresses. The flags for BPF programs exist
/// since Linux 5.1, `BUILD_ID` since 5.12.
pub const NAMING: AttrFlags = AttrFlags::MMAP
    .union(AttrFlags::MMAP2)
    .union(AttrFlags::COMM)
    .union(AttrFlags::COMM_EXEC)
    .union(AttrFlags::TASK)
    .union(AttrFlags::KSYMBOL)
    .union(AttrFlags::BPF_EVENT)
    .union(AttrFlags::BUILD_ID);

/// Default frequency in samples per second, for an event with neither a frequency nor a period.
const FREQUENCY: u64 = 999;

/// Returns the events with the settings that a [`Recorder`](crate::Recorder) and the readers of its
/// recordings need: the sample fields [`FIELDS`], times of `CLOCK_MONOTONIC`, and an additional
/// last event that never fires and has the flags [`NAMING`].
///
/// An event without a period or a frequency gets 999 samples per second; a tracepoint or probe gets
/// one sample per hit. Add more fields, such as [`CALLCHAIN`](SampleType::CALLCHAIN), by
/// [`EventSetOptions::map_attrs`](perf_session::EventSetOptions::map_attrs). With
/// [`allow_fallback`](perf_session::EventSetOptions::allow_fallback) the set opens on kernels that
/// lack some of the flags.
pub fn recorded(groups: impl IntoIterator<Item = EventGroup>) -> Vec<EventGroup> {
    // A separate event, so that the losses of the others are samples only, and open on all CPUs of
    // the target.
    let side_band = Attr::software(Software::DUMMY).with_period(1).with_flags(NAMING);
    let side_band = NamedEvent::from(EventSpec::new(side_band));
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
        // With a fixed period, each sample stands for the number of events in the attr.
        let has_period = attr.flags.contains(AttrFlags::FREQ);
        let fields = if has_period { FIELDS | SampleType::PERIOD } else { FIELDS };
        attr.with_sample_type(fields).with_flags(AttrFlags::SAMPLE_ID_ALL).with_clock(Clock::MONOTONIC)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_frequency_have_their_period() {
        let clock = |change: fn(Attr) -> Attr| {
            let spec = EventSpec::new(change(Attr::software(Software::CPU_CLOCK)));
            let groups = recorded([EventGroup::from(NamedEvent::from(spec))]);
            let [event, side_band] = &groups[..] else { panic!("{groups:?}") };
            let attr = |group: &EventGroup| group.members()[0].specs()[0].attr();
            assert_eq!(attr(side_band).flags & NAMING, NAMING);
            assert_eq!(attr(event).flags & NAMING, AttrFlags::empty());
            attr(event)
        };
        let frequency = clock(|attr| attr);
        assert_eq!(frequency.sample_period, FREQUENCY);
        assert_eq!(frequency.sample_type, FIELDS | SampleType::PERIOD);
        let period = clock(|attr| attr.with_period(1000));
        assert_eq!((period.sample_period, period.sample_type), (1000, FIELDS));
    }
}
