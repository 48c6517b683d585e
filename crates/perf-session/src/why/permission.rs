//! Permissions: the paranoid level, capabilities, users, seccomp filters and lockdown.

use perf_ring::{AttrFlags, BranchSampleType, EventType, SampleType};

use super::case::Case;
use super::pmu::{known_pmu, type_of};
use super::{Cause, Diagnosis, Evidence, Field};
use crate::system::{Capability, FileError, LOCKDOWN, Privileges, System, Task};

/// A part of an event that is forbidden to a user without `CAP_PERFMON`.
struct Need {
    applies: fn(&Case<'_>) -> bool,
    what: &'static str,
    /// The highest paranoid level that permits it; `None` if only the capability does.
    level: Option<i32>,
    /// The change of the attr or target that avoids it.
    instead: &'static str,
}

/// The parts, in the order in which the kernel checks them.
const NEEDS: &[Need] = &[
    Need {
        applies: |c| {
            let branches = BranchSampleType::KERNEL | BranchSampleType::HV;
            c.samples(SampleType::BRANCH_STACK) && c.attr.branch_sample_type.intersects(branches)
        },
        what: "branches of the kernel",
        level: Some(1),
        instead: "sample branches of user space only",
    },
    Need {
        applies: |c| !c.has(AttrFlags::EXCLUDE_KERNEL),
        what: "events in the kernel",
        level: Some(1),
        instead: "exclude the kernel (`:u` after the event)",
    },
    Need {
        applies: |c| c.has(AttrFlags::NAMESPACES),
        what: "NAMESPACES records",
        level: None,
        instead: "record no namespaces",
    },
    Need {
        applies: |c| c.samples(SampleType::PHYS_ADDR),
        what: "physical addresses",
        level: Some(1),
        instead: "sample no physical addresses",
    },
    Need {
        applies: |c| !c.target.is_thread(),
        what: "the tasks of all users",
        level: Some(0),
        instead: "observe your own tasks, not all of a CPU or cgroup",
    },
];

/// Parts that only the kernels since autumn 2026 check. They are the reason only if nothing else
/// is.
const NEWER_NEEDS: &[Need] = &[
    Need {
        applies: |c| c.has(AttrFlags::TEXT_POKE),
        what: "TEXT_POKE records",
        level: Some(1),
        instead: "record no TEXT_POKE",
    },
    Need {
        applies: |c| c.samples(SampleType::CALLCHAIN) && !c.has(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL),
        what: "callchains of the kernel",
        level: Some(1),
        instead: "exclude the kernel from callchains",
    },
];

/// Explains `EACCES`.
pub(super) fn not_permitted(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    if let Some(diagnosis) = probe(case, &privileges) {
        return Some(diagnosis);
    }
    if !privileges.has_perfmon() {
        let level = privileges.paranoid().unwrap_or(i32::MAX);
        let applying = |needs: &'static [Need]| needs.iter().filter(|need| (need.applies)(case));
        let mut needs: Vec<_> = applying(NEEDS).collect();
        if needs.is_empty() {
            needs.extend(applying(NEWER_NEEDS).next());
        }
        needs.retain(|need| need.level.is_none_or(|most| level > most));
        // No level permits another user's task, so this comes before the level.
        let of_other = |tid| is_of_other_user(case.system, tid) && !privileges.has(Capability::SYS_PTRACE);
        if let Some(tid) = case.target.tid().filter(|&tid| needs.is_empty() || of_other(tid)) {
            return Some(with_settings(other_user(case.system, tid, &needs, level), &privileges));
        }
        if !needs.is_empty() {
            return Some(with_settings(paranoid(&needs, level), &privileges));
        }
    }
    if privileges.paranoid().is_ok_and(|level| level > 2) && !privileges.has(Capability::SYS_ADMIN) {
        let text = "above perf_event_paranoid 2, the kernels of some distributions forbid all events without \
                    CAP_SYS_ADMIN";
        let remedy = "sysctl kernel.perf_event_paranoid=2, or run with CAP_SYS_ADMIN";
        return Some(with_settings(Diagnosis::new(Cause::Paranoid, text, remedy), &privileges));
    }
    security_module(case, &privileges)
}

fn paranoid(needs: &[&Need], level: i32) -> Diagnosis {
    let whats = needs.iter().map(|need| need.what).collect::<Vec<_>>().join(" and ");
    let instead = instead(needs);
    // `None` is the least: no level permits what needs the capability.
    let Some(most) = needs.iter().map(|need| need.level).min().flatten() else {
        let text = format!("without CAP_PERFMON the user may not observe {whats}");
        return Diagnosis::new(Cause::Capability, text, format!("{instead}, or run with CAP_PERFMON"));
    };
    let text =
        format!("without CAP_PERFMON, {whats} need perf_event_paranoid of at most {most}, not {level}");
    let remedy = format!("{instead}, or run with CAP_PERFMON, or sysctl kernel.perf_event_paranoid={most}");
    Diagnosis::new(Cause::Paranoid, text, remedy)
}

fn instead(needs: &[&Need]) -> String {
    needs.iter().map(|need| need.instead).collect::<Vec<_>>().join(" and ")
}

/// A thread that the user may not observe. `needs` are the parts of the event that the level
/// forbids too.
fn other_user(system: &System, tid: u32, needs: &[&Need], level: i32) -> Diagnosis {
    let mut text = format!("thread {tid} belongs to another user, or may not be traced");
    let mut remedy = "run as the user of the thread".to_owned();
    if !needs.is_empty() {
        text = format!("{text}; also, {}", paranoid(needs, level).text);
        remedy = format!("{remedy} and {}", instead(needs));
    }
    let remedy = format!("{remedy}, or with CAP_PERFMON (before Linux 5.9 CAP_SYS_PTRACE)");
    let task = system.task(tid);
    let uid =
        task.status().map(|status| status.users().next().map_or("unknown".to_owned(), |uid| uid.to_string()));
    Diagnosis::new(Cause::OtherUser, text, remedy)
        .with(Evidence::of_file(&format!("Uid of {}", task.file("status")), uid.as_ref()))
}

/// Returns `true` if the thread is known to belong to another user than the calling thread. The
/// kernel compares the caller's real user with the effective, the saved and the real one.
fn is_of_other_user(system: &System, tid: u32) -> bool {
    let users = |task: Task<'_>| task.status().map(|status| status.users().take(3).collect::<Vec<_>>());
    let (own, theirs) = (users(system.this_thread()), users(system.task(tid)));
    let own = own.ok().and_then(|own| own.first().copied());
    own.zip(theirs.ok()).is_some_and(|(own, theirs)| theirs.iter().any(|uid| *uid != own))
}

/// A kprobe or uprobe needs a capability at every level.
fn probe(case: &Case<'_>, privileges: &Privileges) -> Option<Diagnosis> {
    let pmu = known_pmu(case).filter(|_| case.is_of_dynamic_pmu())?;
    let (capability, is_permitted) = match pmu.name() {
        "kprobe" => (Capability::PERFMON, privileges.has_perfmon()),
        "uprobe" => (Capability::SYS_ADMIN, privileges.has(Capability::SYS_ADMIN)),
        _ => return None,
    };
    let text = format!("a {pmu} needs {capability} at every paranoid level");
    let diagnosis = Diagnosis::new(Cause::Capability, text, format!("run with {capability}"));
    (!is_permitted).then(|| with_settings(diagnosis.with(type_of(&pmu)), privileges))
}

/// A policy that forbids the simplest event too.
fn security_module(case: &mut Case<'_>, privileges: &Privileges) -> Option<Diagnosis> {
    if !case.simplest_fails_too() {
        return None;
    }
    let text = "a security module, such as SELinux, or the policy of the kernel forbids perf events";
    let remedy = "permit perf_event in the policy of the module; the audit log names the rule";
    let (file, label) = case.system.security_label();
    let diagnosis = Diagnosis::new(Cause::SecurityModule, text, remedy)
        .with(Evidence::new("the simplest event, which needs no permission", "EACCES too"))
        .with(Evidence::of_file(&file, label.as_ref()));
    Some(with_settings(diagnosis, privileges))
}

/// Adds the settings that decide about permissions.
pub(super) fn with_settings(diagnosis: Diagnosis, privileges: &Privileges) -> Diagnosis {
    let mask = privileges.effective().map(|mask| format!("{mask:#x}"));
    let diagnosis = diagnosis
        .with(Evidence::of_file(Privileges::PARANOID, privileges.paranoid()))
        .with(Evidence::of_file("CapEff of /proc/thread-self/status", mask));
    match privileges.in_initial_namespace() {
        Ok(false) => {
            let found = "that of a user namespace, whose capabilities do not count";
            diagnosis.with(Evidence::new(Privileges::UID_MAP, found))
        }
        _ => diagnosis,
    }
}

/// Explains `ENOSYS` of a kernel without perf events.
pub(super) fn no_perf_events(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    let paranoid = privileges.paranoid();
    paranoid.is_err_and(FileError::is_not_found).then(|| {
        let remedy = "use a kernel with CONFIG_PERF_EVENTS=y";
        Diagnosis::new(Cause::NoPerf, "this kernel has no perf events", remedy)
            .with(Evidence::of_file(Privileges::PARANOID, paranoid))
    })
}

/// A seccomp filter, which fails the simplest event with the same errno.
pub(super) fn filter(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    if !privileges.is_filtered() || !case.simplest_fails_too() {
        return None;
    }
    let found = format!("{:?} too", case.errno?);
    let simplest = Evidence::new("the simplest event, which needs no permission", found);
    Some(seccomp("a seccomp filter forbids perf_event_open", case, &privileges).with(simplest))
}

/// A seccomp filter that fits the errno, where no event could be tried.
pub(super) fn possible_filter(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    let text = "the thread has a seccomp filter, which probably forbids perf_event_open";
    (privileges.is_filtered() && case.trial.is_none()).then(|| seccomp(text, case, &privileges))
}

fn seccomp(text: &str, case: &Case<'_>, privileges: &Privileges) -> Diagnosis {
    let errno = case.errno.map(|errno| format!("{errno:?}")).unwrap_or_default();
    let remedy = "permit perf_event_open in the container's seccomp profile and add CAP_PERFMON; for a test: docker run \
                  --security-opt seccomp=unconfined --cap-add PERFMON";
    Diagnosis::new(Cause::Seccomp, text, remedy)
        .with(Evidence::new("Seccomp of /proc/thread-self/status", "2, a filter"))
        .with(Evidence::new("the errno", errno))
        .with(Evidence::of_file(Privileges::PARANOID, privileges.paranoid()))
}

pub(super) fn raw_tracepoint(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    let is_permitted = privileges.has_perfmon() || privileges.paranoid().is_ok_and(|level| level < 0);
    if !case.is(EventType::TRACEPOINT) || is_permitted {
        return None;
    }
    let (text, instead) = if case.samples(SampleType::RAW) {
        ("raw tracepoint data", "sample without raw data, or ")
    } else {
        ("this tracepoint", "")
    };
    let text = format!("without CAP_PERFMON, {text} needs perf_event_paranoid of at most -1");
    let remedy = format!("{instead}run with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1");
    Some(with_settings(Diagnosis::new(Cause::Paranoid, text, remedy), &privileges))
}

pub(super) fn kernel_breakpoint(case: &mut Case<'_>) -> Option<Diagnosis> {
    let privileges = case.privileges();
    (case.is(EventType::BREAKPOINT) && !privileges.has(Capability::SYS_ADMIN)).then(|| {
        let text = "a breakpoint on a kernel address needs CAP_SYS_ADMIN";
        let remedy = "run with CAP_SYS_ADMIN, or watch an address of the program";
        let diagnosis = Diagnosis::new(Cause::Capability, text, remedy).on_attr(Field::BP_ADDR, case.attr);
        with_settings(diagnosis, &privileges)
    })
}

/// Kernel lockdown forbids registers at the interrupt at the level `confidentiality`.
pub(super) fn lockdown(case: &mut Case<'_>) -> Option<Diagnosis> {
    let mode = case.system.lockdown();
    let is_other = mode.as_ref().is_ok_and(|mode| mode != "confidentiality");
    if !case.samples(SampleType::REGS_INTR) || is_other {
        return None;
    }
    let probably = if mode.is_ok() { "" } else { "probably " };
    let text = format!("{probably}kernel lockdown forbids to sample registers at the interrupt");
    let remedy = "sample no registers at the interrupt (REGS_INTR), or boot with lockdown=integrity";
    Some(Diagnosis::new(Cause::Lockdown, text, remedy).with(Evidence::of_file(LOCKDOWN, mode.as_ref())))
}
