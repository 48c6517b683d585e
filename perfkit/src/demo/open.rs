//! Opening the events of a plan and mapping their rings.

use perf_ring::{Errno, Error, Event, RingSet, Target};
use perf_session::{CpuList, map_largest};

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

/// The two events of one CPU: the sampling event owns the ring, the side-band event is redirected into
/// it.
struct OnCpu {
    cpu: u32,
    samples: Event,
    side_band: Event,
}

/// Opens the events of `plan` on each CPU, for the calling thread and its future children.
pub(crate) fn rings(cpus: &CpuList, plan: Plan) -> Result<Opened, Error> {
    let (mut opened, mut offline) = (Vec::new(), None);
    for cpu in cpus {
        match events(plan, cpu) {
            Ok(events) => opened.push(events),
            // The CPU went offline after it was listed, so nothing runs there.
            Err(error) if error.errno() == Some(Errno::ENODEV) => offline = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let (true, Some(error)) = (opened.is_empty(), offline) {
        return Err(error);
    }
    let (samples, others): (Vec<Event>, Vec<(u32, Event)>) =
        opened.into_iter().map(|OnCpu { cpu, samples, side_band }| (samples, (cpu, side_band))).unzip();
    let mapped = map_largest(samples, MIN_PAGES..=MAX_PAGES)?;
    let pages = mapped.size.data_pages * mapped.rings.len();
    let mut rings = RingSet::new()?;
    for (mut ring, (cpu, side_band)) in mapped.rings.into_iter().zip(others) {
        ring.redirect(side_band)?;
        rings.add(cpu, ring)?;
    }
    Ok(Opened { rings, pages })
}

fn events(plan: Plan, cpu: u32) -> Result<OnCpu, Error> {
    let target = Target::calling_thread().on_cpu(cpu);
    let samples = Event::open(&plan.samples(), target)?;
    let side_band = Event::open(&plan.side_band(), target)?;
    Ok(OnCpu { cpu, samples, side_band })
}
