//! Intervals in which records were lost.

use perf_decode::{Layout, Record};
use rustc_hash::FxHashMap;

/// The time intervals in which rings dropped records, for
/// [`Waits::with_gaps`](super::Waits::with_gaps).
///
/// The kernel writes a `LOST` record with the next record that fits, which ends the gap. It begins
/// after the previous record of the same ring. So all records must be noted before the waits are
/// computed, in ring order, for example in the order of a recording's file. Rings are identified by
/// the ids of their events, or else by the CPU.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// Time of the last record of each event of a ring, in ns.
    last: FxHashMap<u64, u64>,
    /// Start and end in ns.
    intervals: Vec<(u64, u64)>,
}

impl Gaps {
    /// Creates it before the first record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes the next record of a ring.
    pub fn note<L: Layout>(&mut self, record: &Record<'_, L>) {
        let (id, cpu, time) = match record {
            Record::Sample(sample) => (sample.identifier().or(sample.id()), sample.cpu(), sample.time()),
            other => other
                .sample_id()
                .map_or((None, None, None), |id| (id.identifier().or(id.id()), id.cpu(), id.time())),
        };
        let Some(time) = time else { return };
        let last = self.last.entry(id.or(cpu.map(u64::from)).unwrap_or(0)).or_default();
        let has_lost = match record {
            Record::Lost(_) => true,
            Record::LostSamples(lost) => lost.lost() > 0,
            _ => false,
        };
        if has_lost {
            self.intervals.push((*last, time));
        }
        *last = time;
    }

    /// Returns the sorted intervals. Gaps of all rings are merged, because a thread may have run on
    /// any CPU.
    pub(in crate::collect) fn into_intervals(mut self) -> Vec<(u64, u64)> {
        self.intervals.sort_unstable();
        self.intervals.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            if overlaps {
                last.1 = last.1.max(next.1);
            }
            overlaps
        });
        self.intervals
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
    use perf_decode::{RawRecord, SampleLayout};
    use proptest::prelude::*;

    use super::*;
    use crate::collect::Waits;

    const CPUS: u64 = 2;

    /// A record of a ring: switch-in, switch-out, or the end of a gap.
    #[derive(Clone, Copy, Debug)]
    struct Written {
        cpu: u64,
        time: u64,
        kind: RecordType,
        tid: u32,
        is_out: bool,
    }

    fn attr() -> Attr {
        let fields = SampleType::TID | SampleType::TIME | SampleType::IDENTIFIER;
        Attr::software(Software::DUMMY)
            .with_sample_type(fields)
            .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::CONTEXT_SWITCH)
    }

    fn with_record(record: &Written, f: impl FnOnce(&Record<'_, &SampleLayout>)) {
        let &Written { cpu, time, kind, tid, is_out } = record;
        let misc = if is_out { Misc::SWITCH_OUT } else { Misc::empty() };
        let builder = RecordBuilder::new(kind, misc);
        let builder = if kind == RecordType::LOST { builder.u32s(&[0; 4]) } else { builder };
        let values = SampleIdValues { pid: 1, tid, time, identifier: 70 + cpu, ..SampleIdValues::default() };
        let words = builder.with_trailer(&attr(), &values).finish();
        f(&RawRecord::from_words(&words).unwrap().decode(&SampleLayout::new(&attr())).unwrap());
    }

    /// Returns the thread, start and end of the finished waits, and the number of broken ones.
    fn waits(written: &[Written]) -> (Vec<(u32, u64, u64)>, u64) {
        let mut gaps = Gaps::new();
        for cpu in 0..CPUS {
            let ring = written.iter().filter(|record| record.cpu == cpu);
            ring.for_each(|record| with_record(record, |record| gaps.note(record)));
        }
        let mut waits = Waits::<()>::with_gaps(gaps);
        let mut ended = Vec::new();
        for record in written {
            let mut wait = None;
            with_record(record, |record| wait = waits.update(record));
            ended.extend(wait.map(|wait| (wait.tid, wait.start, wait.end)));
        }
        (ended, waits.broken())
    }

    /// Returns the records of threads on random CPUs, and the records that remain after losses of
    /// consecutive records on a CPU.
    fn with_losses(steps: &[(u64, u32, u32)]) -> (Vec<Written>, Vec<Written>) {
        let (mut all, mut kept) = (Vec::new(), Vec::new());
        let mut running: HashMap<u32, u64> = HashMap::new();
        let (mut left, mut has_lost) = ([0; CPUS as usize], [false; CPUS as usize]);
        for (index, &(cpu, tid, loss)) in steps.iter().enumerate() {
            // The thread leaves the CPU on which it runs.
            let runs_on = running.remove(&tid);
            let cpu = runs_on.unwrap_or(cpu);
            if runs_on.is_none() {
                running.insert(tid, cpu);
            }
            let time = 10 * (index as u64 + 1);
            let record = Written { cpu, time, kind: RecordType::SWITCH, tid, is_out: runs_on.is_some() };
            all.push(record);
            let ring = cpu as usize;
            if left[ring] == 0 {
                left[ring] = loss;
            }
            if left[ring] > 0 {
                left[ring] -= 1;
                has_lost[ring] = true;
                continue;
            }
            if std::mem::take(&mut has_lost[ring]) {
                kept.push(Written { kind: RecordType::LOST, is_out: false, ..record });
            }
            kept.push(record);
        }
        // The recorder reports the last losses.
        let time = 10 * (steps.len() as u64 + 1);
        let last = (0..CPUS).zip(has_lost).filter(|(_, has_lost)| *has_lost);
        kept.extend(last.map(|(cpu, _)| Written {
            cpu,
            time,
            kind: RecordType::LOST,
            tid: 0,
            is_out: false,
        }));
        (all, kept)
    }

    #[test]
    fn wait_that_ends_in_a_gap_is_broken() {
        let switch = |cpu, time, is_out| Written { cpu, time, kind: RecordType::SWITCH, tid: 5, is_out };
        let lost = |cpu, time| Written { kind: RecordType::LOST, tid: 0, ..switch(cpu, time, false) };
        // Its time on CPU 0 from 20 to 30 is lost. CPU 0 reports that after the end of the wait.
        let records = [switch(0, 10, true), switch(1, 40, false), lost(0, 50), switch(0, 50, true)];
        assert_eq!(waits(&records), (vec![], 1));
        let before = [switch(0, 10, true), switch(1, 40, false), switch(0, 45, true), lost(0, 50)];
        assert_eq!(waits(&before), (vec![(5, 10, 40)], 1), "and the one that is open at the loss");
    }

    proptest! {
        #[test]
        fn each_wait_is_that_of_a_recording_without_losses(
            steps in prop::collection::vec((0..CPUS, 1u32..4, prop_oneof![9 => Just(0u32), 1 => 1u32..5]), 0..80),
        ) {
            let (all, kept) = with_losses(&steps);
            let (truth, broken) = waits(&all);
            prop_assert_eq!(broken, 0);
            let (found, _) = waits(&kept);
            for wait in &found {
                prop_assert!(truth.contains(wait), "{:?} of {:?}", wait, kept);
            }
            if steps.iter().all(|&(_, _, loss)| loss == 0) {
                prop_assert_eq!(found, truth);
            }
        }
    }
}
