//! Reading and writing of `perf.data` files with samples of CPU time and callchains.

#[cfg(test)]
mod interchange;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use perf_abi::{Attr, AttrFlags, CpuMode, Header, Misc, RecordType, SampleType, Software};
use rustix::time::{ClockId, clock_gettime};

/// Returns the attr of the event that writes [`Samples`].
fn attr() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_frequency(1000)
        .with_sample_type(
            SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::CALLCHAIN,
        )
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

/// Writes samples with callchains of 4 to 35 addresses, the same in each run.
struct Samples {
    random: u64,
}

impl Default for Samples {
    fn default() -> Self {
        Self { random: 1 }
    }
}

impl Samples {
    /// Appends a sample.
    fn push(&mut self, words: &mut Vec<u64>, time: u64, cpu: u64) {
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

/// Returns the CPU time of this process in µs.
fn cpu_time() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}
