//! The reasons why live sampling failed, and the remedies.

use std::io::{self, Write};

use perf_sys::{Call, Errno, Error};

use super::plan::{Plan, Source};

/// The reason why no plan could be opened.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The CPUs of this thread could not be read.
    Cpus(io::Error),
    /// Every plan failed, the one with the fewest demands last. Never empty.
    Plans(Vec<(Plan, Error)>),
}

/// The settings of this system that decide about permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `/proc/sys/kernel/perf_event_paranoid`; `None` if it cannot be read.
    paranoid: Option<i32>,
    /// Whether a seccomp filter applies to this process.
    is_filtered: bool,
}

impl Settings {
    pub(crate) fn read() -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        Self {
            paranoid: read("/proc/sys/kernel/perf_event_paranoid").and_then(|text| text.trim().parse().ok()),
            is_filtered: read("/proc/self/status").is_some_and(|status| has_filter(&status)),
        }
    }

    fn paranoid(self) -> String {
        self.paranoid.map_or("unreadable".to_owned(), |level| level.to_string())
    }
}

/// Returns whether `/proc/PID/status` reports seccomp mode 2, a filter.
fn has_filter(status: &str) -> bool {
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

/// Prints the attempts, their errors and the remedies.
pub(crate) fn explain(out: &mut dyn Write, failure: &Failure, settings: Settings) -> io::Result<()> {
    writeln!(out, "Live sampling failed.")?;
    let plans = match failure {
        Failure::Cpus(error) => return writeln!(out, "  failed   list of CPUs: sched_getaffinity: {error}"),
        Failure::Plans(plans) => plans,
    };
    list(out, plans.iter(), usize::MAX)?;
    let filter = if settings.is_filtered { "a" } else { "no" };
    writeln!(out, "  here     perf_event_paranoid is {}, {filter} seccomp filter", settings.paranoid())?;
    for remedy in remedies(plans, settings) {
        writeln!(out, "  try      {remedy}")?;
    }
    Ok(())
}

/// Prints each attempt that failed with the errno and at most `limit` of its usual causes,
/// likeliest first.
pub(crate) fn list<'a>(
    out: &mut dyn Write,
    failed: impl Iterator<Item = &'a (Plan, Error)>,
    limit: usize,
) -> io::Result<()> {
    for (attempt, error) in attempts(failed) {
        let Error::Open { errno, causes } = error else {
            writeln!(out, "  failed   {attempt}: {error}")?;
            continue;
        };
        writeln!(out, "  failed   {attempt}: perf_event_open: {errno}")?;
        for (cause, label) in
            causes.iter().take(limit).zip(["cause"].into_iter().chain(std::iter::repeat("or")))
        {
            writeln!(out, "  {label:<8} {cause}")?;
        }
    }
    Ok(())
}

/// Returns the remedy if only samples of the kernel are not permitted.
pub(crate) fn kernel_scope(settings: Settings) -> String {
    let paranoid = settings.paranoid();
    format!("sysctl kernel.perf_event_paranoid=1 (now {paranoid}) or CAP_PERFMON, to sample the kernel too")
}

/// Returns each attempt with its error: as one, where all scopes of an event failed with the same
/// error.
fn attempts<'a>(failed: impl Iterator<Item = &'a (Plan, Error)>) -> Vec<(String, Error)> {
    let mut attempts: Vec<(Source, String, Error)> = Vec::new();
    // A plan that counts losses is tried again without, and the second error is the one to report.
    for (plan, error) in failed.filter(|(plan, _)| !plan.count_lost) {
        match attempts.last_mut() {
            Some((source, label, last)) if *source == plan.source && last.errno() == error.errno() => {
                (*label, *last) = (source.to_string(), *error);
            }
            _ => attempts.push((plan.source, plan.to_string(), *error)),
        }
    }
    attempts.into_iter().map(|(_, label, error)| (label, error)).collect()
}

fn remedies(plans: &[(Plan, Error)], settings: Settings) -> Vec<&'static str> {
    let last = plans.last().map(|(_, error)| (error.call(), error.errno()));
    let mut remedies = match last {
        Some((Some(Call::Mmap), _)) => {
            vec!["a higher kernel.perf_event_mlock_kb or `ulimit -l`, or CAP_IPC_LOCK"]
        }
        Some((Some(Call::PerfEventOpen), Some(Errno::EPERM | Errno::EACCES | Errno::ENOSYS))) => {
            permissions(settings)
        }
        _ => Vec::new(),
    };
    if plans.iter().all(|(plan, _)| plan.source == Source::Cycles) {
        remedies.push("perfkit demo --event cpu-clock, which needs no hardware counter");
    }
    remedies
}

fn permissions(settings: Settings) -> Vec<&'static str> {
    let mut remedies = Vec::new();
    if settings.is_filtered {
        remedies.push("a container profile that permits perf_event_open, and CAP_PERFMON; for a test:");
        remedies.push("docker run --security-opt seccomp=unconfined --cap-add PERFMON");
    }
    match settings.paranoid {
        None => remedies.push("a kernel with CONFIG_PERF_EVENTS=y"),
        Some(..=2) => remedies.push("CAP_PERFMON, or run it as root"),
        Some(3..) => {
            remedies.push("sysctl kernel.perf_event_paranoid=2 (user space) or 1 (user and kernel)");
            remedies.push("CAP_PERFMON, or run it as root");
        }
    }
    remedies
}

#[cfg(test)]
mod tests;
