//! The entry points that must not panic. `black_box` keeps each result, and with it the call.

use core::hint::black_box;

use perf_abi::ReadFormat;
use perf_decode::{
    Backward, Deferred, Merge, RawRecord, ReadValues, Record, Sample, SampleHead, SampleLayout, Scratch,
    Source, Window,
};

/// Framing from a plain slice.
pub fn framing(words: &[u64], layout: &SampleLayout) {
    records(words).for_each(|record| raw(record, layout));
    let _ = black_box(RawRecord::from_words(words));
    let _ = black_box(ReadValues::parse(words, black_box(ReadFormat::GROUP)));
}

/// A ring that the kernel writes forwards.
pub fn window(data: &[u64], tail: u64, head: u64, layout: &SampleLayout) {
    let mut scratch = Scratch::new();
    if let Ok(window) = Window::over(data, tail, head) {
        black_box((window.len(), window.as_slices()));
        let mut records = window.records(&mut scratch);
        records.by_ref().flatten().for_each(|record| raw(record, layout));
        black_box(records.position());
    }
}

/// A ring that the kernel writes backwards.
pub fn backward(data: &[u64], head: u64, layout: &SampleLayout) {
    let mut scratch = Scratch::new();
    if let Ok(mut records) = Backward::over(data, head, &mut scratch) {
        records.by_ref().flatten().for_each(|record| raw(record, layout));
        black_box((records.position(), records.cut()));
    }
}

/// Callchains that come after their samples.
pub fn joined(words: &[u64], layout: &SampleLayout) {
    let mut room = [None; 4];
    let mut deferred = Deferred::new(black_box(&mut room));
    for record in records(words) {
        match record.decode(layout) {
            Ok(Record::Sample(sample)) => _ = black_box(deferred.push(sample)),
            Ok(Record::CallchainDeferred(user)) => {
                deferred.join(user).flat_map(|joined| joined.frames()).for_each(|frame| _ = black_box(frame))
            }
            _ => {}
        }
    }
    deferred.rest().for_each(|sample| _ = black_box(sample));
}

/// Two streams in the order of time.
pub fn merged(words: &[u64], layout: &SampleLayout) {
    let timed = || records(words).map(|record| (record.time(layout).unwrap_or(0), record));
    let (mut sources, mut room) = ([Source::new(timed()), Source::new(timed())], [None; 8]);
    let merge = Merge::new(black_box(&mut sources), black_box(&mut room), black_box(9));
    merge.for_each(|record| _ = black_box(record));
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

/// Everything that a framed record of any kind can be asked.
fn raw(raw: RawRecord<'_>, layout: &SampleLayout) {
    black_box((raw.kind(), raw.misc(), raw.size(), raw.words(), raw.bytes()));
    black_box((raw.time(layout), raw.id(layout)));
    let _ = black_box(RawRecord::from_bytes(raw.bytes()));
    if let Ok(id) = raw.sample_id(layout) {
        black_box((id.pid(), id.tid(), id.time(), id.id(), id.stream_id(), id.cpu(), id.identifier()));
    }
    if let Ok(head) = SampleHead::parse(raw, layout) {
        black_box((head.ip(), head.time(), head.id()));
    }
    match raw.decode(layout) {
        Ok(Record::Sample(decoded)) => sample(&decoded),
        other => {
            let _ = black_box(other);
        }
    }
}

/// Every accessor of a sample.
fn sample(sample: &Sample<'_>) {
    black_box((sample.identifier(), sample.ip(), sample.pid(), sample.tid(), sample.time()));
    black_box((sample.addr(), sample.id(), sample.stream_id(), sample.cpu(), sample.period()));
    black_box((sample.raw(), sample.weight(), sample.data_src(), sample.transaction()));
    black_box((sample.phys_addr(), sample.cgroup(), sample.data_page_size(), sample.code_page_size()));
    black_box((sample.aux(), sample.stack_user().map(|stack| stack.bytes())));
    if let Some(read) = sample.read() {
        black_box((read.time_enabled(), read.time_running()));
        read.iter().for_each(|count| _ = black_box(count));
    }
    if let Some(chain) = sample.callchain() {
        black_box(chain.deferred_cookie());
        chain.frames().for_each(|frame| _ = black_box(frame));
    }
    if let Some(branches) = sample.branches() {
        black_box((branches.hw_index(), branches.entries(), branches.counters()));
    }
    for regs in sample.regs_user().into_iter().chain(sample.regs_intr()) {
        black_box((regs.abi(), regs.get(black_box(200))));
        regs.iter().for_each(|register| _ = black_box(register));
    }
    sample.fields().for_each(|field| _ = black_box(field));
}
