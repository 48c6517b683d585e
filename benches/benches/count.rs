//! Reading counters and opening them, beside perf-event2: one counter, a group of four, an event per CPU.
//!
//! Both are asked for the same: a count with both times. What the machine or the user may not do is said and
//! left out.

use std::fmt::Display;
use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use perf_abi::{Attr, AttrFlags, Hardware, ReadFormat, Software};
use perf_event::{Builder, Counter, ReadFormat as TheirFormat, events};
use perf_sys::{Event, Group, Target, UserCounter};
use rustix::thread::sched_getaffinity;

const FORMAT: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

fn ours(attr: Attr) -> Attr {
    attr.with_read_format(FORMAT).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// The value, or `None` and why.
fn or_say<T, E: Display>(what: &str, result: Result<T, E>) -> Option<T> {
    result.map_err(|error| println!("no {what}: {error}")).ok()
}

fn one(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read a software counter");
    let faults = ours(Attr::software(Software::PAGE_FAULTS));
    let theirs = Builder::new(events::Software::PAGE_FAULTS).enabled(true).build();
    let opened = Event::open(&faults, Target::calling_thread());
    if let (Some(event), Some(theirs)) = (or_say("counter", opened), or_say("counter", theirs)) {
        read_one(&mut group, &event, theirs);
        // Such an event has no register to read: this is the way back to read(2).
        let counter = UserCounter::map(&event).expect("one page");
        group.bench_function("ours, UserCounter", |bencher| bencher.iter(|| counter.read().unwrap().value));
    }
    group.finish();

    let mut group = criterion.benchmark_group("read a hardware counter");
    let opened = Event::open(&ours(Attr::hardware(Hardware::INSTRUCTIONS)), Target::calling_thread());
    let Some(event) = or_say("hardware counter, so no rdpmc", opened) else { return };
    let build = || Builder::new(events::Hardware::INSTRUCTIONS).enabled(true).build().unwrap();
    read_one(&mut group, &event, build());
    let counter = UserCounter::map(&event).expect("one page");
    if counter.try_read().is_none() {
        return println!("no rdpmc: the kernel offers {:?}", counter.capabilities());
    }
    group.bench_function("ours, rdpmc", |bencher| bencher.iter(|| counter.try_read().unwrap().value));
    let sampler = build().sampled(1).unwrap();
    group.bench_function("perf-event2, rdpmc", |bencher| bencher.iter(|| sampler.read_user().count()));
}

fn read_one(group: &mut BenchmarkGroup<'_, WallTime>, event: &Event, mut theirs: Counter) {
    group.bench_function("the system call", |bencher| {
        let mut words = [0; 3];
        bencher.iter(|| event.read_raw(black_box(&mut words)).unwrap());
    });
    group.bench_function("ours", |bencher| bencher.iter(|| event.read().unwrap().scaled()));
    group.bench_function("perf-event2", |bencher| bencher.iter(|| theirs.read_count_and_time().unwrap()));
}

fn four(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read a group of 4");
    let [leader, members @ ..] =
        [Software::TASK_CLOCK, Software::PAGE_FAULTS, Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS]
            .map(|event| ours(Attr::software(event)));
    let leader = leader.with_read_format(FORMAT | ReadFormat::ID);
    let opened = Group::open(&leader, &members, Target::calling_thread());
    let Some(mut events) = or_say("group", opened) else { return };
    group.bench_function("ours", |bencher| {
        bencher.iter(|| events.read().unwrap().iter().map(|count| count.value).sum::<u64>());
    });

    let format = TheirFormat::from_bits_retain((FORMAT | ReadFormat::ID | ReadFormat::GROUP).bits());
    let leader = Builder::new(events::Software::TASK_CLOCK).read_format(format).enabled(true).build_group();
    let Some(mut leader) = or_say("group", leader) else { return };
    let members =
        [events::Software::PAGE_FAULTS, events::Software::CONTEXT_SWITCHES, events::Software::CPU_MIGRATIONS]
            .map(|event| leader.add(Builder::new(event).enabled(true)).unwrap());
    // Its own `Group::read` leaves out the leader, which is a dummy unless one says otherwise.
    let leader = leader.as_counter_mut();
    assert_eq!(leader.read_group().unwrap().len(), 1 + members.len());
    group.bench_function("perf-event2", |bencher| {
        bencher.iter(|| leader.read_group().unwrap().iter().map(|entry| entry.value()).sum::<u64>());
    });
}

fn per_cpu(criterion: &mut Criterion) {
    let cpus = sched_getaffinity(None).expect("the CPUs that this thread may use");
    let cpus: Vec<_> = (0..1024).filter(|&cpu| cpus.is_set(cpu)).collect();
    let mut group =
        criterion.benchmark_group(format!("open and close an event on each of {} CPUs", cpus.len()));
    let attr = ours(Attr::software(Software::CONTEXT_SWITCHES));
    let open = || -> perf_sys::Result<Vec<_>> {
        cpus.iter().map(|&cpu| Event::open(&attr, Target::cpu(cpu as u32))).collect()
    };
    if or_say("event of a CPU", open()).is_none() {
        return;
    }
    let theirs = || -> std::io::Result<Vec<_>> {
        let build = |&cpu| Builder::new(events::Software::CONTEXT_SWITCHES).any_pid().one_cpu(cpu).build();
        cpus.iter().map(build).collect()
    };
    group.bench_function("ours", |bencher| bencher.iter(|| open().unwrap()));
    group.bench_function("perf-event2", |bencher| bencher.iter(|| theirs().unwrap()));
}

criterion_group!(benches, one, four, per_cpu);
criterion_main!(benches);
