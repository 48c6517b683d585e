//! Readers: all records of a file, decompressed, aligned and in the byte order of this machine.

use std::boxed::Box;
use std::vec::Vec;

use perf_decode::Scratch;

mod buffer;
mod decompress;
mod directory;
mod events;
mod features;
mod open;
mod record;
mod sorted;
mod source;
mod step;

pub use events::{FileEvent, FileEvents};
pub use features::FeatureBuf;
use record::Context;
pub use record::{FileOffset, FileRecord};
pub use source::{Memory, Source, Stream};

use crate::error::Result;
use crate::header::FileHeader;
use decompress::Decompressor;
use directory::Parts;
use sorted::Sort;
use step::Plain;

/// Reads the records of a file, or of a directory, one by one.
///
/// Compressed records are decompressed, records of the other byte order are swapped, and unaligned
/// ones are copied. A record that needs none of this is borrowed from the source.
///
/// ```
/// use perf_file::Reader;
///
/// # fn print(path: &str) -> perf_file::Result<()> {
/// let mut reader = Reader::open(path)?.sorted();
/// while let Some(record) = reader.next()? {
///     if record.kernel().is_some() {
///         println!("{}", record.decode()?);
///     } else {
///         println!("{:?}", record.user()?);
///     }
/// }
/// assert_eq!(reader.late(), 0);
/// # Ok(())
/// # }
/// # assert!(print("/nowhere").is_err());
/// ```
///
/// # Order of time
///
/// A tool reads its rings one after the other, in rounds, and marks the end of each round with
/// [`FINISHED_ROUND`](crate::format::record_type::FINISHED_ROUND). After a mark, no record is
/// earlier than the latest one before the preceding mark, so that records up to there can be sorted
/// and returned. [`sorted`](Self::sorted) keeps the records of about two rounds.
///
/// Records without a time, with the time 0 (synthesized by tools before the recording) and those
/// of tools are returned at once, before the kept records.
///
/// # Directories
///
/// `perf record --threads` writes a directory. The file `data` in it has a header and records, the
/// files `data.0`, `data.1` and so on have only records. [`Reader::open`] reads them all, one after
/// the other or sorted by time, and [`FileRecord::part`] returns the number of the file. Events,
/// features and [`header`](Self::header) come from `data`.
///
/// # Mapped files
///
/// This crate does not map files, because that is unsafe: another process can change the file.
/// Map it with `memmap2` or `rustix`, and pass the bytes to [`Reader::from_bytes`].
#[derive(Debug)]
pub struct Reader<S> {
    source: S,
    head: FileHeader,
    context: Context,
    /// Offset of the next record in the file.
    offset: u64,
    /// Bytes of the section of records from `offset` on; `None` up to the end of the source.
    left: Option<u64>,
    /// Bytes that follow the last record and are not consumed: AUX data, formats of tracepoints.
    payload: u64,
    /// Bytes of the record that was read last, which are consumed by the next step.
    pending: usize,
    /// Whether they are decompressed ones.
    is_decompressed: bool,
    /// Offset of the compressed record whose content is read.
    compressed_at: u64,
    decompresses: bool,
    decompressor: Option<Box<Decompressor>>,
    /// An unaligned record, or one of the other byte order.
    scratch: Box<Scratch>,
    is_ended: bool,
    plain: Plain,
    /// Offset up to which the events and features of the pipe form were read ahead of the records.
    noticed: u64,
    /// The kept records, if the reader is sorted.
    sort: Option<Box<Sort>>,
    /// The numbered files, if this is the main file of a directory.
    parts: Option<Box<Parts<S>>>,
}

impl<S: Source> Reader<S> {
    /// Returns the header of the file.
    pub fn header(&self) -> &FileHeader {
        &self.head
    }

    /// Returns the events that are known so far: in the file form all, in the pipe form the events
    /// of the records that were read.
    pub fn events(&self) -> &FileEvents {
        &self.context.events
    }

    /// Leaves compressed records compressed: only they are returned, not their content. For a
    /// program that copies files.
    #[must_use]
    pub fn without_decompression(mut self) -> Self {
        self.decompresses = false;
        for part in self.parts.iter_mut().flat_map(|parts| &mut parts.numbered) {
            part.decompresses = false;
        }
        self
    }

    /// Returns the offset of the next record that is read, in bytes from the start of the file, or
    /// of the main file of a directory.
    pub fn offset(&self) -> u64 {
        let pending = if self.is_decompressed { 0 } else { self.pending };
        self.offset + (8 * self.plain.read + pending) as u64
    }

    /// Reads the next record; `None` at the end.
    ///
    /// Without [`sorted`](Self::sorted), records come in the order of the file, and the content of
    /// a compressed record follows it. The main file of a directory comes before the numbered ones.
    ///
    /// # Errors
    ///
    /// [`Reason::TruncatedRecord`](crate::Reason::TruncatedRecord) if the file ends within a
    /// record, [`Reason::RecordSize`](crate::Reason::RecordSize),
    /// [`Reason::Compressed`](crate::Reason::Compressed), [`Reason::Io`](crate::Reason::Io). After
    /// all others, [`Reason::NoPart`](crate::Reason::NoPart) if a numbered file of a directory is
    /// missing.
    ///
    /// The first error ends the reading of a file: after it, this returns `None`, or the records of
    /// the next file of a directory. All records before it were returned. A sorted reader returns
    /// the first error of all files after their records.
    #[expect(clippy::should_implement_trait, reason = "the record borrows the reader")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<FileRecord<'_>>> {
        if self.parts.is_some() {
            return self.next_of_parts();
        }
        let found = if self.sort.is_some() { self.step_sorted()? } else { self.step()? };
        found.map_or(Ok(None), |found| self.record(found))
    }

    /// Appends the data that follows the last record outside of its size to `bytes`: AUX data after
    /// [`Auxtrace`](crate::record::Auxtrace), formats of tracepoints after
    /// [`HeaderTracingData`](crate::UserRecord::HeaderTracingData). Appends nothing after other
    /// kinds, and if it was read already.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) after all bytes that are in the file,
    /// [`Reason::Io`](crate::Reason::Io).
    pub fn read_payload(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(last) = self.last_part() else { return Ok(()) };
        last.release();
        last.take_payload(|part| bytes.extend_from_slice(part))
    }
}
