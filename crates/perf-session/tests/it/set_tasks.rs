//! Sets of threads, processes and commands.

#[allow(dead_code)] // its `main`
#[path = "../../examples/count_command.rs"]
mod count_command;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::support::set::{
    PATIENCE, open_or_skip, refused, sideband, skip_tracepoint, software, switch, switched, switches, tid,
};
use perf_session::ring::decode::Error;
use perf_session::ring::{
    Attr, AttrFlags, EventType, Record, RecordType, SampleLayout, SampleType, Software, WaitResult,
};
use perf_session::{
    CpuList, EventSet, EventSetError, EventSetOptions, EventSetRecord, EventSetTarget, EventSpec, Inherit,
    NewTaskIds, Scope, SpawnMisuse, System, ThreadState, Tracefs,
};

fn counting(target: EventSetTarget) -> EventSetOptions {
    EventSetOptions::new().event(software(Software::CONTEXT_SWITCHES)).target(target)
}

#[test]
fn calling_thread_is_counted_alone() {
    let Some(mut set) = open_or_skip(counting(EventSetTarget::calling_thread())) else { return };
    let before = switched();
    set.enable().unwrap();
    thread::spawn(|| switch(100)).join().unwrap();
    switch(10);
    set.disable().unwrap();
    let most = switched() - before;
    let total = set.counts().unwrap().get(0).unwrap().total().value;
    assert!((10..=most).contains(&total), "{total} of {most}");
    assert_eq!(set.threads(), [tid()]);
}

#[test]
fn thread_without_inherit_has_its_own_ring() {
    let options =
        EventSetOptions::new().event(switches()).target(EventSetTarget::calling_thread()).ring_pages(8);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    switch(10);
    set.disable().unwrap();
    let mut samples = 0;
    let scope = Scope::thread(tid());
    set.flush_sorted(|record| {
        assert_eq!(record.scope(), scope);
        samples += u64::from(matches!(record.decode(), Ok(Record::Sample(_))));
    })
    .unwrap();
    assert_eq!(samples, set.counts().unwrap().get(0).unwrap().total().value);
}

#[test]
fn threads_of_another_thread_are_counted_if_inherited() {
    let (go, wait) = channel::<()>();
    let (send, receive) = channel();
    let parent = thread::spawn(move || {
        send.send(tid()).unwrap();
        wait.recv().unwrap();
        thread::spawn(|| switch(50)).join().unwrap();
    });
    let thread = receive.recv().unwrap();
    let options = counting(EventSetTarget::thread(thread)).inherit(Inherit::Threads);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    go.send(()).unwrap();
    parent.join().unwrap();
    let counts = set.counts().unwrap();
    assert!(counts.get(0).unwrap().total().value >= 50, "{counts:?}");
    assert_eq!(counts.split_by(Scope::thread_id).len(), 1);
}

#[test]
fn several_processes_are_counted_each_once() {
    let mut children: Vec<_> =
        (0..2).map(|_| Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()).collect();
    let ids: Vec<u32> = children.iter().map(std::process::Child::id).collect();
    let target = EventSetTarget::processes(ids.iter().chain(&ids).copied());
    let set = open_or_skip(counting(target));
    let dead =
        EventSetOptions::new().event(switches()).target(EventSetTarget::processes([ids[0], u32::MAX >> 1]));
    let dead = dead.open().map(drop);
    for child in &mut children {
        drop(child.stdin.take());
        child.wait().unwrap();
    }
    let Some(mut set) = set else { return };
    assert_eq!(set.threads().len(), ids.len());
    assert!(ids.iter().all(|id| set.threads().contains(id)));
    assert_eq!(set.counts().unwrap().split_by(Scope::thread_id).len(), ids.len());
    assert!(matches!(dead, Err(EventSetError::NoTask { id }) if id == u32::MAX >> 1), "{dead:?}");
}

#[test]
fn command_is_counted_from_its_exec_with_its_children() {
    let Some(mut set) =
        open_or_skip(counting(EventSetTarget::command()).event(software(Software::PAGE_FAULTS)))
    else {
        return;
    };
    std::hint::black_box(vec![1_u8; 1 << 24]); // 4096 page faults of the caller
    let mut sh = Command::new("sh");
    let mut child = set.spawn(sh.args(["-c", "for i in 1 2 3; do true; (exit); done"])).unwrap();
    assert!(child.wait().unwrap().success());
    let faults = set.counts().unwrap().get(1).unwrap().total().value;
    assert!((50..4000).contains(&faults), "{faults}");
}

#[test]
fn each_command_has_a_set_and_is_counted() {
    for _ in 0..20 {
        let Some(mut set) = open_or_skip(
            EventSetOptions::new().event(software(Software::PAGE_FAULTS)).target(EventSetTarget::command()),
        ) else {
            return;
        };
        assert!(set.spawn(&mut Command::new("true")).unwrap().wait().unwrap().success());
        let faults = set.counts().unwrap().get(0).unwrap().total().value;
        assert!(faults > 10, "{faults}");
        let again = set.spawn(&mut Command::new("true"));
        assert!(matches!(again, Err(EventSetError::Spawn(SpawnMisuse::Again))), "{again:?}");
    }
}

#[test]
fn records_of_a_command_are_in_the_rings_of_its_cpus() {
    let options = EventSetOptions::new()
        .event(sideband(AttrFlags::COMM | AttrFlags::TASK))
        .target(EventSetTarget::command())
        .ring_pages(8);
    let Some(mut set) = open_or_skip(options) else { return };
    let mut child = set.spawn(Command::new("sh").args(["-c", "(exit); true"])).unwrap();
    let pid = child.id();
    child.wait().unwrap();
    let (mut execs, mut exits) = (0, 0);
    set.flush_sorted(|record| match record.decode().unwrap() {
        Record::Comm(comm) => execs += u32::from(comm.pid() == pid),
        Record::Exit(_) => exits += 1,
        _ => {}
    })
    .unwrap();
    assert!(execs >= 1 && exits >= 2, "{execs} execs, {exits} exits");
}

#[test]
fn example_counts_a_command() {
    if open_or_skip(counting(EventSetTarget::command())).is_none() {
        return;
    }
    let (status, counts) =
        count_command::run("{task-clock,page-faults},context-switches", &mut Command::new("true")).unwrap();
    assert!(status.success());
    let names: Vec<&str> = counts.iter().map(|event| &*event.name).collect();
    assert_eq!(names, ["task-clock", "page-faults", "context-switches"]);
    assert!(counts.iter().take(2).all(|event| event.total().value > 0), "{counts}");
}

#[test]
fn rings_of_a_process_hang_up_when_it_has_exited() {
    let mut child = Command::new("sh").args(["-c", "read word; true"]).stdin(Stdio::piped()).spawn().unwrap();
    let options = EventSetOptions::new()
        .event(sideband(AttrFlags::TASK))
        .target(EventSetTarget::process(child.id()))
        .ring_pages(8);
    let Some(mut set) = open_or_skip(options) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    };
    set.enable().unwrap();
    drop(child.stdin.take()); // ends the read
    let mut exits = 0;
    while !set.wait(PATIENCE).unwrap().is_final() {
        set.drain_sorted(|record| exits += u32::from(record.raw().kind() == RecordType::EXIT)).unwrap();
    }
    child.wait().unwrap();
    assert!(exits >= 1);
}

#[test]
fn only_a_set_for_a_command_starts_one() {
    let Some(mut set) = open_or_skip(counting(EventSetTarget::calling_thread())) else { return };
    let misuse = set.spawn(&mut Command::new("true"));
    assert!(matches!(misuse, Err(EventSetError::Spawn(SpawnMisuse::Target))), "{misuse:?}");
}

#[test]
fn command_is_started_by_the_thread_that_opened_the_set() {
    let Some(mut set) = open_or_skip(counting(EventSetTarget::command())) else { return };
    let misuse = thread::spawn(move || set.spawn(&mut Command::new("true")).map(|_| ())).join().unwrap();
    assert!(matches!(misuse, Err(EventSetError::Spawn(SpawnMisuse::Thread))), "{misuse:?}");
}

#[test]
fn missing_program_is_an_error_with_its_name() {
    let Some(mut set) = open_or_skip(counting(EventSetTarget::command())) else { return };
    let error = set.spawn(&mut Command::new("/no/such/program")).unwrap_err();
    assert!(error.to_string().starts_with("/no/such/program: "), "{error}");
}

#[test]
fn command_whose_events_are_not_inherited_is_refused() {
    for inherit in [Inherit::Nothing, Inherit::Threads] {
        let error = refused(counting(EventSetTarget::command()).inherit(inherit));
        assert!(
            matches!(error, EventSetError::CommandInherit { inherit: found } if found == inherit),
            "{error}"
        );
    }
}

#[test]
fn wait_ends_for_an_event_below_the_watermark() {
    // The ring never is half full. The waits themselves are its context switches.
    let options =
        EventSetOptions::new().event(switches()).target(EventSetTarget::calling_thread()).ring_pages(64);
    let Some(mut set) = open_or_skip(options.clone()) else { return };
    set.enable().unwrap();
    assert_eq!(set.wait(Some(Duration::from_secs(20))).unwrap(), WaitResult::Readable);
    let mut last = String::new();
    let drained = set.flush_sorted(|record| last = format!("{record:?}")).unwrap();
    assert!(drained.records > 0);
    assert!(last.starts_with(&format!("thread {}: ", tid())) && last.len() < 200, "{last}");

    // Unless the program left it to the kernel.
    let mut set = options.flush_interval(Duration::MAX).open().unwrap();
    set.enable().unwrap();
    assert_eq!(set.wait(Some(Duration::from_millis(600))).unwrap(), WaitResult::TimedOut);
}

/// Starts a thread that makes context switches on request. Returns its id, and the function that
/// requests them.
fn switcher() -> (u32, impl Fn(u64)) {
    let (ask, asked) = channel::<u64>();
    let (answer, answered) = channel();
    thread::spawn(move || {
        answer.send(tid()).unwrap();
        for times in asked {
            switch(times);
            answer.send(0).unwrap();
        }
    });
    let tid = answered.recv().unwrap();
    (tid, move |times| {
        ask.send(times).unwrap();
        answered.recv().unwrap();
    })
}

#[test]
fn threads_are_added_to_a_set_that_is_read_and_removed_with_their_counts() {
    let ((one, work), (other, work_too)) = (switcher(), switcher());
    let options = EventSetOptions::new().event(switches()).target(EventSetTarget::thread(one)).ring_pages(8);
    let Some(mut set) = open_or_skip(options) else { return };
    set.enable().unwrap();
    work(10);
    set.add_thread(other).unwrap();
    set.add_thread(other).unwrap(); // once
    assert_eq!(set.threads().len(), 2);
    work_too(20);
    set.remove_thread(other).unwrap();
    let counted = |set: &mut EventSet| {
        let threads = set.counts().unwrap().split_by(Scope::thread_id);
        threads.iter().find(|(thread, _)| *thread == other).unwrap().1.get(0).unwrap().total().value
    };
    let removed = counted(&mut set);
    assert!(removed >= 20, "{removed}");
    work_too(30); // not counted
    let mut samples = 0;
    set.flush_sorted(|record| samples += u64::from(record.scope() == Scope::thread(other))).unwrap();
    assert_eq!((samples, set.threads()), (removed, vec![one]));
    assert_eq!(set.rings().unwrap().len(), 1, "the drained ring is removed");
    set.add_thread(other).unwrap();
    work_too(40);
    let again = counted(&mut set);
    assert!(again >= removed + 40, "{again}");
    assert!(matches!(set.remove_thread(1), Err(EventSetError::NoTask { id: 1 })));

    let mut exited = Command::new("true").spawn().unwrap();
    exited.wait().unwrap();
    let error = set.add_thread(exited.id()).unwrap_err();
    assert_eq!((error.raw_os_error(), set.threads().len()), (Some(3), 2), "{error}");
}

#[test]
fn event_that_is_added_writes_into_the_rings_of_the_others() {
    let (thread, work) = switcher();
    for target in [
        EventSetTarget::all_cpus(),
        EventSetTarget::thread(thread),
        EventSetTarget::process(std::process::id()),
    ] {
        let options = EventSetOptions::new().event(sideband(AttrFlags::TASK)).target(target).ring_pages(64);
        let Some(mut set) = open_or_skip(options) else { return };
        set.enable().unwrap();
        set.flush_sorted(|_| {}).unwrap();
        let (rings, events) = (set.rings().unwrap().len(), set.events().count());
        assert_eq!(set.add_event(switches()).unwrap(), 1);
        assert_eq!(set.rings().unwrap().len(), rings);
        assert!(set.events().count() > events && set.ledger().gaps().is_empty());
        assert!(set.threads().is_sorted_by(|one, next| one < next), "each once: {:?}", set.threads());
        work(50);
        let (mut samples, mut foreign) = (0, 0);
        set.flush_sorted(|record| match record.decode() {
            Ok(Record::Sample(sample)) if sample.tid() == Some(thread) => {
                assert_eq!(record.index(), Some(1));
                samples += 1;
            }
            Ok(_) => {}
            // The kernel writes the id of another program's event into some samples of software
            // events.
            Err(Error::UnknownId { .. }) => foreign += 1,
            Err(error) => panic!("{error}"),
        })
        .unwrap();
        let samples = samples + foreign;
        assert!(samples >= 50, "{samples}");
        assert!(set.counts().unwrap().get(1).unwrap().total().value >= 50);

        // An event that does not open leaves the set as it was.
        let before = (set.events().count(), set.names().to_vec());
        let missing = EventSpec::new(Attr::new(EventType::SOFTWARE, 1 << 40));
        let error = set.add_event(missing).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(2), "{error}");
        assert_eq!((set.events().count(), set.names().to_vec()), before);
        assert_eq!(set.counts().unwrap().iter().count(), 2);
    }
    let mut cpus = EventSetOptions::new().event(switches()).open().unwrap();
    assert!(matches!(cpus.add_thread(thread), Err(EventSetError::NotTasks)));
}

#[test]
fn process_that_has_exited_is_an_error() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    for target in [EventSetTarget::process(child.id()), EventSetTarget::thread(child.id())] {
        if open_or_skip(counting(EventSetTarget::calling_thread())).is_none() {
            return;
        }
        let error = refused(counting(target));
        assert!(matches!(error, EventSetError::NoTask { id } if id == child.id()), "{error}");
    }
}

/// Returns the tracepoint of wakeups on all CPUs, or `None`, and skips the test.
fn wakeups() -> Option<EventSpec> {
    let system = System::new();
    let tracepoint = Tracefs::find(&system).and_then(|tracefs| tracefs.tracepoint("sched", "sched_waking"));
    let tracepoint = tracepoint.map_err(|error| skip_tracepoint(&error)).ok()?;
    let spec = tracepoint
        .event_spec()
        .map_attr(|attr| attr.with_period(1).with_sample_type(SampleType::TID | SampleType::RAW));
    Some(spec.system_wide())
}

#[test]
fn system_wide_event_of_a_set_of_tasks_has_their_wakeups_and_ends_with_them() {
    let Some(wakeups) = wakeups() else { return };
    let system = System::new();
    let format = Tracefs::find(&system).unwrap().tracepoint("sched", "sched_waking").unwrap();
    let format = format.format().unwrap();
    let woken = format.integer("pid").unwrap();
    // It waits for a line, and starts a process that waits for another one. This test wakes both:
    // what happens on an idle CPU is not traced once that CPU was offline, seen on Linux 6.18.
    let mut command = Command::new("sh");
    command.args(["-c", "read line; sh -c 'echo $$; read line'; true"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let new = NewTaskIds::read(&system).unwrap();
    let target = EventSetTarget::process(child.id());
    let options = EventSetOptions::new().events([sideband(AttrFlags::TASK), switches(), wakeups]);
    let Some(mut set) = open_or_skip(options.target(target).ring_pages(64)) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return;
    };
    let mut tasks = set.observed_tasks(&system);
    let filter = tasks.filter("pid", new);
    let events = set.events().filter(|open| open.index == 2);
    events.for_each(|open| open.event.set_filter(&filter).unwrap());
    set.enable().unwrap();
    let (mut lines, mut started) = (child.stdin.take().unwrap(), String::new());
    lines.write_all(b"go\n").unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut started).unwrap();
    let started: u32 = started.trim_end().parse().unwrap();
    while ThreadState::read(&system, started).unwrap().state != 'S' {
        thread::yield_now();
    }
    drop(lines);
    let (mut found, mut end) = (Vec::new(), WaitResult::TimedOut);
    let mut note = |record: EventSetRecord<'_>| {
        assert_eq!(record.scope().is_system_wide(), record.index() == Some(2), "{record:?}");
        tasks.note_record(record.raw(), &SampleLayout::new(record.event().unwrap().attr()));
        if let (Some(2), Ok(Record::Sample(sample))) = (record.index(), record.decode()) {
            found.push(woken.read_u64(sample.raw().unwrap()).unwrap() as u32);
        }
    };
    while !end.is_final() {
        end = set.wait(PATIENCE).unwrap();
        set.drain_sorted(&mut note).unwrap();
    }
    // The last records are younger than the delay of the order.
    set.flush_sorted(&mut note).unwrap();
    assert_eq!(end, WaitResult::HungUp);
    child.wait().unwrap();
    // The process and its later child.
    assert!(
        found.contains(&child.id()) && found.contains(&started),
        "{started} and {}: {found:?}",
        child.id()
    );
    assert!(tasks.contains(started), "{tasks:?}");
    assert!(set.events().all(|open| (open.index == 2) == open.scope.thread_id().is_none()));
    assert_eq!(set.ring_size().unwrap().data_pages, 64);
    let pages = set.rings().unwrap().iter().map(|(key, ring)| {
        (key.scope().is_system_wide(), ring.data_size() / perf_session::ring::sys::page_size())
    });
    assert!(pages.into_iter().all(|(is_wide, pages)| pages == if is_wide { 16 } else { 64 }));
}

#[test]
fn system_wide_event_of_a_set_of_a_cpu_is_on_all_cpus() {
    let Some(wakeups) = wakeups() else { return };
    let cpu = CpuList::online(&System::new()).unwrap().iter().next().unwrap();
    let target = EventSetTarget::cpus([cpu].into_iter().collect());
    let options = EventSetOptions::new().events([switches(), wakeups]).target(target).ring_pages(64);
    let Some(set) = open_or_skip(options) else { return };
    let cpus =
        |index| set.events().filter(move |open| open.index == index).filter_map(|open| open.scope.cpu_id());
    assert!(cpus(0).eq([cpu]));
    assert!(cpus(1).collect::<CpuList>() == CpuList::online(&System::new()).unwrap());
}
