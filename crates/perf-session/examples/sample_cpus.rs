//! Samples all CPUs 99 times a second, and prints the threads that used them most.
//!
//! Usage: `sample_cpus [SECONDS]`, 5 seconds by default.

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use perf_session::ring::{Record, SampleType};
use perf_session::{EventSetOptions, EventSetRecord, System, parse};

/// Samples for `time`. Returns the samples of each thread, by its process and thread id.
pub(crate) fn sample(time: Duration) -> Result<HashMap<(u32, u32), u64>, Box<dyn Error>> {
    let events = parse("cpu-clock/freq=99/", &System::new())?;
    let options = EventSetOptions::new().groups(events);
    let options = options.map_attrs(|attr| attr.with_sample_type(SampleType::TID | SampleType::IP));
    let mut set = options.ring_pages_within(4..=64).open()?;
    set.enable()?;
    let (mut threads, end) = (HashMap::new(), Instant::now() + time);
    let mut count = |record: EventSetRecord<'_>| match record.decode() {
        Ok(Record::Sample(sample)) => *threads.entry((sample.pid(), sample.tid())).or_default() += 1,
        Ok(_) => {}
        Err(error) => eprintln!("{}: {error}", record.scope()),
    };
    while Instant::now() < end {
        set.wait(Some(Duration::from_millis(100)))?;
        set.drain_sorted(&mut count)?;
        set.refresh()?; // CPUs may come and go
    }
    set.disable()?;
    set.flush_sorted(count)?;
    println!("CPUs {}; {}", set.cpus(), set.losses()?);
    Ok(threads.into_iter().filter_map(|((pid, tid), samples)| Some(((pid?, tid?), samples))).collect())
}

fn main() -> Result<(), perf_session::Report> {
    let seconds = std::env::args().nth(1).map_or(Ok(5), |text| text.parse())?;
    let mut threads: Vec<_> = sample(Duration::from_secs(seconds))?.into_iter().collect();
    threads.sort_by_key(|&(_, samples)| std::cmp::Reverse(samples));
    for ((pid, tid), samples) in threads.iter().take(20) {
        println!("{samples:>6}  process {pid:>7}  thread {tid:>7}");
    }
    Ok(())
}
