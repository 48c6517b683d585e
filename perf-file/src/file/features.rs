use core::iter::FusedIterator;

use super::PerfData;
use crate::feature::{FeatureSection, FeatureTable};
use crate::format::Feature;
use crate::{Error, Result};

/// Iterator over the feature sections of a file.
///
/// A section past the end of the file is an error, after which the iteration continues.
#[derive(Clone, Debug)]
pub struct FeatureSections<'a> {
    file: PerfData<'a>,
    /// The number from which on features are not read yet.
    next: u32,
}

impl<'a> FeatureSections<'a> {
    pub(super) const fn new(file: PerfData<'a>) -> Self {
        Self { file, next: 0 }
    }
}

impl<'a> Iterator for FeatureSections<'a> {
    type Item = Result<FeatureSection<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let feature = self.file.head.features().iter().find(|feature| feature.0 >= self.next)?;
        let section = self.file.feature_of_table(feature);
        // Also after an error: the other sections may be whole.
        self.next = feature.0 + 1;
        Some(section)
    }
}

impl FusedIterator for FeatureSections<'_> {}

impl<'a> PerfData<'a> {
    /// Returns the section of a feature that the header names.
    pub(super) fn feature_of_table(&self, feature: Feature) -> Result<FeatureSection<'a>> {
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

    /// Verifies the features: that the table and all sections are in the file, that they overlap nothing, and
    /// that the content of each is well-formed.
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
}
