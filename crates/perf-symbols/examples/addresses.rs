//! Names addresses of a process that runs already, for example from `bpf_get_stack()`.
//!
//! Usage: `addresses PID ADDRESS...`, in hexadecimal.

use std::io;

use perf_abi::{Attr, CpuMode};
use perf_decode::SampleLayout;
use perf_record::synthesize::Synthesizer;
use perf_session::System;
use perf_symbols::{AddressSpaces, FileFinder, Query, StackFrame, Symbolizer};

/// Returns a line for each address: the functions, the innermost inlined one first, or the reason
/// why there is no name.
pub(crate) fn names(pid: u32, addresses: &[u64]) -> io::Result<Vec<String>> {
    // What is mapped now. An agent keeps the spaces and the symbolizer, and adds each process when
    // it first meets it.
    let (attr, mut spaces) = (Attr::default(), AddressSpaces::new());
    let mut running = Synthesizer::new(&System::new(), &attr);
    if let Err(error) = running.kernel() {
        eprintln!("{error}"); // addresses of the kernel will have no names
    }
    running.process(pid);
    let layout = SampleLayout::new(&attr);
    for record in running.records().records().flatten() {
        spaces.update(&record.decode(&layout).map_err(io::Error::other)?);
    }
    let query = |&address: &u64| {
        let mode = if address >> 63 == 0 { CpuMode::USER } else { CpuMode::KERNEL };
        // All addresses of a stack but the first are return addresses.
        Query::new(&spaces, pid, &StackFrame { mode, address, is_return_address: false })
    };
    let queries: Vec<Query> = addresses.iter().map(query).collect();
    let named = Symbolizer::new(FileFinder::local())?.symbolize(&queries);
    Ok(named
        .iter()
        .map(|symbols| match symbols {
            Ok(symbols) => {
                symbols.functions.iter().map(|function| &*function.name).collect::<Vec<_>>().join(" < ")
            }
            Err(reason) => format!("[{reason}]"),
        })
        .collect())
}

fn main() -> Result<(), perf_session::Report> {
    let mut words = std::env::args().skip(1);
    let pid = words.next().ok_or("usage: addresses PID ADDRESS...")?.parse()?;
    let parse = |word: String| u64::from_str_radix(word.trim_start_matches("0x"), 16);
    for line in names(pid, &words.map(parse).collect::<Result<Vec<_>, _>>()?)? {
        println!("{line}");
    }
    Ok(())
}
