//! The choice of samples by task, CPU, time and object.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use perf_abi::SampleType;
use perf_profile::read::{Filter, Metadata, TimeSpec};
use perf_session::CpuList;

/// The reason why parts of a recording are unknown.
const NO_SAMPLE_TIMES: &str = "--time: the times of the first and the last sample are not in this recording, which was \
    interrupted or is a pipe; give times in seconds";

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

impl FilterOptions {
    /// Makes the filter for a recording.
    ///
    /// # Errors
    ///
    /// An option needs data that the recording lacks: the CPU or the time of samples, or for parts
    /// of the recording the times of its first and last sample.
    pub(crate) fn filter(&self, about: &Metadata) -> io::Result<Filter> {
        let mut filter = self.task.filter(about)?;
        filter.dsos = bytes(&self.dso);
        Ok(filter)
    }
}

impl TaskFilterOptions {
    /// Makes the filter for a recording, like [`FilterOptions::filter`].
    pub(crate) fn filter(&self, about: &Metadata) -> io::Result<Filter> {
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
        let mut filter = Filter::default();
        filter.comms = bytes(&self.comm);
        filter.pids.clone_from(&self.pid);
        filter.pids.sort_unstable();
        filter.tids.clone_from(&self.tid);
        filter.tids.sort_unstable();
        filter.cpus = self.cpu.as_ref().map(|cpus| cpus.as_slice().to_vec());
        if let Some(time) = &self.time {
            let ranges = time.ranges(about.sample_time);
            filter.times = Some(ranges.ok_or_else(|| io::Error::other(NO_SAMPLE_TIMES))?);
        }
        Ok(filter)
    }
}

/// Names in a recording are bytes, as arguments are.
fn bytes(names: &[OsString]) -> Vec<Vec<u8>> {
    names.iter().map(|name| name.as_bytes().to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use perf_symbols::AddressSpaces;
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        filter: FilterOptions,
    }

    fn filter(arguments: &[&str]) -> Filter {
        let words = ["perfkit"].iter().chain(arguments);
        Command::try_parse_from(words).unwrap().filter.filter(&Metadata::default()).unwrap()
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
