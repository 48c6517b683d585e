//! Lines and inlined functions from DWARF.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use addr2line::{Context, Frame, FrameIter, Location, LookupContinuation, LookupResult};
use gimli::{DwarfFileType, DwarfSections, EndianReader, RunTimeEndian, SectionId, UnitOffset};
use rustix::time::{ClockId, clock_gettime};

use super::super::demangle::demangled;
use super::super::query::{Function, SourceLine};
use super::limits::{LongestStrings, restrict};
use super::no_lines::NoLines;
use super::split::SplitFiles;
use crate::caught::caught;
use crate::file::{ElfError, FileFinder, FoundFile, ObjectFile};

pub(super) type Bytes = EndianReader<RunTimeEndian, Arc<[u8]>>;

/// The debug information of a file, and caches of what was read from it.
pub(super) struct Dwarf {
    context: Context<Bytes>,
    /// Why a part of the debug information was left out.
    problem: Option<NoLines>,
    lacks_supplementary: bool,
    /// True if a unit was looked up whose split debug information was not found.
    lacks_split: bool,
    split: SplitFiles,
    /// Demangled names, by offset of the string: many frames share a name.
    names: HashMap<u64, Option<Arc<str>>>,
    paths: HashMap<Box<str>, Arc<Path>>,
    /// CPU time that is left for this file.
    time: Budget,
}

/// The functions at an address, from the debug information.
#[derive(Default)]
pub(super) struct Chain {
    /// The inlined functions, innermost first.
    pub(super) functions: Vec<Function>,
    /// Name, first address and line of the function that they are inlined into.
    pub(super) name: Option<Arc<str>>,
    pub(super) start: Option<u64>,
    pub(super) source: Option<SourceLine>,
}

impl Dwarf {
    /// Reads up to `max_bytes` of debug information of a file. Returns the reason if there is some
    /// that cannot be used, or `None` if the file has none.
    pub(super) fn read(
        finder: &FileFinder,
        found: Arc<FoundFile>,
        max_bytes: u64,
    ) -> Result<Self, Option<NoLines>> {
        let file = found.symbol_file();
        if !file.has_section(".debug_info") {
            return Err(None);
        }
        if file.is_relocatable() {
            return Err(Some(NoLines::Relocatable));
        }
        let supplementary = finder.supplementary_file(file);
        let len = section_bytes(file) + supplementary.as_ref().map_or(0, section_bytes);
        if len > max_bytes {
            return Err(Some(NoLines::TooLarge));
        }
        let lacks_supplementary = file.has_section(".gnu_debugaltlink") && supplementary.is_none();
        let read = || {
            let sections = read_sections(file, SectionId::name, max_bytes)?;
            let supplementary =
                supplementary.map(|file| read_sections(&file, SectionId::name, max_bytes)).transpose()?;
            Ok::<_, ElfError>((sections, supplementary))
        };
        let Ok((sections, supplementary)) = read() else { return Err(Some(NoLines::Damaged)) };
        let load = || {
            let endian = endian_of(file);
            let bounded = |sections: &DwarfSections<Arc<[u8]>>| {
                let mut dwarf = sections.borrow(|bytes| EndianReader::new(bytes.clone(), endian));
                let longest = LongestStrings::new(&dwarf);
                let problem = restrict(&mut dwarf, longest, endian);
                (dwarf, problem)
            };
            let (mut dwarf, mut problem) = bounded(&sections);
            if let Some((supplementary, other)) = supplementary.as_ref().map(bounded) {
                problem = problem.or(other);
                dwarf.set_sup(supplementary);
            }
            (Context::from_dwarf(dwarf), problem)
        };
        let (context, problem) = caught(load).ok_or(NoLines::Panicked)?;
        let context = context.map_err(|_| problem.unwrap_or(NoLines::Damaged))?;
        let split = SplitFiles::new(finder, found, max_bytes);
        let time = Budget::new(len);
        let (names, paths) = Default::default();
        Ok(Self { context, problem, lacks_supplementary, lacks_split: false, split, names, paths, time })
    }

    /// Returns the functions at an address, and the reason if they are incomplete.
    pub(super) fn chain(&mut self, address: u64) -> (Option<Chain>, Option<NoLines>) {
        let began = cpu_time();
        let result = caught(|| self.find(address));
        self.time.spend(cpu_time().saturating_sub(began));
        match result {
            Some(_) if self.time.is_spent() => (None, Some(NoLines::Slow)),
            Some(found) => found,
            None => (None, Some(NoLines::Panicked)),
        }
    }

    fn find(&mut self, address: u64) -> (Option<Chain>, Option<NoLines>) {
        let mut lookup = self.context.find_frames(address);
        let frames = loop {
            match lookup {
                LookupResult::Output(frames) => break frames,
                LookupResult::Load { load, continuation } => {
                    let loaded = self.split.load(&load);
                    self.lacks_split |= loaded.is_none();
                    lookup = continuation.resume(loaded);
                }
            }
        };
        // The flag first, because `is_split` looks up the unit.
        let split = (self.lacks_split && self.is_split(address)).then_some(NoLines::Split);
        let chain = frames.and_then(|frames| chain(frames, &mut self.names, &mut self.paths));
        match chain {
            Ok(None) => (None, self.problem.or(split)),
            Ok(Some(found)) => {
                let start = found.outermost.and_then(|function| self.start_of(address, function));
                let nameless = match found.has_nameless {
                    true if self.lacks_supplementary => Some(NoLines::Supplementary),
                    true => Some(NoLines::Damaged),
                    false => None,
                };
                (Some(Chain { start, ..found.chain }), nameless.or(split))
            }
            // The functions of the unit are damaged, but its lines are in another section.
            Err(_) => {
                let location = self.context.find_location(address).ok().flatten();
                let source = location.and_then(|location| source(&location, &mut self.paths));
                let chain = source.map(|source| Chain { source: Some(source), ..Chain::default() });
                (chain, Some(self.problem.unwrap_or(NoLines::Damaged)))
            }
        }
    }

    /// Returns true if the split debug information of the unit at `address` is missing.
    fn is_split(&self, address: u64) -> bool {
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        unit.is_some_and(|unit| unit.dwo_id.is_some() && unit.dwarf.file_type == DwarfFileType::Main)
    }

    /// Returns the first address of the function: needed for files without a symbol table.
    fn start_of(&self, address: u64, function: UnitOffset) -> Option<u64> {
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads()?;
        let entry = unit.entry(function).ok()?;
        let mut ranges = unit.die_ranges(&entry).ok()?;
        let mut start = None::<u64>;
        while let Ok(Some(range)) = ranges.next() {
            if (range.begin..range.end).contains(&address) {
                start = Some(range.begin);
            }
        }
        start
    }
}

/// The frames that the library returned.
struct Found {
    chain: Chain,
    /// The function that all others are inlined into.
    outermost: Option<UnitOffset>,
    /// True if an inlined function has no name.
    has_nameless: bool,
}

/// Converts frames, innermost first.
fn chain(
    mut frames: FrameIter<'_, Bytes>,
    names: &mut HashMap<u64, Option<Arc<str>>>,
    paths: &mut HashMap<Box<str>, Arc<Path>>,
) -> Result<Option<Found>, gimli::Error> {
    let mut found = Found { chain: Chain::default(), outermost: None, has_nameless: false };
    let mut next = frames.next()?;
    let is_empty = next.is_none();
    while let Some(frame) = next {
        next = frames.next()?;
        let name = name_of(&frame, names);
        let source = frame.location.as_ref().and_then(|location| source(location, paths));
        match name {
            name if next.is_none() => {
                found.outermost = frame.dw_die_offset;
                (found.chain.name, found.chain.source) = (name, source);
            }
            Some(name) => found.chain.functions.push(Function { name, source }),
            // Left out, so that its samples count for its caller.
            None => found.has_nameless = true,
        }
    }
    Ok((!is_empty).then_some(found))
}

/// Returns the demangled name of a frame, from the cache if possible.
fn name_of(frame: &Frame<'_, Bytes>, names: &mut HashMap<u64, Option<Arc<str>>>) -> Option<Arc<str>> {
    let name = &frame.function.as_ref()?.name;
    let demangle = || {
        let name = gimli::Reader::to_string_lossy(name).ok().filter(|name| !name.is_empty())?;
        Some(demangled(&name).into())
    };
    names.entry(gimli::Reader::offset_id(name).0).or_insert_with(demangle).clone()
}

fn source(location: &Location<'_>, paths: &mut HashMap<Box<str>, Arc<Path>>) -> Option<SourceLine> {
    let file = location.file?;
    let file = if let Some(path) = paths.get(file) {
        path.clone()
    } else {
        let path: Arc<Path> = Path::new(file).into();
        paths.insert(file.into(), path.clone());
        path
    };
    let column = location.column.and_then(|column| u16::try_from(column).ok());
    Some(SourceLine {
        file,
        line: location.line.filter(|line| *line > 0),
        column: column.filter(|column| *column > 0),
    })
}

pub(super) fn endian_of(file: &ObjectFile) -> RunTimeEndian {
    if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// The sections that the library reads. Loading others, such as `.debug_loclists`, could double the
/// memory.
const SECTIONS: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Returns the total size in bytes of the [`SECTIONS`] in a file.
pub(super) fn section_bytes(file: &ObjectFile) -> u64 {
    file.bytes_of(|name| SECTIONS.iter().any(|id| id.name().as_bytes() == name))
}

/// Reads the sections by the names that `name` returns. Split files use other names.
pub(super) fn read_sections(
    file: &ObjectFile,
    name: impl Fn(SectionId) -> &'static str,
    max_bytes: u64,
) -> Result<DwarfSections<Arc<[u8]>>, ElfError> {
    DwarfSections::load(|id| {
        let bytes =
            if SECTIONS.contains(&id) { file.section_bytes(name(id), max_bytes)? } else { Vec::new() };
        Ok(bytes.into())
    })
}

/// CPU time that reading a file may take, linear in its size and in the number of addresses. Debug
/// information from compilers needs a tenth of it.
struct Budget {
    left: Duration,
}

/// The time per file, per MiB, and per address.
const PER_FILE: Duration = Duration::from_secs(5);
const PER_MB: Duration = Duration::from_millis(200);
const PER_ADDRESS: Duration = Duration::from_micros(500);

impl Budget {
    fn new(len: u64) -> Self {
        let megabytes = u32::try_from(len >> 20).unwrap_or(u32::MAX);
        Self { left: PER_FILE.saturating_add(PER_MB.saturating_mul(megabytes)) }
    }

    /// Subtracts the time that one address took, after adding its allowance.
    fn spend(&mut self, time: Duration) {
        self.left = self.left.saturating_add(PER_ADDRESS).saturating_sub(time);
    }

    fn is_spent(&self) -> bool {
        self.left.is_zero()
    }
}

/// Returns the CPU time of this thread. Wall-clock time would make files slow on a busy machine.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}
