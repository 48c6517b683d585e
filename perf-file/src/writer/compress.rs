use std::fmt;
use std::io::{self, Write};
use std::vec::Vec;

use perf_abi::{Header, Misc};
use zerocopy::IntoBytes;
use zstd_safe::{CCtx, compress_bound, get_error_name};

use super::output::Output;
use super::{Features, WriteError};
use crate::feature::{Compression, FeatureData};
use crate::format::{COMPRESSION_ZSTD, Feature, record_type};

/// Bytes of records in one `COMPRESSED` record. Even if they cannot be compressed, the frame fits into
/// the 16 bits of the record's length.
const CHUNK: usize = 60 << 10;

/// The level of zstd, which is the default of the perf tool: its fastest one.
const LEVEL: i32 = 1;

/// The part of the recording in errors.
const PART: &str = "compressed records";

/// Compresses records into `COMPRESSED` records, each of which is a complete frame of zstd, so that
/// a recording that was interrupted can be read up to its last whole record.
#[derive(Default)]
pub(super) struct Compressor {
    /// The state of libzstd, from the first record on. It is kept, because its creation allocates the tables of the level.
    context: Option<CCtx<'static>>,
    frame: Vec<u8>,
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
        // A record may extend over two chunks: readers join what they decompress.
        for chunk in records.chunks(CHUNK) {
            self.compress(chunk).map_err(|error| {
                let offset = output.taken();
                WriteError::Io { part: PART, offset, error }
            })?;
            let size = size_of::<Header>() + self.frame.len();
            let size = u16::try_from(size).map_err(|_| WriteError::RecordTooLong { part: PART, size })?;
            let header = Header { kind: record_type::COMPRESSED, misc: Misc::empty(), size };
            output.write(PART, header.as_bytes())?;
            output.write(PART, &self.frame)?;
            self.plain += chunk.len() as u64;
            self.compressed += self.frame.len() as u64;
        }
        Ok(())
    }

    /// Adds the feature that describes the compression.
    pub(super) fn describe(&self, features: &mut Features) {
        // As the perf tool does: rounded down, 0 before the first record.
        let ratio = self.plain.checked_div(self.compressed).unwrap_or(0);
        let compression = Compression {
            version: 1,
            kind: COMPRESSION_ZSTD,
            level: LEVEL.unsigned_abs(),
            ratio: u32::try_from(ratio).unwrap_or(u32::MAX),
            mmap_len: CHUNK as u32,
        };
        features.set(Feature::COMPRESSED, &FeatureData::Compression(compression));
    }

    /// Writes a chunk to `self.frame`.
    fn compress(&mut self, chunk: &[u8]) -> io::Result<()> {
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?),
        };
        self.frame.clear();
        self.frame.reserve(compress_bound(chunk.len()));
        match context.compress(&mut self.frame, chunk, LEVEL) {
            Ok(_) => Ok(()),
            Err(code) => Err(io::Error::other(get_error_name(code))),
        }
    }
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor")
            .field("plain", &self.plain)
            .field("compressed", &self.compressed)
            .finish_non_exhaustive()
    }
}
