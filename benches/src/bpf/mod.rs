//! Readers of the output of BPF programs, beside aya and libbpf-rs: the same program, ring size and records.

use std::os::fd::OwnedFd;

use crate::table::Result;

#[allow(dead_code, unreachable_pub)] // its `main`
#[path = "../../../perf-bpf/examples/aya_perf_buffer.rs"]
mod ayas_interface;
mod by_hand;
mod program;
mod readers;
mod ready;

pub(crate) use ready::ready;

/// The records that a reader has read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    records: u64,
    /// The sum of the first 4 bytes of all records, which are their numbers in a run of the program.
    numbers: u64,
}

impl Sum {
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        self.records += 1;
        if let Some(first) = bytes.first_chunk::<4>() {
            self.numbers += u64::from(u32::from_ne_bytes(*first));
        }
    }
}

/// Reads all unread records.
type Read = Box<dyn FnMut(&mut Sum)>;

/// A map whose rings have that number of pages, and its reader.
type Opened = Result<(OwnedFd, Read)>;
type Open = fn(usize) -> Opened;

const PAGE: usize = 4096;

/// Pins this thread to a CPU.
fn pin(cpu: usize) -> std::io::Result<()> {
    let mut cpus = rustix::thread::CpuSet::new();
    cpus.set(cpu);
    Ok(rustix::thread::sched_setaffinity(None, &cpus)?)
}
