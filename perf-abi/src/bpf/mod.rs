//! The part of `bpf(2)` that concerns perf events, with the feature `bpf`.
//!
//! It is half of this crate's build time, and only programs that load BPF need it.
//!
//! The kernel's `union bpf_attr` is a struct for each command here, without unused bytes at its
//! end. Pass `size_of` of the struct as the size. All pointers are `u64`, in 32-bit programs too.

mod attr;
mod cmd;
mod info;
mod types;

pub use attr::{
    BpfEnableStats, BpfFdById, BpfInsn, BpfLinkCreate, BpfLinkUpdate, BpfMapBatch, BpfMapCreate, BpfMapElem,
    BpfMapNextKey, BpfNextId, BpfObj, BpfObjInfo, BpfProgLoad, BpfProgRun, BpfRawTracepointOpen,
    BpfTaskFdQuery,
};
pub use cmd::{BPF_F_CURRENT_CPU, BpfCmd, BpfElemFlags, BpfMapFlags};
pub use info::{
    BpfEventLinkInfo, BpfKprobeLinkInfo, BpfLinkInfo, BpfMapInfo, BpfPerfEventValue, BpfPerfLinkKind,
    BpfProgInfo, BpfTracepointLinkInfo, BpfUprobeLinkInfo,
};
#[cfg(target_arch = "x86_64")]
pub use info::{BpfPerfEventData, PtRegs};
pub use types::{BpfAttachType, BpfHelper, BpfLinkType, BpfMapType, BpfProgType, BpfTaskFdType};

/// Length of the tag of a BPF program, a hash of its code, in bytes. Since Linux 4.10.
pub const BPF_TAG_SIZE: usize = 8;
