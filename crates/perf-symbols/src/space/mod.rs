//! Address spaces over time: which mapping an address belonged to when a sample was taken.

mod kernel;
mod key;
pub(crate) mod map;
mod mapping;
mod objects;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use perf_abi::{CpuMode, Misc, NamespaceLink};
use perf_decode::{Comm, Fork, Layout, MappedFile, Mmap2, Namespaces, Record};

pub use self::kernel::KernelSymbol;
#[cfg(any(feature = "names", feature = "unwind"))]
pub(crate) use self::key::FileKey;
pub use self::mapping::{BuildId, Inode, MappedObject, Mapping, ObjectKind};
pub use self::objects::{RecordedObject, RecordedObjects};

use crate::generations::Generations;

use self::kernel::Kernel;
use self::map::RangeMap;

/// The mappings of all processes and of the kernel, according to the records so far.
///
/// Pass all records in time order to [`update`](Self::update), and look up the addresses of each
/// sample before the next record, because process ids are reused, programs exec, and libraries are
/// mapped over others. The kernel writes no record for munmap(2), so that a mapping stays until
/// another covers it, or its process execs or exits.
///
/// Memory is linear in the number of living processes and threads and of the records of their
/// mappings. A process shares with its parent the mappings that both have since the fork. After
/// their exit, only the names of the last threads are kept (at most 1024). The paths of control
/// groups are kept forever, because the kernel writes no record of their removal.
#[derive(Debug)]
pub struct AddressSpaces {
    processes: HashMap<u32, Process>,
    threads: HashMap<u32, Thread>,
    /// Names of the threads that exited last. The kernel still samples a thread after its `EXIT`
    /// record, until its last context switch.
    exited: Generations<u32, Arc<[u8]>>,
    kernel: Kernel,
    /// Guest kernels, by the process that runs the guest.
    guest_kernels: HashMap<u32, Kernel>,
    cgroups: HashMap<u64, Box<[u8]>>,
    build_ids: HashMap<Box<[u8]>, BuildId>,
    /// Latest time of a record, in ns of the recording's clock.
    newest: u64,
    /// Number of records that changed something and were older than `newest`.
    late: u64,
    /// Number of mapping changes so far.
    versions: u64,
}

#[derive(Debug, Default)]
struct Process {
    /// Shared with the parent of a fork, except for later changes of either.
    mappings: RangeMap<Mapping>,
    /// Processes with equal versions have equal mappings; 0 means no mappings.
    version: u64,
    /// True if the records have all mappings, because the process began during the recording or a
    /// tool wrote synthetic records.
    is_whole: bool,
    /// Threads that appeared in records. There can be more if the process began before the
    /// recording.
    threads: HashSet<u32>,
    namespaces: Option<Arc<[NamespaceLink]>>,
    jitdump: Option<MappedObject>,
}

/// The mappings of a process at one time. A clone copies a pointer.
#[cfg(feature = "names")]
#[derive(Clone, Debug)]
pub(crate) struct ProcessMappings {
    version: u64,
    mappings: RangeMap<Mapping>,
}

#[cfg(feature = "names")]
impl ProcessMappings {
    pub(crate) fn find(&self, address: u64) -> Option<&Mapping> {
        self.mappings.get(address)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings.iter()
    }
}

#[cfg(feature = "names")]
impl PartialEq for ProcessMappings {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

#[cfg(feature = "names")]
impl Eq for ProcessMappings {}

#[derive(Debug)]
struct Thread {
    pid: u32,
    name: Option<Arc<[u8]>>,
}

/// The location of an address: returned by [`AddressSpaces::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location<'a> {
    /// In a mapping of a process.
    User(&'a Mapping),
    /// In a symbol that the kernel added at run time, such as a BPF program.
    KernelSymbol(&'a KernelSymbol),
    /// In the kernel or a module. `None` if no record has their addresses; kallsyms of the same
    /// boot has them.
    Kernel(Option<&'a Mapping>),
    /// In the kernel of a guest. Only files of the guest have its symbols.
    GuestKernel(Option<&'a Mapping>),
}

impl<'a> Location<'a> {
    /// Returns the path of the mapped file, or the name of the object as the perf tool prints it,
    /// such as `[vdso]`, `[kernel.kallsyms]` or the name of a BPF program. Raw bytes.
    pub fn path(self) -> &'a [u8] {
        // The record of the kernel's text appends its reference symbol: `[kernel.kallsyms]_text`.
        let of_kernel = |mapping: Option<&'a Mapping>, kernel: &'static [u8]| {
            let path = mapping.map_or(kernel, |mapping| mapping.object().path());
            if path.starts_with(kernel) { kernel } else { path }
        };
        match self {
            Self::User(mapping) => mapping.object().path(),
            Self::KernelSymbol(symbol) => &symbol.name,
            Self::Kernel(mapping) => of_kernel(mapping, b"[kernel.kallsyms]"),
            Self::GuestKernel(mapping) => of_kernel(mapping, b"[guest.kernel.kallsyms]"),
        }
    }
}

/// Why an address has no location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unlocated {
    /// No record names the process: it began before the recording, which has no synthetic records
    /// for it.
    UnknownProcess,
    /// The process is known, but nothing is mapped at the address. Callchains have such addresses
    /// where code uses the frame pointer register for other values.
    Unmapped,
    /// The address is in a hypervisor.
    Hypervisor,
    /// The address is in user space of a guest.
    GuestUser,
    /// The CPU mode from the sample or from a callchain marker is unknown.
    UnknownMode(CpuMode),
}

impl fmt::Display for Unlocated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownProcess => {
                f.write_str("no record names the process, which began before the recording")
            }
            Self::Unmapped => f.write_str(
                "nothing was mapped at the address, as while exec replaces a program, or in callchains of code without frame pointers",
            ),
            Self::Hypervisor => f.write_str("the address is one of the hypervisor"),
            Self::GuestUser => f.write_str("the address is in user space of a guest"),
            Self::UnknownMode(mode) => {
                write!(f, "the CPU mode of the address is {mode}, expected KERNEL or USER")
            }
        }
    }
}

impl std::error::Error for Unlocated {}

/// Minimum number of thread names to keep after exit. It must exceed the number of threads that are
/// exiting at once: one on each CPU, and those that were preempted.
const MAX_EXITED: usize = 512;

impl Default for AddressSpaces {
    fn default() -> Self {
        Self::new()
    }
}

impl AddressSpaces {
    /// Creates address spaces without processes.
    pub fn new() -> Self {
        Self {
            processes: HashMap::new(),
            threads: HashMap::new(),
            exited: Generations::new(MAX_EXITED),
            kernel: Kernel::default(),
            guest_kernels: HashMap::new(),
            cgroups: HashMap::new(),
            build_ids: HashMap::new(),
            newest: 0,
            late: 0,
            versions: 0,
        }
    }

    /// Applies a record. Pass all records in time order; samples only advance the time.
    ///
    /// Synthetic records, which a tool wrote about the time before the recording, have the time 0
    /// and are treated like others.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        let is_late = self.move_time(record.time());
        let is_before = record.time().unwrap_or(0) == 0;
        match record {
            Record::Mmap(mmap) => {
                let range = mmap.addr()..mmap.addr().saturating_add(mmap.len());
                let mapping = Mapping::new(range, mmap.pgoff(), MappedObject::new(mmap.filename()));
                let mapping = mapping.with_executable(mmap.is_executable());
                self.map(mmap.misc(), mmap.pid(), mmap.tid(), mapping, is_before);
            }
            Record::Mmap2(mmap) => {
                let range = mmap.addr()..mmap.addr().saturating_add(mmap.len());
                let mapping = Mapping::new(range, mmap.pgoff(), object_of(mmap));
                let mapping = mapping.with_executable(mmap.is_executable());
                self.map(mmap.misc(), mmap.pid(), mmap.tid(), mapping, is_before);
            }
            Record::Comm(comm) => self.name_thread(comm),
            Record::Fork(fork) => self.fork(fork),
            Record::Exit(exit) => {
                if let Some(Thread { name: Some(name), .. }) = self.end_thread(exit.tid()) {
                    self.exited.insert(exit.tid(), name, 1);
                }
            }
            Record::Namespaces(namespaces) => self.set_namespaces(namespaces),
            Record::Ksymbol(symbol) => self.kernel.update_symbol(symbol),
            Record::BpfEvent(event) => self.kernel.update_program(event),
            Record::Cgroup(cgroup) => {
                self.cgroups.insert(cgroup.id(), cgroup.path().into());
            }
            // TEXT_POKE changes instructions but no name or range. The other records do not concern
            // addresses.
            _ => return,
        }
        self.late += u64::from(is_late);
    }

    /// Advances the time. Returns true if an earlier record had a later time.
    fn move_time(&mut self, time: Option<u64>) -> bool {
        // Synthetic records have the time 0.
        let Some(time) = time.filter(|&time| time != 0) else { return false };
        let is_late = time < self.newest;
        self.newest = self.newest.max(time);
        is_late
    }

    fn map(&mut self, misc: Misc, pid: u32, tid: u32, mapping: Mapping, is_before: bool) {
        match misc.cpu_mode() {
            CpuMode::KERNEL => self.kernel.map(mapping),
            CpuMode::GUEST_KERNEL => self.guest_kernels.entry(pid).or_default().map(mapping),
            CpuMode::USER => {
                self.versions += 1;
                let version = self.versions;
                let process = self.process_of(pid, tid);
                process.version = version;
                process.is_whole |= is_before;
                if mapping.object().is_jitdump() {
                    process.jitdump = Some(mapping.object().clone());
                }
                process.mappings.insert(mapping);
            }
            _ => {}
        }
    }

    /// Returns the process of a living thread. Adds both if no earlier record named them.
    fn process_of(&mut self, pid: u32, tid: u32) -> &mut Process {
        self.thread_of(pid, tid);
        self.processes.entry(pid).or_default()
    }

    fn thread_of(&mut self, pid: u32, tid: u32) -> &mut Thread {
        // Another process has the thread id now, so that the exit of the old thread was lost.
        if self.threads.get(&tid).is_some_and(|thread| thread.pid != pid) {
            self.end_thread(tid);
        }
        self.processes.entry(pid).or_default().threads.insert(tid);
        self.threads.entry(tid).or_insert(Thread { pid, name: None })
    }

    fn name_thread<L: Layout>(&mut self, comm: &Comm<'_, L>) {
        let (pid, tid) = (comm.pid(), comm.tid());
        if comm.exec() {
            // An exec ends the other threads and unmaps everything. Records of the new mappings
            // follow.
            let others = self.processes.get(&pid).map_or_else(Vec::new, |process| {
                process.threads.iter().copied().filter(|&other| other != tid).collect()
            });
            let process = self.process_of(pid, tid);
            (process.mappings, process.version, process.jitdump) = (RangeMap::default(), 0, None);
            process.is_whole = true;
            for other in others {
                self.end_thread(other);
            }
        }
        self.thread_of(pid, tid).name = Some(comm.comm().into());
    }

    fn fork<L: Layout>(&mut self, fork: &Fork<'_, L>) {
        let (pid, tid) = (fork.pid(), fork.tid());
        if pid != fork.ppid() {
            // Earlier tasks with these ids are dead, even if their exit records were lost.
            self.end_thread(tid);
            self.end_process(pid);
            let is_copy = !fork.misc().contains(Misc::FORK_EXEC);
            if let Some(parent) = self.processes.get(&fork.ppid()).filter(|_| is_copy) {
                let copy = Process {
                    mappings: parent.mappings.clone(),
                    version: parent.version,
                    is_whole: parent.is_whole,
                    threads: HashSet::new(),
                    namespaces: parent.namespaces.clone(),
                    jitdump: parent.jitdump.clone(),
                };
                self.processes.insert(pid, copy);
            }
        }
        let name = self.threads.get(&fork.ptid()).and_then(|parent| parent.name.clone());
        self.thread_of(pid, tid).name = name;
    }

    /// Removes a thread. The last thread takes its process with it.
    fn end_thread(&mut self, tid: u32) -> Option<Thread> {
        let thread = self.threads.remove(&tid)?;
        if let Some(process) = self.processes.get_mut(&thread.pid) {
            process.threads.remove(&tid);
            if process.threads.is_empty() {
                self.processes.remove(&thread.pid);
            }
        }
        Some(thread)
    }

    fn end_process(&mut self, pid: u32) {
        let Some(process) = self.processes.remove(&pid) else { return };
        for tid in process.threads {
            self.threads.remove(&tid);
        }
    }

    /// Removes the processes for which `is_alive` returns `false`. Long-running programs call this
    /// to drop processes whose exit records were lost.
    pub fn retain_processes(&mut self, mut is_alive: impl FnMut(u32) -> bool) {
        let dead: Vec<u32> = self.processes.keys().copied().filter(|&pid| !is_alive(pid)).collect();
        for pid in dead {
            self.end_process(pid);
        }
    }

    fn set_namespaces<L: Layout>(&mut self, record: &Namespaces<'_, L>) {
        let links = record.namespaces().iter().collect();
        self.process_of(record.pid(), record.tid()).namespaces = Some(links);
    }

    /// Sets the build id of the file at a path, from the records or the feature section `BUILD_ID`
    /// of a `perf.data` file. A build id in the mapping's own record has precedence.
    pub fn add_build_id(&mut self, path: &[u8], id: BuildId) {
        self.build_ids.insert(path.into(), id);
    }

    /// Returns the build id of a mapped object: from its record, or from
    /// [`add_build_id`](Self::add_build_id).
    pub fn build_id(&self, object: &MappedObject) -> Option<BuildId> {
        // The record of the kernel's text appends its reference symbol: `[kernel.kallsyms]_text`.
        let path = object.path();
        let name = path.strip_prefix(b"[").and_then(|name| name.iter().position(|&byte| byte == b']'));
        let path = name.and_then(|len| path.get(..len + 2)).unwrap_or(path);
        object.build_id.or_else(|| self.build_ids.get(path).copied())
    }

    /// Returns the current location of an address of a process.
    ///
    /// `mode` is the [`cpu_mode`](Misc::cpu_mode) of the sample, or in a callchain the mode of the
    /// last context marker before the address.
    ///
    /// # Errors
    ///
    /// Returns [`Unlocated`]: the process is unknown, nothing is mapped at the address, or it
    /// belongs to a hypervisor, to user space of a guest, or to an unknown mode.
    pub fn find(&self, pid: u32, mode: CpuMode, addr: u64) -> Result<Location<'_>, Unlocated> {
        match mode {
            CpuMode::USER => {
                let process = self.processes.get(&pid).ok_or(Unlocated::UnknownProcess)?;
                process.mappings.get(addr).map(Location::User).ok_or(Unlocated::Unmapped)
            }
            CpuMode::KERNEL => Ok(match self.kernel.symbol(addr) {
                Some(symbol) => Location::KernelSymbol(symbol),
                None => Location::Kernel(self.kernel.mapping(addr)),
            }),
            CpuMode::GUEST_KERNEL => {
                // The perf tool records the kernel of a single guest with process id 0.
                let kernel = self.guest_kernels.get(&pid).or_else(|| self.guest_kernels.get(&0));
                Ok(Location::GuestKernel(kernel.and_then(|kernel| kernel.mapping(addr))))
            }
            CpuMode::GUEST_USER => Err(Unlocated::GuestUser),
            CpuMode::HYPERVISOR => Err(Unlocated::Hypervisor),
            unknown => Err(Unlocated::UnknownMode(unknown)),
        }
    }

    /// Returns true if an address in user space may be code: it is in executable memory, or the
    /// records do not have all mappings of the process. They have all if the process began during
    /// the recording, or if a tool wrote synthetic records for it.
    pub fn may_be_code(&self, pid: u32, addr: u64) -> bool {
        self.processes.get(&pid).is_none_or(|process| {
            // Known for certain only if there are mappings at all, because an event may record
            // none.
            let is_known = process.is_whole && process.mappings.len() > 0;
            !is_known || process.mappings.get(addr).is_some_and(Mapping::is_executable)
        })
    }

    /// Iterates over the mappings of a process by address; empty if the process is unknown.
    pub fn mappings(&self, pid: u32) -> impl Iterator<Item = &Mapping> {
        self.processes.get(&pid).into_iter().flat_map(|process| process.mappings.iter())
    }

    /// Returns the mapping of a process with the highest addresses.
    #[cfg(feature = "unwind")]
    pub(crate) fn last_mapping(&self, pid: u32) -> Option<&Mapping> {
        self.processes.get(&pid)?.mappings.last()
    }

    /// Returns the mapping of the kernel's text, without modules, if a record has it.
    pub fn kernel_text(&self) -> Option<&Mapping> {
        self.kernel.text()
    }

    /// Returns the jitdump file of a process, which a JIT runtime maps once to announce it.
    pub fn jitdump(&self, pid: u32) -> Option<&MappedObject> {
        self.processes.get(&pid)?.jitdump.as_ref()
    }

    /// Returns the current mappings of a process.
    #[cfg(feature = "names")]
    pub(crate) fn process_mappings(&self, pid: u32) -> Option<ProcessMappings> {
        let process = self.processes.get(&pid)?;
        Some(ProcessMappings { version: process.version, mappings: process.mappings.clone() })
    }

    /// Returns a version of the mappings of a process, which changes with every change; `None` if
    /// the process is unknown.
    ///
    /// Use it to invalidate data derived from [`mappings`](Self::mappings). Processes with equal
    /// versions have equal mappings, for example after a fork.
    pub fn mappings_version(&self, pid: u32) -> Option<u64> {
        self.processes.get(&pid).map(|process| process.version)
    }

    /// Returns a version of the addresses of the kernel, its modules and its symbols, which changes
    /// with every change.
    pub fn kernel_version(&self) -> u64 {
        self.kernel.version()
    }

    /// Returns the name of a thread, at most 15 raw bytes.
    ///
    /// Names stay available for at least the last 512 threads that exited, because the kernel
    /// samples threads while they exit.
    pub fn thread_name(&self, tid: u32) -> Option<&[u8]> {
        match self.threads.get(&tid) {
            Some(thread) => thread.name.as_deref(),
            None => self.exited.get(&tid).map(|name| &**name),
        }
    }

    /// Returns the namespaces of a process in the order of
    /// [`NamespaceIndex`](perf_abi::NamespaceIndex), if a record has them. If its threads differ,
    /// the latest change of any thread is returned.
    pub fn namespaces(&self, pid: u32) -> Option<&[NamespaceLink]> {
        self.processes.get(&pid)?.namespaces.as_deref()
    }

    /// Returns the path of a control group in raw bytes, by the id in samples.
    pub fn cgroup(&self, id: u64) -> Option<&[u8]> {
        self.cgroups.get(&id).map(|path| &**path)
    }

    /// Returns the id of the loaded BPF program with this tag.
    pub fn bpf_program_id(&self, tag: [u8; 8]) -> Option<u32> {
        self.kernel.bpf_id(tag)
    }

    /// Returns the number of effective records that were older than an earlier record. Lookups
    /// between the two did not see them.
    pub fn late_records(&self) -> u64 {
        self.late
    }

    /// Returns the numbers of processes, threads and mappings in memory. Mappings that processes
    /// share since a fork count once per process.
    pub fn counts(&self) -> SpaceCounts {
        SpaceCounts {
            processes: self.processes.len(),
            threads: self.threads.len(),
            mappings: self.processes.values().map(|process| process.mappings.len()).sum(),
        }
    }
}

/// Sizes of an [`AddressSpaces`]: returned by [`AddressSpaces::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceCounts {
    /// Living processes.
    pub processes: usize,
    /// Living threads.
    pub threads: usize,
    /// Mappings of living processes.
    pub mappings: usize,
}

/// Returns the file or memory that an MMAP2 record names.
fn object_of<L: Layout>(mmap: &Mmap2<'_, L>) -> MappedObject {
    let object = MappedObject::new(mmap.filename());
    match mmap.file() {
        MappedFile::BuildId(id) => match BuildId::new(id) {
            Some(id) => object.with_build_id(id),
            None => object,
        },
        MappedFile::Inode { inode: 0, .. } => object,
        MappedFile::Inode { major, minor, inode, generation } => {
            object.with_inode(Inode { major, minor, inode, generation })
        }
    }
}

#[cfg(test)]
mod tests;
