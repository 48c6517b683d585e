//! Why the kernel refused to sample, and what to do about it.

use std::io::{self, Write};

use perf_sys::{Call, Errno, Error};

use super::live::{Refusal, reasons};

/// What this system says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// `/proc/sys/kernel/perf_event_paranoid`; `None` if it cannot be read.
    paranoid: Option<i32>,
    /// Whether a seccomp filter watches this process.
    filtered: bool,
}

/// The cause of a refusal, and the ways out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Explanation {
    cause: String,
    remedies: Vec<&'static str>,
}

impl Evidence {
    /// Reads what this system says.
    pub(crate) fn gather() -> Self {
        let read = |path| std::fs::read_to_string(path).ok();
        Self {
            paranoid: read("/proc/sys/kernel/perf_event_paranoid").and_then(|text| text.trim().parse().ok()),
            filtered: read("/proc/self/status").is_some_and(|status| has_filter(&status)),
        }
    }

    fn paranoid(self) -> String {
        self.paranoid.map_or("unreadable".to_owned(), |level| level.to_string())
    }
}

/// Whether `/proc/PID/status` tells of seccomp mode 2.
fn has_filter(status: &str) -> bool {
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

/// Says what was tried, why it failed and what to do.
pub(crate) fn explain(out: &mut dyn Write, refusal: &Refusal, evidence: Evidence) -> io::Result<()> {
    writeln!(out, "Live sampling was refused.")?;
    let plans = match refusal {
        Refusal::Cpus(errno) => return writeln!(out, "  sched_getaffinity: {errno}: the CPUs are unknown"),
        Refusal::Plans(plans) => plans,
    };
    list(out, &reasons(plans.iter()), evidence)?;
    // The last plan asks for the least, so what stopped it is what stops everything.
    let remedies = plans.last().map(|(_, error)| explanation(*error, evidence).remedies);
    for remedy in remedies.unwrap_or_default() {
        writeln!(out, "  try      {remedy}")?;
    }
    Ok(())
}

/// Says of each plan why it failed, in our words and in the kernel's.
pub(crate) fn list(out: &mut dyn Write, refused: &[(String, Error)], evidence: Evidence) -> io::Result<()> {
    for (tried, error) in refused {
        let cause = explanation(*error, evidence).cause;
        match (error.call(), error.errno()) {
            (Some(call), Some(errno)) => writeln!(out, "  refused  {tried}: {cause} [{call}: {errno}]")?,
            _ => writeln!(out, "  refused  {tried}: {error}")?,
        }
    }
    Ok(())
}

/// What to do for samples of the kernel, where only those were refused.
pub(crate) fn kernel_scope(evidence: Evidence) -> String {
    let paranoid = evidence.paranoid();
    format!("for the kernel too: sysctl kernel.perf_event_paranoid=1 (it is {paranoid}), or CAP_PERFMON")
}

fn explanation(error: Error, evidence: Evidence) -> Explanation {
    match error.errno() {
        Some(Errno::EPERM) if error.call() == Some(Call::Mmap) => because(
            "the rings need more locked memory than this user may have",
            &["raise kernel.perf_event_mlock_kb or ulimit -l", "grant CAP_IPC_LOCK"],
        ),
        Some(Errno::ENOSYS) if evidence.paranoid.is_none() => {
            because("this kernel was built without perf events", &["use a kernel with CONFIG_PERF_EVENTS=y"])
        }
        // EACCES is the kernel's own word; filters are written to answer with one of these two.
        Some(Errno::EPERM | Errno::ENOSYS) if evidence.filtered => because(
            "a seccomp filter watches this process, as in most containers, and refuses perf_event_open",
            &[
                "start the container with a profile that allows perf_event_open, and with CAP_PERFMON",
                "for a trial: docker run --security-opt seccomp=unconfined --cap-add PERFMON",
            ],
        ),
        Some(Errno::EPERM | Errno::EACCES) => because(
            &format!("this user has no permission: kernel.perf_event_paranoid is {}", evidence.paranoid()),
            &[
                "sysctl kernel.perf_event_paranoid=2 (user space) or 1 (with the kernel)",
                "grant CAP_PERFMON, or run as root",
            ],
        ),
        Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV | Errno::ENXIO) => because(
            "there is no PMU for this event, as in most virtual machines",
            &["perfkit demo --event cpu-clock", "give the virtual machine a PMU"],
        ),
        Some(Errno::EMFILE | Errno::ENFILE) => {
            because("too many open files: every CPU takes one", &["raise the limit with ulimit -n"])
        }
        _ => because("the kernel's answer is not a usual one", &["look for perf messages in dmesg"]),
    }
}

fn because(cause: &str, remedies: &[&'static str]) -> Explanation {
    Explanation { cause: cause.to_owned(), remedies: remedies.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::plan::Plan;

    fn explained(call: Call, errno: Errno, evidence: Evidence) -> Explanation {
        explanation(Error::System { call, errno }, evidence)
    }

    #[test]
    fn a_paranoid_level_is_named_with_its_sysctl() {
        let evidence = Evidence { paranoid: Some(3), filtered: false };
        let Explanation { cause, remedies } = explained(Call::PerfEventOpen, Errno::EACCES, evidence);
        assert!(cause.ends_with("perf_event_paranoid is 3"), "{cause}");
        assert!(remedies[0].starts_with("sysctl kernel.perf_event_paranoid="));
    }

    #[test]
    fn a_filter_is_blamed_for_its_own_answers_only() {
        let evidence = Evidence { paranoid: Some(2), filtered: true };
        assert!(explained(Call::PerfEventOpen, Errno::EPERM, evidence).cause.contains("seccomp"));
        assert!(explained(Call::PerfEventOpen, Errno::ENOSYS, evidence).cause.contains("seccomp"));
        assert!(explained(Call::PerfEventOpen, Errno::EACCES, evidence).cause.contains("paranoid is 2"));
    }

    #[test]
    fn a_kernel_without_perf_is_not_a_matter_of_permission() {
        let cause = explained(Call::PerfEventOpen, Errno::ENOSYS, Evidence::default()).cause;
        assert!(cause.contains("without perf"), "{cause}");
    }

    #[test]
    fn a_missing_pmu_leads_to_the_clock() {
        let remedies = explained(Call::PerfEventOpen, Errno::ENOENT, Evidence::default()).remedies;
        assert_eq!(remedies[0], "perfkit demo --event cpu-clock");
    }

    #[test]
    fn a_refused_mapping_is_about_locked_memory() {
        let evidence = Evidence { paranoid: Some(2), filtered: true };
        assert!(explained(Call::Mmap, Errno::EPERM, evidence).cause.contains("locked memory"));
    }

    #[test]
    fn only_mode_2_of_seccomp_is_a_filter() {
        assert!(has_filter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
        assert!(!has_filter("Seccomp:\t0\nSeccomp_filters:\t2\n"));
        assert!(!has_filter(""));
    }

    #[test]
    fn every_event_is_listed_once_with_the_kernels_answer() {
        let error = Error::System { call: Call::PerfEventOpen, errno: Errno::EACCES };
        let refusal = Refusal::Plans(Plan::ladder(None).into_iter().map(|plan| (plan, error)).collect());
        let mut out = Vec::new();
        explain(&mut out, &refusal, Evidence::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches("  refused  ").count(), 2, "{text}");
        assert!(text.contains("refused  cpu-clock: this user has no permission"), "{text}");
        assert!(text.contains("[perf_event_open: Permission denied") && text.contains("  try  "), "{text}");
    }
}
