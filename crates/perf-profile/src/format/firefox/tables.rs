//! The tables of a thread: stacks, frames, functions and strings.

use std::borrow::Cow;
use std::hash::Hash;
use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::{KERNEL, Libraries, MAX_INTEGER, OTHER, USER};
use crate::format::json_text::{Optional, Text, write_list};
use crate::format::names::file_name;
use crate::profile::{LocationId, Locations, Object, StackId};

/// A table of distinct rows.
struct Table<R> {
    rows: Vec<R>,
    indexes: FxHashMap<R, u32>,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), indexes: FxHashMap::default() }
    }
}

impl<R: Clone + Eq + Hash> Table<R> {
    /// Returns the index of a row, adding it if it is new.
    fn add(&mut self, row: R) -> u32 {
        if let Some(&index) = self.indexes.get(&row) {
            return index;
        }
        let index = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(row.clone());
        self.indexes.insert(row, index);
        index
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Resource {
    library: u32,
    name: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Function {
    name: u32,
    resource: Option<u32>,
    file: Option<u32>,
}

/// A function in the object's symbols, into which other functions may be inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Symbol {
    library: u32,
    address: u64,
    name: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Frame {
    address: Option<u64>,
    inline_depth: usize,
    category: u32,
    function: u32,
    symbol: Option<u32>,
    /// From 1; 0 if unknown.
    line: u32,
    column: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Stack {
    caller: Option<u32>,
    frame: u32,
}

pub(super) struct Tables<'p> {
    locations: &'p Locations,
    libraries: &'p Libraries,
    /// The stacks of the profile, by id.
    profile_stacks: &'p [(LocationId, Option<StackId>)],
    strings: Table<Cow<'p, str>>,
    resources: Table<Resource>,
    functions: Table<Function>,
    symbols: Table<Symbol>,
    frames: Table<Frame>,
    stacks: Table<Stack>,
    /// The frames of locations so far, outermost function first.
    location_frames: FxHashMap<LocationId, Vec<u32>>,
    /// The rows of the profile's stacks so far.
    stack_rows: FxHashMap<StackId, u32>,
}

impl<'p> Tables<'p> {
    pub(super) fn new(
        locations: &'p Locations,
        libraries: &'p Libraries,
        profile_stacks: &'p [(LocationId, Option<StackId>)],
    ) -> Self {
        Self {
            locations,
            libraries,
            profile_stacks,
            strings: Table::default(),
            resources: Table::default(),
            functions: Table::default(),
            symbols: Table::default(),
            frames: Table::default(),
            stacks: Table::default(),
            location_frames: FxHashMap::default(),
            stack_rows: FxHashMap::default(),
        }
    }

    /// Returns the index of a string, adding it if it is new.
    pub(super) fn string(&mut self, text: &'p str) -> u32 {
        self.strings.add(Cow::Borrowed(text))
    }

    /// Returns the row of a stack of the profile, adding rows for it and its callers if necessary.
    pub(super) fn stack(&mut self, stack: Option<StackId>) -> Option<u32> {
        // The stacks up to the first caller with a row.
        let mut new = Vec::new();
        let mut row = None;
        let mut next = stack;
        while let Some(id) = next {
            if let Some(&known) = self.stack_rows.get(&id) {
                row = Some(known);
                break;
            }
            let &(location, caller) = self.profile_stacks.get(id.index())?;
            new.push((id, location));
            next = caller;
        }
        for (id, location) in new.into_iter().rev() {
            if !self.location_frames.contains_key(&location) {
                let frames = self.add_frames(location);
                self.location_frames.insert(location, frames);
            }
            for &frame in self.location_frames.get(&location).into_iter().flatten() {
                row = Some(self.stacks.add(Stack { caller: row, frame }));
            }
            self.stack_rows.extend(row.map(|row| (id, row)));
        }
        row
    }

    /// Adds the frames of a location, outermost function first; at least one.
    fn add_frames(&mut self, id: LocationId) -> Vec<u32> {
        let locations = self.locations;
        let location = locations.get(id);
        let object = location.object.and_then(|id| Some((locations.object(id)?, self.libraries.index(id)?)));
        let address = object.and_then(|(object, _)| relative(object, location.address));
        let resource = object.map(|(object, library)| {
            let name = self.string(file_name(locations.string(object.path)));
            self.resources.add(Resource { library, name })
        });
        let category = if location.is_kernel { KERNEL } else { USER };
        let frames = locations.frames(id);
        if frames.is_empty() {
            // The profiler recognizes an unnamed function by this form.
            let name = self.strings.add(Cow::Owned(format!("{:#x}", address.unwrap_or(location.address))));
            let function = self.functions.add(Function { name, resource, file: None });
            let category = if object.is_some() { category } else { OTHER };
            let frame =
                Frame { address, inline_depth: 0, category, function, symbol: None, line: 0, column: 0 };
            return vec![self.frames.add(frame)];
        }
        let outermost = frames.last().map(|frame| self.string(locations.function_name(frame.function)));
        let start = address.and_then(|address| address.checked_sub(location.function_offset));
        let symbol = outermost.zip(start).zip(object);
        let symbol = symbol.map(|((name, address), (_, library))| Symbol { library, address, name });
        let symbol = symbol.map(|symbol| self.symbols.add(symbol));
        let outermost_first = frames.iter().rev().enumerate().map(|(inline_depth, frame)| {
            let file = locations.function(frame.function).and_then(|function| function.file);
            let name = self.string(locations.function_name(frame.function));
            let file = file.map(|file| self.string(locations.string(file)));
            let function = self.functions.add(Function { name, resource, file });
            let (line, column) = (frame.line, frame.column);
            self.frames.add(Frame { address, inline_depth, category, function, symbol, line, column })
        });
        outermost_first.collect()
    }

    /// Writes all tables.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = &self.stacks.rows;
        begin(out, "stackTable", rows.len())?;
        column(out, "prefix", rows.iter().map(|row| Optional(row.caller)))?;
        column(out, "frame", rows.iter().map(|row| row.frame))?;
        out.write_all(b"}")?;

        let rows = &self.frames.rows;
        let number = |number: u32| Optional((number > 0).then_some(number));
        begin(out, "frameTable", rows.len())?;
        column(out, "address", rows.iter().map(|row| or_minus_one(row.address)))?;
        column(out, "inlineDepth", rows.iter().map(|row| row.inline_depth))?;
        column(out, "category", rows.iter().map(|row| row.category))?;
        column(out, "subcategory", rows.iter().map(|_| 0))?;
        column(out, "func", rows.iter().map(|row| row.function))?;
        column(out, "nativeSymbol", rows.iter().map(|row| Optional(row.symbol)))?;
        column(out, "innerWindowID", rows.iter().map(|_| 0))?;
        column(out, "line", rows.iter().map(|row| number(row.line)))?;
        column(out, "column", rows.iter().map(|row| number(row.column.into())))?;
        out.write_all(b"}")?;

        let rows = &self.functions.rows;
        begin(out, "funcTable", rows.len())?;
        column(out, "name", rows.iter().map(|row| row.name))?;
        column(out, "isJS", rows.iter().map(|_| false))?;
        column(out, "relevantForJS", rows.iter().map(|_| false))?;
        column(out, "resource", rows.iter().map(|row| or_minus_one(row.resource.map(u64::from))))?;
        column(out, "fileName", rows.iter().map(|row| Optional(row.file)))?;
        column(out, "lineNumber", rows.iter().map(|_| "null"))?;
        column(out, "columnNumber", rows.iter().map(|_| "null"))?;
        out.write_all(b"}")?;

        let rows = &self.symbols.rows;
        begin(out, "nativeSymbols", rows.len())?;
        column(out, "libIndex", rows.iter().map(|row| row.library))?;
        column(out, "address", rows.iter().map(|row| row.address))?;
        column(out, "name", rows.iter().map(|row| row.name))?;
        column(out, "functionSize", rows.iter().map(|_| "null"))?;
        out.write_all(b"}")?;

        let rows = &self.resources.rows;
        begin(out, "resourceTable", rows.len())?;
        column(out, "lib", rows.iter().map(|row| row.library))?;
        column(out, "name", rows.iter().map(|row| row.name))?;
        column(out, "host", rows.iter().map(|_| "null"))?;
        // Resource type 1 is a library.
        column(out, "type", rows.iter().map(|_| 1))?;
        out.write_all(b"},\n\"stringArray\":")?;
        write_list(out, self.strings.rows.iter().map(|text| Text(text)))
    }
}

/// Begins a table after another key of the thread.
fn begin(out: &mut dyn Write, name: &str, length: usize) -> io::Result<()> {
    write!(out, ",\n\"{name}\":{{\"length\":{length}")
}

fn column(
    out: &mut dyn Write,
    name: &str,
    values: impl IntoIterator<Item: std::fmt::Display>,
) -> io::Result<()> {
    write!(out, ",\"{name}\":")?;
    write_list(out, values)
}

/// Returns a number for a column in which -1 means none.
fn or_minus_one(number: Option<u64>) -> i64 {
    number.and_then(|number| i64::try_from(number).ok()).unwrap_or(-1)
}

/// Returns the offset of an address in the file of its object, if JavaScript can represent it.
fn relative(object: &Object, address: u64) -> Option<u64> {
    let offset = address.wrapping_sub(object.range.start).wrapping_add(object.file_offset);
    (offset <= MAX_INTEGER).then_some(offset)
}
