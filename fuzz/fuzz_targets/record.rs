//! Any words as one record of an event with any attr. Input: an attr, then the record.
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use perf_abi::{RecordType, SampleType};
use perf_decode::{RawRecord, Record, Sample, SampleHead, SampleLayout};
use perfkit_fuzz::Input;

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let layout = SampleLayout::new(&input.attr());
    let words = input.record();
    if words.is_empty() {
        return;
    }
    let raw = RawRecord::from_words(&words).expect("its size is right");
    let same = RawRecord::from_bytes(raw.bytes()).expect("a record's own bytes are a record");
    assert_eq!(same, raw);
    black_box((raw.kind(), raw.misc(), format!("{raw:?}")));
    let (time, id) = (raw.time(&layout), raw.id(&layout));
    if let Ok(trailer) = raw.sample_id(&layout) {
        black_box((trailer.pid(), trailer.tid(), trailer.stream_id(), trailer.cpu()));
        // A sample has its id and time elsewhere, and some records have a time of their own.
        if raw.kind() != RecordType::SAMPLE {
            assert_eq!(id, trailer.identifier().or(trailer.id()));
            assert_eq!(time, trailer.time().or(time));
        }
    }
    match raw.decode(&layout) {
        Ok(record) => {
            black_box(format!("{record} {record:?}"));
            if let Record::Sample(sample) = record {
                assert_eq!((time, id), (sample.time(), sample.identifier().or(sample.id())));
                let head = SampleHead::parse(raw, &layout).expect("a whole sample has its head");
                assert_eq!((head.ip(), head.period()), (sample.ip(), sample.period()));
                read_all(&sample);
            }
        }
        Err(error) => _ = black_box(format!("{error}")),
    }
});

/// Reads every field. One that the event samples must be there: the walk has proved it.
fn read_all(sample: &Sample<'_>) {
    let wanted = sample.layout().sample_type();
    macro_rules! present {
        ($($field:ident $($with:ident)+),* $(,)?) => {$(
            let asked = wanted.intersects(SampleType::empty()$(.union(SampleType::$with))+);
            assert_eq!(sample.$field().is_some(), asked, stringify!($field));
        )*};
    }
    present! {
        identifier IDENTIFIER, ip IP, pid TID, tid TID, time TIME, addr ADDR, id ID, stream_id STREAM_ID,
        cpu CPU, period PERIOD, read READ, callchain CALLCHAIN, raw RAW, branches BRANCH_STACK,
        regs_user REGS_USER, stack_user STACK_USER, weight WEIGHT WEIGHT_STRUCT, data_src DATA_SRC,
        transaction TRANSACTION, regs_intr REGS_INTR, phys_addr PHYS_ADDR, cgroup CGROUP,
        data_page_size DATA_PAGE_SIZE, code_page_size CODE_PAGE_SIZE, aux AUX,
    }
    let words = sample.record().words().len();
    if let Some(read) = sample.read() {
        assert!(read.iter().count() <= words);
    }
    if let Some(chain) = sample.callchain() {
        assert!(chain.frames().count() <= words);
        black_box(chain.deferred_cookie());
    }
    if let Some(branches) = sample.branches() {
        assert!(branches.entries().len() * 3 <= words);
        black_box((branches.hw_index(), branches.counters().len()));
    }
    for regs in sample.regs_user().into_iter().chain(sample.regs_intr()) {
        for (register, value) in regs.iter() {
            assert_eq!(regs.get(register), Some(value));
        }
    }
    black_box(sample.stack_user().map(|stack| stack.bytes().len()));
    black_box(format!("{sample:?}"));
}
