//! Code that runtimes wrote into memory and that can be unwound without a file: trampolines of
//! Python, and functions with unwind information in a jitdump.

use std::collections::HashMap;
use std::sync::Arc;

use super::sections::Sections;
use crate::name::{RuntimeFunction, functions_of_runtime};
use crate::{AddressSpaces, FileFinder};

/// The prefix of names of Python functions.
const PYTHON: &[u8] = b"py::";
/// Maximum number of functions of all processes, some 40 bytes each. More are not known.
const MAX_FUNCTIONS: usize = 1 << 20;

/// The code of all processes.
#[derive(Default)]
pub(super) struct RuntimeCode {
    processes: HashMap<u32, Functions>,
    /// Number of functions of all processes.
    len: usize,
}

/// A function that can be unwound.
#[derive(Clone)]
pub(super) struct KnownCode {
    /// First address.
    pub(super) start: u64,
    /// Length in bytes.
    pub(super) len: u64,
    /// Its `.eh_frame`; `None` for a trampoline of Python.
    unwinding: Option<Arc<[u8]>>,
}

/// The functions of a process.
#[derive(Default)]
struct Functions {
    /// Ordered by address.
    known: Box<[KnownCode]>,
    /// Number of addresses that were not found since the last reading, and the number at which the
    /// lists are read again. It doubles, so that addresses of other code cost little, while a
    /// program that still compiles is followed.
    misses: u32,
    next_reading: u32,
}

impl RuntimeCode {
    /// Returns the function at an address without a file.
    pub(super) fn find(
        &mut self,
        finder: &FileFinder,
        spaces: &AddressSpaces,
        pid: u32,
        address: u64,
    ) -> Option<KnownCode> {
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
        self.len -= process.known.len();
        let mut known = Vec::new();
        let room = MAX_FUNCTIONS.saturating_sub(self.len);
        functions_of_runtime(finder, spaces, pid, address, |function| {
            known.extend(KnownCode::of(&function).filter(|_| known.len() < room));
        });
        known.sort_by_key(|code| code.start);
        // A function can be in the jitdump and in the perf map.
        known.dedup_by_key(|code| code.start);
        if known.len() > process.known.len() {
            process.next_reading = 1;
        }
        process.known = known.into();
        self.len += process.known.len();
        process.find(address)
    }

    /// Forgets processes that are not wanted.
    pub(super) fn retain(&mut self, mut is_wanted: impl FnMut(u32) -> bool) {
        self.processes.retain(|&pid, _| is_wanted(pid));
        self.len = self.processes.values().map(|process| process.known.len()).sum();
    }
}

impl Functions {
    fn find(&self, address: u64) -> Option<KnownCode> {
        let index = self.known.partition_point(|code| code.start <= address).checked_sub(1)?;
        self.known.get(index).filter(|code| address - code.start < code.len).cloned()
    }
}

impl KnownCode {
    /// Returns `None` if the function cannot be unwound.
    fn of(&RuntimeFunction { name, start, len, unwinding }: &RuntimeFunction<'_>) -> Option<Self> {
        // The information that Python writes is right inside of the call only.
        let is_python = name.starts_with(PYTHON);
        let unwinding = unwinding.filter(|_| !is_python).cloned();
        (is_python || unwinding.is_some()).then_some(Self { start, len, unwinding })
    }

    /// Returns its unwind information for addresses of the process; `None` for a trampoline of
    /// Python, or if an entry is not safe.
    pub(super) fn sections(&self) -> Option<Sections> {
        let frames = self.unwinding.clone()?;
        let at = self.start.checked_add(self.len.checked_next_multiple_of(8)?)?;
        Sections::of_runtime(frames, at, self.start)
    }
}
