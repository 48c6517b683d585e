//! The limit of open descriptors.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit of open descriptors of this process (`RLIMIT_NOFILE`).
///
/// An event takes a descriptor for each CPU and each thread. The soft limit is 1024 on most systems, so 16 threads on 64 CPUs
/// reach it. Programs that open many events raise it at their start, as the perf tool does, and start other programs with
/// the limit from before: some use `select(2)`, or close all descriptors up to the limit.
///
/// ```
/// use perf_session::DescriptorLimit;
///
/// # fn main() -> std::io::Result<()> {
/// let before = DescriptorLimit::raise()?;
/// // Open events here.
/// let raised = DescriptorLimit::read();
/// before.set()?;
/// let child = std::process::Command::new("true").spawn();
/// raised.set()?;
/// # child?.wait()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "RLIMIT_NOFILE")]
pub struct DescriptorLimit {
    soft: Option<u64>,
    hard: Option<u64>,
}

impl DescriptorLimit {
    /// Returns the limit of this process.
    #[doc(alias = "getrlimit")]
    #[must_use]
    pub fn read() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        Self { soft: current, hard: maximum }
    }

    /// Raises the soft limit to the hard one, which needs no privilege. Returns the limit from before.
    ///
    /// # Errors
    ///
    /// The limit is left as it was: `EPERM` if `fs.nr_open` was lowered below the hard limit.
    #[doc(alias = "setrlimit")]
    pub fn raise() -> io::Result<Self> {
        let before = Self::read();
        if before.soft != before.hard {
            Self { soft: before.hard, ..before }.set()?;
        }
        Ok(before)
    }

    /// Sets the soft limit of this process. Open descriptors above it stay open.
    ///
    /// # Errors
    ///
    /// The limit is left as it was: `EINVAL` if it is above the hard limit, which another call has lowered, and `EPERM` as in
    /// [`raise`](Self::raise).
    #[doc(alias = "setrlimit")]
    pub fn set(self) -> io::Result<()> {
        // The hard limit cannot be raised again without privileges, so it is not touched.
        let limit = Rlimit { current: self.soft, ..getrlimit(Resource::Nofile) };
        Ok(setrlimit(Resource::Nofile, limit)?)
    }

    /// Returns the number of descriptors that may be open; `None` if it is unlimited.
    #[must_use]
    pub fn soft(self) -> Option<u64> {
        self.soft
    }

    /// Returns the number that the soft limit may be raised to; `None` if it is unlimited.
    #[must_use]
    pub fn hard(self) -> Option<u64> {
        self.hard
    }
}
