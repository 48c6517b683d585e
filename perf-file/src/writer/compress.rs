use std::io::Write;

use perf_abi::{Header, Misc};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use zerocopy::IntoBytes;

use super::output::Output;
use super::{Features, WriteError};
use crate::format::record_type;

/// Bytes of records in one `COMPRESSED` record. Even if they cannot be compressed, the frame fits into
/// the 16 bits of the record's length.
const CHUNK: usize = 60 << 10;

/// Compresses records into `COMPRESSED` records, each of which is a complete frame of zstd, so that
/// a recording that was interrupted can be read up to its last whole record.
#[derive(Debug, Default)]
pub(super) struct Compressor {
    /// Bytes of records so far.
    plain: u64,
    /// Bytes of their frames.
    compressed: u64,
}

impl Compressor {
    pub(super) fn write<W: Write>(
        &mut self,
        output: &mut Output<W>,
        records: &[u8],
    ) -> Result<(), WriteError> {
        for chunk in records.chunks(CHUNK) {
            let (frame, size) = frame(chunk)?;
            let header = Header { kind: record_type::COMPRESSED, misc: Misc::empty(), size };
            output.write("compressed records", header.as_bytes())?;
            output.write("compressed records", &frame)?;
            self.plain += chunk.len() as u64;
            self.compressed += frame.len() as u64;
        }
        Ok(())
    }

    /// Adds the feature that describes the compression.
    pub(super) fn describe(&self, features: &mut Features) {
        // As the perf tool does: rounded down, 0 before the first record.
        let ratio = self.plain.checked_div(self.compressed).unwrap_or(0);
        features.set_compression(LEVEL, u32::try_from(ratio).unwrap_or(u32::MAX), CHUNK as u32);
    }
}

/// The level of zstd that is nearest to the encoder's only one.
const LEVEL: u32 = 1;

/// Returns a chunk as a frame, and the length of the record with it.
fn frame(chunk: &[u8]) -> Result<(Vec<u8>, u16), WriteError> {
    let size = |frame: &[u8]| size_of::<Header>() + frame.len();
    let mut frame = compress_to_vec(chunk, CompressionLevel::Fastest);
    if size(&frame) > usize::from(u16::MAX) {
        frame = compress_to_vec(chunk, CompressionLevel::Uncompressed);
    }
    let size = size(&frame);
    match u16::try_from(size) {
        Ok(short) => Ok((frame, short)),
        Err(_) => Err(WriteError::RecordTooLong { part: "compressed records", size }),
    }
}
