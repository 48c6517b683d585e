//! The part of `bpf(2)` that concerns perf events, with the feature `bpf`.
//!
//! It is half of this crate's build time, and only programs that load BPF need it.
//!
//! The kernel's `union bpf_attr` is a struct for each command here, without unused bytes at its
//! end. Pass `size_of` of the struct as the size. All pointers are `u64`, in 32-bit programs too.

mod attr_map;
mod attr_object;
mod attr_prog;
mod cmd;
mod flags;
mod info;
mod link_info;
mod perf;
mod types;

pub use attr_map::{BpfMapBatch, BpfMapCreate, BpfMapElem, BpfMapNextKey};
pub use attr_object::{
    BpfEnableStats, BpfFdById, BpfLinkCreate, BpfLinkUpdate, BpfNextId, BpfObj, BpfObjInfo,
    BpfRawTracepointOpen, BpfTaskFdQuery,
};
pub use attr_prog::{BpfInsn, BpfProgLoad, BpfProgRun};
pub use cmd::BpfCmd;
pub use flags::{BPF_F_CURRENT_CPU, BpfElemFlags, BpfMapFlags};
pub use info::{BpfMapInfo, BpfProgInfo};
pub use link_info::{
    BpfEventLinkInfo, BpfKprobeLinkInfo, BpfLinkInfo, BpfPerfLinkKind, BpfTracepointLinkInfo,
    BpfUprobeLinkInfo,
};
pub use perf::BpfPerfEventValue;
#[cfg(target_arch = "x86_64")]
pub use perf::{BpfPerfEventData, PtRegs};
pub use types::{BpfAttachType, BpfHelper, BpfLinkType, BpfMapType, BpfProgType, BpfTaskFdType};

/// Length of the tag of a BPF program, a hash of its code, in bytes. Since Linux 4.10.
pub const BPF_TAG_SIZE: usize = 8;

#[cfg(test)]
mod tests;
