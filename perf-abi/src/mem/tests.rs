use super::*;
use std::{format, string::ToString, vec::Vec};

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

#[test]
fn every_level_number_distance_and_region_has_a_word() {
    let printed = |bits: u64| DataSource(2 | bits).to_string();
    let levels = MemLevelNumber::ALL.iter().map(|level| printed(u64::from(level.0) << 33));
    let words: Vec<_> = levels.map(|text| text.replace("LOAD|LCK no|AT ", "")).collect();
    let expected = "L1,L2,L3,L4,L2 miss buffer,memory-side cache,L0,uncached,CXL,I/O,any cache,line fill buffer,\
        RAM,persistent memory,N/A";
    assert_eq!(words.join(","), expected);

    let hops = MemHops::ALL.iter().map(|hops| printed(u64::from(hops.0) << 43));
    let words: Vec<_> = hops.map(|text| text.replace("LOAD|LCK no|HOPS ", "")).collect();
    assert_eq!(words.join(","), "same node,same socket,same board,other board");

    let regions = MemRegion::ALL.iter().map(|region| printed(u64::from(region.0) << 46));
    let words: Vec<_> = regions.map(|text| text.replace("LOAD|LCK no|REGION ", "")).collect();
    let expected = "LOAD|LCK no,reserved,local shared,local non-shared,other I/O,other shared,other non-shared,\
        MMIO,MEM0,MEM1,MEM2,MEM3,MEM4,MEM5,MEM6,MEM7";
    assert_eq!(words.join(","), expected);
}

/// The words in `display` repeat the bits; each must belong to the flag with the same meaning.
#[test]
fn every_bit_prints_the_word_of_its_flag() {
    let printed = |bits: u64| DataSource(bits).to_string();
    let op = |op: MemOp| printed(op.bits().into());
    assert_eq!(op(MemOp::KNOWN), "N/A LOAD STORE PREFETCH EXEC|LCK no");
    assert_eq!(op(MemOp::NA), "N/A|LCK no");
    assert_eq!(op(MemOp::PREFETCH), "PREFETCH|LCK no");
    assert_eq!(op(MemOp::EXEC), "EXEC|LCK no");

    let levels = (0..14).map(|bit| printed(1 << (5 + bit)).replace("|LVL ", "").replace("|LCK no", ""));
    let expected = "N/A,hit,miss,L1,line fill buffer,L2,L3,local RAM,remote RAM 1 hop,remote RAM 2 hops,\
        remote cache 1 hop,remote cache 2 hops,I/O,uncached";
    assert_eq!(levels.collect::<Vec<_>>().join(","), expected);

    let snoops = [19, 20, 21, 22, 23, 38, 39].map(|bit| printed(1 << bit).replace("|SNOOP ", ""));
    let expected =
        "N/A|LCK no,none|LCK no,hit|LCK no,miss|LCK no,hit modified|LCK no,forward|LCK no,peer|LCK no";
    assert_eq!(snoops.join(","), expected);

    let tlbs = (26..33).map(|bit| printed(1 << bit).replace("|LCK no|TLB ", ""));
    assert_eq!(tlbs.collect::<Vec<_>>().join(","), "N/A,hit,miss,L1,L2,walker,OS fault");

    let blocked = (40..43).map(|bit| printed(1 << bit).replace("|LCK no|BLK ", ""));
    assert_eq!(blocked.collect::<Vec<_>>().join(","), "N/A,data,address");

    assert_eq!(printed(u64::from(MemLock::NA.bits()) << 24), "|LCK N/A");
    assert_eq!(printed(u64::from(MemLock::LOCKED.bits()) << 24), "|LCK yes");
}
