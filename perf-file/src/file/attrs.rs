use core::iter::FusedIterator;

use super::PerfData;
use crate::format::Section;
use crate::{Error, FileAttr, List, Reason, Result};

/// Iterator over the events of a file.
///
/// A damaged entry ends the iteration with an error.
#[derive(Clone, Debug)]
pub struct Attrs<'a> {
    file: PerfData<'a>,
    /// The entries that are not read yet, and the size of one; `None` at the end.
    rest: Option<(Section, u64)>,
}

impl<'a> Attrs<'a> {
    pub(super) fn new(file: PerfData<'a>) -> Self {
        let rest = file.head.file_header().map(|header| (header.attrs, header.attr_size));
        Self { file, rest }
    }
}

impl<'a> Iterator for Attrs<'a> {
    type Item = Result<FileAttr<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (section, size) = self.rest.take()?;
        if section.size == 0 {
            return None;
        }
        let next = self.file.attr(section, size);
        if next.is_ok() {
            let rest = Section { offset: section.offset + size, size: section.size.saturating_sub(size) };
            self.rest = Some((rest, size));
        }
        Some(next)
    }
}

impl FusedIterator for Attrs<'_> {}

impl<'a> PerfData<'a> {
    /// Reads the first entry of a part of the section of attrs.
    fn attr(&self, section: Section, size: u64) -> Result<FileAttr<'a>> {
        let Some(attr_size) = size.checked_sub(size_of::<Section>() as u64).filter(|size| *size >= 64) else {
            return Err(Error::new(16, Reason::AttrSize { found: size }));
        };
        let mut entry = self.section(Section { size, ..section }, "attr")?;
        let attr = entry.take(attr_size, "attr")?;
        let ids = Section { offset: entry.u64("offset of ids")?, size: entry.u64("size of ids")? };
        let mut ids = self.section(ids, "ids")?;
        let count = ids.rest().len() as u64 / 8;
        Ok(FileAttr::new(attr, List::take(&mut ids, count, "ids")?, self.head.order))
    }
}
