//! A flight recorder: it costs one small ring however long it runs, and tells at the incident what came
//! last.
//!
//! What it records are this program's own calls of `lseek`, each with its number as the offset.

use std::error::Error;

use perf_abi::{Attr, AttrFlags, SampleType};
use perf_decode::{Record, SampleLayout};
use perf_sys::{Event, SnapshotRing, Target};

/// Makes `calls` numbered calls and returns the numbers of the last `wanted` of them, newest first.
pub(crate) fn last_calls(calls: u64, wanted: usize) -> Result<Vec<u64>, Box<dyn Error>> {
    let id = std::fs::read_to_string("/sys/kernel/tracing/events/syscalls/sys_enter_lseek/id")?;
    let attr = Attr::tracepoint(id.trim().parse()?)
        .with_period(1)
        .with_sample_type(SampleType::TIME | SampleType::RAW)
        .with_flags(AttrFlags::WRITE_BACKWARD);
    let layout = SampleLayout::new(&attr);
    let mut recorder = SnapshotRing::map(Event::open(&attr, Target::calling_thread())?, 1)?;

    let null = std::fs::File::open("/dev/null")?;
    for number in 0..calls {
        rustix::fs::seek(&null, rustix::fs::SeekFrom::Start(number))?;
    }

    let mut snapshot = recorder.snapshot()?;
    let mut last = Vec::new();
    for record in snapshot.records()?.take(wanted) {
        let record = record?;
        let Record::Sample(sample) = record.decode(&layout)? else { continue };
        // The tracepoint's fields: two words of what they all have, then the arguments: fd, offset.
        let argument = sample.raw().and_then(|raw| raw.get(24..32)).ok_or("no arguments in the record")?;
        last.push(u64::from_ne_bytes(argument.try_into()?));
    }
    Ok(last)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("the last of 100000 calls, newest first: {:?}", last_calls(100_000, 5)?);
    Ok(())
}
