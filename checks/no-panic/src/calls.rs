//! The entry points that must not panic. `black_box` keeps each result, and with it the call.

use core::hint::black_box;

use perf_abi::ReadFormat;
use perf_decode::{
    BackwardRecords, DeferredCallchains, DeferredSlot, Head, Heads, Layouts, RawRecord, ReadValues, Record,
    SampleLayout, Scratch, Window,
};

use crate::record::{Clock, Everything, raw};

/// Framing from a plain slice.
pub fn framing(words: &[u64], layout: &SampleLayout) {
    records(words).for_each(|record| {
        raw(record, layout);
        raw(record, Clock);
        raw(record, Everything);
    });
    let _ = black_box(RawRecord::from_words(words));
    let _ = black_box(ReadValues::parse(words, black_box(ReadFormat::GROUP)));
    black_box((layout.sample_type(), layout.read_format(), layout.regs_user(), layout.regs_intr()));
    black_box(layout.unknown());
}

/// A ring that the kernel writes forwards.
pub fn window(data: &[u64], tail: u64, head: u64, layout: &SampleLayout) {
    let mut scratch = Scratch::new();
    let _ = black_box(Window::span(data.len(), tail, head));
    if let Ok(window) = Window::new(data, tail, head) {
        let (first, second) = window.as_slices();
        black_box((window.len(), window.is_empty(), Window::from_slices(second, first)));
        let mut records = window.records(&mut scratch);
        records.by_ref().flatten().for_each(|record| raw(record, layout));
        black_box(records.position());
    }
}

/// A ring that the kernel writes backwards.
pub fn backward(data: &[u64], head: u64, layout: &SampleLayout) {
    let mut scratch = Scratch::new();
    if let Ok(mut records) = BackwardRecords::new(data, head, &mut scratch) {
        records.by_ref().flatten().for_each(|record| raw(record, layout));
        black_box((records.position(), records.truncated_len()));
    }
}

/// A ring that several events share.
pub fn shared(words: &[u64], table: &mut [(u64, SampleLayout)]) {
    if let Ok(layouts) = Layouts::new(table) {
        records(words).for_each(|record| _ = black_box(layouts.find(record)));
        black_box(layouts.get(black_box(7)));
        layouts.iter().for_each(|event| _ = black_box(event));
    }
}

/// Callchains that come after their samples.
pub fn joined(words: &[u64], layout: &SampleLayout) {
    let mut slots = [DeferredSlot::EMPTY; 4];
    let mut deferred = DeferredCallchains::new(black_box(&mut slots[..]));
    for record in records(words) {
        match record.decode(layout) {
            Ok(Record::Sample(sample)) => _ = black_box(deferred.push(sample)),
            Ok(Record::CallchainDeferred(user)) => deferred
                .join(user)
                .flat_map(|completed| completed.frames())
                .for_each(|frame| _ = black_box(frame)),
            _ => {}
        }
    }
    black_box(deferred.evicted());
    deferred.rest().for_each(|sample| _ = black_box(sample));
}

/// Sources in the order of time.
pub fn ordered(times: &[u64]) {
    let mut slots = [Head::default(); 16];
    let mut heads = Heads::new(black_box(&mut slots[..]));
    for (source, time) in times.iter().enumerate() {
        black_box(heads.insert(source, *time));
        black_box((heads.first(), heads.time(), heads.bound()));
    }
    times.iter().for_each(|time| heads.advance(time.checked_sub(black_box(7))));
    heads.clear();
}

/// The records at the start of `words`.
fn records<'a>(words: &'a [u64]) -> impl Iterator<Item = RawRecord<'a>> {
    let mut rest = words;
    core::iter::from_fn(move || {
        let (record, after) = RawRecord::split_first(rest).ok()?;
        rest = after;
        Some(record)
    })
}
