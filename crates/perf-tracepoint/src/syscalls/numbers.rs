//! Names and numbers of system calls and errnos, from the crate `syscalls` on the architectures
//! where it builds.

pub(super) use architecture::{EXECVE, EXECVEAT, HAS_NAMES, NEW_TASK, RT_SIGRETURN, errno, name};

// Keep the list equal to the list in `Cargo.toml`.
#[cfg(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "x86",
    target_arch = "x86_64"
))]
mod architecture {
    use syscalls::{Errno, Sysno};

    pub(in crate::syscalls) const HAS_NAMES: bool = true;
    pub(in crate::syscalls) const EXECVE: i64 = Sysno::execve as i64;
    pub(in crate::syscalls) const EXECVEAT: i64 = Sysno::execveat as i64;
    pub(in crate::syscalls) const RT_SIGRETURN: i64 = Sysno::rt_sigreturn as i64;
    /// The calls that create a task. Newer architectures have neither `fork` nor `vfork`.
    #[cfg(any(target_arch = "arm", target_arch = "x86", target_arch = "x86_64"))]
    pub(in crate::syscalls) const NEW_TASK: &[i64] =
        &[Sysno::clone as i64, Sysno::clone3 as i64, Sysno::fork as i64, Sysno::vfork as i64];
    #[cfg(not(any(target_arch = "arm", target_arch = "x86", target_arch = "x86_64")))]
    pub(in crate::syscalls) const NEW_TASK: &[i64] = &[Sysno::clone as i64, Sysno::clone3 as i64];

    /// Returns the name of a call.
    pub(in crate::syscalls) fn name(number: i64) -> Option<&'static str> {
        usize::try_from(number).ok().and_then(Sysno::new).map(|call| call.name())
    }

    /// Returns the name and the description of an errno.
    pub(in crate::syscalls) fn errno(number: i32) -> Option<(&'static str, &'static str)> {
        Errno::new(number).name_and_description()
    }
}

/// An architecture without names. The numbers of s390x are used. Where they are wrong, a thread
/// that replaces its program has a call that was not seen to return, and a new task has a return
/// without a start.
#[cfg(not(any(
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv32",
    target_arch = "riscv64",
    target_arch = "x86",
    target_arch = "x86_64"
)))]
mod architecture {
    pub(in crate::syscalls) const HAS_NAMES: bool = false;
    pub(in crate::syscalls) const EXECVE: i64 = 11;
    pub(in crate::syscalls) const EXECVEAT: i64 = 354;
    pub(in crate::syscalls) const RT_SIGRETURN: i64 = 173;
    pub(in crate::syscalls) const NEW_TASK: &[i64] = &[2, 120, 190, 435];

    pub(in crate::syscalls) const fn name(_: i64) -> Option<&'static str> {
        None
    }

    pub(in crate::syscalls) const fn errno(_: i32) -> Option<(&'static str, &'static str)> {
        None
    }
}
