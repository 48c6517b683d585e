//! The CPUs of the examples, because this crate reads no files. `perf-session` has `CpuList::online`, with
//! the checks of a real program; with one dependency less, these lines are enough.

use std::error::Error;
use std::fs;

/// Reads the numbers of the CPUs that are online.
pub(crate) fn online() -> Result<Vec<u32>, Box<dyn Error>> {
    let path = "/sys/devices/system/cpu/online";
    let list = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    parse(&list).map_err(|error| format!("{path}: {error}").into())
}

/// Parses the kernel's form of a list: `0-3,8`.
fn parse(list: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    let mut cpus = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cpus.extend(first.parse::<u32>()?..=last.parse()?);
    }
    Ok(cpus)
}
