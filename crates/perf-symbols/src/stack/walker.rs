//! Walks stacks of all processes of a machine.

use std::collections::HashMap;
use std::ops::Range;

use framehop::{Error, FrameAddress, Unwinder as _};
use perf_abi::regs::RegsAbi;
use perf_decode::Regs;

use super::caches::Caches;
use super::info::NoUnwindInfo;
use super::machine::Machine;
use super::modules::{File, MIN_PROCESSES, Process, code_at, info, put};
use super::reader::{StackCopy, StackReader};
#[cfg(feature = "names")]
use super::runtime_code::RuntimeCode;
use super::sections::{Context, Entry, Sections};
use super::trail::{Passed, Trail};
use super::unwind::Options;
use super::{Stack, StackEnd, UserSource};
use crate::space::FileKey;
use crate::{AddressSpaces, Mapping};

/// Maximum distance in bytes between the end of a stack copy and a plausible frame pointer.
const MAX_FRAME: u64 = 1 << 20;
/// Address bits of programs that do not request more. arm64 puts pointer authentication above them.
const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// The files and processes of recordings of one machine.
pub(super) struct Walker<M: Machine> {
    pub(super) files: Vec<File<M>>,
    pub(super) by_key: HashMap<FileKey, usize>,
    pub(super) processes: HashMap<u32, Process>,
    /// Number of processes that triggers the removal of dead ones.
    pub(super) max_processes: usize,
    /// Total size of all sections in bytes.
    pub(super) len: u64,
    pub(super) caches: Caches<M>,
    pub(super) context: Context,
    /// Unwinds code without unwind information.
    pub(super) by_frame_pointer: M::Unwinder,
    #[cfg(feature = "names")]
    pub(super) runtime_code: RuntimeCode,
    /// Reused, because it has an entry per frame.
    trail: Trail,
    /// The file that is being read, to blame if that panics.
    pub(super) current: Option<usize>,
}

/// The state of one stack walk.
pub(super) struct Walk<'a, 'b> {
    pub(super) options: &'a Options,
    pub(super) spaces: &'a AddressSpaces,
    pub(super) pid: u32,
    /// Taken out of [`Walker::processes`] during the walk.
    process: Process,
    pub(super) reader: StackReader<'b>,
    /// Taken out of [`Walker::trail`] during the walk.
    pub(super) trail: Trail,
    /// How the last frame was found; `None` for the first one.
    by: Option<By>,
    /// True if the caller of the first frame was found only by its frame pointer. A function that
    /// is calling another one has set its frame pointer, but the first one may keep none or not
    /// have set it yet, and then its caller is missing.
    is_first_unknown: bool,
    /// The last frame that was found by the frame pointer of code without unwind information.
    guess: Option<Guess>,
}

/// A frame that the frame pointer of another one leads to. In code without unwind information the
/// register can have any other value, which leads nowhere, or into code that calls nothing.
#[derive(Clone, Copy)]
struct Guess {
    /// An address in the code without unwind information.
    address: u64,
    /// Number of user frames without the guessed one.
    frames: usize,
}

/// The code of a frame.
#[derive(Clone, Copy)]
struct Place {
    /// Index in [`Walker::files`].
    file: usize,
    /// The load bias of the file.
    base: u64,
    entry: Entry,
    /// Index of the table with the entry in the file.
    table: u8,
    /// True if the address is the start of a function and not preceded by a call: makecontext(3)
    /// and others put such an address at the end of a stack.
    is_start: bool,
}

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

impl Walk<'_, '_> {
    /// Returns the cause of the end of a walk. What a guess leads to is not damage, but lacks the
    /// unwind information that would have led to the right frame. Removes the guessed frame if
    /// nothing confirms it, because its own unwind information leads nowhere.
    fn cause(&self, end: StackEnd, stack: &mut Stack) -> StackEnd {
        let is_damage =
            matches!(end, StackEnd::BadAddress { .. } | StackEnd::BadFrame { .. } | StackEnd::Loop);
        let Some(Guess { address, frames }) = self.guess.filter(|_| is_damage) else { return end };
        if stack.user().len() == frames + 1 {
            stack.keep_user(frames);
        }
        StackEnd::NoUnwindInfo { address }
    }

    /// Leaves `_init` or `_fini`. Returns `None` if the code has no known form.
    fn leave_start_code<M: Machine>(
        &mut self,
        section: &Range<u64>,
        (address, base): (FrameAddress, u64),
        registers: &mut M::Registers,
    ) -> Option<Result<Next, StackEnd>> {
        let reader = &mut self.reader;
        let place = (address.address().wrapping_sub(base), section);
        let Ok(next) = M::leave_start_code(registers, place, |address| reader.read(address))? else {
            let address = reader.failed.first().copied()?;
            return Some(Err(reader.beyond(address).unwrap_or(StackEnd::BadFrame { address })));
        };
        self.trail.passed.push(Passed::Trampoline);
        Some(Ok(Next { address: FrameAddress::from_return_address(next)?, by: By::UnwindInfo }))
    }

    /// Leaves a frame by all registers, which are up to date. `lookup` is an address in the frame,
    /// and `base` its distance to the addresses of the sections.
    pub(super) fn leave<M: Machine>(
        &mut self,
        sections: &Sections,
        context: &mut Context,
        (lookup, base): (u64, u64),
        registers: &mut M::Registers,
    ) -> Result<Next, StackEnd> {
        let (reader, trail) = (&mut self.reader, &mut self.trail);
        // They were for registers that may not be needed.
        reader.failed.clear();
        let place = (lookup.wrapping_sub(base), base);
        let read = &mut |address| reader.read(address);
        let found = sections.caller::<M>(place, context, &trail.registers, None, read).and_then(|found| {
            let address = M::set(registers, found.get(M::RETURN_ADDRESS)?, &found)?;
            trail.restart(&found);
            Some(address)
        });
        let Some(next) = found else {
            let failed = reader.failed.first().copied();
            return Err(failed.map_or(StackEnd::NoUnwindInfo { address: lookup }, |address| {
                reader.beyond(address).unwrap_or(StackEnd::BadFrame { address })
            }));
        };
        // The return address is 0.
        let address = FrameAddress::from_return_address(next).ok_or(StackEnd::Complete)?;
        Ok(Next { address, by: By::UnwindInfo })
    }
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
            #[cfg(feature = "names")]
            runtime_code: RuntimeCode::default(),
            trail: Trail::default(),
            current: None,
        }
    }
}

impl<M: Machine> Walker<M> {
    /// Walks a stack. Returns `None` if the registers are not of a program for this machine.
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
        let mut trail = std::mem::take(&mut self.trail);
        trail.restart(&M::all_registers(regs));
        let mut walk = Walk {
            options,
            spaces,
            pid,
            process,
            reader,
            trail,
            by: None,
            is_first_unknown: false,
            guess: None,
        };
        let end = self.walk(&mut walk, ip, registers, stack);
        let end = walk.cause(end, stack);
        self.processes.insert(pid, walk.process);
        self.trail = walk.trail;
        let is_unknown = end == StackEnd::Complete && walk.is_first_unknown;
        Some(if is_unknown { StackEnd::Unknown } else { end })
    }

    /// Returns true if the kernel finds the caller of an interrupted function by its frame pointer.
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

    /// Adds the callers of the first frame. Returns why the stack ends.
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
            // A leaf function on arm64 has nothing on the stack, and a signal handler can have its
            // own stack.
            let is_stuck = after < before || after == before && address.is_return_address();
            if is_stuck && next.by != By::Signal {
                return StackEnd::Loop;
            }
            if is_start && next.address.address() == address.address() {
                // The link register of arm64 still has this address.
                return StackEnd::Complete;
            }
            if next.by == By::Signal {
                stack.set_exact();
            }
            let lookup = next.address.address_for_lookup();
            if walk.process.module_at(lookup).is_none() && code_at(walk.spaces, walk.pid, lookup).is_none() {
                return match next.by {
                    // The creator of the stack put a function at its end that no other calls, with
                    // its own data above.
                    _ if is_start => StackEnd::Complete,
                    By::FramePointer => StackEnd::NoUnwindInfo { address: address.address_for_lookup() },
                    // The mapping may only be unknown.
                    _ if walk.spaces.may_be_code(walk.pid, lookup) => {
                        StackEnd::NoUnwindInfo { address: lookup }
                    }
                    _ => StackEnd::BadAddress { address: next.address.address() },
                };
            }
            walk.is_first_unknown |= walk.by.is_none() && next.by == By::FramePointer;
            if next.by == By::FramePointer {
                walk.guess =
                    Some(Guess { address: address.address_for_lookup(), frames: stack.user().len() });
            }
            walk.by = Some(next.by);
            stack.push_user(next.address.address(), next.address.is_return_address());
            address = next.address;
        }
        StackEnd::TooDeep { max_frames }
    }

    /// Finds the file and the unwind entry of a frame. Returns `None` without a file.
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
        let mut found = info.entry(lookup.wrapping_sub(base), &mut self.context);
        let own = address.address().wrapping_sub(base);
        let is_start = found.entry == Entry::Missing && address.is_return_address() && info.is_start(own);
        if is_start {
            found = info.entry(own, &mut self.context);
        }
        self.current = None;
        Some(Place { file, base, entry: found.entry, table: found.table, is_start })
    }

    /// Finds the caller of a frame, or the code that a signal interrupted.
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
        let Some(Place { file, base, entry, table, .. }) = place else {
            #[cfg(feature = "names")]
            if let Some(next) = self.next_by_runtime(walk, address, registers) {
                return next;
            }
            return self.next_by_frame_pointer(walk, address, no_info, registers);
        };
        let reader = &mut walk.reader;
        match entry {
            Entry::Outermost => return Err(StackEnd::Complete),
            Entry::General => {
                return self.next_by_all_registers(walk, (file, table, base), address, registers);
            }
            Entry::Missing | Entry::Unsafe => {
                let info = info(&self.files, file);
                let section = info.and_then(|info| info.start_code(lookup.wrapping_sub(base)));
                if let Some(section) = section
                    && let Some(next) = walk.leave_start_code::<M>(section, (address, base), registers)
                {
                    return next;
                }
                let is_entry = info.is_some_and(|info| info.is_entry_function(lookup.wrapping_sub(base)));
                // Not the entry point: assembly code that starts a thread, or code without frame
                // pointers with a 0 in the register.
                let outermost = match walk.by {
                    _ if is_entry => StackEnd::Complete,
                    Some(By::UnwindInfo | By::Signal) => StackEnd::Unknown,
                    _ => no_info,
                };
                return self.next_by_frame_pointer(walk, address, outermost, registers);
            }
            Entry::Signal => {
                if let Some(found) = M::interrupted(registers, |address| reader.read(address)) {
                    return reader.interrupted(found, registers, &mut walk.trail);
                }
            }
            Entry::Caller { .. } => {}
        }
        // Use addresses in the file, which are the same in each process, so that all share the
        // cache.
        let in_file = match address {
            FrameAddress::InstructionPointer(ip) => {
                FrameAddress::from_instruction_pointer(ip.wrapping_sub(base))
            }
            FrameAddress::ReturnAddress(ip) => {
                FrameAddress::from_return_address(ip.get().wrapping_sub(base)).ok_or(no_info)?
            }
        };
        let unwinder = info(&self.files, file).and_then(|info| info.table(table)).ok_or(no_info)?;
        let before = M::stack_pointer(registers);
        let has_lost_frame = match entry {
            Entry::Caller { by_frame_pointer } => M::has_lost_frame(registers, by_frame_pointer),
            _ => false,
        };
        let cached = in_file.address_for_lookup();
        self.current = Some(file);
        let cache = self.caches.of(cached);
        let result =
            unwinder.unwinder.unwind_frame(in_file, registers, cache, &mut |address| reader.read(address));
        self.current = None;
        if let Some(address) = self.missing_byte(reader, result, address, before, cached)
            && let Some(end) = reader.beyond(address)
        {
            return Err(end);
        }
        match result {
            Ok(Some(next)) => {
                let address = FrameAddress::from_return_address(next).ok_or(no_info)?;
                let cfa = M::stack_pointer(registers);
                let passed = Passed::Entry { file, table, address: in_file.address_for_lookup(), base, cfa };
                walk.trail.passed.push(passed);
                Ok(Next { address, by: By::UnwindInfo })
            }
            Ok(None) if has_lost_frame => Err(StackEnd::BadFrame { address: 0 }),
            // The return address is 0.
            Ok(None) => Err(StackEnd::Complete),
            Err(Error::CouldNotReadStack(address)) => Err(StackEnd::BadFrame { address }),
            Err(Error::DidNotAdvance) => Err(StackEnd::Loop),
            Err(_) => Err(StackEnd::BadFrame { address: before }),
        }
    }

    /// Finds the caller of a frame whose entry needs other registers than framehop follows, or
    /// memory.
    fn next_by_all_registers(
        &mut self,
        walk: &mut Walk<'_, '_>,
        (file, table, base): (usize, u8, u64),
        address: FrameAddress,
        registers: &mut M::Registers,
    ) -> Result<Next, StackEnd> {
        let lookup = address.address_for_lookup();
        self.current = Some(file);
        self.catch_up(walk, registers);
        let no_info = StackEnd::NoUnwindInfo { address: lookup };
        let table = info(&self.files, file).and_then(|info| info.table(table)).ok_or(no_info)?;
        let next = walk.leave::<M>(&table.sections, &mut self.context, (lookup, base), registers);
        self.current = None;
        next
    }

    /// Brings all registers to the current frame.
    pub(super) fn catch_up(&mut self, walk: &mut Walk<'_, '_>, registers: &M::Registers) {
        let (files, context, reader) = (&self.files, &mut self.context, &mut walk.reader);
        walk.trail.catch_up::<M>(registers, |passed, frame| match *passed {
            Passed::Entry { file, table, address, base, cfa } => {
                let sections = &info(files, file)?.table(table)?.sections;
                let read = &mut |address| reader.read(address);
                sections.caller::<M>((address, base), context, frame, Some(cfa), read)
            }
            Passed::Trampoline => Some(*frame),
            Passed::FramePointer => None,
        });
    }

    /// Finds the caller of a frame without unwind information by its frame pointer. `outermost` is
    /// the result if the frame pointer marks the outermost frame according to the ABI, because
    /// other uses of the register can look the same.
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
                walk.trail.passed.push(Passed::FramePointer);
                Ok(Next { address, by: By::FramePointer })
            }
            Ok(None) if M::is_last_frame(registers, |address| reader.read(address)) => {
                // Trust the mark if the previous frame was found by its frame pointer, too.
                Err(if walk.by == Some(By::FramePointer) { StackEnd::Complete } else { outermost })
            }
            Ok(None) | Err(_) => Err(no_info),
        }
    }

    /// Returns the first required address that could not be read, and clears the cache if framehop
    /// derived a wrong rule from it.
    fn missing_byte(
        &mut self,
        reader: &StackReader<'_>,
        result: Result<Option<u64>, Error>,
        address: FrameAddress,
        before: u64,
        cached: u64,
    ) -> Option<u64> {
        // In the first function, nothing below the stack pointer matters.
        let is_first = !address.is_return_address();
        let mut failed = reader.failed.iter().filter(|&&at| !is_first || at >= before);
        let &first = failed.next()?;
        // framehop caches a wrong rule if it cannot evaluate one without the missing bytes.
        if failed.next().is_some() || result != Err(Error::CouldNotReadStack(first)) {
            *self.caches.of(cached) = M::Cache::default();
        }
        Some(first)
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
            Ok(info) => match info.entry(address.wrapping_sub(base), &mut self.context).entry {
                Entry::Caller { .. } | Entry::Outermost | Entry::Signal => None,
                Entry::Missing => Some(info.missing()),
                Entry::Unsafe => Some(NoUnwindInfo::Unsafe),
                Entry::General => Some(NoUnwindInfo::Registers),
            },
        }
    }

    /// Returns the number of modules in memory.
    #[cfg(test)]
    pub(super) fn modules(&self) -> usize {
        self.processes.values().map(|process| process.modules.len()).sum()
    }

    /// Drops state that a panic may have left inconsistent.
    pub(super) fn recover(&mut self) {
        self.caches = Caches::default();
        self.context = Context::new();
        self.by_frame_pointer = M::Unwinder::default();
        if let Some(file) = self.current.take() {
            put(&mut self.files, file, Err((0, NoUnwindInfo::Panicked)));
        }
    }
}
