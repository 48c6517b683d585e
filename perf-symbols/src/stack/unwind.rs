//! The user part of a stack, from sampled registers and a copy of the stack.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use framehop::{Error, FrameAddress, Unwinder as _};
use perf_abi::regs::{Architecture, RegsAbi};
use perf_decode::{Layout, Regs, Sample, UserStack};

use super::info::{Entry, NoUnwindInfo, UnwindInfo};
use super::machine::{Arm64, Machine, X86_64};
use super::{Stack, StackEnd, UserSource};
use crate::space::FileKey;
use crate::{AddressSpaces, FileFinder, Mapping};

/// Processes whose mappings are kept before those of dead ones are looked for.
const MAX_PROCESSES: usize = 1 << 12;
/// framehop numbers its modules with 16 bits, two numbers each, and its cache must not see one twice.
const MAX_FILES: usize = 1 << 14;
/// Bytes between the end of a copy of a stack and a frame pointer that is not taken for another value.
const MAX_FRAME: u64 = 1 << 20;
/// The largest stacks of programs. What is further away is no address of the stack.
const MAX_STACK: u64 = 1 << 30;
/// The bits of addresses of programs that do not ask for more. Above them, arm64 puts pointer authentication.
const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// Follows user stacks by the unwind information of files, which compilers write for exceptions (`.eh_frame`), for
/// samples with [`REGS_USER`](perf_abi::SampleType::REGS_USER) and [`STACK_USER`](perf_abi::SampleType::STACK_USER).
///
/// The files are those that were mapped at the time of the sample, verified by a [`FileFinder`]. Each is read once, when a
/// stack first leads to it, and serves all processes. In code without unwind information, it follows a frame pointer if
/// that leads into executable memory. Machines are x86-64 and arm64; the recording may be of another machine than this one.
///
/// Sections of files are foreign bytes: entries with loops are refused, and a panic of the library that reads them is
/// caught and counted ([`panics`](Self::panics)), after the panic hook has run. Its time is linear in the number of frames.
///
/// Use one with one [`AddressSpaces`].
///
/// ```no_run
/// use perf_abi::regs::Architecture;
/// use perf_decode::Record;
/// use perf_file::Reader;
/// use perf_symbols::{AddressSpaces, FileFinder, Stack, StackEnd, Unwinder};
///
/// let mut spaces = AddressSpaces::new();
/// let mut unwinder = Unwinder::new(Architecture::X86_64, FileFinder::local());
/// let mut stack = Stack::new();
/// let mut reader = Reader::open("perf.data")?.sorted();
/// while let Some(record) = reader.next()? {
///     let record = record.decode()?;
///     spaces.update(&record);
///     let Record::Sample(sample) = record else { continue };
///     unwinder.unwind(&spaces, &sample, &mut stack);
///     match stack.end() {
///         StackEnd::Complete => println!("{} frames", stack.frames().len()),
///         StackEnd::NoUnwindInfo { address } => {
///             let reason = unwinder.missing_info(sample.pid().unwrap_or(0), address);
///             println!("{address:#x}: {}", reason.map_or_else(String::new, |reason| reason.to_string()));
///         }
///         end => println!("{end}"),
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Unwinder {
    options: Options,
    walker: AnyWalker,
    panics: u64,
}

#[derive(Debug)]
struct Options {
    finder: FileFinder,
    max_frames: usize,
    max_bytes: u64,
    address_mask: Option<u64>,
}

enum AnyWalker {
    X86_64(Box<Walker<X86_64>>),
    Arm64(Box<Walker<Arm64>>),
    Unsupported,
}

impl Unwinder {
    /// Makes one for recordings of a machine: [`Architecture::NATIVE`], or the machine that a `perf.data` file names.
    pub fn new(architecture: Architecture, finder: FileFinder) -> Self {
        let walker = match architecture {
            Architecture::X86_64 => AnyWalker::X86_64(Box::default()),
            Architecture::ARM64 => AnyWalker::Arm64(Box::default()),
            _ => AnyWalker::Unsupported,
        };
        let options = Options { finder, max_frames: 1024, max_bytes: 512 << 20, address_mask: None };
        Self { options, walker, panics: 0 }
    }

    /// Ends stacks with this number of user frames, which is 1024 by default.
    #[must_use]
    pub fn with_max_frames(mut self, frames: usize) -> Self {
        self.options.max_frames = frames;
        self
    }

    /// Holds at most this number of bytes of sections, 512 MiB by default, beside those of the last stack. When there
    /// are more, all are dropped and read again.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.options.max_bytes = bytes;
        self
    }

    /// Takes these bits of return addresses on arm64; the others are pointer authentication. By default, the low 48
    /// bits, and more if a process has code above them.
    #[must_use]
    pub fn with_address_mask(mut self, mask: u64) -> Self {
        self.options.address_mask = Some(mask);
        self
    }

    /// Replaces the frames with those of a sample: the kernel part of its callchain, and the user part by registers and
    /// stack copy. A sample without them gives what [`Stack::fill`] does.
    pub fn unwind<L: Layout>(&mut self, spaces: &AddressSpaces, sample: &Sample<'_, L>, stack: &mut Stack) {
        stack.fill(sample);
        let (Some(regs), Some(copy), Some(pid)) = (sample.regs_user(), sample.stack_user(), sample.pid())
        else {
            return;
        };
        self.unwind_copy(spaces, pid, &regs, &copy, stack);
    }

    fn unwind_copy(
        &mut self,
        spaces: &AddressSpaces,
        pid: u32,
        regs: &Regs<'_>,
        copy: &UserStack<'_>,
        stack: &mut Stack,
    ) {
        let (options, walker) = (&self.options, &mut self.walker);
        let walk = catch_unwind(AssertUnwindSafe(|| match walker {
            AnyWalker::X86_64(walker) => walker.start(options, spaces, pid, regs, copy, stack),
            AnyWalker::Arm64(walker) => walker.start(options, spaces, pid, regs, copy, stack),
            AnyWalker::Unsupported => None,
        }));
        match walk {
            Ok(Some(end)) => stack.end = end,
            // A callchain is better than nothing.
            Ok(None) if matches!(stack.source, UserSource::None | UserSource::Address) => {
                stack.end = StackEnd::Unsupported;
            }
            Ok(None) => {}
            Err(_) => {
                self.panics += 1;
                stack.end = StackEnd::Panicked;
                match &mut self.walker {
                    AnyWalker::X86_64(walker) => walker.recover(),
                    AnyWalker::Arm64(walker) => walker.recover(),
                    AnyWalker::Unsupported => {}
                }
            }
        }
    }

    /// Returns why there is no unwind information for the address of a [`StackEnd::NoUnwindInfo`], or for another one
    /// in a process whose stack was followed. `None` if there is.
    pub fn missing_info(&mut self, pid: u32, address: u64) -> Option<NoUnwindInfo> {
        match &mut self.walker {
            AnyWalker::X86_64(walker) => walker.missing_info(pid, address),
            AnyWalker::Arm64(walker) => walker.missing_info(pid, address),
            AnyWalker::Unsupported => None,
        }
    }

    /// Returns how many panics were caught. The file that led to one is not used again.
    pub fn panics(&self) -> u64 {
        self.panics
    }
}

impl fmt::Debug for AnyWalker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64(_) => "X86_64",
            Self::Arm64(_) => "Arm64",
            Self::Unsupported => "Unsupported",
        })
    }
}

/// The files and processes of recordings of one machine.
struct Walker<M: Machine> {
    files: Vec<File<M>>,
    by_key: HashMap<FileKey, usize>,
    processes: HashMap<u32, Process>,
    /// Bytes of all sections.
    len: u64,
    caches: Caches<M>,
    /// For code without unwind information.
    by_frame_pointer: M::Unwinder,
    /// The file that is being read, in case that panics.
    current: Option<usize>,
}

/// Rules of framehop for the addresses that were seen last. One of its caches has 509, too few for a compiler or a browser.
struct Caches<M: Machine> {
    caches: [M::Cache; 15],
    last: M::Cache,
}

impl<M: Machine> Default for Caches<M> {
    fn default() -> Self {
        Self { caches: std::array::from_fn(|_| M::Cache::default()), last: M::Cache::default() }
    }
}

impl<M: Machine> Caches<M> {
    /// Returns the cache of an address.
    fn of(&mut self, address: u64) -> &mut M::Cache {
        // A cache has one place for addresses with a distance of 509. The bits above decide among the caches.
        let index = (address >> 9) as usize % (self.caches.len() + 1);
        self.caches.get_mut(index).unwrap_or(&mut self.last)
    }
}

/// A file, or why it is not there for the process that asked.
type File<M> = Result<UnwindInfo<M>, (u32, NoUnwindInfo)>;

#[derive(Default)]
struct Process {
    version: u64,
    /// The executable ones, by address.
    modules: Vec<MappedModule>,
    /// The end of the last one.
    end: u64,
}

struct MappedModule {
    mapping: Mapping,
    file: ModuleFile,
}

#[derive(Clone)]
enum ModuleFile {
    /// No stack has led to it.
    Unread,
    /// The index in [`Walker::files`], and the address at which the address 0 of the file is.
    Read {
        file: usize,
        base: u64,
    },
    Missing(NoUnwindInfo),
}

impl<M: Machine> Default for Walker<M> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            by_key: HashMap::new(),
            processes: HashMap::new(),
            len: 0,
            caches: Caches::default(),
            by_frame_pointer: M::Unwinder::default(),
            current: None,
        }
    }
}

impl<M: Machine> Walker<M> {
    /// Follows a stack, if the registers are those of a program of this machine.
    fn start(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        regs: &Regs<'_>,
        copy: &UserStack<'_>,
        stack: &mut Stack,
    ) -> Option<StackEnd> {
        if regs.abi() != RegsAbi::ABI_64 {
            return None;
        }
        if self.len > options.max_bytes || self.files.len() >= MAX_FILES {
            *self = Self::default();
        }
        let highest = self.update(spaces, pid);
        let mask = options
            .address_mask
            .unwrap_or(ADDRESS_MASK | u64::MAX.checked_shr(highest.leading_zeros()).unwrap_or(0));
        let (ip, sp, registers) = M::registers(regs, mask)?;
        stack.start_user(UserSource::StackCopy);
        stack.push_user(ip, true);
        Some(self.walk(options, spaces, pid, ip, registers, &mut StackReader::new(sp, copy), stack))
    }

    /// Makes the modules of a process from its mappings if those have changed. Returns the highest address.
    fn update(&mut self, spaces: &AddressSpaces, pid: u32) -> u64 {
        let version = spaces.mappings_version(pid).unwrap_or(0);
        if self.processes.len() >= MAX_PROCESSES && !self.processes.contains_key(&pid) {
            self.processes.retain(|&pid, process| spaces.mappings_version(pid) == Some(process.version));
            // All of them live. Memory is linear in what lives.
        }
        let process = self.processes.entry(pid).or_default();
        if process.version != version {
            let old = std::mem::take(process);
            // Most mappings are the ones before.
            let file = |mapping: &Mapping| {
                old.module_at(mapping.start())
                    .filter(|module| module.mapping == *mapping)
                    .map_or(ModuleFile::Unread, |module| module.file.clone())
            };
            let executable = spaces.mappings(pid).filter(|mapping| mapping.is_executable());
            process.modules = executable
                .map(|mapping| MappedModule { file: file(mapping), mapping: mapping.clone() })
                .collect();
            process.end = process.modules.last().map_or(0, |module| module.mapping.end());
            process.version = version;
        }
        process.end
    }

    /// Adds the callers of the first frame. Returns why there are no others.
    #[allow(clippy::too_many_arguments, reason = "the state of one loop")]
    fn walk(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        ip: u64,
        mut registers: M::Registers,
        reader: &mut StackReader<'_>,
        stack: &mut Stack,
    ) -> StackEnd {
        let mut address = FrameAddress::from_instruction_pointer(ip);
        while stack.user().len() < options.max_frames {
            let before = M::stack_pointer(&registers);
            let next = match self.next(options, spaces, pid, address, &mut registers, reader) {
                Ok(next) => next,
                Err(end) => return end,
            };
            let after = M::stack_pointer(&registers);
            // A function of arm64 that calls no other has nothing on the stack. A signal handler can have its own stack.
            let is_stuck = after < before || after == before && address.is_return_address();
            if is_stuck && next.by != By::Signal {
                return StackEnd::Loop;
            }
            if next.by == By::Signal {
                stack.set_exact();
            }
            let bad = if next.by == By::FramePointer {
                StackEnd::NoUnwindInfo { address: address.address_for_lookup() }
            } else {
                StackEnd::BadAddress { address: next.address.address() }
            };
            let lookup = next.address.address_for_lookup();
            if self.processes.get(&pid).and_then(|process| process.module_at(lookup)).is_none() {
                return bad;
            }
            stack.push_user(next.address.address(), next.address.is_return_address());
            address = next.address;
        }
        StackEnd::TooDeep
    }

    /// Finds the caller of a frame, or the code that a signal has interrupted.
    fn next(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        address: FrameAddress,
        registers: &mut M::Registers,
        reader: &mut StackReader<'_>,
    ) -> Result<Next, StackEnd> {
        let lookup = address.address_for_lookup();
        let before = M::stack_pointer(registers);
        reader.failed.clear();
        let module = self.module(options, spaces, pid, lookup);
        self.current = module.map(|(file, _)| file);
        let info = module.and_then(|(file, base)| Some((self.files.get_mut(file)?.as_mut().ok()?, base)));
        let (mut has_file, mut known, mut cached) = (false, None, lookup);
        if let Some((info, base)) = info {
            has_file = true;
            cached = lookup.wrapping_sub(base);
            // The same code has the same address in the file in each process, so that the cache serves all.
            let in_file = match address {
                FrameAddress::InstructionPointer(ip) => {
                    Some(FrameAddress::from_instruction_pointer(ip.wrapping_sub(base)))
                }
                FrameAddress::ReturnAddress(ip) => {
                    FrameAddress::from_return_address(ip.get().wrapping_sub(base))
                }
            };
            if let Some(in_file) = in_file {
                let entry = info.entry(cached);
                let mut read = |address| reader.read(address);
                if entry == Entry::Signal {
                    if let Some(interrupted) = M::interrupted(registers, &mut read) {
                        self.current = None;
                        return reader.interrupted(interrupted, registers);
                    }
                }
                if matches!(entry, Entry::Safe | Entry::Signal) {
                    let cache = self.caches.of(cached);
                    known = Some(info.unwinder.unwind_frame(in_file, registers, cache, &mut read));
                }
            }
        }
        let is_known = known.is_some();
        let result = known.unwrap_or_else(|| {
            let (cache, mut read) = (self.caches.of(cached), |address| reader.read(address));
            self.by_frame_pointer.unwind_frame(address, registers, cache, &mut read)
        });
        self.current = None;
        let is_first = !address.is_return_address();
        // A rule that framehop could not evaluate without the missing bytes is a wrong one in its cache from now on.
        let mut failed = reader.failed.iter().filter(|&&at| !is_first || at >= before);
        if let Some(&at) = failed.next() {
            if failed.next().is_some() || result != Err(Error::CouldNotReadStack(at)) {
                *self.caches.of(cached) = M::Cache::default();
            }
            let is_near = is_known || at.wrapping_sub(reader.end()) < MAX_FRAME;
            if let Some(end) = reader.beyond(at).filter(|_| is_near) {
                return Err(end);
            }
        }
        let no_info = StackEnd::NoUnwindInfo { address: lookup };
        match result {
            Ok(Some(next)) => {
                let by = if is_known { By::UnwindInfo } else { By::FramePointer };
                let address = FrameAddress::from_return_address(next).ok_or(no_info)?;
                Ok(Next { address, by })
            }
            // A frame pointer of 0 is the end by the ABI: code in assembly language that begins a program.
            Ok(None) if has_file => Err(StackEnd::Complete),
            Ok(None) => Err(no_info),
            Err(_) if !is_known => Err(no_info),
            Err(Error::CouldNotReadStack(address)) => Err(StackEnd::BadAddress { address }),
            Err(Error::DidNotAdvance) => Err(StackEnd::Loop),
            Err(_) => Err(StackEnd::BadAddress { address: before }),
        }
    }

    /// Returns the file and the base of the module at an address, which is read now if no stack has led to it.
    fn module(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        address: u64,
    ) -> Option<(usize, u64)> {
        let module = self.processes.get(&pid)?.module_at(address)?;
        match module.file {
            ModuleFile::Read { file, base } => return Some((file, base)),
            ModuleFile::Missing(_) => return None,
            ModuleFile::Unread => {}
        }
        let mapping = module.mapping.clone();
        let index = self.file(options, spaces, pid, &mapping);
        let file = match self.files.get(index) {
            Some(Ok(info)) => match info.file.base_of(&mapping) {
                Some(base) => ModuleFile::Read { file: index, base },
                None => ModuleFile::Missing(NoUnwindInfo::Unmapped),
            },
            Some(Err((_, reason))) => ModuleFile::Missing(reason.clone()),
            None => ModuleFile::Missing(NoUnwindInfo::Unmapped),
        };
        let found = match file {
            ModuleFile::Read { file, base } => Some((file, base)),
            _ => None,
        };
        self.processes.get_mut(&pid)?.module_at_mut(address)?.file = file;
        found
    }

    /// Returns the index of the file of a mapping, which is found and read if it is a new one.
    fn file(&mut self, options: &Options, spaces: &AddressSpaces, pid: u32, mapping: &Mapping) -> usize {
        let object = mapping.object();
        let build_id = spaces.build_id(object);
        let key = FileKey::new(pid, mapping, build_id);
        let index = *self.by_key.entry(key).or_insert(self.files.len());
        match self.files.get(index) {
            Some(Ok(_)) => return index,
            Some(Err((tried, reason))) if *tried == pid || *reason == NoUnwindInfo::Panicked => return index,
            _ => {}
        }
        // Stays if reading panics.
        put(&mut self.files, index, Err((pid, NoUnwindInfo::Panicked)));
        let found = options.finder.find(pid, mapping, build_id);
        let loaded = found
            .map_err(|reason| NoUnwindInfo::File(Arc::new(reason)))
            .and_then(|found| UnwindInfo::load(found, options.max_bytes));
        self.len += loaded.as_ref().map_or(0, |info| info.len);
        put(&mut self.files, index, loaded.map_err(|reason| (pid, reason)));
        index
    }

    fn missing_info(&mut self, pid: u32, address: u64) -> Option<NoUnwindInfo> {
        let Some(module) = self.processes.get(&pid).and_then(|process| process.module_at(address)) else {
            return Some(NoUnwindInfo::Unmapped);
        };
        match &module.file {
            ModuleFile::Unread => None,
            ModuleFile::Missing(reason) => Some(reason.clone()),
            &ModuleFile::Read { file, base } => match self.files.get_mut(file)? {
                Err((_, reason)) => Some(reason.clone()),
                Ok(info) => match info.entry(address.wrapping_sub(base)) {
                    Entry::Safe | Entry::Signal => None,
                    Entry::Missing => Some(NoUnwindInfo::Uncovered),
                    Entry::Unsafe => Some(NoUnwindInfo::Unsafe),
                },
            },
        }
    }

    /// Drops what a panic may have left half done.
    fn recover(&mut self) {
        self.caches = Caches::default();
        self.by_frame_pointer = M::Unwinder::default();
        if let Some(file) = self.current.take() {
            put(&mut self.files, file, Err((0, NoUnwindInfo::Panicked)));
        }
    }
}

/// A frame that was found.
struct Next {
    address: FrameAddress,
    by: By,
}

/// How a frame was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    UnwindInfo,
    FramePointer,
    Signal,
}

/// Replaces a value, or appends it if the index is the next one.
fn put<T>(values: &mut Vec<T>, index: usize, value: T) {
    match values.get_mut(index) {
        Some(old) => *old = value,
        None => values.push(value),
    }
}

impl Process {
    fn index_of(&self, address: u64) -> Option<usize> {
        let index =
            self.modules.partition_point(|module| module.mapping.start() <= address).checked_sub(1)?;
        self.modules.get(index).filter(|module| address < module.mapping.end())?;
        Some(index)
    }

    fn module_at(&self, address: u64) -> Option<&MappedModule> {
        self.modules.get(self.index_of(address)?)
    }

    fn module_at_mut(&mut self, address: u64) -> Option<&mut MappedModule> {
        let index = self.index_of(address)?;
        self.modules.get_mut(index)
    }
}

/// Reads the copy of a stack, and keeps the addresses that it does not have.
struct StackReader<'a> {
    sp: u64,
    bytes: &'a [u8],
    /// Whether the kernel could copy all that it was asked for.
    is_full: bool,
    /// The addresses that failed since this was cleared.
    failed: Vec<u64>,
}

impl<'a> StackReader<'a> {
    fn new(sp: u64, copy: &UserStack<'a>) -> Self {
        let bytes = copy.bytes();
        Self { sp, bytes, is_full: bytes.len() as u64 == copy.size(), failed: Vec::new() }
    }

    fn read(&mut self, address: u64) -> Result<u64, ()> {
        let at = address.checked_sub(self.sp).and_then(|at| usize::try_from(at).ok());
        let word = at.and_then(|at| self.bytes.get(at..)).and_then(|bytes| bytes.first_chunk());
        let Some(word) = word else {
            self.failed.push(address);
            return Err(());
        };
        Ok(u64::from_le_bytes(*word))
    }

    /// Takes the registers that a signal has interrupted, or returns why they could not be read.
    fn interrupted<R>(&self, found: Result<(u64, R), ()>, registers: &mut R) -> Result<Next, StackEnd> {
        if let Ok((ip, interrupted)) = found {
            *registers = interrupted;
            return Ok(Next { address: FrameAddress::from_instruction_pointer(ip), by: By::Signal });
        }
        let address = self.failed.first().copied().unwrap_or(self.sp);
        Err(self.beyond(address).unwrap_or(StackEnd::BadAddress { address }))
    }

    /// Returns the address after the last one that the copy has.
    fn end(&self) -> u64 {
        self.sp.wrapping_add(self.bytes.len() as u64)
    }

    /// Returns the end of a stack that leads to an address, if that is after the copy.
    fn beyond(&self, address: u64) -> Option<StackEnd> {
        let needed = address.checked_sub(self.sp)?.checked_add(8)?;
        if needed <= self.bytes.len() as u64 {
            return None;
        }
        Some(match self.is_full {
            _ if needed > MAX_STACK => StackEnd::BadAddress { address },
            true => StackEnd::Truncated { needed },
            false => StackEnd::NotCopied { address },
        })
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, CallchainContext, CpuMode, Misc, RecordType, SampleType, Software, StackSize};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, Record, SampleLayout};

    use framehop::x86_64::UnwindRegsX86_64;

    use super::*;
    use crate::{NotFoundKind, StackFrame};

    const SP: u64 = 0x7fff_0000;
    const CODE: u64 = 0x40_0000;
    const PID: u32 = 7;

    /// The registers that unwinding needs: their numbers, lowest first, with the values.
    type Registers = Vec<(u8, u64)>;

    fn x86(ip: u64, bp: u64) -> Registers {
        vec![(6, bp), (7, SP), (8, ip)]
    }

    fn arm64(pc: u64, fp: u64) -> Registers {
        vec![(29, fp), (30, 0x1234), (31, SP), (32, pc)]
    }

    /// Unwinds a sample of a process whose only mapping has no file.
    fn unwind(
        unwinder: &mut Unwinder,
        abi: RegsAbi,
        registers: &Registers,
        words: &[u64],
        asked: u64,
    ) -> Stack {
        let mask = registers.iter().fold(0, |mask, (number, _)| mask | 1 << number);
        let fields = SampleType::TID | SampleType::IP | SampleType::CALLCHAIN;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields).with_regs_user(mask);
        let attr = attr.with_stack_user(StackSize::new(4096).expect("a size"));
        let layout = SampleLayout::new(&attr);
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(PID, PID).words(&[CODE, 0x1000, 0]);
        let mmap = mmap.string(b"/no/such/file").finish();
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let valid = bytes.len() as u64;
        bytes.resize(valid.max(asked) as usize, 0);
        let values: Vec<_> = registers.iter().map(|&(_, value)| value).collect();
        let chain = [CallchainContext::KERNEL.0, 0x10];
        let sample = SampleBuilder::new(&attr).misc(user).tid(PID, PID).ip(1).callchain(&chain);
        let sample = sample.regs_user(abi.0, &values).stack_user(&bytes, valid).finish();
        let mut spaces = AddressSpaces::new();
        spaces.update(&RawRecord::from_words(&mmap).expect("framed").decode(&layout).expect("valid"));
        let record = RawRecord::from_words(&sample).expect("framed").decode(&layout).expect("valid");
        let Record::Sample(sample) = record else { panic!("a sample") };
        let mut stack = Stack::new();
        unwinder.unwind(&spaces, &sample, &mut stack);
        stack
    }

    fn addresses(frames: &[StackFrame]) -> Vec<u64> {
        frames.iter().map(|frame| frame.address).collect()
    }

    fn unwinder(architecture: Architecture) -> Unwinder {
        Unwinder::new(architecture, FileFinder::remote().with_symfs("/no/such/folder"))
    }

    #[test]
    fn code_without_a_file_is_followed_by_frame_pointers_to_the_end_of_the_copy() {
        let signed = 0x00ab_0000_0000_0000 | (CODE + 0x30);
        for (architecture, registers, third) in [
            (Architecture::X86_64, x86(CODE + 0x10, SP + 16), CODE + 0x30),
            (Architecture::ARM64, arm64(CODE + 0x10, SP + 16), signed),
        ] {
            let mut unwinder = unwinder(architecture);
            let words = [0, 0, SP + 32, CODE + 0x20, SP + 128, third];
            let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &registers, &words, 48);
            assert_eq!(addresses(stack.kernel()), [0x10]);
            assert_eq!(addresses(stack.user()), [CODE + 0x10, CODE + 0x20, CODE + 0x30], "{architecture}");
            assert!(!stack.user()[0].is_return_address && stack.user()[1].is_return_address);
            assert_eq!(stack.user_source(), UserSource::StackCopy);
            let StackEnd::Truncated { needed } = stack.end() else { panic!("{:?}", stack.end()) };
            assert!((136..=144).contains(&needed), "{needed}");
            let Some(NoUnwindInfo::File(reason)) = unwinder.missing_info(PID, CODE) else {
                panic!("a reason")
            };
            assert_eq!(reason.kind(), NotFoundKind::Missing);
            assert_eq!(unwinder.missing_info(PID, CODE - 1), Some(NoUnwindInfo::Unmapped));
            assert_eq!(unwinder.panics(), 0);
        }
    }

    #[test]
    fn frame_pointer_that_leads_nowhere_is_missing_information() {
        let registers = |bp| x86(CODE + 0x10, bp);
        let missing = |address| StackEnd::NoUnwindInfo { address };
        let first = missing(CODE + 0x10);
        for (name, registers, words, end, frames) in [
            ("zero", registers(0), vec![0; 8], first, 1),
            ("no code", registers(SP), vec![SP + 16, 0x123], first, 1),
            ("below the stack", registers(SP - 64), vec![0; 8], first, 1),
            ("far away", registers(1 << 40), vec![0; 8], first, 1),
            ("the last address", registers(u64::MAX), vec![0; 8], first, 1),
            ("itself", registers(SP), vec![SP, CODE + 0x20], missing(CODE + 0x1f), 2),
            ("no code at all", x86(0, SP), vec![SP + 16, CODE + 0x20, 0, 0], missing(CODE + 0x1f), 2),
        ] {
            let asked = words.len() as u64 * 8;
            let stack =
                unwind(&mut unwinder(Architecture::X86_64), RegsAbi::ABI_64, &registers, &words, asked);
            assert_eq!((stack.end(), stack.user().len()), (end, frames), "{name}");
        }
    }

    #[test]
    fn copy_that_the_kernel_could_not_complete_is_not_truncated() {
        let words = [SP + 16, CODE + 0x20, SP + 32, CODE + 0x30, SP + 64, CODE + 0x40];
        let registers = x86(CODE + 0x10, SP);
        for (asked, is_truncated) in [(48, true), (64, false)] {
            let mut unwinder = unwinder(Architecture::X86_64);
            let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &registers, &words, asked);
            let end = match stack.end() {
                StackEnd::Truncated { needed } => (true, SP + needed - 8),
                StackEnd::NotCopied { address } => (false, address),
                end => panic!("{end:?}"),
            };
            assert!(end.0 == is_truncated && (SP + 48..SP + 128).contains(&end.1), "{end:x?}");
        }
    }

    #[test]
    fn unwinder_can_move_to_another_thread() {
        fn assert_send<T: Send>(_: &T) {}
        assert_send(&unwinder(Architecture::NATIVE));
    }

    #[test]
    fn interrupted_registers_are_where_the_kernel_puts_them() {
        let interrupted = |len: u64| {
            let words: Vec<u64> = (0..len / 8).map(|word| word * 8).collect();
            let read = |address: u64| words.get(((address - SP) / 8) as usize).copied().ok_or(());
            let registers = UnwindRegsX86_64::new(0, SP, 0);
            X86_64::interrupted(&registers, read).expect("a known place")
        };
        // `struct ucontext` of x86-64: the 16th, 11th and 17th of `uc_mcontext.gregs`, which begins at 40.
        let (ip, registers) = interrupted(40 + 17 * 8).expect("all words");
        assert_eq!((ip, registers.sp(), registers.bp()), (40 + 16 * 8, 40 + 15 * 8, 40 + 10 * 8));
        assert!(interrupted(40 + 16 * 8).is_err());
    }

    #[test]
    fn stack_ends_at_the_number_of_frames_that_is_permitted() {
        let words: Vec<_> = (1..100).flat_map(|frame| [SP + 16 * frame, CODE + 0x20]).collect();
        let mut unwinder = unwinder(Architecture::X86_64).with_max_frames(20);
        let stack = unwind(&mut unwinder, RegsAbi::ABI_64, &x86(CODE, SP), &words, words.len() as u64 * 8);
        assert_eq!((stack.end(), stack.user().len()), (StackEnd::TooDeep, 20));
    }

    #[test]
    fn registers_of_another_machine_or_of_32_bits_are_unsupported() {
        for (architecture, abi, registers) in [
            (Architecture::RISCV64, RegsAbi::ABI_64, x86(CODE, SP)),
            (Architecture::X86_64, RegsAbi::ABI_32, x86(CODE, SP)),
            (Architecture::X86_64, RegsAbi::ABI_64, vec![(8, CODE)]),
        ] {
            let stack = unwind(&mut unwinder(architecture), abi, &registers, &[0; 8], 64);
            assert_eq!((stack.end(), addresses(stack.frames())), (StackEnd::Unsupported, vec![0x10]));
        }
    }
}
