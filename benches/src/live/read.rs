//! The cost per record of each way to read a ring: the ways of one ring, and the sorted drain of two rings beside
//! a scan by hand. Each pass fails unless its way has read all records.

use perf_abi::{AttrFlags, RecordType};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_ring::{Batch, Event, Ring, RingSet, Target};

use super::stream::{Faults, attr};
use crate::counter::Counter;
use crate::number;
use crate::table::{Result, table};

/// Records in each ring: 56 bytes each, less than the ring.
const RECORDS: usize = 8_000;
const PAGES: usize = 128;

pub(crate) fn read(arguments: &[String]) -> Result<()> {
    let passes = number(arguments, 0, 101)?;
    one_ring(passes)?;
    two_rings("two rings, alternating", 1, passes)?;
    two_rings("two rings, runs of 50", 50, passes)
}

fn event() -> Result<Event> {
    let attr = attr(0).with_flags(AttrFlags::SAMPLE_ID_ALL);
    Ok(Event::open(&attr, Target::calling_thread())?)
}

/// The sum of what is read of each sample: its ip and its time.
#[derive(Default)]
struct Sum(u64, u64);

impl Sum {
    #[inline(always)]
    fn add(&mut self, record: perf_decode::Result<RawRecord<'_>>, layout: &SampleLayout) {
        if let Ok(Record::Sample(sample)) = record.and_then(|record| record.decode(layout)) {
            self.0 += 1;
            self.1 = self.1.wrapping_add(sample.ip().unwrap_or(0)).wrapping_add(sample.time().unwrap_or(0));
        }
    }
}

fn batch(ring: &mut Ring, layout: &SampleLayout, sum: &mut Sum, _: &mut Vec<u64>) -> Result<()> {
    for record in ring.batch()?.records() {
        sum.add(record, layout);
    }
    Ok(())
}

fn cursor(ring: &mut Ring, layout: &SampleLayout, sum: &mut Sum, _: &mut Vec<u64>) -> Result<()> {
    while ring.refresh()? {
        while let Some(record) = ring.next() {
            sum.add(record, layout);
        }
    }
    Ok(())
}

fn copy(ring: &mut Ring, layout: &SampleLayout, sum: &mut Sum, copy: &mut Vec<u64>) -> Result<()> {
    for record in ring.copy_into(copy)?.records(&mut []) {
        sum.add(record, layout);
    }
    Ok(())
}

type Read = fn(&mut Ring, &SampleLayout, &mut Sum, &mut Vec<u64>) -> Result<()>;

fn one_ring(passes: usize) -> Result<()> {
    let ways: [Read; 3] = [batch, cursor, copy];
    let mut ring = Ring::map(event()?, PAGES)?;
    let layout = SampleLayout::new(ring.event().attr());
    let (mut faults, mut buffer) = (Faults::new()?, Vec::with_capacity(RECORDS * 8));
    let clock = Counter::nanoseconds()?;
    let names = ["batch", "cursor", "copy"];
    table("one ring, ip and time", ["ns/record", "records"], &names, passes, |index| {
        ring.event().enable()?;
        faults.make(RECORDS);
        ring.event().disable()?;
        let mut sum = Sum::default();
        let read = || ways[index](&mut ring, &layout, &mut sum, &mut buffer);
        let time = clock.count(read).ok_or("the task clock stopped")?;
        expect(&sum, RECORDS)?;
        Ok([time as f64 / sum.0 as f64, sum.0 as f64])
    })
}

/// Fails unless all records were read: a stray fault adds one at times.
fn expect(sum: &Sum, records: usize) -> Result<()> {
    if (records as u64..records as u64 + 10).contains(&sum.0) {
        return Ok(());
    }
    Err(format!("expected {records} samples, found {}", sum.0).into())
}

/// The next sample of a ring, with its time.
fn head<'b>(
    records: &mut impl Iterator<Item = perf_decode::Result<RawRecord<'b>>>,
) -> Option<(u64, &'b [u64])> {
    let samples = |record: RawRecord<'b>| (record.kind() == RecordType::SAMPLE).then(|| record.words());
    let words = records.find_map(|record| samples(record.ok()?))?;
    Some((*words.get(3)?, words))
}

/// Reads two batches in the order of time, as a program does that knows its attr: the offsets are constants.
fn by_hand(mut first: Batch<'_>, mut second: Batch<'_>, sum: &mut Sum) {
    let (mut a, mut b) = (first.records(), second.records());
    let (mut next_a, mut next_b) = (head(&mut a), head(&mut b));
    loop {
        let (time, words) = match (next_a, next_b) {
            (Some(found), other) if other.is_none_or(|(time, _)| found.0 <= time) => {
                next_a = head(&mut a);
                found
            }
            (_, Some(found)) => {
                next_b = head(&mut b);
                found
            }
            _ => break,
        };
        sum.0 += 1;
        sum.1 = sum.1.wrapping_add(words[1]).wrapping_add(time);
    }
}

fn two_rings(title: &str, run: usize, passes: usize) -> Result<()> {
    let mut set = RingSet::new()?;
    for key in 0..2 {
        set.add(key, Ring::map(event()?, PAGES)?)?;
    }
    let events: Vec<_> = set.iter().map(|(_, ring)| ring.event().clone()).collect();
    let mut faults = Faults::new()?;
    let clock = Counter::nanoseconds()?;
    let names = ["by hand", "drain_sorted, raw", "drain_sorted"];
    table(title, ["ns/record", "records", "late"], &names, passes, |index| {
        let mut made = 0;
        for event in events.iter().cycle() {
            event.enable()?;
            faults.make(run);
            event.disable()?;
            made += run;
            if made >= 2 * RECORDS {
                break;
            }
        }
        let mut sum = Sum::default();
        let late = set.late();
        let read = || -> Result<()> {
            match index {
                0 => {
                    let mut batches = set.ready();
                    if let (Some((_, first)), Some((_, second))) = (batches.next(), batches.next()) {
                        by_hand(first?, second?, &mut sum);
                    }
                }
                1 => {
                    set.flush_sorted(|record| {
                        sum.0 += 1;
                        let ip = record.raw().words().get(1).copied().unwrap_or(0);
                        sum.1 = sum.1.wrapping_add(ip).wrapping_add(record.time());
                    })?;
                }
                _ => {
                    set.flush_sorted(|record| {
                        if let Ok(Record::Sample(sample)) = record.decode() {
                            sum.0 += 1;
                            sum.1 = sum.1.wrapping_add(sample.ip().unwrap_or(0)).wrapping_add(record.time());
                        }
                    })?;
                }
            }
            Ok(())
        };
        let time = clock.count(read).ok_or("the task clock stopped")?;
        expect(&sum, 2 * RECORDS)?;
        Ok([time as f64 / sum.0 as f64, sum.0 as f64, (set.late() - late) as f64])
    })
}
