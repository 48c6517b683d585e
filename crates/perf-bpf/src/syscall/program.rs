//! Commands of `bpf(2)` that load and run programs.

use core::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use perf_ring::Errno;
use perf_ring::abi::bpf::{
    BpfAttachType, BpfCmd, BpfEnableStats, BpfInsn, BpfProgLoad, BpfProgRun, BpfProgType,
};
use zerocopy::IntoBytes;

use super::{address, address_mut, bpf, bpf_fd, number};

/// Attempts of a load that a signal interrupted: the verifier returns `EAGAIN` then.
const ATTEMPTS: u32 = 5;

/// Bytes of the verifier's log. A longer log is truncated at its end before Linux 6.4, at its start
/// since.
const LOG_SIZE: usize = 64 << 10;

/// A load that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadFailure {
    /// The errno of the load.
    pub(crate) errno: Errno,
    /// The verifier's log; empty if the kernel wrote none.
    pub(crate) log: String,
}

/// `bpf(BPF_PROG_LOAD)`—Loads a program. If the verifier refuses it, the load is repeated with a
/// log.
pub(crate) fn prog_load(
    prog_type: BpfProgType,
    code: &[BpfInsn],
    license: &CStr,
    prog_name: [u8; 16],
    expected_attach_type: BpfAttachType,
) -> Result<OwnedFd, LoadFailure> {
    let mut load = BpfProgLoad::new();
    load.prog_type = prog_type;
    load.expected_attach_type = expected_attach_type;
    load.insn_cnt = code.len() as u32;
    load.insns = address(code.as_bytes());
    load.license = address(license.to_bytes_with_nul());
    load.prog_name = prog_name;
    let loaded = retry(|| {
        // SAFETY: the kernel reads `insn_cnt` instructions and the license, a live C string, and
        // returns a descriptor.
        unsafe { bpf_fd(BpfCmd::PROG_LOAD, &mut load.clone()) }
    });
    let errno = match loaded {
        Ok(fd) => return Ok(fd),
        Err(errno) => errno,
    };
    if errno == Errno::EPERM {
        return Err(LoadFailure { errno, log: String::new() }); // no code was looked at
    }
    let mut log = vec![0; LOG_SIZE];
    load.log_level = 1;
    load.log_size = log.len() as u32;
    load.log_buf = address_mut(&mut log);
    // SAFETY: as above; the kernel also writes at most `log_size` bytes to `log`.
    unsafe { bpf_fd(BpfCmd::PROG_LOAD, &mut load) }.map_err(|_| {
        let text = log.split(|&byte| byte == 0).next().unwrap_or_default();
        LoadFailure { errno, log: String::from_utf8_lossy(text).trim_end().to_owned() }
    })
}

/// Repeats an attempt that signals interrupt, at most [`ATTEMPTS`] times.
fn retry<T>(mut attempt: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(Errno::EAGAIN) => {}
            done => return done,
        }
    }
    attempt()
}

/// `bpf(BPF_PROG_TEST_RUN)`—Runs the program once with this context, optionally on a given CPU
/// (since Linux 5.10), and returns its return value.
pub(crate) fn prog_test_run(program: BorrowedFd<'_>, context: &[u8], cpu: Option<u32>) -> Result<u32, Errno> {
    /// `BPF_F_TEST_RUN_ON_CPU`.
    const RUN_ON_CPU: u32 = 1;
    let mut attr = BpfProgRun::new();
    attr.prog_fd = number(program);
    attr.ctx_size_in = context.len() as u32;
    attr.ctx_in = address(context);
    attr.flags = cpu.map_or(0, |_| RUN_ON_CPU);
    attr.cpu = cpu.unwrap_or(0);
    // SAFETY: the kernel reads `ctx_size_in` bytes of the context and writes no buffers.
    unsafe { bpf(BpfCmd::PROG_TEST_RUN, &mut attr) }?;
    Ok(attr.retval)
}

/// `bpf(BPF_ENABLE_STATS)`—Enables statistics of run times until the descriptor is closed. Since
/// Linux 5.8.
pub(crate) fn enable_stats() -> Result<OwnedFd, Errno> {
    let mut attr = BpfEnableStats::new(); // 0 is the run time
    // SAFETY: the attr holds one number, and the command returns a descriptor.
    unsafe { bpf_fd(BpfCmd::ENABLE_STATS, &mut attr) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result of loads that have these results in turn, and how many were made.
    fn retried(results: &[Result<(), Errno>]) -> (Result<(), Errno>, usize) {
        let mut made = 0;
        let result = retry(|| {
            made += 1;
            results[made - 1]
        });
        (result, made)
    }

    #[test]
    fn load_that_a_signal_interrupts_is_repeated_five_times_at_most() {
        let again = Err(Errno::EAGAIN);
        assert_eq!(retried(&[Ok(())]), (Ok(()), 1));
        assert_eq!(retried(&[again, again, Ok(())]), (Ok(()), 3));
        assert_eq!(retried(&[again, Err(Errno::EINVAL)]), (Err(Errno::EINVAL), 2));
        assert_eq!(retried(&[again; 5]), (again, 5));
    }
}
