//! Samples a process 999 times a second, and prints each second the addresses that were hit most,
//! with their files: those that it had mapped before, and those that it maps meanwhile.
//!
//! Usage: `top PID [SECONDS]`, 5 seconds by default.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use perf_session::ring::{AttrFlags, Record, SampleType};
use perf_session::{EventSetOptions, EventSetTarget, System, parse};

/// The files of a process by address: the end of the mapping, the offset of its start in the file,
/// the file.
type Files = BTreeMap<u64, (u64, u64, PathBuf)>;

/// Samples for some seconds. Calls `report` each second with the samples of each offset in a file.
pub(crate) fn run(
    pid: u32,
    seconds: u32,
    mut report: impl FnMut(&HashMap<(PathBuf, u64), u64>),
) -> Result<(), Box<dyn Error>> {
    let system = System::new();
    let side_band = AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::COMM | AttrFlags::COMM_EXEC;
    let options = EventSetOptions::new()
        .groups(parse("cpu-clock/freq=999/", &system)?)
        .map_attrs(|attr| attr.with_sample_type(SampleType::IP | SampleType::TID).with_flags(side_band));
    let options = options.target(EventSetTarget::process(pid)).user_only_if_refused();
    let mut set = options.ring_pages_within(4..=128).open()?;
    set.enable()?;
    // After `enable`, so that no mapping is missed.
    let mappings = system.task(pid).mappings()?.into_iter();
    let mut files: Files = mappings.map(|map| (map.start, (map.end, map.offset, map.path))).collect();
    for _ in 0..seconds {
        std::thread::sleep(Duration::from_secs(1));
        let mut hits = HashMap::new();
        // All records until now, in time order: a mapping comes before the samples in it.
        set.flush_sorted(|record| match record.decode() {
            Ok(Record::Sample(sample)) => *hits.entry(place(&files, sample.ip())).or_default() += 1,
            Ok(Record::Mmap2(map)) if map.pid() == pid => {
                let file = String::from_utf8_lossy(map.filename()).into_owned().into();
                files.insert(map.addr(), (map.addr() + map.len(), map.pgoff(), file));
            }
            Ok(Record::Comm(comm)) if comm.exec() && comm.pid() == pid => files.clear(),
            _ => {}
        })?;
        report(&hits);
        if set.wait(Some(Duration::ZERO))?.is_final() {
            break; // the process has exited
        }
    }
    Ok(())
}

/// Returns the file and the offset in it of an address.
fn place(files: &Files, ip: Option<u64>) -> (PathBuf, u64) {
    let ip = ip.unwrap_or_default();
    match files.range(..=ip).next_back().filter(|(_, (end, ..))| ip < *end) {
        Some((start, (_, offset, file))) => (file.clone(), ip - start + offset),
        None => (Path::new("[kernel or unknown]").into(), ip),
    }
}

fn main() -> Result<(), perf_session::Report> {
    let mut arguments = std::env::args().skip(1);
    let pid = arguments.next().ok_or("usage: top PID [SECONDS]")?.parse()?;
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    run(pid, seconds, |hits| {
        let mut hits: Vec<_> = hits.iter().collect();
        hits.sort_by_key(|&(_, samples)| std::cmp::Reverse(samples));
        println!("{:>8}  {:>12}  file", "samples", "offset");
        for ((file, offset), samples) in hits.into_iter().take(10) {
            println!("{samples:>8}  {offset:>#12x}  {}", file.display());
        }
    })?;
    Ok(())
}
