//! Feature sections of a file that is not in memory.

use std::io::{Read, Seek};
use std::vec::Vec;

use super::{Reader, Stream};
use crate::format::{Feature, Section};
use crate::{ByteOrder, Error, FeatureSection, Result};

/// The content of a feature section.
#[derive(Clone, Debug)]
pub struct FeatureBuf {
    feature: Feature,
    bytes: Vec<u8>,
    order: ByteOrder,
    offset: u64,
}

impl FeatureBuf {
    /// Returns the section, to parse it.
    #[must_use]
    pub fn section(&self) -> FeatureSection<'_> {
        FeatureSection::new(self.feature, &self.bytes, self.order, self.offset)
    }
}

impl<R: Read + Seek> Reader<Stream<R>> {
    /// Reads the section of a feature; `None` if the file has none, as in the pipe form.
    ///
    /// Can be called between two records: the next record is the same as without the call.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the table or the section is past the end
    /// of the file, [`Reason::Io`](crate::Reason::Io).
    pub fn feature(&mut self, feature: Feature) -> Result<Option<FeatureBuf>> {
        let index = self.head.features().iter().position(|found| found == feature);
        let (Some(index), Some(table)) = (index, self.head.feature_table()) else { return Ok(None) };
        self.release();
        let found = self.read_feature(feature, table.offset, index as u64);
        // The next record follows.
        self.source.seek(self.offset)?;
        found.map(Some)
    }

    fn read_feature(&mut self, feature: Feature, table: u64, index: u64) -> Result<FeatureBuf> {
        const ENTRY: u64 = size_of::<Section>() as u64;
        let what = "table of features";
        let Some(offset) = table.checked_add(index * ENTRY) else {
            return Err(Error::truncated(table, what, ENTRY, 0));
        };
        let order = self.head.order;
        let entry = self.source.section(Section { offset, size: ENTRY }, what)?;
        let mut entry = crate::bytes::Bytes::new(&entry, order, offset);
        let section = Section { offset: entry.u64(what)?, size: entry.u64(what)? };
        let bytes = self.source.section(section, feature.name().unwrap_or("feature"))?;
        Ok(FeatureBuf { feature, bytes, order, offset: section.offset })
    }
}
