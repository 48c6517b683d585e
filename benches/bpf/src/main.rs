//! ns of consumer CPU per record, of records that are already in the ring: the readers of perf-bpf beside
//! those of aya and libbpf-rs. Every reader has a ring of equal size, filled on CPU 0 by the same program,
//! and sums the first 4 bytes of each record.
//!
//! ```sh
//! apt-get install libelf-dev zlib1g-dev
//! cargo run --release --manifest-path benches/bpf/Cargo.toml [PAYLOAD BYTES]...
//! ```

use std::error::Error;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

#[allow(dead_code, unreachable_pub)] // its `main`
#[path = "../../../perf-bpf/examples/aya_perf_buffer.rs"]
mod ayas_interface;
mod by_hand;
mod pin;
mod program;
mod readers;

use perf_bpf::ProgramFd;
use pin::pin;
use program::Kind;
use readers::{Opened, Read, Sum};

const PAGES: usize = 64;
const ROUNDS: usize = 60;

type Open = fn(usize) -> Opened;

const READERS: [(&str, Kind, Open); 10] = [
    ("perf event array, perf-bpf", Kind::Array, readers::ours_array),
    ("perf event array, perf-bpf by aya's interface", Kind::Array, readers::ours_by_ayas_interface),
    ("perf event array, aya", Kind::Array, readers::aya_array),
    ("perf event array, libbpf-rs", Kind::Array, readers::libbpf_array),
    ("perf event array, by hand without checks", Kind::Array, by_hand::array),
    ("ring buffer, perf-bpf", Kind::Ring, readers::ours_ring),
    ("ring buffer, perf-bpf, borrowed", Kind::Ring, readers::ours_ring_borrowed),
    ("ring buffer, aya", Kind::Ring, readers::aya_ring),
    ("ring buffer, libbpf-rs", Kind::Ring, readers::libbpf_ring),
    ("ring buffer, by hand without checks", Kind::Ring, by_hand::ring),
];

struct Case {
    name: &'static str,
    program: ProgramFd,
    read: Read,
    _map: OwnedFd,
    best: f64,
    sum: Sum,
}

fn main() -> Result<(), Box<dyn Error>> {
    pin(0)?;
    assert!(readers::second_reader_is_refused()?);
    let sizes = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<Vec<i16>, _>>()?;
    for size in if sizes.is_empty() { vec![12, 28, 60, 124] } else { sizes } {
        let mut cases = Vec::new();
        for (name, kind, open) in READERS {
            let (map, read) = open(PAGES)?;
            let program = program::load(kind, &map.as_raw_fd(), size)?;
            cases.push(Case { name, program, read, _map: map, best: f64::INFINITY, sum: Sum::default() });
        }
        // Three quarters of the ring. Records of both maps have at most 16 bytes more than the payload.
        let runs = PAGES * 4096 * 3 / 4 / (size as usize + 16).next_multiple_of(8) / program::RECORDS;
        for _ in 0..ROUNDS {
            for case in &mut cases {
                measure(case, runs)?;
            }
        }
        println!("{size} bytes, {} records in {} KiB:", runs * program::RECORDS, PAGES * 4);
        for case in &cases {
            assert_eq!(case.sum, cases[0].sum, "{}", case.name);
            println!("  {:<48} {:6.2} ns", case.name, case.best);
        }
    }
    Ok(())
}

fn measure(case: &mut Case, runs: usize) -> Result<(), Box<dyn Error>> {
    for _ in 0..runs {
        case.program.test_run(&[], None)?;
    }
    let begin = Instant::now();
    let sum = (case.read)();
    let time = begin.elapsed();
    case.best = case.best.min(time.as_nanos() as f64 / sum.records as f64);
    // The part of a number at the end of the ring is not summed by aya's readers: only counts compare.
    case.sum = Sum { numbers: 0, ..sum };
    Ok(())
}
