//! Events of several PMUs and of PMUs for CPUs only, by software events that are restricted to
//! CPUs.

use std::process::Command;

use crate::support::set::{open_or_skip, refused, software, switch};
use perf_session::ring::Software;
use perf_session::{
    CpuList, EventSetError, EventSetOptions, EventSetTarget, NamedEvent, Scope, System, parse,
};

/// Returns the online CPUs.
fn online() -> CpuList {
    CpuList::online(&System::new()).unwrap()
}

/// Returns one clock for the first CPU and one for the others, like a machine with two kinds of
/// cores.
fn hybrid() -> Option<NamedEvent> {
    let mut cpus = online().iter().collect::<Vec<_>>().into_iter();
    let first: CpuList = cpus.by_ref().take(1).collect();
    let others: CpuList = cpus.collect();
    if others.is_empty() {
        eprintln!("skipped: one CPU");
        return None;
    }
    let clock = |pmu: &str, cpus| software(Software::CPU_CLOCK).with_pmu(pmu).with_cpus(cpus, false);
    Some(NamedEvent::new("clock", vec![clock("cpu_core", first), clock("cpu_atom", others)]))
}

#[test]
fn event_of_two_pmus_is_one_event_with_a_count_for_each() {
    let Some(event) = hybrid() else { return };
    let Some(mut set) = open_or_skip(EventSetOptions::new().event(event).ring_pages(1)) else { return };
    assert_eq!(set.cpus(), online());
    assert_eq!(set.events().count(), online().len(), "each CPU has the event of its PMU");
    set.enable().unwrap();
    switch(10);
    set.disable().unwrap();
    let counts = set.counts().unwrap();
    assert_eq!(counts.iter().count(), 1);
    let event = counts.get(0).unwrap();
    let pmus = event.by_pmu();
    assert_eq!(pmus.iter().map(|(pmu, _)| &**pmu).collect::<Vec<_>>(), ["cpu_atom", "cpu_core"]);
    assert_eq!(event.total().value, pmus.iter().map(|(_, count)| count.value).sum::<u64>());
    assert!(pmus.iter().all(|(_, count)| count.value > 0), "{counts}");
}

#[test]
fn event_of_two_pmus_is_opened_on_both_for_a_task() {
    let Some(event) = hybrid() else { return };
    let options = EventSetOptions::new().event(event).target(EventSetTarget::calling_thread());
    let Some(set) = open_or_skip(options.clone()) else { return };
    let pmus: Vec<Option<&str>> = set.events().map(|event| event.spec.pmu()).collect();
    assert_eq!(pmus, [Some("cpu_core"), Some("cpu_atom")]);
    assert!(set.events().all(|event| event.scope == Scope::thread(crate::support::set::tid())));
    // With rings, the event of each PMU is on its CPUs.
    let set = options.inherit(perf_session::Inherit::Tasks).ring_pages(1).open().unwrap();
    assert_eq!(set.rings().unwrap().len(), set.events().count());
}

#[test]
fn event_for_cpus_only_counts_beside_a_command() {
    let first: CpuList = online().iter().take(1).collect();
    let uncore = software(Software::CPU_CLOCK).with_pmu("uncore").with_cpus(first.clone(), true);
    let faults = software(Software::PAGE_FAULTS);
    let options = EventSetOptions::new().events([uncore, faults]).target(EventSetTarget::command());
    let Some(mut set) = open_or_skip(options) else { return };
    assert_eq!(set.cpus(), first);
    assert!(set.spawn(&mut Command::new("true")).unwrap().wait().unwrap().success());
    let counts = set.counts().unwrap();
    assert!(counts.iter().all(|event| event.total().value > 0), "{counts}");
}

#[test]
fn weak_group_that_is_not_accepted_is_opened_as_single_events() {
    // The kernel accepts no pinned member.
    let group = |modifier: &str| {
        let events = format!("{{context-switches,page-faults:D}}{modifier},cpu-clock");
        let events = parse(&events, &System::new()).unwrap();
        EventSetOptions::new().groups(events).target(EventSetTarget::calling_thread())
    };
    let Some(mut set) = open_or_skip(group(":W")) else { return };
    assert!(set.events().all(|event| !event.is_member));
    assert_eq!(set.events().map(|event| event.index).collect::<Vec<_>>(), [0, 1, 2]);
    set.enable().unwrap();
    switch(5);
    let counts = set.counts().unwrap();
    assert!(counts.get(0).unwrap().total().value >= 5, "{counts}");
    let error = refused(group(""));
    assert!(error.event().unwrap().is_member, "{error}");
}

#[test]
fn event_without_a_cpu_is_an_error_also_for_a_task() {
    let first: CpuList = online().iter().take(1).collect();
    let elsewhere = software(Software::CPU_CLOCK).with_cpus(std::iter::once(4000).collect(), false);
    let faults = software(Software::PAGE_FAULTS);
    let target = EventSetTarget::calling_thread().on_cpus(first);
    let Some(set) = open_or_skip(EventSetOptions::new().event(faults.clone()).target(target.clone())) else {
        return;
    };
    assert_eq!(set.events().count(), 1);
    let error = refused(EventSetOptions::new().events([faults, elsewhere]).target(target));
    assert!(matches!(&error, EventSetError::NoCpu { event, .. } if &**event == "cpu-clock"), "{error}");
}
