//! The thread that looks up names: it finds files, looks up addresses in batches, and caches the
//! results.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::Metadata;
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::rc::Rc;
use std::sync::Arc;

use super::code_changes::CodeChanges;
use super::elf::kept_bytes;
use super::jitdump::Jitdump;
use super::kallsyms::{Kallsyms, KallsymsError};
use super::kernel_names::KernelNames;
use super::open_files::OpenFiles;
use super::perf_map::{self, PerfMap};
use super::query::{Function, Query, Symbols, Target, Unnamed};
use super::symbolizer::{FileSymbols, NameCounts, OpenSymbols};
use crate::caught::caught;
use crate::file::{FileFinder, FoundFile, NotFound, NotFoundKind, ObjectFile, kernel_build_id};
use crate::generations::Generations;
use crate::space::{FileKey, ProcessMappings};
use crate::{BuildId, MappedObject, Mapping, ObjectKind};

/// Default limits of the cache: number of files, and total bytes.
const MAX_FILES: usize = 256;
const MAX_BYTES: u64 = 512 << 20;
/// Number of cached jitdumps per generation; there are two.
const MAX_JITDUMPS: usize = 8;
/// Maximum size in bytes of the symbol tables of a file.
const MAX_SYMBOLS: u64 = 4 << 30;
/// Maximum number of files to remember for [`Worker::missing_files`].
const MAX_MISSING: usize = 1024;

pub(super) struct Worker {
    finder: FileFinder,
    read: Box<OpenSymbols>,
    open: OpenFiles<(Arc<FoundFile>, Box<dyn FileSymbols>)>,
    /// Results of file lookups: closed files, and reasons why a file was not found.
    files: Generations<FileKey, Rc<File>>,
    /// The number of the next new file. Never reused, so that cached names of evicted files cannot
    /// match.
    next_file: u64,
    /// By the number of the file and the address in its symbol table.
    names: Generations<(u64, u64), Result<Symbols, Unnamed>>,
    jitdumps: Generations<FileKey, Jitdump>,
    /// By process, with the length in bytes of the file when it was read.
    perf_maps: Generations<u32, (u64, PerfMap)>,
    /// Why an existing perf map is not used, by process.
    refused_maps: HashMap<u32, Unnamed>,
    /// Files that this batch has already updated. Runtimes append to them, so that each batch reads
    /// once what is new.
    fresh_jitdumps: HashSet<FileKey>,
    fresh_perf_maps: HashSet<u32>,
    kernel: Option<Kernel>,
    missing: BTreeMap<Box<[u8]>, NotFound>,
    counts: NameCounts,
}

struct File {
    number: u64,
    /// Closed; its symbols are read by reopening the path.
    found: Result<FoundFile, NotFoundKind>,
    /// Set when the file failed or changed.
    broken: Cell<Option<Unnamed>>,
}

/// The symbols of the recorded kernel, and the offset from recorded addresses to listed addresses.
struct Kernel {
    key: (Option<Mapping>, Option<BuildId>),
    names: Result<(KernelNames, u64), Unnamed>,
}

impl Worker {
    pub(super) fn new(finder: FileFinder, read: Box<OpenSymbols>) -> Self {
        let mut worker = Self {
            finder,
            read,
            open: OpenFiles::new(MAX_FILES, 0),
            files: Generations::new(0),
            next_file: 0,
            names: Generations::new(0),
            jitdumps: Generations::new(MAX_JITDUMPS),
            perf_maps: Generations::new(0),
            refused_maps: HashMap::new(),
            fresh_jitdumps: HashSet::new(),
            fresh_perf_maps: HashSet::new(),
            kernel: None,
            missing: BTreeMap::new(),
            counts: NameCounts::default(),
        };
        worker.set_max_bytes(MAX_BYTES);
        worker
    }

    /// Limits the number of files whose symbols are cached.
    pub(super) fn set_max_files(&mut self, files: usize) {
        self.open.set_max_files(files);
    }

    /// Divides the bytes: one half for the symbols of files, an eighth for names, 1/32 for headers
    /// of closed files, and the rest for perf maps.
    pub(super) fn set_max_bytes(&mut self, bytes: u64) {
        self.open.set_max_bytes(bytes / 2);
        // Each map has two generations.
        let half = |bytes: u64| usize::try_from(bytes / 2).unwrap_or(usize::MAX);
        self.names.set_max_cost(half(bytes / 8));
        self.files.set_max_cost(half(bytes / 32));
        self.perf_maps.set_max_cost(half(bytes / 32 * 11));
    }

    pub(super) fn counts(&self) -> NameCounts {
        self.counts.clone()
    }

    pub(super) fn missing_files(&self) -> Vec<NotFound> {
        self.missing.values().cloned().collect()
    }

    /// Returns the results in the order of the queries, or `None` if they are no longer wanted.
    pub(super) fn symbolize(
        &mut self,
        queries: &[Query],
        is_wanted: impl Fn() -> bool,
    ) -> Option<Vec<Result<Symbols, Unnamed>>> {
        let mut answers = Vec::with_capacity(queries.len());
        // Addresses to look up by file, with the index of their results.
        let mut pending = HashMap::<u64, (Rc<File>, Vec<(u64, usize)>)>::new();
        let mut runtime = Vec::new();
        for (index, query) in queries.iter().enumerate() {
            if !is_wanted() {
                return None;
            }
            let answer = match &query.target {
                Target::Unnamed(reason) => Err(*reason),
                Target::KernelSymbol { start, name } => Ok(symbols(name, query.addr - start)),
                Target::Kernel { text, build_id, mapping } => {
                    self.kernel(text.as_ref(), *build_id, mapping.as_ref(), query.addr)
                }
                Target::User { mapping, build_id, jitdump, .. } => {
                    match self.file(query.pid, mapping, *build_id) {
                        None => {
                            runtime.push((query, jitdump.as_ref(), index));
                            Err(Unnamed::NoPerfMap)
                        }
                        Some(file) => match self.known(&file, mapping, query.addr) {
                            Ok(answer) => answer,
                            Err(address) => {
                                let entry = pending.entry(file.number).or_insert_with(|| (file, Vec::new()));
                                entry.1.push((address, index));
                                Err(Unnamed::NoSymbol)
                            }
                        },
                    }
                }
            };
            answers.push(answer);
        }
        self.fresh_jitdumps.clear();
        self.fresh_perf_maps.clear();
        // Jitdumps are replayed from the start if the time goes back.
        runtime.sort_by_key(|(query, ..)| (query.pid, query.monotonic_time.unwrap_or(u64::MAX)));
        for (query, jitdump, index) in runtime {
            let found = self.runtime(query, jitdump);
            if let Some(answer) = answers.get_mut(index) {
                *answer = found;
            }
        }
        for (file, mut wanted) in pending.into_values() {
            // Checked for each file because reading debug information can take seconds.
            if !is_wanted() {
                return None;
            }
            wanted.sort_unstable();
            let mut addresses: Vec<_> = wanted.iter().map(|(address, _)| *address).collect();
            addresses.dedup();
            let found = self.ask(&file, &addresses);
            let mut found = addresses.iter().zip(found).peekable();
            for (address, index) in wanted {
                while found.next_if(|(at, _)| **at < address).is_some() {}
                if let (Some((_, symbols)), Some(answer)) = (found.peek(), answers.get_mut(index)) {
                    answer.clone_from(symbols);
                }
            }
        }
        for (answer, query) in answers.iter_mut().zip(queries) {
            if let Ok(symbols) = answer {
                symbols.move_offset(query.after_call);
            }
            self.counts.add(answer.as_ref().map_err(|reason| *reason));
        }
        Some(answers)
    }

    /// Returns the file of a mapping, or `None` for memory without a file.
    fn file(&mut self, pid: u32, mapping: &Mapping, build_id: Option<BuildId>) -> Option<Rc<File>> {
        let object = mapping.object();
        if !matches!(object.kind(), ObjectKind::File | ObjectKind::Memfd | ObjectKind::Vdso) {
            return None;
        }
        let key = FileKey::new(pid, mapping, build_id);
        // Search again for a file that has changed: its path may have led through a process that
        // has ended.
        let is_usable = |file: &&Rc<File>| file.broken.get() != Some(Unnamed::Changed);
        if let Some(file) = self.files.get(&key).filter(is_usable) {
            return Some(file.clone());
        }
        let found = self.finder.find(pid, mapping, build_id).map(FoundFile::closed).map_err(|error| {
            let kind = error.kind();
            if self.missing.len() < MAX_MISSING {
                self.missing.insert(object.path().into(), error);
            }
            kind
        });
        self.next_file += 1;
        let file = Rc::new(File { number: self.next_file, found, broken: Cell::new(None) });
        self.files.insert(key, file.clone(), cost_of(&file));
        Some(file)
    }

    /// Returns the cached result for an address, or the address in the symbol table that must be
    /// looked up.
    fn known(&self, file: &File, mapping: &Mapping, addr: u64) -> Result<Result<Symbols, Unnamed>, u64> {
        let found = match &file.found {
            Ok(found) => found,
            Err(kind) => return Ok(Err(Unnamed::File(*kind))),
        };
        if let Some(reason) = file.broken.get() {
            return Ok(Err(reason));
        }
        let Some(address) = found.object().address_of(mapping, addr) else {
            return Ok(Err(Unnamed::OutsideSegments));
        };
        match self.names.get(&(file.number, address)) {
            Some(answer) => Ok(answer.clone()),
            None => Err(address),
        }
    }

    /// Looks up ascending addresses of a file, and caches the results.
    fn ask(&mut self, file: &File, addresses: &[u64]) -> Vec<Result<Symbols, Unnamed>> {
        let Ok(found) = &file.found else { return Vec::new() };
        let answers = match file.broken.get() {
            Some(reason) => Err(reason),
            None => self.ask_file(file.number, found, addresses),
        };
        match answers {
            Ok(answers) => {
                for (address, answer) in addresses.iter().zip(&answers) {
                    self.names.insert((file.number, *address), answer.clone(), bytes_of(answer));
                }
                answers
            }
            Err(reason) => {
                file.broken.set(Some(reason));
                vec![Err(reason); addresses.len()]
            }
        }
    }

    fn ask_file(
        &mut self,
        number: u64,
        found: &FoundFile,
        addresses: &[u64],
    ) -> Result<Vec<Result<Symbols, Unnamed>>, Unnamed> {
        if self.open.get(number).is_none() {
            self.open_file(number, found)?;
        }
        let Some((file, symbols)) = self.open.get(number) else { return Err(Unnamed::Damaged) };
        let file = file.clone();
        let mut name = |address| symbols.symbolize(address).ok_or_else(|| symbols.no_symbol(address));
        let symbolize = || addresses.iter().map(|address| name(*address)).collect::<Vec<_>>();
        let answers = caught(symbolize);
        // Discard the names if the file is no longer the one that was verified.
        if !file.symbol_file().is_unchanged() {
            self.open.remove(number);
            return Err(Unnamed::Changed);
        }
        let Some(answers) = answers else {
            self.open.remove(number);
            self.counts.panics += 1;
            return Err(Unnamed::Damaged);
        };
        Ok(answers)
    }

    fn open_file(&mut self, number: u64, found: &FoundFile) -> Result<(), Unnamed> {
        let file = found.symbol_file();
        if file.symbol_bytes() > MAX_SYMBOLS {
            return Err(Unnamed::TooLarge);
        }
        let file = Arc::new(found.reopened().ok_or(Unnamed::Changed)?);
        let bytes = kept_bytes(&file);
        self.open.make_room(bytes);
        let read = &mut self.read;
        match caught(|| read(file.clone())) {
            Some(Ok(symbols)) => {
                self.open.add(number, bytes, (file, symbols));
                Ok(())
            }
            Some(Err(_)) => Err(Unnamed::Damaged),
            None => {
                self.counts.panics += 1;
                Err(Unnamed::Damaged)
            }
        }
    }

    /// Names code that a runtime wrote into memory.
    fn runtime(&mut self, query: &Query, jitdump: Option<&MappedObject>) -> Result<Symbols, Unnamed> {
        if let Some(jitdump) = jitdump.and_then(|object| self.jitdump(query.pid, object)) {
            let time = query.monotonic_time.filter(|_| jitdump.has_monotonic_time());
            if let Some((start, name)) = jitdump.find(query.addr, time) {
                return Ok(symbols(&name, query.addr - start));
            }
        }
        let map = self.perf_map(query)?;
        let (start, name) = map.find(query.addr).ok_or(Unnamed::NoPerfMap)?;
        Ok(symbols(name, query.addr - start))
    }

    /// Returns the code changes of a process.
    pub(super) fn code_changes(&mut self, pid: u32, object: &MappedObject) -> CodeChanges {
        self.fresh_jitdumps.clear();
        self.jitdump(pid, object).map_or_else(CodeChanges::default, |jitdump| jitdump.code_changes())
    }

    /// Returns the jitdump that a process mapped, updated once per batch.
    fn jitdump(&mut self, pid: u32, object: &MappedObject) -> Option<&mut Jitdump> {
        let key = FileKey::without_id(pid, object);
        if self.fresh_jitdumps.insert(key.clone())
            && let Ok((file, metadata)) = self.finder.open_in_process(pid, object)
            && is_jitdump_of(pid, object, &metadata, &self.finder)
        {
            if let Some(known) = self.jitdumps.get_mut(&key) {
                // On an error, keep what was read before it.
                let _ = known.read_on(file);
            } else if let Ok(jitdump) = Jitdump::read(BufReader::new(file)) {
                self.jitdumps.insert(key.clone(), jitdump, 1);
            }
        }
        self.jitdumps.get_mut(&key)
    }

    /// Returns the perf map of the process, updated once per batch.
    fn perf_map(&mut self, query: &Query) -> Result<&PerfMap, Unnamed> {
        let Target::User { all: Some(code), .. } = &query.target else { return Err(Unnamed::NoPerfMap) };
        if self.finder.is_local() && self.fresh_perf_maps.insert(query.pid) {
            self.update_perf_map(query.pid, query.addr, code);
        }
        match self.perf_maps.get(&query.pid) {
            Some((_, map)) => Ok(map),
            None => Err(self.refused_maps.get(&query.pid).copied().unwrap_or(Unnamed::NoPerfMap)),
        }
    }

    fn update_perf_map(&mut self, pid: u32, address: u64, code: &ProcessMappings) {
        let system = self.finder.system();
        let known = self.perf_maps.get(&pid).map(|(len, _)| *len);
        let found = match perf_map::read_if_new(system, pid, code, known) {
            Ok(None) if known.is_none() && !self.refused_maps.contains_key(&pid) => {
                let found = perf_map::read_of_ended_namespace(system, pid, address, code);
                found.and_then(|found| found.ok_or(Unnamed::NoPerfMap)).map(Some)
            }
            found => found,
        };
        match found {
            Ok(Some((len, map))) => {
                let bytes = map.bytes();
                self.perf_maps.insert(pid, (len, map), bytes);
            }
            // Keep the old map: the files of a process can disappear when it ends.
            Ok(None) => {}
            Err(reason) => {
                self.refused_maps.insert(pid, reason);
            }
        }
    }

    fn kernel(
        &mut self,
        text: Option<&Mapping>,
        build_id: Option<BuildId>,
        mapping: Option<&Mapping>,
        addr: u64,
    ) -> Result<Symbols, Unnamed> {
        let is_known = |kernel: &Kernel| kernel.key.0.as_ref() == text && kernel.key.1 == build_id;
        if !self.kernel.as_ref().is_some_and(is_known) {
            let names = kernel_names(&self.finder, text, build_id);
            self.kernel = Some(Kernel { key: (text.cloned(), build_id), names });
        }
        let Some(Kernel { names, .. }) = &self.kernel else { return Err(Unnamed::NoKallsyms) };
        let (names, moved) = names.as_ref().map_err(|reason| *reason)?;
        if *moved != 0 && !text.is_some_and(|text| (text.start()..text.end()).contains(&addr)) {
            // Modules are loaded elsewhere in each boot.
            return Err(Unnamed::OtherKernel);
        }
        let addr = addr.wrapping_add(*moved);
        let function = names.find(addr).ok_or(Unnamed::NoSymbol)?;
        // The list has no sizes, so that addresses of an unloaded module would match the module
        // before it.
        if mapping.is_some_and(|mapping| function.address < mapping.start().wrapping_add(*moved)) {
            return Err(Unnamed::NoSymbol);
        }
        Ok(symbols(function.name, addr - function.address))
    }
}

/// Returns true if the file is the one that the process mapped, not one of an earlier or later
/// process with the same id.
pub(super) fn is_jitdump_of(
    pid: u32,
    object: &MappedObject,
    metadata: &Metadata,
    finder: &FileFinder,
) -> bool {
    match object.inode {
        Some(inode) if finder.is_local() => metadata.ino() == inode.inode,
        // A recording of another machine: the user has put its files here.
        _ if !finder.is_local() => true,
        None | Some(_) => finder.system().process(pid).is_author_trusted(metadata),
    }
}

/// Estimates the memory in bytes of a cached lookup result.
fn cost_of(file: &File) -> usize {
    let found = file.found.as_ref();
    let headers = found.map_or(0, |found| {
        found.object().header_bytes() + found.debug_file().map_or(0, ObjectFile::header_bytes)
    });
    // 200 bytes for the entry in the map.
    headers + 200
}

/// Reads the symbols of the recorded kernel. Returns them with the offset from recorded addresses
/// to listed addresses.
fn kernel_names(
    finder: &FileFinder,
    text: Option<&Mapping>,
    build_id: Option<BuildId>,
) -> Result<(KernelNames, u64), Unnamed> {
    let mut reason = Unnamed::OtherKernel;
    let running = kernel_build_id();
    let is_same_build = build_id.and_then(|recorded| Some(recorded == running?));
    // The text address alone is no proof, because without KASLR all kernels begin at the same
    // address.
    if finder.is_local() && is_same_build != Some(false) {
        match KernelNames::of_system(finder.system(), finder.kernel_cache().zip(running)) {
            Ok(names) => match text.map_or(Some(0), |text| moved(&names, text)) {
                Some(0) => return Ok((names, 0)),
                Some(moved) if is_same_build == Some(true) => return Ok((names, moved)),
                _ => {}
            },
            Err(KallsymsError::Hidden { .. }) => reason = Unnamed::KernelHidden,
            Err(_) => reason = Unnamed::NoKallsyms,
        }
    }
    let cached = build_id.and_then(|id| finder.kallsyms(id)).and_then(|path| Kallsyms::read(&path).ok());
    let names = KernelNames::of_list(cached.ok_or(reason)?, finder.system());
    let moved = text.map_or(Some(0), |text| moved(&names, text));
    Ok((names, moved.unwrap_or(0)))
}

/// Returns the offset from the recorded kernel to a list of symbols. The mapping's name contains a
/// symbol, `_text` or `_stext`, whose recorded address is the file offset. Returns `None` if the
/// list lacks the symbol.
fn moved(names: &KernelNames, text: &Mapping) -> Option<u64> {
    let path = text.object().path();
    let name = path.get(path.iter().position(|&byte| byte == b']')? + 1..).filter(|name| !name.is_empty());
    let Some(name) = name else { return Some(0) };
    Some(names.address_of(name)?.wrapping_sub(text.offset_of(text.start())))
}

/// Creates the result for a function whose name is raw bytes, usually ASCII.
fn symbols(name: &[u8], offset: u64) -> Symbols {
    let function = Function { name: String::from_utf8_lossy(name).into(), source: None };
    Symbols::new([function], offset)
}

/// Estimates the memory in bytes of a result with its entry in the map.
fn bytes_of(answer: &Result<Symbols, Unnamed>) -> usize {
    let function = |function: &Function| {
        let source = function.source.as_ref().map_or(0, |source| source.file.as_os_str().len());
        size_of::<Function>() + function.name.len() + source
    };
    100 + answer.as_ref().map_or(0, |symbols| symbols.functions.iter().map(function).sum())
}
