//! The step of a reader to its next record.
//!
//! There are two ways. Nearly all records of most files are records of the kernel that are aligned,
//! in the byte order of this machine and whole in the memory of the source:
//! [`Reader::step_plainly`] passes over these with one load and one addition. All others take
//! [`Reader::step_slowly`], which may read from the source, decompress or copy, and then finds out
//! up to where the plain way can continue.

use perf_abi::{Header, RecordType};
use perf_decode::RawRecord;

use super::record::Content;
use super::source::words;
use super::{FileOffset, FileRecord, Reader, Source};
use crate::error::{Error, Reason, Result};
use crate::format::record_type as kind;
use crate::frame::{check_size, header, payload_len};
use crate::order::ByteOrder;
use crate::record::UserRecord;

/// The tools' limit for the content of a compressed record is the size of a ring.
const DECODED_AHEAD: usize = 4 << 20;

/// The memory of a record that was found. It borrows nothing, so that a reader can change its
/// state, or look for records of other files, between the step and the use of the record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// A record of the kernel that starts at this word of the source.
    Plain { start: usize },
    /// The unread bytes of the source start with it.
    Source,
    /// The decompressed bytes start with it.
    Decompressed,
    /// A copy of a record of the kernel that starts the source or the decompressed bytes.
    Scratch,
    /// A record that was kept until its turn, by its index there.
    Kept { index: usize, time: u64 },
}

/// The words of the source whose records need no copy.
///
/// Records are read here without changing the source. [`Reader::release`] consumes their bytes
/// together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plain {
    /// Words of the records that were read.
    pub(super) read: usize,
    /// Words that can be read; 0 if the last record needed a copy.
    end: usize,
}

/// Returns whether bytes can be viewed as words.
fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr() % align_of::<u64>() == 0
}

impl<S: Source> Reader<S> {
    /// Finds the next record in the order of the file; `None` after an error and at the end.
    #[inline]
    pub(super) fn step(&mut self) -> Result<Option<Found>> {
        let start = self.plain.read;
        if self.step_plainly() { Ok(Some(Found::Plain { start })) } else { self.step_slowly() }
    }

    /// Reads the next record if it needs no copy, and returns whether it does. The record starts at
    /// the word that was `plain.read` before.
    #[inline]
    pub(super) fn step_plainly(&mut self) -> bool {
        let Some(words) = self.source.words().get(self.plain.read..self.plain.end) else { return false };
        let Ok((raw, _)) = RawRecord::split_first(words) else { return false };
        let is_of_kernel = raw.kind().0 < kind::FIRST.0;
        if is_of_kernel {
            self.plain.read += raw.words().len();
        }
        is_of_kernel
    }

    /// Returns the record that starts at a word of the source, with its position and properties.
    #[inline]
    pub(super) fn plain_record(&self, start: usize) -> Option<FileRecord<'_>> {
        let (raw, _) = RawRecord::split_first(self.source.words().get(start..)?).ok()?;
        let place = FileOffset::Offset(self.offset + 8 * start as u64);
        Some(FileRecord { place, content: Content::Kernel(raw), context: &self.context })
    }

    /// Returns the index of the first byte of a record among all bytes of the source, if they stay
    /// in memory. [`raw_at`](Self::raw_at) returns the record.
    #[inline]
    pub(super) fn position(&self, start: usize) -> Option<usize> {
        Some(self.source.whole()?.len() - self.source.filled().len() + 8 * start)
    }

    /// Returns the record whose first byte in the source has an index.
    #[inline]
    pub(super) fn raw_at(&self, position: usize) -> Option<RawRecord<'_>> {
        let (raw, _) = RawRecord::split_first(words(self.source.whole()?.get(position..)?)).ok()?;
        Some(raw)
    }

    /// Returns the record that the last step found.
    #[inline]
    pub(super) fn record(&self, found: Found) -> Result<Option<FileRecord<'_>>> {
        match found {
            Found::Plain { start } => Ok(self.plain_record(start)),
            Found::Kept { index, .. } => Ok(self.kept(index)),
            Found::Source => self.record_in(self.source.filled(), self.head.order),
            Found::Decompressed => self.record_in(self.decompressed(), self.head.order),
            Found::Scratch => self.record_in(perf_decode::bytes_from_words(&self.scratch), ByteOrder::NATIVE),
        }
    }

    /// Returns the record at the start of `bytes`, whose size was checked by the step.
    #[cold]
    fn record_in<'r>(&'r self, bytes: &'r [u8], order: ByteOrder) -> Result<Option<FileRecord<'r>>> {
        // The step does not consume the record, so the position is still its own.
        let place = if self.is_decompressed {
            FileOffset::InCompressed(self.compressed_at)
        } else {
            FileOffset::Offset(self.offset)
        };
        let Some(header) = header(bytes, order) else { return Ok(None) };
        let bytes = bytes.get(..header.size.into()).unwrap_or_default();
        let content = if header.kind.0 < kind::FIRST.0 {
            let raw = RawRecord::from_bytes(bytes);
            Content::Kernel(raw.map_err(|error| Error::new(place.offset(), Reason::Decoding(error)))?)
        } else {
            Content::Tool { header, bytes }
        };
        Ok(Some(FileRecord { place, content, context: &self.context }))
    }

    fn decompressed(&self) -> &[u8] {
        self.decompressor.as_ref().map_or(&[], |decompressor| decompressor.output())
    }

    /// Finds the next record of any kind, in any memory; `None` after an error and at the end.
    #[cold]
    #[inline(never)]
    pub(super) fn step_slowly(&mut self) -> Result<Option<Found>> {
        self.release();
        if self.is_ended {
            return Ok(None);
        }
        // Decompressed records come first, because they are the content of the last record of the
        // source.
        let found = match self.find_decompressed() {
            Ok(None) => self.find_framed(),
            found => found,
        };
        match found {
            Ok(Some(Found::Plain { .. })) => {
                // The records after this one need no copies either, up to the end of the section or
                // the memory.
                let left =
                    self.left.map_or(usize::MAX, |left| usize::try_from(left / 8).unwrap_or(usize::MAX));
                let read = core::mem::take(&mut self.pending) / 8;
                self.plain = Plain { read, end: self.source.words().len().min(left) };
            }
            Ok(Some(_)) => {}
            _ => self.is_ended = true,
        }
        found
    }

    /// Consumes the records that were read.
    pub(super) fn release(&mut self) {
        let plain = 8 * core::mem::take(&mut self.plain).read;
        let len = plain + core::mem::take(&mut self.pending);
        match &mut self.decompressor {
            Some(decompressor) if self.is_decompressed => decompressor.consume(len),
            _ => {
                self.source.consume(len);
                self.advance(len as u64);
            }
        }
    }

    /// Moves the offset past bytes that were consumed.
    fn advance(&mut self, len: u64) {
        self.offset = self.offset.saturating_add(len);
        self.left = self.left.map(|left| left.saturating_sub(len));
    }

    /// Finds the next record of the source.
    fn find_framed(&mut self) -> Result<Option<Found>> {
        if self.payload > 0 {
            self.skip_payload()?;
        }
        let offset = self.offset;
        let io = |error| Error::new(offset, Reason::Io(error));
        // The source may have bytes of the next section, which are not records.
        let left = self.left.unwrap_or(u64::MAX);
        let limit = |bytes: &[u8]| left.min(bytes.len() as u64);
        let bytes = self.source.fill(8).map_err(io)?;
        let available = limit(bytes);
        let Some(header) = header(bytes, self.head.order).filter(|_| available >= 8) else {
            return self.end(available);
        };
        check_size(header, offset)?;
        let len = usize::from(header.size);
        let bytes = self.source.fill(len).map_err(io)?;
        let available = limit(bytes);
        let Some(record) = bytes.get(..len).filter(|_| available >= len as u64) else {
            let reason = Reason::TruncatedRecord { kind: header.kind, needed: len as u64, available };
            return Err(Error::new(offset, reason));
        };
        let found = if header.kind.0 >= kind::FIRST.0 {
            self.notice(header)?;
            Found::Source
        } else if self.head.order.is_native() && is_aligned(record) {
            self.context.events.update();
            Found::Plain { start: 0 }
        } else {
            self.copy(header, false)
        };
        self.pending = len;
        Ok(Some(found))
    }

    /// Finds the next record of the compressed stream; `None` if the stream continues in the next
    /// compressed record.
    fn find_decompressed(&mut self) -> Result<Option<Found>> {
        self.is_decompressed = false;
        let offset = self.compressed_at;
        let Some(decompressor) = &mut self.decompressor else { return Ok(None) };
        // A block at a time, because a part of the stream can have any number of records.
        let header = loop {
            let output = decompressor.output();
            if let Some(header) = header(output, self.head.order) {
                check_size(header, offset)?;
                if output.len() >= usize::from(header.size) {
                    break header;
                }
            }
            match decompressor.decode_block() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(malformed) => return Err(Error::new(offset, Reason::Compressed(malformed))),
            }
        };
        let is_ready = self.head.order.is_native() && is_aligned(decompressor.output());
        let found = if header.kind.0 >= kind::FIRST.0 {
            Found::Decompressed
        } else if is_ready {
            self.context.events.update();
            Found::Decompressed
        } else {
            self.copy(header, true)
        };
        self.is_decompressed = true;
        self.pending = header.size.into();
        Ok(Some(found))
    }

    /// Copies a record of the kernel to aligned memory and swaps it, if needed.
    #[cold]
    fn copy(&mut self, header: Header, is_decompressed: bool) -> Found {
        // The event may have been added since the last record. It determines what is swapped.
        self.context.events.update();
        let record = match &self.decompressor {
            Some(decompressor) if is_decompressed => decompressor.output(),
            _ => self.source.filled(),
        };
        let words = self.scratch.get_mut(..usize::from(header.size / 8)).unwrap_or_default();
        for (word, bytes) in words.iter_mut().zip(record.chunks_exact(8)) {
            *word = bytes.first_chunk().copied().map_or(0, u64::from_ne_bytes);
        }
        if !self.head.order.is_native() {
            self.context.events.swap(words);
        }
        Found::Scratch
    }

    /// Uses what a record of a tool contains: an event or a feature, a part of the compressed
    /// stream, the length of the data that follows it.
    #[cold]
    fn notice(&mut self, header: Header) -> Result<()> {
        let (offset, order) = (self.offset, self.head.order);
        let record = self.source.filled().get(..usize::from(header.size)).unwrap_or_default();
        self.payload = payload_len(header.kind, record, order, offset)?;
        self.context.decompressed_len = None;
        // `read_metadata` has learned the records before that offset.
        if offset >= self.noticed {
            self.context.learn(header, record, offset)?;
        }
        if self.decompresses && matches!(header.kind, kind::COMPRESSED | kind::COMPRESSED2) {
            if let UserRecord::Compressed(part) = UserRecord::parse(header, record, order, offset)? {
                let decompressor = self.decompressor.get_or_insert_default();
                decompressor.feed(part);
                self.context.decompressed_len = decompressor.decode_ahead(DECODED_AHEAD);
                self.compressed_at = offset;
            }
        }
        Ok(())
    }

    /// Ends the reading with `available` bytes left, fewer than a header.
    ///
    /// The end is an error if anything is missing: the rest of a header, bytes that the file's
    /// header promises, or the rest of a compressed record.
    #[cold]
    fn end(&mut self, available: u64) -> Result<Option<Found>> {
        let (mut kind, mut needed) = (RecordType(0), 8);
        if available > 0 {
            return Err(Error::new(self.offset, Reason::TruncatedRecord { kind, needed, available }));
        }
        if let Some(missing) = self.left.filter(|left| *left > 0) {
            return Err(Error::truncated(self.offset, "records", missing, 0));
        }
        match &self.decompressor {
            Some(decompressor) if decompressor.has_rest() => {
                let available = decompressor.output().len() as u64;
                if let Some(header) = header(decompressor.output(), self.head.order) {
                    (kind, needed) = (header.kind, header.size.into());
                }
                Err(Error::new(self.compressed_at, Reason::TruncatedRecord { kind, needed, available }))
            }
            _ => Ok(None),
        }
    }

    /// Consumes the data that follows the last record outside of its size, without reading it if
    /// the source can seek.
    #[cold]
    fn skip_payload(&mut self) -> Result<()> {
        let len = self.payload.min(self.left.unwrap_or(u64::MAX));
        let offset = self.offset;
        let skipped = self.source.skip(len).map_err(|error| Error::new(offset, Reason::Io(error)))?;
        self.advance(skipped);
        self.payload -= skipped;
        // Bytes that cannot be skipped are read, or are missing.
        self.take_payload(|_| ())
    }

    /// Passes the data that follows the last record outside of its size to `sink`, in parts.
    #[cold]
    pub(super) fn take_payload(&mut self, mut sink: impl FnMut(&[u8])) -> Result<()> {
        while self.payload > 0 {
            let offset = self.offset;
            let bytes = self.source.fill(1).map_err(|error| Error::new(offset, Reason::Io(error)))?;
            let available = (bytes.len() as u64).min(self.left.unwrap_or(u64::MAX));
            let len = available.min(self.payload);
            if len == 0 {
                return Err(Error::truncated(offset, "data of the last record", self.payload, available));
            }
            let len_in_memory = usize::try_from(len).unwrap_or(usize::MAX);
            sink(bytes.get(..len_in_memory).unwrap_or_default());
            self.source.consume(len_in_memory);
            self.advance(len);
            self.payload -= len;
        }
        Ok(())
    }
}
