//! Causes with their evidence and remedy.

use std::fmt;

use perf_ring::{Attr, Errno};

use super::Field;
use crate::system::FileError;

/// The kind of cause, for programs that act on it. The text for people is in the [`Diagnosis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// `kernel.perf_event_paranoid` and the thread's capabilities do not permit the event.
    Paranoid,
    /// The event needs a capability, whatever the paranoid level is.
    Capability,
    /// The task belongs to another user.
    OtherUser,
    /// A security module, such as `SELinux`, or the kernel's policy forbids perf events.
    SecurityModule,
    /// A seccomp filter forbids the system call.
    Seccomp,
    /// The kernel is locked down.
    Lockdown,
    /// The kernel has no perf events.
    NoPerf,
    /// The architecture or kernel lacks what the attr requests.
    NotImplemented,
    /// The limit of locked memory.
    MemlockLimit,
    /// The limit of descriptors of the process.
    ProcessFiles,
    /// The limit of open files of the system.
    SystemFiles,
    /// The kernel has no memory, or the cgroup's limit is reached.
    Memory,
    /// This machine has no hardware PMU.
    NoHardwarePmu,
    /// No PMU has this type.
    NoSuchPmu,
    /// The PMU does not have this event.
    NoSuchEvent,
    /// The PMU counts on CPUs, not for tasks.
    PmuNeedsCpu,
    /// The PMU lacks a feature that the attr requests.
    PmuFeature,
    /// The CPU does not exist.
    NoSuchCpu,
    /// The CPU is offline.
    CpuOffline,
    /// The PMU is not on this CPU.
    PmuNotOnCpu,
    /// No thread has this id.
    NoSuchThread,
    /// The frequency is above `kernel.perf_event_max_sample_rate`.
    SampleRate,
    /// The depth of callchains is above `kernel.perf_event_max_stack`.
    MaxStack,
    /// The attr breaks a rule of every kernel.
    Rule,
    /// The kernel or PMU does not accept a part of the attr.
    AttrField,
    /// The attr is longer than the kernel's and its end is not 0.
    AttrSize,
    /// tracefs is not mounted or not readable.
    Tracefs,
    /// No tracepoint has this id.
    NoSuchTracepoint,
    /// The function tracepoint has rules that no other has.
    FunctionTracepoint,
    /// The file or function of a probe.
    Probe,
    /// No breakpoint register is free.
    BreakpointSlots,
    /// The group is larger than the counters or than a read.
    GroupSize,
    /// The group leader does not accept this sibling.
    Leader,
    /// Another event has the PMU for itself.
    Busy,
    /// The descriptor is not the directory of a cgroup.
    Cgroup,
    /// A file of the system could not be read, so its rule was not checked before the open.
    Unchecked,
    /// The argument is refused before a system call.
    Argument,
    /// The event is not in a state for the operation, such as a ring that exists.
    State,
    /// The cause is unknown: the text has the usual causes of the errno.
    Unknown,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A value that was read from the system, and its file or other source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// The path of the file, or the name of the attempt.
    pub source: String,
    /// The value that was found.
    pub value: String,
}

impl Evidence {
    pub(crate) fn new(source: impl Into<String>, value: impl fmt::Display) -> Self {
        Self { source: source.into(), value: value.to_string() }
    }

    /// Returns the value of a file, or its error.
    pub(crate) fn of_file<T: fmt::Display>(path: &str, value: Result<T, &FileError>) -> Self {
        match value {
            Ok(value) => Self::new(path, value),
            Err(error) => {
                let found = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                Self::new(path, format_args!("not readable ({found})"))
            }
        }
    }

    /// Returns a file that could not be read, or had other contents than expected.
    pub(crate) fn of_error(error: &FileError) -> Self {
        Self::of_file::<&str>(&error.path().display().to_string(), Err(error))
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.value)
    }
}

/// The reason why an event does not open or a ring is not mapped, the values that show it, and the
/// remedy.
///
/// `Display` prints three lines: `cause`, `evidence`, `remedy`. `{:#}` prints one, for a log: the
/// cause, a semicolon and the remedy.
///
/// The texts are for the users of a program. They name event modifiers such as `:u`, sysctls and
/// capabilities, and rarely the flags of an attr; for these see the [`Cause`] and the [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The kind of the cause.
    pub cause: Cause,
    /// The field that breaks a rule, if the cause is a rule about one field.
    pub field: Option<Field>,
    /// The errno with which the kernel refuses the event; `None` without a system call, or
    /// if a rule was not checked.
    pub errno: Option<Errno>,
    /// The cause as text.
    pub text: String,
    /// The values that show the cause.
    pub evidence: Vec<Evidence>,
    /// The change that opens the event or maps the ring, for the user.
    pub remedy: String,
}

impl Diagnosis {
    pub(super) fn new(cause: Cause, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (text, remedy) = (text.into(), remedy.into());
        Self { cause, field: None, errno: None, text, evidence: Vec::new(), remedy }
    }

    #[must_use]
    pub(super) fn with(mut self, evidence: Evidence) -> Self {
        self.evidence.push(evidence);
        self
    }

    /// Adds the field that breaks a rule, with the value that was found.
    #[must_use]
    pub(super) fn on(mut self, field: Field, found: impl fmt::Display) -> Self {
        self.field = Some(field);
        self.with(Evidence::new(format!("attr.{field}"), found))
    }

    /// Adds the field that breaks a rule, with its value in the attr.
    #[must_use]
    pub(super) fn on_attr(self, field: Field, attr: &Attr) -> Self {
        self.on(field, field.value(attr))
    }

    #[must_use]
    pub(super) fn with_errno(self, errno: Option<Errno>) -> Self {
        Self { errno, ..self }
    }

    /// Returns `true` unless the cause is unknown.
    pub fn is_known(&self) -> bool {
        self.cause != Cause::Unknown
    }

    /// Returns the cause and the remedy in one line, as `{:#}` prints it.
    pub fn line(&self) -> String {
        format!("{self:#}")
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write!(f, "{}; {}", self.text, self.remedy);
        }
        write!(f, "cause     {}\nevidence  ", self.text)?;
        let mut separator = "";
        for evidence in &self.evidence {
            write!(f, "{separator}{evidence}")?;
            separator = "; ";
        }
        if self.evidence.is_empty() {
            f.write_str("no value")?;
        }
        write!(f, "\nremedy    {}", self.remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnosis_prints_three_lines_or_one() {
        let diagnosis = Diagnosis::new(Cause::Paranoid, "the level", "lower it")
            .with(Evidence::new("/proc/a", 2))
            .with(Evidence::new("/proc/b", "x"));
        let expected = "cause     the level\nevidence  /proc/a: 2; /proc/b: x\nremedy    lower it";
        assert_eq!(diagnosis.to_string(), expected);
        assert_eq!(diagnosis.line(), "the level; lower it");
        let unknown = Diagnosis::new(Cause::Unknown, "unknown", "none").to_string();
        assert_eq!(unknown.lines().nth(1), Some("evidence  no value"));
    }
}
