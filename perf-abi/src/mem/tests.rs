use super::*;
use std::{format, string::ToString};

#[test]
fn a_hit_in_the_first_level_prints_its_fields() {
    let source = DataSource(0x2 | (0x2 | 0x8) << 5 | 0x2 << 19 | (0x2 | 0x8) << 26 | 1 << 33);
    assert_eq!(source.to_string(), "LOAD|LVL L1 hit|SNOOP none|LCK no|TLB L1 hit|AT L1");
}

#[test]
fn newer_fields_print() {
    let source = DataSource(4 | 2 << 24 | 13 << 33 | 1 << 37 | 2 << 38 | 6 << 40 | 3 << 43 | 9 << 46);
    assert_eq!(
        source.to_string(),
        "STORE|SNOOP peer|LCK yes|AT RAM|REMOTE|BLK data address|HOPS same board|REGION MEM1"
    );
}

#[test]
fn an_unknown_source_prints_as_not_available() {
    assert_eq!(format!("{:>5}", DataSource::NOT_AVAILABLE), "  N/A");
    assert_eq!(DataSource::NOT_AVAILABLE_OLD.to_string(), "N/A");
    assert_eq!(DataSource::NOT_AVAILABLE.op(), MemOp::NA);
    assert_eq!(DataSource::NOT_AVAILABLE.level_number(), MemLevelNumber::NA);
}

#[test]
fn unknown_numbers_and_bits_are_kept_and_print() {
    let source = DataSource(2 | 7 << 43 | 20 << 46 | 1 << 60);
    assert_eq!(source.to_string(), "LOAD|LCK no|HOPS 7|REGION 20|0x1000000000000000");
    assert_eq!(source.region(), MemRegion(20));
}

#[test]
fn the_fields_fill_the_word_without_overlap() {
    let fields =
        [OP, LEVEL, SNOOP, LOCK, TLB, LEVEL_NUMBER, REMOTE, SNOOP_EXT, BLOCKED, HOPS, REGION, RESERVED];
    let total =
        fields.iter().fold(0_u64, |sum, field| sum.checked_add(field.mask()).expect("fields overlap"));
    assert_eq!(total, u64::MAX);
}
