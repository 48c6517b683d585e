//! The starts of functions according to unwind information, for code without symbols.

use std::collections::HashMap;

use gimli::{
    BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EndianSlice, RunTimeEndian, UnwindSection,
};

use super::dwarf::endian_of;
use crate::file::ObjectFile;

/// Maximum size in bytes of `.eh_frame`. Browsers have some 30 MB.
const MAX_FRAMES: u64 = 512 << 20;

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
        let mut ranges = ranges(&section, &bases);
        ranges.sort_unstable();
        Self { ranges: ranges.into() }
    }

    /// Returns the first address of the function at an address.
    pub(super) fn find(&self, address: u64) -> Option<u64> {
        let index = self.ranges.partition_point(|(start, _)| *start <= address).checked_sub(1)?;
        self.ranges.get(index).filter(|(_, end)| address < *end).map(|(start, _)| *start)
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
