use core::iter::FusedIterator;

use super::PerfData;
use crate::feature::FeatureSection;
use crate::format::{Feature, Section};
use crate::{Error, Result};

/// Iterator over the feature sections of a file.
///
/// A section past the end of the file is an error, after which the iteration continues.
#[derive(Clone, Debug)]
pub struct Features<'a> {
    file: PerfData<'a>,
    /// The number from which on features are not read yet.
    next: u32,
    /// Index of the next entry of the table.
    index: u64,
}

impl<'a> Features<'a> {
    pub(super) const fn new(file: PerfData<'a>) -> Self {
        Self { file, next: 0, index: 0 }
    }
}

impl<'a> Iterator for Features<'a> {
    type Item = Result<FeatureSection<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let feature = self.file.head.features().iter().find(|feature| feature.0 >= self.next)?;
        let section = self.file.feature_at(feature, self.index);
        self.next = feature.0 + 1;
        self.index += 1;
        Some(section)
    }
}

impl FusedIterator for Features<'_> {}

impl<'a> PerfData<'a> {
    /// Reads entry `index` of the table, that of `feature`, and returns the section.
    pub(super) fn feature_at(&self, feature: Feature, index: u64) -> Result<FeatureSection<'a>> {
        const ENTRY: u64 = size_of::<Section>() as u64;
        let what = "table of features";
        let table = self.head.feature_table().map(|table| table.offset);
        let entry = table.and_then(|table| table.checked_add(index * ENTRY));
        let Some(entry) = entry else {
            return Err(Error::truncated(self.bytes.len() as u64, what, ENTRY, 0));
        };
        let mut entry = self.section(Section { offset: entry, size: ENTRY }, what)?;
        let section = Section { offset: entry.u64(what)?, size: entry.u64(what)? };
        let bytes = self.section(section, feature.name().unwrap_or("feature"))?;
        Ok(FeatureSection::new(feature, bytes.rest(), bytes.order(), bytes.offset()))
    }
}
