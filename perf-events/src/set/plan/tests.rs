use perf_sys::{Attr, AttrFlags, Hardware, ReadFormat, SampleType, Software};

use super::*;
use crate::{Inherit, Place, SetOptions, SetTarget};

/// Cycles on a machine with two kinds of cores.
fn hybrid(name: &str, event: Hardware) -> LogicalEvent {
    let spec = |pmu: &str, kind, cpus: [u32; 2]| {
        let attr = Attr::hardware(event).with_hybrid_pmu(kind);
        EventSpec::new(attr).with_pmu(pmu).with_cpus(cpus.into_iter().collect(), false)
    };
    LogicalEvent::new(name, vec![spec("cpu_core", 4, [0, 1]), spec("cpu_atom", 10, [2, 3])])
}

fn faults() -> LogicalEvent {
    EventSpec::new(Attr::software(Software::PAGE_FAULTS)).into()
}

fn plan(options: &SetOptions) -> Plan {
    Plan::new(&options.groups).unwrap()
}

#[test]
fn hybrid_event_is_planned_once_for_each_pmu() {
    let plan = plan(&SetOptions::new().event(hybrid("cycles", Hardware::CPU_CYCLES)).event(faults()));
    let groups: Vec<(usize, bool, bool)> =
        plan.groups.iter().map(|group| (group.events[0].index, group.is_on(1), group.is_on(2))).collect();
    assert_eq!(groups, [(0, true, false), (0, false, true), (1, true, true)]);
    assert_eq!(plan.names.len(), 2);
}

#[test]
fn hybrid_group_is_one_group_for_each_pmu() {
    let cycles = hybrid("cycles", Hardware::CPU_CYCLES);
    let instructions = hybrid("instructions", Hardware::INSTRUCTIONS);
    let plan = plan(&SetOptions::new().group([cycles, instructions, faults()]));
    assert_eq!(plan.groups.len(), 2);
    for (group, pmu) in plan.groups.iter().zip(["cpu_core", "cpu_atom"]) {
        let pmus: Vec<Option<&str>> = group.events.iter().map(|event| event.spec.pmu()).collect();
        assert_eq!(pmus, [Some(pmu), Some(pmu), None]);
        assert_eq!(group.events.iter().map(|event| event.index).collect::<Vec<_>>(), [0, 1, 2]);
    }
}

#[test]
fn member_without_the_pmu_of_its_leader_is_an_error() {
    let mut specs = hybrid("x", Hardware::CPU_CYCLES).specs().to_vec();
    specs.push(EventSpec::new(Attr::raw(1)).with_pmu("cpu_low"));
    let leader = LogicalEvent::new("cycles", specs);
    let options = SetOptions::new().group([leader, hybrid("instructions", Hardware::INSTRUCTIONS)]);
    let error = Plan::new(&options.groups).unwrap_err().to_string();
    assert_eq!(error, "group of cycles: instructions is not an event of its PMU cpu_low");
}

#[test]
fn event_without_a_pmu_is_an_error() {
    let options = SetOptions::new().event(LogicalEvent::new("ghost", Vec::new()));
    assert!(matches!(Plan::new(&options.groups), Err(SetError::NoPmu { .. })));
    let empty = SetOptions::new().group(Vec::<LogicalEvent>::new());
    assert!(matches!(Plan::new(&empty.groups), Err(SetError::NoEvents)));
}

#[test]
fn weak_group_is_split_into_its_events() {
    let system = crate::System::new();
    let weak = crate::parse("page-faults,{task-clock,cpu-clock}:W", &system).unwrap();
    let mut plan = plan(&SetOptions::new().groups(weak));
    assert!(!plan.split(0), "a single event");
    assert!(plan.split(1));
    assert!(!plan.split(1), "split already");
    let indices: Vec<usize> = plan.groups.iter().map(|group| group.events[0].index).collect();
    assert_eq!((indices, plan.groups.iter().all(|group| group.events.len() == 1)), (vec![0, 1, 2], true));
}

/// Returns the attrs of a group of two software events at `place`.
fn attrs(options: &SetOptions, place: Place) -> Vec<Attr> {
    options.attrs(&plan(options).groups[0], place, true)
}

#[test]
fn only_the_leader_is_disabled_and_enabled_on_exec() {
    let options = SetOptions::new().group([faults(), faults()]).target(SetTarget::command());
    let [leader, member] = attrs(&options, Place::thread(7))[..] else { unreachable!() };
    let start = AttrFlags::DISABLED | AttrFlags::ENABLE_ON_EXEC;
    assert_eq!((leader.flags, member.flags), (start | AttrFlags::INHERIT, AttrFlags::INHERIT));
    assert!(!leader.read_format.contains(ReadFormat::GROUP), "copies are read separately");
    // An event that counts for CPUs only is not started by an exec.
    let [leader, member] = attrs(&options, Place::cpu(7))[..] else { unreachable!() };
    assert_eq!((leader.flags, member.flags), (AttrFlags::DISABLED, AttrFlags::empty()));
    assert!(leader.read_format.contains(ReadFormat::GROUP));
    assert!(!member.read_format.contains(ReadFormat::GROUP));
}

#[test]
fn inheritance_follows_the_target_unless_it_is_set() {
    let flags = |options: &SetOptions| attrs(options, Place::thread(7))[0].flags - AttrFlags::DISABLED;
    let process = SetOptions::new().event(faults()).target(SetTarget::process(1));
    assert_eq!(flags(&process), AttrFlags::INHERIT);
    assert_eq!(flags(&process.clone().inherit(Inherit::Nothing)), AttrFlags::empty());
    let thread = SetOptions::new().event(faults()).target(SetTarget::thread(1));
    assert_eq!(flags(&thread), AttrFlags::empty());
    assert_eq!(flags(&thread.inherit(Inherit::Threads)), AttrFlags::INHERIT | AttrFlags::INHERIT_THREAD);
}

#[test]
fn records_have_what_attributes_and_sorts_them() {
    let options = SetOptions::new().event(faults()).ring_pages(1);
    let attr = attrs(&options, Place::cpu(0))[0];
    assert!(attr.sample_type.contains(SampleType::IDENTIFIER | SampleType::TIME));
    assert!(attr.flags.contains(AttrFlags::SAMPLE_ID_ALL));
}
