//! Loaded programs, and queries about them.

use core::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use perf_ring::Errno;
use perf_ring::abi::bpf::{
    BPF_TAG_SIZE, BpfAttachType, BpfCmd, BpfInsn, BpfProgInfo, BpfProgType, BpfTaskFdType,
};
use perf_ring::sys::BorrowedEvent;

use crate::error::{Error, Refused};
use crate::object::{ObjectKind, ObjectName};
use crate::privileges::BpfPrivileges;
use crate::syscall::{self, LoadFailure, enable_stats, prog_functions, prog_info, task_fd_query};

/// The descriptor of a loaded program.
///
/// Closing the last descriptor of a program that is neither pinned nor attached unloads it.
#[derive(Debug)]
pub struct ProgramFd(OwnedFd);

impl ProgramFd {
    /// `bpf(BPF_PROG_LOAD)`—Loads a program from its instructions. Since Linux 3.18.
    ///
    /// It is for programs of a few instructions. Others are compiled and loaded by a library, and
    /// [`from_fd`](Self::from_fd) takes their descriptors. Kprobe programs need Linux 5.0 here.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] with the verifier's log.
    #[doc(alias = "BPF_PROG_LOAD")]
    pub fn load(
        prog_type: BpfProgType,
        code: &[BpfInsn],
        license: &CStr,
        name: ObjectName,
    ) -> Result<Self, Error> {
        Self::load_for(prog_type, BpfAttachType::default(), code, license, name)
    }

    /// Loads like [`load`](Self::load), with the attachment that some program types require.
    pub(crate) fn load_for(
        prog_type: BpfProgType,
        attach_type: BpfAttachType,
        code: &[BpfInsn],
        license: &CStr,
        name: ObjectName,
    ) -> Result<Self, Error> {
        let loaded = syscall::prog_load(prog_type, code, license, name.to_raw(), attach_type);
        loaded.map(Self).map_err(|LoadFailure { errno, log }| Error::Load {
            program: name,
            errno,
            privilege: BpfPrivileges::of_errno(errno).filter(|_| log.is_empty()),
            log: log.into(),
        })
    }

    /// Takes the descriptor of a program of another library, after checking that it is a program.
    ///
    /// # Errors
    ///
    /// The descriptor, with [`Error::Kind`] if it is not a program.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Self, Refused<OwnedFd>> {
        let fd = fd.into();
        match ObjectKind::Program.check(&fd) {
            Ok(()) => Ok(Self(fd)),
            Err(error) => Err(Refused { error, value: fd }),
        }
    }

    /// Takes a descriptor that is known to be a program.
    pub(crate) fn from_owned(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// `bpf(BPF_PROG_TEST_RUN)`—Runs the program once with this context, and returns its return
    /// value. With a CPU, on that one (since Linux 5.10).
    ///
    /// Raw tracepoint programs can be run so since Linux 5.10; perf event, tracepoint and kprobe
    /// programs cannot (errno 524).
    #[doc(alias = "BPF_PROG_TEST_RUN")]
    pub fn test_run(&self, context: &[u8], cpu: Option<u32>) -> Result<u32, Error> {
        let run = syscall::prog_test_run(self.as_fd(), context, cpu);
        run.map_err(Error::of(BpfCmd::PROG_TEST_RUN, ObjectName::EMPTY))
    }

    /// Returns the descriptor.
    pub fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl AsFd for ProgramFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The properties of a loaded program, from [`ProgramFd::info`].
#[doc(alias = "bpf_prog_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramInfo {
    /// Id, unique among the programs of the system until it is unloaded.
    pub id: u32,
    /// Program type.
    pub prog_type: BpfProgType,
    /// Name. Since Linux 4.15.
    pub name: ObjectName,
    /// Hash of the code.
    pub tag: [u8; BPF_TAG_SIZE],
    /// Time of the load, since boot. Since Linux 4.15.
    pub load_time: Duration,
    /// User id of the process that loaded it. Since Linux 4.15.
    pub created_by_uid: u32,
    /// Ids of the maps that it uses. Since Linux 4.15.
    pub map_ids: Vec<u32>,
    /// Whether its license is compatible with the GPL. Since Linux 4.18.
    pub is_gpl_compatible: bool,
    /// Length of its code in bytes, after the verifier's changes; 0 without permission to see it.
    #[doc(alias = "xlated_prog_len")]
    pub translated_len: u32,
    /// Length of its machine code in bytes; 0 if it is interpreted.
    #[doc(alias = "jited_prog_len")]
    pub jited_len: u32,
    /// Id of the BTF that describes it; 0 without. Since Linux 5.0.
    pub btf_id: u32,
    /// Time in the program, while statistics are enabled ([`RunStats`](crate::RunStats)). Since
    /// Linux 5.1.
    pub run_time: Duration,
    /// Runs of the program, while statistics are enabled. Since Linux 5.1.
    #[doc(alias = "run_cnt")]
    pub runs: u64,
    /// Runs that were skipped because the program was already running on the CPU. Since Linux 5.12.
    pub recursion_misses: u64,
    /// Instructions that the verifier processed. Since Linux 5.16.
    #[doc(alias = "verified_insns")]
    pub verified_instructions: u32,
}

impl ProgramFd {
    /// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns the properties of the program. Since Linux 4.13.
    #[doc(alias = "BPF_OBJ_GET_INFO_BY_FD")]
    pub fn info(&self) -> Result<ProgramInfo, Error> {
        let fail = Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::EMPTY);
        let mut map_ids = Vec::new();
        // Another process may bind a further map between two calls (since Linux 5.10).
        let raw = loop {
            let raw = prog_info(self.as_fd(), &mut map_ids).map_err(&fail)?;
            let count = raw.nr_map_ids as usize;
            let is_complete = count <= map_ids.len();
            map_ids.resize(count, 0);
            if is_complete {
                break raw;
            }
        };
        Ok(ProgramInfo::new(&raw, map_ids))
    }
}

impl ProgramInfo {
    fn new(raw: &BpfProgInfo, map_ids: Vec<u32>) -> Self {
        // The first bit of a C bit field.
        let first = if cfg!(target_endian = "little") { 1 } else { 1 << 31 };
        Self {
            id: raw.id,
            prog_type: raw.kind,
            name: ObjectName::from_raw(raw.name),
            tag: raw.tag,
            load_time: Duration::from_nanos(raw.load_time),
            created_by_uid: raw.created_by_uid,
            map_ids,
            is_gpl_compatible: raw.gpl_compatible & first != 0,
            translated_len: raw.xlated_prog_len,
            jited_len: raw.jited_prog_len,
            btf_id: raw.btf_id,
            run_time: Duration::from_nanos(raw.run_time_ns),
            runs: raw.run_cnt,
            recursion_misses: raw.recursion_misses,
            verified_instructions: raw.verified_insns,
        }
    }
}

/// The machine code of a function of a program, from [`ProgramFd::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFunction {
    /// Address in the kernel.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
}

impl ProgramFd {
    /// `bpf(BPF_OBJ_GET_INFO_BY_FD)`—Returns where the machine code of the program is: of its main
    /// function, then of its other ones. Since Linux 4.18.
    ///
    /// The list is empty if the program is interpreted, or if this process must not see addresses
    /// of the kernel (`kernel.kptr_restrict`).
    #[doc(alias = "jited_ksyms")]
    #[doc(alias = "jited_func_lens")]
    pub fn functions(&self) -> Result<Vec<ProgramFunction>, Error> {
        let fail = Error::of(BpfCmd::OBJ_GET_INFO_BY_FD, ObjectName::EMPTY);
        // The first call returns the number, which does not change.
        let count = prog_functions(self.as_fd(), &mut [], &mut []).map_err(&fail)?.0 as usize;
        let (mut addresses, mut lengths) = (vec![0; count], vec![0; count]);
        prog_functions(self.as_fd(), &mut addresses, &mut lengths).map_err(&fail)?;
        let functions = addresses.into_iter().zip(lengths);
        let functions = functions.map(|(address, len)| ProgramFunction { address, len });
        Ok(functions.filter(|function| function.address != 0 && function.len != 0).collect())
    }
}

/// Statistics of the run time of all programs, enabled as long as this value lives.
///
/// [`ProgramInfo::run_time`](crate::ProgramInfo::run_time) and [`runs`](crate::ProgramInfo::runs)
/// grow while any process has enabled them. They cost each run two reads of the clock.
#[derive(Debug)]
pub struct RunStats(#[allow(dead_code)] OwnedFd); // closing it disables the statistics

impl RunStats {
    /// `bpf(BPF_ENABLE_STATS)`—Enables the statistics. Since Linux 5.8; needs `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_ENABLE_STATS")]
    pub fn enable() -> Result<Self, Error> {
        enable_stats().map(Self).map_err(Error::of(BpfCmd::ENABLE_STATS, ObjectName::EMPTY))
    }
}

/// A program that a task attached by a descriptor, and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskFd {
    /// Id of the program.
    pub program: u32,
    /// Kind of the attachment.
    pub kind: BpfTaskFdType,
    /// The tracepoint, the function of a kprobe or the file of a uprobe, without a NUL. Empty if a
    /// kprobe has an address.
    pub name: Vec<u8>,
    /// Offset of a probe in bytes from the function, or in the file.
    pub offset: u64,
    /// Address of a kprobe.
    pub address: u64,
}

impl TaskFd {
    /// `bpf(BPF_TASK_FD_QUERY)`—Returns the program that this process has attached by a descriptor
    /// of a perf event or raw tracepoint. Since Linux 4.18.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the event has no program, `EOPNOTSUPP` for events other than tracepoints and
    /// probes, `EPERM` without `CAP_SYS_ADMIN`.
    #[doc(alias = "BPF_TASK_FD_QUERY")]
    pub fn query<'fd>(fd: impl Into<BorrowedEvent<'fd>>) -> Result<Self, Error> {
        // Open descriptors are never negative.
        Self::query_task(std::process::id(), fd.into().as_raw_fd().unsigned_abs())
    }

    /// Queries like [`query`](Self::query), for descriptor number `fd` of the process `pid`.
    ///
    /// # Errors
    ///
    /// The errors of [`query`](Self::query), `ENOENT` if the process does not exist, and `EBADF`.
    pub fn query_task(pid: u32, fd: u32) -> Result<Self, Error> {
        let mut name = vec![0; 256];
        loop {
            match task_fd_query(pid, fd, &mut name) {
                Ok(found) => {
                    name.truncate(found.buf_len as usize);
                    return Ok(Self {
                        program: found.prog_id,
                        kind: found.fd_type,
                        name,
                        offset: found.probe_offset,
                        address: found.probe_addr,
                    });
                }
                // Longer than a path: PATH_MAX is 4096.
                Err(Errno::ENOSPC) if name.len() < 8192 => name.resize(8192, 0),
                Err(errno) => return Err(Error::bpf(BpfCmd::TASK_FD_QUERY, ObjectName::EMPTY, errno)),
            }
        }
    }
}
