//! `EPERM` and `ENOSYS`: filters, raw tracepoint data, kernel breakpoints, lockdown, and what is not there.

use perf_sys::{Errno, Error, EventType, SampleType};

use super::Failure;
use super::permission::with_settings;
use crate::system::{Capability, Privileges};
use crate::why::explain::{Cause, Evidence, Explanation};

const LOCKDOWN: &str = "/sys/kernel/security/lockdown";

pub(super) fn explain(failure: &mut Failure<'_>) -> Option<Explanation> {
    seccomp(failure)
        .or_else(|| raw_tracepoint(failure))
        .or_else(|| forbidden_tracepoint(failure))
        .or_else(|| kernel_breakpoint(failure))
        .or_else(|| lockdown(failure))
        .or_else(|| possible_filter(failure))
}

/// Explains `ENOSYS`: a kernel without perf events, a filter, or a feature of other architectures.
pub(super) fn not_implemented(failure: &mut Failure<'_>) -> Option<Explanation> {
    let paranoid = failure.privileges.paranoid();
    if paranoid.is_err_and(crate::system::FileError::is_not_found) {
        let explanation = Explanation::new(
            Cause::NoPerf,
            "this kernel has no perf events",
            "use a kernel with CONFIG_PERF_EVENTS=y",
        );
        return Some(explanation.with(Evidence::of_file(Privileges::PARANOID, paranoid)));
    }
    let dumps = SampleType::REGS_USER | SampleType::REGS_INTR | SampleType::STACK_USER;
    let requested = failure.open.attr.sample_type & dumps;
    seccomp(failure).or_else(|| {
        if requested.is_empty() {
            return possible_filter(failure);
        }
        let text = format!("this architecture cannot sample {requested}");
        Some(Explanation::new(Cause::NotImplemented, text, format!("sample without {requested}")))
    })
}

/// Explains a filter, which fails the simplest event with the same errno.
fn seccomp(failure: &mut Failure<'_>) -> Option<Explanation> {
    if !failure.privileges.is_filtered() {
        return None;
    }
    let errno = failure.errno;
    let simplest = failure.attempt_simplest()?;
    if simplest.as_ref().err().and_then(Error::errno) != Some(errno) {
        return None;
    }
    let simplest =
        Evidence::new("the simplest event, which needs no permission", format_args!("{errno:?} too"));
    Some(filter("a seccomp filter forbids perf_event_open", failure).with(simplest))
}

/// Explains an errno that fits a filter, where no event could be tried or only this one fails.
fn possible_filter(failure: &mut Failure<'_>) -> Option<Explanation> {
    if !failure.privileges.is_filtered() || failure.trial.is_some() {
        return None;
    }
    Some(filter("the thread has a seccomp filter, which probably forbids perf_event_open", failure))
}

fn filter(text: &str, failure: &Failure<'_>) -> Explanation {
    let errno = failure.errno;
    Explanation::new(
        Cause::Seccomp,
        text,
        "permit perf_event_open in the container's seccomp profile and add CAP_PERFMON; for a test: docker run \
         --security-opt seccomp=unconfined --cap-add PERFMON",
    )
    .with(Evidence::new("Seccomp of /proc/thread-self/status", "2, a filter"))
    .with(Evidence::new("the errno", format_args!("{errno:?}")))
    .with(Evidence::of_file(Privileges::PARANOID, failure.privileges.paranoid()))
}

fn raw_tracepoint(failure: &Failure<'_>) -> Option<Explanation> {
    let (attr, privileges) = (failure.open.attr, &failure.privileges);
    let is_tracepoint = attr.kind == EventType::TRACEPOINT && failure.errno == Errno::EPERM;
    if !is_tracepoint || privileges.has_perfmon() || privileges.paranoid().is_ok_and(|level| level < 0) {
        return None;
    }
    let (text, instead) = if attr.sample_type.contains(SampleType::RAW) {
        ("raw tracepoint data", "sample without raw data, or ")
    } else {
        ("this tracepoint", "")
    };
    let text = format!("without CAP_PERFMON, {text} needs perf_event_paranoid of at most -1");
    let remedy = format!("{instead}run with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1");
    Some(with_settings(Explanation::new(Cause::Paranoid, text, remedy), privileges))
}

fn forbidden_tracepoint(failure: &Failure<'_>) -> Option<Explanation> {
    let attr = failure.open.attr;
    (attr.kind == EventType::TRACEPOINT).then(|| super::tracepoint::forbidden(failure.system, attr))?
}

fn kernel_breakpoint(failure: &Failure<'_>) -> Option<Explanation> {
    let privileges = &failure.privileges;
    let is_breakpoint = failure.open.attr.kind == EventType::BREAKPOINT && failure.errno == Errno::EPERM;
    if !is_breakpoint || privileges.has(Capability::SYS_ADMIN) {
        return None;
    }
    let explanation = Explanation::new(
        Cause::Capability,
        "a breakpoint on a kernel address needs CAP_SYS_ADMIN",
        "run with CAP_SYS_ADMIN, or watch an address of the program",
    )
    .with(Evidence::new("attr.bp_addr", format_args!("{:#x}", failure.open.attr.config1)));
    Some(with_settings(explanation, privileges))
}

/// Explains kernel lockdown, which forbids registers at the interrupt at the level `confidentiality`.
fn lockdown(failure: &Failure<'_>) -> Option<Explanation> {
    let text = failure.system.read(LOCKDOWN);
    let mode =
        text.as_ref().ok().and_then(|text| text.split_once('[')?.1.split_once(']')).map(|(mode, _)| mode);
    let requests = failure.open.attr.sample_type.contains(SampleType::REGS_INTR);
    if failure.errno != Errno::EPERM || !requests || mode.is_some_and(|mode| mode != "confidentiality") {
        return None;
    }
    let text = match mode {
        Some(_) => "kernel lockdown forbids to sample registers at the interrupt",
        None => "probably kernel lockdown forbids to sample registers at the interrupt",
    };
    let found = mode.map(str::to_owned).ok_or_else(|| failure.system.read(LOCKDOWN).err());
    let evidence = match found {
        Ok(mode) => Evidence::new(LOCKDOWN, mode),
        Err(Some(error)) => Evidence::of_file::<&str>(LOCKDOWN, Err(&error)),
        Err(None) => Evidence::new(LOCKDOWN, "without a mode in brackets"),
    };
    let remedy = "sample no registers at the interrupt (REGS_INTR), or boot with lockdown=integrity";
    Some(Explanation::new(Cause::Lockdown, text, remedy).with(evidence))
}
