//! Groups: opened, read, measured and sampled together, and the two flags of `group_fd`.

use crate::prelude::*;

const TIMES: ReadFormat = ReadFormat::TOTAL_TIME_ENABLED.union(ReadFormat::TOTAL_TIME_RUNNING);

/// Opens a group on the calling thread, unless one of its events cannot be opened here.
fn group_or_skip(leader: &Attr, members: &[Attr]) -> Option<Group> {
    for attr in members.iter().chain([leader]) {
        own(attr)?;
    }
    Some(Group::open(leader, members, Target::calling_thread()).unwrap())
}

#[test]
fn group_of_software_events_counts_the_same_work() {
    let clock = user_side(Attr::software(Software::TASK_CLOCK)).with_read_format(TIMES | ReadFormat::ID);
    let Some(mut group) = group_or_skip(&clock, &[faults(), faults()]) else { return };
    let ids = [group.leader().id(), group.members()[0].id(), group.members()[1].id()].map(Result::ok);
    let (seven, counts) = group.measure(|| (touch(16), 7).1).unwrap();
    assert_eq!(seven, 7);
    let found = counts.iter().collect::<Vec<_>>();
    assert_eq!(found.iter().map(|count| count.id).collect::<Vec<_>>(), ids);
    assert!(found[0].value > 0 && found[1].value >= 16, "{counts}");
    assert_eq!(found[1].value, found[2].value, "enabled together");
    assert!(found.iter().all(|count| count.scaled() == Scaled::Exact(count.value)), "{counts}");
    let lines = counts.to_string();
    assert_eq!((lines.lines().count(), lines.matches("PAGE_FAULTS").count()), (3, 2), "{lines}");
}

#[test]
fn members_of_another_kind_start_and_stop_with_their_leader() {
    let kinds = [Software::PAGE_FAULTS, Software::TASK_CLOCK, Software::CPU_CLOCK];
    for leader in kinds {
        let leader = user_side(Attr::software(leader));
        let members = kinds.map(|kind| user_side(Attr::software(kind)));
        let Some(mut group) = group_or_skip(&leader, &members) else { return };
        for _ in 0..3 {
            let ((), counts) = group.measure(|| touch(8)).unwrap();
            assert!(counts.iter().all(|count| count.value >= 8), "{counts}");
        }
        let mut values = || group.read().unwrap().iter().map(|count| count.value).collect::<Vec<_>>();
        let stopped = values();
        touch(8);
        assert_eq!(values(), stopped);
    }
}

#[test]
fn group_measures_many_times() {
    let Some(mut group) = group_or_skip(&faults(), &[faults()]) else { return };
    let mut least = u64::MAX;
    for _ in 0..8 {
        let ((), counts) = group.measure(|| touch(32)).unwrap();
        least = counts.iter().map(|count| count.value).fold(least, u64::min);
    }
    assert_eq!(least, 32, "of one measurement");
    assert!(group.read().unwrap().iter().all(|count| count.value >= 8 * 32), "of all measurements");
    group.reset().unwrap();
    assert!(group.read().unwrap().iter().all(|count| count.value == 0));
}

#[test]
fn group_prints_the_names_of_its_events() {
    let Some(mut group) = group_or_skip(&faults(), &[switches(), faults()]) else { return };
    let ((), counts) = group.measure(|| switch(2)).unwrap();
    assert!(counts.iter().nth(1).unwrap().value >= 2, "{counts}");
    let text = counts.to_string();
    let names = text.lines().map(|line| line.split_whitespace().last().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["PAGE_FAULTS", "CONTEXT_SWITCHES", "PAGE_FAULTS"], "{text}");
}

#[test]
fn instructions_per_cycle_come_from_one_group() {
    let cycles = user_side(Attr::hardware(Hardware::CPU_CYCLES)).with_read_format(TIMES);
    let instructions = user_side(Attr::hardware(Hardware::INSTRUCTIONS));
    let Some(mut group) = group_or_skip(&cycles, &[instructions, faults()]) else { return };
    let ((), counts) = group.measure(|| spin(1_000_000)).unwrap();
    let values = counts.iter().map(|count| count.value).collect::<Vec<_>>();
    assert!(values[0] > 0 && values[1] > 1_000_000, "{counts}");
}

#[test]
fn event_that_joined_elsewhere_is_an_error() {
    let formats = [ReadFormat::empty(), TIMES, ReadFormat::ID, TIMES | ReadFormat::ID];
    for format in formats {
        let Some(mut group) = group_or_skip(&faults().with_read_format(format), &[faults()]) else { return };
        let join = |group: &Group| {
            OpenOptions::new().leader(group.leader()).open(&faults(), Target::calling_thread()).unwrap()
        };
        let joined = join(&group);
        assert_eq!(group.read().unwrap_err().errno(), Some(Errno::ENOSPC), "{format}");
        assert_eq!(group.measure(|| ()).unwrap_err().errno(), Some(Errno::ENOSPC), "{format}");
        drop(joined);
        assert_eq!(group.read().unwrap().iter().count(), 2, "{format}");
    }
}

#[test]
fn member_outlives_its_leader() {
    let Some(group) = group_or_skip(&faults(), &[faults()]) else { return };
    let (leader, members) = group.into_parts();
    drop(leader);
    members[0].disable().unwrap(); // enabled with its leader, so it may be scheduled at any time
    let ((), count) = Count::measure(&members[0], || touch(8)).unwrap();
    assert!(count.value >= 8);
}

#[test]
fn member_of_another_target_is_refused() {
    let Some(leader) = own(&faults().with_read_format(ReadFormat::GROUP)) else {
        return;
    };
    let elsewhere = Target::calling_thread().on_cpu(0);
    let error = OpenOptions::new().leader(&leader).open(&faults(), elsewhere).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::EINVAL));
    assert_eq!(read_values(&leader, &mut [0; 8]).unwrap().iter().count(), 1);
}

#[test]
fn leader_without_members_is_a_group() {
    let Some(mut group) = group_or_skip(&faults(), &[]) else { return };
    let ((), counts) = group.measure(|| touch(8)).unwrap();
    assert_eq!(counts.iter().filter(|count| count.value >= 8).count(), 1);
    assert_eq!(counts.to_string().lines().count(), 1);
}

#[test]
fn fd_no_group_opens_a_separate_event() {
    let attr = faults().with_read_format(ReadFormat::GROUP);
    let Some(other) = own(&attr) else { return };
    let options = OpenOptions::new().leader(&other).flags(OpenFlags::FD_NO_GROUP);
    let alone = options.open(&attr, Target::calling_thread()).unwrap();
    let entries = |event: &Event| read_values(event, &mut [0; 8]).unwrap().iter().count();
    assert_eq!((entries(&other), entries(&alone)), (1, 1));
}

#[test]
fn fd_output_redirects_to_the_ring_of_the_descriptor() {
    let mut dummy = switches();
    dummy.config = Software::DUMMY.0;
    let Some(event) = own(&dummy) else { return };
    let flags = OpenFlags::FD_OUTPUT | OpenFlags::FD_NO_GROUP;
    let refused = OpenOptions::new().leader(&event).flags(flags).open(&switches(), Target::calling_thread());
    assert_eq!(refused.unwrap_err().errno(), Some(Errno::EINVAL), "it has no ring yet");
    let mut ring = Ring::map(event, 1).unwrap();
    let options = OpenOptions::new().leader(ring.event()).flags(flags);
    let redirected = options.open(&switches(), Target::calling_thread()).unwrap();
    redirected.enable().unwrap();
    switch(2);
    redirected.disable().unwrap();
    assert!(ring.batch().unwrap().records().count() >= 2);
}

#[test]
fn group_is_enabled_and_disabled_by_any_member() {
    let Some(leader) = own(&switches()) else { return };
    let member = OpenOptions::new().leader(&leader).open(&switches(), Target::calling_thread()).unwrap();
    member.enable_with(IocFlags::GROUP).unwrap();
    switch(3);
    member.disable_with(IocFlags::GROUP).unwrap();
    assert!(count(&leader) >= 3);
    assert_eq!(count(&leader), count(&member));
    leader.reset_with(IocFlags::GROUP).unwrap();
    assert_eq!((count(&leader), count(&member)), (0, 0));
}
