//! The start of a file: its form, its byte order and its sections.

use zerocopy::FromBytes;

use crate::attr::{check_attr_size, wrong_attr_size};
use crate::error::{Error, Reason, Result};
use crate::format::{
    Feature, FeatureSet, MAGIC, MAGIC_SWAPPED, MAGIC_VERSION_1, RawFileHeader, RawPipeHeader, Section,
};
use crate::order::ByteOrder;

/// The start of a file, checked and in the byte order of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileHeader {
    /// The byte order of the machine that recorded the file.
    pub order: ByteOrder,
    /// The file form with its header, or the pipe form.
    pub mode: FileMode,
}

/// The two forms of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileMode {
    /// The file form: sections at offsets. The header is in the byte order of this machine.
    File(RawFileHeader),
    /// The pipe form: records follow the header.
    Pipe,
}

impl FileHeader {
    /// Bytes of the longest header, which [`FileHeader::parse`] needs if the file is as long.
    pub const LEN: usize = size_of::<RawFileHeader>();

    /// Parses the first bytes of a file.
    ///
    /// # Errors
    ///
    /// [`Reason::Empty`], [`Reason::NotPerfData`], [`Reason::Size`] for an unknown header,
    /// [`Reason::Truncated`] if it is longer than `bytes`, [`Reason::Size`] and
    /// [`Reason::AttrsSize`] for attrs that are not complete entries, and [`Reason::Overlap`] if
    /// the attrs, the records and the header overlap.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.is_empty() {
            return Err(Error::of_file(Reason::Empty));
        }
        // A copy, because a file in memory can be unaligned, filled with zeros where a short header
        // ends.
        let whole = bytes;
        let mut bytes = [0; Self::LEN];
        for (to, from) in bytes.iter_mut().zip(whole) {
            *to = *from;
        }
        let (header, _) = RawFileHeader::read_from_prefix(&bytes).unwrap_or_default();
        let order = order(&header, whole.len())?;
        let header = if order.is_native() { header } else { swapped(header) };
        let (mode, len) = match header.size {
            RawPipeHeader::SIZE => (FileMode::Pipe, RawPipeHeader::SIZE),
            RawFileHeader::SIZE => (FileMode::File(header), RawFileHeader::SIZE),
            // Written by the first tools. Other data takes the place of the features.
            RawFileHeader::SIZE_WITHOUT_FEATURES => {
                let header = RawFileHeader { features: FeatureSet::default(), ..header };
                (FileMode::File(header), RawFileHeader::SIZE_WITHOUT_FEATURES)
            }
            found => {
                let reason = Reason::Size { what: "the header", expected: "104, 72 or 16", found };
                return Err(Error::new(8, reason));
            }
        };
        if (whole.len() as u64) < len {
            return Err(Error::truncated(0, "header", len, whole.len() as u64));
        }
        if let FileMode::File(header) = &mode {
            check_sections(header)?;
        }
        Ok(Self { order, mode })
    }

    /// Returns the header of the file form.
    pub const fn file_header(&self) -> Option<&RawFileHeader> {
        match &self.mode {
            FileMode::File(header) => Some(header),
            FileMode::Pipe => None,
        }
    }

    /// Returns whether the file has the pipe form.
    pub const fn is_pipe(&self) -> bool {
        matches!(self.mode, FileMode::Pipe)
    }

    /// Returns the section of the records, for a file of `len` bytes.
    ///
    /// The recording was interrupted if the size in the header is 0. The records then extend to the
    /// end of the file.
    pub fn records(&self, len: u64) -> Section {
        match self.mode {
            FileMode::Pipe => {
                Section { offset: RawPipeHeader::SIZE, size: len.saturating_sub(RawPipeHeader::SIZE) }
            }
            FileMode::File(RawFileHeader { data: Section { offset, size: 0 }, .. }) => {
                Section { offset, size: len.saturating_sub(offset) }
            }
            FileMode::File(header) => header.data,
        }
    }

    /// Returns whether the recording was interrupted before the header was completed.
    pub const fn is_interrupted(&self) -> bool {
        matches!(self.mode, FileMode::File(RawFileHeader { data: Section { size: 0, .. }, .. }))
    }

    /// Returns the features of the file form. They are empty after an interrupted recording.
    pub fn features(&self) -> FeatureSet {
        let header = self.file_header().filter(|_| !self.is_interrupted());
        header.map_or_else(FeatureSet::default, |header| header.features)
    }

    /// Returns the section with the table of the features: an offset and a size for each.
    pub fn feature_table(&self) -> Option<Section> {
        let size = self.features().iter().count() as u64 * size_of::<Section>() as u64;
        Some(Section { offset: self.file_header()?.data.end()?, size }).filter(|table| table.size > 0)
    }
}

/// Returns the byte order of a header in the order of the file.
fn order(header: &RawFileHeader, len: usize) -> Result<ByteOrder> {
    match header.magic {
        MAGIC => Ok(ByteOrder::NATIVE),
        MAGIC_SWAPPED => Ok(ByteOrder::NATIVE.other()),
        magic if magic.to_ne_bytes() == MAGIC_VERSION_1 => {
            // Version 1 has the same magic number in both orders; the attrs of its time are short.
            let is_attr = |size: u64| matches!(size, 80 | 88 | 96 | 112 | 120);
            if is_attr(header.attr_size) || header.size == RawPipeHeader::SIZE {
                Ok(ByteOrder::NATIVE)
            } else if is_attr(header.attr_size.swap_bytes())
                || header.size.swap_bytes() == RawPipeHeader::SIZE
            {
                Ok(ByteOrder::NATIVE.other())
            } else {
                Err(wrong_attr_size(header.attr_size, 16))
            }
        }
        magic => {
            let found = magic.to_ne_bytes();
            Err(Error::of_file(Reason::NotPerfData { found, len: len.min(found.len()) }))
        }
    }
}

/// Checks that the attrs are whole entries, and that neither they nor the records are in the header
/// or in each other. An empty section can have any offset.
fn check_sections(header: &RawFileHeader) -> Result<()> {
    let RawFileHeader { attrs, data, attr_size, .. } = *header;
    if attrs.size > 0 {
        check_attr_size(attr_size.saturating_sub(size_of::<Section>() as u64), 16)
            .map_err(|_| wrong_attr_size(attr_size, 16))?;
        if attrs.size % attr_size != 0 {
            return Err(Error::new(32, Reason::AttrsSize { found: attrs.size, entry: attr_size }));
        }
    }
    let start = Section { offset: 0, size: header.size };
    for (what, section, with, other) in [
        ("attrs", attrs, "header", start),
        ("records", data, "header", start),
        ("attrs", attrs, "records", data),
    ] {
        if section.overlaps(other) {
            return Err(Error::new(section.offset, Reason::Overlap { what, with }));
        }
    }
    // The records of an interrupted recording extend to the end of the file.
    if data.size == 0 && data.offset < header.size {
        return Err(Error::new(data.offset, Reason::Overlap { what: "records", with: "header" }));
    }
    Ok(())
}

/// Swaps a header, all of whose fields are 64-bit numbers.
fn swapped(header: RawFileHeader) -> RawFileHeader {
    let words: [u64; 13] = zerocopy::transmute!(header);
    let swapped: RawFileHeader = zerocopy::transmute!(words.map(u64::swap_bytes));
    RawFileHeader { features: host_features(swapped.features), ..swapped }
}

/// Returns the features of another machine, which its tool wrote as `unsigned long`: a 32-bit
/// big-endian tool has the halves of each word in the other order. Every perf tool writes the
/// host's name.
fn host_features(words: FeatureSet) -> FeatureSet {
    let halves = FeatureSet(words.0.map(|word| word.rotate_left(32)));
    let has_halves = !words.contains(Feature::HOSTNAME) && halves.contains(Feature::HOSTNAME);
    if has_halves { halves } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    use crate::encoder::{Encoder, ORDERS};

    /// Returns a header of the file form.
    fn file(order: ByteOrder, magic: &[u8], attr_size: u64, data_size: u64, features: [u64; 4]) -> Vec<u8> {
        let mut put = Encoder::new(order);
        // magic, size, attr_size; attrs, data, event types: offset and size
        put.bytes(magic).u64(104).u64(attr_size);
        put.u64(200).u64(attr_size).u64(400).u64(data_size).u64(0).u64(0);
        for word in features {
            put.u64(word);
        }
        put.bytes
    }

    fn magic(order: ByteOrder) -> &'static [u8; 8] {
        match order {
            ByteOrder::Little => b"PERFILE2",
            ByteOrder::Big => b"2ELIFREP",
        }
    }

    #[test]
    fn both_byte_orders_are_found_by_the_magic_number() {
        for order in ORDERS {
            let head =
                FileHeader::parse(&file(order, magic(order), 160, 80, [1 << 3 | 1 << 7, 0, 0, 1 << 63]))
                    .unwrap();
            assert_eq!(head.order, order);
            let header = head.file_header().unwrap();
            assert_eq!((header.attr_size, header.attrs), (160, Section { offset: 200, size: 160 }));
            assert!(head.features().iter().eq([Feature::HOSTNAME, Feature::NRCPUS, Feature(255)]));
            assert_eq!(head.feature_table(), Some(Section { offset: 480, size: 48 }));
            assert_eq!(head.records(1000), Section { offset: 400, size: 80 });
        }
    }

    #[test]
    fn version_1_is_of_the_order_in_which_an_attr_has_a_known_size() {
        for order in ORDERS {
            for size in [80, 88, 96, 112, 120] {
                let head = FileHeader::parse(&file(order, b"PERFFILE", size, 80, [0; 4])).unwrap();
                assert_eq!((head.order, head.file_header().unwrap().attr_size), (order, size));
            }
            let error = FileHeader::parse(&file(order, b"PERFFILE", 128, 80, [0; 4])).unwrap_err();
            assert!(matches!(error.reason, Reason::Size { what: "an attr", .. }), "{error}");
        }
    }

    #[test]
    fn header_of_72_bytes_has_no_features() {
        for order in ORDERS {
            let mut bytes = file(order, magic(order), 80, 80, [u64::MAX; 4]);
            let mut size = Encoder::new(order);
            size.u64(72);
            bytes[8..16].copy_from_slice(&size.bytes);
            // Bytes after the header do not belong to it.
            for bytes in [&bytes[..72], &bytes[..]] {
                let head = FileHeader::parse(bytes).unwrap();
                assert_eq!((head.features().iter().count(), head.feature_table()), (0, None));
            }
        }
    }

    #[test]
    fn features_of_a_32_bit_big_endian_tool_are_in_the_other_half() {
        if cfg!(target_endian = "big") {
            return;
        }
        // HOSTNAME and CLN_SIZE (34) as words of `unsigned long`: 32 bits each.
        let halves = [1 << 35 | 1 << 2, 0, 0, 0];
        let head = FileHeader::parse(&file(ByteOrder::Big, b"2ELIFREP", 80, 80, halves)).unwrap();
        assert!(head.features().iter().eq([Feature::HOSTNAME, Feature::CLN_SIZE]));
        // Without the host's name nothing says so.
        let head = FileHeader::parse(&file(ByteOrder::Big, b"2ELIFREP", 80, 80, [1 << 7, 0, 0, 0])).unwrap();
        assert!(head.features().iter().eq([Feature::NRCPUS]));
    }

    #[test]
    fn pipe_has_a_header_of_16_bytes() {
        for order in ORDERS {
            let mut put = Encoder::new(order);
            put.bytes(magic(order)).u64(16);
            let head = FileHeader::parse(&put.bytes).unwrap();
            assert!(head.is_pipe() && head.order == order && !head.is_interrupted());
            assert_eq!(head.records(100), Section { offset: 16, size: 84 });
            assert!(head.file_header().is_none() && head.feature_table().is_none());
        }
    }

    #[test]
    fn interrupted_recording_extends_to_the_end_of_the_file() {
        let order = ByteOrder::NATIVE;
        let head = FileHeader::parse(&file(order, magic(order), 160, 0, [u64::MAX; 4])).unwrap();
        assert!(head.is_interrupted());
        assert_eq!(head.records(1000), Section { offset: 400, size: 600 });
        assert_eq!(head.records(100), Section { offset: 400, size: 0 });
        assert_eq!(head.features().iter().count(), 0);
    }
}
