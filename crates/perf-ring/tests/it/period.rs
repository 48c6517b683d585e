//! `SampleType::PERIOD` changes the number of samples of a software event or a tracepoint.

use rustix::time::{ClockId, clock_gettime};

use crate::prelude::*;

/// Returns the period in each sample of about 20 page faults, of an event with this period.
fn periods(period: u64, fields: SampleType) -> Option<Vec<Option<u64>>> {
    let mut ring = own_ring(&faults().with_period(period).with_sample_type(fields), 64)?;
    touch(1); // the code of `touch` is mapped now
    during(&ring, || touch(20));
    Some(filter_map(&mut ring, |record| match record {
        Record::Sample(sample) => Some(sample.period()),
        _ => None,
    }))
}

#[test]
fn software_event_samples_each_period_without_the_field_period() {
    let Some(periods) = periods(10, SampleType::IP) else { return };
    assert_eq!(periods, [None; 2]);
}

#[test]
fn software_event_with_the_field_period_samples_every_hit() {
    let Some(periods) = periods(10, SampleType::IP | SampleType::PERIOD) else { return };
    assert!(periods.len() >= 20 && periods.iter().all(|period| *period == Some(1)), "{periods:?}");
}

/// The samples of a tracepoint that counts the ns for which a task ran, one hit at each tick and
/// switch.
struct Runtimes {
    /// Each sample's period, and the payload's field `runtime`.
    samples: Vec<(Option<u64>, u64)>,
    throttled: bool,
}

/// Samples the runtime of the calling thread, which computes for 50 ms, with a period of 1.
fn runtimes(fields: SampleType) -> Option<Runtimes> {
    let attr = tracepoint("sched/sched_stat_runtime")?;
    let attr = attr.with_sample_type(fields | SampleType::RAW);
    let mut ring = own_ring(&attr, 64)?;
    during(&ring, || {
        let ran = || clock_gettime(ClockId::ThreadCPUTime).tv_nsec;
        let start = ran();
        while ran() < start + 50_000_000 {
            spin(10_000);
        }
    });
    let records = filter_map(&mut ring, |record| match record {
        Record::Sample(sample) => {
            let runtime = sample.raw().unwrap().get(16..24).unwrap().try_into().unwrap();
            Some(Some((sample.period(), u64::from_ne_bytes(runtime))))
        }
        Record::Throttle(_) => Some(None),
        _ => None,
    });
    let throttled = records.contains(&None);
    Some(Runtimes { samples: records.into_iter().flatten().collect(), throttled })
}

#[test]
fn tracepoint_that_counts_is_copied_and_throttled_without_the_field_period() {
    let Some(Runtimes { samples, throttled }) = runtimes(SampleType::empty()) else { return };
    let mut distinct = samples.clone();
    distinct.dedup();
    let (samples, hits) = (samples.len(), distinct.len());
    println!("{samples} samples of {hits} hits, throttled: {throttled}");
    assert!(hits > 0 && samples > 50 * hits && throttled, "{samples} of {hits}, throttled: {throttled}");
}

#[test]
fn tracepoint_that_counts_has_one_sample_a_hit_with_the_field_period() {
    let Some(Runtimes { samples, throttled }) = runtimes(SampleType::PERIOD) else { return };
    println!("{} samples, throttled: {throttled}", samples.len());
    assert!(samples.len() > 2 && !throttled, "{samples:?}");
    assert!(samples.iter().all(|&(period, runtime)| period == Some(runtime)), "{samples:?}");
}
