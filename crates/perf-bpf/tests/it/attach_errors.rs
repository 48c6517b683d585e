//! Programs that cannot be attached, and the causes in the errors.

use std::sync::Arc;

use crate::prelude::*;

/// Loads a program that returns 1.
#[track_caller]
fn program(prog_type: BpfProgType) -> Option<ProgramFd> {
    let asm = Asm::default().exit_with(1);
    permitted(ProgramFd::load(prog_type, asm.code(), c"GPL", "pk_one".parse().unwrap()))
}

#[track_caller]
fn event(attr: &Attr) -> Option<Arc<Event>> {
    permitted(Event::open(attr, Target::calling_thread())).map(Arc::new)
}

#[test]
fn program_on_an_event_that_never_overflows_is_refused() {
    let clock = Attr::software(Software::CPU_CLOCK).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let (Some(program), Some(event)) = (program(BpfProgType::PERF_EVENT), event(&clock)) else { return };
    for error in [
        Attachment::new(Arc::clone(&event), &program, 0).unwrap_err(),
        Attachment::new(Arc::clone(&event), &program, 7).unwrap_err(),
        Attachment::by_ioctl(event, &program).unwrap_err(),
    ] {
        assert!(matches!(error.error, Error::NoPeriod { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("expected a period or a frequency, found none") && text.contains("with_period")
        );
    }
    let Err(error) = AttachedSet::open(EventSpec::new(clock), &program, 0) else { panic!("attached") };
    assert!(
        matches!(&error, Error::Attach { error, .. } if matches!(**error, Error::NoPeriod { .. })),
        "{error}"
    );
}

#[test]
fn program_that_its_tracepoint_has_already_is_named_as_the_cause() {
    let (Some(program), Some(attr)) = (program(BpfProgType::TRACEPOINT), tracepoint("task_rename")) else {
        return;
    };
    let (Some(first), Some(second)) = (event(&attr), event(&attr)) else { return };
    let _link = Link::attach(&*first, &program, 0).unwrap();
    let error = Attachment::new(second, &program, 0).unwrap_err();
    assert_eq!(error.error.errno(), Some(Errno::EEXIST));
    assert!(error.to_string().contains("its tracepoint or probe already runs this program"), "{error}");
}

#[test]
fn tracepoint_with_64_programs_is_named_as_the_cause() {
    // No other test attaches programs to this one.
    let Some(attr) = tracepoint("task_newtask") else { return };
    let mut attached = Vec::new();
    let error = loop {
        let (Some(program), Some(event)) = (program(BpfProgType::TRACEPOINT), event(&attr)) else { return };
        match Attachment::new(event, &program, 0) {
            Ok(attachment) => attached.push(attachment),
            Err(error) => break error,
        }
    };
    assert!(attached.len() <= 64);
    assert_eq!(error.error.errno(), Some(Errno::E2BIG));
    assert!(error.to_string().contains("64 programs"), "{error}");
}

#[test]
fn program_without_instructions_is_named_as_the_cause() {
    if program(BpfProgType::PERF_EVENT).is_none() {
        return;
    }
    let error =
        ProgramFd::load(BpfProgType::PERF_EVENT, &[], c"GPL", "pk_empty".parse().unwrap()).unwrap_err();
    assert_eq!(error.errno(), Some(Errno::E2BIG));
    assert!(error.to_string().contains("expected 1 to 1000000 instructions"), "{error}");
}

#[test]
fn link_is_taken_out_of_its_attachment() {
    let attr = Attr::software(Software::CPU_CLOCK).with_period(1 << 40).with_flags(AttrFlags::EXCLUDE_KERNEL);
    let Some(program) = program(BpfProgType::PERF_EVENT) else { return };
    let (Some(first), Some(second)) = (event(&attr), event(&attr)) else { return };
    let link = Attachment::new(Arc::clone(&first), &program, 0).unwrap().into_link().unwrap();
    assert_eq!(link.info().unwrap().prog_id, program.info().unwrap().id);
    assert_eq!(Link::attach(&*first, &program, 0).unwrap_err().errno(), Some(Errno::EEXIST));
    drop(link);
    drop(Link::attach(&*first, &program, 0).unwrap());
    let by_ioctl = Attachment::by_ioctl(Arc::clone(&second), &program).unwrap();
    let by_ioctl = by_ioctl.into_link().unwrap_err();
    assert!(Arc::ptr_eq(by_ioctl.event(), &second), "the attachment is returned");
}
