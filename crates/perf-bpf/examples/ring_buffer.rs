//! Prints the processes that leave a CPU, as a program on `sched_switch` writes them to a ring
//! buffer map.
//!
//! ```sh
//! cargo run -p perf-bpf --example ring_buffer
//! ```

use perf_bpf::{Error, Link, RingBuf};

mod program;

fn main() -> Result<(), perf_bpf::Report> {
    for process in read(20)? {
        println!("process {process}");
    }
    Ok(())
}

// ANCHOR: read
/// Reads at least `count` records: the process of each.
pub(crate) fn read(count: usize) -> Result<Vec<u32>, Error> {
    let mut ring = RingBuf::create("events".parse()?, 1 << 20)?;
    let program = program::for_ring(&ring)?;
    let _link = Link::raw_tracepoint(c"sched_switch", &program, 0)?;
    let mut found = Vec::new();
    while found.len() < count {
        ring.wait(None)?;
        for record in ring.batch()?.records() {
            found.extend(program::process(record?));
        }
    }
    Ok(found)
}
// ANCHOR_END: read
