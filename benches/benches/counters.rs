//! Counters of the running kernel compared with perf-event2: `read-counter/KIND/READER` and
//! `open-close/CPUS/LIBRARY`. Both libraries read a count with both times. Benches that this
//! machine cannot run or does not permit are left out, with a line.

use std::fmt::Display;
use std::hint::black_box;

use criterion::measurement::Measurement;
use criterion::{BenchmarkId, Criterion, Throughput};
use perf_abi::{Attr, AttrFlags, Hardware, ReadFormat, Software};
use perf_event::{Builder, ReadFormat as TheirFormat, events};
use perf_ring::{Count, Event, Group, RdpmcCounter, Target};
use perfkit_benches::{Result, bench_main};
use rustix::thread::sched_getaffinity;

const FORMAT: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);
const ME: Target<'_> = Target::calling_thread();

fn counters<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    software(criterion)?;
    hardware(criterion)?;
    four(criterion)?;
    per_cpu(criterion)
}

/// Name of a reader, and the measured work.
type Work<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn compare<M: Measurement>(
    criterion: &mut Criterion<M>,
    [group, workload]: [&str; 2],
    counters: usize,
    works: Vec<Work<'_>>,
) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(counters as u64));
    for (name, mut work) in works {
        group.bench_function(BenchmarkId::new(workload, name), |bencher| bencher.iter(&mut work));
    }
    group.finish();
}

fn user_side(attr: Attr) -> Attr {
    attr.with_read_format(FORMAT).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// Returns the value, or prints why it is missing.
fn or_say<T, E: Display>(what: &str, result: std::result::Result<T, E>) -> Option<T> {
    result.map_err(|error| eprintln!("no {what}: {error}")).ok()
}

fn software<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let event = Event::open(&user_side(Attr::software(Software::PAGE_FAULTS)), ME)?;
    let counter = RdpmcCounter::map(&event)?;
    let mut theirs = Builder::new(events::Software::PAGE_FAULTS).enabled(true).build()?;
    let mut words = [0; 3];
    let works: Vec<Work<'_>> = vec![
        ("ours", Box::new(|| _ = black_box(Count::read(&event)))),
        // This event has no register, so reading falls back to read(2).
        ("ours-RdpmcCounter", Box::new(|| _ = black_box(counter.read()))),
        ("ours-words", Box::new(|| _ = black_box(event.read_raw(&mut words)))),
        ("perf-event2", Box::new(|| _ = black_box(theirs.read_count_and_time()))),
    ];
    compare(criterion, ["read-counter", "software"], 1, works);
    Ok(())
}

fn hardware<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let event = Event::open(&user_side(Attr::hardware(Hardware::INSTRUCTIONS)), ME);
    let Some(event) = or_say("hardware counter, and so no rdpmc", event) else { return Ok(()) };
    let counter = RdpmcCounter::map(&event)?;
    let build = || Builder::new(events::Hardware::INSTRUCTIONS).enabled(true).build();
    let (mut theirs, sampler) = (build()?, build()?.sampled(1)?);
    let mut works: Vec<Work<'_>> = vec![
        ("ours", Box::new(|| _ = black_box(Count::read(&event)))),
        ("perf-event2", Box::new(|| _ = black_box(theirs.read_count_and_time()))),
    ];
    if counter.try_read().is_some() {
        works.push(("ours-rdpmc", Box::new(|| _ = black_box(counter.read()))));
        works.push(("perf-event2-rdpmc", Box::new(|| _ = black_box(sampler.read_user()))));
    } else {
        eprintln!("no rdpmc: the kernel offers {:?}", counter.capabilities());
    }
    compare(criterion, ["read-counter", "hardware"], 1, works);
    Ok(())
}

fn four<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let ours =
        [Software::TASK_CLOCK, Software::PAGE_FAULTS, Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS];
    let [leader, members @ ..] = ours.map(|event| user_side(Attr::software(event)));
    let mut group = Group::open(&leader.with_read_format(FORMAT | ReadFormat::ID), &members, ME)?;

    let format = TheirFormat::from_bits_retain((FORMAT | ReadFormat::ID | ReadFormat::GROUP).bits());
    let mut leader =
        Builder::new(events::Software::TASK_CLOCK).read_format(format).enabled(true).build_group()?;
    let mut members = Vec::new();
    for event in
        [events::Software::PAGE_FAULTS, events::Software::CONTEXT_SWITCHES, events::Software::CPU_MIGRATIONS]
    {
        members.push(leader.add(Builder::new(event).enabled(true))?);
    }
    // `Group::read` would leave out the leader, which is a dummy by default.
    let leader = leader.as_counter_mut();
    let ours = || {
        let counts = group.read().expect("the group's counts");
        counts.iter().for_each(|count| _ = black_box(count.value));
    };
    let theirs = || {
        let counts = leader.read_group().expect("the group's counts");
        counts.iter().for_each(|count| _ = black_box(count.value()));
    };
    let works: Vec<Work<'_>> = vec![("ours", Box::new(ours)), ("perf-event2", Box::new(theirs))];
    compare(criterion, ["read-counter", "group-of-4"], 4, works);
    Ok(())
}

fn per_cpu<M: Measurement>(criterion: &mut Criterion<M>) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let cpus: Vec<_> = (0..1024).filter(|&cpu| allowed.is_set(cpu)).collect();
    let attr = user_side(Attr::software(Software::CONTEXT_SWITCHES));
    let open = |&cpu| Event::open(&attr, Target::cpu(cpu as u32));
    let ours = || cpus.iter().map(open).collect::<perf_ring::sys::Result<Vec<_>>>();
    let build = |&cpu| Builder::new(events::Software::CONTEXT_SWITCHES).any_pid().one_cpu(cpu).build();
    let theirs = || cpus.iter().map(build).collect::<std::io::Result<Vec<_>>>();
    if or_say("event of a CPU", ours()).is_none() {
        return Ok(());
    }
    let works: Vec<Work<'_>> = vec![
        ("ours", Box::new(|| drop(black_box(ours())))),
        ("perf-event2", Box::new(|| drop(black_box(theirs())))),
    ];
    compare(criterion, ["open-close", &format!("{}-CPUs", cpus.len())], cpus.len(), works);
    Ok(())
}

bench_main!(counters);
