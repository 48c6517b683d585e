//! CPUs and threads: `ENODEV`, `ESRCH`, and the CPU numbers of `EINVAL`.

use perf_sys::Error;

use super::{Failure, Trial};
use crate::system::{CpuList, FileError, Privileges, System};
use crate::why::check::{pmu_of, type_of};
use crate::why::explain::{Cause, Evidence, Explanation};

const ONLINE: &str = "/sys/devices/system/cpu/online";

/// Explains `ENODEV`: an offline CPU, or a PMU that is not on it.
pub(super) fn no_device(failure: &mut Failure<'_>) -> Option<Explanation> {
    let (attr, target) = (failure.open.attr, failure.open.target);
    if let Some(cpu) = target.cpu_id() {
        if let Some(explanation) = offline(failure.system, cpu) {
            return Some(explanation);
        }
        let pmu = pmu_of(failure.system, attr).ok().flatten();
        let cpus = pmu.as_ref().and_then(|pmu| pmu.cpus().map(|cpus| (pmu, cpus)));
        if let Some((pmu, cpus)) = cpus.filter(|(_, cpus)| !cpus.contains(cpu)) {
            let text = format!("PMU {pmu} is not on CPU {cpu}");
            let remedy = format!("open the event on CPUs {cpus}");
            return Some(Explanation::new(Cause::PmuNotOnCpu, text, remedy).with(type_of(pmu)));
        }
    }
    let alone = Trial { attr, target, in_group: false };
    let is_leader = failure.open.in_group && failure.attempt(alone).is_some_and(|result| result.is_ok());
    is_leader.then(|| {
        let remedy = "open the group again, leader first";
        Explanation::new(Cause::Leader, "the PMU or the task of the group leader is gone", remedy)
            .with(Evidence::new("the event without the group", "opened"))
    })
}

/// Explains a CPU that is offline.
pub(super) fn offline(system: &System, cpu: u32) -> Option<Explanation> {
    let online = CpuList::online(system);
    if online.as_ref().is_ok_and(|online| online.contains(cpu)) {
        return None;
    }
    let list = online.as_ref().map_or(String::new(), |online| format!(": open the event on CPUs {online}"));
    let explanation = Explanation::new(
        Cause::CpuOffline,
        format!("CPU {cpu} is offline"),
        format!("skip the CPU{list}; open the event again when it is back"),
    );
    Some(explanation.with(Evidence::of_file(ONLINE, online.as_ref())))
}

/// Explains `ESRCH`: a thread that has exited, or whose process has another name for it. Before an event is
/// placed on an offline CPU, some kernels return it too.
pub(super) fn no_thread(failure: &mut Failure<'_>) -> Option<Explanation> {
    let target = failure.open.target;
    let Some(tid) = target.tid() else {
        return target.cpu_id().and_then(|cpu| offline(failure.system, cpu));
    };
    let status = failure.system.read(format!("/proc/{tid}/status"));
    let path = format!("/proc/{tid}/status");
    match status {
        Ok(status) => {
            let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("").trim();
            let text = format!("thread {tid} is exiting or has exited");
            let remedy = "open the event for a live thread";
            let evidence = Evidence::new(format!("State of {path}"), state);
            Some(Explanation::new(Cause::NoSuchThread, text, remedy).with(evidence))
        }
        Err(error) => {
            let text = format!("no thread has the id {tid} in this PID namespace");
            let remedy = "list the threads again (/proc/PID/task): this one has exited";
            let evidence = Evidence::of_file::<&str>(&path, Err(&error));
            Some(Explanation::new(Cause::NoSuchThread, text, remedy).with(evidence))
        }
    }
}

/// Returns the user of a thread as evidence.
pub(super) fn owner_of(system: &System, tid: u32) -> Evidence {
    let path = format!("/proc/{tid}/status");
    let uid = system.read(&path).map(|status| {
        let uids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        uids.split_ascii_whitespace().next().unwrap_or("unknown").to_owned()
    });
    Evidence::of_file(&format!("Uid of {path}"), uid.as_ref())
}

/// Returns `true` if the thread is known to be of another user than the calling thread: the kernel compares the
/// caller's real user with the effective, the saved and the real one.
pub(super) fn is_of_other_user(system: &System, tid: u32) -> bool {
    let users = |path: &str| -> Option<Vec<u32>> {
        let status = system.read(path).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().take(3).map(|uid| uid.parse().ok()).collect()
    };
    let (own, theirs) = (users(Privileges::STATUS), users(&format!("/proc/{tid}/status")));
    let own = own.as_ref().and_then(|own| own.first());
    own.zip(theirs).is_some_and(|(own, theirs)| theirs.iter().any(|uid| uid != own))
}

/// Returns a `FileError` or value of a list as evidence.
pub(super) fn list_evidence(path: &str, list: &Result<CpuList, FileError>) -> Evidence {
    Evidence::of_file(path, list.as_ref())
}

/// Returns whether an error is of this errno.
pub(super) fn is_errno(result: &Result<(), Error>, errno: perf_sys::Errno) -> bool {
    result.as_ref().err().and_then(Error::errno) == Some(errno)
}
