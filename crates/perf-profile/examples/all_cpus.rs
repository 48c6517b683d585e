//! Samples all CPUs 99 times a second, and writes folded stacks with names every 10 seconds,
//! including programs that run already.
//!
//! Usage: `all_cpus`, as root, until Ctrl-C. The files are `1.folded`, `2.folded`, ...

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use perf_abi::regs::Architecture;
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_profile::{Collector, Event, Folded, ProfileBuilder, Resolver};
use perf_record::session::ring::SampleType;
use perf_record::session::{EventSetOptions, EventSetTarget, System, parse};
use perf_record::{Recorder, Report, recorded};
use perf_symbols::FileFinder;

/// Writes the stacks of each period.
pub(crate) fn run(period: Duration, mut write: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Report> {
    let system = System::new();
    let options = EventSetOptions::new().groups(recorded(parse("cpu-clock/freq=99/", &system)?));
    let options = options.map_attrs(|attr| attr.with_sample_type(SampleType::CALLCHAIN));
    let options = options.target(EventSetTarget::all_cpus()).allow_fallback().user_only_if_refused();
    let mut recorder = Recorder::new(options.ring_pages_within(4..=128).open()?, &system)?;
    let attr = recorder.events().first().ok_or("expected an event")?.attr;

    let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
    let resolver = resolver.with_monotonic_time(true).without_waiting().with_small_caches();
    let mut collector = Collector::new(resolver, ProfileBuilder::new());
    let (event, layout) = (collector.event(Event::new("cpu-clock", &attr)), SampleLayout::new(&attr));
    let add = |collector: &mut Collector, record: RawRecord<'_>| {
        let Ok(record) = record.decode(&layout) else { return };
        collector.update(&record); // processes, threads and mappings
        if let Record::Sample(sample) = &record {
            collector.add(event, sample);
        }
    };

    recorder.set().enable()?;
    let (running, missing) = recorder.synthesize()?; // what runs already
    running.records().records().flatten().for_each(|record| add(&mut collector, record));
    for missing in missing {
        eprintln!("{missing}"); // such as hidden addresses of the kernel
    }
    loop {
        let end = Instant::now() + period;
        while Instant::now() < end {
            recorder.set_mut().wait(Some(end.saturating_duration_since(Instant::now())))?;
            recorder.flush_sorted(|record| add(&mut collector, record))?;
        }
        recorder.set_mut().refresh()?; // CPUs that came online
        let lost: u64 = recorder.take_lost()?.iter().map(|lost| lost.count).sum();
        eprintln!("{lost} records lost");
        let mut text = Vec::new();
        Folded::new(event).with_counts().write(&collector.take().wait(), &mut text)?;
        write(&text)?;
    }
}

fn main() -> Result<(), Report> {
    let mut names = (1..).map(|number| format!("{number}.folded"));
    run(Duration::from_secs(10), |text| File::create(names.next().unwrap_or_default())?.write_all(text))
}
