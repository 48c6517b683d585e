//! The living tasks of a set.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CString;
use std::ops::RangeInclusive;

use perf_ring::{RawRecord, Record, RecordType, SampleLayout};

use super::EventSet;
use super::target::Inherit;
use crate::system::{FileError, System};

/// The living tasks that an [`EventSet`](crate::EventSet) of tasks observes: those for which it was
/// opened, and those that they have started, by the records of the set.
///
/// A recorder whose output has several parts describes them anew at the start of each part:
///
/// ```no_run
/// use perf_session::ring::{RawRecord, SampleLayout};
/// use perf_session::{EventSet, ObservedTasks, System};
///
/// fn begin(set: &EventSet) -> ObservedTasks {
///     set.observed_tasks(&System::new())
/// }
///
/// fn each(tasks: &mut ObservedTasks, record: RawRecord<'_>, layout: &SampleLayout) {
///     tasks.note_record(record, layout);
///     // Later: describe each of `tasks.processes()`.
/// }
/// ```
///
/// With [`contains`](Self::contains) and [`filter`](Self::filter) it also chooses the records of a
/// [system-wide](crate::EventSpec::system_wide) tracepoint that are about the tasks. If its rings
/// are copied first and used last, after the records of the other rings were noted, the start of
/// each task is known.
///
/// The events need the flag [`TASK`](perf_ring::AttrFlags::TASK), and
/// [`COMM_EXEC`](perf_ring::AttrFlags::COMM_EXEC) for threads that execute a program.
#[derive(Clone, Debug)]
pub struct ObservedTasks {
    /// The process of each thread.
    processes: HashMap<u32, u32>,
    /// Threads that have exited and are not forgotten.
    exited: HashSet<u32>,
    inherit: Inherit,
}

/// The ids that the kernel gives to tasks from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewTaskIds {
    /// The id of the task that was started last.
    last: u32,
    /// The number after which ids begin again.
    limit: u32,
}

impl NewTaskIds {
    /// Reads the id of the task that was started last and the largest id, from `/proc/loadavg` and
    /// `kernel.pid_max`. Call it before a set is opened.
    ///
    /// # Errors
    ///
    /// The files cannot be read or are malformed.
    pub fn read(system: &System) -> Result<Self, FileError> {
        Ok(Self { last: system.last_task()?, limit: system.sysctl_number("kernel.pid_max", "a number")? })
    }

    /// Returns the ids that are given next: half of all.
    fn next(self) -> Vec<RangeInclusive<u32>> {
        let (first, count) = (self.last.saturating_add(1), self.limit / 2);
        let end = first.saturating_add(count);
        if end <= self.limit {
            return vec![first..=end];
        }
        // They begin again at 1, and the kernel leaves out some of the first.
        vec![first..=self.limit, 1..=end - self.limit]
    }
}

/// Maximum number of terms in a filter, because the kernel compares each hit with all of them. A
/// filter has at most 4095 bytes.
const MAX_TERMS: usize = 48;

impl ObservedTasks {
    /// Adds a thread: the main thread of a command when it was started.
    pub fn add(&mut self, pid: u32, tid: u32) {
        self.exited.remove(&tid);
        self.processes.insert(tid, pid);
    }

    /// Notes a record of the set: a `FORK` adds a thread, if the events follow it. A thread with an
    /// `EXIT` stays until [`forget_exited`](Self::forget_exited), because other rings have records
    /// about it.
    ///
    /// `layout` is the layout of any event of the set.
    pub fn note_record(&mut self, record: RawRecord<'_>, layout: &SampleLayout) {
        // The others are most of the records.
        if !matches!(record.kind(), RecordType::FORK | RecordType::EXIT | RecordType::COMM) {
            return;
        }
        match record.decode(layout) {
            Ok(Record::Fork(fork)) => {
                let is_followed = match self.inherit {
                    Inherit::Nothing => false,
                    Inherit::Threads => fork.pid() == fork.ppid(),
                    Inherit::Tasks => true,
                };
                if is_followed {
                    self.add(fork.pid(), fork.tid());
                }
            }
            // A thread that executes a program takes the id of the main thread, which has exited.
            Ok(Record::Comm(comm)) if comm.exec() => self.add(comm.pid(), comm.tid()),
            Ok(Record::Exit(exit)) => _ = self.exited.insert(exit.tid()),
            _ => {}
        }
    }

    /// Removes the threads that have exited. Call it when all rings were read.
    pub fn forget_exited(&mut self) {
        for tid in self.exited.drain() {
            self.processes.remove(&tid);
        }
    }

    /// Returns whether a thread is observed, also if it has exited since
    /// [`forget_exited`](Self::forget_exited).
    pub fn contains(&self, tid: u32) -> bool {
        self.processes.contains_key(&tid)
    }

    /// Returns process and thread id of the threads that have not exited, by the thread id.
    pub fn threads(&self) -> Vec<(u32, u32)> {
        let living = self.processes.iter().filter(|(tid, _)| !self.exited.contains(tid));
        let mut threads: Vec<_> = living.map(|(&tid, &pid)| (pid, tid)).collect();
        threads.sort_unstable_by_key(|&(_, tid)| tid);
        threads
    }

    /// Returns the processes of the threads that have not exited.
    pub fn processes(&self) -> BTreeSet<u32> {
        let living = self.processes.iter().filter(|(tid, _)| !self.exited.contains(tid));
        living.map(|(_, pid)| *pid).collect()
    }

    /// Returns a filter for a tracepoint whose field `field` is a thread id. It passes hits about
    /// the threads and, if the events follow the tasks that they start, about tasks with `new` ids.
    /// The latter may be foreign tasks: compare with [`contains`](Self::contains).
    ///
    /// After half of all ids were reused, newly started tasks do not pass.
    pub fn filter(&self, field: &str, new: NewTaskIds) -> CString {
        let mut ranges: Vec<RangeInclusive<u32>> = self.processes.keys().map(|&tid| tid..=tid).collect();
        if self.inherit != Inherit::Nothing {
            ranges.extend(new.next());
        }
        let term = |range: &RangeInclusive<u32>| match (range.start(), range.end()) {
            (start, end) if start == end => format!("{field}=={start}"),
            (start, end) => format!("({field}>={start}&&{field}<={end})"),
        };
        let terms: Vec<String> = at_most(MAX_TERMS, ranges).iter().map(term).collect();
        // Of no thread: no task has this id.
        let text = if terms.is_empty() { format!("{field}==0") } else { terms.join("||") };
        // A field's name has no NUL.
        CString::new(text).unwrap_or_default()
    }
}

/// Returns at most `count` ranges that cover these, and as little else as possible.
fn at_most(count: usize, mut ranges: Vec<RangeInclusive<u32>>) -> Vec<RangeInclusive<u32>> {
    ranges.sort_unstable_by_key(|range| *range.start());
    let mut joined: Vec<RangeInclusive<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if *range.start() <= last.end().saturating_add(1) => {
                *last = *last.start()..=*last.end().max(range.end());
            }
            _ => joined.push(range),
        }
    }
    // The widest gaps stay, each after the range with this index.
    let mut gaps: Vec<(u32, usize)> = joined.windows(2).map(gap).zip(0..).collect();
    gaps.sort_unstable_by(|a, b| b.cmp(a));
    let wide: HashSet<usize> =
        gaps.into_iter().take(count.saturating_sub(1)).map(|(_, index)| index).collect();
    let mut covering: Vec<RangeInclusive<u32>> = Vec::new();
    let mut is_after_wide = true;
    for (index, range) in joined.into_iter().enumerate() {
        match covering.last_mut() {
            Some(last) if !is_after_wide => *last = *last.start()..=*range.end(),
            _ => covering.push(range),
        }
        is_after_wide = wide.contains(&index);
    }
    covering
}

/// Returns the number of ids from the first range to the second one, 1 if they are adjacent.
fn gap(pair: &[RangeInclusive<u32>]) -> u32 {
    match pair {
        [one, next] => next.start().saturating_sub(*one.end()),
        _ => 0,
    }
}

impl EventSet {
    /// Returns the tasks for which the set is open: for a command none before
    /// [`ObservedTasks::add`], and none for CPUs.
    pub fn observed_tasks(&self, system: &System) -> ObservedTasks {
        let target = &self.opened.options().target;
        let mut tasks = ObservedTasks {
            processes: HashMap::new(),
            exited: HashSet::new(),
            inherit: self.opened.options().inherits(),
        };
        if target.is_command() {
            return tasks;
        }
        for tid in self.threads().into_iter().chain(self.unsettled().iter().copied()) {
            tasks.add(system.task(tid).status().ok().and_then(|status| status.process()).unwrap_or(tid), tid);
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
    use perf_ring::abi::Misc;
    use perf_ring::{Attr, AttrFlags, SampleType, Software};
    use proptest::prelude::*;

    use super::*;

    fn attr() -> Attr {
        let attr = Attr::software(Software::DUMMY).with_sample_type(SampleType::TID | SampleType::TIME);
        attr.with_flags(AttrFlags::SAMPLE_ID_ALL)
    }

    fn note(tasks: &mut ObservedTasks, kind: RecordType, misc: Misc, body: &[u32]) {
        let builder = RecordBuilder::new(kind, misc).u32s(body);
        let builder = if kind == RecordType::COMM { builder.string(b"sh") } else { builder };
        let words = builder.with_trailer(&attr(), &SampleIdValues::default()).finish();
        tasks.note_record(RawRecord::from_words(&words).unwrap(), &SampleLayout::new(&attr()));
    }

    fn tasks(inherit: Inherit) -> ObservedTasks {
        ObservedTasks { processes: HashMap::from([(7, 7)]), exited: HashSet::new(), inherit }
    }

    /// pid, ppid, tid, ptid, time
    fn task(pid: u32, parent: u32, tid: u32) -> [u32; 6] {
        [pid, parent, tid, parent, 0, 0]
    }

    #[test]
    fn tasks_that_are_started_are_observed_until_they_exit() {
        let mut tasks = tasks(Inherit::Tasks);
        note(&mut tasks, RecordType::FORK, Misc::empty(), &task(7, 7, 8));
        note(&mut tasks, RecordType::FORK, Misc::empty(), &task(9, 7, 9));
        assert!(tasks.contains(8) && tasks.contains(9));
        assert_eq!(tasks.processes(), BTreeSet::from([7, 9]));
        note(&mut tasks, RecordType::EXIT, Misc::empty(), &task(9, 7, 9));
        assert_eq!(tasks.processes(), BTreeSet::from([7]));
        assert!(tasks.contains(9), "other rings have records about it");
        tasks.forget_exited();
        assert!(!tasks.contains(9) && tasks.contains(8));
        // The id is used again.
        note(&mut tasks, RecordType::EXIT, Misc::empty(), &task(7, 7, 8));
        note(&mut tasks, RecordType::FORK, Misc::empty(), &task(8, 7, 8));
        tasks.forget_exited();
        assert_eq!(tasks.processes(), BTreeSet::from([7, 8]));
    }

    #[test]
    fn tasks_that_the_events_do_not_follow_are_not_observed() {
        for (inherit, expected) in [(Inherit::Nothing, [false, false]), (Inherit::Threads, [true, false])] {
            let mut tasks = tasks(inherit);
            note(&mut tasks, RecordType::FORK, Misc::empty(), &task(7, 7, 8));
            note(&mut tasks, RecordType::FORK, Misc::empty(), &task(9, 7, 9));
            assert_eq!([8, 9].map(|tid| tasks.contains(tid)), expected, "{inherit:?}");
        }
    }

    #[test]
    fn thread_that_executes_a_program_has_the_id_of_its_process() {
        let mut tasks = tasks(Inherit::Tasks);
        note(&mut tasks, RecordType::EXIT, Misc::empty(), &task(7, 7, 7));
        assert!(tasks.processes().is_empty());
        note(&mut tasks, RecordType::COMM, Misc::empty(), &[7, 7]);
        assert!(tasks.processes().is_empty(), "only renamed");
        note(&mut tasks, RecordType::COMM, Misc::COMM_EXEC, &[7, 7]);
        assert!(tasks.contains(7));
    }

    #[test]
    fn filter_is_for_the_threads_and_the_tasks_that_begin_later() {
        let mut observed = tasks(Inherit::Tasks);
        observed.add(7, 9);
        let new = NewTaskIds { last: 100, limit: 1000 };
        let text = |tasks: &ObservedTasks, new| tasks.filter("pid", new).into_string().unwrap();
        assert_eq!(text(&observed, new), "pid==7||pid==9||(pid>=101&&pid<=601)");
        let new = NewTaskIds { last: 900, limit: 1000 };
        assert_eq!(text(&observed, new), "(pid>=1&&pid<=401)||(pid>=901&&pid<=1000)");
        assert_eq!(text(&tasks(Inherit::Nothing), new), "pid==7");
        let none = ObservedTasks { processes: HashMap::new(), ..tasks(Inherit::Nothing) };
        assert_eq!(text(&none, new), "pid==0");
    }

    #[test]
    fn ids_of_new_tasks_are_read_from_the_system() {
        let tree = crate::system::tree::Tree::new();
        tree.file("/proc/loadavg", "0.33 1.05 0.73 2/170 24900\n");
        tree.file("/proc/sys/kernel/pid_max", "4194304\n");
        assert_eq!(NewTaskIds::read(tree.system()).unwrap(), NewTaskIds { last: 24900, limit: 4_194_304 });
        tree.file("/proc/loadavg", "0.33\n");
        let error = NewTaskIds::read(tree.system()).unwrap_err().to_string();
        assert!(error.contains("loadavg: expected five fields"), "{error}");
    }

    proptest! {
        #[test]
        fn ranges_of_a_filter_cover_all_threads_with_the_fewest_others(
            ids in prop::collection::btree_set(0..200u32, 0..60),
            count in 1..8usize,
        ) {
            let ranges = at_most(count, ids.iter().map(|&id| id..=id).collect());
            prop_assert!(ranges.len() <= count);
            prop_assert!(ids.iter().all(|id| ranges.iter().any(|range| range.contains(id))));
            prop_assert!(ranges.is_sorted_by(|one, next| one.end() < next.start()));
            let covered: u32 = ranges.iter().map(|range| range.end() - range.start() + 1).sum();
            // The least is without the widest gaps.
            let ids: Vec<u32> = ids.into_iter().collect();
            let mut gaps: Vec<u32> = ids.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
            gaps.sort_unstable();
            let narrow = gaps.len().saturating_sub(count - 1);
            let least = ids.len() as u32 + gaps[..narrow].iter().sum::<u32>();
            prop_assert_eq!(covered, least);
        }
    }
}
