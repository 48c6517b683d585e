//! The samples that count.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use perf_abi::SampleType;
use perf_session::CpuList;
use perf_symbols::AddressSpaces;

use super::About;
use super::time::{TimeRanges, TimeSpec};

/// The options that choose records by their task, CPU and time.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TaskFilterOptions {
    /// Only threads of these names
    #[arg(short = 'c', long, alias = "comms", value_name = "NAME,...", value_delimiter = ',')]
    comm: Vec<OsString>,
    /// Only these processes
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<u32>,
    /// Only these threads
    #[arg(long, value_name = "TID,...", value_delimiter = ',')]
    tid: Vec<u32>,
    /// Only these CPUs, for example 0-2,5
    #[arg(short = 'C', long, value_name = "CPUS")]
    cpu: Option<CpuList>,
    /// Only these times, ends included: START,STOP in seconds of the recording's clock, START, or ,STOP, or parts of the
    /// recording as 10%-20% or 10%/2 (the second tenth); several separated by spaces, parts by commas
    #[arg(long, value_name = "START,STOP")]
    time: Option<TimeSpec>,
}

/// The options that choose samples: by their task, CPU, time and object.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilterOptions {
    #[command(flatten)]
    task: TaskFilterOptions,
    /// Only samples in these objects: a path, its last part, or a name such as [kernel.kallsyms]
    #[arg(short = 'd', long, alias = "dsos", value_name = "NAME,...", value_delimiter = ',')]
    dso: Vec<OsString>,
}

/// Chooses samples. A sample counts if all methods say so; ask the cheap ones first. Without an option, each returns `true`
/// at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    comms: Vec<Vec<u8>>,
    dsos: Vec<Vec<u8>>,
    /// Sorted.
    pids: Vec<u32>,
    /// Sorted.
    tids: Vec<u32>,
    cpus: Option<CpuList>,
    time: Option<TimeRanges>,
}

impl FilterOptions {
    /// Makes the filter for a recording.
    ///
    /// # Errors
    ///
    /// An option needs what the recording does not have: the CPU or the time of samples, or for parts of the recording the
    /// times of its first and last sample.
    pub(crate) fn filter(&self, about: &About) -> io::Result<Filter> {
        Ok(Filter { dsos: bytes(&self.dso), ..self.task.filter(about)? })
    }
}

impl TaskFilterOptions {
    /// Makes the filter for a recording, as [`FilterOptions::filter`].
    pub(crate) fn filter(&self, about: &About) -> io::Result<Filter> {
        let sorted = |ids: &[u32]| {
            let mut ids = ids.to_vec();
            ids.sort_unstable();
            ids
        };
        let lacks = |option: &str, what: &str, remedy: &str| {
            let text = format!("{option}: the samples of this recording have no {what}; {remedy}");
            Err(io::Error::other(text))
        };
        if self.cpu.is_some() && !about.has_field(SampleType::CPU) {
            return lacks("--cpu", "CPU", "record with -a or --sample-cpu");
        }
        if self.time.is_some() && !about.has_field(SampleType::TIME) {
            return lacks("--time", "time", "record with --timestamp");
        }
        let has_ids = !self.pid.is_empty() || !self.tid.is_empty();
        if has_ids && !about.has_field(SampleType::TID) {
            return lacks("--pid and --tid", "process", "record with another tool");
        }
        Ok(Filter {
            comms: bytes(&self.comm),
            dsos: Vec::new(),
            pids: sorted(&self.pid),
            tids: sorted(&self.tid),
            cpus: self.cpu.clone(),
            time: self.time.as_ref().map(|time| time.ranges(about.sample_time)).transpose()?,
        })
    }
}

impl Filter {
    /// Returns whether everything counts.
    pub(crate) fn is_empty(&self) -> bool {
        let has_tasks = !(self.pids.is_empty() && self.tids.is_empty() && self.cpus.is_none());
        !has_tasks && !self.needs_time() && !self.needs_comm() && !self.needs_dso()
    }

    /// Returns whether [`by_time`](Self::by_time) depends on the time.
    pub(crate) fn needs_time(&self) -> bool {
        self.time.is_some()
    }

    /// Returns whether a time counts, in ns. As in the perf tool, the time 0 does in any case: it is that of records
    /// without one.
    #[inline]
    pub(crate) fn by_time(&self, time: u64) -> bool {
        self.time.as_ref().is_none_or(|ranges| time == 0 || ranges.contains(time))
    }

    /// Returns whether a process, thread and CPU count, each of which may be missing in the sample.
    #[inline]
    pub(crate) fn by_ids(&self, pid: Option<u32>, tid: Option<u32>, cpu: Option<u32>) -> bool {
        let has = |list: &[u32], id: Option<u32>| {
            list.is_empty() || id.is_some_and(|id| list.binary_search(&id).is_ok())
        };
        has(&self.pids, pid)
            && has(&self.tids, tid)
            && self.cpus.as_ref().is_none_or(|cpus| cpu.is_some_and(|cpu| cpus.contains(cpu)))
    }

    /// Returns whether [`by_comm`](Self::by_comm) depends on the name, so that it has to be known.
    pub(crate) fn needs_comm(&self) -> bool {
        !self.comms.is_empty()
    }

    /// Returns whether the name of a thread counts, as it was at the time of the sample.
    #[inline]
    pub(crate) fn by_comm(&self, comm: &[u8]) -> bool {
        self.comms.is_empty() || self.comms.iter().any(|name| name == comm)
    }

    /// Returns whether the name of a thread counts, as the records up to now give it. A thread without a record of its name
    /// has the one that the perf tool shows: `swapper` for the idle threads, `:TID` for others.
    pub(crate) fn by_thread(&self, spaces: &AddressSpaces, tid: u32) -> bool {
        if self.comms.is_empty() {
            return true;
        }
        match spaces.thread_name(tid) {
            Some(name) => self.by_comm(name),
            None if tid == 0 => self.by_comm(b"swapper"),
            None => self.by_comm(format!(":{}", tid.cast_signed()).as_bytes()),
        }
    }

    /// Returns whether [`by_dso`](Self::by_dso) depends on the object, so that it has to be known.
    pub(crate) fn needs_dso(&self) -> bool {
        !self.dsos.is_empty()
    }

    /// Returns whether an object counts: by its path, by the last part of it, or by its name. Empty for an address that is
    /// in none.
    pub(crate) fn by_dso(&self, path: &[u8]) -> bool {
        let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        self.dsos.is_empty() || self.dsos.iter().any(|name| name == path || name == last)
    }
}

/// Names in a recording are bytes, as arguments are.
fn bytes(names: &[OsString]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        filter: FilterOptions,
    }

    fn filter(arguments: &[&str]) -> Filter {
        let words = ["perfkit"].iter().chain(arguments);
        Command::try_parse_from(words).unwrap().filter.filter(&About::default()).unwrap()
    }

    #[test]
    fn options_have_the_spelling_of_the_perf_tool() {
        for arguments in [["--comms", "a,b"], ["--comm", "a,b"], ["-c", "a,b"]] {
            let filter = filter(&arguments);
            assert!(filter.by_comm(b"a") && filter.by_comm(b"b") && !filter.by_comm(b"c"));
        }
        for arguments in [["--dsos", "libc.so,/bin/a"], ["--dso", "libc.so,/bin/a"], ["-d", "libc.so,/bin/a"]]
        {
            let filter = filter(&arguments);
            assert!(filter.by_dso(b"/lib/libc.so") && filter.by_dso(b"libc.so") && filter.by_dso(b"/bin/a"));
            assert!(!filter.by_dso(b"/opt/bin/a") && !filter.by_dso(b"a") && !filter.by_dso(b""));
        }
        let filter = filter(&["--pid", "7,8", "--tid", "9", "-C", "0-1,4"]);
        assert!(filter.by_ids(Some(8), Some(9), Some(4)));
        for (pid, tid, cpu) in
            [(Some(9), Some(9), Some(4)), (Some(8), Some(8), Some(4)), (Some(8), Some(9), Some(2))]
        {
            assert!(!filter.by_ids(pid, tid, cpu));
        }
        assert!(!filter.by_ids(Some(8), Some(9), None));
    }

    #[test]
    fn without_options_everything_counts() {
        let filter = filter(&[]);
        assert!(filter.is_empty() && !filter.needs_comm() && !filter.needs_dso() && !filter.needs_time());
        assert!(
            filter.by_time(1) && filter.by_ids(None, None, None) && filter.by_comm(b"") && filter.by_dso(b"")
        );
        assert!(filter.by_thread(&AddressSpaces::new(), 1));
    }

    #[test]
    fn thread_without_a_name_has_that_of_the_perf_tool() {
        let filter = filter(&["-c", "swapper,:7,:-1"]);
        let spaces = AddressSpaces::new();
        assert!(
            filter.by_thread(&spaces, 0) && filter.by_thread(&spaces, 7) && !filter.by_thread(&spaces, 8)
        );
        assert!(filter.by_thread(&spaces, u32::MAX));
    }

    proptest! {
        #[test]
        fn cpus_of_a_list_are_those_of_its_ranges(
            ranges in prop::collection::vec((0_u32..40, 0_u32..5), 1..6),
            cpu in 0_u32..50,
        ) {
            let word = |&(first, more): &(u32, u32)| match more {
                0 => first.to_string(),
                _ => format!("{first}-{}", first + more),
            };
            let text = ranges.iter().map(word).collect::<Vec<_>>().join(",");
            let is_listed = ranges.iter().any(|(first, more)| (*first..=first + more).contains(&cpu));
            prop_assert_eq!(filter(&["--cpu", &text]).by_ids(None, None, Some(cpu)), is_listed, "{}", text);
        }

        #[test]
        fn any_text_is_a_filter_or_an_error(text in "[-0-9,.% /a:]{0,12}") {
            let options = ["--cpu", "--time", "--pid", "--tid"].map(|option| format!("{option}={text}"));
            for option in options {
                let _ = Command::try_parse_from(["perfkit", option.as_str()]);
            }
        }
    }
}
