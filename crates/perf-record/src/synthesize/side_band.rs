//! Side-band records, encoded one by one.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use perf_session::ring::abi::{BpfEventType, CpuMode, Header, KsymbolType, Misc, NamespaceLink, RecordType};
use perf_session::ring::decode::{Records, Window};
use perf_session::ring::{Attr, AttrFlags, SampleType};
use zerocopy::IntoBytes;

use perf_session::Mapping;

/// Synthesized side-band records, in the layout that the kernel writes.
///
/// The fields of the trailer (task, time, event, CPU) are 0, because the records belong to no event
/// and precede all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideBand {
    words: Vec<u64>,
    /// Length of the trailer in words.
    trailer: usize,
}

/// Fields of the trailer, one word each.
const TRAILER: SampleType = SampleType::TID
    .union(SampleType::TIME)
    .union(SampleType::ID)
    .union(SampleType::STREAM_ID)
    .union(SampleType::CPU)
    .union(SampleType::IDENTIFIER);
/// Process id of the mappings of the kernel and its modules; the thread id is 0.
const KERNEL_PID: u32 = u32::MAX;
/// Name of a mapping without a file, as the kernel writes it.
const ANONYMOUS: &str = "//anon";
/// `MAP_SHARED` and `MAP_PRIVATE`.
const SHARED: u32 = 1;
const PRIVATE: u32 = 2;
/// Longest name of a task in bytes, without its NUL.
const MAX_COMM: usize = 15;
/// Longest path in bytes, without its NUL.
const MAX_PATH: usize = 4095;
/// Longest name of a symbol in bytes, without its NUL.
const MAX_SYMBOL: usize = 511;
/// Limit of the namespaces of a record, whose length has 16 bits.
const MAX_LINKS: usize = 4000;

impl SideBand {
    /// Creates an empty list of records. `attr` is the attr of the event whose trailer they have.
    #[must_use]
    pub fn new(attr: &Attr) -> Self {
        let has_trailer = attr.flags.contains(AttrFlags::SAMPLE_ID_ALL);
        let words = attr.sample_type.intersection(TRAILER).bits().count_ones() as usize;
        Self { words: Vec::new(), trailer: if has_trailer { words } else { 0 } }
    }

    /// Returns the encoded records.
    pub fn as_bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    /// Returns the records as words, for a [`Window`].
    pub fn as_words(&self) -> &[u64] {
        &self.words
    }

    /// Returns an iterator over the records, for a program that uses them directly.
    pub fn records(&self) -> Records<'_> {
        Window::from_slices(&self.words, &[]).records(&mut [])
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Returns the number of words, for [`SideBand::truncate`].
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Removes the records after a number of words.
    pub(super) fn truncate(&mut self, words: usize) {
        self.words.truncate(words);
    }

    /// Appends a `COMM` record: the name of a task. It is truncated to 15 bytes, as in the kernel.
    pub fn comm(&mut self, pid: u32, tid: u32, name: &[u8]) {
        self.push(RecordType::COMM, Misc::empty(), |words| {
            words.push(halves(pid, tid));
            push_text(words, name, MAX_COMM);
        });
    }

    /// Appends a `FORK` record of a task that has already called `execve`, so that it does not
    /// inherit the mappings of its parent.
    pub fn fork(&mut self, pid: u32, ppid: u32, tid: u32, ptid: u32) {
        self.push(RecordType::FORK, Misc::FORK_EXEC, |words| {
            words.extend([halves(pid, ppid), halves(tid, ptid), 0]);
        });
    }

    /// Appends an `MMAP2` record: a mapping of a process, with the build id of its file, at most 20
    /// bytes, instead of device and inode. The path is truncated to 4095 bytes, as in the kernel.
    pub fn mmap2(&mut self, pid: u32, mapping: &Mapping, build_id: Option<&[u8]>) {
        let mut misc = Misc::empty().with_cpu_mode(CpuMode::USER);
        if !mapping.is_executable() {
            misc |= Misc::MMAP_DATA;
        }
        let file = match build_id {
            Some(id) => {
                misc |= Misc::MMAP_BUILD_ID;
                let mut file = [0_u8; 24];
                let id = id.get(..20).unwrap_or(id);
                let (size, rest) = file.split_at_mut(4);
                size.copy_from_slice(&[id.len() as u8, 0, 0, 0]);
                rest.iter_mut().zip(id).for_each(|(to, from)| *to = *from);
                zerocopy::transmute!(file)
            }
            None => [halves(mapping.device.0, mapping.device.1), mapping.inode, 0],
        };
        let path = if mapping.path.as_os_str().is_empty() { Path::new(ANONYMOUS) } else { &mapping.path };
        self.push(RecordType::MMAP2, misc, |words| {
            words.extend([halves(pid, pid), mapping.start, mapping.end - mapping.start, mapping.offset]);
            words.extend(file);
            words.push(halves(mapping.protection, if mapping.is_shared { SHARED } else { PRIVATE }));
            push_text(words, path.as_os_str().as_bytes(), MAX_PATH);
        });
    }

    /// Appends an `MMAP` record of the kernel or a module: executable memory of `len` bytes at
    /// `addr`, mapped from the offset `pgoff` of the file.
    pub fn kernel_mmap(&mut self, addr: u64, len: u64, pgoff: u64, path: &[u8]) {
        self.push(RecordType::MMAP, Misc::empty().with_cpu_mode(CpuMode::KERNEL), |words| {
            words.extend([halves(KERNEL_PID, 0), addr, len, pgoff]);
            push_text(words, path, MAX_PATH);
        });
    }

    /// Appends a `NAMESPACES` record: the namespaces of a task, by
    /// [`NamespaceIndex`](perf_session::ring::abi::NamespaceIndex).
    pub fn namespaces(&mut self, pid: u32, tid: u32, links: &[NamespaceLink]) {
        // The kernel has 7 kinds of namespaces.
        let links = links.get(..MAX_LINKS).unwrap_or(links);
        self.push(RecordType::NAMESPACES, Misc::empty(), |words| {
            words.extend([halves(pid, tid), links.len() as u64]);
            words.extend(links.iter().flat_map(|link| [link.dev, link.inode]));
        });
    }

    /// Appends a `CGROUP` record: the id of a cgroup and its path from the root, `/` for the root.
    /// The path is truncated to 4095 bytes.
    pub fn cgroup(&mut self, id: u64, path: &[u8]) {
        self.push(RecordType::CGROUP, Misc::empty(), |words| {
            words.push(id);
            push_text(words, path, MAX_PATH);
        });
    }

    /// Appends a `KSYMBOL` record: a function that was added to the kernel at run time. The name is
    /// truncated to 511 bytes, as in the kernel.
    pub fn ksymbol(&mut self, addr: u64, len: u32, ksym_type: KsymbolType, name: &[u8]) {
        self.push(RecordType::KSYMBOL, Misc::empty(), |words| {
            let added = 0_u16;
            let place: [u16; 2] = [ksym_type.0, added];
            words.extend([addr, halves(len, zerocopy::transmute!(place))]);
            push_text(words, name, MAX_SYMBOL);
        });
    }

    /// Appends a `BPF_EVENT` record of a loaded program: its id, and the hash of its code.
    pub fn bpf_program(&mut self, id: u32, tag: [u8; 8]) {
        self.push(RecordType::BPF_EVENT, Misc::empty(), |words| {
            let no_flags = 0_u16;
            let kind: [u16; 2] = [BpfEventType::PROG_LOAD.0, no_flags];
            words.extend([halves(zerocopy::transmute!(kind), id), u64::from_ne_bytes(tag)]);
        });
    }

    fn push(&mut self, kind: RecordType, misc: Misc, body: impl FnOnce(&mut Vec<u64>)) {
        let start = self.words.len();
        self.words.push(0);
        body(&mut self.words);
        self.words.resize(self.words.len() + self.trailer, 0);
        let size = ((self.words.len() - start) * 8) as u16;
        if let Some(header) = self.words.get_mut(start) {
            *header = zerocopy::transmute!(Header { kind, misc, size });
        }
    }
}

/// Packs two halves into a word, in the order of a C struct.
fn halves(first: u32, second: u32) -> u64 {
    zerocopy::transmute!([first, second])
}

/// Appends the first `max` bytes of a text and one to eight NUL bytes.
fn push_text(words: &mut Vec<u64>, text: &[u8], max: usize) {
    let text = text.get(..max).unwrap_or(text);
    let start = words.len();
    words.resize(start + text.len() / 8 + 1, 0);
    let area = words.get_mut(start..).unwrap_or_default();
    area.as_mut_bytes().iter_mut().zip(text).for_each(|(to, from)| *to = *from);
}

#[cfg(test)]
mod tests {
    use perf_session::ring::Software;
    use perf_session::ring::decode::{MappedFile, RawRecord, Record, SampleLayout};

    use super::*;

    fn attr() -> Attr {
        Attr::software(Software::CPU_CLOCK)
            .with_sample_type(SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::IDENTIFIER)
            .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::BUILD_ID)
    }

    #[test]
    fn records_decode_to_what_was_written() {
        let mut side_band = SideBand::new(&attr());
        side_band.fork(7, 1, 8, 2);
        side_band.comm(7, 8, b"a name of 20 letters");
        let mapping = |line: &str| Mapping::parse(line.as_bytes()).unwrap();
        side_band.mmap2(7, &mapping("1000-3000 r-xp 3000 08:01 99 /bin/eight.b"), None);
        side_band.mmap2(7, &mapping("1000-3000 r--s 3000 08:01 99"), Some(&[9; 32]));

        let layout = SampleLayout::new(&attr());
        let decoded: Vec<_> =
            side_band.records().map(|record| record.unwrap().decode(&layout).unwrap()).collect();
        let [Record::Fork(fork), Record::Comm(comm), Record::Mmap2(inode), Record::Mmap2(build_id)] =
            decoded[..]
        else {
            panic!("{decoded:?}")
        };
        assert_eq!([fork.pid(), fork.ppid(), fork.tid(), fork.ptid()], [7, 1, 8, 2]);
        assert_eq!(fork.misc(), Misc::FORK_EXEC);
        assert_eq!((comm.pid(), comm.tid(), comm.comm()), (7, 8, &b"a name of 20 le"[..]));
        assert_eq!([inode.pid(), inode.tid()], [7, 7]);
        assert_eq!([inode.addr(), inode.len(), inode.pgoff()], [0x1000, 0x2000, 0x3000]);
        assert_eq!((inode.prot(), inode.flags(), inode.filename()), (5, 2, &b"/bin/eight.b"[..]));
        assert_eq!(inode.file(), MappedFile::Inode { major: 8, minor: 1, inode: 99, generation: 0 });
        assert_eq!(inode.misc(), Misc::empty().with_cpu_mode(CpuMode::USER));
        assert_eq!((build_id.prot(), build_id.flags(), build_id.filename()), (1, 1, &b"//anon"[..]));
        assert_eq!(build_id.build_id(), Some(&[9; 20][..]));
        assert_eq!(build_id.misc(), (Misc::MMAP_DATA | Misc::MMAP_BUILD_ID).with_cpu_mode(CpuMode::USER));
        assert!(decoded.iter().all(|record| record.time() == Some(0)));
    }

    #[test]
    fn kernel_is_a_mapping_of_no_process() {
        let mut side_band = SideBand::new(&Attr::default());
        let path = b"[kernel.kallsyms]_text";
        side_band.kernel_mmap(16, 8, 16, path);
        let record = RawRecord::from_words(&side_band.words).unwrap();
        let layout = SampleLayout::new(&Attr::default());
        let Record::Mmap(mmap) = record.decode(&layout).unwrap() else { panic!("{record:?}") };
        assert_eq!((mmap.pid(), mmap.tid(), mmap.addr(), mmap.len()), (u32::MAX, 0, 16, 8));
        assert_eq!((mmap.filename(), mmap.misc().cpu_mode()), (&path[..], CpuMode::KERNEL));
    }

    #[test]
    fn name_has_one_to_eight_nul_bytes() {
        for (len, words) in [(7, 3), (8, 4), (15, 4)] {
            let mut side_band = SideBand::default();
            side_band.comm(1, 1, &vec![b'x'; len]);
            assert_eq!(side_band.words.len(), words, "{len}");
        }
    }

    #[test]
    fn path_is_truncated_as_by_the_kernel() {
        let mut side_band = SideBand::default();
        side_band.kernel_mmap(0, 0, 0, &vec![b'x'; 70_000]);
        assert_eq!(side_band.words.len() * 8, 40 + 4096);
    }

    #[test]
    fn namespaces_and_cgroups_decode_to_what_was_written() {
        let mut side_band = SideBand::new(&attr());
        let links = [NamespaceLink { dev: 4, inode: 7 }, NamespaceLink::default()];
        side_band.namespaces(7, 8, &links);
        side_band.cgroup(99, b"/system.slice/a");
        let layout = SampleLayout::new(&attr());
        let decoded: Vec<_> =
            side_band.records().map(|record| record.unwrap().decode(&layout).unwrap()).collect();
        let [Record::Namespaces(namespaces), Record::Cgroup(cgroup)] = decoded[..] else {
            panic!("{decoded:?}")
        };
        assert_eq!((namespaces.pid(), namespaces.tid()), (7, 8));
        assert!(namespaces.namespaces().iter().eq(links));
        assert_eq!((cgroup.id(), cgroup.path()), (99, &b"/system.slice/a"[..]));
        assert!(decoded.iter().all(|record| record.time() == Some(0)));
    }

    #[test]
    fn symbols_and_programs_decode_to_what_was_written() {
        let mut side_band = SideBand::new(&attr());
        side_band.ksymbol(0xffff_0000_1234_5678, 99, KsymbolType::BPF, b"bpf_prog_1234");
        side_band.bpf_program(7, *b"8 bytes!");
        let layout = SampleLayout::new(&attr());
        let decoded: Vec<_> =
            side_band.records().map(|record| record.unwrap().decode(&layout).unwrap()).collect();
        let [Record::Ksymbol(symbol), Record::BpfEvent(program)] = decoded[..] else { panic!("{decoded:?}") };
        assert_eq!((symbol.addr(), symbol.len()), (0xffff_0000_1234_5678, 99));
        assert_eq!((symbol.ksym_type(), symbol.flags().bits()), (KsymbolType::BPF, 0));
        assert_eq!(symbol.name(), b"bpf_prog_1234");
        assert_eq!((program.bpf_type(), program.flags()), (BpfEventType::PROG_LOAD, 0));
        assert_eq!((program.id(), program.tag()), (7, &b"8 bytes!"[..]));
        assert!(decoded.iter().all(|record| record.time() == Some(0)));
    }
}
