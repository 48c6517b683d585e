//! Prints where the threads of a `perf.data` file wait, as folded stacks with ns.
//!
//! Usage: `off_cpu FILE`, with a file of `perfkit record --off-cpu` or
//! `perf record -e context-switches -c 1 -g --switch-events`.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use perf_abi::regs::Architecture;
use perf_decode::Record;
use perf_file::Reader;
use perf_profile::{Collector, Folded, ProfileBuilder, Resolver, SwitchEvent, Waits};
use perf_symbols::FileFinder;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected the path of a perf.data file")?;
    let mut reader = Reader::open(path)?.sorted();
    let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
    let mut collector = Collector::new(resolver, ProfileBuilder::new());
    // Tracepoints need their formats, which the file has as a feature. Without wakeups, it is
    // unknown how long a thread waited for a CPU after its wakeup.
    let off_cpu = collector.off_cpu_events(false);
    let events = reader.events().as_slice().iter();
    let switches: Vec<_> = events.map(|event| SwitchEvent::new(&event.attr, None)).collect();
    let mut waits = Waits::new();
    let mut malformed = 0_u64;
    // A damaged or truncated file ends with an error: print the records before it first.
    let end = loop {
        let record = match reader.next() {
            Ok(Some(record)) => record,
            end => break end.map(drop),
        };
        if record.kernel().is_none() {
            continue;
        }
        let Ok(decoded) = record.decode() else {
            malformed += 1;
            continue;
        };
        collector.update(&decoded);
        let mut ended = waits.update(&decoded);
        if let (Record::Sample(sample), Ok((index, _))) = (&decoded, record.event())
            && let Some(Some(event)) = switches.get(index)
        {
            ended = waits.add(event, sample, || collector.stack(sample));
        }
        if let Some(wait) = ended {
            collector.add_wait(off_cpu, &wait, false);
        }
    };
    collector.add_broken_waits(waits.broken());
    // The waits of threads that still wait at the end. Its time is unknown, so use the last record.
    for wait in waits.finish(0) {
        collector.add_wait(off_cpu, &wait, false);
    }
    let profile = collector.finish();
    Folded::new(off_cpu.blocked).write(&profile, io::stdout().lock())?;
    for line in profile.losses().lines() {
        eprintln!("{line}");
    }
    if malformed > 0 {
        eprintln!("{malformed} records cannot be decoded");
    }
    Ok(end?)
}
