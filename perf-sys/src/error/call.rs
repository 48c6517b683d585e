//! The calls of this crate by name.

use core::fmt;

/// Defines [`Call`] with the manual's name for each variant.
macro_rules! calls {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A system call or ioctl request that this crate makes, or `perf-ring` to wait.
        ///
        /// ```
        /// use perf_sys::Call;
        ///
        /// assert_eq!(Call::PerfEventOpen.name(), "perf_event_open");
        /// assert_eq!(Call::IocSetOutput.to_string(), "PERF_EVENT_IOC_SET_OUTPUT");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Call {
            $($(#[$doc])* #[doc(alias = $name)] $variant,)*
        }

        impl Call {
            /// All calls, each once.
            #[doc(hidden)] // for the tests of perf-ring, which has a usual cause for each
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name that the manual pages use; for an ioctl or a prctl, the name of the
            /// request.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

calls! {
    /// `perf_event_open(2)`.
    PerfEventOpen = "perf_event_open",
    /// `mmap(2)` of a ring, a control page or an AUX area.
    Mmap = "mmap",
    /// `munmap(2)`.
    Munmap = "munmap",
    /// `read(2)` of counts, or of an eventfd.
    Read = "read",
    /// `write(2)` to an eventfd.
    Write = "write",
    /// `poll(2)`, made as `ppoll`.
    Poll = "poll",
    /// `epoll_create1(2)`.
    EpollCreate1 = "epoll_create1",
    /// `epoll_ctl(2)`.
    EpollCtl = "epoll_ctl",
    /// `epoll_wait(2)`.
    EpollWait = "epoll_wait",
    /// `eventfd(2)`.
    Eventfd = "eventfd",
    /// `pipe2(2)`, for an event in memory.
    Pipe = "pipe2",
    /// `membarrier(2)`.
    Membarrier = "membarrier",
    /// `prctl(2)` with `PR_TASK_PERF_EVENTS_ENABLE`.
    PrctlEnable = "PR_TASK_PERF_EVENTS_ENABLE",
    /// `prctl(2)` with `PR_TASK_PERF_EVENTS_DISABLE`.
    PrctlDisable = "PR_TASK_PERF_EVENTS_DISABLE",
    /// `ioctl(2)` with `PERF_EVENT_IOC_ENABLE`.
    IocEnable = "PERF_EVENT_IOC_ENABLE",
    /// `ioctl(2)` with `PERF_EVENT_IOC_DISABLE`.
    IocDisable = "PERF_EVENT_IOC_DISABLE",
    /// `ioctl(2)` with `PERF_EVENT_IOC_REFRESH`.
    IocRefresh = "PERF_EVENT_IOC_REFRESH",
    /// `ioctl(2)` with `PERF_EVENT_IOC_RESET`.
    IocReset = "PERF_EVENT_IOC_RESET",
    /// `ioctl(2)` with `PERF_EVENT_IOC_PERIOD`.
    IocPeriod = "PERF_EVENT_IOC_PERIOD",
    /// `ioctl(2)` with `PERF_EVENT_IOC_SET_OUTPUT`.
    IocSetOutput = "PERF_EVENT_IOC_SET_OUTPUT",
    /// `ioctl(2)` with `PERF_EVENT_IOC_SET_FILTER`.
    IocSetFilter = "PERF_EVENT_IOC_SET_FILTER",
    /// `ioctl(2)` with `PERF_EVENT_IOC_ID`.
    IocId = "PERF_EVENT_IOC_ID",
    /// `ioctl(2)` with `PERF_EVENT_IOC_SET_BPF`.
    IocSetBpf = "PERF_EVENT_IOC_SET_BPF",
    /// `ioctl(2)` with `PERF_EVENT_IOC_PAUSE_OUTPUT`.
    IocPauseOutput = "PERF_EVENT_IOC_PAUSE_OUTPUT",
    /// `ioctl(2)` with `PERF_EVENT_IOC_QUERY_BPF`.
    IocQueryBpf = "PERF_EVENT_IOC_QUERY_BPF",
    /// `ioctl(2)` with `PERF_EVENT_IOC_MODIFY_ATTRIBUTES`.
    IocModifyAttributes = "PERF_EVENT_IOC_MODIFY_ATTRIBUTES",
}

impl Call {
    /// Returns whether the call is an ioctl request on an event.
    pub fn is_ioctl(self) -> bool {
        self.name().starts_with("PERF_EVENT_IOC_")
    }
}

/// The name that the manual pages use.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_calls_are_distinct() {
        for (at, call) in Call::ALL.iter().enumerate() {
            assert!(Call::ALL[..at].iter().all(|other| other.name() != call.name()), "{call}");
        }
    }
}
