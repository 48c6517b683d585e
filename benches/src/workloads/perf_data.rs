//! Recordings: samples of CPU time with callchains, as words of rings and as a `perf.data` file.

use std::io::{Seek, Write};

use perf_abi::{Attr, AttrFlags, CpuMode, Header, Misc, RecordType, SampleType, Software};
use perf_decode::Window;
use perf_file::writer::{Features, RecordedEvent, Writer};

use crate::Result;

/// Returns the attr of the event that writes [`Samples`].
pub fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_frequency(1000)
        .with_sample_type(
            SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::CALLCHAIN,
        )
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Writes samples with callchains of 4 to 35 addresses, the same in each run.
pub struct Samples {
    random: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { random: 1 }
    }
}

impl Samples {
    /// Appends the next sample.
    pub fn push(&mut self, words: &mut Vec<u64>, time: u64, cpu: u64) {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let random = self.random;
        let depth = 4 + (random >> 33) % 32;
        let size = (8 * (6 + depth)) as u16;
        words.push(
            Header { kind: RecordType::SAMPLE, misc: Misc::empty().with_cpu_mode(CpuMode::USER), size }
                .to_word(),
        );
        words.extend([0x40_0000 + random % 0x10_0000, 7 | 8 << 32, time, cpu, depth]);
        words.extend((0..depth).map(|frame| 0x40_0000 + frame * 64 + random % 64));
    }
}

/// Writes a file of at least `bytes` bytes with samples of four rings, in rounds of 500 per ring.
/// Returns the output and the number of samples.
///
/// # Errors
///
/// The error of the output.
pub fn write<W: Write + Seek>(output: W, bytes: u64) -> Result<(W, u64)> {
    let mut writer = Writer::file(output, &[RecordedEvent::new(attr(), "cpu-clock")])?;
    let (mut records, mut samples, mut time, mut count) = (Vec::new(), Samples::default(), 1_000_000, 0);
    while writer.position() < bytes {
        records.clear();
        for ring in 0..4 {
            (0..500).for_each(|index| samples.push(&mut records, time + index * 1000 + ring * 10, ring));
        }
        time += 500_000;
        count += 4 * 500;
        writer.write_window(Window::from_slices(&records, &[]))?;
        writer.finish_round()?;
    }
    Ok((writer.finish(&Features::new())?, count))
}
