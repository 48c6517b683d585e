//! The streaming writer: the file form on anything that seeks, the pipe form on anything else.

mod compress;
mod features;
mod file;
mod inventory;
mod output;
mod pipe;

use std::io::Write;

use perf_abi::{AttrFlags, Header, Misc, RecordType, SampleType};
use perf_decode::Window;
use perf_decode::schema::{TRAILER, recorded};
use zerocopy::IntoBytes;

pub use features::{Features, RecordedEvent};
pub use inventory::Inventory;

use crate::error::{Error, Reason, Result};
use crate::format::{FeatureSet, RawFileHeader, record_type};
use compress::Compressor;
use features::attr_size;
use output::Output;

/// Writes a recording to a file or a pipe, without decoding its records.
///
/// The events are written first, and the file form has the size of the data in its header after
/// each round, so a recording whose writer was killed can be read up to its last round. Before the
/// first round that size is 0: then readers of this crate take the records up to the end of the
/// file.
///
/// ```
/// use std::io::Cursor;
///
/// use perf_abi::{Attr, Software};
/// use perf_decode::Window;
/// use perf_file::writer::{Features, RecordedEvent, Writer};
///
/// # fn main() -> perf_file::Result<()> {
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
/// All methods return [`Reason::Write`] if the file or pipe fails. A failed writer may be dropped:
/// the file is then an interrupted recording.
#[derive(Debug)]
pub struct Writer<W: Write> {
    output: Output<W>,
    mode: Mode<W>,
    compressor: Option<Compressor>,
    events: Vec<RecordedEvent>,
    /// Whether ids were added since the start.
    has_new_ids: bool,
}

/// The form of the recording, and the state that its end needs.
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
    /// Call it before the first record. Each `COMPRESSED` record is one frame of zstd. The perf
    /// tool reads them since 5.2, if it was built with zstd.
    ///
    /// # Errors
    ///
    /// [`Reason::Write`] if the crate was built without the feature `zstd`, or if the pipe form
    /// cannot write its description of the compression.
    pub fn compressed(self) -> Result<Self> {
        self.compressed_at(compress::LEVEL)
    }

    /// Compresses the records from here on like [`compressed`](Self::compressed), at a zstd level
    /// from 1, the fastest, to 22. libzstd clamps other levels to the nearest valid one.
    ///
    /// # Errors
    ///
    /// [`Reason::Write`], with the same causes as in [`compressed`](Self::compressed).
    pub fn compressed_at(mut self, level: i32) -> Result<Self> {
        let mut compressor = Compressor::new(level);
        let failed = |error| Error::new(self.output.taken(), Reason::Write { part: compress::PART, error });
        compressor.compress(&[]).map_err(failed)?;
        // A reader of a pipe cannot look at the end, and must know the algorithm before the first
        // compressed record.
        if let Mode::Pipe { written } = &mut self.mode {
            let mut features = Features::new();
            compressor.describe(&mut features);
            pipe::write_features(&mut self.output, written, &features)?;
        }
        self.compressor = Some(compressor);
        Ok(self)
    }

    /// Returns the number of bytes written so far.
    pub const fn position(&self) -> u64 {
        self.output.position()
    }

    /// Writes the unread part of a ring, which is a sequence of whole records.
    pub fn write_window(&mut self, window: Window<'_>) -> Result<()> {
        let (first, second) = window.as_slices();
        self.write_records(first.as_bytes())?;
        self.write_records(second.as_bytes())
    }

    /// Writes bytes of records as they are. A record may be split between two calls.
    pub fn write_records(&mut self, records: &[u8]) -> Result<()> {
        match &mut self.compressor {
            None => self.output.write("records", records),
            Some(compressor) => compressor.write(&mut self.output, records),
        }
    }

    /// Writes bytes of records that are never compressed, such as those from `AUXTRACE` (71) to
    /// `FINISHED_INIT` (82) that tools write, with the data that follows them.
    pub fn write_plain(&mut self, records: &[u8]) -> Result<()> {
        self.output.write("records", records)
    }

    /// Marks the end of a round: every ring was read once since the last mark.
    ///
    /// Readers sort records by time up to such marks. Everything written before is handed to the
    /// file, and the file form writes the size of the data to its header.
    pub fn finish_round(&mut self) -> Result<()> {
        self.write_mark(record_type::FINISHED_ROUND)?;
        self.flush()?;
        match &mut self.mode {
            Mode::File { header, rewrite } => file::update(&mut self.output, header, *rewrite),
            Mode::Pipe { .. } => Ok(()),
        }
    }

    /// Marks the end of the synthetic records, which describe the state before the recording.
    pub fn finish_init(&mut self) -> Result<()> {
        self.write_mark(record_type::FINISHED_INIT)
    }

    /// Hands everything written so far to the file, which then holds it even if this program is
    /// killed.
    pub fn flush(&mut self) -> Result<()> {
        self.output.flush("records")
    }

    /// Ends the recording with its features and returns the file or pipe.
    ///
    /// The file form writes the feature sections and the final header. The pipe form writes those
    /// features that [`Writer::pipe`] did not have.
    pub fn finish(mut self, features: &Features) -> Result<W> {
        // The ratio of the compression is known only now. In the pipe form it was announced, and is
        // not written again.
        let mut features = features.clone();
        if let Some(compressor) = &self.compressor {
            compressor.describe(&mut features);
        }
        match self.mode {
            Mode::File { header, rewrite } => {
                let changed = self.has_new_ids.then_some(&self.events[..]);
                file::finish(self.output, header, rewrite, &features, changed)
            }
            Mode::Pipe { mut written } => {
                pipe::write_features(&mut self.output, &mut written, &features)?;
                self.output.into_inner("features")
            }
        }
    }

    /// Adds ids of file descriptors that were opened during the recording to an event, such as for
    /// a CPU that came online. `event` is its index in the list with which the recording was
    /// started.
    ///
    /// Call it after a round and before the first record with one of these ids.
    ///
    /// [`Writer::finish`] of the file form writes all ids; a recording that was interrupted before
    /// lacks those that were added. Give it the events with all ids too
    /// ([`Features::set_events`](Features::set_events)). The pipe form has the ids at once, in a
    /// further event with the same attr and name.
    ///
    /// # Errors
    ///
    /// [`Reason::NoEvent`] if the recording has no such event, and in the pipe form
    /// [`Reason::RecordTooLong`] for more than some 8000 ids.
    pub fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<()> {
        let added = RecordedEvent { ids: ids.to_vec(), ..self.event(event)?.clone() };
        if ids.is_empty() {
            return Ok(());
        }
        match (&self.mode, self.events.get_mut(event)) {
            (Mode::File { .. }, Some(event)) => {
                event.ids.extend(ids);
                self.has_new_ids = true;
                Ok(())
            }
            _ => pipe::write_again(&mut self.output, &added, attr_size(&self.events)),
        }
    }

    /// Writes how many records an event descriptor lost, as the perf tool does at the end of a
    /// recording: a `LOST_SAMPLES` record with the id of the descriptor.
    ///
    /// The kernel writes a `LOST` record only before the next record that fits into the ring, so a
    /// recording lacks the losses after the last one. Call this for each descriptor after the
    /// events were disabled and the rings were drained, before [`finish`](Self::finish). `event` is
    /// the index in the list with which the recording was started, `id` the id of the descriptor,
    /// and `lost` its total count since it was opened, as a read with
    /// [`ReadFormat::LOST`](perf_abi::ReadFormat::LOST) returns it, or the increase since the last
    /// call. A count of 0 writes nothing. `time` is a time until which the records were lost, in ns
    /// of the clock of the events. A reader that sorts returns a record with time 0, as the perf
    /// tool writes it, at once.
    ///
    /// The count includes what `LOST` records reported, so a reader does not add the two. A
    /// recording without its `LOST` records is not ambiguous. Kernels before Linux 6.0 lack
    /// `ReadFormat::LOST` and have no such count.
    ///
    /// ```
    /// use perf_abi::{Attr, Software};
    /// use perf_file::writer::{Features, RecordedEvent, Writer};
    ///
    /// # fn main() -> perf_file::Result<()> {
    /// let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock").with_ids([17, 18]);
    /// let mut writer = Writer::pipe(Vec::new(), &[event], &Features::new())?;
    /// // The rings were drained. Then, for each descriptor that was opened:
    /// writer.write_lost_samples(0, 17, 1993, 0)?;
    /// writer.write_lost_samples(0, 18, 0, 0)?;
    /// writer.finish(&Features::new())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::NoEvent`] if the recording has no such event, [`Reason::Write`].
    pub fn write_lost_samples(&mut self, event: usize, id: u64, lost: u64, time: u64) -> Result<()> {
        let event = self.event(event)?;
        if lost == 0 {
            return Ok(());
        }
        let mut words = vec![lost];
        if event.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            // The trailer of the kernel's records, so that a reader finds the event by the id as in
            // those.
            let fields = recorded(TRAILER, event.attr.sample_type).map(|row| row.bit);
            words.extend(fields.map(|field| match field {
                SampleType::ID | SampleType::IDENTIFIER => id,
                SampleType::TIME => time,
                _ => 0,
            }));
        }
        let size = (size_of::<Header>() + 8 * words.len()) as u16;
        let header = Header { kind: RecordType::LOST_SAMPLES, misc: Misc::empty(), size };
        self.write_plain(header.as_bytes())?;
        self.write_plain(words.as_bytes())
    }

    /// Returns the event with this index in the list with which the recording was started.
    fn event(&self, event: usize) -> Result<&RecordedEvent> {
        let reason = Reason::NoEvent { event, events: self.events.len() };
        self.events.get(event).ok_or_else(|| Error::of_file(reason))
    }

    fn write_mark(&mut self, kind: RecordType) -> Result<()> {
        let header = Header { kind, misc: Misc::empty(), size: size_of::<Header>() as u16 };
        self.output.write("records", header.as_bytes())
    }
}

#[cfg(test)]
mod tests;
