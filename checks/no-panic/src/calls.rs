//! The entry points that must not panic. `black_box` keeps each result, and with it the call.

use core::hint::black_box;
use core::ops::ControlFlow;

use perf_abi::ReadFormat;
use perf_decode::{
    BackwardRecords, DeferredCallchains, DeferredSlot, Layouts, Merge, RawRecord, ReadValues, Record,
    SampleLayout, Scratch, Source, Window,
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

/// Two streams in the order of time.
pub fn merged(words: &[u64], layout: &SampleLayout) {
    let timed = || records(words).map(|record| (record.time(layout).unwrap_or(0), record));
    let (mut sources, mut buffer) = ([Source::new(timed()), Source::new(timed())], [None; 8]);
    let mut merge = Merge::new(black_box(&mut sources[..]), black_box(&mut buffer[..]), black_box(9));
    merge.start_round(black_box(77));
    merge.by_ref().for_each(|record| _ = black_box(record));
    merge.start_round(u64::MAX);
    black_box(merge.peek());
    black_box(merge.next_if(|(time, _)| *time < 99));
    let _ = black_box(merge.drain(|(time, _)| black_box(ControlFlow::<u64>::Break(time))));
    black_box((merge.late(), merge.early()));
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
