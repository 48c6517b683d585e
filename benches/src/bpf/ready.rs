//! ns of consumer CPU per record, of records that are already in the ring. Every reader has a ring of equal size,
//! filled on CPU 0 by the same program, and sums the first 4 bytes of each record.

use std::os::fd::OwnedFd;
use std::time::Instant;

use perf_bpf::{ProgramFd, RingBuf};

use super::program::{self, Kind, RECORDS};
use super::{Open, PAGE, Read, Sum, by_hand, pin, readers};
use crate::table::Result;

const PAGES: usize = 64;
const ROUNDS: usize = 60;

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

pub(crate) fn ready(arguments: &[String]) -> Result<()> {
    pin(0)?;
    let ring = RingBuf::create("bench".parse()?, 1)?;
    assert!(RingBuf::open(&ring).is_err(), "a second reader of a ring buffer map is refused");
    let sizes = arguments.iter().map(|size| size.parse()).collect::<std::result::Result<Vec<i16>, _>>()?;
    for size in if sizes.is_empty() { vec![12, 28, 60, 124] } else { sizes } {
        let mut cases = Vec::new();
        for (name, kind, open) in READERS {
            let (map, read) = open(PAGES)?;
            let program = program::load(kind, &map, size)?;
            cases.push(Case { name, program, read, _map: map, best: f64::INFINITY, sum: Sum::default() });
        }
        // Three quarters of the ring. Records of both maps have at most 16 bytes more than the payload.
        let records = PAGES * PAGE * 3 / 4 / (size as usize + 16).next_multiple_of(8);
        let runs = records as u64 / RECORDS;
        for _ in 0..ROUNDS {
            for case in &mut cases {
                for _ in 0..runs {
                    case.program.test_run(&[], None)?;
                }
                let (before, begin) = (case.sum.records, Instant::now());
                (case.read)(&mut case.sum);
                let time = begin.elapsed().as_nanos() as f64;
                case.best = case.best.min(time / (case.sum.records - before) as f64);
            }
        }
        println!("{size} bytes, {} records in {} KiB:", runs * RECORDS, PAGES * 4);
        for case in &cases {
            assert_eq!(case.sum, cases[0].sum, "{}", case.name);
            println!("  {:<48} {:6.2} ns", case.name, case.best);
        }
    }
    Ok(())
}
