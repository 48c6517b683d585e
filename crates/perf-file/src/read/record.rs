//! A record as a reader returns it.

use std::vec::Vec;

use perf_abi::{Header, RecordType};
use perf_decode::{RawRecord, Record};

use super::{FeatureBuf, FileEvent, FileEvents};
use crate::error::{Error, Reason, Result};
use crate::format::record_type;
use crate::order::ByteOrder;
use crate::record::UserRecord;

/// A record of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileRecord<'r> {
    pub(super) place: FileOffset,
    pub(super) content: Content<'r>,
    pub(super) context: &'r Context,
}

/// The bytes of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'r> {
    /// The record has a kind of the kernel.
    Kernel(RawRecord<'r>),
    /// The record has a kind of tools.
    Tool { header: Header, bytes: &'r [u8] },
}

/// The properties that the records of a reader share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) order: ByteOrder,
    pub(super) events: FileEvents,
    /// The features of the pipe form that were read.
    pub(super) features: Vec<FeatureBuf>,
    /// Number of the file in a directory.
    pub(super) part: Option<u32>,
    /// Length of the content of the last compressed record, if it is decompressed.
    pub(super) decompressed_len: Option<usize>,
}

/// The position of a record, in bytes from the start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileOffset {
    /// The record starts here.
    Offset(u64),
    /// The record ends in the content of the compressed record that starts here.
    InCompressed(u64),
}

impl FileOffset {
    /// Returns the offset of the record, or of the compressed record in which it is.
    pub const fn offset(self) -> u64 {
        match self {
            Self::Offset(offset) | Self::InCompressed(offset) => offset,
        }
    }
}

impl<'r> FileRecord<'r> {
    /// Returns the position.
    pub fn place(&self) -> FileOffset {
        self.place
    }

    /// Returns N if the record is in the file `data.N` of a directory.
    pub fn part(&self) -> Option<u32> {
        self.context.part
    }

    /// Returns the header, in the byte order of this machine.
    #[inline]
    pub fn header(&self) -> Header {
        match self.content {
            Content::Kernel(raw) => raw.header(),
            Content::Tool { header, .. } => header,
        }
    }

    /// Returns the kind.
    #[inline]
    pub fn kind(&self) -> RecordType {
        self.header().kind
    }

    /// Returns the record with its header. Kernel records are in the byte order of this machine,
    /// records of tools in the byte order of the file.
    pub fn bytes(&self) -> &'r [u8] {
        match self.content {
            Content::Kernel(raw) => raw.bytes(),
            Content::Tool { bytes, .. } => bytes,
        }
    }

    /// Returns the record if it has a kind of the kernel.
    #[inline]
    pub fn kernel(&self) -> Option<RawRecord<'r>> {
        match self.content {
            Content::Kernel(raw) => Some(raw),
            Content::Tool { .. } => None,
        }
    }

    /// Returns the event that wrote the record, and its index in the file.
    ///
    /// # Errors
    ///
    /// [`Reason::Decoding`] with an error of [`FileEvents::find`], also for a record of a kind of
    /// tools.
    #[inline]
    pub fn event(&self) -> Result<(usize, &'r FileEvent)> {
        let found = match self.content {
            Content::Kernel(raw) => self.context.events.find(raw),
            Content::Tool { header, .. } => Err(perf_decode::Error::NoId { kind: header.kind }),
        };
        found.map_err(|error| self.error(error))
    }

    /// Returns the events of the file that are known so far.
    pub fn events(&self) -> &'r [FileEvent] {
        self.context.events.as_slice()
    }

    /// Decodes the record if it has a kind of the kernel.
    ///
    /// # Errors
    ///
    /// [`Reason::Decoding`] if [`event`](FileRecord::event) does not find the event, or if the
    /// record does not match its layout.
    #[inline]
    pub fn decode(&self) -> Result<Record<'r>> {
        let (_, event) = self.event()?;
        let Content::Kernel(raw) = self.content else {
            return Err(self.error(perf_decode::Error::NoId { kind: self.kind() }));
        };
        raw.decode(&event.layout).map_err(|error| self.error(error))
    }

    /// Parses the record if it has a kind of tools.
    ///
    /// # Errors
    ///
    /// An error of [`UserRecord::parse`]. A record of the kernel is [`UserRecord::Unknown`].
    pub fn user(&self) -> Result<UserRecord<'r>> {
        UserRecord::parse(self.header(), self.bytes(), self.context.order, self.place.offset())
    }

    /// Returns the length of the content of a compressed record in bytes; `None` for the other
    /// kinds, for a content of more than 4 MiB and for a malformed one, whose error follows its
    /// last whole record.
    pub fn decompressed_len(&self) -> Option<usize> {
        let is_compressed = matches!(self.kind(), record_type::COMPRESSED | record_type::COMPRESSED2);
        self.context.decompressed_len.filter(|_| is_compressed)
    }

    /// Returns the time of the record in ns; `None` if it has no time, or if its event is unknown.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        let raw = self.kernel()?;
        let (_, event) = self.context.events.find(raw).ok()?;
        raw.time(&event.layout)
    }

    #[cold]
    fn error(&self, error: perf_decode::Error) -> Error {
        Error::new(self.place.offset(), Reason::Decoding(error))
    }
}
