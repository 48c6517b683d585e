//! `EINVAL`: rules, CPUs, tracepoints, the group, and the guilty part of the attr.

use perf_sys::{Attr, Errno, EventType};

use super::{Failure, Trial, cpu, tracepoint};
use crate::system::CpuList;
use crate::why::check::{Checked, Violation};
use crate::why::check::{check, pmu_of};
use crate::why::explain::{Cause, Evidence, Explanation};
use crate::why::fallback::DroppedFeature;
use crate::why::fallback::{AttrFallback, steps};

pub(super) fn explain(failure: &mut Failure<'_>) -> Option<Explanation> {
    let open = failure.open;
    let checked = check(failure.system, open.attr, open.target, open.in_group);
    if let Some(violation) = checked.first(Errno::EINVAL) {
        return Some(broken(failure, violation));
    }
    let (system, attr) = (failure.system, open.attr);
    let is_tracepoint = attr.kind == EventType::TRACEPOINT;
    let tracepoint = is_tracepoint.then(|| tracepoint::explain(system, attr)).flatten();
    tracepoint
        .or_else(|| group(failure))
        .or_else(|| guilty(failure, Cause::AttrField))
        .or_else(|| counts_only(failure))
        .or_else(|| needs_cpu(failure))
        .or_else(|| is_tracepoint.then(|| tracepoint::not_found(system, attr)).flatten())
        .map(|explanation| with_unchecked(explanation, &checked))
}

/// Adds the files that could not be read, whose rules may be broken.
fn with_unchecked(explanation: Explanation, checked: &Checked) -> Explanation {
    checked.unchecked.iter().fold(explanation, |explanation, error| {
        explanation.with(Evidence::of_file::<&str>(&error.path().display().to_string(), Err(error)))
    })
}

fn broken(failure: &Failure<'_>, violation: &Violation) -> Explanation {
    let cause = match violation.field() {
        "cpu" => Cause::NoSuchCpu,
        "sample_freq" => Cause::SampleRate,
        "target" => Cause::PmuNeedsCpu,
        _ => Cause::Rule,
    };
    let text = match cause {
        Cause::NoSuchCpu => format!("no CPU has the number {}", violation.found()),
        Cause::SampleRate => format!("{} is above kernel.perf_event_max_sample_rate", violation.found()),
        _ => violation.expected().to_owned(),
    };
    let explanation = Explanation::new(cause, text, violation.remedy());
    let explanation = match cause {
        Cause::NoSuchCpu => {
            let possible = CpuList::possible(failure.system);
            explanation.with(cpu::list_evidence("/sys/devices/system/cpu/possible", &possible))
        }
        Cause::SampleRate => explanation.with(Evidence::new("the rule", violation.expected())),
        _ => explanation,
    };
    explanation.with(Evidence::new(format!("attr.{}", violation.field()), violation.found()))
}

/// Explains an event that opens without its group, or may do so.
fn group(failure: &mut Failure<'_>) -> Option<Explanation> {
    let (attr, target) = (failure.open.attr, failure.open.target);
    if !failure.open.in_group {
        return None;
    }
    let alone = failure.attempt(Trial { attr, target, in_group: false });
    let (probably, found) = match alone {
        Some(Ok(())) => ("", "accepted"),
        Some(Err(_)) => return None,
        None => ("probably ", "not tried"),
    };
    let is_hardware = [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW].contains(&attr.kind);
    let (cause, text, remedy) = if is_hardware {
        (
            Cause::GroupSize,
            "the group needs more counters than the PMU has, or the leader differs in CPU, task, clock or PMU",
            "split the group, or open the events without one: the kernel multiplexes them",
        )
    } else {
        (
            Cause::Leader,
            "the leader is a sibling itself, or differs in CPU, task, clock or inherit",
            "give all events of a group the same target, clock and inherit flag",
        )
    };
    let evidence = Evidence::new("the same event without the group", found);
    Some(Explanation::new(cause, format!("{probably}{text}"), remedy).with(evidence))
}

/// Explains an uncore PMU without a `cpumask`, which opens for a CPU.
fn needs_cpu(failure: &mut Failure<'_>) -> Option<Explanation> {
    let (attr, target) = (failure.open.attr, failure.open.target);
    if attr.kind <= EventType::BREAKPOINT || !(target.is_thread() || target.is_cgroup()) {
        return None;
    }
    let cpu = CpuList::online(failure.system).ok()?.iter().next()?;
    let on_cpu = Trial { attr, target: perf_sys::Target::cpu(cpu), in_group: false };
    if failure.attempt(on_cpu)?.is_err() {
        return None;
    }
    let pmu = pmu_of(failure.system, attr).ok().flatten();
    let name = pmu.map_or("the PMU".to_owned(), |pmu| format!("PMU {pmu}"));
    let explanation = Explanation::new(
        Cause::PmuNeedsCpu,
        format!("{name} counts on CPUs, not for tasks"),
        "count it on CPUs",
    );
    Some(explanation.with(Evidence::new(format!("the same event on CPU {cpu}"), "accepted")))
}

/// Explains a PMU that cannot sample, which opens the event if it only counts.
fn counts_only(failure: &mut Failure<'_>) -> Option<Explanation> {
    let attr = *failure.open.attr;
    if attr.sample_period == 0 || failure.attempt_attr(&attr.with_period(0))?.is_err() {
        return None;
    }
    let name = pmu_of(failure.system, &attr).ok().flatten();
    let name = name.map_or("the PMU".to_owned(), |pmu| format!("PMU {pmu}"));
    let text = format!("{name} cannot sample the event, only count it");
    let explanation = Explanation::new(Cause::PmuFeature, text, "set the period to 0, and read the count");
    Some(explanation.with(Evidence::new("the same event without a period", "accepted")))
}

/// Explains a part of the attr without which the event opens. Each part is tried alone, the newest first.
pub(super) fn guilty(failure: &mut Failure<'_>, cause: Cause) -> Option<Explanation> {
    failure.trial.as_ref()?;
    let asked = *failure.open.attr;
    let mut found = None;
    for step in steps(&AttrFallback::new(&asked)) {
        let attr = step.apply(asked);
        if attr != asked && failure.attempt_attr(&attr)?.is_ok() {
            found = Some(attr);
            break;
        }
    }
    let found = found.or_else(|| together(failure, &asked))?;
    let parts: Vec<_> = DroppedFeature::between(&asked, &found).iter().map(DroppedFeature::part).collect();
    let explanation = Explanation::new(
        cause,
        format!("the kernel or the PMU does not accept {}", parts.join(", ")),
        format!("do without {}", parts.join(", ")),
    );
    Some(explanation.with(Evidence::new("the same event without it", "accepted")))
}

/// Returns the attr without all parts that are guilty together.
fn together(failure: &mut Failure<'_>, asked: &Attr) -> Option<Attr> {
    let opened = AttrFallback::new(asked).open(|attr| match failure.attempt_attr(attr) {
        Some(result) => result,
        None => Err(*failure.open.error),
    });
    opened.ok().map(|opened| opened.attr)
}
