//! Programs that are attached to events and tracepoints, by each way.

use std::sync::Arc;

use crate::prelude::*;

/// A cookie with all halves different.
const COOKIE: u64 = 0x0123_4567_89ab_cdef;

/// A reader, and a program that writes the cookie of its attachment.
struct Fixture {
    buffer: PerfBuffer,
    counters: Counters,
    program: ProgramFd,
}

#[track_caller]
fn fixture(prog_type: BpfProgType, has_cookie: bool) -> Option<Fixture> {
    let array = permitted(EventArray::create("pk_attach".parse().unwrap()))?;
    let counters = Counters::create()?;
    let program = output(prog_type, &Sink::Array(&array), &counters, 16, has_cookie)?;
    Some(Fixture {
        buffer: permitted(PerfBufferOptions::new().payload_size(16).open(array))?,
        counters,
        program,
    })
}

impl Fixture {
    /// Returns the cookies that were written since the last call.
    fn cookies(&mut self) -> Vec<u64> {
        let mut cookies = Vec::new();
        let consume = |_, output: PerfBufferRecord<'_>| match output {
            PerfBufferRecord::Sample(sample) => {
                cookies.push(u64::from_ne_bytes(sample.bytes()[8..16].try_into().unwrap()));
            }
            other => panic!("{other:?}"),
        };
        self.buffer.read(consume).unwrap();
        cookies
    }

    /// Returns whether `hit` no longer runs the program. On another CPU it may still run for a hit
    /// before the detachment.
    fn is_detached(&self, hit: impl Fn()) -> bool {
        (0..100).any(|_| {
            let before = self.counters.produced_and_failed();
            hit();
            self.counters.produced_and_failed() == before
        })
    }
}

/// Opens an event that overflows with each context switch of the calling thread, enabled.
#[track_caller]
fn switches() -> Option<Arc<Event>> {
    let attr = Attr::software(Software::CONTEXT_SWITCHES).with_period(1).with_flags(AttrFlags::EXCLUDE_HV);
    permitted(Event::open(&attr, Target::calling_thread())).map(Arc::new)
}

/// Causes at least one context switch of the calling thread.
fn switch(event: &Event) {
    let before = Count::read(event).unwrap().value;
    while Count::read(event).unwrap().value == before {
        std::thread::sleep(std::time::Duration::from_nanos(1));
    }
}

/// Opens an event of a tracepoint that [`rename`] hits.
#[track_caller]
fn renames() -> Option<Arc<Event>> {
    let attr = tracepoint("task_rename")?;
    permitted(Event::open(&attr, Target::calling_thread())).map(Arc::new)
}

/// Hits the tracepoint `task/task_rename` once. Other tasks may hit it too.
fn rename() {
    std::fs::write("/proc/thread-self/comm", "pk_rename").unwrap();
}

#[test]
fn a_perf_event_program_reads_the_cookie_of_its_link() {
    let Some(mut fixture) = fixture(BpfProgType::PERF_EVENT, true) else { return };
    let Some(event) = switches() else { return };
    let attachment = Attachment::new(Arc::clone(&event), &fixture.program, COOKIE).unwrap();
    switch(&event);
    let cookies = fixture.cookies();
    assert!(!cookies.is_empty() && cookies.iter().all(|&cookie| cookie == COOKIE), "{cookies:x?}");

    let info = attachment.link().unwrap().info().unwrap();
    assert_eq!(info.kind, BpfLinkType::PERF_EVENT);
    let event = attachment.detach();
    assert!(fixture.is_detached(|| switch(&event)));
}

#[test]
fn a_perf_event_program_is_attached_by_ioctl_until_the_event_closes() {
    let Some(mut fixture) = fixture(BpfProgType::PERF_EVENT, false) else { return };
    let Some(event) = switches() else { return };
    let attachment = Attachment::by_ioctl(Arc::clone(&event), &fixture.program).unwrap();
    assert!(attachment.link().is_none());
    drop(attachment);
    switch(&event);
    assert!(!fixture.cookies().is_empty());
    let second = Attachment::by_ioctl(Arc::clone(&event), &fixture.program).unwrap_err();
    assert_eq!(second.error.errno(), Some(Errno::EEXIST));
    let second = Link::attach(&*event, &fixture.program, 0).unwrap_err();
    assert_eq!((second.command(), second.errno()), (Some(BpfCmd::LINK_CREATE), Some(Errno::EEXIST)));
    assert!(second.to_string().contains("already has a program"), "{second}");
}

#[test]
fn a_tracepoint_program_runs_with_the_cookie_of_its_link() {
    let Some(mut fixture) = fixture(BpfProgType::TRACEPOINT, true) else { return };
    let Some(event) = renames() else { return };
    let link = Link::attach(&*event, &fixture.program, COOKIE).unwrap();
    let program = link.info().unwrap().prog_id;
    assert!(event.query_bpf().unwrap().contains(&program));
    rename();
    let cookies = fixture.cookies();
    assert!(!cookies.is_empty() && cookies.iter().all(|&cookie| cookie == COOKIE), "{cookies:x?}");

    if let Some(found) = permitted(TaskFd::query(&*event)) {
        assert_eq!((found.program, found.kind), (program, BpfTaskFdType::TRACEPOINT));
        assert_eq!(found.name, b"task_rename");
    }
    drop(link);
    assert!(!event.query_bpf().unwrap().contains(&program));
}

#[test]
fn a_tracepoint_program_is_attached_by_ioctl() {
    let Some(mut fixture) = fixture(BpfProgType::TRACEPOINT, false) else { return };
    let Some(event) = renames() else { return };
    let _attachment = Attachment::by_ioctl(event, &fixture.program).unwrap();
    rename();
    assert!(!fixture.cookies().is_empty());
}

#[test]
fn a_raw_tracepoint_program_is_attached_by_name() {
    let Some(mut fixture) = fixture(BpfProgType::RAW_TRACEPOINT, false) else { return };
    let Some(link) = permitted(Link::raw_tracepoint(c"task_rename", &fixture.program, 0)) else { return };
    rename();
    assert!(!fixture.cookies().is_empty());
    if let Some(found) = permitted(TaskFd::query(link.as_fd())) {
        assert_eq!((found.kind, &*found.name), (BpfTaskFdType::RAW_TRACEPOINT, &b"task_rename"[..]));
    }
    let fd: OwnedFd = link.into_fd();
    let link = Link::from_fd(fd.try_clone().unwrap()).unwrap();
    drop((fd, link));
    assert!(fixture.is_detached(rename));
}

#[test]
fn a_raw_tracepoint_program_reads_the_cookie_of_its_link() {
    let array = permitted(EventArray::create("pk_attach".parse().unwrap()));
    let (Some(array), Some(counters)) = (array, Counters::create()) else { return };
    let sink = Sink::Array(&array);
    let Some(program) = try_output(BpfProgType::RAW_TRACEPOINT, &sink, &counters, 16, true) else {
        return eprintln!("skipped: raw tracepoints have cookies since Linux 6.10");
    };
    let Some(buffer) = permitted(PerfBufferOptions::new().payload_size(16).open(array)) else { return };
    let mut fixture = Fixture { buffer, counters, program };
    let _link = Link::raw_tracepoint(c"task_rename", &fixture.program, COOKIE).unwrap();
    rename();
    let cookies = fixture.cookies();
    assert!(!cookies.is_empty() && cookies.iter().all(|&cookie| cookie == COOKIE), "{cookies:x?}");
}

#[test]
fn an_unknown_raw_tracepoint_is_named_by_the_error() {
    let Some(fixture) = fixture(BpfProgType::RAW_TRACEPOINT, false) else { return };
    let error = Link::raw_tracepoint(c"no_such_tracepoint", &fixture.program, 0).unwrap_err();
    assert_eq!((error.command(), error.errno()), (Some(BpfCmd::RAW_TRACEPOINT_OPEN), Some(Errno::ENOENT)));
    assert!(error.to_string().contains("no raw tracepoint of this name"), "{error}");
}

#[test]
fn a_program_of_another_type_is_refused_by_both_ways() {
    let Some(fixture) = fixture(BpfProgType::RAW_TRACEPOINT, false) else { return };
    let Some(event) = switches() else { return };
    let link = Attachment::new(Arc::clone(&event), &fixture.program, COOKIE).unwrap_err();
    assert_eq!((link.error.command(), link.error.errno()), (Some(BpfCmd::LINK_CREATE), Some(Errno::EINVAL)));
    let ioctl = Attachment::new(event, &fixture.program, 0).unwrap_err();
    assert_eq!((ioctl.error.command(), ioctl.error.errno()), (None, Some(Errno::EINVAL)));
    assert!(ioctl.to_string().contains("of a type that the event does not take"), "{ioctl}");
}

#[test]
fn a_descriptor_of_another_kind_is_no_link() {
    let Some(fixture) = fixture(BpfProgType::RAW_TRACEPOINT, false) else { return };
    let fd = fixture.program.as_fd().try_clone_to_owned().unwrap();
    let error = Link::from_fd(fd).unwrap_err();
    assert!(error.to_string().contains("expected a link"), "{error}");
}
