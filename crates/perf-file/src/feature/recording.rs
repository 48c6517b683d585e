//! Sections about the recording: its events, clocks, AUX data and BPF programs.

use perf_abi::Clock;

use crate::attr::FileAttr;
use crate::bytes::Bytes;
use crate::error::Result;
use crate::list::{CountedBytes, List, Read, fields};

#[cfg(any(test, feature = "std"))]
use crate::{encoder::Encoder, list::Write};

fields! {
    /// An event group, from [`Feature::GROUP_DESC`](crate::format::Feature::GROUP_DESC).
    pub struct GroupDesc<'a> {
        /// Name before the braces, `{anon_group}` if the user gave none.
        pub name: &'a [u8] = "name of a group",
        /// Index of the leader among the attrs.
        pub leader: u32 = "leader of a group",
        /// Number of members, the leader included. They follow each other.
        pub members: u32 = "members of a group",
    }

    /// Position of an [`Auxtrace`](crate::record::Auxtrace) record, from
    /// [`Feature::AUXTRACE`](crate::format::Feature::AUXTRACE).
    #[doc(alias = "auxtrace_index_entry")]
    pub struct AuxtraceIndex {
        /// Offset of the record in bytes from the start of the file.
        pub offset: u64 = "offset of an AUX trace record",
        /// Bytes of the record with the AUX data that follows it.
        pub size: u64 = "size of an AUX trace record",
    }

    /// Times of samples, from [`Feature::SAMPLE_TIME`](crate::format::Feature::SAMPLE_TIME).
    pub struct SampleTime {
        /// Time of the first sample in ns of the events' clock.
        pub first: u64 = "time of the first sample",
        /// Time of the last sample in ns of the events' clock.
        pub last: u64 = "time of the last sample",
    }

    /// Parameters of the compressed records, from
    /// [`Feature::COMPRESSED`](crate::format::Feature::COMPRESSED).
    pub struct Compression {
        /// Version of this section.
        pub version: u32 = "version",
        /// The algorithm: [`COMPRESSION_ZSTD`](crate::format::COMPRESSION_ZSTD).
        pub kind: u32 = "type of the compression",
        /// Level.
        pub level: u32 = "level of the compression",
        /// Ratio of the sizes before and after compression.
        pub ratio: u32 = "ratio of the compression",
        /// Bytes of the longest decompressed part: the size of a ring.
        pub mmap_len: u32 = "size of a ring",
    }

    /// Two clocks at one instant, from [`Feature::CLOCK_DATA`](crate::format::Feature::CLOCK_DATA).
    ///
    /// `time - clock_time + wall_clock_time` is the wall-clock time of a record's `time`.
    pub struct ClockData {
        /// The clock of the records: the attr's `clockid`.
        pub clock: Clock = "clock",
        /// Time of the wall clock, in ns since 1970.
        pub wall_clock_time: u64 = "wall clock",
        /// Time of `clock` in ns.
        pub clock_time: u64 = "time of the clock",
    }

    /// The threads that were there when a recording began, from
    /// [`Feature::THREAD_STATES`](crate::format::Feature::THREAD_STATES).
    ///
    /// A thread that waits during the whole recording writes no record: this shows that it was
    /// there, and where it waited.
    pub struct ThreadStates<'a> {
        /// When the states were read, in ns of `CLOCK_MONOTONIC`.
        pub start: u64 = "start",
        /// When the recording ended, in ns of `CLOCK_MONOTONIC`.
        pub end: u64 = "end",
        /// The threads of the recorded processes, or of the machine.
        pub threads: List<'a, ThreadAtStart<'a>> = "threads",
    }

    /// A thread at the start of a recording.
    pub struct ThreadAtStart<'a> {
        /// Process id.
        pub pid: u32 = "process id",
        /// Thread id.
        pub tid: u32 = "thread id",
        /// State as `ps` prints it, an ASCII character: `S` and `D` wait, `R` runs or is ready to.
        pub state: u32 = "state",
        /// Name of the thread.
        pub name: &'a [u8] = "name of a thread",
        /// Name of the system call in which it waits; empty without one.
        pub syscall: &'a [u8] = "system call",
        /// Text about the place at which it waits, such as `clock_nanosleep, 30 s`.
        pub place: &'a [u8] = "place of a wait",
        /// Functions of the kernel in which it waits, innermost first, one a line.
        pub functions: &'a [u8] = "functions of a wait",
        /// The times within the recording; none if the thread exited, or if the kernel does not
        /// count them.
        pub times: List<'a, RunTimes> = "times of a thread",
    }

    /// Times that the kernel counts in `/proc/PID/schedstat`.
    pub struct RunTimes {
        /// Time on a CPU in ns.
        pub running: u64 = "time on a CPU",
        /// Time for which the thread was ready and had no CPU, in ns.
        pub ready: u64 = "time without a CPU",
    }

    /// Type information of BPF programs, from
    /// [`Feature::BPF_BTF`](crate::format::Feature::BPF_BTF).
    pub struct Btf<'a> {
        /// The id of the BTF object in the kernel.
        pub id: u32 = "id of a BTF object",
        /// The BTF, in the byte order of the file.
        pub data: &'a [u8] = "BTF object" in CountedBytes,
    }
}

/// A BPF program, from [`Feature::BPF_PROG_INFO`](crate::format::Feature::BPF_PROG_INFO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BpfProgram<'a> {
    /// Which arrays of the program are in `data`: bits of `enum perf_bpil_array_types`.
    pub arrays: u64,
    /// `struct bpf_prog_info` of the recording kernel, in the byte order of the file. Its pointers
    /// are offsets in `data`.
    pub info: &'a [u8],
    /// The arrays: instructions, machine code, line information.
    pub data: &'a [u8],
}

impl<'a> Read<'a> for BpfProgram<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        let info_len = bytes.u32("length of bpf_prog_info")?;
        let data_len = bytes.u32("length of the data of a program")?;
        Ok(Self {
            arrays: bytes.u64("arrays of a program")?,
            info: bytes.take(info_len.into(), "bpf_prog_info")?,
            data: bytes.take(data_len.into(), "data of a program")?,
        })
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for BpfProgram<'_> {
    fn write(&self, out: &mut Encoder) {
        out.count(self.info.len()).count(self.data.len()).u64(self.arrays);
        out.bytes(self.info).bytes(self.data);
    }
}

/// An event with its name, from [`Feature::EVENT_DESC`](crate::format::Feature::EVENT_DESC).
#[derive(Clone, Copy, Debug)]
pub struct EventDesc<'a> {
    /// Its attr and ids.
    pub event: FileAttr<'a>,
    /// Its name, such as `cycles:u`.
    pub name: &'a [u8],
}

/// The form of the list of events: their number, and the length of their attrs, which all have.
pub(super) struct Events;

impl Events {
    pub(super) fn read<'a>(bytes: &mut Bytes<'a>, what: &'static str) -> Result<List<'a, EventDesc<'a>>> {
        let count = bytes.u32(what)?;
        let attr_size = bytes.u32("size of an attr")?;
        bytes.set_context(attr_size);
        List::take(bytes, count.into(), what)
    }

    /// Writes the attrs with the length of the longest.
    #[cfg(any(test, feature = "std"))]
    pub(super) fn write<'a>(list: &List<'a, EventDesc<'a>>, out: &mut Encoder) {
        let sizes = list.iter().map(|desc| desc.event.bytes.len() as u32);
        // One length precedes all attrs, so the shorter ones are extended with the zeros of `Attr`.
        let size = sizes.max().unwrap_or(0).min(perf_abi::Attr::SIZE);
        out.count(list.len()).u32(size).context = size;
        list.write_entries(out);
    }
}

impl<'a> Read<'a> for EventDesc<'a> {
    fn read(bytes: &mut Bytes<'a>, _: &'static str) -> Result<Self> {
        let attr = bytes.take(bytes.context().into(), "attr")?;
        let ids = bytes.u32("number of ids")?;
        // The name is between the ids and their number.
        let name = bytes.string("name of an event")?;
        let ids = List::take(bytes, ids.into(), "ids")?;
        Ok(Self { event: FileAttr::new(attr, ids, bytes.order()), name })
    }
}

#[cfg(any(test, feature = "std"))]
impl Write for EventDesc<'_> {
    fn write(&self, out: &mut Encoder) {
        crate::attr::push(&mut out.bytes, &self.event.attr, out.context, out.order);
        out.count(self.event.ids.len()).string(self.name);
        self.event.ids.write_entries(out);
    }
}
