//! The starts of functions according to unwind information, for code without symbols.

use std::collections::HashMap;
use std::ops::Range;

use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EndianSlice, RunTimeEndian, UnwindSection,
};

use super::dwarf::endian_of;
use crate::caught::caught;
use crate::file::ObjectFile;

/// Maximum size in bytes of `.eh_frame`. Browsers have some 30 MB.
const MAX_FRAMES: u64 = 256 << 20;
/// Maximum number of common entries, which take more memory than their bytes. Linkers merge those
/// that are equal, so that some dozens are left.
const MAX_COMMON: usize = 1 << 16;

/// The ranges of code that an entry of `.eh_frame` describes. Compilers write an entry for each
/// function, and one more for its cold part.
pub(super) struct FunctionStarts {
    /// First address and exclusive end, sorted.
    ranges: Box<[(u64, u64)]>,
}

impl FunctionStarts {
    /// Reads the entries before the first damaged one; none if the file has no unwind information.
    pub(super) fn read(file: &ObjectFile) -> Self {
        let bytes = file.section_bytes(".eh_frame", MAX_FRAMES).unwrap_or_default();
        let address = |name| file.section_addresses(name).map_or(0, |addresses| addresses.start);
        let bases = BaseAddresses::default()
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut section = EhFrame::new(&bytes, endian_of(file));
        section.set_address_size(if file.is_64() { 8 } else { 4 });
        let mut ranges = caught(|| ranges(&section, &bases)).unwrap_or_default();
        ranges.sort_unstable();
        Self { ranges: ranges.into() }
    }

    /// Returns the first address of the function at an address.
    pub(super) fn find(&self, address: u64) -> Option<u64> {
        self.range(address).map(|range| range.start)
    }

    /// Returns the addresses of the function at an address.
    pub(super) fn range(&self, address: u64) -> Option<Range<u64>> {
        let index = self.ranges.partition_point(|(start, _)| *start <= address).checked_sub(1)?;
        self.ranges.get(index).filter(|(_, end)| address < *end).map(|(start, end)| *start..*end)
    }
}

fn ranges(section: &EhFrame<EndianSlice<'_, RunTimeEndian>>, bases: &BaseAddresses) -> Vec<(u64, u64)> {
    // Common entries by offset. Only those that the iteration met can be referred to: each is read
    // once, so that the cost is linear, also if entries overlap.
    let mut common = HashMap::<usize, CommonInformationEntry<_>>::new();
    let mut ranges = Vec::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        match entry {
            CieOrFde::Cie(_) if common.len() == MAX_COMMON => break,
            CieOrFde::Cie(entry) => {
                common.insert(entry.offset(), entry);
            }
            CieOrFde::Fde(partial) => {
                let find = |_: &_, _: &_, offset: gimli::EhFrameOffset| {
                    common.get(&offset.0).cloned().ok_or(gimli::Error::NotCiePointer(0))
                };
                let Ok(entry) = partial.parse(find) else { continue };
                let (start, end) = (entry.initial_address(), entry.end_address());
                if start < end {
                    ranges.push((start, end));
                }
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::made::with_bytes;

    /// Appends an entry with its length.
    fn add(section: &mut Vec<u8>, body: &[u8]) {
        let len = body.len().next_multiple_of(4);
        section.extend((len as u32).to_le_bytes());
        section.extend(body);
        section.resize(section.len() + len - body.len(), 0);
    }

    /// A common entry with absolute addresses: version 1, augmentation `zR`, `DW_EH_PE_udata8`.
    const COMMON: &[u8] = b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x04";

    fn entry(at: usize, start: u64, len: u64) -> Vec<u8> {
        let common = (at as u32 + 4).to_le_bytes();
        [&common[..], &start.to_le_bytes(), &len.to_le_bytes(), &[0]].concat()
    }

    #[test]
    fn start_is_found_in_the_entry_that_covers_an_address() {
        let mut section = Vec::new();
        add(&mut section, COMMON);
        // Not in the order of addresses.
        for (start, len) in [(0x3000, 0x10), (0x1000, 0x80), (0x1080, 0x40), (0x2000, 0), (0x5000, 0x10)] {
            let body = entry(section.len(), start, len);
            add(&mut section, &body);
        }
        let starts = FunctionStarts::read(&with_bytes(".eh_frame", &section));
        for (address, start) in [
            (0xfff, None),
            (0x1000, Some(0x1000)),
            (0x107f, Some(0x1000)),
            (0x1080, Some(0x1080)),
            (0x10c0, None),
            (0x2000, None),
            (0x300f, Some(0x3000)),
            (0x3010, None),
            (u64::MAX, None),
        ] {
            assert_eq!(starts.find(address), start, "{address:#x}");
        }
        // The entries before the damage count.
        section.truncate(section.len() - 4);
        let damaged = FunctionStarts::read(&with_bytes(".eh_frame", &section));
        assert_eq!([0x3000, 0x5000].map(|address| damaged.find(address)), [Some(0x3000), None]);
        assert_eq!(FunctionStarts::read(&with_bytes(".other", &section)).find(0x1000), None);
    }

    #[test]
    fn common_entry_that_is_no_entry_of_the_section_is_not_read() {
        // Its bytes are in another entry, where the pointer leads.
        let mut section = Vec::new();
        let inner = [&(COMMON.len().next_multiple_of(4) as u32).to_le_bytes(), COMMON].concat();
        add(&mut section, &[COMMON, &[0; 3], &inner].concat());
        let at = section.len();
        let body = entry(at - 20, 0x1000, 0x80);
        add(&mut section, &body);
        assert_eq!(FunctionStarts::read(&with_bytes(".eh_frame", &section)).find(0x1000), None);
    }
}
