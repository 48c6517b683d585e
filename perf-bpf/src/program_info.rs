use std::os::fd::AsFd;
use std::time::Duration;

use perf_sys::abi::bpf::{BPF_TAG_SIZE, BpfCmd, BpfProgInfo, BpfProgType};

use crate::syscall::prog_info;
use crate::{Error, ObjectName, ProgramFd};

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
