//! The streaming writer: the file form on anything that seeks, the pipe form on anything else.

#[cfg(feature = "zstd")]
mod compress;
mod error;
mod event;
mod features;
mod file;
mod ids;
mod inventory;
mod lost;
mod output;
mod pipe;
#[cfg(not(feature = "zstd"))]
mod without_zstd;

use std::io::Write;

use perf_abi::{Header, Misc};
use perf_decode::Window;
use zerocopy::IntoBytes;

pub use error::WriteError;
pub use event::RecordedEvent;
pub use features::Features;
pub use inventory::Inventory;

use crate::format::{FeatureSet, RawFileHeader, record_type};
#[cfg(feature = "zstd")]
use compress::Compressor;
use output::Output;
#[cfg(not(feature = "zstd"))]
use without_zstd::Compressor;

/// Writes a recording to a file or a pipe, without decoding its records.
///
/// The events are written first, and the file form has the size of the data in its header after each
/// round, so a recording whose writer was killed can be read up to its last round. Before the first round
/// that size is 0: then readers of this crate take the records up to the end of the file.
///
/// ```
/// use std::io::Cursor;
///
/// use perf_abi::{Attr, Software};
/// use perf_decode::Window;
/// use perf_file::writer::{Features, RecordedEvent, Writer};
///
/// # fn main() -> Result<(), perf_file::writer::WriteError> {
/// let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock").with_ids([17, 18]);
/// let mut writer = Writer::file(Cursor::new(Vec::new()), &[event.clone()])?;
///
/// # let unread = Window::from_slices(&[], &[]);
/// // For each round over the rings: the unread part of each ring, then the mark.
/// writer.write_window(unread)?;
/// writer.finish_round()?;
///
/// let mut features = Features::new();
/// features.set_events(&[event]);
/// let file = writer.finish(&features)?;
/// # assert!(file.into_inner().starts_with(&perf_file::format::MAGIC.to_ne_bytes()));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// All methods return [`WriteError::Io`] if the file or pipe fails. A writer that failed may be
/// dropped: what was written is a recording that was interrupted.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: Output<W>,
    mode: Mode<W>,
    compressor: Option<Compressor>,
    events: Vec<RecordedEvent>,
    /// Whether ids were added since the start.
    has_new_ids: bool,
}

/// The form of the recording, with what it needs at the end.
#[derive(Debug)]
enum Mode<W> {
    File {
        header: RawFileHeader,
        /// A function, so that only the constructor requires `Seek`.
        rewrite: file::Rewrite<W>,
    },
    Pipe {
        /// The features that were written at the start.
        written: FeatureSet,
    },
}

impl<W: Write> Writer<W> {
    /// Compresses the records of rings with zstd from here on.
    ///
    /// Call it before the first record. Each `COMPRESSED` record is one frame of zstd. The perf tool
    /// reads them since 5.2, if it was built with zstd.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`] if the pipe form cannot write its description of the compression.
    #[cfg(feature = "zstd")]
    pub fn compressed(mut self) -> Result<Self, WriteError> {
        let compressor = Compressor::default();
        self.announce_compression(&compressor)?;
        self.compressor = Some(compressor);
        Ok(self)
    }

    /// Returns the number of bytes written so far.
    pub const fn position(&self) -> u64 {
        self.output.position()
    }

    /// Writes the unread part of a ring, which is a sequence of whole records.
    pub fn write_window(&mut self, window: Window<'_>) -> Result<(), WriteError> {
        let (first, second) = window.as_slices();
        self.write_records(first.as_bytes())?;
        self.write_records(second.as_bytes())
    }

    /// Writes bytes of records as they are. A record may be split between two calls.
    pub fn write_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        match &mut self.compressor {
            None => self.output.write("records", records),
            Some(compressor) => compressor.write(&mut self.output, records),
        }
    }

    /// Writes bytes of records that are never compressed, such as those from `AUXTRACE` (71) to
    /// `FINISHED_INIT` (82) that tools write, with the data that follows them.
    pub fn write_plain(&mut self, records: &[u8]) -> Result<(), WriteError> {
        self.output.write("records", records)
    }

    /// Marks the end of a round: every ring was read once since the last mark.
    ///
    /// Readers sort records by time up to such marks. Everything written before is handed to the
    /// file, and the file form writes the size of the data to its header.
    pub fn finish_round(&mut self) -> Result<(), WriteError> {
        self.write_mark(record_type::FINISHED_ROUND)?;
        self.flush()?;
        match &mut self.mode {
            Mode::File { header, rewrite } => file::update(&mut self.output, header, *rewrite),
            Mode::Pipe { .. } => Ok(()),
        }
    }

    /// Marks the end of the records that describe what was there before the recording.
    pub fn finish_init(&mut self) -> Result<(), WriteError> {
        self.write_mark(record_type::FINISHED_INIT)
    }

    /// Hands everything written so far to the file, which then holds it even if this program is killed.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush("records")
    }

    /// Ends the recording with its features and returns the file or pipe.
    ///
    /// The file form writes the feature sections and the final header. The pipe form writes those
    /// features that [`Writer::pipe`] did not have.
    pub fn finish(self, features: &Features) -> Result<W, WriteError> {
        // The ratio of the compression is known only now. In the pipe form it was announced, and is not written again.
        let mut features = features.clone();
        if let Some(compressor) = &self.compressor {
            compressor.describe(&mut features);
        }
        match self.mode {
            Mode::File { header, rewrite } => {
                let changed = self.has_new_ids.then_some(&self.events[..]);
                file::finish(self.output, header, rewrite, &features, changed)
            }
            Mode::Pipe { written } => pipe::finish(self.output, written, &features),
        }
    }

    #[cfg(feature = "zstd")]
    fn announce_compression(&mut self, compressor: &Compressor) -> Result<(), WriteError> {
        // A reader of a pipe cannot look at the end, and must know the algorithm before the first compressed record.
        let Mode::Pipe { written } = &mut self.mode else { return Ok(()) };
        let mut features = Features::new();
        compressor.describe(&mut features);
        pipe::write_features(&mut self.output, written, &features)
    }

    fn write_mark(&mut self, kind: perf_abi::RecordType) -> Result<(), WriteError> {
        let header = Header { kind, misc: Misc::empty(), size: size_of::<Header>() as u16 };
        self.output.write("records", header.as_bytes())
    }
}

#[cfg(test)]
mod tests;
