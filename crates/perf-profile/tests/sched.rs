//! Scheduling in a recording of `perf record` with the events of `perf sched record`.

#![cfg(feature = "perf-data")]
#![allow(clippy::cast_precision_loss, reason = "times of a small recording are exact")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use perf_profile::read::{Filter, Recording, SchedError, SchedReader};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Returns ms with three decimals, as the perf tool prints them.
fn ms(ns: f64) -> String {
    format!("{:.3} ms", ns / 1e6)
}

#[test]
fn waits_of_each_thread_are_those_of_perf_sched_latency() {
    let read = SchedReader::new(Recording::open(data("sched.data")).unwrap()).unwrap().read();
    // `perf sched latency -p` of perf 7.2: thread, runtime by another event, count, average and
    // maximum.
    let expected = fs::read_to_string(data("sched-latency.txt")).unwrap();
    let mut waiting: Vec<_> =
        read.summary.threads().filter(|(_, thread)| thread.waits.count() > 0).map(|(tid, _)| tid).collect();
    for line in expected.lines().skip(1) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let tid: u32 = cells[0].rsplit(':').next().unwrap().parse().unwrap();
        let (_, thread) = read.summary.threads().find(|&(id, _)| id == tid).unwrap();
        let waits = &thread.waits;
        let avg = format!("avg: {:>8}", ms(waits.mean().unwrap()));
        let found = [waits.count().to_string(), avg, format!("max: {:>8}", ms(waits.max() as f64))];
        let spaces = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(found.map(|text| spaces(&text)), [2, 3, 4].map(|cell| spaces(cells[cell])), "{line}");
        waiting.retain(|&waiting| waiting != tid);
    }
    assert!(waiting.is_empty() && expected.lines().count() > 15, "{waiting:?}");
    assert!(read.has_wakeups && read.has_switches && read.summary.lost() == 0);
    read.finish().unwrap();
}

#[test]
fn each_cpu_is_busy_or_idle_all_the_time_and_busy_while_threads_run() {
    let read = SchedReader::new(Recording::open(data("sched.data")).unwrap()).unwrap().read();
    let summary = &read.summary;
    assert_eq!(summary.cpus().count(), 2);
    assert!(summary.cpus().all(|(_, cpu)| cpu.busy + cpu.idle == summary.duration() && cpu.unknown == 0));
    let busy: u64 = summary.cpus().map(|(_, cpu)| cpu.busy).sum();
    let running: u64 = summary.threads().map(|(_, thread)| thread.runtime).sum();
    // The events of a CPU started after a wakeup of another one, so that the start of one run is
    // missing.
    assert!(running <= busy && summary.unpaired() == 1, "{running} {busy}");
}

#[test]
fn times_choose_a_part() {
    let whole = SchedReader::new(Recording::open(data("sched.data")).unwrap()).unwrap().read();
    let start = whole.summary.start().unwrap();
    let mut filter = Filter::default();
    filter.times = Some(vec![start..=start + 5_000_000]);
    let recording = Recording::open(data("sched.data")).unwrap();
    let part = SchedReader::new(recording).unwrap().with_times(filter).read();
    assert!(part.summary.duration() <= 5_000_000 && part.summary.switches() < whole.summary.switches());
}

#[test]
fn recording_without_switches_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../perf-decode/tests/data/cpuclock-fp.data");
    let error = SchedReader::new(Recording::open(path).unwrap()).unwrap_err();
    let reason = error.get_ref().and_then(|error| error.downcast_ref());
    assert_eq!(reason, Some(&SchedError::NoSwitches));
}
