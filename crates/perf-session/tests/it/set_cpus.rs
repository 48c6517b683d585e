//! Sets of CPUs: counting, sampling, and what is not possible.

use std::sync::Arc;
use std::time::Duration;

use crate::support::set::{Tree, open_or_skip, refused, software, switch, switches};
use perf_session::ring::{Attr, AttrFlags, Errno, Event, EventType, SampleType, Software};
use perf_session::{
    Cause, CpuList, EventCounts, EventGroup, EventSet, EventSetError, EventSetOptions, EventSetTarget,
    EventSpec, NamedEvent, Refreshed, Scope, System,
};

#[test]
fn each_online_cpu_has_its_count() {
    let events = [software(Software::CONTEXT_SWITCHES), software(Software::CPU_CLOCK)];
    let Some(mut set) = open_or_skip(EventSetOptions::new().events(events)) else { return };
    set.enable().unwrap();
    switch(10);
    set.disable().unwrap();
    let counts = set.counts().unwrap();
    let [switches, clock] = [0, 1].map(|index| counts.get(index).unwrap());
    assert!(switches.total().value >= 10, "{counts}");
    assert_eq!(switches.total().time_running, switches.total().time_enabled, "not multiplexed");
    let cpus: CpuList = clock.scopes.iter().filter_map(|count| count.scope.cpu_id()).collect();
    assert_eq!(cpus, set.cpus());
    assert!(clock.scopes.iter().all(|count| count.count.value > 0), "{counts}");
    assert_eq!(
        counts.iter().map(|event| event.name.to_string()).collect::<Vec<_>>(),
        ["context-switches", "cpu-clock"]
    );
}

#[test]
fn nothing_counts_before_the_set_is_enabled() {
    let Some(mut set) = open_or_skip(EventSetOptions::new().event(software(Software::CPU_CLOCK))) else {
        return;
    };
    switch(10);
    let total = set.counts().unwrap().get(0).unwrap().total();
    assert_eq!((total.value, total.time_enabled), (0, Some(0)));
}

#[test]
fn interval_is_the_difference_of_two_readings() {
    let Some(mut set) = open_or_skip(EventSetOptions::new().event(software(Software::CONTEXT_SWITCHES)))
    else {
        return;
    };
    set.enable().unwrap();
    switch(10);
    let before = set.counts().unwrap();
    switch(20);
    let now = set.counts().unwrap();
    let (all, last) = (now.get(0).unwrap().total().value, now.since(&before).get(0).unwrap().total().value);
    assert!(last >= 20 && all >= last + 10, "{last} of {all}");
}

#[test]
fn only_the_chosen_cpus_are_opened() {
    let last = CpuList::online(&System::new()).unwrap().iter().last().unwrap();
    let target = EventSetTarget::cpus(std::iter::once(last).collect());
    let Some(set) = open_or_skip(EventSetOptions::new().event(switches()).target(target).ring_pages(8))
    else {
        return;
    };
    let scopes: Vec<Scope> = set.events().map(|event| event.scope).collect();
    assert_eq!(scopes, [Scope::cpu(last)]);
    assert!(set.events().all(|event| event.event.attr().sample_type.contains(SampleType::IDENTIFIER)));
}

#[test]
fn cpu_that_the_machine_does_not_have_is_an_error() {
    let target = EventSetTarget::cpus([0, 4000].into_iter().collect());
    let error = refused(EventSetOptions::new().event(switches()).target(target));
    assert!(matches!(&error, EventSetError::ImpossibleCpus { cpus } if cpus.as_slice() == [4000]), "{error}");
}

#[test]
fn event_is_opened_on_the_cpus_of_its_pmu_only() {
    let on = |cpus: &[u32]| software(Software::CPU_CLOCK).with_cpus(cpus.iter().copied().collect(), true);
    let first = CpuList::online(&System::new()).unwrap().iter().next().unwrap();
    let Some(set) = open_or_skip(EventSetOptions::new().event(on(&[first]))) else { return };
    assert_eq!(set.cpus().as_slice(), [first]);
    let error = refused(EventSetOptions::new().event(on(&[4000])));
    assert!(matches!(error, EventSetError::NoCpu { .. }), "{error}");
}

#[test]
fn set_without_events_is_an_error() {
    assert!(matches!(refused(EventSetOptions::new()), EventSetError::NoEvents));
}

#[test]
fn counting_set_has_no_rings() {
    let Some(mut set) = open_or_skip(EventSetOptions::new().event(software(Software::CPU_CLOCK))) else {
        return;
    };
    assert!(matches!(set.wait(None), Err(EventSetError::NoRings)));
    assert!(matches!(set.drain_sorted(|_| ()), Err(EventSetError::NoRings)));
    assert!(set.rings().is_none());
}

#[test]
fn events_of_a_group_are_read_at_one_moment() {
    let events = [software(Software::CPU_CLOCK), software(Software::CONTEXT_SWITCHES)];
    let Some(mut set) = open_or_skip(EventSetOptions::new().group(events)) else { return };
    set.enable().unwrap();
    switch(10);
    let counts = set.counts().unwrap();
    let scopes = |index: usize| counts.get(index).unwrap().scopes.clone();
    assert_eq!(
        set.events().map(|event| event.is_member).collect::<Vec<_>>(),
        [false, true].repeat(set.cpus().len())
    );
    for (leader, member) in scopes(0).iter().zip(scopes(1)) {
        assert_eq!((leader.scope, leader.count.time_enabled), (member.scope, member.count.time_enabled));
    }
}

#[test]
fn package_is_counted_once() {
    let online = CpuList::online(&System::new()).unwrap();
    let list = format!("{online}\n");
    let package = |cpu| format!("cpu/cpu{cpu}/topology/physical_package_id");
    let packages: Vec<(String, &str)> = online.iter().map(|cpu| (package(cpu), "0\n")).collect();
    let mut files: Vec<(&str, &str)> = vec![("cpu/online", &list), ("cpu/possible", &list)];
    files.extend(packages.iter().map(|(path, text)| (path.as_str(), *text)));
    let tree = Tree::new(&files);
    let clock = software(Software::CPU_CLOCK);
    let options = EventSetOptions::new().events([clock.clone().with_per_package(true), clock]);
    let Some(mut set) = open_or_skip(options.system(System::at(&tree.0))) else { return };
    set.enable().unwrap();
    switch(5);
    set.disable().unwrap();
    let counts = set.counts().unwrap();
    let [once, all] = [0, 1].map(|index| counts.get(index).unwrap());
    assert_eq!(once.scopes.len(), all.scopes.len());
    let values = |event: &EventCounts| event.scopes.iter().map(|count| count.count.value).collect::<Vec<_>>();
    assert_eq!(once.total().value, values(once)[0], "{once:?}");
    assert_eq!(all.total().value, values(all).iter().sum::<u64>());
}

#[test]
fn cpu_without_a_package_is_an_error_that_names_the_file() {
    let tree = Tree::new(&[("cpu/online", "0\n"), ("cpu/possible", "0\n")]);
    let clock = software(Software::CPU_CLOCK).with_per_package(true);
    if open_or_skip(EventSetOptions::new().event(clock.clone())).is_none() {
        return;
    }
    let error = refused(EventSetOptions::new().event(clock).system(System::at(&tree.0))).to_string();
    assert!(error.contains("cpu0/topology/physical_package_id"), "{error}");
}

#[test]
fn error_is_explained_with_its_event_and_place() {
    let missing = EventSpec::new(Attr::new(EventType(0x7fff_0000), 0)).with_label("nonsense");
    if open_or_skip(EventSetOptions::new().event(software(Software::CPU_CLOCK))).is_none() {
        return;
    }
    let error = refused(EventSetOptions::new().event(missing));
    assert!(error.to_string().starts_with("nonsense for CPU "), "{error}");
    let explanation = error.explain(&System::new()).unwrap();
    assert_eq!(explanation.cause, Cause::NoSuchPmu, "{explanation}");
}

#[test]
fn parts_of_an_attr_that_are_not_accepted_are_given_up_on_request() {
    // A flag that no kernel has yet.
    let flag = AttrFlags::from_bits_retain(1 << if cfg!(target_endian = "little") { 50 } else { 13 });
    let event = software(Software::CPU_CLOCK).map_attr(|attr| attr.with_flags(flag));
    let options = EventSetOptions::new().event(event);
    let Some(set) = open_or_skip(options.clone().allow_fallback()) else { return };
    for event in set.events() {
        assert!(!event.dropped.is_empty(), "{:?}", event.event.attr());
        assert!(!event.event.attr().flags.contains(flag));
    }
    let error = refused(options);
    assert_eq!(error.call().and_then(perf_session::ring::Error::errno), Some(Errno::EINVAL), "{error}");
}

#[test]
fn cgroup_is_counted_on_each_cpu() {
    let Some(dir) = crate::support::set::cgroup2() else {
        return eprintln!("skipped: no cgroup2 is mounted");
    };
    let options = EventSetOptions::new().event(switches()).target(EventSetTarget::cgroup(dir)).ring_pages(8);
    let mut set = match options.open() {
        Ok(set) => set,
        // The controller may be in a version 1 hierarchy.
        Err(error) => return eprintln!("skipped: {error}"),
    };
    set.enable().unwrap();
    switch(20);
    set.disable().unwrap();
    assert!(set.counts().unwrap().get(0).unwrap().total().value >= 20);
    assert_eq!(set.cpus(), CpuList::online(&System::new()).unwrap());
}

#[test]
fn events_of_one_set_have_different_cgroups() {
    let Some(root) = crate::support::set::cgroup2() else {
        return eprintln!("skipped: no cgroup2 is mounted");
    };
    let of_root = EventGroup::from(NamedEvent::from(switches())).in_cgroup(Arc::new(root.into()));
    let mut thread = EventSetOptions::new().target(EventSetTarget::calling_thread());
    thread = thread.groups([of_root]).event(switches());
    let mut set = match thread.open() {
        Ok(set) => set,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    set.enable().unwrap();
    switch(20);
    set.disable().unwrap();
    let counts = set.counts().unwrap();
    let [cgroup, own] = [0, 1].map(|event| counts.get(event).unwrap());
    assert!(cgroup.total().value >= own.total().value && own.total().value >= 20, "{counts}");
    let threads =
        |event: &EventCounts| event.scopes.iter().filter_map(|count| count.scope.thread_id()).count();
    assert_eq!((threads(cgroup), threads(own)), (0, 1), "{counts}");
    assert_eq!(set.cpus(), CpuList::online(&System::new()).unwrap());
}

#[test]
fn refresh_never_enables_what_was_disabled_by_another_handle() {
    let disable: [fn(&EventSet); 3] = [
        |set| set.rings().unwrap().disable().unwrap(),
        |set| set.events().for_each(|event| event.event.disable().unwrap()),
        |_| Event::disable_all().unwrap(), // those that this thread opened
    ];
    for disable in disable {
        let options =
            EventSetOptions::new().events([switches(), software(Software::CPU_CLOCK)]).ring_pages(8);
        let Some(mut set) = open_or_skip(options) else { return };
        set.enable().unwrap();
        assert_eq!(set.refresh().unwrap(), Refreshed::default());
        disable(&set);
        let value = |set: &mut EventSet| set.counts().unwrap().get(1).unwrap().total().value;
        let stopped = value(&mut set);
        for _ in 0..5 {
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(set.refresh().unwrap(), Refreshed::default(), "no CPU was offline");
        }
        assert_eq!(value(&mut set), stopped);
        assert_eq!(set.ledger().gaps(), []);
        // The set itself can start them again.
        set.enable().unwrap();
        switch(1);
        assert!(value(&mut set) > stopped);
        assert_eq!(set.refresh().unwrap(), Refreshed::default());
    }
}
