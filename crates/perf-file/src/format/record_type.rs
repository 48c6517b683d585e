//! The kinds of records that tools write into files, from 64 on.
//!
//! Kernel kinds are the constants of [`RecordType`].

use perf_abi::RecordType;

/// The first kind of tools; smaller numbers are the kernel's.
#[doc(alias = "PERF_RECORD_USER_TYPE_START")]
pub const FIRST: RecordType = RecordType(64);

macro_rules! kinds {
    ($($(#[$doc:meta])* $c_name:literal $name:ident = $number:literal;)*) => {
        $($(#[$doc])* #[doc(alias = $c_name)] pub const $name: RecordType = RecordType($number);)*

        /// The kinds of tools that this crate knows, by number.
        pub const ALL: &[RecordType] = &[$($name),*];

        /// Returns the name of a kind of the kernel or of tools, without the prefix
        /// `PERF_RECORD_`; `None` if it is unknown.
        pub fn name(kind: RecordType) -> Option<&'static str> {
            match kind {
                $($name => Some(stringify!($name)),)*
                _ => kind.name(),
            }
        }
    };
}

kinds! {
    /// An attr and the ids of its event: the pipe form's section `attrs`.
    "PERF_RECORD_HEADER_ATTR" HEADER_ATTR = 64;
    /// Obsolete: the name of an event.
    "PERF_RECORD_HEADER_EVENT_TYPE" HEADER_EVENT_TYPE = 65;
    /// The formats of tracepoints follow this record.
    "PERF_RECORD_HEADER_TRACING_DATA" HEADER_TRACING_DATA = 66;
    /// The build id of a file.
    "PERF_RECORD_HEADER_BUILD_ID" HEADER_BUILD_ID = 67;
    /// End of a round over all rings.
    "PERF_RECORD_FINISHED_ROUND" FINISHED_ROUND = 68;
    /// Ids of events with their CPUs and threads.
    "PERF_RECORD_ID_INDEX" ID_INDEX = 69;
    /// Type and parameters of AUX traces.
    "PERF_RECORD_AUXTRACE_INFO" AUXTRACE_INFO = 70;
    /// AUX data follows this record.
    "PERF_RECORD_AUXTRACE" AUXTRACE = 71;
    /// An error in an AUX trace.
    "PERF_RECORD_AUXTRACE_ERROR" AUXTRACE_ERROR = 72;
    /// Processes and their names.
    "PERF_RECORD_THREAD_MAP" THREAD_MAP = 73;
    /// A set of CPUs.
    "PERF_RECORD_CPU_MAP" CPU_MAP = 74;
    /// Options of `perf stat`.
    "PERF_RECORD_STAT_CONFIG" STAT_CONFIG = 75;
    /// A count of `perf stat`.
    "PERF_RECORD_STAT" STAT = 76;
    /// End of a round of counts of `perf stat`.
    "PERF_RECORD_STAT_ROUND" STAT_ROUND = 77;
    /// Unit, scale, name or CPUs of an event.
    "PERF_RECORD_EVENT_UPDATE" EVENT_UPDATE = 78;
    /// Parameters to convert time stamps of the CPU.
    "PERF_RECORD_TIME_CONV" TIME_CONV = 79;
    /// A feature section of the pipe form.
    "PERF_RECORD_HEADER_FEATURE" HEADER_FEATURE = 80;
    /// A part of the stream of compressed records.
    "PERF_RECORD_COMPRESSED" COMPRESSED = 81;
    /// End of the synthetic records, which describe the state before the recording.
    "PERF_RECORD_FINISHED_INIT" FINISHED_INIT = 82;
    /// A part of the stream of compressed records, padded to a multiple of 8 bytes.
    "PERF_RECORD_COMPRESSED2" COMPRESSED2 = 83;
    /// Variables of a BPF program.
    "PERF_RECORD_BPF_METADATA" BPF_METADATA = 84;
    /// Scheduler statistics of a CPU.
    "PERF_RECORD_SCHEDSTAT_CPU" SCHEDSTAT_CPU = 85;
    /// Scheduler statistics of a scheduling domain.
    "PERF_RECORD_SCHEDSTAT_DOMAIN" SCHEDSTAT_DOMAIN = 86;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_without_gaps() {
        assert!((64..=86).map(RecordType).eq(ALL.iter().copied()));
    }

    #[test]
    fn kinds_of_the_kernel_and_of_tools_have_names() {
        let names = [RecordType::SAMPLE, FINISHED_ROUND, RecordType(99)].map(name);
        assert_eq!(names, [Some("SAMPLE"), Some("FINISHED_ROUND"), None]);
    }
}
