use std::fmt;

/// The kind of cause of a failed open or mapping, for programs that act on it. The text for people is in
/// the [`Explanation`](crate::Explanation).
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
