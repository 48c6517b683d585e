//! The data source of sampled memory accesses.

mod access;
mod display;
mod place;

pub use access::{MemBlocked, MemLock, MemOp, MemTlb};
pub use place::{MemHops, MemLevel, MemLevelNumber, MemRegion, MemSnoop, MemSnoopExt};

use crate::bits::BitField;
#[cfg(feature = "zerocopy")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `union perf_mem_data_src`—the data source of a sampled memory access. Since Linux 3.10.
///
/// Its fields have the same bits in both byte orders. `Display` prints every field in words.
///
/// # References
///  - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), `PERF_SAMPLE_DATA_SRC`
#[doc(alias = "perf_mem_data_src")]
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct DataSource(pub u64);

const OP: BitField = BitField::fixed(0, 5);
const LEVEL: BitField = BitField::fixed(5, 14);
const SNOOP: BitField = BitField::fixed(19, 5);
const LOCK: BitField = BitField::fixed(24, 2);
const TLB: BitField = BitField::fixed(26, 7);
const LEVEL_NUMBER: BitField = BitField::fixed(33, 4);
const REMOTE: BitField = BitField::fixed(37, 1);
const SNOOP_EXT: BitField = BitField::fixed(38, 2);
const BLOCKED: BitField = BitField::fixed(40, 3);
const HOPS: BitField = BitField::fixed(43, 3);
const REGION: BitField = BitField::fixed(46, 5);
const RESERVED: BitField = BitField::fixed(51, 13);

impl DataSource {
    /// The value that the kernel writes if the source is unknown. Since Linux 4.14.
    #[doc(alias = "PERF_MEM_NA")]
    pub const NOT_AVAILABLE: Self = Self(0x1e_0508_0021);
    /// The value that Linux before 4.14 writes if the source is unknown. Since Linux 3.10.
    pub const NOT_AVAILABLE_OLD: Self = Self(0x0508_0021);

    /// Returns the operation. Since Linux 3.10.
    #[doc(alias = "mem_op")]
    pub const fn op(self) -> MemOp {
        MemOp::from_bits_retain(OP.get(self.0) as u8)
    }

    /// Returns the level of the memory hierarchy as bits; see [`level_number`](Self::level_number).
    /// Since Linux 3.10.
    #[doc(alias = "mem_lvl")]
    pub const fn level(self) -> MemLevel {
        MemLevel::from_bits_retain(LEVEL.get(self.0) as u16)
    }

    /// Returns the snoop result. Since Linux 3.10.
    #[doc(alias = "mem_snoop")]
    pub const fn snoop(self) -> MemSnoop {
        MemSnoop::from_bits_retain(SNOOP.get(self.0) as u8)
    }

    /// Returns the lock state. Since Linux 3.10.
    #[doc(alias = "mem_lock")]
    pub const fn lock(self) -> MemLock {
        MemLock::from_bits_retain(LOCK.get(self.0) as u8)
    }

    /// Returns the TLB access. Since Linux 3.10.
    #[doc(alias = "mem_dtlb")]
    pub const fn tlb(self) -> MemTlb {
        MemTlb::from_bits_retain(TLB.get(self.0) as u8)
    }

    /// Returns the level of the memory hierarchy as a number, which has more values than the bits.
    /// Since Linux 4.14.
    #[doc(alias = "mem_lvl_num")]
    pub const fn level_number(self) -> MemLevelNumber {
        MemLevelNumber(LEVEL_NUMBER.get(self.0) as u8)
    }

    /// Returns whether the level belongs to another NUMA node. Since Linux 4.14.
    #[doc(alias = "mem_remote")]
    pub const fn is_remote(self) -> bool {
        REMOTE.get(self.0) != 0
    }

    /// Returns the extension of the snoop result. Since Linux 4.14.
    #[doc(alias = "mem_snoopx")]
    pub const fn snoop_ext(self) -> MemSnoopExt {
        MemSnoopExt::from_bits_retain(SNOOP_EXT.get(self.0) as u8)
    }

    /// Returns the reason why the access was blocked. Since Linux 5.12.
    #[doc(alias = "mem_blk")]
    pub const fn blocked(self) -> MemBlocked {
        MemBlocked::from_bits_retain(BLOCKED.get(self.0) as u8)
    }

    /// Returns the distance of a remote level. Since Linux 5.16.
    #[doc(alias = "mem_hops")]
    pub const fn hops(self) -> MemHops {
        MemHops(HOPS.get(self.0) as u8)
    }

    /// Returns the region of memory or of a shared cache. Since Linux 7.0.
    #[doc(alias = "mem_region")]
    pub const fn region(self) -> MemRegion {
        MemRegion(REGION.get(self.0) as u8)
    }

    /// Returns the bits without a field, shifted to bit 0.
    #[doc(alias = "mem_rsvd")]
    pub const fn reserved(self) -> u16 {
        RESERVED.get(self.0) as u16
    }
}

#[cfg(test)]
mod tests;
