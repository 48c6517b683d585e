//! The subject of a row of a table: a thread, an object, a function, a line.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::format::names::file_name;
use crate::profile::{LocationId, Locations, Profile, StringId, Thread, ThreadId, UNKNOWN};

/// A property that distinguishes the rows of a [`Table`](super::Table) and the nodes of a [`CallTree`](super::CallTree).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Column {
    /// The name of the thread.
    Comm,
    /// The process.
    Pid,
    /// The thread.
    Tid,
    /// The program, library or part of the kernel.
    Object,
    /// The function. An inlined function is one by itself.
    Function,
    /// The source file and line.
    Line,
}

/// The subject of a row or node: the properties of its [`Column`]s. The others are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Entry<'p> {
    /// The name of the thread.
    pub comm: Option<&'p str>,
    /// The process.
    pub pid: Option<u32>,
    /// The thread.
    pub tid: Option<u32>,
    /// The name of the function; [`UNKNOWN`] for an address without a function.
    pub function: Option<&'p str>,
    /// The path of the object; [`UNKNOWN`] for an address without one.
    pub object: Option<&'p str>,
    /// The path of the source file and the line, from 1; [`UNKNOWN`] and 0 without line information.
    pub line: Option<(&'p str, u32)>,
    /// Whether it is code of the kernel; `false` for rows of threads alone.
    pub is_kernel: bool,
}

/// As `comm main (libc.so.6) a.c:1`: the properties that are there, and the last part of paths.
impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut blank = "";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            f.write_str(std::mem::replace(&mut blank, " "))?;
            f.write_fmt(text)
        };
        if let Some(comm) = self.comm {
            part(f, format_args!("{comm}"))?;
        }
        if let Some(pid) = self.pid {
            part(f, format_args!("{pid}"))?;
        }
        if let Some(tid) = self.tid {
            part(f, format_args!("{tid}"))?;
        }
        if let Some(function) = self.function {
            part(f, format_args!("{function}"))?;
        }
        if let Some(object) = self.object {
            part(f, format_args!("({})", file_name(object)))?;
        }
        match self.line {
            Some((UNKNOWN, _)) => part(f, format_args!("{UNKNOWN}")),
            Some((file, line)) => part(f, format_args!("{}:{line}", file_name(file))),
            None => Ok(()),
        }
    }
}

/// The part of an entry that a thread has, as ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Head {
    comm: Option<StringId>,
    pid: Option<u32>,
    tid: Option<u32>,
}

/// The part of an entry that a function at an address has, as ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Part {
    object: Option<StringId>,
    function: Option<StringId>,
    line: Option<(StringId, u32)>,
    is_kernel: bool,
}

/// Number of a [`Head`].
pub(super) type HeadId = u32;
/// Number of a [`Part`].
pub(super) type PartId = u32;

/// The parts of all entries of a profile, each once.
#[derive(Debug)]
pub(super) struct Entries<'p> {
    locations: &'p Locations,
    columns: Vec<Column>,
    heads: Numbered<Head>,
    parts: Numbered<Part>,
    /// The parts of each location: those of its functions, the innermost first.
    by_location: Vec<std::ops::Range<usize>>,
    functions: Vec<PartId>,
    /// The head of each thread.
    by_thread: Vec<HeadId>,
}

/// Values, each once, by their number.
#[derive(Debug)]
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

impl<'p> Entries<'p> {
    pub(super) fn new(profile: &'p Profile, columns: &[Column]) -> Self {
        let locations = profile.locations();
        let mut entries = Self {
            locations,
            columns: columns.to_vec(),
            heads: Numbered::new(),
            parts: Numbered::new(),
            by_location: Vec::with_capacity(locations.as_slice().len()),
            functions: Vec::new(),
            by_thread: Vec::with_capacity(profile.threads().len()),
        };
        // The part of samples without a stack has the number 0.
        entries.parts.add(Part::default());
        for &thread in profile.threads() {
            let head = entries.head_of(thread);
            entries.by_thread.push(entries.heads.add(head));
        }
        for index in 0..locations.as_slice().len() {
            entries.add_location(LocationId::next(index));
        }
        entries
    }

    fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    fn head_of(&self, thread: Thread) -> Head {
        Head {
            comm: self.has(Column::Comm).then_some(thread.name),
            pid: self.has(Column::Pid).then_some(thread.pid),
            tid: self.has(Column::Tid).then_some(thread.tid),
        }
    }

    fn add_location(&mut self, id: LocationId) {
        let location = self.locations.get(id);
        let object = location.object().and_then(|object| self.locations.object(object));
        let object = object.map(|object| object.path).filter(|_| self.has(Column::Object));
        let start = self.functions.len();
        let (has_function, has_line) = (self.has(Column::Function), self.has(Column::Line));
        let is_kernel = location.is_kernel() && (has_function || has_line || self.has(Column::Object));
        let base = Part { object, is_kernel, ..Part::default() };
        for frame in self.locations.frames(id) {
            let function = self.locations.function(frame.function);
            let line = function.and_then(|function| Some((function.file?, frame.line)));
            let part = Part {
                function: function.map(|function| function.name).filter(|_| has_function),
                line: line.filter(|_| has_line),
                ..base
            };
            let part = self.parts.add(part);
            // Without functions and lines, inlined ones are no separate entries.
            if self.functions.get(start..).is_none_or(|parts| has_function || !parts.contains(&part)) {
                self.functions.push(part);
            }
        }
        if self.functions.len() == start {
            let part = self.parts.add(base);
            self.functions.push(part);
        }
        self.by_location.push(start..self.functions.len());
    }

    /// Returns the parts of a location's functions, the innermost first; at least one.
    pub(super) fn parts(&self, location: LocationId) -> &[PartId] {
        let range = self.by_location.get(location.index()).cloned();
        range.and_then(|range| self.functions.get(range)).unwrap_or(&[0])
    }

    /// Returns the parts of a sample without a stack.
    pub(super) fn nowhere() -> &'static [PartId] {
        &[0]
    }

    /// Returns the number of parts.
    pub(super) fn part_count(&self) -> usize {
        self.parts.values.len()
    }

    /// Returns the head of a thread.
    pub(super) fn head(&self, thread: ThreadId) -> HeadId {
        self.by_thread.get(thread.index()).copied().unwrap_or(0)
    }

    /// Returns whether a thread says something about an entry.
    pub(super) fn has_heads(&self) -> bool {
        [Column::Comm, Column::Pid, Column::Tid].into_iter().any(|column| self.has(column))
    }

    /// Returns the entry of a head, a part, or both.
    pub(super) fn entry(&self, head: Option<HeadId>, part: Option<PartId>) -> Entry<'p> {
        let head = head.and_then(|id| self.heads.values.get(id as usize)).copied().unwrap_or_default();
        let mut entry = Entry {
            comm: head.comm.map(|id| self.locations.string(id)),
            pid: head.pid,
            tid: head.tid,
            ..Entry::default()
        };
        if let Some(part) = part.and_then(|id| self.parts.values.get(id as usize)) {
            let text = |id: Option<StringId>| id.map_or(UNKNOWN, |id| self.locations.string(id));
            entry.object = self.has(Column::Object).then(|| text(part.object));
            entry.function = self.has(Column::Function).then(|| text(part.function));
            let line = || part.line.map_or((UNKNOWN, 0), |(file, line)| (self.locations.string(file), line));
            entry.line = self.has(Column::Line).then(line);
            entry.is_kernel = part.is_kernel;
        }
        entry
    }
}
