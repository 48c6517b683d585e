//! The modules of processes: executable mappings with the unwind information of their files.

use std::sync::Arc;

use perf_abi::CpuMode;

use super::info::{NoUnwindInfo, UnwindInfo};
use super::machine::Machine;
use super::unwind::Options;
use super::walker::Walker;
use crate::space::FileKey;
use crate::{AddressSpaces, Location, Mapping};

/// Minimum number of processes to keep before modules of dead ones are removed.
pub(super) const MIN_PROCESSES: usize = 1 << 12;
/// Maximum number of files. framehop gives each module two 16-bit numbers, of which a file has up
/// to two, and its cache must never see a number reused.
pub(super) const MAX_FILES: usize = 1 << 13;
/// A file, or why it is not available to the process that requested it first.
pub(super) type File<M> = Result<UnwindInfo<M>, (u32, NoUnwindInfo)>;

/// The modules that stacks of a process have reached. A subset of the mappings, because a process
/// can have many, and shares most with its parent.
#[derive(Default)]
pub(super) struct Process {
    pub(super) version: u64,
    /// Executable mappings, ordered by address.
    pub(super) modules: Vec<Module>,
}

pub(super) struct Module {
    pub(super) mapping: Mapping,
    /// Index in [`Walker::files`], and the load bias of the file.
    pub(super) file: Result<(usize, u64), NoUnwindInfo>,
}

impl<M: Machine> Walker<M> {
    /// Returns the state of a process without modules that were unmapped or replaced. Drops
    /// everything if there are too many files.
    pub(super) fn take_process(&mut self, options: &Options, spaces: &AddressSpaces, pid: u32) -> Process {
        if self.len > options.max_bytes || self.files.len() >= MAX_FILES {
            *self = Self::default();
        }
        let version = spaces.mappings_version(pid).unwrap_or(0);
        if self.processes.len() >= self.max_processes && !self.processes.contains_key(&pid) {
            self.processes.retain(|&pid, process| spaces.mappings_version(pid) == Some(process.version));
            #[cfg(feature = "names")]
            self.runtime_code.retain(|pid| self.processes.contains_key(&pid));
            // All of them are alive. Doubling the limit keeps the time of removals linear.
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

    /// Returns the file and the load bias of the module at an address, reading the file when a
    /// stack first reaches it.
    pub(super) fn module(
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

    /// Returns the index of the file of a mapping, finding and reading the file if it is new.
    pub(super) fn file(
        &mut self,
        options: &Options,
        spaces: &AddressSpaces,
        pid: u32,
        mapping: &Mapping,
    ) -> usize {
        let build_id = spaces.build_id(mapping.object());
        let key = FileKey::new(pid, mapping, build_id);
        let index = *self.by_key.entry(key).or_insert(self.files.len());
        match self.files.get(index) {
            Some(Ok(_)) => return index,
            Some(Err((tried, reason))) if *tried == pid || *reason == NoUnwindInfo::Panicked => return index,
            _ => {}
        }
        // This entry stays if reading panics.
        put(&mut self.files, index, Err((pid, NoUnwindInfo::Panicked)));
        let found = options.finder.find(pid, mapping, build_id);
        let loaded = found
            .map_err(|reason| NoUnwindInfo::File(Arc::new(reason)))
            .and_then(|found| UnwindInfo::load(found, options.max_bytes));
        self.len += loaded.as_ref().map_or(0, |info| info.len);
        put(&mut self.files, index, loaded.map_err(|reason| (pid, reason)));
        index
    }
}

pub(super) fn info<M: Machine>(files: &[File<M>], index: usize) -> Option<&UnwindInfo<M>> {
    files.get(index)?.as_ref().ok()
}

/// Replaces the value at an index, or appends it if the index is the length.
pub(super) fn put<T>(values: &mut Vec<T>, index: usize, value: T) {
    match values.get_mut(index) {
        Some(old) => *old = value,
        None => values.push(value),
    }
}

impl Process {
    pub(super) fn module_at(&self, address: u64) -> Option<&Module> {
        let index =
            self.modules.partition_point(|module| module.mapping.start() <= address).checked_sub(1)?;
        self.modules.get(index).filter(|module| address < module.mapping.end())
    }
}

/// Returns the executable mapping at an address of a process.
pub(super) fn code_at(spaces: &AddressSpaces, pid: u32, address: u64) -> Option<&Mapping> {
    match spaces.find(pid, CpuMode::USER, address) {
        Ok(Location::User(mapping)) => Some(mapping).filter(|mapping| mapping.is_executable()),
        _ => None,
    }
}
