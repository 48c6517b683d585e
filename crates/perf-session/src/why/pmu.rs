//! Rules of the PMU that an attr selects.

use perf_ring::{Attr, AttrFlags, EventType, SampleType};

use super::case::Case;
use super::rules::Found;
use super::{Cause, Diagnosis, Evidence, Field};
use crate::names::Pmu;
use crate::system::{FileError, System, pmu_file};

/// Returns the PMU that the attr selects: by its type; for hardware and cache events by the PMU
/// type in the upper half of `config`, or the PMU of raw events if that is 0. `None` if sysfs has
/// no such PMU.
///
/// # Errors
///
/// sysfs cannot be read, or a file of a PMU is malformed.
pub(super) fn pmu_of(system: &System, attr: &Attr) -> Result<Option<Pmu>, FileError> {
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
        None => Pmu::core(system).map(of_raw_events),
    };
    Ok(System::optional(found)?.flatten())
}

/// Returns the core PMU that raw events count on: the P-core PMU on hybrid CPUs.
fn of_raw_events(core: Vec<Pmu>) -> Option<Pmu> {
    let raw = core.iter().position(|pmu| pmu.kind() == EventType::RAW);
    core.into_iter().nth(raw.unwrap_or(0))
}

/// Returns the PMU for a text, which does without it if it is not known.
pub(super) fn known_pmu(case: &Case<'_>) -> Option<Pmu> {
    pmu_of(case.system, case.attr).ok().flatten()
}

/// Returns `PMU cpu`, or `the PMU`.
pub(super) fn name_of(pmu: Option<&Pmu>) -> String {
    pmu.map_or("the PMU".to_owned(), |pmu| format!("PMU {pmu}"))
}

/// Returns the type of the PMU as evidence.
pub(super) fn type_of(pmu: &Pmu) -> Evidence {
    Evidence::new(pmu_file(pmu.name(), "type"), pmu.kind().0)
}

/// An uncore PMU, which has a `cpumask`, counts for CPUs only.
pub(super) fn counts_on_cpus(case: &mut Case<'_>) -> Found {
    if !case.is_of_dynamic_pmu() || !case.is_of_tasks() {
        return Ok(None);
    }
    let Some(pmu) = pmu_of(case.system, case.attr)?.filter(Pmu::is_cpu_only) else { return Ok(None) };
    let cpus = pmu.cpus().map(ToString::to_string).unwrap_or_default();
    let text = format!("PMU {pmu} counts on CPUs, not for tasks");
    let found = if case.target.is_cgroup() { "a cgroup" } else { "a thread" };
    let diagnosis =
        Diagnosis::new(Cause::PmuNeedsCpu, text, format!("count it on CPUs {cpus} (its file cpumask)"));
    Ok(Some(diagnosis.on(Field::TARGET, found)))
}

/// A core PMU of a hybrid CPU is not on every CPU. Uncore PMUs accept any CPU, and move the event.
pub(super) fn not_on_cpu(case: &mut Case<'_>) -> Found {
    let Some(cpu) = case.target.cpu_id() else { return Ok(None) };
    if case.errno.is_none() && !case.is_of_dynamic_pmu() {
        return Ok(None);
    }
    let Some(pmu) = pmu_of(case.system, case.attr)? else { return Ok(None) };
    let Some(cpus) = pmu.cpus().filter(|cpus| !cpus.contains(cpu)) else { return Ok(None) };
    Ok((case.errno.is_some() || pmu.is_core()).then(|| {
        let text = format!("PMU {pmu} is not on CPU {cpu}");
        Diagnosis::new(Cause::PmuNotOnCpu, text, format!("open the event on CPUs {cpus}"))
            .with(type_of(&pmu))
            .on(Field::CPU, cpu)
    }))
}

/// A feature that the PMU lacks. What is `certain` is known without a trial: software events record
/// no branches, and a level of `precise_ip` is above the PMU's. The rest is likely after
/// `EOPNOTSUPP`.
pub(super) fn lacks_feature(case: &mut Case<'_>, certain: bool) -> Found {
    const NO_PMU: [EventType; 2] = [EventType::SOFTWARE, EventType::TRACEPOINT];
    let has_branches = case.samples(SampleType::BRANCH_STACK);
    let level = if NO_PMU.contains(&case.attr.kind) { 0 } else { case.precise() };
    if certain && !has_branches && (level == 0 || case.is(EventType::BREAKPOINT)) {
        return Ok(None);
    }
    let pmu = if certain { pmu_of(case.system, case.attr)? } else { known_pmu(case) };
    let name = pmu.as_ref().map_or(format!("the PMU of type {}", case.attr.kind), |pmu| format!("PMU {pmu}"));
    let max = match pmu.as_ref().map(max_precise) {
        Some(Err(error)) if certain => return Err(error),
        max => max.and_then(Result::ok).flatten(),
    };
    let never_branches = NO_PMU.contains(&case.attr.kind) || case.is(EventType::BREAKPOINT);
    let feature = |text: String, remedy: String| Diagnosis::new(Cause::PmuFeature, text, remedy);
    let diagnosis = if has_branches && (!certain || never_branches) {
        feature(format!("{name} does not record branches"), "sample no branches, or a hardware event".into())
            .on_attr(Field::SAMPLE_TYPE, case.attr)
    } else if level > max.unwrap_or(if certain { u32::MAX } else { 0 }) {
        let remedy = format!("use a precise_ip of at most {}", max.unwrap_or(0));
        feature(format!("{name} does not sample with precise_ip {level}"), remedy)
            .on(Field::FLAGS, format_args!("precise_ip {level}"))
    } else if certain {
        return Ok(None);
    } else if case.has(AttrFlags::AUX_OUTPUT) || !case.attr.aux_action.is_empty() {
        let text = format!("{name}, or that of the leader, lacks AUX_OUTPUT, or pause and resume");
        feature(text, "do without AUX output, pause and resume".into())
    } else if case.is_sampling() {
        feature(format!("{name} cannot sample, only count"), "count the event: set the period to 0".into())
    } else {
        return Ok(None);
    };
    let diagnosis = match max {
        Some(max) => diagnosis.with(Evidence::new("caps/max_precise of the PMU", max)),
        None => diagnosis,
    };
    Ok(Some(match pmu {
        Some(pmu) => diagnosis.with(type_of(&pmu)),
        None => diagnosis.with(Evidence::new("attr.type", case.attr.kind)),
    }))
}

/// Returns the largest `precise_ip` that the PMU samples with, `None` if it does not report one.
fn max_precise(pmu: &Pmu) -> Result<Option<u32>, FileError> {
    Ok(pmu.cap("max_precise")?.and_then(|level| level.parse().ok()))
}

pub(super) fn busy(case: &Case<'_>) -> Diagnosis {
    let pmu = known_pmu(case);
    let text = format!("another event has {}, or its branch unit, for itself", name_of(pmu.as_ref()));
    let remedy = "close the other event: one program at a time can use a trace unit";
    let diagnosis = Diagnosis::new(Cause::Busy, text, remedy);
    pmu.iter().fold(diagnosis, |diagnosis, pmu| diagnosis.with(type_of(pmu)))
}
