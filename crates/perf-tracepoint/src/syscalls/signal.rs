//! Names of signals, and of their causes.

use std::fmt;

use super::values;

/// A signal by its number: printed as `SIGCHLD`, `SIGRTMIN` for the first and `SIGRT_1` for the
/// second of the kernel's real-time signals, or as a number.
///
/// ```
/// use perf_tracepoint::Signal;
///
/// assert_eq!(Signal(9).to_string(), "SIGKILL");
/// assert_eq!(Signal(9).cause(0), Some("SI_USER"));
/// assert_eq!(Signal(0).to_string(), "0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(pub u32);

impl Signal {
    /// Returns the name of a value of `si_code` of this signal, such as `CLD_EXITED`; `None` if it
    /// has none here.
    pub fn cause(self, code: i32) -> Option<&'static str> {
        let name = match code {
            0 => "SI_USER",
            0x80 => "SI_KERNEL",
            -1 => "SI_QUEUE",
            -2 => "SI_TIMER",
            -3 => "SI_MESGQ",
            -4 => "SI_ASYNCIO",
            -6 => "SI_TKILL",
            1..=6 if values::is_child(self.0) => {
                let index = usize::try_from(code).ok()?.checked_sub(1)?;
                return CHILD.get(index).copied();
            }
            1 if values::is_fault(self.0) => "SEGV_MAPERR",
            2 if values::is_fault(self.0) => "SEGV_ACCERR",
            _ => return None,
        };
        Some(name)
    }
}

/// Causes of `SIGCHLD`, from 1 on.
const CHILD: [&str; 6] =
    ["CLD_EXITED", "CLD_KILLED", "CLD_DUMPED", "CLD_TRAPPED", "CLD_STOPPED", "CLD_CONTINUED"];

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        values::write_signal(self.0.into(), f)
    }
}
