//! Feature sections of a reader's file.

use std::vec::Vec;

use super::{Reader, Source};
use crate::bytes::Bytes;
use crate::feature::FeatureTable;
use crate::format::{Feature, FeatureSet};
use crate::{ByteOrder, Error, FeatureSection, Reason, Result};

/// The content of a feature section.
#[derive(Clone, Debug)]
pub struct FeatureBuf {
    feature: Feature,
    bytes: Vec<u8>,
    order: ByteOrder,
    offset: u64,
}

impl FeatureBuf {
    /// The longest section that is read, in bytes. A section of tracing data has some megabytes.
    pub const MAX_LEN: u64 = 256 << 20;

    fn new(section: &FeatureSection<'_>) -> Self {
        let (order, offset) = (section.order(), section.offset());
        Self { feature: section.feature, bytes: section.bytes.to_vec(), order, offset }
    }

    /// Returns the section, to parse it.
    pub fn section(&self) -> FeatureSection<'_> {
        FeatureSection::new(self.feature, &self.bytes, self.order, self.offset)
    }
}

/// Keeps a feature of the pipe form. A later record replaces an earlier one.
pub(super) fn keep(features: &mut Vec<FeatureBuf>, section: &FeatureSection<'_>) {
    // The mark after the last feature has the next number, which a newer tool uses for a feature. Tools do not
    // write other features without content.
    if section.bytes.is_empty() {
        return;
    }
    match features.iter_mut().find(|buf| buf.feature == section.feature) {
        Some(buf) => *buf = FeatureBuf::new(section),
        // A file has no features of higher numbers.
        None if section.feature.0 < FeatureSet::BITS => features.push(FeatureBuf::new(section)),
        None => {}
    }
}

impl<S: Source> Reader<S> {
    /// Returns the features that are known so far: all in the file form, those of the records that were read in
    /// the pipe form. A file whose recording was interrupted has none.
    pub fn features(&self) -> FeatureSet {
        if self.head.is_pipe() {
            self.context.features.iter().map(|buf| buf.feature).collect()
        } else {
            self.head.features()
        }
    }

    /// Reads the section of a feature; `None` if the file has none, or in the pipe form if its record was not
    /// read yet ([`read_metadata`](Self::read_metadata) reads those before the first record of the kernel). In the
    /// pipe form, the formats of tracepoints and the build ids are records of other kinds, and not here.
    ///
    /// Can be called between two records: the next record is the same as without the call.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`] if the table or the section is past the end of the file, [`Reason::Overlap`] if they
    /// overlap the header, the attrs, the records or each other's bytes, [`Reason::Limit`] for a section of more than
    /// [`FeatureBuf::MAX_LEN`] bytes, [`Reason::Io`].
    pub fn feature(&mut self, feature: Feature) -> Result<Option<FeatureBuf>> {
        if self.head.is_pipe() {
            return Ok(self.context.features.iter().find(|buf| buf.feature == feature).cloned());
        }
        if !self.head.features().contains(feature) {
            return Ok(None);
        }
        let table = self.feature_table(Some(feature))?;
        self.read_feature(&table, feature)
    }

    /// Verifies the features of the file form: that the table and all sections are in the file, that they overlap
    /// nothing, and that the content of each is well-formed. Nothing else notices damage in features that
    /// are not read. The pipe form has no table, and nothing to verify here.
    ///
    /// Can be called between two records, as [`feature`](Self::feature).
    ///
    /// # Errors
    ///
    /// The first error of [`feature`](Self::feature) or of [`FeatureSection::data`]. To report all, call these
    /// for each of [`features`](Self::features).
    pub fn verify_features(&mut self) -> Result<()> {
        if self.head.features() == FeatureSet::default() {
            return Ok(());
        }
        let table = self.feature_table(None)?;
        let len = self.file_len()?;
        table.check_all(&self.head, len)?;
        for feature in self.head.features().iter() {
            if let Some(buf) = self.read_feature(&table, feature)? {
                buf.section().data()?;
            }
        }
        Ok(())
    }

    fn file_len(&mut self) -> Result<u64> {
        self.release();
        Ok(self.source.file_len()?.unwrap_or(u64::MAX))
    }

    /// Reads the table up to the entry of a feature, or all of it.
    fn feature_table(&mut self, last: Option<Feature>) -> Result<FeatureTable> {
        let what = FeatureTable::NAME;
        let Some(section) = FeatureTable::section_up_to(&self.head, last) else {
            return Err(Error::of_file(Reason::Truncated { what, needed: u64::MAX, available: 0 }));
        };
        self.release();
        let bytes = self.source.section(section, what, self.offset)?;
        FeatureTable::read(&self.head, Bytes::new(&bytes, self.head.order, section.offset))
    }

    fn read_feature(&mut self, table: &FeatureTable, feature: Feature) -> Result<Option<FeatureBuf>> {
        let Some(section) = table.section(feature) else { return Ok(None) };
        table.check(&self.head, feature)?;
        if section.size > FeatureBuf::MAX_LEN {
            let (found, limit) = (section.size, FeatureBuf::MAX_LEN);
            let reason = Reason::Limit { what: "bytes of a feature section", found, limit };
            return Err(Error::new(section.offset, reason));
        }
        self.release();
        let bytes = self.source.section(section, feature.name().unwrap_or("feature"), self.offset)?;
        Ok(Some(FeatureBuf { feature, bytes, order: self.head.order, offset: section.offset }))
    }
}
