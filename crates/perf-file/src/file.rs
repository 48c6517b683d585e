//! A file in memory: mapped, or read as a whole.

use crate::attr::{FileAttr, read_entry};
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::feature::{FeatureSection, FeatureTable};
use crate::format::{Feature, Section};
use crate::frame::RawFileRecord;
use crate::header::FileHeader;
use crate::list::List;
use crate::order::ByteOrder;

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
///     println!("{:?}", attr?.attr);
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
    /// An error of [`FileHeader::parse`]: the bytes are not a `perf.data`, are truncated in the
    /// header, or the header contradicts itself.
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

    /// Iterates over the events of the file form. A damaged entry ends the iteration with an error.
    /// The pipe form has records [`UserRecord::HeaderAttr`](crate::UserRecord::HeaderAttr) instead,
    /// and no event here.
    pub fn attrs(&self) -> impl Iterator<Item = Result<FileAttr<'a>>> + Clone + use<'a> {
        let file = *self;
        // The entries that are not read yet, and the size of one; `None` at the end and after an
        // error.
        let mut rest = self.head.file_header().map(|header| (header.attrs, header.attr_size));
        core::iter::from_fn(move || {
            let (section, size) = rest.take().filter(|(section, _)| section.size > 0)?;
            let attr = file.attr(Section { size, ..section });
            if attr.is_ok() {
                let after =
                    Section { offset: section.offset + size, size: section.size.saturating_sub(size) };
                rest = Some((after, size));
            }
            Some(attr)
        })
    }

    /// Reads an entry of the section of attrs.
    fn attr(&self, entry: Section) -> Result<FileAttr<'a>> {
        let (attr, ids) = read_entry(self.section(entry, "attr")?)?;
        let mut ids = self.section(ids, "ids")?;
        let count = ids.rest().len() as u64 / 8;
        Ok(FileAttr::new(attr, List::take(&mut ids, count, "ids")?, self.head.order))
    }

    /// Iterates over the records, in the order of the file. After a damaged or truncated record
    /// there is one error, and the iteration ends.
    pub fn frames(&self) -> impl Iterator<Item = Result<RawFileRecord<'a>>> + Clone + use<'a> {
        let (section, order) = (self.head.records(self.bytes.len() as u64), self.head.order);
        let from = usize::try_from(section.offset).ok().and_then(|offset| self.bytes.get(offset..));
        let present = from.unwrap_or_default();
        let len = usize::try_from(section.size).unwrap_or(usize::MAX).min(present.len());
        let mut rest = present.get(..len).unwrap_or_default();
        let mut offset = section.offset;
        // The header promises more than a truncated file has, even if it ends between two records.
        let mut missing = section.size.saturating_sub(len as u64);
        core::iter::from_fn(move || {
            if rest.is_empty() {
                let missing = core::mem::take(&mut missing);
                return (missing > 0).then(|| Err(Error::truncated(offset, "records", missing, 0)));
            }
            let found = RawFileRecord::split_first(rest, order, offset);
            let (frame, after) = match found {
                Ok(found) => found,
                Err(error) => {
                    (rest, missing) = (&[], 0);
                    return Some(Err(error));
                }
            };
            offset += (rest.len() - after.len()) as u64;
            rest = after;
            Some(Ok(frame))
        })
    }

    /// Iterates over the feature sections of the file form, by number. A section past the end of
    /// the file is an error, after which the iteration continues, because the other sections may be
    /// complete. The pipe form has records
    /// [`UserRecord::HeaderFeature`](crate::UserRecord::HeaderFeature) instead of sections. A file
    /// whose recording was interrupted has neither.
    pub fn features(&self) -> impl Iterator<Item = Result<FeatureSection<'a>>> + use<'a> {
        let file = *self;
        file.head.features().iter().map(move |feature| file.feature_of_table(feature))
    }

    /// Returns the section of a feature; `None` if the file lacks it.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the table or the section is past the end
    /// of the file, [`Reason::Overlap`](crate::Reason::Overlap) if they overlap the header, the
    /// attrs or the records.
    pub fn feature(&self, feature: Feature) -> Result<Option<FeatureSection<'a>>> {
        let has = self.head.features().contains(feature);
        has.then(|| self.feature_of_table(feature)).transpose()
    }

    /// Returns the section of a feature that the header names.
    fn feature_of_table(&self, feature: Feature) -> Result<FeatureSection<'a>> {
        let what = FeatureTable::NAME;
        let Some(section) = FeatureTable::section_up_to(&self.head, Some(feature)) else {
            return Err(Error::truncated(self.bytes.len() as u64, what, u64::MAX, 0));
        };
        let table = FeatureTable::read(&self.head, self.section(section, what)?)?;
        table.check(&self.head, feature)?;
        let section = table.section(feature).unwrap_or_default();
        let bytes = self.section(section, feature.name().unwrap_or("feature"))?;
        Ok(FeatureSection::new(feature, bytes.rest(), bytes.order(), bytes.offset()))
    }

    /// Verifies that the table and all sections are in the file, that they do not overlap anything,
    /// and that the content of each is well-formed.
    ///
    /// # Errors
    ///
    /// The first error of [`feature`](Self::feature) or of [`FeatureSection::data`].
    pub fn verify_features(&self) -> Result<()> {
        if let Some(section) = FeatureTable::section_up_to(&self.head, None) {
            let table = FeatureTable::read(&self.head, self.section(section, FeatureTable::NAME)?)?;
            table.check_all(&self.head, self.bytes.len() as u64)?;
        }
        for section in self.features() {
            section?.data()?;
        }
        Ok(())
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
