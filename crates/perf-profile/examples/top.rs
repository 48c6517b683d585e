//! Prints the functions with the most samples in a `perf.data` file.
//!
//! Usage: `top FILE`, with a file of `perf record` or `perfkit record`.

use std::error::Error;
use std::process::ExitCode;

use perf_abi::regs::Architecture;
use perf_decode::Record;
use perf_file::Reader;
use perf_profile::{Collector, Column, Event, Order, Resolver};
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
    // For another machine use `FileFinder::remote().with_symfs(...)`; files need a build id then.
    let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
    // Only the table is printed, so that stacks need not be kept.
    let mut collector = Collector::with_table(resolver, &[Column::Function])?;
    let events = reader.events().as_slice().iter().enumerate();
    let events: Vec<_> = events
        .map(|(index, event)| {
            let name = event
                .name()
                .map_or_else(|| index.to_string(), |name| String::from_utf8_lossy(name).into_owned());
            collector.event(Event::new(name, event.attr()))
        })
        .collect();
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
        if let (Record::Sample(sample), Ok((index, _))) = (&decoded, record.event())
            && let Some(&event) = events.get(index)
        {
            collector.add(event, sample);
        }
    };
    let (profile, sums) = collector.finish_table();
    let table = sums.map(|sums| sums.table(&profile)).ok_or("expected a table")?;
    for (event, about) in profile.event_ids().filter(|&(event, _)| profile.total(event) > 0) {
        println!("{}", about.name);
        for row in table.clone().sorted(event, Order::BySelf).rows().iter().take(20) {
            println!("{:>8} {}", row.cost(event).self_count, row.entry());
        }
    }
    for (count, reason) in &profile.losses().unnamed_addresses {
        eprintln!("{count:>8} addresses without a name: {reason}");
    }
    if malformed > 0 {
        eprintln!("{malformed:>8} records that cannot be decoded");
    }
    Ok(end?)
}
