//! Prints the processes that leave a CPU, as a program on `sched_switch` writes them to a perf
//! event array.
//!
//! ```sh
//! cargo run -p perf-bpf --example perf_buffer
//! ```

use perf_bpf::{Error, EventArray, Link, PerfBuffer, PerfBufferOptions, PerfBufferRecord};

mod program;

fn main() -> Result<(), perf_bpf::Report> {
    for (cpu, process) in read(20)? {
        println!("CPU {cpu}: process {process}");
    }
    Ok(())
}

// ANCHOR: read
/// Reads at least `count` records: the CPU and the process of each.
pub(crate) fn read(count: usize) -> Result<Vec<(u32, u32)>, Error> {
    let array = EventArray::create("events".parse()?)?;
    let program = program::for_array(&array)?;
    let mut buffer = PerfBufferOptions::new().payload_size(8).open(array)?;
    let link = Link::raw_tracepoint(c"sched_switch", &program, 0)?;
    let mut found = Vec::new();
    while found.len() < count {
        buffer.wait(None)?;
        read_ready(&mut buffer, &mut found)?;
    }
    drop(link);
    eprintln!("{:?}", buffer.total()?);
    Ok(found)
}

fn read_ready(buffer: &mut PerfBuffer, found: &mut Vec<(u32, u32)>) -> Result<(), Error> {
    for batch in buffer.ready() {
        let mut batch = batch?;
        let cpu = batch.cpu();
        for output in batch.outputs() {
            match output? {
                PerfBufferRecord::Sample(sample) => {
                    found.extend(program::process(sample.bytes()).map(|process| (cpu, process)));
                }
                PerfBufferRecord::Lost(records) => eprintln!("CPU {cpu}: {records} records lost"),
                PerfBufferRecord::Other(record) => eprintln!("CPU {cpu}: {:?}", record.kind()),
            }
        }
    }
    Ok(())
}
// ANCHOR_END: read
