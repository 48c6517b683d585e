//! Selects the samples that count in a profile.

use std::ops::RangeInclusive;

use perf_decode::{Layout, Record, Sample};
use perf_symbols::{AddressSpaces, Location};

/// Selects samples, by default all. A sample counts if every method returns `true`; call the cheap
/// ones first.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Filter {
    /// Names of threads; empty for all, as in the lists below.
    pub comms: Vec<Vec<u8>>,
    /// Objects, by their path, the last component of it, or a name such as `[kernel.kallsyms]`.
    pub dsos: Vec<Vec<u8>>,
    /// Process ids, sorted.
    pub pids: Vec<u32>,
    /// Thread ids, sorted.
    pub tids: Vec<u32>,
    /// CPUs, sorted; `None` for all.
    pub cpus: Option<Vec<u32>>,
    /// Ranges of times in ns of the recording's clock, both ends included; `None` for all.
    pub times: Option<Vec<RangeInclusive<u64>>>,
}

impl Filter {
    /// Returns whether every sample counts.
    pub fn is_empty(&self) -> bool {
        let has_tasks = !(self.pids.is_empty() && self.tids.is_empty() && self.cpus.is_none());
        !has_tasks && !self.needs_time() && !self.needs_comm() && !self.needs_dso()
    }

    /// Returns whether [`by_time`](Self::by_time) depends on the time.
    pub fn needs_time(&self) -> bool {
        self.times.is_some()
    }

    /// Returns whether a time in ns counts. As in the perf tool, 0 always counts, because records
    /// without a time have it.
    #[inline]
    pub fn by_time(&self, time: u64) -> bool {
        self.times.as_ref().is_none_or(|times| time == 0 || times.iter().any(|range| range.contains(&time)))
    }

    /// Returns whether a process, thread and CPU count. A sample may lack any of them.
    #[inline]
    pub fn by_ids(&self, pid: Option<u32>, tid: Option<u32>, cpu: Option<u32>) -> bool {
        let has = |list: &[u32], id: Option<u32>| {
            list.is_empty() || id.is_some_and(|id| list.binary_search(&id).is_ok())
        };
        has(&self.pids, pid)
            && has(&self.tids, tid)
            && self.cpus.as_ref().is_none_or(|cpus| cpu.is_some_and(|cpu| cpus.binary_search(&cpu).is_ok()))
    }

    /// Returns whether [`by_comm`](Self::by_comm) depends on the name, so that the caller must know
    /// it.
    pub fn needs_comm(&self) -> bool {
        !self.comms.is_empty()
    }

    /// Returns whether a thread's name counts. Pass the name at the time of the sample.
    #[inline]
    pub fn by_comm(&self, comm: &[u8]) -> bool {
        self.comms.is_empty() || self.comms.iter().any(|name| name == comm)
    }

    /// Returns whether a thread's name counts, according to the records so far. A thread without a
    /// record of its name has the name that the perf tool shows: `swapper` for idle threads, `:TID`
    /// for others.
    pub fn by_thread(&self, spaces: &AddressSpaces, tid: u32) -> bool {
        if self.comms.is_empty() {
            return true;
        }
        match spaces.thread_name(tid) {
            Some(name) => self.by_comm(name),
            None if tid == 0 => self.by_comm(b"swapper"),
            None => self.by_comm(format!(":{}", tid.cast_signed()).as_bytes()),
        }
    }

    /// Returns whether [`by_dso`](Self::by_dso) depends on the object, so that the caller must know
    /// it.
    pub fn needs_dso(&self) -> bool {
        !self.dsos.is_empty()
    }

    /// Returns whether an object counts, by its path, the last component of the path, or its name.
    /// Pass an empty path for an address outside of all objects.
    pub fn by_dso(&self, path: &[u8]) -> bool {
        let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        self.dsos.is_empty() || self.dsos.iter().any(|name| name == path || name == last)
    }

    /// Returns whether a sample counts, with the address spaces at its time.
    pub fn matches(&self, spaces: &AddressSpaces, sample: &Sample<'_, impl Layout>) -> bool {
        let (pid, tid) = (sample.pid(), sample.tid());
        if !(self.by_time(sample.time().unwrap_or(0)) && self.by_ids(pid, tid, sample.cpu())) {
            return false;
        }
        if self.needs_comm() && !tid.is_some_and(|tid| self.by_thread(spaces, tid)) {
            return false;
        }
        self.by_object(spaces, sample)
    }

    /// Returns whether a record of any kind counts by its task, CPU and time, with the names of
    /// threads before it. A record without a task, CPU or time does not match a filter by them.
    pub fn matches_record<L: Layout>(&self, spaces: &AddressSpaces, record: &Record<'_, L>) -> bool {
        let (time, ids) = (record.time().unwrap_or(0), Ids::new(record));
        self.by_time(time)
            && (time > 0 || !self.needs_time())
            && self.by_ids(ids.pid, ids.tid, ids.cpu)
            && (!self.needs_comm() || ids.tid.is_some_and(|tid| self.by_thread(spaces, tid)))
    }

    /// Returns whether a sample counts by the object of its address.
    pub(super) fn by_object(&self, spaces: &AddressSpaces, sample: &Sample<'_, impl Layout>) -> bool {
        if !self.needs_dso() {
            return true;
        }
        let pid = sample.pid();
        let location = spaces.find(pid.unwrap_or(0), sample.misc().cpu_mode(), sample.ip().unwrap_or(0));
        self.by_dso(location.map_or(b"", Location::path))
    }
}

/// The task and the CPU of a record.
struct Ids {
    pid: Option<u32>,
    tid: Option<u32>,
    cpu: Option<u32>,
}

impl Ids {
    fn new<L: Layout>(record: &Record<'_, L>) -> Self {
        if let Record::Sample(sample) = record {
            return Self { pid: sample.pid(), tid: sample.tid(), cpu: sample.cpu() };
        }
        let number = |name| {
            let field = record.fields().find(|field| field.name == name);
            field.and_then(|field| u32::try_from(field.value.as_u64()?).ok())
        };
        let trailer = record.sample_id();
        // The task in the body first, because tools write records about other tasks.
        Self {
            pid: number("pid").or_else(|| trailer?.pid()),
            tid: number("tid").or_else(|| trailer?.tid()),
            cpu: trailer.and_then(|trailer| trailer.cpu()),
        }
    }
}
