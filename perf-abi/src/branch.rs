//! The entries of a branch stack.

use crate::bits::{BitField, flag64};
#[cfg(feature = "zerocopy-08")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `struct perf_branch_entry`—one entry of a branch stack. Since Linux 3.4.
#[doc(alias = "perf_branch_entry")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "zerocopy-08", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
    /// Its flags and numbers.
    pub info: BranchInfo,
}

layout!(BranchEntry, 24 { from: 0, to: 8, info: 16 });

impl From<[u64; 3]> for BranchEntry {
    /// Returns the entry of these words, in the order of memory.
    #[inline]
    fn from([from, to, info]: [u64; 3]) -> Self {
        Self { from, to, info: BranchInfo::from_bits_retain(info) }
    }
}

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

open_enum! {
    /// `PERF_BR_*`—the type of a branch. Since Linux 4.14.
    #[doc(alias = "PERF_BR")]
    pub struct BranchType(u8) {
        /// Unknown, or not recorded. Since Linux 4.14.
        "PERF_BR_UNKNOWN" UNKNOWN = 0;
        /// Conditional. Since Linux 4.14.
        "PERF_BR_COND" CONDITIONAL = 1;
        /// Unconditional. Since Linux 4.14.
        "PERF_BR_UNCOND" UNCONDITIONAL = 2;
        /// Indirect. Since Linux 4.14.
        "PERF_BR_IND" INDIRECT = 3;
        /// Call. Since Linux 4.14.
        "PERF_BR_CALL" CALL = 4;
        /// Indirect call. Since Linux 4.14.
        "PERF_BR_IND_CALL" INDIRECT_CALL = 5;
        /// Return. Since Linux 4.14.
        "PERF_BR_RET" RETURN = 6;
        /// System call. Since Linux 4.14.
        "PERF_BR_SYSCALL" SYSCALL = 7;
        /// Return from a system call. Since Linux 4.14.
        "PERF_BR_SYSRET" SYSCALL_RETURN = 8;
        /// Conditional call. Since Linux 4.14.
        "PERF_BR_COND_CALL" CONDITIONAL_CALL = 9;
        /// Conditional return. Since Linux 4.14.
        "PERF_BR_COND_RET" CONDITIONAL_RETURN = 10;
        /// Return from an exception. Since Linux 5.18.
        "PERF_BR_ERET" EXCEPTION_RETURN = 11;
        /// Interrupt. Since Linux 5.18.
        "PERF_BR_IRQ" INTERRUPT = 12;
        /// System error. Since Linux 6.1.
        "PERF_BR_SERROR" SYSTEM_ERROR = 13;
        /// Not in a transaction. Since Linux 6.1.
        "PERF_BR_NO_TX" NO_TRANSACTION = 14;
        /// See [`BranchInfo::new_type`](BranchInfo::new_type). Since Linux 6.1.
        "PERF_BR_EXTEND_ABI" EXTENDED = 15;
    }
}

open_enum! {
    /// `PERF_BR_NEW_*`—the type of a branch whose [`BranchType`] is `EXTENDED`. Since Linux 6.1.
    #[doc(alias = "PERF_BR_NEW")]
    pub struct BranchNewType(u8) {
        /// Alignment fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_ALGN" ALIGNMENT_FAULT = 0;
        /// Data fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_DATA" DATA_FAULT = 1;
        /// Instruction fault. Since Linux 6.1.
        "PERF_BR_NEW_FAULT_INST" INSTRUCTION_FAULT = 2;
        /// Specific to the architecture; on arm64 FIQ. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_1" ARCH_1 = 3;
        /// Specific to the architecture; on arm64 debug halt. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_2" ARCH_2 = 4;
        /// Specific to the architecture; on arm64 debug exit. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_3" ARCH_3 = 5;
        /// Specific to the architecture; on arm64 debug instruction. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_4" ARCH_4 = 6;
        /// Specific to the architecture; on arm64 debug data. Since Linux 6.1.
        "PERF_BR_NEW_ARCH_5" ARCH_5 = 7;
    }
}

open_enum! {
    /// `PERF_BR_SPEC_*`—the outcome of speculation of a branch. Since Linux 6.1.
    #[doc(alias = "PERF_BR_SPEC")]
    pub struct BranchSpeculation(u8) {
        /// Not available. Since Linux 6.1.
        "PERF_BR_SPEC_NA" NOT_AVAILABLE = 0;
        /// Speculative, on the wrong path. Since Linux 6.1.
        "PERF_BR_SPEC_WRONG_PATH" WRONG_PATH = 1;
        /// Not speculative, on the right path. Since Linux 6.1.
        "PERF_BR_NON_SPEC_CORRECT_PATH" NOT_SPECULATIVE = 2;
        /// Speculative, on the right path. Since Linux 6.1.
        "PERF_BR_SPEC_CORRECT_PATH" CORRECT_PATH = 3;
    }
}

open_enum! {
    /// `PERF_BR_PRIV_*`—the privilege level of a branch's target. Since Linux 6.1.
    #[doc(alias = "PERF_BR_PRIV")]
    pub struct BranchPrivilege(u8) {
        /// Unknown. Since Linux 6.1.
        "PERF_BR_PRIV_UNKNOWN" UNKNOWN = 0;
        /// User space. Since Linux 6.1.
        "PERF_BR_PRIV_USER" USER = 1;
        /// Kernel. Since Linux 6.1.
        "PERF_BR_PRIV_KERNEL" KERNEL = 2;
        /// Hypervisor. Since Linux 6.1.
        "PERF_BR_PRIV_HV" HYPERVISOR = 3;
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;

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
