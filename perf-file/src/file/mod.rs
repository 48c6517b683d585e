//! A file in memory: mapped, or read as a whole.

mod attrs;
mod features;
mod frames;

pub use attrs::Attrs;
pub use features::FeatureSections;
pub use frames::RawFileRecords;

use crate::bytes::Bytes;
use crate::feature::FeatureSection;
use crate::format::{Feature, Section};
use crate::{ByteOrder, Error, FileHeader, Result};

/// A `perf.data` file in memory.
///
/// The bytes come from a mapped file, or from one that was read as a whole. Nothing is copied:
/// records, attrs and sections borrow the bytes.
///
/// ```
/// use perf_file::{RawFileRecord, PerfData};
///
/// # fn count(bytes: &[u8]) -> perf_file::Result<()> {
/// let file = PerfData::new(bytes)?;
/// for attr in file.attrs() {
///     println!("{:?}", attr?.attr());
/// }
/// for frame in file.frames() {
///     let frame = frame?;
///     println!("{:#x}: {}", frame.offset, frame.kind());
/// }
/// # Ok(())
/// # }
/// # assert!(count(b"").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PerfData<'a> {
    bytes: &'a [u8],
    head: FileHeader,
}

impl<'a> PerfData<'a> {
    /// Parses the header of a file.
    ///
    /// # Errors
    ///
    /// An error of [`FileHeader::parse`]: the bytes are no `perf.data`, are truncated in the header, or the header
    /// contradicts itself.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        Ok(Self { bytes, head: FileHeader::parse(bytes)? })
    }

    /// Returns the header.
    pub const fn header(&self) -> &FileHeader {
        &self.head
    }

    /// Returns the byte order of the file.
    pub const fn order(&self) -> ByteOrder {
        self.head.order
    }

    /// Returns the whole file.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Iterates over the events of the file form. The pipe form has records
    /// [`UserRecord::HeaderAttr`](crate::UserRecord::HeaderAttr) instead, and no event here.
    pub fn attrs(&self) -> Attrs<'a> {
        Attrs::new(*self)
    }

    /// Iterates over the records, in the order of the file.
    pub fn frames(&self) -> RawFileRecords<'a> {
        let section = self.head.records(self.bytes.len() as u64);
        let from = usize::try_from(section.offset).ok().and_then(|offset| self.bytes.get(offset..));
        RawFileRecords::new(from.unwrap_or_default(), section, self.head.order)
    }

    /// Iterates over the feature sections of the file form, by number. The pipe form has records
    /// [`UserRecord::HeaderFeature`](crate::UserRecord::HeaderFeature) instead, and no section here. A file whose
    /// recording was interrupted has none either.
    pub fn features(&self) -> FeatureSections<'a> {
        FeatureSections::new(*self)
    }

    /// Returns the section of a feature; `None` if the file has none.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the table or the section is past the end of the file,
    /// [`Reason::Overlap`](crate::Reason::Overlap) if they overlap the header, the attrs or the records.
    pub fn feature(&self, feature: Feature) -> Result<Option<FeatureSection<'a>>> {
        let has = self.head.features().contains(feature);
        has.then(|| self.feature_of_table(feature)).transpose()
    }

    /// Returns the bytes of a section.
    fn section(&self, section: Section, what: &'static str) -> Result<Bytes<'a>> {
        let Section { offset, size } = section;
        if size == 0 {
            return Ok(Bytes::new(&[], self.head.order, offset));
        }
        match usize::try_from(offset).ok().and_then(|start| self.bytes.get(start..)) {
            Some(rest) => Bytes::new(rest, self.head.order, offset).part(size, what),
            None => Err(Error::truncated(offset, what, size, 0)),
        }
    }
}
