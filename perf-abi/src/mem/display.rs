//! The `Display` of a data source.

use super::{DataSource, MemHops, MemLevelNumber, MemLock, MemRegion};
use core::fmt;

// Words for the bits of each field, in the order of printing: level before outcome.
const OP: &[(u64, &str)] = &[(1, "N/A"), (2, "LOAD"), (4, "STORE"), (8, "PREFETCH"), (0x10, "EXEC")];
const LEVEL: &[(u64, &str)] = &[
    (0x1, "N/A"),
    (0x8, "L1"),
    (0x10, "line fill buffer"),
    (0x20, "L2"),
    (0x40, "L3"),
    (0x80, "local RAM"),
    (0x100, "remote RAM 1 hop"),
    (0x200, "remote RAM 2 hops"),
    (0x400, "remote cache 1 hop"),
    (0x800, "remote cache 2 hops"),
    (0x1000, "I/O"),
    (0x2000, "uncached"),
    (0x2, "hit"),
    (0x4, "miss"),
];
const SNOOP: &[(u64, &str)] = &[
    (0x1, "N/A"),
    (0x2, "none"),
    (0x4, "hit"),
    (0x8, "miss"),
    (0x10, "hit modified"),
    // The extension prints as the next bits of the same field.
    (0x20, "forward"),
    (0x40, "peer"),
];
const TLB: &[(u64, &str)] =
    &[(1, "N/A"), (8, "L1"), (0x10, "L2"), (0x20, "walker"), (0x40, "OS fault"), (2, "hit"), (4, "miss")];
const BLOCKED: &[(u64, &str)] = &[(1, "N/A"), (2, "data"), (4, "address")];

/// Prints `label word word`, or nothing for an empty field.
fn words(f: &mut fmt::Formatter<'_>, label: &str, bits: u64, words: &[(u64, &str)]) -> fmt::Result {
    if bits == 0 {
        return Ok(());
    }
    f.write_str(label)?;
    let mut separator = "";
    let mut rest = bits;
    for &(bit, word) in words {
        if bits & bit != 0 {
            write!(f, "{separator}{word}")?;
            separator = " ";
            rest &= !bit;
        }
    }
    if rest == 0 { Ok(()) } else { write!(f, "{separator}{rest:#x}") }
}

const fn place(level: MemLevelNumber) -> Option<&'static str> {
    Some(match level {
        MemLevelNumber::L2_MISS_BUFFER => "L2 miss buffer",
        MemLevelNumber::MEMORY_SIDE_CACHE => "memory-side cache",
        MemLevelNumber::UNCACHED => "uncached",
        MemLevelNumber::IO => "I/O",
        MemLevelNumber::ANY_CACHE => "any cache",
        MemLevelNumber::LINE_FILL_BUFFER => "line fill buffer",
        MemLevelNumber::PERSISTENT => "persistent memory",
        MemLevelNumber::NA => "N/A",
        named => return named.name(),
    })
}

const fn distance(hops: MemHops) -> Option<&'static str> {
    Some(match hops {
        MemHops::SAME_NODE => "same node",
        MemHops::SAME_SOCKET => "same socket",
        MemHops::SAME_BOARD => "same board",
        MemHops::OTHER_BOARD => "other board",
        _ => return None,
    })
}

const fn area(region: MemRegion) -> Option<&'static str> {
    Some(match region {
        MemRegion::RESERVED => "reserved",
        MemRegion::LOCAL_SHARED => "local shared",
        MemRegion::LOCAL_NON_SHARED => "local non-shared",
        MemRegion::OTHER_IO => "other I/O",
        MemRegion::OTHER_SHARED => "other shared",
        MemRegion::OTHER_NON_SHARED => "other non-shared",
        named => return named.name(),
    })
}

/// Prints `label word`, the number if it has no word, or nothing for 0.
fn number(f: &mut fmt::Formatter<'_>, label: &str, value: u8, word: Option<&str>) -> fmt::Result {
    match (value, word) {
        (0, _) => Ok(()),
        (_, Some(word)) => write!(f, "{label}{word}"),
        (_, None) => write!(f, "{label}{value}"),
    }
}

impl fmt::Display for DataSource {
    /// Prints for example `LOAD|LVL L1 hit|SNOOP none|LCK no|TLB L1 hit|AT L1`; `N/A` if the source
    /// is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(*self, Self::NOT_AVAILABLE | Self::NOT_AVAILABLE_OLD) {
            return f.pad("N/A");
        }
        let snoop = u64::from(self.snoop().bits()) | u64::from(self.snoop_ext().bits()) << 5;
        words(f, "", u64::from(self.op().bits()), OP)?;
        words(f, "|LVL ", u64::from(self.level().bits()), LEVEL)?;
        words(f, "|SNOOP ", snoop, SNOOP)?;
        f.write_str(match self.lock() {
            lock if lock.contains(MemLock::LOCKED) => "|LCK yes",
            lock if lock.contains(MemLock::NA) => "|LCK N/A",
            _ => "|LCK no",
        })?;
        words(f, "|TLB ", u64::from(self.tlb().bits()), TLB)?;
        number(f, "|AT ", self.level_number().0, place(self.level_number()))?;
        f.write_str(if self.is_remote() { "|REMOTE" } else { "" })?;
        words(f, "|BLK ", u64::from(self.blocked().bits()), BLOCKED)?;
        number(f, "|HOPS ", self.hops().0, distance(self.hops()))?;
        number(f, "|REGION ", self.region().0, area(self.region()))?;
        if self.reserved() == 0 { Ok(()) } else { write!(f, "|{:#x}", self.0 & super::RESERVED.mask()) }
    }
}
