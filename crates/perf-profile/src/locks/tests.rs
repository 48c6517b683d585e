//! Sums of made-up waits.

use std::fmt::Write as _;

use perf_abi::{Attr, AttrFlags, EventType, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_tracepoint::Format;

use super::{ContentionFlags, LockEvent, LockId, Locks};

fn attr() -> Attr {
    let fields = SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::RAW;
    let attr = Attr::software(Software::DUMMY).with_sample_type(fields).with_flags(AttrFlags::SAMPLE_ID_ALL);
    attr.with(|attr| attr.kind = EventType::TRACEPOINT).with_period(1)
}

/// Adds a sample with words as its fields, and itself as its data: its time.
fn add(locks: &mut Locks<u64>, name: &str, tid: u32, time: u64, fields: &[(&str, u64)]) {
    let mut text = format!("name: {name}\nID: 7\nformat:\n");
    let mut raw = vec![0; 8];
    for (field, value) in fields {
        let offset = raw.len();
        writeln!(text, "\tfield:u64 {field};\toffset:{offset};\tsize:8;\tsigned:1;").unwrap();
        raw.extend(value.to_ne_bytes());
    }
    let event = LockEvent::new(&attr(), &Format::parse(&text).unwrap()).unwrap();
    let words = SampleBuilder::new(&attr()).tid(7, tid).time(time).cpu(1).raw(&raw).finish();
    let layout = SampleLayout::new(&attr());
    let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
    let Record::Sample(sample) = &record else { panic!("{record:?}") };
    locks.update(&record);
    locks.add(&event, sample, || time);
}

fn enter(locks: &mut Locks<u64>, tid: u32, time: u64, op: u64, value: u64) {
    add(locks, "sys_enter_futex", tid, time, &[("uaddr", 0x1000), ("op", op), ("val", value)]);
}

fn exit(locks: &mut Locks<u64>, tid: u32, time: u64, result: i64) {
    add(locks, "sys_exit_futex", tid, time, &[("ret", result.cast_unsigned())]);
}

const FUTEX: LockId = LockId::User { pid: 7, address: 0x1000 };
const WAIT_PRIVATE: u64 = 128;
const WAKE_PRIVATE: u64 = 129;

#[test]
fn a_wait_lasts_until_the_return_and_its_waker_is_the_last_one() {
    let mut locks = Locks::new();
    enter(&mut locks, 8, 100, WAIT_PRIVATE, 2);
    enter(&mut locks, 9, 120, WAKE_PRIVATE, 1);
    exit(&mut locks, 8, 130, 0);
    exit(&mut locks, 9, 131, 1);
    // The word has changed.
    enter(&mut locks, 8, 140, WAIT_PRIVATE, 2);
    exit(&mut locks, 8, 141, -11);
    // Nobody wakes it.
    enter(&mut locks, 8, 150, WAIT_PRIVATE, 2);
    exit(&mut locks, 8, 190, -110);
    enter(&mut locks, 8, 200, WAIT_PRIVATE, 2);
    locks.finish(260);
    let mut waits: Vec<_> = locks
        .waits()
        .map(|(lock, data, sums)| {
            (data, lock == FUTEX, sums.waits.total(), sums.timeouts, sums.unfinished.total())
        })
        .collect();
    waits.sort_unstable();
    assert_eq!(waits, [(100, true, 30, 0, 0), (150, true, 40, 1, 0), (200, true, 0, 0, 60)]);
    let wakers: Vec<_> = locks.wakers().map(|(lock, data, waits)| (lock, data, waits.total())).collect();
    assert_eq!(wakers, [(FUTEX, 120, 30)]);
}

#[test]
fn owner_is_a_thread_of_the_process_in_a_word_with_waiters() {
    let mut locks = Locks::new();
    enter(&mut locks, 9, 90, WAKE_PRIVATE, 1);
    for value in [2, 0x8000_0009, 9, 0x8000_000a, 0x1_8000_0009, 0xc000_0009] {
        enter(&mut locks, 8, 100, WAIT_PRIVATE, value);
    }
    assert_eq!(locks.owners().collect::<Vec<_>>(), [(FUTEX, 9, 2)]);
}

#[test]
fn lock_of_the_kernel_is_contended_from_its_first_begin() {
    let mut locks = Locks::new();
    let flags = ContentionFlags::MUTEX.0.into();
    let begin = |locks: &mut Locks<u64>, tid, time| {
        add(locks, "contention_begin", tid, time, &[("lock_addr", 64), ("flags", flags)]);
    };
    let end = |locks: &mut Locks<u64>, tid, time| {
        add(locks, "contention_end", tid, time, &[("lock_addr", 64), ("ret", 0)]);
    };
    begin(&mut locks, 8, 100);
    begin(&mut locks, 8, 110);
    begin(&mut locks, 0, 111);
    end(&mut locks, 8, 140);
    end(&mut locks, 8, 150);
    end(&mut locks, 0, 151);
    let lock = LockId::Kernel { address: 64, flags: ContentionFlags::MUTEX };
    let mut waits: Vec<_> = locks
        .waits()
        .map(|(lock, data, sums)| (data, lock, sums.waits.total(), sums.waits.count()))
        .collect();
    waits.sort_unstable();
    assert_eq!(waits, [(100, lock, 40, 1), (111, lock, 40, 1)]);
    let names = [0, 1, 3, 2, 32, 33, 64].map(|flags| ContentionFlags(flags).to_string());
    assert_eq!(names, ["semaphore", "spinlock", "rwlock:R", "rwsem:R", "mutex", "mutex", "flags 0x40"]);
}

#[test]
fn waits_in_which_records_were_lost_are_left_out() {
    let mut locks = Locks::new();
    enter(&mut locks, 8, 100, WAIT_PRIVATE, 2);
    enter(&mut locks, 9, 100, WAKE_PRIVATE, 2);
    let lost = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, 5]);
    let lost = lost.with_trailer(&attr(), &SampleIdValues::default()).finish();
    locks.update(&RawRecord::from_words(&lost).unwrap().decode(&SampleLayout::new(&attr())).unwrap());
    exit(&mut locks, 8, 130, 0);
    locks.finish(200);
    assert_eq!((locks.waits().count(), locks.lost(), locks.broken()), (0, 5, 1));
}

#[test]
fn hostile_payloads_are_ignored_or_saturate() {
    let mut locks = Locks::new();
    for time in [u64::MAX, 0, 7] {
        enter(&mut locks, 8, time, u64::MAX - 3, u64::MAX);
        enter(&mut locks, 8, time, WAIT_PRIVATE, u64::MAX);
        exit(&mut locks, 8, u64::MAX - time, i64::MIN);
    }
    let total = locks.waits().map(|(.., sums)| sums.waits.total()).max();
    assert_eq!(total, Some(u64::MAX));
}
