//! The names and processes of what is observed while it runs.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use perf_abi::regs::Architecture;
use perf_profile::{Collector, Resolver};
use perf_record::synthesize::Synthesizer;
use perf_symbols::{FileFinder, Symbolizer, Unwinder};

use crate::measure::bpf_programs;

/// Returns a resolver for samples of this machine, whose memory and open files have limits.
pub(crate) fn resolver(has_lines: bool) -> io::Result<Resolver> {
    let finder = FileFinder::local();
    let symbolizer = if has_lines { Symbolizer::new } else { Symbolizer::without_lines };
    let unwinder = Unwinder::new(Architecture::NATIVE, finder.clone());
    let resolver = Resolver::with_symbolizer(unwinder, symbolizer(finder)?);
    Ok(resolver.with_monotonic_time(true).with_small_caches())
}

/// Adds the records of what runs already: of the kernel, the BPF programs and these processes, or all of them without a list.
/// Returns what could not be read.
pub(crate) fn add_running(
    synthesizer: &mut Synthesizer,
    processes: Option<&BTreeSet<u32>>,
    has_kernel: bool,
) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    if let Err(error) = synthesizer.kernel() {
        // Nobody misses it in samples of user space.
        notes.extend(has_kernel.then(|| error.to_string()));
    }
    match bpf_programs::loaded() {
        Ok(programs) => synthesizer.bpf_programs(programs),
        Err(error) => notes.push(format!("the names of BPF programs are missing: {error}")),
    }
    match processes {
        None => drop(synthesizer.processes()?),
        Some(processes) => {
            for &process in processes {
                // One that has exited meanwhile has no records.
                synthesizer.process(process);
            }
        }
    }
    Ok(notes)
}

/// Forgets processes whose exit is among records that were lost.
pub(crate) fn forget_dead(collector: &mut Collector) {
    let is_alive = |pid: u32| Path::new("/proc").join(pid.to_string()).exists();
    collector.spaces_mut().retain_processes(is_alive);
}
