//! The third word of a branch entry.

use super::{BranchNewType, BranchPrivilege, BranchSpeculation, BranchType};
use crate::bits::{BitField, flag64};

bit_set! {
    /// The bit fields of `struct perf_branch_entry`: flags and numbers of one branch.
    ///
    /// The bits are those that a C compiler for this target uses, see
    /// [`AttrFlags`](crate::AttrFlags).
    pub struct BranchInfo(u64) {
        /// The target was mispredicted; unknown if `PREDICTED` is clear too.
        "mispred" MISPREDICTED = flag64(0), since (3, 4);
        /// The target was predicted.
        "predicted" PREDICTED = flag64(1), since (3, 4);
        /// In a transaction.
        "in_tx" IN_TX = flag64(2), since (3, 11);
        /// Transaction abort.
        "abort" ABORT = flag64(3), since (3, 11);
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
    /// Returns the CPU cycles since the preceding branch; 0 if unknown. Since Linux 4.3.
    pub const fn cycles(self) -> u16 {
        CYCLES.get(self.0) as u16
    }

    /// Returns the type of the branch, recorded with
    /// [`TYPE_SAVE`](crate::BranchSampleType::TYPE_SAVE). Since Linux 4.14.
    #[doc(alias = "type")]
    pub const fn kind(self) -> BranchType {
        BranchType(TYPE.get(self.0) as u8)
    }

    /// Returns the outcome of speculation. Since Linux 6.1.
    #[doc(alias = "spec")]
    pub const fn speculation(self) -> BranchSpeculation {
        BranchSpeculation(SPEC.get(self.0) as u8)
    }

    /// Returns the extended type of the branch; `None` unless [`kind`](Self::kind) is
    /// [`EXTENDED`](BranchType::EXTENDED). Since Linux 6.1.
    pub const fn new_type(self) -> Option<BranchNewType> {
        match self.kind() {
            BranchType::EXTENDED => Some(BranchNewType(NEW_TYPE.get(self.0) as u8)),
            _ => None,
        }
    }

    /// Returns the privilege level, recorded with
    /// [`PRIV_SAVE`](crate::BranchSampleType::PRIV_SAVE). Since Linux 6.1.
    #[doc(alias = "priv")]
    pub const fn privilege(self) -> BranchPrivilege {
        BranchPrivilege(PRIV.get(self.0) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// Sets the bit field that starts `first` bits after the start of the word.
    fn field(first: u32, width: u32, value: u64) -> u64 {
        BitField::declared(first, width).set(0, value)
    }

    #[test]
    fn every_field_is_read_from_its_bits() {
        let numbers =
            [field(4, 16, 1000), field(20, 4, 15), field(24, 2, 2), field(26, 4, 6), field(30, 3, 1)];
        let info =
            BranchInfo::from_bits_retain(numbers.iter().fold(field(0, 1, 1), |word, bits| word | bits));
        assert!(info.contains(BranchInfo::MISPREDICTED));
        assert_eq!(info.cycles(), 1000);
        assert_eq!(info.kind(), BranchType::EXTENDED);
        assert_eq!(info.speculation(), BranchSpeculation::NOT_SPECULATIVE);
        assert_eq!(info.new_type(), Some(BranchNewType::ARCH_4));
        assert_eq!(info.privilege(), BranchPrivilege::USER);
    }

    #[test]
    fn reserved_bits_are_kept_and_print() {
        let reserved = field(40, 1, 1);
        let info = BranchInfo::from_bits_retain(reserved | field(4, 16, 7) | field(1, 1, 1));
        assert_eq!(format!("{info}"), format!("PREDICTED|cycles=7|{reserved:#x}"));
        assert_eq!(info.difference(BranchInfo::KNOWN).bits(), reserved);
        assert_eq!(info.new_type(), None);
    }
}
