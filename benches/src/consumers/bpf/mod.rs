//! Readers of the output of BPF programs, compared with aya and libbpf-rs on the same program, ring
//! size and records.

use std::os::fd::OwnedFd;

use crate::Result;

#[allow(dead_code, unreachable_pub)] // its `main`
#[path = "../../../../crates/perf-bpf/examples/aya_perf_buffer.rs"]
mod ayas_interface;
mod by_hand;
mod readers;

use crate::workloads::bpf::Kind;

/// Checksum of the records that a reader has read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub records: u64,
    /// Sum of the first 4 bytes of all records, which are their numbers in a run of the program.
    pub numbers: u64,
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
pub type Read = Box<dyn FnMut(&mut Sum)>;

/// A map whose rings have the requested number of pages, and its reader.
pub type Opened = Result<(OwnedFd, Read)>;
pub type Open = fn(usize) -> Opened;

pub const PAGE: usize = 4096;

/// The readers, each with a separate map.
pub const READERS: [(&str, Kind, Open); 10] = [
    ("perf-bpf", Kind::Array, readers::ours_array),
    ("perf-bpf-as-aya", Kind::Array, readers::ours_by_ayas_interface),
    ("aya", Kind::Array, readers::aya_array),
    ("libbpf-rs", Kind::Array, readers::libbpf_array),
    ("by-hand", Kind::Array, by_hand::array),
    ("perf-bpf", Kind::Ring, readers::ours_ring),
    ("perf-bpf-borrowed", Kind::Ring, readers::ours_ring_borrowed),
    ("aya", Kind::Ring, readers::aya_ring),
    ("libbpf-rs", Kind::Ring, readers::libbpf_ring),
    ("by-hand", Kind::Ring, by_hand::ring),
];
