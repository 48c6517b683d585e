//! `EACCES`: the paranoid level, capabilities and users.

use perf_sys::{Attr, AttrFlags, BranchSampleType, Errno, EventType, SampleType, Target};

use super::Failure;
use super::cpu::{is_of_other_user, owner_of};
use crate::system::{Capability, Privileges};
use crate::why::check::{pmu_of, type_of};
use crate::why::explain::{Cause, Evidence, Explanation};

/// The label that a security module gives to the thread.
const LABEL: &str = "/proc/thread-self/attr/current";

/// A part of an event that is forbidden to a user without `CAP_PERFMON`.
struct Need {
    what: &'static str,
    /// The highest paranoid level that permits it; `None` if only the capability does.
    level: Option<i32>,
    /// The change of the attr or target that avoids it.
    instead: Option<&'static str>,
}

const fn need(what: &'static str, level: Option<i32>, instead: Option<&'static str>) -> Need {
    Need { what, level, instead }
}

pub(super) fn explain(failure: &mut Failure<'_>) -> Option<Explanation> {
    let privileges = failure.privileges.clone();
    let (attr, target) = (failure.open.attr, failure.open.target);
    if let Some(explanation) = probe(failure, &privileges) {
        return Some(explanation);
    }
    if !privileges.has_perfmon() {
        let level = privileges.paranoid().unwrap_or(i32::MAX);
        let needs: Vec<Need> = needs(attr, target)
            .into_iter()
            .filter(|need| need.level.is_none_or(|most| level > most))
            .collect();
        // No level permits another user's task, so this comes before the level.
        let of_other = |tid| is_of_other_user(failure.system, tid) && !privileges.has(Capability::SYS_PTRACE);
        if target.tid().is_some_and(of_other) || (needs.is_empty() && target.tid().is_some()) {
            return Some(other_user(failure, &privileges, &needs, level));
        }
        if !needs.is_empty() {
            return Some(with_settings(paranoid(&needs, level), &privileges));
        }
    }
    if privileges.paranoid().is_ok_and(|level| level > 2) && !privileges.has(Capability::SYS_ADMIN) {
        return Some(with_settings(forbidden_to_all(), &privileges));
    }
    security_module(failure)
}

/// Explains a policy that forbids the simplest event too.
fn security_module(failure: &mut Failure<'_>) -> Option<Explanation> {
    if !super::cpu::is_errno(&failure.attempt_simplest()?, Errno::EACCES) {
        return None;
    }
    let text = "a security module, such as SELinux, or the policy of the kernel forbids perf events";
    let remedy = "permit perf_event in the policy of the module; the audit log names the rule";
    let label = failure.system.read(LABEL).map(|text| text.trim_end_matches(['\n', '\0']).to_owned());
    let explanation = Explanation::new(Cause::SecurityModule, text, remedy)
        .with(Evidence::new("the simplest event, which needs no permission", "EACCES too"))
        .with(Evidence::of_file(LABEL, label.as_ref()));
    Some(with_settings(explanation, &failure.privileges))
}

/// Returns what the event needs, in the order in which the kernel checks it.
fn needs(attr: &Attr, target: Target<'_>) -> Vec<Need> {
    let kernel_branches = BranchSampleType::KERNEL | BranchSampleType::HV;
    let samples = |fields| attr.sample_type.intersects(fields);
    let has = |flags| attr.flags.intersects(flags);
    let rows = [
        (
            samples(SampleType::BRANCH_STACK) && attr.branch_sample_type.intersects(kernel_branches),
            need("branches of the kernel", Some(1), Some("sample branches of user space only")),
        ),
        (
            !has(AttrFlags::EXCLUDE_KERNEL),
            need("events in the kernel", Some(1), Some("exclude the kernel (`:u` after the event)")),
        ),
        (has(AttrFlags::NAMESPACES), need("NAMESPACES records", None, Some("record no namespaces"))),
        (
            samples(SampleType::PHYS_ADDR),
            need("physical addresses", Some(1), Some("sample no physical addresses")),
        ),
        (
            !target.is_thread(),
            need(
                "the tasks of all users",
                Some(0),
                Some("observe your own tasks, not all of a CPU or cgroup"),
            ),
        ),
    ];
    let mut needs: Vec<Need> =
        rows.into_iter().filter(|(applies, _)| *applies).map(|(_, need)| need).collect();
    if needs.is_empty() {
        needs.extend(newer_needs(attr));
    }
    needs
}

/// Returns what only the kernels since autumn 2026 check.
fn newer_needs(attr: &Attr) -> Option<Need> {
    let instead = "exclude the kernel from callchains";
    if attr.flags.contains(AttrFlags::TEXT_POKE) {
        return Some(need("TEXT_POKE records", Some(1), Some("record no TEXT_POKE")));
    }
    let kernel_chain = attr.sample_type.contains(SampleType::CALLCHAIN)
        && !attr.flags.contains(AttrFlags::EXCLUDE_CALLCHAIN_KERNEL);
    kernel_chain.then_some(need("callchains of the kernel", Some(1), Some(instead)))
}

fn paranoid(needs: &[Need], level: i32) -> Explanation {
    let whats: Vec<_> = needs.iter().map(|need| need.what).collect();
    let most = needs.iter().map(|need| need.level).min().flatten();
    let changes: Option<Vec<_>> = needs.iter().map(|need| need.instead).collect();
    let mut remedies: Vec<String> = changes.iter().map(|changes| changes.join(" and ")).collect();
    remedies.push("run with CAP_PERFMON".to_owned());
    let Some(most) = most else {
        let text = format!("without CAP_PERFMON the user may not observe {}", whats.join(" and "));
        return Explanation::new(Cause::Capability, text, remedies.join(", or "));
    };
    remedies.push(format!("sysctl kernel.perf_event_paranoid={most}"));
    let text = format!(
        "without CAP_PERFMON, {} need perf_event_paranoid of at most {most}, not {level}",
        whats.join(" and ")
    );
    Explanation::new(Cause::Paranoid, text, remedies.join(", or "))
}

fn forbidden_to_all() -> Explanation {
    Explanation::new(
        Cause::Paranoid,
        "above perf_event_paranoid 2, the kernels of some distributions forbid all events without CAP_SYS_ADMIN",
        "sysctl kernel.perf_event_paranoid=2, or run with CAP_SYS_ADMIN",
    )
}

/// Explains a thread that the user may not observe. `needs` are the parts of the event that the level forbids too.
fn other_user(failure: &Failure<'_>, privileges: &Privileges, needs: &[Need], level: i32) -> Explanation {
    let tid = failure.open.target.tid().unwrap_or_default();
    let owner = owner_of(failure.system, tid);
    let mut text = format!("thread {tid} belongs to another user, or may not be traced");
    let mut remedy = "run as the user of the thread".to_owned();
    if !needs.is_empty() {
        let also = paranoid(needs, level);
        text = format!("{text}; also, {}", also.text());
        let changes: Vec<_> = needs.iter().filter_map(|need| need.instead).collect();
        if changes.len() == needs.len() {
            remedy = format!("{remedy} and {}", changes.join(" and "));
        }
    }
    let remedy = format!("{remedy}, or with CAP_PERFMON (before Linux 5.9 CAP_SYS_PTRACE)");
    let explanation = Explanation::new(Cause::OtherUser, text, remedy);
    with_settings(explanation.with(owner), privileges)
}

/// Explains a kprobe or uprobe, which need a capability at every level.
fn probe(failure: &Failure<'_>, privileges: &Privileges) -> Option<Explanation> {
    if failure.open.attr.kind <= EventType::BREAKPOINT {
        return None;
    }
    let pmu = pmu_of(failure.system, failure.open.attr).ok().flatten()?;
    let (capability, is_permitted) = match pmu.name() {
        "kprobe" => (Capability::PERFMON, privileges.has_perfmon()),
        "uprobe" => (Capability::SYS_ADMIN, privileges.has(Capability::SYS_ADMIN)),
        _ => return None,
    };
    let text = format!("a {pmu} needs {capability} at every paranoid level");
    let remedy = format!("run with {capability}");
    let explanation = Explanation::new(Cause::Capability, text, remedy).with(type_of(&pmu));
    (!is_permitted).then(|| with_settings(explanation, privileges))
}

/// Adds the settings that decide about permissions.
pub(super) fn with_settings(explanation: Explanation, privileges: &Privileges) -> Explanation {
    let mask = privileges.effective().map(|mask| format!("{mask:#x}"));
    let explanation = explanation
        .with(Evidence::of_file(Privileges::PARANOID, privileges.paranoid()))
        .with(Evidence::of_file("CapEff of /proc/thread-self/status", mask));
    match privileges.in_initial_namespace() {
        Ok(false) => explanation.with(Evidence::new(
            Privileges::UID_MAP,
            "that of a user namespace, whose capabilities do not count",
        )),
        _ => explanation,
    }
}
