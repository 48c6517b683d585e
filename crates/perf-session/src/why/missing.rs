//! `ENOENT`: PMUs and events that this machine does not have.

use perf_ring::{Errno, EventType, Software, Target};

use super::case::{Case, Trial, errno_of};
use super::pmu::{pmu_of, type_of};
use super::target::cgroup_mounts;
use super::{Cause, Diagnosis, Evidence};
use crate::names::Pmu;
use crate::system::{Mount, PMUS, System};

pub(super) fn pmu_or_event(case: &Case<'_>) -> Diagnosis {
    let (system, attr) = (case.system, case.attr);
    let pmu = pmu_of(system, attr);
    // Without sysfs the event alone decides, which only the software events of every kernel do.
    let pmu = Pmu::all_names(system).and(pmu);
    let list = pmus(system);
    let pmu = match pmu {
        Ok(pmu) => pmu,
        Err(_) if attr.kind == EventType::SOFTWARE => None,
        Err(error) => {
            let evidence = Evidence::of_file::<&str>(PMUS, Err(&error));
            let (text, remedy) = if error.is_not_found() {
                ("unknown: sysfs, which lists the PMUs, is not mounted", Mount::SYSFS.to_string())
            } else {
                ("unknown: the PMUs of this machine cannot be read", "see the evidence".to_owned())
            };
            return Diagnosis::new(Cause::Unknown, text, remedy).with(evidence);
        }
    };
    match (attr.kind, pmu) {
        (EventType::SOFTWARE, _) => no_event(
            format!("this kernel has no software event {}", attr.config),
            "use an event of an older kernel, such as cpu-clock",
            Evidence::new("attr.config", attr.config),
        ),
        (EventType::TRACEPOINT, _) => no_event(
            "this kernel has no tracepoints".to_owned(),
            "use a kernel with CONFIG_EVENT_TRACING=y",
            list,
        ),
        (EventType::HARDWARE | EventType::HW_CACHE | EventType::RAW, None) => Diagnosis::new(
            Cause::NoHardwarePmu,
            "this machine has no hardware PMU, as most virtual machines",
            "use a software event such as cpu-clock, or give the virtual machine a PMU",
        )
        .with(list)
        .with(guest(system)),
        (EventType::HARDWARE | EventType::HW_CACHE | EventType::RAW, Some(pmu)) => no_event(
            format!("PMU {pmu} does not have this event ({} {:#x})", attr.kind, attr.config),
            "use another event of the PMU, such as cycles or instructions",
            type_of(&pmu),
        ),
        (_, Some(pmu)) if pmu.name() == "uprobe" => Diagnosis::new(
            Cause::Probe,
            "the file of the uprobe does not exist, or the kernel cannot read it",
            "give the absolute path of a file that exists in the kernel's view of this mount namespace",
        )
        .with(type_of(&pmu)),
        (_, Some(pmu)) if pmu.name() == "kprobe" => {
            let text = "no function of the kernel has this name, or it cannot be probed";
            let remedy = "use a name in /proc/kallsyms that is not in /sys/kernel/debug/kprobes/blacklist";
            Diagnosis::new(Cause::Probe, text, remedy).with(type_of(&pmu))
        }
        (kind, Some(pmu)) => no_event(
            format!("PMU {pmu} does not have this event ({kind} {:#x})", attr.config),
            "use an event that is listed in the PMU's directory events/",
            type_of(&pmu),
        ),
        (kind, None) => {
            let text = format!("no PMU has the type {}", kind.0);
            let remedy =
                "read the type from the file `type` of the PMU at each start: it changes with the boot";
            Diagnosis::new(Cause::NoSuchPmu, text, remedy).with(list)
        }
    }
}

/// Explains a missing cgroup, for an event that the kernel has: it looks for the event first.
pub(super) fn cgroup(case: &mut Case<'_>) -> Option<Diagnosis> {
    let (attr, target) = (case.attr, case.target);
    let cpu = target.cpu_id().filter(|_| target.is_cgroup())?;
    let without = case.attempt(Trial { attr, target: Target::cpu(cpu), in_group: false });
    let (has_event, found) = match &without {
        Some(result) => (errno_of(result) != Some(Errno::ENOENT), "does not fail with ENOENT"),
        // Every kernel since 3.12 has the events up to this one.
        None => (attr.kind == EventType::SOFTWARE && attr.config <= Software::DUMMY.0, "not tried"),
    };
    let diagnosis = Diagnosis::new(
        Cause::Cgroup,
        "the cgroup was removed after its directory was opened, or its hierarchy has no perf_event controller",
        "open the directory of a cgroup that exists, in cgroup2 or in the version 1 hierarchy of perf_event",
    );
    has_event.then(|| {
        let source = format!("the same event on CPU {cpu} without the cgroup");
        diagnosis.with(Evidence::new(source, found)).with(cgroup_mounts(case.system))
    })
}

fn no_event(text: String, remedy: &str, evidence: Evidence) -> Diagnosis {
    Diagnosis::new(Cause::NoSuchEvent, text, remedy).with(evidence)
}

fn pmus(system: &System) -> Evidence {
    let names = Pmu::all_names(system).map(|names| names.join(" "));
    Evidence::of_file(PMUS, names.as_ref())
}

/// Returns evidence for a virtual machine.
fn guest(system: &System) -> Evidence {
    let flags = system.cpu_info().map(|cpu| {
        let is_guest =
            cpu.value("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
        if is_guest { "set: a virtual machine" } else { "not set" }
    });
    Evidence::of_file("flag hypervisor of /proc/cpuinfo", flags.as_ref())
}
