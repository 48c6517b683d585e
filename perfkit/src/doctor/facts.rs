//! The settings that decide what is permitted.

use std::borrow::Borrow;

use perf_session::{
    Capability, CpuList, FileError, MemlockLimit, Mount, Pmu, Privileges, System, Tracefs, TracefsError,
};

use crate::out::message::plain;

/// A setting and its value.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// Reads the settings. If a value cannot be read, the reason becomes the value.
pub(super) fn read(system: &System) -> Vec<Fact> {
    let privileges = Privileges::read(system);
    let mut facts = Vec::from_iter(not_mounted(system).map(|value| Fact { name: "mounts", value }));
    facts.extend([
        fact("kernel", system.sysctl("kernel.osrelease")),
        fact("perf_event_paranoid", privileges.paranoid().map(paranoid)),
        fact("capabilities", privileges.effective().map(|_| capabilities(&privileges))),
        fact(
            "seccomp",
            privileges.seccomp().map(|mode| match mode {
                0 => "off".to_owned(),
                2 => "a filter".to_owned(),
                mode => format!("mode {mode}"),
            }),
        ),
        Fact { name: "lockdown", value: lockdown(system) },
        Fact { name: "tracefs", value: tracefs(system) },
        fact("CPUs online", CpuList::online(system)),
        fact("PMUs", Pmu::all_names(system).map(|names| names.join(", "))),
        fact("locked memory", MemlockLimit::read(system).map(|memory| locked_memory(&memory))),
        fact("max_sample_rate", system.sysctl("kernel.perf_event_max_sample_rate")),
        fact("max_stack", system.max_stack()),
    ]);
    facts
}

/// Returns the remedy if the file systems with the facts are not mounted, as in some containers.
fn not_mounted(system: &System) -> Option<String> {
    let missing = [Mount::PROC, Mount::SYSFS].into_iter().filter(|mount| !mount.is_mounted(system));
    let remedies: Vec<_> = missing.map(|mount| mount.to_string()).collect();
    (!remedies.is_empty()).then(|| format!("most facts are unknown: {}", remedies.join("; ")))
}

fn fact(name: &'static str, value: Result<impl ToString, impl Borrow<FileError>>) -> Fact {
    let value = value.map_or_else(|error| unreadable(error.borrow()), |value| value.to_string());
    Fact { name, value }
}

/// Returns the level and what it leaves to users without capabilities.
fn paranoid(level: i32) -> String {
    let meaning = match level {
        ..=-1 => "no restriction",
        0 => "without CAP_PERFMON no raw tracepoint samples",
        1 => "without CAP_PERFMON no events of whole CPUs",
        2 => "without CAP_PERFMON own tasks in user space only",
        _ => "without CAP_PERFMON nothing, on kernels with such levels",
    };
    format!("{level}: {meaning}")
}

/// Returns the mode of the kernel's lockdown, `none` for a kernel without it.
fn lockdown(system: &System) -> String {
    match system.lockdown() {
        Ok(mode) => mode,
        Err(error) if error.is_not_found() && Mount::SYSFS.is_mounted(system) => {
            "none: this kernel has no lockdown, or securityfs is not mounted".to_owned()
        }
        Err(error) => unreadable(&error),
    }
}

/// Returns the text of an error as a value. The first fact has the commands that mount what is
/// missing.
fn unreadable(error: &FileError) -> String {
    if error.missing_mount().is_some() { "unknown".to_owned() } else { plain(&error.to_string()) }
}

fn tracefs(system: &System) -> String {
    match Tracefs::find(system) {
        Ok(tracefs) => tracefs.path().display().to_string(),
        Err(TracefsError::File(error)) => unreadable(&error),
        Err(error) => plain(&error.to_string()),
    }
}

/// Returns how much memory rings may lock.
fn locked_memory(memory: &MemlockLimit) -> String {
    match memory.available() {
        Some(available) => format!("{} KiB available for rings", available >> 10),
        None => "no limit for rings".to_owned(),
    }
}

fn capabilities(privileges: &Privileges) -> String {
    let all = [Capability::PERFMON, Capability::SYS_ADMIN, Capability::SYS_PTRACE, Capability::IPC_LOCK];
    let held: Vec<String> =
        all.into_iter().filter(|&one| privileges.has(one)).map(|one| one.to_string()).collect();
    if held.is_empty() { "none that concern perf events".to_owned() } else { held.join(", ") }
}
