use core::iter::FusedIterator;

use crate::format::Section;
use crate::{ByteOrder, Error, RawFileRecord, Result};

/// Iterator over the records of a file.
///
/// After a damaged or truncated record there is one error, and the iteration ends.
#[derive(Clone, Debug)]
pub struct RawFileRecords<'a> {
    rest: &'a [u8],
    offset: u64,
    /// Bytes of the section that are past the end of the file.
    missing: u64,
    order: ByteOrder,
    ended: bool,
}

impl<'a> RawFileRecords<'a> {
    /// Iterates over the records of `section`; `present` is the file from its start on.
    pub(super) fn new(present: &'a [u8], section: Section, order: ByteOrder) -> Self {
        let len = usize::try_from(section.size).unwrap_or(usize::MAX).min(present.len());
        Self {
            rest: present.get(..len).unwrap_or_default(),
            offset: section.offset,
            missing: section.size.saturating_sub(len as u64),
            order,
            ended: false,
        }
    }

    /// Returns the offset of the next record, in bytes from the start of the file.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

impl<'a> Iterator for RawFileRecords<'a> {
    type Item = Result<RawFileRecord<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.rest.is_empty() {
            self.ended = true;
            // The header promises more than a truncated file has, even if it ends between two records.
            let missing = core::mem::take(&mut self.missing);
            return (missing > 0).then(|| Err(Error::truncated(self.offset, "records", missing, 0)));
        }
        match RawFileRecord::split_first(self.rest, self.order, self.offset) {
            Ok((frame, rest)) => {
                self.offset += (self.rest.len() - rest.len()) as u64;
                self.rest = rest;
                Some(Ok(frame))
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }
}

impl FusedIterator for RawFileRecords<'_> {}

#[cfg(test)]
mod tests {
    use crate::PerfData;
    use crate::format::{MAGIC, RawPipeHeader, record_type};
    use zerocopy::IntoBytes as _;

    #[test]
    fn offset_is_that_of_the_next_record() {
        // header: type, misc, size
        let header =
            perf_abi::Header { kind: record_type::FINISHED_ROUND, misc: perf_abi::Misc::empty(), size: 8 };
        let pipe = RawPipeHeader { magic: MAGIC, size: RawPipeHeader::SIZE };
        let bytes = [pipe.as_bytes(), header.as_bytes(), header.as_bytes()].concat();
        let file = PerfData::new(&bytes).unwrap();
        assert_eq!(file.bytes(), bytes);
        let mut frames = file.frames();
        for offset in [16, 24] {
            assert_eq!(frames.offset(), offset);
            assert_eq!(frames.next().unwrap().unwrap().offset, offset);
        }
        assert_eq!((frames.offset(), frames.next().is_none()), (32, true));
    }
}
