//! Options of a [`PerfBuffer`](super::PerfBuffer).

use perf_ring::{Attr, AttrFlags, ReadFormat, RingSet, SampleLayout, SampleType, Software};
use perf_session::{CpuList, System};

use super::PerfBuffer;
use super::records::Format;
use crate::array::EventArray;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Refused;

/// The rings of a [`PerfBuffer`], and the contents of their records.
///
/// By default each ring has 64 pages, every record wakes the reader, and samples have only the raw
/// data.
#[must_use = "options do nothing until a reader is opened with them"]
#[derive(Clone, Debug)]
pub struct PerfBufferOptions {
    pub(super) pages: usize,
    wakeup: Wakeup,
    sample_type: SampleType,
    payload_size: Option<usize>,
    pub(super) cpus: Option<CpuList>,
    pub(super) system: System,
}

#[derive(Clone, Copy, Debug)]
enum Wakeup {
    Events(u32),
    Bytes(u32),
}

impl PerfBufferOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            pages: 64,
            wakeup: Wakeup::Events(1),
            sample_type: SampleType::RAW,
            payload_size: None,
            cpus: None,
            system: System::new(),
        }
    }

    /// Sets the data pages of each ring, a power of two.
    pub fn pages(self, pages: usize) -> Self {
        Self { pages, ..self }
    }

    /// Wakes the reader after this number of records in one ring. With more than 1, use a timeout
    /// in the waits: fewer records cause no wakeup, however old they are.
    pub fn wakeup_events(self, records: u32) -> Self {
        Self { wakeup: Wakeup::Events(records), ..self }
    }

    /// Wakes the reader when a ring has this number of unread bytes. Use a timeout in the waits.
    pub fn wakeup_watermark(self, bytes: u32) -> Self {
        Self { wakeup: Wakeup::Bytes(bytes), ..self }
    }

    /// Adds fields to the samples, such as [`SampleType::TIME`]. [`PerfBufferSample::decode`]
    /// returns them.
    ///
    /// [`PerfBufferSample::decode`]: super::PerfBufferSample::decode
    pub fn sample_type(self, fields: SampleType) -> Self {
        Self { sample_type: self.sample_type | fields, ..self }
    }

    /// Sets the number of bytes that the program writes, if it is always the same. Then samples
    /// have no padding, and a shorter sample is counted as truncated.
    pub fn payload_size(self, bytes: usize) -> Self {
        Self { payload_size: Some(bytes), ..self }
    }

    /// Sets the CPUs instead of all online CPUs. Output of programs on other CPUs fails with
    /// `ENOENT`. For a reader of one CPU pass `cpu.into()`; several readers can share the CPUs of
    /// one map.
    pub fn cpus(self, cpus: CpuList) -> Self {
        Self { cpus: Some(cpus), ..self }
    }

    /// Sets the system whose `/sys` has the CPUs. The events are opened on the running system in
    /// any case.
    pub fn system(self, system: System) -> Self {
        Self { system, ..self }
    }

    /// Opens an event and a ring for each online CPU, enables the events, and then fills the slots
    /// of `array` with them.
    ///
    /// This takes the slots over from any other reader of the same map, also in another process.
    /// That reader gets no further records, and learns it from its next wait
    /// ([`PerfBuffer`](PerfBuffer#several-readers-of-one-map)).
    ///
    /// The open and each [`refresh`](PerfBuffer::refresh) need a second descriptor for each CPU for
    /// a moment.
    ///
    /// # Errors
    ///
    /// [`Error::Slot`] if the array has fewer slots than CPUs, [`Error::NoCpu`] if all CPUs are
    /// offline, and [`Error::Event`]: `EPERM` if the rings are more memory than the user may lock.
    /// No slot was touched then. [`Error::Bpf`] if a slot cannot be filled, for example of a frozen
    /// map.
    #[allow(clippy::result_large_err)] // the value is larger
    pub fn open(self, array: EventArray) -> Result<PerfBuffer, Refused<EventArray>> {
        match RingSet::new() {
            Ok(rings) => PerfBuffer::open(self, array, rings),
            Err(error) => Err(Refused { error: error.into(), value: array }),
        }
    }

    /// Returns the attr of the events.
    pub(super) fn attr(&self, reads_lost: bool) -> Attr {
        let attr = Attr::software(Software::BPF_OUTPUT)
            .with_sample_type(self.sample_type)
            .with_period(1)
            .with_flags(AttrFlags::DISABLED);
        let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::GROUP | ReadFormat::ID;
        let attr = attr.with_read_format(if reads_lost { format | ReadFormat::LOST } else { format });
        match self.wakeup {
            Wakeup::Events(records) => attr.with_wakeup_events(records),
            Wakeup::Bytes(bytes) => attr.with_wakeup_watermark(bytes),
        }
    }

    pub(super) fn format(&self, reads_lost: bool) -> Format {
        Format::new(SampleLayout::new(&self.attr(reads_lost)), self.sample_type, self.payload_size)
    }
}

impl Default for PerfBufferOptions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_samples_add() {
        let options = PerfBufferOptions::new().sample_type(SampleType::TIME).sample_type(SampleType::CPU);
        let expected = SampleType::RAW | SampleType::TIME | SampleType::CPU;
        assert_eq!(options.attr(false).sample_type, expected);
    }
}
