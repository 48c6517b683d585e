//! The step of a reader to its next record.

use std::boxed::Box;

use perf_abi::Header;

use super::{FileOffset, Found, FoundIn, Reader, Source};
use crate::format::record_type as kind;
use crate::frame::{check_size, header, payload_len};
use crate::{Error, Reason, Result, UserRecord};

/// The tools' limit for the content of a compressed record is the size of a ring.
const DECODED_AHEAD: usize = 4 << 20;

/// Returns whether bytes can be viewed as words.
fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr() % align_of::<u64>() == 0
}

impl<S: Source> Reader<S> {
    /// Finds the next record of any kind, in any memory; `None` after an error and at the end.
    #[cold]
    #[inline(never)]
    pub(super) fn step_slowly(&mut self) -> Result<Option<Found>> {
        self.release();
        if self.is_ended {
            return Ok(None);
        }
        let found = self.find();
        match found {
            Ok(Some(Found { memory: FoundIn::Plain { .. }, header, .. })) => self.start_plainly(header.size),
            Ok(Some(Found { header, .. })) => self.pending = header.size.into(),
            _ => self.is_ended = true,
        }
        found
    }

    fn find(&mut self) -> Result<Option<Found>> {
        self.is_decompressed = false;
        if self.decompressor.is_some() {
            if let Some(found) = self.find_decompressed()? {
                return Ok(Some(found));
            }
        }
        self.find_framed()
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
    #[inline]
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
        let left = self.left.unwrap_or(u64::MAX);
        let limit = |bytes: &[u8]| left.min(bytes.len() as u64);
        let bytes = self.source.fill(8).map_err(|error| Error::new(offset, Reason::Io(error)))?;
        let available = limit(bytes);
        if available < 8 {
            return self.end(available);
        }
        let Some(header) = header(bytes, self.head.order) else { return self.end(available) };
        check_size(header, offset)?;
        let len = usize::from(header.size);
        let bytes = if bytes.len() < len {
            self.source.fill(len).map_err(|error| Error::new(offset, Reason::Io(error)))?
        } else {
            bytes
        };
        let Some(record) = bytes.get(..len).filter(|_| limit(bytes) >= len as u64) else {
            let (kind, available) = (header.kind, limit(bytes));
            return Err(Error::new(offset, Reason::TruncatedRecord { kind, needed: len as u64, available }));
        };
        let memory = if header.kind.0 < kind::FIRST.0 {
            self.context.events.update();
            if self.head.order.is_native() && is_aligned(record) {
                FoundIn::Plain { start: 0 }
            } else {
                self.copy(header, false)
            }
        } else {
            self.notice(header)?;
            FoundIn::Source
        };
        Ok(Some(Found { place: FileOffset::Offset(offset), header, memory }))
    }

    /// Finds the next record of the compressed stream.
    fn find_decompressed(&mut self) -> Result<Option<Found>> {
        let offset = self.compressed_at;
        let Some(decompressor) = &mut self.decompressor else { return Ok(None) };
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
        let is_aligned = is_aligned(decompressor.output());
        self.context.events.update();
        let memory = if header.kind.0 >= kind::FIRST.0 || (self.head.order.is_native() && is_aligned) {
            FoundIn::Decompressed
        } else {
            self.copy(header, true)
        };
        self.is_decompressed = true;
        Ok(Some(Found { place: FileOffset::InCompressed(offset), header, memory }))
    }

    /// Copies a record of the kernel to aligned memory and swaps it, if needed.
    #[cold]
    fn copy(&mut self, header: Header, is_decompressed: bool) -> FoundIn {
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
        FoundIn::Scratch
    }

    /// Uses what a record of a tool contains: an event or a feature, a part of the compressed stream, the
    /// length of the data that follows it.
    #[cold]
    fn notice(&mut self, header: Header) -> Result<()> {
        let (offset, order) = (self.offset, self.head.order);
        let record = self.source.filled().get(..usize::from(header.size)).unwrap_or_default();
        self.payload = payload_len(header.kind, record, order, offset)?;
        self.context.decompressed_len = None;
        if offset >= self.noticed {
            self.context.learn(header, record, offset)?;
        }
        match header.kind {
            kind::COMPRESSED | kind::COMPRESSED2 if self.decompresses => {
                if let UserRecord::Compressed(part) = UserRecord::parse(header, record, order, offset)? {
                    let decompressor = self.decompressor.get_or_insert_with(Box::default);
                    decompressor.feed(part);
                    self.context.decompressed_len = decompressor.decode_ahead(DECODED_AHEAD);
                    self.compressed_at = offset;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the reading with `available` bytes left, fewer than a header.
    #[cold]
    fn end(&mut self, available: u64) -> Result<Option<Found>> {
        let kind = perf_abi::RecordType(0);
        if available > 0 {
            return Err(Error::new(self.offset, Reason::TruncatedRecord { kind, needed: 8, available }));
        }
        if let Some(missing) = self.left.filter(|left| *left > 0) {
            return Err(Error::truncated(self.offset, "records", missing, 0));
        }
        match &self.decompressor {
            Some(decompressor) if decompressor.has_rest() => {
                let available = decompressor.output().len() as u64;
                let header = header(decompressor.output(), self.head.order);
                let needed = header.map_or(8, |header| header.size.into());
                let kind = header.map_or(kind, |header| header.kind);
                let reason = Reason::TruncatedRecord { kind, needed, available };
                Err(Error::new(self.compressed_at, reason))
            }
            _ => Ok(None),
        }
    }

    /// Consumes the data that follows the last record outside of its size, without reading it if the source
    /// can seek.
    #[cold]
    fn skip_payload(&mut self) -> Result<()> {
        let len = self.payload.min(self.left.unwrap_or(u64::MAX));
        let offset = self.offset;
        let skipped = self.source.skip(len).map_err(|error| Error::new(offset, Reason::Io(error)))?;
        self.advance(skipped);
        self.payload -= skipped;
        // What cannot be skipped is read, or is not there.
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
