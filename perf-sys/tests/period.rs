//! `SampleType::PERIOD` changes the number of samples of a software event.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;
mod work;

use perf_abi::SampleType;
use perf_decode::Record;
use support::{during, filter_map, ring};
use work::{faults, touch};

/// Returns the period in each sample of about 20 page faults, of an event with this period.
fn periods(period: u64, fields: SampleType) -> Option<Vec<Option<u64>>> {
    let mut ring = ring(&faults().with_period(period).with_sample_type(fields))?;
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
