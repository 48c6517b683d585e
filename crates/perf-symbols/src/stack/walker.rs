//! Follows one stack after the other, of all processes of a machine.

use std::collections::HashMap;
use std::sync::Arc;

use framehop::{Error, FrameAddress, Unwinder as _};
use perf_abi::CpuMode;
use perf_abi::regs::RegsAbi;
use perf_decode::Regs;

use super::info::{Context, Entry, NoUnwindInfo, UnwindInfo};
use super::machine::Machine;
use super::reader::{StackCopy, StackReader};
use super::unwind::Options;
use super::{Stack, StackEnd, UserSource};
use crate::space::FileKey;
use crate::{AddressSpaces, Location, Mapping};

/// Processes whose modules are kept before those of dead ones are looked for.
const MIN_PROCESSES: usize = 1 << 12;
/// framehop numbers its modules with 16 bits, two numbers each, and its cache must not see one twice.
const MAX_FILES: usize = 1 << 14;
/// Bytes between the end of a copy of a stack and a frame pointer that is not taken for another value.
const MAX_FRAME: u64 = 1 << 20;
/// The bits of addresses of programs that do not ask for more. Above them, arm64 puts pointer authentication.
const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// The files and processes of recordings of one machine.
pub(super) struct Walker<M: Machine> {
    files: Vec<File<M>>,
    by_key: HashMap<FileKey, usize>,
    processes: HashMap<u32, Process>,
    /// The number of processes at which those of dead ones are looked for.
    max_processes: usize,
    /// Bytes of all sections.
    len: u64,
    caches: Caches<M>,
    context: Context,
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

/// The modules that stacks of a process have led to. They are a part of the mappings, because a process can have many, and most are those of
/// the process that it was forked from.
#[derive(Default)]
struct Process {
    version: u64,
    /// Executable, by address.
    modules: Vec<Module>,
}

struct Module {
    mapping: Mapping,
    /// The index in [`Walker::files`], and the address at which the address 0 of the file is.
    file: Result<(usize, u64), NoUnwindInfo>,
}

/// A stack that is followed.
struct Walk<'a, 'b> {
    options: &'a Options,
    spaces: &'a AddressSpaces,
    pid: u32,
    /// Out of [`Walker::processes`] meanwhile.
    process: Process,
    reader: StackReader<'b>,
    /// How the last frame was found; `None` for the first one.
    by: Option<By>,
    /// Whether the caller of the first frame was found by its frame pointer alone. A function that calls another one keeps a
    /// frame pointer where others do, but the first one may keep none or not have set it yet: then its caller is missing.
    is_first_unknown: bool,
}

/// The code of a frame.
#[derive(Clone, Copy)]
struct Place {
    /// The index in [`Walker::files`].
    file: usize,
    /// The address at which the address 0 of the file is.
    base: u64,
    entry: Entry,
    /// Whether the address is the first one of a function and not after a call: makecontext(3) and the like put it at the end
    /// of a stack.
    is_start: bool,
}

/// A frame that was found.
pub(super) struct Next {
    pub(super) address: FrameAddress,
    pub(super) by: By,
}

/// How a frame was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    UnwindInfo,
    FramePointer,
    Signal,
}

impl<M: Machine> Default for Walker<M> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            by_key: HashMap::new(),
            processes: HashMap::new(),
            max_processes: MIN_PROCESSES,
            len: 0,
            caches: Caches::default(),
            context: Context::new(),
            by_frame_pointer: M::Unwinder::default(),
            current: None,
        }
    }
}

impl<M: Machine> Walker<M> {
    /// Follows a stack, if the registers are those of a program of this machine.
    pub(super) fn start(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        regs: &Regs<'_>,
        copy: StackCopy<'_, '_>,
        stack: &mut Stack,
    ) -> Option<StackEnd> {
        if regs.abi() != RegsAbi::ABI_64 {
            return None;
        }
        let highest = spaces.last_mapping(pid).map_or(0, Mapping::end);
        let mask = options
            .address_mask
            .unwrap_or(ADDRESS_MASK | u64::MAX.checked_shr(highest.leading_zeros()).unwrap_or(0));
        let (ip, sp, registers) = M::registers(regs, mask)?;
        stack.start_user(UserSource::StackCopy);
        stack.push_user(stack.exact_user.unwrap_or(ip), true);
        let process = self.take_process(options, spaces, pid);
        let reader = StackReader::new(sp, copy);
        let mut walk = Walk { options, spaces, pid, process, reader, by: None, is_first_unknown: false };
        let end = self.walk(&mut walk, ip, registers, stack);
        self.processes.insert(pid, walk.process);
        let is_unknown = end == StackEnd::Complete && walk.is_first_unknown;
        Some(if is_unknown { StackEnd::Unknown } else { end })
    }

    /// Returns whether the kernel finds the caller of an interrupted function by its frame pointer.
    pub(super) fn has_frame_pointer(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        address: u64,
    ) -> Option<bool> {
        let mut process = self.take_process(options, spaces, pid);
        let address = FrameAddress::from_instruction_pointer(address);
        let place = self.place(options, spaces, pid, &mut process, address);
        self.processes.insert(pid, process);
        match place?.entry {
            Entry::Caller { by_frame_pointer } => by_frame_pointer,
            _ => None,
        }
    }

    /// Returns what is known of a process, without modules that were unmapped or replaced. Forgets all files when they are too
    /// many.
    fn take_process(&mut self, options: &Options, spaces: &AddressSpaces, pid: u32) -> Process {
        if self.len > options.max_bytes || self.files.len() >= MAX_FILES {
            *self = Self::default();
        }
        let version = spaces.mappings_version(pid).unwrap_or(0);
        if self.processes.len() >= self.max_processes && !self.processes.contains_key(&pid) {
            self.processes.retain(|&pid, process| spaces.mappings_version(pid) == Some(process.version));
            // All of them live. Memory is linear in what lives, and time, too, as twice as many come before the next look.
            self.max_processes = MIN_PROCESSES.max(2 * self.processes.len());
        }
        let mut process = self.processes.get_mut(&pid).map(std::mem::take).unwrap_or_default();
        if process.version != version {
            process.version = version;
            process
                .modules
                .retain(|module| code_at(spaces, pid, module.mapping.start()) == Some(&module.mapping));
        }
        process
    }

    /// Adds the callers of the first frame. Returns why there are no others.
    fn walk(
        &mut self,
        walk: &mut Walk<'_, '_>,
        ip: u64,
        mut registers: M::Registers,
        stack: &mut Stack,
    ) -> StackEnd {
        let mut address = FrameAddress::from_instruction_pointer(ip);
        let max_frames = walk.options.max_frames;
        while stack.user().len() < max_frames {
            let place = self.place(walk.options, walk.spaces, walk.pid, &mut walk.process, address);
            let is_start = place.as_ref().is_some_and(|place| place.is_start);
            if is_start {
                stack.set_exact();
                address = FrameAddress::from_instruction_pointer(address.address());
            }
            let before = M::stack_pointer(&registers);
            let next = match self.next(walk, place, address, &mut registers) {
                Ok(next) => next,
                Err(end) => return end,
            };
            let after = M::stack_pointer(&registers);
            // A function of arm64 that calls no other has nothing on the stack. A signal handler can have its own stack.
            let is_stuck = after < before || after == before && address.is_return_address();
            if is_stuck && next.by != By::Signal {
                return StackEnd::Loop;
            }
            if is_start && next.address.address() == address.address() {
                // The link register of arm64 has it still.
                return StackEnd::Complete;
            }
            if next.by == By::Signal {
                stack.set_exact();
            }
            let lookup = next.address.address_for_lookup();
            if walk.process.module_at(lookup).is_none() && code_at(walk.spaces, walk.pid, lookup).is_none() {
                return match next.by {
                    // What made the stack has put a function at its end, which no other calls, and words for it above.
                    _ if is_start => StackEnd::Complete,
                    By::FramePointer => StackEnd::NoUnwindInfo { address: address.address_for_lookup() },
                    _ => StackEnd::BadAddress { address: next.address.address() },
                };
            }
            walk.is_first_unknown |= walk.by.is_none() && next.by == By::FramePointer;
            walk.by = Some(next.by);
            stack.push_user(next.address.address(), next.address.is_return_address());
            address = next.address;
        }
        StackEnd::TooDeep { max_frames }
    }

    /// Finds the file and the unwind information of a frame's code. `None` without a file.
    fn place(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        process: &mut Process,
        address: FrameAddress,
    ) -> Option<Place> {
        let lookup = address.address_for_lookup();
        let (file, base) = self.module(options, spaces, pid, process, lookup)?;
        let info = self.files.get_mut(file)?.as_mut().ok()?;
        self.current = Some(file);
        let mut entry = info.entry(lookup.wrapping_sub(base), &mut self.context);
        let own = address.address().wrapping_sub(base);
        let is_start = entry == Entry::Missing && address.is_return_address() && info.is_start(own);
        if is_start {
            entry = info.entry(own, &mut self.context);
        }
        self.current = None;
        Some(Place { file, base, entry, is_start })
    }

    /// Finds the caller of a frame, or the code that a signal has interrupted.
    fn next(
        &mut self,
        walk: &mut Walk<'_, '_>,
        place: Option<Place>,
        address: FrameAddress,
        registers: &mut M::Registers,
    ) -> Result<Next, StackEnd> {
        walk.reader.failed.clear();
        let lookup = address.address_for_lookup();
        let no_info = StackEnd::NoUnwindInfo { address: lookup };
        let Some(Place { file, base, entry, .. }) = place else {
            return self.next_by_frame_pointer(walk, address, no_info, registers);
        };
        let reader = &mut walk.reader;
        match entry {
            Entry::Outermost => return Err(StackEnd::Complete),
            Entry::Registers => return Err(no_info),
            Entry::Missing | Entry::Unsafe => {
                let info = self.files.get(file).and_then(|info| info.as_ref().ok());
                let is_entry = info.is_some_and(|info| info.is_entry_function(lookup.wrapping_sub(base)));
                // Without the entry point: code in assembly language that begins a thread, or code without frame pointers with a 0
                // in the register.
                let outermost = match walk.by {
                    _ if is_entry => StackEnd::Complete,
                    Some(By::UnwindInfo | By::Signal) => StackEnd::Unknown,
                    _ => no_info,
                };
                return self.next_by_frame_pointer(walk, address, outermost, registers);
            }
            Entry::Signal => {
                if let Some(found) = M::interrupted(registers, |address| reader.read(address)) {
                    return reader.interrupted(found, registers);
                }
            }
            Entry::Caller { .. } => {}
        }
        // The same code has the same address in the file in each process, so that the cache serves all.
        let in_file = match address {
            FrameAddress::InstructionPointer(ip) => {
                FrameAddress::from_instruction_pointer(ip.wrapping_sub(base))
            }
            FrameAddress::ReturnAddress(ip) => {
                FrameAddress::from_return_address(ip.get().wrapping_sub(base)).ok_or(no_info)?
            }
        };
        let info = self.files.get(file).and_then(|info| info.as_ref().ok()).ok_or(no_info)?;
        let before = M::stack_pointer(registers);
        let has_lost_frame = match entry {
            Entry::Caller { by_frame_pointer } => M::has_lost_frame(registers, by_frame_pointer),
            _ => false,
        };
        let cached = in_file.address_for_lookup();
        self.current = Some(file);
        let cache = self.caches.of(cached);
        let result =
            info.unwinder.unwind_frame(in_file, registers, cache, &mut |address| reader.read(address));
        self.current = None;
        if let Some(address) = self.missing_byte(reader, result, address, before, cached)
            && let Some(end) = reader.beyond(address)
        {
            return Err(end);
        }
        match result {
            Ok(Some(next)) => {
                let address = FrameAddress::from_return_address(next).ok_or(no_info)?;
                Ok(Next { address, by: By::UnwindInfo })
            }
            Ok(None) if has_lost_frame => Err(StackEnd::BadFrame { address: 0 }),
            // A return address of 0.
            Ok(None) => Err(StackEnd::Complete),
            Err(Error::CouldNotReadStack(address)) => Err(StackEnd::BadFrame { address }),
            Err(Error::DidNotAdvance) => Err(StackEnd::Loop),
            Err(_) => Err(StackEnd::BadFrame { address: before }),
        }
    }

    /// Finds the caller of a frame in code without unwind information, if its frame pointer leads to one. `outermost` is the end at
    /// a frame pointer that marks the last frame by the ABI: other values of the register can look the same.
    fn next_by_frame_pointer(
        &mut self,
        walk: &mut Walk<'_, '_>,
        address: FrameAddress,
        outermost: StackEnd,
        registers: &mut M::Registers,
    ) -> Result<Next, StackEnd> {
        let reader = &mut walk.reader;
        let lookup = address.address_for_lookup();
        let no_info = StackEnd::NoUnwindInfo { address: lookup };
        let before = M::stack_pointer(registers);
        let cache = self.caches.of(lookup);
        let result = self
            .by_frame_pointer
            .unwind_frame(address, registers, cache, &mut |address| reader.read(address));
        if let Some(address) = self.missing_byte(reader, result, address, before, lookup)
            && address.wrapping_sub(reader.end()) < MAX_FRAME
            && let Some(end) = reader.beyond(address)
        {
            return Err(end);
        }
        match result {
            Ok(Some(next)) => {
                let address = FrameAddress::from_return_address(next).ok_or(no_info)?;
                Ok(Next { address, by: By::FramePointer })
            }
            Ok(None) if M::is_last_frame(registers, |address| reader.read(address)) => {
                // The frames before it have such frame pointers, too.
                Err(if walk.by == Some(By::FramePointer) { StackEnd::Complete } else { outermost })
            }
            Ok(None) | Err(_) => Err(no_info),
        }
    }

    /// Returns the first address that could not be read but had to be, and forgets what framehop has made of that.
    fn missing_byte(
        &mut self,
        reader: &StackReader<'_>,
        result: Result<Option<u64>, Error>,
        address: FrameAddress,
        before: u64,
        cached: u64,
    ) -> Option<u64> {
        // Below the stack pointer, the first function has nothing that matters.
        let is_first = !address.is_return_address();
        let mut failed = reader.failed.iter().filter(|&&at| !is_first || at >= before);
        let &first = failed.next()?;
        // A rule that framehop could not evaluate without the missing bytes is a wrong one in its cache from now on.
        if failed.next().is_some() || result != Err(Error::CouldNotReadStack(first)) {
            *self.caches.of(cached) = M::Cache::default();
        }
        Some(first)
    }

    /// Returns the file of the module at an address, which is read now if no stack has led to it, and its base.
    fn module(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        process: &mut Process,
        address: u64,
    ) -> Option<(usize, u64)> {
        if let Some(module) = process.module_at(address) {
            return module.file.as_ref().ok().copied();
        }
        let mapping = code_at(spaces, pid, address)?.clone();
        let index = self.file(options, spaces, pid, &mapping);
        let file = match self.files.get(index) {
            Some(Ok(info)) => match info.file.base_of(&mapping) {
                Some(base) => Ok((index, base)),
                None => Err(NoUnwindInfo::Unmapped),
            },
            Some(Err((_, reason))) => Err(reason.clone()),
            None => Err(NoUnwindInfo::Unmapped),
        };
        let found = file.as_ref().ok().copied();
        let place = process.modules.partition_point(|module| module.mapping.start() <= address);
        process.modules.insert(place, Module { mapping, file });
        found
    }

    /// Returns the index of the file of a mapping, which is found and read if it is a new one.
    fn file(&mut self, options: &Options, spaces: &AddressSpaces, pid: u32, mapping: &Mapping) -> usize {
        let build_id = spaces.build_id(mapping.object());
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

    pub(super) fn missing_info(&mut self, pid: u32, address: u64) -> Option<NoUnwindInfo> {
        let Some(module) = self.processes.get(&pid).and_then(|process| process.module_at(address)) else {
            return Some(NoUnwindInfo::Unmapped);
        };
        let (file, base) = match &module.file {
            Ok(file) => *file,
            Err(reason) => return Some(reason.clone()),
        };
        match self.files.get_mut(file)? {
            Err((_, reason)) => Some(reason.clone()),
            Ok(info) => match info.entry(address.wrapping_sub(base), &mut self.context) {
                Entry::Caller { .. } | Entry::Outermost | Entry::Signal => None,
                Entry::Missing => Some(NoUnwindInfo::Uncovered),
                Entry::Unsafe => Some(NoUnwindInfo::Unsafe),
                Entry::Registers => Some(NoUnwindInfo::Registers),
            },
        }
    }

    /// Returns the number of modules that are kept.
    #[cfg(test)]
    pub(super) fn modules(&self) -> usize {
        self.processes.values().map(|process| process.modules.len()).sum()
    }

    /// Drops what a panic may have left half done.
    pub(super) fn recover(&mut self) {
        self.caches = Caches::default();
        self.context = Context::new();
        self.by_frame_pointer = M::Unwinder::default();
        if let Some(file) = self.current.take() {
            put(&mut self.files, file, Err((0, NoUnwindInfo::Panicked)));
        }
    }
}

/// Replaces a value, or appends it if the index is the next one.
fn put<T>(values: &mut Vec<T>, index: usize, value: T) {
    match values.get_mut(index) {
        Some(old) => *old = value,
        None => values.push(value),
    }
}

impl Process {
    fn module_at(&self, address: u64) -> Option<&Module> {
        let index =
            self.modules.partition_point(|module| module.mapping.start() <= address).checked_sub(1)?;
        self.modules.get(index).filter(|module| address < module.mapping.end())
    }
}

/// Returns the executable mapping at an address of a process.
fn code_at(spaces: &AddressSpaces, pid: u32, address: u64) -> Option<&Mapping> {
    match spaces.find(pid, CpuMode::USER, address) {
        Ok(Location::User(mapping)) => Some(mapping).filter(|mapping| mapping.is_executable()),
        _ => None,
    }
}
