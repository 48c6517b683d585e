//! Tracepoints that count something, such as nanoseconds, at each hit.

use std::process::{Command, Stdio};

use crate::support::set::{open_or_skip, skip_tracepoint};
use perf_session::ring::{Record, SampleType};
use perf_session::{EventSet, EventSetOptions, EventSetTarget, System, Tracefs, parse};

/// The samples of one event.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    samples: u64,
    /// Sum of the periods: what the samples stand for.
    periods: u64,
}

/// Returns options for each hit of the tracepoints that `pattern` matches, in a command and its
/// children.
fn each_hit(pattern: &str) -> EventSetOptions {
    let mut options = EventSetOptions::new().target(EventSetTarget::command()).ring_pages(1024);
    for group in parse(pattern, &System::new()).unwrap() {
        options = options.groups([group.map_members(|event| {
            event
                .map_specs(|spec| spec.map_attr(|attr| attr.with_period(1).with_sample_type(SampleType::TID)))
        })]);
    }
    options
}

/// Starts processes and writes files, with memory of several sizes.
fn run(set: &mut EventSet) {
    let script = "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=/tmp/counting.$$ bs=64k count=32 conv=fsync; ls /usr/bin; done;
        rm /tmp/counting.$$";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(set.spawn(&mut command).unwrap().wait().unwrap().success());
    set.disable().unwrap();
}

/// Returns the records of each event, and the number of lost records.
fn read(set: &mut EventSet) -> (Vec<Recorded>, u64) {
    let mut recorded = vec![Recorded::default(); set.counts().unwrap().iter().len()];
    let mut lost = 0;
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Sample(sample) => {
            let of_event = &mut recorded[record.index().unwrap()];
            of_event.samples += 1;
            of_event.periods += sample.period().unwrap_or(1);
        }
        Record::Lost(record) => lost += record.lost(),
        Record::Throttle(record) => panic!("throttled: {record}"),
        _ => {}
    })
    .unwrap();
    (recorded, lost)
}

/// Wakeups are counted for the waking task and for the woken one, which does not run: of the second
/// this kernel writes no sample.
#[test]
fn each_hit_is_one_sample_whose_period_is_what_was_counted() {
    if let Err(error) = Tracefs::find(&System::new()) {
        return skip_tracepoint(&error);
    }
    let mut compared = 0;
    for pattern in ["sched:*", "kmem:*", "block:*"] {
        let Some(mut set) = open_or_skip(each_hit(pattern)) else { return };
        run(&mut set);
        let (recorded, lost) = read(&mut set);
        for (event, recorded) in set.counts().unwrap().iter().zip(recorded) {
            let count: u64 = event.scopes.iter().map(|count| count.count.value).sum();
            let is_exact = lost == 0 && !event.name.starts_with("sched:sched_wak");
            let is_complete = if is_exact { recorded.periods == count } else { recorded.periods <= count };
            assert!(is_complete, "{}: counted {count}, {recorded:?}, {lost} lost", event.name);
            compared += u64::from(recorded.samples > 0 && lost == 0);
        }
    }
    assert!(compared >= 10, "{compared} events were hit");
}

#[test]
fn runtime_of_a_task_is_a_sample_a_hit() {
    if let Err(error) = Tracefs::find(&System::new()) {
        return skip_tracepoint(&error);
    }
    let Some(mut set) = open_or_skip(each_hit("sched:sched_stat_runtime")) else { return };
    run(&mut set);
    let (recorded, lost) = read(&mut set);
    assert_eq!(lost, 0);
    // The unit is ns, and a hit is at least some microseconds of them.
    let Recorded { samples, periods } = recorded[0];
    assert!(samples > 10 && periods / samples > 1000, "{samples} samples of {periods} ns");
}
