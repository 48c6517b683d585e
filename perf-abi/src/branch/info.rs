//! The third word of a branch entry.

use crate::bits::{BitField, flag64};
use crate::{BranchNewType, BranchPrivilege, BranchSpeculation, BranchType};

bit_set! {
    /// The bit fields of `struct perf_branch_entry`: what is known about one branch.
    ///
    /// As for [`AttrFlags`](crate::AttrFlags), the bits are those of a C compiler for this target.
    pub struct BranchInfo(u64) {
        /// The prediction was wrong. Neither this nor `PREDICTED`: not known. Since Linux 3.4.
        "mispred" MISPREDICTED = flag64(0);
        /// The prediction was right. Since Linux 3.4.
        "predicted" PREDICTED = flag64(1);
        /// Inside a transaction. Since Linux 3.11.
        "in_tx" IN_TX = flag64(2);
        /// A transaction was aborted. Since Linux 3.11.
        "abort" ABORT = flag64(3);
    }
    numbers {
        "cycles": CYCLES.mask(),
        "type": TYPE.mask(),
        "spec": SPEC.mask(),
        "new_type": NEW_TYPE.mask(),
        "priv": PRIV.mask(),
    }
}

const CYCLES: BitField = BitField::declared(4, 16);
const TYPE: BitField = BitField::declared(20, 4);
const SPEC: BitField = BitField::declared(24, 2);
const NEW_TYPE: BitField = BitField::declared(26, 4);
const PRIV: BitField = BitField::declared(30, 3);

impl BranchInfo {
    /// CPU cycles since the branch before; 0 if not known. Since Linux 4.3.
    pub const fn cycles(self) -> u16 {
        CYCLES.get(self.0) as u16
    }

    /// Kind of the branch, if [`TYPE_SAVE`](crate::BranchSampleType::TYPE_SAVE) asked for it. Since Linux
    /// 4.14.
    #[doc(alias = "type")]
    pub const fn kind(self) -> BranchType {
        BranchType(TYPE.get(self.0) as u8)
    }

    /// Whether it was taken speculatively. Since Linux 6.1.
    #[doc(alias = "spec")]
    pub const fn speculation(self) -> BranchSpeculation {
        BranchSpeculation(SPEC.get(self.0) as u8)
    }

    /// Kind of the branch beyond the first fifteen; `None` unless [`kind`](Self::kind) is
    /// [`EXTENDED`](BranchType::EXTENDED). Since Linux 6.1.
    pub const fn new_type(self) -> Option<BranchNewType> {
        match self.kind() {
            BranchType::EXTENDED => Some(BranchNewType(NEW_TYPE.get(self.0) as u8)),
            _ => None,
        }
    }

    /// Privilege level, if [`PRIV_SAVE`](crate::BranchSampleType::PRIV_SAVE) asked for it. Since Linux 6.1.
    #[doc(alias = "priv")]
    pub const fn privilege(self) -> BranchPrivilege {
        BranchPrivilege(PRIV.get(self.0) as u8)
    }
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;
    extern crate std;
    use std::format;

    #[test]
    fn every_field_is_taken_from_its_place() {
        let info = BranchInfo::from_bits_retain(1 | 1000 << 4 | 15 << 20 | 2 << 24 | 6 << 26 | 1 << 30);
        assert!(info.contains(BranchInfo::MISPREDICTED));
        assert_eq!(info.cycles(), 1000);
        assert_eq!(info.kind(), BranchType::EXTENDED);
        assert_eq!(info.speculation(), BranchSpeculation::NOT_SPECULATIVE);
        assert_eq!(info.new_type(), Some(BranchNewType::ARCH_4));
        assert_eq!(info.privilege(), BranchPrivilege::USER);
    }

    #[test]
    fn reserved_bits_survive_and_print() {
        let info = BranchInfo::from_bits_retain(1 << 40 | 7 << 4 | 2);
        assert_eq!(format!("{info}"), "PREDICTED|cycles=7|0x10000000000");
        assert_eq!(info.new_type(), None);
    }
}
