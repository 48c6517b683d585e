//! Reasons that are found by opening the event with less: the group, the guilty part of the attr,
//! the target.

use perf_ring::{Attr, Target};

use super::case::{Case, Trial};
use super::fallback::{AttrFallback, DroppedFeature, steps};
use super::pmu::{known_pmu, name_of};
use super::{Cause, Diagnosis, Evidence};
use crate::system::CpuList;

/// An event that opens without its group, or may do so.
pub(super) fn group(case: &mut Case<'_>) -> Option<Diagnosis> {
    if !case.in_group {
        return None;
    }
    let (probably, found) = match case.attempt_alone() {
        Some(Ok(())) => ("", "accepted"),
        Some(Err(_)) => return None,
        None => ("probably ", "not tried"),
    };
    let (cause, text, remedy) = if case.is_of_cpu_pmu() {
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
    Some(Diagnosis::new(cause, format!("{probably}{text}"), remedy).with(evidence))
}

pub(super) fn leader_is_gone(case: &mut Case<'_>) -> Option<Diagnosis> {
    let is_leader = case.in_group && case.attempt_alone().is_some_and(|result| result.is_ok());
    is_leader.then(|| {
        let text = "the PMU or the task of the group leader is gone";
        Diagnosis::new(Cause::Leader, text, "open the group again, leader first")
            .with(Evidence::new("the event without the group", "opened"))
    })
}

/// An uncore PMU without a `cpumask`, which opens for a CPU.
pub(super) fn needs_cpu(case: &mut Case<'_>) -> Option<Diagnosis> {
    if !case.is_of_dynamic_pmu() || !case.is_of_tasks() {
        return None;
    }
    let cpu = CpuList::online(case.system).ok()?.iter().next()?;
    let on_cpu = case.attempt(Trial { attr: case.attr, target: Target::cpu(cpu), in_group: false });
    on_cpu.is_some_and(|result| result.is_ok()).then(|| {
        let text = format!("{} counts on CPUs, not for tasks", name_of(known_pmu(case).as_ref()));
        Diagnosis::new(Cause::PmuNeedsCpu, text, "count it on CPUs")
            .with(Evidence::new(format!("the same event on CPU {cpu}"), "accepted"))
    })
}

/// A PMU that cannot sample, which opens the event if it only counts.
pub(super) fn counts_only(case: &mut Case<'_>) -> Option<Diagnosis> {
    let counts = case.is_sampling()
        && case.attempt_attr(&case.attr.with_period(0)).is_some_and(|result| result.is_ok());
    counts.then(|| {
        let text = format!("{} cannot sample the event, only count it", name_of(known_pmu(case).as_ref()));
        Diagnosis::new(Cause::PmuFeature, text, "set the period to 0, and read the count")
            .with(Evidence::new("the same event without a period", "accepted"))
    })
}

/// A part of the attr without which the event opens. Each is tried alone, the newest first; if none
/// is guilty alone, the fallback finds those that are guilty together.
pub(super) fn guilty(case: &mut Case<'_>, cause: Cause) -> Option<Diagnosis> {
    let (asked, target, in_group) = (*case.attr, case.target, case.in_group);
    let open = case.trial.as_mut()?;
    let mut attempt = |attr: &Attr| open(Trial { attr, target, in_group });
    let fallback = AttrFallback::new(&asked);
    let fewer = steps(&fallback).into_iter().map(|step| step.apply(asked)).filter(|attr| *attr != asked);
    let alone = { fewer }.find(|attr| attempt(attr).is_ok());
    let found = alone.or_else(|| fallback.open(attempt).ok().map(|opened| opened.attr));
    found.map(|found| {
        let parts: Vec<_> =
            DroppedFeature::between(&asked, &found).iter().map(DroppedFeature::part).collect();
        let parts = parts.join(", ");
        let text = format!("the kernel or the PMU does not accept {parts}");
        Diagnosis::new(cause, text, format!("do without {parts}"))
            .with(Evidence::new("the same event without it", "accepted"))
    })
}
