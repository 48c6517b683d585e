//! CPUs, threads, cgroups and group leaders.

use perf_ring::Errno;

use super::case::{Case, errno_of};
use super::rules::Found;
use super::{Cause, Diagnosis, Evidence, Field};
use crate::system::{CpuList, System, cpu_file};

pub(super) fn no_such_cpu(case: &mut Case<'_>) -> Found {
    let Some(cpu) = case.target.cpu_id() else { return Ok(None) };
    let Some(possible) = System::optional(CpuList::possible(case.system))? else { return Ok(None) };
    Ok((!possible.contains(cpu)).then(|| {
        let remedy = "use the true ids of the CPUs: they may have holes";
        Diagnosis::new(Cause::NoSuchCpu, format!("no CPU has the number {cpu}"), remedy)
            .with(Evidence::new(cpu_file("possible"), possible))
            .on(Field::CPU, cpu)
    }))
}

/// A CPU that is offline. Some kernels return `ESRCH` while they place the event on it.
pub(super) fn offline(case: &mut Case<'_>) -> Found {
    let Some(cpu) = case.target.cpu_id() else { return Ok(None) };
    if case.errno == Some(Errno::ESRCH) && case.target.tid().is_some() {
        return Ok(None);
    }
    let online = CpuList::online(case.system);
    if case.errno.is_none() {
        // A thread's event on an offline CPU opens, and a CPU that does not exist breaks another
        // rule.
        let is_possible = CpuList::possible(case.system).is_ok_and(|possible| possible.contains(cpu));
        if case.target.is_thread() || !is_possible || System::optional(online.clone())?.is_none() {
            return Ok(None);
        }
    }
    if online.as_ref().is_ok_and(|online| online.contains(cpu)) {
        return Ok(None);
    }
    let list = online.as_ref().map_or(String::new(), |online| format!(": open the event on CPUs {online}"));
    let remedy = format!("skip the CPU{list}; open the event again when it is back");
    let diagnosis = Diagnosis::new(Cause::CpuOffline, format!("CPU {cpu} is offline"), remedy);
    Ok(Some(diagnosis.with(Evidence::of_file(&cpu_file("online"), online.as_ref())).on(Field::CPU, cpu)))
}

/// Explains `ESRCH`: a thread that has exited, or whose process has another id for it.
pub(super) fn no_thread(case: &mut Case<'_>) -> Option<Diagnosis> {
    let tid = case.target.tid()?;
    let task = case.system.task(tid);
    let path = task.file("status");
    Some(match task.status() {
        Ok(status) => {
            let state = status.field("State").unwrap_or_default();
            let text = format!("thread {tid} is exiting or has exited");
            Diagnosis::new(Cause::NoSuchThread, text, "open the event for a live thread")
                .with(Evidence::new(format!("State of {path}"), state))
        }
        Err(error) => {
            let text = format!("no thread has the id {tid} in this PID namespace");
            let remedy = "list the threads again (/proc/PID/task): this one has exited";
            Diagnosis::new(Cause::NoSuchThread, text, remedy)
                .with(Evidence::of_file::<&str>(&path, Err(&error)))
        }
    })
}

/// Explains `EBADF`: a descriptor that is not a cgroup's directory or a group leader's.
pub(super) fn bad_descriptor(case: &mut Case<'_>) -> Option<Diagnosis> {
    let is_cgroup = case.target.is_cgroup();
    let alone = if case.in_group { case.attempt_alone() } else { None };
    let is_leader = alone.is_some_and(|result| errno_of(&result) != Some(Errno::EBADF));
    if is_leader || (case.in_group && !is_cgroup) {
        let text = "the group leader's descriptor is closed, or not of perf_event_open";
        let remedy = "open the leader before its siblings, and keep it open";
        return Some(Diagnosis::new(Cause::Leader, text, remedy));
    }
    is_cgroup.then(|| {
        let text = "the descriptor is not the directory of a cgroup that perf events can use";
        let remedy =
            "open a directory of cgroup2, or of the version 1 hierarchy with the perf_event controller";
        Diagnosis::new(Cause::Cgroup, text, remedy).with(cgroup_mounts(case.system))
    })
}

/// Returns the mounted cgroup hierarchies as evidence.
pub(super) fn cgroup_mounts(system: &System) -> Evidence {
    let mounts = system.this_process().mounts().map(|mounts| {
        let cgroups = mounts.iter().filter(|mount| mount.kind.starts_with("cgroup"));
        cgroups
            .map(|mount| format!("{} ({})", mount.path.display(), mount.kind))
            .collect::<Vec<_>>()
            .join(" ")
    });
    Evidence::of_file("cgroup mounts of /proc/self/mounts", mounts.as_ref())
}
