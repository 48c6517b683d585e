//! The subject of a table row: a thread, an object, a function, a line.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::format::names::file_name;
use crate::profile::{LocationId, Locations, Profile, StringId, Thread, ThreadId, UNKNOWN};

/// A property that distinguishes the rows of a [`Table`](super::Table) and the nodes of a
/// [`CallTree`](super::CallTree).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// The name of the thread.
    Comm,
    /// Process id.
    Pid,
    /// Thread id.
    Tid,
    /// The control group of the thread.
    Cgroup,
    /// The CPU, in a profile that [splits](crate::Split) threads by it.
    Cpu,
    /// The slice of time, in a profile that [splits](crate::Split) threads by it.
    Time,
    /// The program, library or part of the kernel.
    Object,
    /// The function. An inlined function is separate from its caller.
    Function,
    /// The source file and line.
    Line,
}

impl Column {
    /// Returns true if the column is a property of the thread, and not of the code.
    fn is_of_thread(self) -> bool {
        match self {
            Self::Comm | Self::Pid | Self::Tid | Self::Cgroup | Self::Cpu | Self::Time => true,
            Self::Object | Self::Function | Self::Line => false,
        }
    }
}

/// The subject of a row or node: the properties of its [`Column`]s; other properties are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Entry<'p> {
    /// The name of the thread.
    pub comm: Option<&'p str>,
    /// Process id.
    pub pid: Option<u32>,
    /// Thread id.
    pub tid: Option<u32>,
    /// The path of the control group; [`UNKNOWN`] if it was not recorded.
    pub cgroup: Option<&'p str>,
    /// The CPU; also `None` if it was not recorded.
    pub cpu: Option<u32>,
    /// Start of the slice of time, in ns of the events' clock; also `None` if times were not
    /// recorded.
    pub time: Option<u64>,
    /// The name of the function, or its file and start if it has no name; [`UNKNOWN`] for an
    /// address without a function.
    pub function: Option<&'p str>,
    /// True if [`function`](Self::function) is no name: [`UNKNOWN`], or the file and the start of a
    /// function, such as `libz.so.1+0x2f30`.
    pub is_unnamed: bool,
    /// The path of the object; [`UNKNOWN`] for an address without one.
    pub object: Option<&'p str>,
    /// The path of the source file and the line, from 1; [`UNKNOWN`] and 0 without line
    /// information.
    pub line: Option<(&'p str, u32)>,
    /// True for code of the kernel; `false` for rows of threads alone.
    pub is_kernel: bool,
}

/// Prints `comm main (libc.so.6) a.c:1`: the properties that are set, with paths shortened to their
/// last component.
impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blank = "";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            f.write_str(std::mem::replace(&mut blank, " "))?;
            f.write_fmt(text)
        };
        // Without `..`, so that a new property is not forgotten here.
        let Self { comm, pid, tid, cgroup, cpu, time, function, object, line, is_unnamed: _, is_kernel: _ } =
            self;
        if let Some(comm) = comm {
            part(f, format_args!("{comm}"))?;
        }
        if let Some(pid) = pid {
            part(f, format_args!("{pid}"))?;
        }
        if let Some(tid) = tid {
            part(f, format_args!("{tid}"))?;
        }
        if let Some(cgroup) = cgroup {
            part(f, format_args!("{cgroup}"))?;
        }
        if let Some(cpu) = cpu {
            part(f, format_args!("cpu {cpu}"))?;
        }
        if let Some(time) = time {
            part(f, format_args!("{}.{:06}", time / 1_000_000_000, time / 1000 % 1_000_000))?;
        }
        if let Some(function) = function {
            part(f, format_args!("{function}"))?;
        }
        if let Some(object) = object {
            part(f, format_args!("({})", file_name(object)))?;
        }
        match line {
            Some((UNKNOWN, _)) => part(f, format_args!("{UNKNOWN}")),
            Some((file, line)) => part(f, format_args!("{}:{line}", file_name(file))),
            None => Ok(()),
        }
    }
}

/// The ids of an entry that come from a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Head {
    comm: Option<StringId>,
    pid: Option<u32>,
    tid: Option<u32>,
    cgroup: Option<StringId>,
    cpu: Option<u32>,
    time: Option<u64>,
}

/// The ids of an entry that come from a function at an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Part {
    object: Option<StringId>,
    function: Option<StringId>,
    line: Option<(StringId, u32)>,
    is_kernel: bool,
    is_unnamed: bool,
}

/// Index of a [`Head`].
pub(super) type HeadId = u32;
/// Index of a [`Part`].
pub(super) type PartId = u32;
/// Indices of the functions of one location in `parts`.
pub(super) type Range = std::ops::Range<usize>;

/// All distinct entries of a profile.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    columns: Vec<Column>,
    heads: Numbered<Head>,
    parts: Numbered<Part>,
    places: Places,
}

/// The head of each thread and the parts of each location, by index.
#[derive(Clone, Debug)]
pub(super) struct Places {
    heads: Vec<HeadId>,
    /// Start and number of each location's parts, with [`UNNAMED`] for an address without a name.
    locations: Vec<(u32, u32)>,
    /// The parts of all locations' functions, innermost first within a location. The first one is
    /// for samples without a stack.
    parts: Vec<PartId>,
}

/// Flag in the number of parts: the address has no name.
const UNNAMED: u32 = 1 << 31;

/// Distinct values by index.
#[derive(Clone, Debug)]
struct Numbered<T> {
    values: Vec<T>,
    ids: FxHashMap<T, u32>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Self { values: Vec::new(), ids: FxHashMap::default() }
    }

    fn add(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        id
    }
}

impl Entries {
    /// Creates entries without threads and locations.
    pub(super) fn new(columns: &[Column]) -> Self {
        let mut parts = Numbered::new();
        // The first part stands for samples without a stack.
        parts.add(Part { is_unnamed: columns.contains(&Column::Function), ..Part::default() });
        Self { columns: columns.to_vec(), heads: Numbered::new(), parts, places: Places::default() }
    }

    /// Creates the entries of a profile.
    pub(super) fn of(profile: &Profile, columns: &[Column]) -> Self {
        let mut entries = Self::new(columns);
        entries.add(profile.threads(), profile.locations(), profile.locations().as_slice().len());
        entries
    }

    /// Adds the new threads, and the new locations among the first `len`.
    pub(super) fn add(&mut self, threads: &[Thread], locations: &Locations, len: usize) {
        for &thread in threads.get(self.places.heads.len()..).unwrap_or_default() {
            let head = self.head_of(thread);
            self.places.heads.push(self.heads.add(head));
        }
        for index in self.places.locations.len()..len {
            self.add_location(locations, LocationId::next(index));
        }
    }

    /// Returns the places.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    fn head_of(&self, thread: Thread) -> Head {
        Head {
            comm: self.has(Column::Comm).then_some(thread.name),
            pid: self.has(Column::Pid).then_some(thread.pid),
            tid: self.has(Column::Tid).then_some(thread.tid),
            cgroup: thread.cgroup.filter(|_| self.has(Column::Cgroup)),
            cpu: thread.cpu.filter(|_| self.has(Column::Cpu)),
            time: thread.time.filter(|_| self.has(Column::Time)),
        }
    }

    fn add_location(&mut self, locations: &Locations, id: LocationId) {
        let location = locations.get(id);
        let object = location.object.and_then(|object| locations.object(object));
        let object = object.map(|object| object.path).filter(|_| self.has(Column::Object));
        let start = self.places.parts.len();
        let (has_function, has_line) = (self.has(Column::Function), self.has(Column::Line));
        let is_kernel = location.is_kernel && self.columns.iter().any(|column| !column.is_of_thread());
        let base = Part { object, is_kernel, ..Part::default() };
        for (index, frame) in locations.frames(id).iter().enumerate() {
            let function = locations.function(frame.function);
            let line = function.and_then(|function| Some((function.file?, frame.line)));
            let part = Part {
                function: function.map(|function| function.name).filter(|_| has_function),
                line: line.filter(|_| has_line),
                is_unnamed: has_function && locations.is_unnamed(id, index),
                ..base
            };
            let part = self.parts.add(part);
            // Without functions and lines, inlined functions are not separate entries.
            if self.places.parts.get(start..).is_none_or(|parts| has_function || !parts.contains(&part)) {
                self.places.parts.push(part);
            }
        }
        if self.places.parts.len() == start {
            let part = self.parts.add(Part { is_unnamed: has_function, ..base });
            self.places.parts.push(part);
        }
        let len = self.places.parts.len() - start;
        let range = u32::try_from(start).ok().zip(u32::try_from(len).ok().filter(|&len| len < UNNAMED));
        let (start, len) = range.unwrap_or((0, 1));
        let unnamed = if location.unnamed.is_some() { UNNAMED } else { 0 };
        self.places.locations.push((start, len | unnamed));
    }

    /// Returns true if threads contribute to entries.
    pub(super) fn has_heads(&self) -> bool {
        self.columns.iter().any(|column| column.is_of_thread())
    }

    /// Returns the entry of a head, a part, or both.
    pub(super) fn entry<'p>(
        &self,
        locations: &'p Locations,
        head: Option<HeadId>,
        part: Option<PartId>,
    ) -> Entry<'p> {
        let has_cgroup = head.is_some() && self.has(Column::Cgroup);
        let head = head.and_then(|id| self.heads.values.get(id as usize)).copied().unwrap_or_default();
        let part = part.and_then(|id| self.parts.values.get(id as usize)).copied();
        let text = |id: Option<StringId>| id.map_or(UNKNOWN, |id| locations.string(id));
        let line = |line: Option<(StringId, u32)>| {
            line.map_or((UNKNOWN, 0), |(file, line)| (locations.string(file), line))
        };
        // Without `..`, so that a new property is not forgotten here.
        Entry {
            comm: head.comm.map(|id| locations.string(id)),
            pid: head.pid,
            tid: head.tid,
            cgroup: has_cgroup.then(|| text(head.cgroup)),
            cpu: head.cpu,
            time: head.time,
            object: part.filter(|_| self.has(Column::Object)).map(|part| text(part.object)),
            function: part.filter(|_| self.has(Column::Function)).map(|part| text(part.function)),
            line: part.filter(|_| self.has(Column::Line)).map(|part| line(part.line)),
            is_kernel: part.is_some_and(|part| part.is_kernel),
            is_unnamed: part.is_some_and(|part| part.is_unnamed),
        }
    }
}

impl Default for Places {
    fn default() -> Self {
        Self { heads: Vec::new(), locations: Vec::new(), parts: vec![0] }
    }
}

impl Places {
    /// Returns the places of a location's functions, innermost first; at least one.
    pub(super) fn of(&self, location: LocationId) -> Range {
        let (start, len) = self.locations.get(location.index()).copied().unwrap_or((0, 1));
        start as usize..start as usize + (len & !UNNAMED) as usize
    }

    /// Returns true if a location has no name, for a known reason.
    pub(super) fn is_unnamed(&self, location: LocationId) -> bool {
        self.locations.get(location.index()).is_some_and(|(_, len)| len & UNNAMED != 0)
    }

    /// Returns the place of samples without a stack.
    pub(super) fn nowhere() -> Range {
        0..1
    }

    /// Returns the part at a place.
    pub(super) fn part(&self, place: usize) -> PartId {
        self.parts.get(place).copied().unwrap_or(0)
    }

    /// Returns the head of a thread.
    pub(super) fn head(&self, thread: ThreadId) -> HeadId {
        self.heads.get(thread.index()).copied().unwrap_or(0)
    }

    /// Returns the numbers of heads, locations and parts.
    pub(super) fn counts(&self) -> [usize; 3] {
        [self.heads.len(), self.locations.len(), self.parts.len()]
    }

    /// Returns the places after these numbers, to append them to a copy of the others.
    pub(super) fn since(&self, [heads, locations, parts]: [usize; 3]) -> Self {
        Self {
            heads: self.heads.get(heads..).unwrap_or_default().to_vec(),
            locations: self.locations.get(locations..).unwrap_or_default().to_vec(),
            parts: self.parts.get(parts..).unwrap_or_default().to_vec(),
        }
    }

    pub(super) fn append(&mut self, mut new: Self) {
        self.heads.append(&mut new.heads);
        self.locations.append(&mut new.locations);
        self.parts.append(&mut new.parts);
    }
}
