//! Prints the functions with most samples of a `perf.data` file.
//!
//! Usage: `top FILE`, of `perf record` or `perfkit record`.

use std::collections::HashMap;
use std::error::Error;

use perf_abi::regs::Architecture;
use perf_decode::Record;
use perf_file::Reader;
use perf_profile::{Collector, Event, ProfileBuilder, Resolver};
use perf_symbols::FileFinder;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("expected the path of a perf.data file")?;
    let mut reader = Reader::open(path)?.sorted();
    // Files of another machine need a build id, and a place: `FileFinder::remote().with_symfs(...)`.
    let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
    let mut collector = Collector::new(resolver, ProfileBuilder::new());
    let events = reader.events().as_slice().iter().enumerate();
    let events: Vec<_> = events
        .map(|(index, event)| {
            let name = event
                .name()
                .map_or_else(|| index.to_string(), |name| String::from_utf8_lossy(name).into_owned());
            collector.event(Event::new(name, event.attr()))
        })
        .collect();
    while let Some(record) = reader.next()? {
        if record.kernel().is_none() {
            continue;
        }
        let decoded = record.decode()?;
        collector.update(&decoded);
        if let (Record::Sample(sample), Ok((index, _))) = (&decoded, record.event())
            && let Some(&event) = events.get(index)
        {
            collector.add(event, sample);
        }
    }
    let profile = collector.finish();
    let locations = profile.locations();
    let mut functions = HashMap::<&str, u64>::new();
    for sample in profile.samples() {
        let innermost = profile.stack(sample.stack).next();
        let frame = innermost.and_then(|location| locations.frames(location).first());
        let name = frame.map_or(perf_profile::UNKNOWN, |frame| locations.function_name(frame.function));
        *functions.entry(name).or_default() += sample.count;
    }
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    for (name, count) in functions.iter().take(20) {
        println!("{count:>8} {name}");
    }
    for (count, reason) in &profile.losses().unnamed_addresses {
        eprintln!("{count:>8} addresses without a name: {reason}");
    }
    Ok(())
}
