//! Names and processes of live measurements.

use std::io;

use perf_abi::regs::Architecture;
use perf_profile::{Collector, Resolver};
use perf_session::System;
use perf_symbols::FileFinder;

/// Returns a resolver for samples of this machine, whose memory and open files have limits.
pub(crate) fn resolver(has_lines: bool) -> io::Result<Resolver> {
    let new = if has_lines { Resolver::new } else { Resolver::without_lines };
    let resolver = new(Architecture::NATIVE, FileFinder::local())?;
    Ok(resolver.with_monotonic_time(true).with_small_caches())
}

/// Forgets processes whose exit is among records that were lost.
pub(crate) fn forget_dead(collector: &mut Collector) {
    let system = System::new();
    collector.spaces_mut().retain_processes(|pid| system.task(pid).exists());
}
