use core::iter::FusedIterator;

use super::PerfData;
use crate::attr::read_entry;
use crate::format::Section;
use crate::{FileAttr, List, Result};

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
        // It stays `None` after an error.
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
        let (attr, ids) = read_entry(self.section(Section { size, ..section }, "attr")?)?;
        let mut ids = self.section(ids, "ids")?;
        let count = ids.rest().len() as u64 / 8;
        Ok(FileAttr::new(attr, List::take(&mut ids, count, "ids")?, self.head.order))
    }
}
