use std::collections::{BTreeSet, HashMap};

use perf_sys::{RawRecord, Record, RecordType, SampleLayout};

use super::EventSet;
use super::target::Inherit;
use crate::system::{System, process_of};

/// The living tasks that an [`EventSet`](crate::EventSet) of tasks observes: those for which it was opened, and those that
/// they have started, by the records of the set.
///
/// A recorder whose output has several parts describes them anew at the start of each part:
///
/// ```no_run
/// use perf_session::sys::{RawRecord, SampleLayout};
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
/// The events need the flag [`TASK`](perf_sys::AttrFlags::TASK), and [`COMM_EXEC`](perf_sys::AttrFlags::COMM_EXEC) for
/// threads that execute a program.
#[derive(Clone, Debug)]
pub struct ObservedTasks {
    /// The process of each thread.
    processes: HashMap<u32, u32>,
    inherit: Inherit,
}

impl ObservedTasks {
    /// Adds a thread: the main thread of a command when it was started.
    pub fn add(&mut self, pid: u32, tid: u32) {
        self.processes.insert(tid, pid);
    }

    /// Notes a record of the set: a `FORK` adds a thread, if the events follow it, and an `EXIT` removes it.
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
            Ok(Record::Exit(exit)) => drop(self.processes.remove(&exit.tid())),
            _ => {}
        }
    }

    /// Returns whether a thread is observed and has not exited.
    pub fn contains(&self, tid: u32) -> bool {
        self.processes.contains_key(&tid)
    }

    /// Returns the threads.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = u32> {
        self.processes.keys().copied()
    }

    /// Returns the processes of the threads.
    pub fn processes(&self) -> BTreeSet<u32> {
        self.processes.values().copied().collect()
    }
}

impl EventSet {
    /// Returns the tasks for which the set is open; of a command none, before [`ObservedTasks::add`]. A set of CPUs has none.
    pub fn observed_tasks(&self, system: &System) -> ObservedTasks {
        let target = &self.opened.options.target;
        let mut tasks = ObservedTasks { processes: HashMap::new(), inherit: self.opened.options.inherits() };
        if target.is_command() {
            return tasks;
        }
        for tid in self.threads().into_iter().chain(self.unsettled().iter().copied()) {
            tasks.add(process_of(system, tid).unwrap_or(tid), tid);
        }
        tasks
    }
}

#[cfg(test)]
mod tests {
    use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
    use perf_sys::abi::Misc;
    use perf_sys::{Attr, AttrFlags, SampleType, Software};

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
        ObservedTasks { processes: HashMap::from([(7, 7)]), inherit }
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
        assert!(!tasks.contains(9) && tasks.threads().len() == 2);
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
}
