//! The reasons why live sampling failed, and the remedies.

use std::io::{self, Write};

use perf_ring::{Error, Target};
use perf_session::{Diagnosis, FailedOpen, FileError, Privileges, System, trial_of};

use super::plan::{Plan, Source};

/// The reason why no plan could be opened.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The CPUs of this thread could not be read.
    Cpus(FileError),
    /// Every plan failed, the one with the fewest demands last. Never empty.
    Plans(Vec<(Plan, Error)>),
}

/// Prints the attempts, their errors, the causes with the values that show them, and the remedies.
pub(crate) fn explain(out: &mut dyn Write, failure: &Failure, system: &System) -> io::Result<()> {
    writeln!(out, "Live sampling failed.")?;
    let plans = match failure {
        Failure::Cpus(error) => return writeln!(out, "  failed   list of CPUs: {error}"),
        Failure::Plans(plans) => plans,
    };
    for attempt in attempts(plans.iter()) {
        attempt.print(out)?;
        let explanation = attempt.explanation(system);
        let evidence: Vec<_> = explanation.evidence().iter().map(ToString::to_string).collect();
        writeln!(out, "  cause    {}", explanation.text())?;
        if !evidence.is_empty() {
            writeln!(out, "  found    {}", evidence.join("; "))?;
        }
        writeln!(out, "  try      {}", explanation.remedy())?;
    }
    if plans.iter().all(|(plan, _)| plan.source == Source::Cycles) {
        writeln!(out, "  try      perfkit demo --event cpu-clock, which needs no hardware counter")?;
    }
    Ok(())
}

/// Prints each attempt that failed with its errno and cause.
pub(crate) fn list<'a>(
    out: &mut dyn Write,
    failed: impl Iterator<Item = &'a (Plan, Error)>,
    system: &System,
) -> io::Result<()> {
    for attempt in attempts(failed) {
        attempt.print(out)?;
        writeln!(out, "  cause    {}", attempt.explanation(system).text())?;
    }
    Ok(())
}

/// Returns the remedy if only samples of the kernel are not permitted.
pub(crate) fn kernel_scope(system: &System) -> String {
    let privileges = Privileges::read(system);
    let level = privileges.paranoid().map_or("unreadable".to_owned(), |level| level.to_string());
    format!("sysctl kernel.perf_event_paranoid=1 (now {level}) or CAP_PERFMON, to sample the kernel too")
}

/// One or more plans that failed with the same error.
struct Attempt {
    /// The event, and the scope if the other failed differently.
    label: String,
    plan: Plan,
    error: Error,
}

impl Attempt {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.error.call(), self.error.errno()) {
            (Some(call), Some(errno)) => writeln!(out, "  failed   {}: {call}: {errno}", self.label),
            _ => writeln!(out, "  failed   {}: {}", self.label, self.error),
        }
    }

    fn explanation(&self, system: &System) -> Diagnosis {
        let attr = self.plan.samples();
        let failed = FailedOpen::new(self.error, &attr, Target::calling_thread());
        failed.explain_by_trial(system, trial_of(None))
    }
}

/// Returns each attempt with its error: as one, where all scopes of an event failed with the same
/// error.
fn attempts<'a>(failed: impl Iterator<Item = &'a (Plan, Error)>) -> Vec<Attempt> {
    let mut attempts: Vec<Attempt> = Vec::new();
    // A plan that counts losses is tried again without, and the second error is the one to report.
    for &(plan, error) in failed.filter(|(plan, _)| !plan.count_lost) {
        match attempts.last_mut() {
            Some(last) if last.plan.source == plan.source && last.error.errno() == error.errno() => {
                *last = Attempt { label: plan.source.to_string(), plan, error };
            }
            _ => attempts.push(Attempt { label: plan.to_string(), plan, error }),
        }
    }
    attempts
}

#[cfg(test)]
mod tests {
    use perf_ring::{Call, Errno, sys};

    use super::*;
    use crate::demo::plan::Scope;

    fn of(call: Call, errno: Errno) -> Error {
        sys::Error::System { call, errno }.into()
    }

    /// All plans for `event`, each failed with an errno.
    fn failed(event: Option<Source>, errno: impl Fn(Plan) -> Errno) -> Vec<(Plan, Error)> {
        let fail = |plan| (plan, of(Call::PerfEventOpen, errno(plan)));
        Plan::ladder(event).into_iter().map(fail).collect()
    }

    fn labels(errno: impl Fn(Plan) -> Errno) -> Vec<String> {
        attempts(failed(None, errno).iter()).into_iter().map(|attempt| attempt.label).collect()
    }

    /// Returns the text for plans that failed, on a machine without files.
    fn text(plans: Vec<(Plan, Error)>) -> String {
        let mut out = Vec::new();
        explain(&mut out, &Failure::Plans(plans), &System::at("/nonexistent")).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn event_that_fails_equally_in_every_scope_is_one_attempt() {
        assert_eq!(labels(|_| Errno::EACCES), ["cycles", "cpu-clock"]);
    }

    #[test]
    fn scopes_that_fail_differently_are_listed_separately() {
        let errno = |plan: Plan| if plan.scope == Scope::UserOnly { Errno::ENOENT } else { Errno::EACCES };
        let labels = labels(errno);
        assert_eq!(labels.len(), 4);
        assert_eq!(labels[0], "cycles, user and kernel");
    }

    #[test]
    fn every_event_is_listed_once_with_errno_cause_and_remedy() {
        let text = text(failed(None, |_| Errno::EMFILE));
        for start in ["  failed  ", "  cause  ", "  found  ", "  try  "] {
            assert_eq!(text.matches(start).count(), 2, "{start:?} in {text}");
        }
        assert!(text.contains("failed   cpu-clock: perf_event_open: Too many open files"), "{text}");
        assert!(text.contains("RLIMIT_NOFILE"), "{text}");
    }

    #[test]
    fn missing_pmu_has_the_clock_as_remedy() {
        let text = text(failed(Some(Source::Cycles), |_| Errno::ENOENT));
        // There is no /sys to show that the machine has no PMU.
        assert!(text.contains("cause    unknown: sysfs, which lists the PMUs, is not mounted"), "{text}");
        assert!(text.contains("try      perfkit demo --event cpu-clock"), "{text}");
    }

    #[test]
    fn ring_above_the_limit_of_locked_memory_has_the_limit_as_remedy() {
        let mut failed = failed(None, |_| Errno::EMFILE);
        failed.last_mut().unwrap().1 = of(Call::Mmap, Errno::EPERM);
        let text = text(failed);
        assert!(text.contains("failed   cpu-clock, user space only: mmap: "), "{text}");
        assert!(text.contains("raise kernel.perf_event_mlock_kb"), "{text}");
    }

    #[test]
    fn list_has_one_cause_for_each_attempt() {
        let failed = failed(None, |_| Errno::EMFILE);
        let mut out = Vec::new();
        list(&mut out, failed.iter(), &System::at("/nonexistent")).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!((text.matches("  failed ").count(), text.matches("  cause ").count()), (2, 2), "{text}");
    }

    #[test]
    fn unreadable_level_is_printed_as_such() {
        assert!(kernel_scope(&System::at("/nonexistent")).contains("(now unreadable)"));
    }
}
