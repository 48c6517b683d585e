//! The trampolines of Python functions, as a process lists them in a perf map or jitdump.

use std::collections::HashMap;

use crate::AddressSpaces;
use crate::FileFinder;
use crate::name::functions_of_runtime;

/// The prefix of names of Python functions.
const PREFIX: &[u8] = b"py::";
/// Maximum number of functions of all processes, 16 bytes each. More are not known.
const MAX_FUNCTIONS: usize = 4 << 20;

/// The trampolines of all processes.
#[derive(Default)]
pub(super) struct PythonCode {
    processes: HashMap<u32, Functions>,
    /// Number of functions of all processes.
    len: usize,
}

/// The functions of a process by address, with their length in bytes.
#[derive(Default)]
struct Functions {
    ranges: Box<[(u64, u64)]>,
    /// Number of addresses that were not found since the last reading, and the number at which the
    /// lists are read again. It doubles, so that addresses of other code cost little, while a
    /// program that still compiles is followed.
    misses: u32,
    next_reading: u32,
}

impl PythonCode {
    /// Returns the first address and the length of the trampoline at an address without a file.
    pub(super) fn find(
        &mut self,
        finder: &FileFinder,
        spaces: &AddressSpaces,
        pid: u32,
        address: u64,
    ) -> Option<(u64, u64)> {
        if let Some(found) = self.processes.get(&pid).and_then(|process| process.find(address)) {
            return Some(found);
        }
        let process = self.processes.entry(pid).or_default();
        if process.misses < process.next_reading {
            process.misses += 1;
            return None;
        }
        process.misses = 0;
        process.next_reading = (2 * process.next_reading).clamp(1, 1 << 16);
        self.len -= process.ranges.len();
        let mut functions = Vec::new();
        let room = MAX_FUNCTIONS.saturating_sub(self.len);
        functions_of_runtime(finder, spaces, pid, address, |name, start, len| {
            if name.starts_with(PREFIX) && functions.len() < room {
                functions.push((start, len));
            }
        });
        functions.sort_unstable();
        // A function can be in the jitdump and in the perf map.
        functions.dedup_by_key(|(start, _)| *start);
        if functions.len() > process.ranges.len() {
            process.next_reading = 1;
        }
        process.ranges = functions.into();
        self.len += process.ranges.len();
        process.find(address)
    }

    /// Forgets processes that are not wanted.
    pub(super) fn retain(&mut self, mut is_wanted: impl FnMut(u32) -> bool) {
        self.processes.retain(|&pid, _| is_wanted(pid));
        self.len = self.processes.values().map(|process| process.ranges.len()).sum();
    }
}

impl Functions {
    fn find(&self, address: u64) -> Option<(u64, u64)> {
        let index = self.ranges.partition_point(|(start, _)| *start <= address).checked_sub(1)?;
        let &(start, len) = self.ranges.get(index)?;
        (address - start < len).then_some((start, len))
    }
}
