//! A reader that returns one record per call. Its state is in the ring, and records are not copied.
//!
//! It samples this thread and prints a profile by address.

use std::collections::BTreeMap;
use std::error::Error;

use perf_ring::{Attr, AttrFlags, Event, Record, Ring, SampleLayout, SampleType, Software, Target};

/// A ring, and the layout that decodes its records.
pub(crate) struct Reader {
    ring: Ring,
    layout: SampleLayout,
}

impl Reader {
    /// Samples the calling thread once per 100 us of CPU time.
    pub(crate) fn start() -> Result<Self, perf_ring::Error> {
        let attr = Attr::software(Software::CPU_CLOCK)
            .with_period(100_000) // ns
            .with_sample_type(SampleType::IP | SampleType::TIME)
            .with_flags(AttrFlags::EXCLUDE_KERNEL);
        let ring = Ring::map_bytes(Event::open(&attr, Target::calling_thread())?, 1 << 16)?;
        Ok(Self { ring, layout: SampleLayout::new(&attr) })
    }

    /// Returns the next record, or `None` if no record is unread.
    ///
    /// The kernel cannot overwrite the record before the next call.
    pub(crate) fn read(&mut self) -> perf_ring::Result<Option<Record<'_>>> {
        let Some(record) = self.ring.next_record()? else { return Ok(None) };
        Ok(Some(record.decode(&self.layout)?))
    }

    /// Stops sampling. The records that are in the ring remain readable.
    pub(crate) fn stop(&self) -> Result<(), perf_ring::Error> {
        Ok(self.ring.event().disable()?)
    }
}

/// Counts samples by the 64 bytes of code around their address.
pub(crate) fn profile(work: impl FnOnce()) -> Result<BTreeMap<u64, u64>, Box<dyn Error>> {
    let mut reader = Reader::start()?;
    work();
    reader.stop()?;
    let mut lines = BTreeMap::new();
    while let Some(record) = reader.read()? {
        match record {
            Record::Sample(sample) => {
                if let Some(ip) = sample.ip() {
                    *lines.entry(ip & !63).or_default() += 1;
                }
            }
            Record::Lost(lost) => eprintln!("{} records lost", lost.lost()),
            other => println!("{other}"),
        }
    }
    Ok(lines)
}

fn main() -> Result<(), perf_ring::Report> {
    let lines = profile(|| {
        std::hint::black_box((0..50_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1)));
    })?;
    for (line, samples) in lines {
        println!("{line:#x}: {samples} samples");
    }
    Ok(())
}
