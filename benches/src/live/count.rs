//! Reading counters and opening them, for perf-ring and perf-event2. Both read a count with both times. What this
//! machine does not have or does not permit is left out, with a note.

use std::fmt::Display;
use std::hint::black_box;

use perf_abi::{Attr, AttrFlags, Hardware, ReadFormat, Software};
use perf_event::{Builder, ReadFormat as TheirFormat, events};
use perf_ring::{Count, Event, Group, RdpmcCounter, Target};
use rustix::thread::sched_getaffinity;

use crate::counter::Counter;
use crate::table::{Result, table};
use crate::{allocations, number};

const FORMAT: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);
const ME: Target<'_> = Target::calling_thread();

pub(crate) fn count(arguments: &[String]) -> Result<()> {
    let passes = number(arguments, 0, 101)?;
    software(passes)?;
    hardware(passes)?;
    four(passes)?;
    per_cpu(passes)
}

/// A name, and the work that is measured.
type Work<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// Prints the cost of each work, done `times` times in a pass.
fn compare(title: &str, passes: usize, times: u32, mut works: Vec<Work<'_>>) -> Result<()> {
    let clock = Counter::nanoseconds()?;
    // Before the clock is looked at: as long as this counter is open, every call takes longer.
    let calls = |work: &mut Work<'_>| Counter::system_calls().and_then(|calls| calls.count(&mut work.1));
    let calls: Vec<_> = works.iter_mut().map(calls).collect();
    let names: Vec<_> = works.iter().map(|(name, _)| *name).collect();
    table(title, ["ns", "system calls", "allocations"], &names, passes, |index| {
        let work = &mut works[index].1;
        let allocated = allocations::count();
        let time = clock.count(|| (0..times).for_each(|_| work())).ok_or("the task clock stopped")?;
        let allocated = allocations::count() - allocated;
        // The counter's last read is in its count.
        let calls = calls[index].map_or(f64::NAN, |calls| (calls - 1) as f64);
        Ok([time as f64 / f64::from(times), calls, allocated as f64 / f64::from(times)])
    })
}

fn user_side(attr: Attr) -> Attr {
    attr.with_read_format(FORMAT).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV)
}

/// Returns the value, or prints the reason for its absence.
fn or_say<T, E: Display>(what: &str, result: std::result::Result<T, E>) -> Option<T> {
    result.map_err(|error| println!("\nno {what}: {error}")).ok()
}

fn software(passes: usize) -> Result<()> {
    let event = Event::open(&user_side(Attr::software(Software::PAGE_FAULTS)), ME)?;
    let counter = RdpmcCounter::map(&event)?;
    let mut theirs = Builder::new(events::Software::PAGE_FAULTS).enabled(true).build()?;
    let mut words = [0; 3];
    let works: Vec<Work<'_>> = vec![
        ("ours", Box::new(|| _ = black_box(Count::read(&event)))),
        // There is no register to read, so it falls back to read(2).
        ("ours, RdpmcCounter", Box::new(|| _ = black_box(counter.read()))),
        ("ours, words only", Box::new(|| _ = black_box(event.read_raw(&mut words)))),
        ("perf-event2", Box::new(|| _ = black_box(theirs.read_count_and_time()))),
    ];
    compare("read a software counter", passes, 1000, works)
}

fn hardware(passes: usize) -> Result<()> {
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
        works.push(("ours, rdpmc", Box::new(|| _ = black_box(counter.read()))));
        works.push(("perf-event2, rdpmc", Box::new(|| _ = black_box(sampler.read_user()))));
    } else {
        println!("\nno rdpmc: the kernel offers {:?}", counter.capabilities());
    }
    compare("read a hardware counter", passes, 1000, works)
}

fn four(passes: usize) -> Result<()> {
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
    // Not by its `Group::read`, which leaves out the leader: that is a dummy by default.
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
    compare("read a group of 4", passes, 1000, works)
}

fn per_cpu(passes: usize) -> Result<()> {
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
    compare(&format!("open and close an event on each of {} CPUs", cpus.len()), passes, 10, works)
}
