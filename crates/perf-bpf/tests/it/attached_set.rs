//! A program on an event of each CPU.

use crate::prelude::*;

const COOKIE: u64 = 77;

struct Fixture {
    buffer: PerfBuffer,
    counters: Counters,
    program: ProgramFd,
}

#[track_caller]
fn fixture(prog_type: BpfProgType) -> Option<Fixture> {
    let array = permitted(EventArray::create("pk_set".parse().unwrap()))?;
    let counters = Counters::create()?;
    let program = output(prog_type, &Sink::Array(&array), &counters, 16, true)?;
    Some(Fixture {
        buffer: permitted(PerfBufferOptions::new().payload_size(16).open(array))?,
        counters,
        program,
    })
}

impl Fixture {
    /// Waits until the program has written from each online CPU, and checks the cookies.
    fn wait_for_all_cpus(&mut self) {
        let (mut missing, mut cookies) = (online().as_slice().to_vec(), Vec::new());
        while !missing.is_empty() {
            self.buffer.wait(None).unwrap();
            let consume = |cpu, output: PerfBufferRecord<'_>| {
                if let PerfBufferRecord::Sample(sample) = output {
                    missing.retain(|other| *other != cpu);
                    cookies.push(u64::from_ne_bytes(sample.bytes()[8..16].try_into().unwrap()));
                }
            };
            self.buffer.read(consume).unwrap();
        }
        assert!(cookies.iter().all(|&cookie| cookie == COOKIE));
    }
}

/// A clock that overflows every 10 ms, also on an idle CPU.
fn clock() -> EventSpec {
    EventSpec::new(Attr::software(Software::CPU_CLOCK).with_period(10_000_000))
}

#[test]
fn a_program_runs_on_each_cpu_with_its_cookie_until_the_set_is_closed() {
    let Some(mut fixture) = fixture(BpfProgType::PERF_EVENT) else { return };
    let Some(set) = permitted(AttachedSet::open(clock(), &fixture.program, COOKIE)) else { return };
    assert_eq!(set.set().cpus(), online());
    assert_eq!(set.attachments().len(), online().len());
    fixture.wait_for_all_cpus();
    set.close().unwrap();
    let before = fixture.counters.produced_and_failed();
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(fixture.counters.produced_and_failed(), before);
}

#[test]
fn nothing_runs_before_the_set_is_enabled() {
    let Some(mut fixture) = fixture(BpfProgType::PERF_EVENT) else { return };
    let Some(set) = permitted(EventSetOptions::new().event(clock()).open()) else { return };
    let mut set = AttachedSet::attach(set, &fixture.program, COOKIE).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(fixture.counters.produced_and_failed(), (0, 0));
    set.enable().unwrap();
    fixture.wait_for_all_cpus();
    assert!(set.refresh().unwrap().opened.is_empty());
    assert_eq!(set.attachments().len(), online().len());
    set.disable().unwrap();
}

#[test]
fn a_tracepoint_program_is_attached_once_for_all_cpus() {
    let Some(mut fixture) = fixture(BpfProgType::TRACEPOINT) else { return };
    let Some(attr) = tracepoint("task_rename") else { return };
    let set = AttachedSet::open(EventSpec::new(attr), &fixture.program, COOKIE);
    let Some(set) = permitted(set) else { return };
    assert_eq!((set.attachments().len(), set.set().cpus()), (1, online()));
    std::fs::write("/proc/thread-self/comm", "pk_rename").unwrap();
    let mut cookies = Vec::new();
    let consume = |_, output: PerfBufferRecord<'_>| {
        if let PerfBufferRecord::Sample(sample) = output {
            cookies.push(u64::from_ne_bytes(sample.bytes()[8..16].try_into().unwrap()));
        }
    };
    fixture.buffer.read(consume).unwrap();
    assert!(!cookies.is_empty() && cookies.iter().all(|&cookie| cookie == COOKIE), "{cookies:?}");
    let before = fixture.counters.produced_and_failed().0;
    assert!(before >= 1);
}

#[test]
fn a_failed_attachment_names_the_cpu_and_releases_everything() {
    let Some(fixture) = fixture(BpfProgType::TRACEPOINT) else { return };
    // A program of another type.
    let Err(error) = AttachedSet::open(clock(), &fixture.program, COOKIE) else { panic!("attached") };
    let first = online().iter().next().unwrap();
    assert!(matches!(&error, Error::Attach { scope, .. } if scope.cpu_id() == Some(first)), "{error}");
    assert_eq!(error.errno(), Some(Errno::EINVAL));
    assert!(error.to_string().starts_with(&format!("program on the event of CPU {first}: BPF_LINK_CREATE")));
}

#[test]
fn a_failure_midway_detaches_the_program_from_the_first_events() {
    let Some(fixture) = fixture(BpfProgType::PERF_EVENT) else { return };
    let Some(set) = permitted(EventSetOptions::new().event(clock()).open()) else { return };
    let events: Vec<_> = set.events().map(|event| std::sync::Arc::clone(event.event)).collect();
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return };
    if events.len() == 1 {
        return eprintln!("skipped: one CPU");
    }
    last.set_bpf(&fixture.program).unwrap();
    let Err(error) = AttachedSet::attach(set, &fixture.program, COOKIE) else { panic!("attached") };
    assert_eq!(error.error.errno(), Some(Errno::EEXIST), "{error}");
    // The link to the first event is closed, so that another can be made.
    drop(Link::attach(&**first, &fixture.program, 0).unwrap());
}

#[test]
fn an_event_that_cannot_be_opened_is_named_by_the_error() {
    let Some(fixture) = fixture(BpfProgType::PERF_EVENT) else { return };
    let no_event = EventSpec::new(Attr::software(Software(u64::MAX)));
    let Err(error) = AttachedSet::open(no_event, &fixture.program, 0) else { panic!("opened") };
    assert!(matches!(error, Error::Set(_)), "{error}");
}

#[test]
fn a_perf_event_program_of_one_thread_is_attached_too() {
    let Some(fixture) = fixture(BpfProgType::PERF_EVENT) else { return };
    let attr = Attr::software(Software::TASK_CLOCK).with_period(100_000);
    let Some(event) = permitted(Event::open(&attr, Target::calling_thread())) else {
        return;
    };
    let _attachment = Attachment::new(event, &fixture.program, COOKIE).unwrap();
    while fixture.counters.produced_and_failed().0 == 0 {
        std::hint::spin_loop();
    }
}
