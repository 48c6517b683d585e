//! The PMU that an attr selects.

use perf_sys::{Attr, EventType};

use crate::names::Pmu;
use crate::system::{FileError, System};
use crate::why::explain::Evidence;

/// Returns the PMU that the attr selects: by its type, of hardware and cache events by the PMU type in the
/// upper half of `config`, without one that of raw events. `None` if sysfs has no such PMU.
///
/// # Errors
///
/// sysfs cannot be read, or a file of a PMU is malformed.
pub(crate) fn pmu_of(system: &System, attr: &Attr) -> Result<Option<Pmu>, FileError> {
    let kind = match attr.kind {
        EventType::HARDWARE | EventType::HW_CACHE => match (attr.config >> 32) as u32 {
            0 => None,
            hybrid => Some(EventType(hybrid)),
        },
        EventType::RAW => None,
        kind => Some(kind),
    };
    let found = match kind {
        Some(kind) => Pmu::with_kind(system, kind),
        None => Pmu::core(system).map(first),
    };
    Ok(System::optional(found)?.flatten())
}

/// Returns the core PMU whose events a raw event has, of a hybrid CPU that of its faster cores.
fn first(core: Vec<Pmu>) -> Option<Pmu> {
    let raw = core.iter().position(|pmu| pmu.kind() == EventType::RAW);
    core.into_iter().nth(raw.unwrap_or(0))
}

/// Returns the largest `precise_ip` that the PMU samples with, `None` if it does not report one.
pub(crate) fn max_precise(pmu: &Pmu) -> Result<Option<u32>, FileError> {
    Ok(pmu.cap("max_precise")?.and_then(|level| level.parse().ok()))
}

/// Returns the type of the PMU as evidence.
pub(crate) fn type_of(pmu: &Pmu) -> Evidence {
    Evidence::new(format!("/sys/bus/event_source/devices/{pmu}/type"), pmu.kind().0)
}
