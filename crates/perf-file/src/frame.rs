//! Framing: where a record of a file starts and ends.

use perf_abi::{Header, Misc, RecordType};
use perf_decode::RawRecord;

use crate::bytes::Bytes;
use crate::error::{Error, Reason, Result};
use crate::format::record_type;
use crate::order::ByteOrder;
use crate::record::UserRecord;

/// A record of a file as it is in the file: not swapped, not aligned, not decompressed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RawFileRecord<'a> {
    /// Offset of the record in bytes from the start of the file.
    pub offset: u64,
    /// The header, in the byte order of this machine.
    pub header: Header,
    /// The record with its header, in the byte order of the file.
    pub bytes: &'a [u8],
    /// The data that follows the record outside of its size: AUX data, or formats of tracepoints.
    pub payload: &'a [u8],
    /// The byte order of the file.
    pub order: ByteOrder,
}

impl<'a> RawFileRecord<'a> {
    /// Splits the first record off `bytes`, which start at `offset` in the file. Returns it and the
    /// bytes after it.
    ///
    /// # Errors
    ///
    /// [`Reason::TruncatedRecord`], or [`Reason::RecordSize`].
    #[inline]
    pub fn split_first(bytes: &'a [u8], order: ByteOrder, offset: u64) -> Result<(Self, &'a [u8])> {
        // Nearly all records of a file. The rest, with its errors, is kept out of the loop of the
        // caller.
        if order.is_native() {
            if let Some((header, bytes, rest)) = split_native(bytes) {
                return Ok((Self { offset, header, bytes, payload: &[], order }, rest));
            }
        }
        Self::split_any(bytes, order, offset)
    }

    /// Splits off a record of any kind and byte order.
    #[cold]
    fn split_any(bytes: &'a [u8], order: ByteOrder, offset: u64) -> Result<(Self, &'a [u8])> {
        let available = bytes.len() as u64;
        let truncated =
            |kind, needed| Error::new(offset, Reason::TruncatedRecord { kind, needed, available });
        let header = header(bytes, order).ok_or_else(|| truncated(RecordType(0), 8))?;
        check_size(header, offset)?;
        let kind = header.kind;
        let Some((record, rest)) = bytes.split_at_checked(header.size.into()) else {
            return Err(truncated(kind, header.size.into()));
        };
        let payload_len = payload_len(kind, record, order, offset)?;
        let payload = usize::try_from(payload_len).ok().and_then(|len| rest.split_at_checked(len));
        let Some((payload, rest)) = payload else {
            return Err(truncated(kind, payload_len.saturating_add(header.size.into())));
        };
        Ok((Self { offset, header, bytes: record, payload, order }, rest))
    }

    /// Returns the kind of the record.
    pub const fn kind(&self) -> RecordType {
        self.header.kind
    }

    /// Returns the record as the decoder takes it; `None` if a tool wrote it in its own form, if it
    /// has the other byte order or is not aligned to 8 bytes in memory.
    #[inline]
    pub fn raw(&self) -> Option<RawRecord<'a>> {
        if self.is_user() || !self.order.is_native() {
            return None;
        }
        RawRecord::from_bytes(self.bytes).ok()
    }

    /// Returns whether a tool wrote the record in its own form, not in one of the kernel's.
    pub const fn is_user(&self) -> bool {
        self.header.kind.0 >= record_type::FIRST.0
    }

    /// Parses a record that a tool wrote in its own form.
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`] if a field is past the end of the record, [`Reason::Unsupported`].
    pub fn user(&self) -> Result<UserRecord<'a>> {
        UserRecord::parse(self.header, self.bytes, self.order, self.offset)
    }
}

/// Splits a record of the kernel in this machine's byte order off `bytes`; `None` if it is not one,
/// or malformed.
#[inline]
fn split_native(bytes: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let header: Header = zerocopy::transmute!(*bytes.first_chunk::<8>()?);
    if header.kind.0 >= record_type::FIRST.0 || header.size < 8 || header.size % 8 != 0 {
        return None;
    }
    let (record, rest) = bytes.split_at_checked(header.size.into())?;
    Some((header, record, rest))
}

/// Returns the header at the start of `bytes`.
#[inline]
pub(crate) fn header(bytes: &[u8], order: ByteOrder) -> Option<Header> {
    let first: &[u8; 8] = bytes.first_chunk()?;
    let header: Header = zerocopy::transmute!(*first);
    if order.is_native() {
        return Some(header);
    }
    Some(Header {
        kind: RecordType(header.kind.0.swap_bytes()),
        misc: Misc::from_bits_retain(header.misc.bits().swap_bytes()),
        size: header.size.swap_bytes(),
    })
}

/// Checks the size in a header.
#[inline]
pub(crate) fn check_size(header: Header, offset: u64) -> Result<()> {
    // Tools write records of any length, such as compressed ones.
    let is_of_kernel = header.kind.0 < record_type::FIRST.0;
    if header.size < 8 || (is_of_kernel && header.size % 8 != 0) {
        return Err(Error::new(offset, Reason::RecordSize { kind: header.kind, found: header.size }));
    }
    Ok(())
}

/// Returns the number of bytes that follow a record outside of its size.
///
/// # Errors
///
/// [`Reason::Truncated`] if the record is too short to hold that number.
pub(crate) fn payload_len(kind: RecordType, record: &[u8], order: ByteOrder, offset: u64) -> Result<u64> {
    let mut body = Bytes::new(record, order, offset);
    // Their data can be longer than the 64 KiB of a record.
    match kind {
        record_type::HEADER_TRACING_DATA => {
            body.take(8, "header")?;
            body.u32("size").map(u64::from)
        }
        record_type::AUXTRACE => {
            body.take(8, "header")?;
            body.u64("size")
        }
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Encoder, ORDERS};
    use zerocopy::IntoBytes as _;

    /// Returns a header and a number, aligned in memory.
    fn record(order: ByteOrder, kind: RecordType, size: u16) -> [u64; 2] {
        let mut put = Encoder::new(order);
        // type, misc, size; a number
        put.u32(kind.0).u16(0).u16(size).u64(7);
        let mut words = [0; 2];
        words.as_mut_bytes().copy_from_slice(&put.bytes);
        words
    }

    #[test]
    fn decoder_takes_native_records_of_the_kernel() {
        for order in ORDERS {
            for kind in [RecordType::SAMPLE, record_type::FINISHED_ROUND] {
                let words = record(order, kind, 16);
                let (frame, rest) = RawFileRecord::split_first(words.as_bytes(), order, 0).unwrap();
                assert_eq!((frame.kind(), rest.len()), (kind, 0));
                let is_taken = kind == RecordType::SAMPLE && order.is_native();
                assert_eq!(frame.raw().is_some(), is_taken, "{order:?} {kind:?}");
            }
        }
    }

    #[test]
    fn record_has_its_header_at_least_and_one_of_the_kernel_whole_words() {
        for order in ORDERS {
            for (kind, size, is_right) in [
                (RecordType::SWITCH, 8, true),
                (RecordType::SWITCH, 7, false),
                (RecordType::SWITCH, 12, false),
                (record_type::FIRST, 12, true),
                (record_type::HEADER_FEATURE, 12, true),
                (record_type::HEADER_FEATURE, 7, false),
            ] {
                let words = record(order, kind, size);
                match RawFileRecord::split_first(words.as_bytes(), order, 0) {
                    Ok((frame, rest)) => {
                        assert!(is_right, "{kind:?} {size}");
                        assert_eq!((frame.bytes.len(), rest.len()), (size.into(), 16 - usize::from(size)));
                    }
                    Err(error) => {
                        assert!(!is_right, "{kind:?} {size}");
                        assert!(matches!(error.reason, Reason::RecordSize { .. }), "{error}");
                    }
                }
            }
        }
    }
}
