//! Compressed records.

use std::fmt;
use std::io::{self, Write};
use std::vec::Vec;

use perf_abi::{Header, Misc};
use zerocopy::IntoBytes;
#[cfg(feature = "zstd")]
use zstd_safe::{CCtx, compress_bound, get_error_name};

use super::Features;
use super::output::Output;
use crate::error::{Error, Reason, Result};
use crate::feature::{Compression, FeatureData};
use crate::format::{COMPRESSION_ZSTD, Feature, record_type};

/// Bytes of records in one `COMPRESSED` record. Even if they cannot be compressed, the frame fits
/// into the 16 bits of the record's length.
const CHUNK: usize = 60 << 10;

/// The default level of the perf tool.
pub(super) const LEVEL: i32 = 1;

/// The part of the recording in errors.
pub(super) const PART: &str = "compressed records";

/// Compresses records into `COMPRESSED` records, each of which is a complete zstd frame, so that an
/// interrupted recording can be read up to its last complete record.
pub(super) struct Compressor {
    level: i32,
    /// The state of libzstd. It is kept, because its creation allocates the tables of the level.
    #[cfg(feature = "zstd")]
    context: Option<CCtx<'static>>,
    frame: Vec<u8>,
    /// Bytes of records so far.
    plain: u64,
    /// Bytes of their frames.
    compressed: u64,
}

impl Compressor {
    pub(super) const fn new(level: i32) -> Self {
        Self {
            level,
            #[cfg(feature = "zstd")]
            context: None,
            frame: Vec::new(),
            plain: 0,
            compressed: 0,
        }
    }

    pub(super) fn write<W: Write>(&mut self, output: &mut Output<W>, records: &[u8]) -> Result<()> {
        // A record may extend over two chunks: readers join what they decompress.
        for chunk in records.chunks(CHUNK) {
            self.compress(chunk)
                .map_err(|error| Error::new(output.taken(), Reason::Write { part: PART, error }))?;
            let size = size_of::<Header>() + self.frame.len();
            let too_long = |_| Error::of_file(Reason::RecordTooLong { part: PART, size });
            let size = u16::try_from(size).map_err(too_long)?;
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
        // Rounded down like in the perf tool, 0 before the first record.
        let ratio = self.plain.checked_div(self.compressed).unwrap_or(0);
        let compression = Compression {
            version: 1,
            kind: COMPRESSION_ZSTD,
            level: self.level.unsigned_abs(),
            ratio: u32::try_from(ratio).unwrap_or(u32::MAX),
            mmap_len: CHUNK as u32,
        };
        features.set(Feature::COMPRESSED, &FeatureData::Compression(compression));
    }

    /// Writes a chunk to `self.frame`.
    #[cfg(feature = "zstd")]
    pub(super) fn compress(&mut self, chunk: &[u8]) -> io::Result<()> {
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?),
        };
        self.frame.clear();
        self.frame.reserve(compress_bound(chunk.len()));
        match context.compress(&mut self.frame, chunk, self.level) {
            Ok(_) => Ok(()),
            Err(code) => Err(io::Error::other(get_error_name(code))),
        }
    }

    #[cfg(not(feature = "zstd"))]
    #[expect(clippy::unused_self, reason = "the method with the feature uses it")]
    pub(super) fn compress(&mut self, _: &[u8]) -> io::Result<()> {
        let reason = "perf-file was built without the feature `zstd`";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
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
