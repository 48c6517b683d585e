//! Names of the arguments that concern memory.

use linux_raw_sys::general::*;

use super::{Names, names};

pub(super) static PROTECTION: Names = Names {
    choice: 0,
    choices: names![PROT_NONE],
    flags: names![PROT_READ, PROT_WRITE, PROT_EXEC, PROT_SEM, PROT_GROWSDOWN, PROT_GROWSUP],
};

pub(super) static MAP: Names = Names::both(
    MAP_TYPE as u64,
    names![MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE],
    &[
        ("MAP_FIXED", MAP_FIXED as u64),
        ("MAP_ANONYMOUS", MAP_ANONYMOUS as u64),
        // Of x86 alone, where no other flag has this bit.
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        ("MAP_32BIT", MAP_32BIT as u64),
        ("MAP_GROWSDOWN", MAP_GROWSDOWN as u64),
        ("MAP_DENYWRITE", MAP_DENYWRITE as u64),
        ("MAP_EXECUTABLE", MAP_EXECUTABLE as u64),
        ("MAP_LOCKED", MAP_LOCKED as u64),
        ("MAP_NORESERVE", MAP_NORESERVE as u64),
        ("MAP_POPULATE", MAP_POPULATE as u64),
        ("MAP_NONBLOCK", MAP_NONBLOCK as u64),
        ("MAP_STACK", MAP_STACK as u64),
        ("MAP_HUGETLB", MAP_HUGETLB as u64),
        ("MAP_SYNC", MAP_SYNC as u64),
        ("MAP_FIXED_NOREPLACE", MAP_FIXED_NOREPLACE as u64),
    ],
);
pub(super) static REMAP: Names = Names::flags(names![MREMAP_MAYMOVE, MREMAP_FIXED, MREMAP_DONTUNMAP]);
/// Returns whether `mremap` uses its fifth argument.
pub(super) const fn remaps_to(flags: u64) -> bool {
    flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) as u64 != 0
}
pub(super) static ADVICE: Names = Names::choice(names![
    MADV_NORMAL,
    MADV_RANDOM,
    MADV_SEQUENTIAL,
    MADV_WILLNEED,
    MADV_DONTNEED,
    MADV_FREE,
    MADV_REMOVE,
    MADV_DONTFORK,
    MADV_DOFORK,
    MADV_MERGEABLE,
    MADV_UNMERGEABLE,
    MADV_HUGEPAGE,
    MADV_NOHUGEPAGE,
    MADV_DONTDUMP,
    MADV_DODUMP,
    MADV_WIPEONFORK,
    MADV_KEEPONFORK,
    MADV_COLD,
    MADV_PAGEOUT,
    MADV_POPULATE_READ,
    MADV_POPULATE_WRITE,
    MADV_DONTNEED_LOCKED,
    MADV_COLLAPSE,
    MADV_GUARD_INSTALL,
]);
pub(super) static SYNC: Names = Names::flags(names![MS_ASYNC, MS_INVALIDATE, MS_SYNC]);
pub(super) static LOCK_ALL: Names = Names::flags(names![MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT]);
pub(super) static LOCK: Names = Names::flags(names![MLOCK_ONFAULT]);
pub(super) static MEMFD: Names =
    Names::flags(names![MFD_CLOEXEC, MFD_ALLOW_SEALING, MFD_HUGETLB, MFD_NOEXEC_SEAL, MFD_EXEC]);
