//! Prints where the calling thread was each millisecond, by a layout that the compiler knows.

use perf_ring::decode::ConstantLayout;
use perf_ring::{Attr, AttrFlags, Event, Record, Ring, SampleLayout, SampleType, Software, Target};

// ANCHOR: layout
const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
    .with_period(1_000_000) // ns
    .with_sample_type(SampleType::IP.union(SampleType::TIME))
    .with_flags(AttrFlags::EXCLUDE_KERNEL);

/// The layout of the samples, as a type without size.
#[derive(Clone, Copy)]
struct CpuClock;

impl ConstantLayout for CpuClock {
    const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);
}
// ANCHOR_END: layout

/// Samples the calling thread during `work`. Returns the times, in ns of the event's clock, and the
/// addresses.
pub(crate) fn sample(work: impl FnOnce()) -> Result<Vec<(u64, u64)>, Box<dyn std::error::Error>> {
    let event = Event::open(&ATTR, Target::calling_thread())?;
    let mut ring = Ring::map_bytes(event, 64 << 10)?;
    work();
    let mut found = Vec::new();
    for record in ring.batch()?.records() {
        match record?.decode(CpuClock)? {
            Record::Sample(sample) => found.extend(sample.time().zip(sample.ip())),
            other => println!("{other}"),
        }
    }
    Ok(found)
}

fn main() -> Result<(), perf_ring::Report> {
    let work = || {
        let mut words: Vec<_> = (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_769).to_string()).collect();
        words.sort();
    };
    for (time, ip) in sample(work)? {
        println!("{time}: {ip:#x}");
    }
    Ok(())
}
