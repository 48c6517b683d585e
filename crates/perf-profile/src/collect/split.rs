//! The properties of samples by which threads are split.

use std::num::NonZeroU64;

use crate::profile::Thread;
use crate::view::Column;

/// Splits the threads of a profile by properties of their samples, for tables and stacks by these.
/// By default, threads are not split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Split {
    /// By the CPU of the samples.
    pub by_cpu: bool,
    /// By slices of time of this length, in ns.
    pub quantum: Option<NonZeroU64>,
}

impl Split {
    /// Length of slices of time by default, in ns: 100 ms, as in the perf tool.
    pub const QUANTUM: NonZeroU64 = NonZeroU64::MIN.saturating_add(100_000_000 - 1);

    /// Returns what a table with these columns needs, with slices of the default length.
    pub fn for_columns(columns: &[Column]) -> Self {
        let quantum = columns.contains(&Column::Time).then_some(Self::QUANTUM);
        Self { by_cpu: columns.contains(&Column::Cpu), quantum }
    }

    /// Sets the length of slices in ns, if threads are split by time.
    #[must_use]
    pub fn with_quantum(mut self, quantum: NonZeroU64) -> Self {
        self.quantum = self.quantum.map(|_| quantum);
        self
    }

    /// Returns the part of a thread, from a CPU and a time in ns; `None` if it is not split.
    pub(super) fn part(self, thread: Thread, cpu: Option<u32>, time: Option<u64>) -> Option<Thread> {
        if self == Self::default() {
            return None;
        }
        let slice = |quantum: NonZeroU64| Some(time? / quantum * quantum.get());
        Some(Thread { cpu: cpu.filter(|_| self.by_cpu), time: self.quantum.and_then(slice), ..thread })
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::Architecture;
    use perf_abi::{Attr, SampleType, Software};
    use perf_decode::testing::builder::SampleBuilder;
    use perf_decode::{RawRecord, Record, SampleLayout};
    use perf_symbols::FileFinder;

    use super::*;
    use crate::collect::{Collector, Resolver};
    use crate::format::Folded;
    use crate::profile::{Event, ProfileBuilder};
    use crate::view::{Order, Table};

    #[test]
    fn rows_and_frames_are_cpus_and_slices_of_time() {
        let fields = SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        let columns = [Column::Time, Column::Cpu];
        for is_table in [false, true] {
            let resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
            let collector = if is_table {
                Collector::with_table(resolver, &columns).unwrap()
            } else {
                Collector::new(resolver, ProfileBuilder::new())
            };
            let quantum = NonZeroU64::new(1000).unwrap();
            let mut collector = collector.with_split(Split::for_columns(&columns).with_quantum(quantum));
            let event = collector.event(Event::new("cpu-clock", &attr));
            for (time, cpu, value) in [(1999, 0, 1), (1000, 0, 2), (1500, 1, 4), (2000, 0, 8)] {
                let words = SampleBuilder::new(&attr).tid(7, 7).time(time).cpu(cpu).period(value).finish();
                let layout = SampleLayout::new(&attr);
                let record = RawRecord::from_words(&words).unwrap().decode(&layout).unwrap();
                collector.update(&record);
                let Record::Sample(sample) = &record else { panic!("{record:?}") };
                collector.add(event, sample);
            }
            let (profile, sums) = collector.finish_table();
            let table =
                sums.as_ref().map_or_else(|| Table::new(&profile, &columns), |sums| sums.table(&profile));
            let table = table.sorted(event, Order::BySelf);
            let rows: Vec<_> = table
                .rows
                .iter()
                .map(|row| (row.entry.time, row.entry.cpu, row.cost(event).self_value))
                .collect();
            let expected = [(Some(2000), Some(0), 8), (Some(1000), Some(1), 4), (Some(1000), Some(0), 3)];
            assert_eq!(rows, expected);
            let mut text = Vec::new();
            Folded::new(event).with_cpu().with_time().without_thread().write(&profile, &mut text).unwrap();
            assert_eq!(text, b"0.000001;cpu 0 3\n0.000001;cpu 1 4\n0.000002;cpu 0 8\n");
        }
    }

    #[test]
    fn threads_are_whole_by_default() {
        assert_eq!(Split::for_columns(&[Column::Tid, Column::Function]), Split::default());
        assert_eq!(Split::default().with_quantum(Split::QUANTUM), Split::default());
    }
}
