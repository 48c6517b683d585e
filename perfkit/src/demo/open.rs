//! Opening the events of a plan and mapping their rings.

use std::io;
use std::sync::Arc;

use perf_sys::{Call, Errno, Error, Event, Ring, RingSet, Target};

use super::plan::Plan;

/// Data pages of a ring: at 4 KiB half of what `perf_event_mlock_kb` permits per CPU by default.
const MAX_PAGES: usize = 64;

/// Data pages below which an open fails instead of mapping a smaller ring.
const MIN_PAGES: usize = 4;

/// The rings of a plan.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The rings by CPU number.
    pub(crate) rings: RingSet<u32>,
    /// Data pages of all rings.
    pub(crate) pages: usize,
}

/// Opens the events of `plan` on each CPU, for the calling thread and its future children.
pub(crate) fn rings(cpus: &[u32], plan: Plan) -> Result<Opened, Error> {
    let mut opened = Opened { rings: RingSet::new()?, pages: 0 };
    let mut offline = None;
    for &cpu in cpus {
        match ring(plan, cpu) {
            Ok((ring, pages)) => {
                opened.rings.add(cpu, ring)?;
                opened.pages += pages;
            }
            // The CPU went offline after it was listed, so nothing runs there.
            Err(error) if error.errno() == Some(Errno::ENODEV) => offline = Some(error),
            Err(error) => return Err(error),
        }
    }
    match offline {
        Some(error) if opened.rings.is_empty() => Err(error),
        _ => Ok(opened),
    }
}

/// Opens the ring of one CPU: the sampling event owns it, the side-band event is redirected into
/// it.
fn ring(plan: Plan, cpu: u32) -> Result<(Ring, usize), Error> {
    let target = Target::calling_thread().on_cpu(cpu);
    let samples = Event::open(&plan.samples(), target)?;
    let side_band = Event::open(&plan.side_band(), target)?;
    let (mut ring, pages) = map(samples.into(), MAX_PAGES)?;
    ring.redirect(side_band)?;
    Ok((ring, pages))
}

/// Maps a ring of `pages` data pages, or of the largest fraction that the limit of locked memory
/// permits.
fn map(event: Arc<Event>, pages: usize) -> Result<(Ring, usize), Error> {
    match Ring::map(event, pages) {
        Ok(ring) => Ok((ring, pages)),
        Err(failed) if failed.error.call() == Some(Call::Mmap) && pages > MIN_PAGES => {
            map(failed.event, pages / 2)
        }
        Err(failed) => Err(failed.error),
    }
}

/// Returns the CPUs on which this thread and its children may run. The numbers may have gaps.
pub(crate) fn cpus() -> io::Result<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affinity_of_this_thread_has_a_cpu() {
        assert!(!cpus().unwrap().is_empty());
    }
}
