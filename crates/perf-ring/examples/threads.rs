//! Samples the threads of a process, with those that it starts later, until it exits.
//!
//! The kernel maps no ring for an inherited event on any CPU. So each thread has an event for each
//! CPU, and the events of one CPU share a ring. A thread that starts while the threads are listed
//! may be missed.
//!
//! Usage: `threads PID [MILLISECONDS]`, without a limit by default. A process of another user needs
//! `CAP_PERFMON`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use perf_ring::{
    Attr, AttrFlags, Errno, Event, Record, Ring, RingSet, SampleType, Software, SortedRecord, Target, decode,
    on_each_cpu,
};

/// A thread with its event and samples.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// Samples of 1 ms on a CPU each.
    pub(crate) samples: u64,
    /// The thread that started it, if it is new.
    pub(crate) parent: Option<u32>,
    /// The name that it was given while it was watched.
    pub(crate) name: Option<String>,
}

// ANCHOR: open
/// Opens events for all threads of `pid`, in a ring for each CPU.
fn open(pid: u32) -> Result<RingSet<u32>, Box<dyn Error>> {
    let attr = Attr::software(Software::TASK_CLOCK)
        .with_period(1_000_000) // ns
        .with_sample_type(SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME)
        .with_flags(AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD | AttrFlags::SAMPLE_ID_ALL)
        .with_flags(AttrFlags::TASK | AttrFlags::COMM | AttrFlags::EXCLUDE_KERNEL);
    let mut set = RingSet::new()?;
    let path = format!("/proc/{pid}/task");
    for entry in fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))? {
        let tid = entry?.file_name().to_string_lossy().parse()?;
        let events = match on_each_cpu(|cpu| Event::open(&attr, Target::thread(tid).on_cpu(cpu))) {
            Ok(events) => events,
            Err(error) if error.errno() == Some(Errno::ESRCH) => continue, // it exited
            Err(error) => return Err(format!("thread {tid}: {error}").into()),
        };
        for (cpu, event) in events {
            if set.get(&cpu).is_some() {
                set.redirect(&cpu, event)?;
            } else {
                set.add(cpu, Ring::map_bytes(event, 1 << 17)?)?;
            }
        }
    }
    Ok(set)
}
// ANCHOR_END: open

fn add(threads: &mut BTreeMap<u32, Thread>, record: &SortedRecord<'_, u32>) -> Result<(), decode::Error> {
    match record.decode()? {
        Record::Sample(sample) => {
            if let Some(tid) = sample.tid() {
                threads.entry(tid).or_default().samples += 1;
            }
        }
        Record::Fork(fork) if fork.pid() == fork.ppid() => {
            threads.entry(fork.tid()).or_default().parent = Some(fork.ptid());
        }
        Record::Comm(comm) => {
            let name = String::from_utf8_lossy(comm.comm()).into_owned();
            threads.entry(comm.tid()).or_default().name = Some(name);
        }
        Record::Lost(lost) => eprintln!("{} records lost", lost.lost()),
        _ => {}
    }
    Ok(())
}

/// Samples the threads of `pid` until it exits, for at most `time`.
pub(crate) fn sample(pid: u32, time: Option<Duration>) -> Result<BTreeMap<u32, Thread>, Box<dyn Error>> {
    let mut set = open(pid)?;
    let mut threads = BTreeMap::new();
    let end = time.and_then(|time| Instant::now().checked_add(time));
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let is_over = set.wait(left)?.is_final() || left == Some(Duration::ZERO);
        let (_, flow) = set.try_drain_sorted(|record| match add(&mut threads, &record) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        })?;
        if let ControlFlow::Break(error) = flow {
            return Err(error.into());
        }
        if is_over {
            let mut flushed = Ok(());
            set.flush_sorted(|record| {
                if flushed.is_ok() {
                    flushed = add(&mut threads, &record);
                }
            })?;
            flushed?;
            return Ok(threads);
        }
    }
}

fn main() -> Result<(), perf_ring::Report> {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("usage: threads PID [MILLISECONDS]")?;
    let pid = pid.parse().map_err(|error| format!("PID: {pid}: {error}"))?;
    let time = match arguments.next() {
        Some(text) => Some(text.parse().map_err(|error| format!("MILLISECONDS: {text}: {error}"))?),
        None => None,
    };
    for (tid, Thread { samples, parent, name }) in sample(pid, time.map(Duration::from_millis))? {
        let parent = parent.map(|parent| format!(", started by {parent}")).unwrap_or_default();
        println!("{tid:>8} {:<16} {samples:>8} ms{parent}", name.unwrap_or_default());
    }
    Ok(())
}
