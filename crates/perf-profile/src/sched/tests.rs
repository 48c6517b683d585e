//! Sums of made-up switches.

use perf_abi::{Attr, AttrFlags, EventType, Misc, RecordType, SampleType, Software};
use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_tracepoint::Format;

use super::{SchedEvent, SchedSummary, SchedThread, ThreadState};

const SWITCH: &str = "name: sched_switch\nID: 7\nformat:\n\tfield:int prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\tfield:int next_pid;\toffset:24;\tsize:4;\tsigned:1;\n";

/// The format of an event about one thread.
fn of_thread(name: &str) -> String {
    format!(
        "name: {name}\nID: 7\nformat:\n\tfield:char comm[4];\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:int pid;\toffset:12;\tsize:4;\tsigned:1;\n"
    )
}

fn attr() -> Attr {
    let fields = SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::RAW;
    let attr = Attr::software(Software::DUMMY).with_sample_type(fields).with_flags(AttrFlags::SAMPLE_ID_ALL);
    attr.with(|attr| attr.kind = EventType::TRACEPOINT).with_period(1)
}

fn event(format: &str) -> SchedEvent {
    SchedEvent::new(&attr(), &Format::parse(format).unwrap()).unwrap()
}

fn add(summary: &mut SchedSummary, format: &str, time: u64, cpu: u32, raw: &[u8]) {
    let words = SampleBuilder::new(&attr()).tid(70, 7).time(time).cpu(cpu).raw(raw).finish();
    let layout = SampleLayout::new(&attr());
    let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
    let Record::Sample(sample) = &record else { panic!("{record:?}") };
    summary.update(&record, true);
    summary.add(&event(format), sample);
}

/// Adds a switch on a CPU: a thread leaves it in a state, and another one runs.
fn switch(summary: &mut SchedSummary, time: u64, cpu: u32, prev: i32, state: u64, next: i32) {
    let mut raw = [0; 32];
    raw[8..12].copy_from_slice(&prev.to_ne_bytes());
    raw[16..24].copy_from_slice(&state.to_ne_bytes());
    raw[24..28].copy_from_slice(&next.to_ne_bytes());
    add(summary, SWITCH, time, cpu, &raw);
}

fn woken(summary: &mut SchedSummary, name: &str, time: u64, tid: i32) {
    let mut raw = [0; 16];
    raw[8..12].copy_from_slice(b"sort");
    raw[12..].copy_from_slice(&tid.to_ne_bytes());
    add(summary, &of_thread(name), time, 0, &raw);
}

fn thread(summary: &SchedSummary, tid: u32) -> &SchedThread {
    summary.threads().find(|(id, _)| *id == tid).unwrap().1
}

#[test]
fn a_thread_waits_from_its_wakeup_or_its_preemption() {
    let mut summary = SchedSummary::new(false);
    switch(&mut summary, 100, 0, 0, 0, 7);
    switch(&mut summary, 130, 0, 7, 1, 8);
    woken(&mut summary, "sched_wakeup", 150, 7);
    switch(&mut summary, 160, 0, 8, 0x100, 7);
    switch(&mut summary, 170, 0, 7, 0, 8);
    summary.finish(180);
    let seven = thread(&summary, 7);
    assert_eq!((seven.runs, seven.runtime, &seven.comm[..], seven.pid), (2, 40, &b"sort"[..], Some(70)));
    // The first wait is of unknown length.
    assert_eq!((seven.waits.count(), seven.unknown_waits, seven.waits.total()), (2, 1, 10));
    assert_eq!((seven.sleeps.count(), seven.sleeps.total(), seven.state), (1, 20, ThreadState::Ready(170)));
    let eight = thread(&summary, 8);
    assert_eq!((eight.waits.count(), eight.waits.total(), eight.waits.max_end()), (2, 10, 170));
    assert_eq!((eight.runtime, eight.migrations), (40, 0));
    let (_, cpu) = summary.cpus().next().unwrap();
    assert_eq!((cpu.busy, cpu.idle, cpu.switches, summary.unpaired()), (80, 0, 4, 0));
}

#[test]
fn a_cpu_is_busy_from_the_first_event_to_the_end() {
    let mut summary = SchedSummary::new(false);
    switch(&mut summary, 100, 0, 7, 1, 0);
    switch(&mut summary, 140, 1, 8, 1, 0);
    switch(&mut summary, 150, 0, 0, 0, 7);
    summary.finish(200);
    let sums: Vec<_> =
        summary.cpus().map(|(number, cpu)| (number, cpu.busy, cpu.idle, cpu.unknown)).collect();
    assert_eq!(sums, [(0, 50, 50, 0), (1, 40, 60, 0)]);
    assert_eq!((thread(&summary, 8).runtime, summary.duration()), (40, 100));
}

#[test]
fn migrations_are_the_events_or_else_changes_of_the_cpu() {
    for (has_events, expected) in [(false, 1), (true, 2)] {
        let mut summary = SchedSummary::new(has_events);
        switch(&mut summary, 100, 0, 0, 0, 7);
        switch(&mut summary, 110, 0, 7, 1, 0);
        if has_events {
            (0..2).for_each(|_| woken(&mut summary, "sched_migrate_task", 115, 7));
        }
        switch(&mut summary, 120, 1, 0, 0, 7);
        switch(&mut summary, 130, 1, 7, 1, 0);
        assert_eq!(thread(&summary, 7).migrations, expected);
    }
}

#[test]
fn lost_records_end_what_is_known() {
    let mut summary = SchedSummary::new(false);
    switch(&mut summary, 100, 0, 0, 0, 7);
    switch(&mut summary, 110, 0, 7, 0, 8);
    let lost = RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, 5]);
    let lost =
        lost.with_trailer(&attr(), &SampleIdValues { time: 120, ..SampleIdValues::default() }).finish();
    summary.update(&RawRecord::from_words(&lost).unwrap().decode(&SampleLayout::new(&attr())).unwrap(), true);
    switch(&mut summary, 200, 0, 9, 0, 7);
    summary.finish(210);
    let seven = thread(&summary, 7);
    assert_eq!((seven.waits.total(), seven.runs, seven.unknown_waits, seven.runtime), (0, 2, 2, 20));
    assert_eq!((thread(&summary, 8).runtime, thread(&summary, 9).runtime, summary.lost()), (0, 0, 5));
    let (_, cpu) = summary.cpus().next().unwrap();
    assert_eq!((cpu.busy, cpu.idle, cpu.unknown), (20, 0, 90));
}

#[test]
fn switches_of_tasks_have_runs_preemptions_and_the_time_asleep() {
    let mut summary = SchedSummary::new(false);
    let mut record = |kind, misc, tid, time: u64, words: &[u64]| {
        let values = SampleIdValues { pid: 7, tid, time, ..SampleIdValues::default() };
        let words = RecordBuilder::new(kind, misc).words(words).with_trailer(&attr(), &values).finish();
        let layout = SampleLayout::new(&attr());
        summary.update(&RawRecord::from_words(&words).unwrap().decode(&layout).unwrap(), false);
    };
    let ids = |first: u64, second: u64| first | second << 32;
    let (out, within) = (Misc::SWITCH_OUT, Misc::empty());
    record(RecordType::COMM, Misc::COMM_EXEC, 7, 100, &[ids(7, 7), u64::from_ne_bytes(*b"sort\0\0\0\0")]);
    record(RecordType::FORK, within, 7, 105, &[ids(7, 7), ids(8, 7), 105]);
    record(RecordType::SWITCH, out | Misc::SWITCH_OUT_PREEMPT, 7, 110, &[]);
    record(RecordType::SWITCH, within, 8, 111, &[]);
    record(RecordType::SWITCH, out, 8, 115, &[]);
    record(RecordType::SWITCH, within, 7, 116, &[]);
    record(RecordType::SWITCH, within, 8, 130, &[]);
    record(RecordType::EXIT, within, 7, 136, &[ids(7, 7), ids(7, 7), 136]);
    record(RecordType::SWITCH, out, 8, 140, &[]);
    summary.finish(150);
    let (seven, eight) = (thread(&summary, 7), thread(&summary, 8));
    assert_eq!((seven.runtime, seven.waits.total(), seven.sleeps.count()), (30, 6, 0));
    assert_eq!((eight.runtime, eight.waits.total(), eight.sleeps.total()), (14, 6, 15));
    assert_eq!((&eight.comm[..], eight.pid, seven.unknown_waits), (&b"sort"[..], Some(7), 0));
}

#[test]
fn hostile_payloads_are_ignored_or_saturate() {
    let mut summary = SchedSummary::new(false);
    add(&mut summary, SWITCH, 1, 0, &[0; 20]);
    switch(&mut summary, u64::MAX, u32::MAX, -5, 1, i32::MIN);
    for time in [u64::MAX, 0, u64::MAX, 5, u64::MAX, 3] {
        switch(&mut summary, time, 0, 7, 1, 8);
        woken(&mut summary, "sched_waking", time, 7);
        switch(&mut summary, u64::MAX - time, 1, 8, 0, 7);
    }
    summary.finish(0);
    assert!(summary.threads().all(|(tid, _)| [7, 8].contains(&tid)));
    assert!(summary.duration() > 0);
}

#[test]
fn sleep_whose_wakeup_is_lost_lasts_until_the_thread_runs() {
    let mut summary = SchedSummary::new(false);
    switch(&mut summary, 100, 0, 0, 0, 7);
    switch(&mut summary, 110, 0, 7, 1, 8);
    summary.note_lost_wakeups(3);
    switch(&mut summary, 150, 0, 8, 1, 7);
    let seven = thread(&summary, 7);
    assert_eq!((seven.sleeps.total(), seven.waits.total(), seven.unknown_waits), (40, 0, 1));
    assert_eq!((summary.lost(), summary.lost_wakeups()), (0, 3));
}
