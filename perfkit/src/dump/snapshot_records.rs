//! The records of a snapshot, each with its position in the data area.

use perf_decode::testing::capture::{Mode, Snapshot};
use perf_decode::{BackwardRecords, Error, RawRecord, Records, Result, Scratch, Window};

/// A record with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) record: RawRecord<'a>,
    /// In bytes from the start of the data area.
    pub(super) offset: u64,
    /// Whether it wraps at the end of the data area.
    pub(super) wraps: bool,
}

/// Iterator over the records of one snapshot: oldest first, in a backward ring newest first.
#[derive(Debug)]
pub(super) struct SnapshotRecords<'a> {
    source: Source<'a>,
    /// Start of the first record, a free-running position.
    start: u64,
    snapshot: &'a Snapshot,
}

#[derive(Debug)]
enum Source<'a> {
    Forward(Records<'a>),
    Backward(BackwardRecords<'a>),
}

impl<'a> SnapshotRecords<'a> {
    /// # Errors
    ///
    /// Those of [`Window::new`].
    pub(super) fn new(snapshot: &'a Snapshot, mode: Mode, scratch: &'a mut Scratch) -> Result<Self> {
        let Snapshot { head, tail, ref data, .. } = *snapshot;
        let backward = mode == Mode::Backward;
        let source = if snapshot.is_truncated() {
            Source::Forward(present(snapshot, backward)?.records(scratch))
        } else if backward {
            Source::Backward(BackwardRecords::new(data, head, scratch)?)
        } else {
            Source::Forward(Window::new(data, tail, head)?.records(scratch))
        };
        Ok(Self { source, start: if backward { head } else { tail }, snapshot })
    }

    /// Returns the start of the next record, in bytes from the start of the data area.
    pub(super) fn offset(&self) -> u64 {
        let position = match &self.source {
            Source::Forward(records) => records.position(),
            Source::Backward(records) => records.position(),
        };
        self.start.wrapping_add(position).checked_rem(self.snapshot.size as u64).unwrap_or(0)
    }
}

impl<'a> Iterator for SnapshotRecords<'a> {
    type Item = Result<Placed<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.offset();
        let next = match &mut self.source {
            Source::Forward(records) => records.next(),
            Source::Backward(records) => records.next(),
        };
        match next? {
            // The file ends within this record, which is reported as an error of the file.
            Err(Error::SizePastEnd { .. }) if self.snapshot.is_truncated() => None,
            Err(error) => Some(Err(error)),
            Ok(record) => {
                let wraps = offset + record.size() as u64 > self.snapshot.size as u64;
                Some(Ok(Placed { record, offset, wraps }))
            }
        }
    }
}

/// Returns the readable part of a data area whose end is missing in the file.
///
/// Records after the end of the data area are not in it: the sizes that lead to them are missing.
fn present(snapshot: &Snapshot, backward: bool) -> Result<Window<'_>> {
    let Snapshot { head, tail, size, ref data } = *snapshot;
    let (from, to) =
        if backward { (head, head.wrapping_add(head.wrapping_neg().min(size as u64))) } else { (tail, head) };
    let (start, len) = Window::span(size / 8, from, to)?;
    let end = (start + len).min(data.len());
    Ok(Window::from_slices(data.get(start..end).unwrap_or(&[]), &[]))
}
