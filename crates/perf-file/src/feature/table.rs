//! The table of the feature sections, which follows the records.

use crate::bytes::Bytes;
use crate::error::{Error, Reason, Result};
use crate::format::{Feature, FeatureSet, RawFileHeader, Section};
use crate::header::FileHeader;

/// The sections of a file's features.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeatureTable {
    /// By number of the feature; `None` without the feature.
    sections: [Option<Section>; FeatureSet::BITS as usize],
}

impl FeatureTable {
    /// The table in errors.
    pub(crate) const NAME: &'static str = "table of features";

    /// Returns the part of the table up to the entry of a feature, or the whole table; `None`
    /// without features, and if its offset overflows.
    pub(crate) fn section_up_to(head: &FileHeader, last: Option<Feature>) -> Option<Section> {
        let table = head.feature_table()?;
        // Not the whole table, so that the features before the end of a truncated file can be read.
        let before = |feature: &Feature| last.is_none_or(|last| feature.0 <= last.0);
        let size = (head.features().iter().filter(before).count() * size_of::<Section>()) as u64;
        Section { size, ..table }.end()?;
        Some(Section { size, ..table })
    }

    /// Reads the entries in `bytes`, one for each feature, by number.
    pub(crate) fn read(head: &FileHeader, mut bytes: Bytes<'_>) -> Result<Self> {
        let mut sections = [None; FeatureSet::BITS as usize];
        for (section, feature) in sections.iter_mut().zip((0..).map(Feature)) {
            // The header has bits for features whose entries were not read.
            if head.features().contains(feature) && !bytes.is_empty() {
                *section = Some(Section { offset: bytes.u64(Self::NAME)?, size: bytes.u64(Self::NAME)? });
            }
        }
        Ok(Self { sections })
    }

    /// Returns the section of a feature that was read.
    pub(crate) fn section(&self, feature: Feature) -> Option<Section> {
        self.sections.get(feature.0 as usize).copied().flatten()
    }

    /// Checks that the section of a feature has no bytes of the parts that every file has.
    ///
    /// This is not done at the opening: a section that is wrong must not hide the records.
    pub(crate) fn check(&self, head: &FileHeader, feature: Feature) -> Result<()> {
        let (Some(section), Some(header)) = (self.section(feature), head.file_header()) else {
            return Ok(());
        };
        let table = head.feature_table().unwrap_or_default();
        let parts = parts(header).into_iter().chain([(Self::NAME, table)]);
        check_section(name(feature), section, parts)
    }

    /// Checks that the table and all sections are in a file of `file_len` bytes, and that no two
    /// parts of the file overlap.
    pub(crate) fn check_all(&self, head: &FileHeader, file_len: u64) -> Result<()> {
        let (Some(header), Some(table)) = (head.file_header(), head.feature_table()) else { return Ok(()) };
        check_section(Self::NAME, table, parts(header).into_iter())?;
        let all = || head.features().iter().filter_map(|feature| Some((feature, self.section(feature)?)));
        for (feature, section) in all() {
            self.check(head, feature)?;
            // A marker has no content, and any offset.
            if section.size > 0 && section.end().is_none_or(|end| end > file_len) {
                let available = file_len.saturating_sub(section.offset);
                return Err(Error::truncated(section.offset, name(feature), section.size, available));
            }
            // Each pair once. There are at most 256 sections.
            let before = all().take_while(|(other, _)| other.0 < feature.0);
            let before = before.map(|(other, section)| (name(other), section));
            check_section(name(feature), section, before)?;
        }
        Ok(())
    }
}

/// The parts of a file before the features.
fn parts(header: &RawFileHeader) -> [(&'static str, Section); 3] {
    let start = Section { offset: 0, size: header.size };
    [("header", start), ("attrs", header.attrs), ("records", header.data)]
}

fn name(feature: Feature) -> &'static str {
    feature.name().unwrap_or("feature")
}

fn check_section(
    what: &'static str,
    section: Section,
    mut others: impl Iterator<Item = (&'static str, Section)>,
) -> Result<()> {
    match others.find(|(_, other)| section.overlaps(*other)) {
        Some((with, _)) => Err(Error::new(section.offset, Reason::Overlap { what, with })),
        None => Ok(()),
    }
}
