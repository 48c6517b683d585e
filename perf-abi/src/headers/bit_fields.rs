//! Bit fields of structs against the newest uapi header.

use super::constants::Constant;
use super::published::Bindings;
use crate::bits::BitField;
use crate::branch::BranchInfo;
use crate::mem::DataSource;
use crate::{AttrFlags, AuxAction, MmapCapabilities};
use std::{collections::BTreeSet, vec::Vec};

const ATTR: &str = "perf_event_attr";
const BRANCH: &str = "perf_branch_entry";
const DATA_SOURCE: &str = "perf_mem_data_src";
const PAGE: &str = "perf_event_mmap_page";

/// Asserts that each flag is the C bit field of its name.
fn compare(flags: &[Constant], c_struct: &str) {
    let newest = Bindings::newest();
    for &(name, bit) in flags {
        let (first, width) = newest.field(c_struct, name);
        assert_eq!(i128::from(BitField::declared(first, width).mask()), bit, "{name}");
    }
}

#[test]
fn flags_are_the_bit_fields_of_their_names() {
    compare(AttrFlags::C_NAMES, ATTR);
    compare(BranchInfo::C_NAMES, BRANCH);
    compare(MmapCapabilities::C_NAMES, PAGE);
    // The bit fields of a u32: on big-endian machines the upper half of a u64 has them.
    let upper = if cfg!(target_endian = "little") { 0 } else { 32 };
    let actions: Vec<_> = AuxAction::C_NAMES.iter().map(|&(name, bit)| (name, bit << upper)).collect();
    compare(&actions, ATTR);
}

#[test]
fn every_bit_field_of_the_attr_is_declared() {
    let newest = Bindings::newest();
    let theirs: BTreeSet<_> = newest.fields_of(ATTR).collect();
    let flags = AttrFlags::C_NAMES.iter().chain(AuxAction::C_NAMES).map(|(name, _)| *name);
    let others = ["precise_ip", "__reserved_1", "__reserved_3"];
    assert_eq!(flags.chain(others).collect::<BTreeSet<_>>(), theirs);
    let (first, width) = newest.field(ATTR, "__reserved_1");
    assert_eq!(AttrFlags::KNOWN.bits(), !BitField::declared(first, width).mask());
    let (first, width) = newest.field(ATTR, "precise_ip");
    assert_eq!(AttrFlags::PRECISE_IP_MASK, BitField::declared(first, width).mask());
}

#[test]
fn numbers_of_a_branch_are_the_bit_fields_of_their_names() {
    let newest = Bindings::newest();
    let field = |name| {
        let (first, width) = newest.field(BRANCH, name);
        BranchInfo::from_bits_retain(BitField::declared(first, width).mask())
    };
    let extended = field("type");
    assert_eq!(field("cycles").cycles(), u16::MAX);
    assert_eq!(extended.kind().0, 15);
    assert_eq!(field("spec").speculation().0, 3);
    assert_eq!((field("new_type") | extended).new_type().map(|kind| kind.0), Some(15));
    assert_eq!(field("priv").privilege().0, 7);
    assert_eq!(!BranchInfo::KNOWN, field("reserved"));
}

#[test]
fn fields_of_a_data_source_are_the_bit_fields_of_their_names() {
    type Getter = fn(DataSource) -> u64;
    let fields: [(&str, Getter); 12] = [
        ("mem_op", |source| source.op().bits().into()),
        ("mem_lvl", |source| source.level().bits().into()),
        ("mem_snoop", |source| source.snoop().bits().into()),
        ("mem_lock", |source| source.lock().bits().into()),
        ("mem_dtlb", |source| source.tlb().bits().into()),
        ("mem_lvl_num", |source| source.level_number().0.into()),
        ("mem_remote", |source| source.is_remote().into()),
        ("mem_snoopx", |source| source.snoop_ext().bits().into()),
        ("mem_blk", |source| source.blocked().bits().into()),
        ("mem_hops", |source| source.hops().0.into()),
        ("mem_region", |source| source.region().0.into()),
        ("mem_rsvd", |source| source.reserved().into()),
    ];
    let newest = Bindings::newest();
    let declared: BTreeSet<_> = fields.iter().map(|(name, _)| *name).collect();
    let theirs: BTreeSet<_> = newest.fields_of(DATA_SOURCE).collect();
    assert_eq!(declared, theirs);
    for (name, getter) in fields {
        let (first, width) = newest.field(DATA_SOURCE, name);
        let mask = BitField::fixed(first, width).mask();
        assert_eq!(getter(DataSource(mask)), mask >> first, "{name}");
        assert_eq!(getter(DataSource(!mask)), 0, "{name}");
    }
}
