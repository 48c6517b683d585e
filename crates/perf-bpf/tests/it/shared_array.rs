//! Readers of one perf event array in several values and processes: an agent that restarts and
//! shares its pinned map with the next one.

use std::path::Path;

use crate::prelude::*;
use crate::support::agent;
use crate::support::agent::Agent;

/// A map that nobody reads, and a program that writes to it.
struct Fixture {
    map: MapFd,
    counters: Counters,
    program: ProgramFd,
}

#[track_caller]
fn fixture() -> Option<Fixture> {
    let array = permitted(EventArray::create("pk_shared".parse().unwrap()))?;
    let counters = Counters::create()?;
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Array(&array), &counters, 16, false)?;
    Some(Fixture { map: array.map().try_clone().unwrap(), counters, program })
}

impl Fixture {
    /// Returns an array of the same map, by a duplicate of its descriptor.
    fn array(&self) -> EventArray {
        EventArray::from_fd(self.map.try_clone().unwrap().into_fd()).unwrap()
    }

    fn reader(&self) -> PerfBuffer {
        PerfBufferOptions::new().open(self.array()).unwrap()
    }

    /// Writes a record on each CPU, and returns how many of them the reader got.
    fn fire(&self, reader: &mut PerfBuffer) -> u64 {
        fire_on_all(&self.program, &online(), 1);
        samples(reader)
    }
}

fn samples(reader: &mut PerfBuffer) -> u64 {
    let mut samples = 0;
    let consume =
        |_, output: PerfBufferRecord<'_>| samples += u64::from(matches!(output, PerfBufferRecord::Sample(_)));
    reader.read(consume).unwrap();
    samples
}

fn all() -> u64 {
    online().len() as u64
}

#[test]
fn second_reader_keeps_its_slots_when_the_first_closes() {
    let Some(fixture) = fixture() else { return };
    let first = fixture.reader();
    let mut second = fixture.reader();
    assert_eq!(fixture.fire(&mut second), all());
    drop(first);
    assert_eq!(fixture.fire(&mut second), all());
    let first = fixture.reader();
    drop(second);
    let mut third = fixture.reader();
    first.close();
    assert_eq!(fixture.fire(&mut third), all());
}

#[test]
fn array_keeps_the_slots_of_another_when_it_is_dropped_or_cleared() {
    let Some(fixture) = fixture() else { return };
    let mut reader = fixture.reader();
    let event = std::sync::Arc::clone(reader.rings().next().unwrap().1.event());
    let cpu = reader.rings().next().unwrap().0;
    let mut others = [fixture.array(), fixture.array()];
    for other in &mut others {
        other.insert(cpu, &event).unwrap();
    }
    reader.refresh().unwrap();
    let [mut cleared, dropped] = others;
    cleared.clear().unwrap();
    assert!(cleared.filled().is_empty());
    drop(dropped);
    assert_eq!(fixture.fire(&mut reader), all());
}

#[test]
fn failed_open_leaves_the_running_reader_alone() {
    let spec = MapSpec::new(BpfMapType::PERF_EVENT_ARRAY, 1).with_sizes(4, 4);
    let (Some(map), Some(counters)) = (permitted(MapFd::create(&spec)), Counters::create()) else { return };
    if online().as_slice() == [0] {
        return eprintln!("skipped: one CPU, which has a slot");
    }
    let array = || EventArray::from_fd(map.try_clone().unwrap().into_fd()).unwrap();
    let program = output(BpfProgType::RAW_TRACEPOINT, &Sink::Array(&array()), &counters, 16, false).unwrap();
    let mut reader = PerfBufferOptions::new().cpus(0.into()).open(array()).unwrap();
    let refused = PerfBufferOptions::new().open(array()).unwrap_err();
    assert!(refused.value.filled().is_empty());
    drop(refused);
    fire_on(&program, 0);
    assert_eq!((samples(&mut reader), counters.produced_and_failed()), (1, (1, 0)));
}

#[test]
fn refresh_takes_back_the_slots_that_were_cleared_or_taken_over() {
    let Some(fixture) = fixture() else { return };
    let mut reader = fixture.reader();
    let mut other = fixture.array();
    online().iter().for_each(|cpu| assert!(other.remove(cpu).unwrap()));
    assert_eq!(fixture.fire(&mut reader), 0);
    reader.refresh().unwrap();
    assert_eq!(fixture.fire(&mut reader), all());

    let passing = fixture.reader();
    assert_eq!(fixture.fire(&mut reader), 0, "the last reader that was opened has the slots");
    reader.refresh().unwrap();
    assert_eq!(fixture.fire(&mut reader), all());
    drop(passing);
    assert_eq!(fixture.fire(&mut reader), all());
}

#[test]
fn each_cpu_can_have_its_own_reader() {
    let Some(fixture) = fixture() else { return };
    let cpus = online();
    let reader = |cpu: u32| PerfBufferOptions::new().cpus(cpu.into()).open(fixture.array()).unwrap();
    let mut readers: Vec<_> = cpus.iter().map(reader).collect();
    fire_on_all(&fixture.program, &cpus, 1);
    assert!(readers.iter_mut().all(|reader| samples(reader) == 1));
    drop(readers.remove(0));
    fire_on_all(&fixture.program, &cpus, 1);
    assert!(readers.iter_mut().all(|reader| samples(reader) == 1));
    assert_eq!(fixture.counters.produced_and_failed(), (2 * all(), 1));
}

#[test]
fn reader_without_the_privilege_for_an_own_file_keeps_the_slots_of_another() {
    let Some(fixture) = fixture() else { return };
    without_sys_admin(move || {
        let first = fixture.reader();
        assert!(!first.array().has_own_file());
        let mut second = fixture.reader();
        drop(first);
        assert_eq!(fixture.fire(&mut second), all());
        let mut array = second.close();
        assert_eq!(array.filled(), online(), "their events have no ring");
        array.clear().unwrap();
        assert!(array.filled().is_empty());
    });
}

/// Waits until the reader has reported these slots as lost, and returns the number of errors.
#[track_caller]
fn wait_for_loss(reader: &mut PerfBuffer, expected: &CpuList) -> usize {
    let (mut found, mut errors) = (CpuList::default(), 0);
    while found != *expected {
        match reader.wait(PATIENCE) {
            Err(Error::SlotsLost { cpus }) => found = cpus,
            other => panic!("{other:?} with {found} of {expected} reported"),
        }
        errors += 1;
    }
    errors
}

#[test]
fn reader_learns_at_its_next_wait_that_another_has_taken_its_slots() {
    let Some(fixture) = fixture() else { return };
    let mut reader = fixture.reader();
    let mut other = fixture.reader();
    wait_for_loss(&mut reader, &online());
    assert_eq!(reader.lost_slots().unwrap(), online());
    // It is an error once, and its next wait is for records.
    assert_eq!(reader.wait(Some(std::time::Duration::from_millis(30))).unwrap(), WaitResult::TimedOut);
    assert_eq!(fixture.fire(&mut other), all());
    assert_eq!(other.lost_slots().unwrap(), CpuList::default());

    reader.refresh().unwrap();
    assert_eq!(reader.lost_slots().unwrap(), CpuList::default());
    assert_eq!(fixture.fire(&mut reader), all());
    wait_for_loss(&mut other, &online());
}

#[test]
fn reader_learns_that_its_slots_are_empty_because_the_next_one_has_ended() {
    let Some(fixture) = fixture() else { return };
    let mut reader = fixture.reader();
    drop(fixture.reader());
    wait_for_loss(&mut reader, &online());
    assert_eq!(fixture.fire(&mut reader), 0);
    reader.refresh().unwrap();
    assert_eq!(fixture.fire(&mut reader), all());
}

#[test]
fn waker_and_records_end_the_wait_of_a_reader_that_has_lost_a_slot() {
    let Some(fixture) = fixture() else { return };
    let cpus = online();
    let lost = cpus.iter().last().unwrap();
    let mut reader = fixture.reader();
    assert!(fixture.array().remove(lost).unwrap());
    assert_eq!(wait_for_loss(&mut reader, &lost.into()), 1);
    assert_eq!(fixture.fire(&mut reader), all() - 1);
    let waker = Waker::new().unwrap();
    waker.wake().unwrap();
    assert_eq!(reader.wait_or_woken(PATIENCE, &waker).unwrap(), WaitResult::Woken);
    if all() > 1 {
        fire_on(&fixture.program, cpus.iter().next().unwrap());
        assert_eq!(reader.wait(PATIENCE).unwrap(), WaitResult::Readable);
    }
}

/// The event of a slot outlives its replacement by some ms, so that hundreds of them exist at
/// times.
#[test]
fn reader_that_refreshes_and_pauses_has_all_its_slots() {
    let Some(fixture) = fixture() else { return };
    let mut reader = fixture.reader();
    for _ in 0..1000 {
        reader.refresh().unwrap();
        assert_eq!(reader.lost_slots().unwrap(), CpuList::default());
    }
    reader.pause().unwrap();
    assert_eq!(reader.lost_slots().unwrap(), CpuList::default());
    reader.refresh().unwrap();
    reader.resume().unwrap();
    assert_eq!(reader.lost_slots().unwrap(), CpuList::default());
    assert_eq!(fixture.fire(&mut reader), all());
}

#[test]
fn losses_of_a_reader_are_counted_over_refreshes() {
    let Some(fixture) = fixture() else { return };
    let cpu = online().iter().next().unwrap();
    let options = PerfBufferOptions::new().pages(1).cpus(cpu.into());
    let mut reader = options.open(fixture.array()).unwrap();
    let mut lost = 0;
    for _ in 0..3 {
        (0..ring::sys::page_size() / 16).for_each(|_| fire_on(&fixture.program, cpu));
        let (produced, failed) = fixture.counters.produced_and_failed();
        assert!(failed > lost && failed < produced);
        lost = failed;
        if reader.reads_lost() {
            assert_eq!(reader.total().unwrap().lost, lost);
        }
        reader.refresh().unwrap();
        if reader.reads_lost() {
            assert_eq!(reader.total().unwrap().lost, lost);
        }
        samples(&mut reader);
    }
}

/// Returns whether the output of a program on this CPU fails with `errno`.
#[track_caller]
fn fails_with(array: &EventArray, cpu: u32, errno: Errno) -> bool {
    let asm = Asm::default()
        .mov(R6, R1)
        .store_value(R10, -8, 0)
        .mov(R1, R6)
        .set_map(R2, array)
        .set_u32(R3, BPF_F_CURRENT_CPU as u32)
        .mov(R4, R10)
        .add(R4, -8)
        .set(R5, 8)
        .call(BpfHelper::PERF_EVENT_OUTPUT.0)
        .unless(R0, -errno.raw_os_error(), |asm| asm.exit_with(0))
        .exit_with(1);
    let name = "pk_errno".parse().unwrap();
    let program = ProgramFd::load(BpfProgType::RAW_TRACEPOINT, asm.code(), c"GPL", name).unwrap();
    program.test_run(&[], Some(cpu)).unwrap() == 1
}

#[test]
fn program_finds_an_empty_slot_a_paused_reader_and_a_full_ring_by_the_errno() {
    let Some(fixture) = fixture() else { return };
    let (array, cpu) = (fixture.array(), online().iter().next().unwrap());
    assert!(fails_with(&array, cpu, Errno::ENOENT));
    let mut reader = PerfBufferOptions::new().pages(1).open(fixture.array()).unwrap();
    reader.pause().unwrap();
    assert!(fails_with(&array, cpu, Errno::EOPNOTSUPP));
    reader.resume().unwrap();
    (0..ring::sys::page_size() / 16).for_each(|_| fire_on(&fixture.program, cpu));
    assert!(fails_with(&array, cpu, Errno::ENOSPC));
}

/// The process of the tests below.
const AGENT: &str = "shared_array::agent";

/// The other process of the tests below.
#[test]
#[ignore = "runs as a process of other tests"]
fn agent() {
    let Some(path) = agent::path() else { return };
    let mut reader = open(&path);
    agent::run(|| samples(&mut reader));
}

/// Runs `test` with a pinned map and a program that writes to it.
#[track_caller]
fn with_pinned_map(test: impl FnOnce(&Fixture, &Path) + Send + 'static) {
    let Some(fixture) = fixture() else { return };
    with_bpf_fs(move |bpf_fs| {
        let path = bpf_fs.path("events").unwrap();
        fixture.map.pin(&path).unwrap();
        test(&fixture, &path);
    });
}

fn open(path: &Path) -> PerfBuffer {
    let array = EventArray::from_fd(MapFd::open_pinned(path).unwrap().into_fd()).unwrap();
    PerfBufferOptions::new().open(array).unwrap()
}

#[test]
fn next_agent_gets_all_after_a_graceful_stop_of_the_last_one() {
    with_pinned_map(|fixture, path| {
        let last = Agent::start(AGENT, path);
        fire_on_all(&fixture.program, &online(), 3);
        assert_eq!(last.stop(), 3 * all());
        let mut next = open(path);
        assert_eq!(fixture.fire(&mut next), all());
    });
}

#[test]
fn next_agent_gets_all_after_the_last_one_was_killed() {
    with_pinned_map(|fixture, path| {
        let last = Agent::start(AGENT, path);
        let mut next = open(path);
        last.kill();
        assert_eq!(fixture.fire(&mut next), all());
        assert_eq!(fixture.counters.produced_and_failed(), (all(), 0));
    });
}

#[test]
fn next_agent_gets_all_while_the_last_one_still_runs_and_after_its_graceful_stop() {
    with_pinned_map(|fixture, path| {
        let last = Agent::start(AGENT, path);
        let mut next = open(path);
        assert_eq!(fixture.fire(&mut next), all());
        assert_eq!(last.stop(), 0);
        assert_eq!(fixture.fire(&mut next), all());
        // The same with the roles exchanged: the process that started later ends first.
        let later = Agent::start(AGENT, path);
        fire_on_all(&fixture.program, &online(), 1);
        assert_eq!((samples(&mut next), later.stop()), (0, all()));
        next.refresh().unwrap();
        assert_eq!(fixture.fire(&mut next), all());
        assert_eq!(fixture.counters.produced_and_failed(), (4 * all(), 0));
    });
}
