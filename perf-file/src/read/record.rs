//! A record as a reader returns it.

use perf_abi::{Header, RecordType};
use perf_decode::{RawRecord, Record};

use super::{Event, Events};
use crate::format::record_type;
use crate::{ByteOrder, Error, Reason, Result, ToolRecord};

/// A record of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileRecord<'r> {
    pub(super) place: Place,
    pub(super) header: Header,
    pub(super) bytes: &'r [u8],
    /// The record if it has a kind of the kernel.
    pub(super) raw: Option<RawRecord<'r>>,
    pub(super) order: ByteOrder,
    pub(super) decompressed_len: Option<usize>,
    pub(super) part: Option<u32>,
    pub(super) events: &'r Events,
}

/// The position of a record, in bytes from the start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The record starts here.
    Offset(u64),
    /// The record ends in the content of the compressed record that starts here.
    InCompressed(u64),
}

impl Place {
    /// Returns the offset of the record, or of the compressed record in which it is.
    #[must_use]
    pub const fn offset(self) -> u64 {
        match self {
            Self::Offset(offset) | Self::InCompressed(offset) => offset,
        }
    }
}

impl<'r> FileRecord<'r> {
    /// Returns the position.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns N if the record is in the file `data.N` of a [`Directory`](super::Directory).
    #[must_use]
    pub fn part(&self) -> Option<u32> {
        self.part
    }

    /// Returns the header, in the byte order of this machine.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> RecordType {
        self.header.kind
    }

    /// Returns the record with its header: in the byte order of this machine if it has a kind of
    /// the kernel, in that of the file if it has one of tools.
    #[must_use]
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Returns the record if it has a kind of the kernel.
    #[inline]
    #[must_use]
    pub fn kernel(&self) -> Option<RawRecord<'r>> {
        self.raw
    }

    /// Returns the event that wrote the record, and its index in the file.
    ///
    /// # Errors
    ///
    /// [`Reason::Decoding`] with an error of [`Events::find`], also for a record of a kind of tools.
    #[inline]
    pub fn event(&self) -> Result<(usize, &'r Event)> {
        let kind = self.header.kind;
        let found = match self.raw {
            Some(raw) => self.events.find(raw),
            None => Err(perf_decode::Error::NoId { kind }),
        };
        found.map_err(|error| self.error(error))
    }

    /// Returns the events of the file that are known so far.
    #[must_use]
    pub fn events(&self) -> &'r [Event] {
        self.events.as_slice()
    }

    /// Decodes the record if it has a kind of the kernel.
    ///
    /// # Errors
    ///
    /// Those of [`event`](FileRecord::event), and [`Reason::Decoding`] if the record does not match
    /// the layout of its event.
    #[inline]
    pub fn decode(&self) -> Result<Record<'r>> {
        let Some(raw) = self.raw else {
            return Err(self.error(perf_decode::Error::NoId { kind: self.header.kind }));
        };
        let (_, event) = self.event()?;
        raw.decode(event.layout()).map_err(|error| self.error(error))
    }

    /// Parses the record if it has a kind of tools.
    ///
    /// # Errors
    ///
    /// Those of [`ToolRecord::parse`]. A record of the kernel is [`ToolRecord::Unknown`].
    pub fn tool(&self) -> Result<ToolRecord<'r>> {
        ToolRecord::parse(self.header, self.bytes, self.order, self.place.offset())
    }

    /// Returns the length of the content of a compressed record in bytes; `None` for the other
    /// kinds, for a content of more than 4 MiB and for a malformed one, whose error follows its last whole
    /// record.
    #[must_use]
    pub fn decompressed_len(&self) -> Option<usize> {
        let is_compressed = matches!(self.header.kind, record_type::COMPRESSED | record_type::COMPRESSED2);
        self.decompressed_len.filter(|_| is_compressed)
    }

    /// Returns the time of the record in ns; `None` if it has none, or if its event is unknown.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        let raw = self.raw?;
        let (_, event) = self.events.find(raw).ok()?;
        raw.time(event.layout())
    }

    #[cold]
    fn error(&self, error: perf_decode::Error) -> Error {
        Error::new(self.place.offset(), Reason::Decoding(error))
    }
}
