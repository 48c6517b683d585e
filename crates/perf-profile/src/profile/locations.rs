//! Distinct addresses with their objects and functions.

use std::ops::Range;
use std::sync::Arc;

use perf_symbols::{BuildId, NoLines, Symbols, Unnamed};
use rustc_hash::FxHashMap;

use super::ids::{FunctionId, LocationId, ObjectId, StringId};

/// A file or memory with code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// The path in the process's mount namespace, or the kernel's name such as `[vdso]` and
    /// `[kernel.kallsyms]`.
    pub path: StringId,
    /// The build id, if the recording has it.
    pub build_id: Option<BuildId>,
    /// True for the kernel, a module, or code that the kernel wrote.
    pub is_kernel: bool,
    /// Addresses of the first mapping; all addresses for an object without a known mapping.
    pub range: Range<u64>,
    /// Offset in the file at the start of the range, in bytes.
    pub file_offset: u64,
    /// The process that wrote the code at run time, for executable memory without a file.
    pub written_by: Option<u32>,
}

impl Object {
    /// Creates an object that is mapped at all addresses, from its first byte.
    pub fn new(path: StringId) -> Self {
        Self { path, build_id: None, is_kernel: false, range: 0..u64::MAX, file_offset: 0, written_by: None }
    }
}

/// A function in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Name in the source, demangled for Rust and C++.
    pub name: StringId,
    /// Path of the source file as the compiler wrote it; `None` without line information.
    pub file: Option<StringId>,
}

/// A function at a [`Location`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's id in [`Locations`].
    pub function: FunctionId,
    /// Line in the source file from 1; 0 if unknown.
    pub line: u32,
    /// Column from 1; 0 if unknown.
    pub column: u16,
}

/// An address in an object, with its functions.
///
/// The same address of a file is one location for all processes that map the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The object; `None` if no mapping was known.
    pub object: Option<ObjectId>,
    /// The address according to the object's first mapping. For a call, an address in the
    /// call instruction.
    pub address: u64,
    /// True for kernel addresses.
    pub is_kernel: bool,
    frames: Range<u32>,
    /// The distance in bytes from the start of the outermost function.
    pub function_offset: u64,
    /// Why the location has no function, or why its outermost function has no name and is called
    /// by its file and start: [`Symbols::unnamed`].
    pub unnamed: Option<Unnamed>,
    /// Why lines or inlined functions are missing although the file has debug information.
    pub no_lines: Option<NoLines>,
}

/// The strings, objects, functions and locations of a profile.
///
/// ```
/// use perf_profile::{Frame, Function, Locations, Object};
///
/// let mut locations = Locations::new();
/// let object = Object::new(locations.intern("/usr/bin/true"));
/// let object = locations.add_object(object);
/// let name = locations.intern("main");
/// let main = locations.add_function(Function { name, file: None });
/// let location = locations.add(Some(object), 0x1234);
/// locations.set_frames(location, [Frame { function: main, line: 0, column: 0 }]);
///
/// let frame = locations.frames(location)[0];
/// assert_eq!(locations.function_name(frame.function), "main");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Locations {
    strings: Vec<Arc<str>>,
    string_ids: FxHashMap<Arc<str>, StringId>,
    objects: Vec<Object>,
    functions: Vec<Function>,
    function_ids: FxHashMap<Function, FunctionId>,
    addresses: Vec<Location>,
    frames: Vec<Frame>,
}

/// The name of anything without a name.
pub const UNKNOWN: &str = "[unknown]";

const NOWHERE: Location = Location {
    object: None,
    address: 0,
    is_kernel: false,
    frames: 0..0,
    function_offset: 0,
    unnamed: None,
    no_lines: None,
};

impl Locations {
    /// Creates empty tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the id of a string, adding it if it is new.
    pub fn intern(&mut self, text: &str) -> StringId {
        match self.string_ids.get(text) {
            Some(&id) => id,
            None => self.add_string(text.into()),
        }
    }

    /// Interns a string, sharing its memory if it is new.
    fn intern_shared(&mut self, text: &Arc<str>) -> StringId {
        match self.string_ids.get(text) {
            Some(&id) => id,
            None => self.add_string(text.clone()),
        }
    }

    fn add_string(&mut self, text: Arc<str>) -> StringId {
        let id = StringId::next(self.strings.len());
        self.strings.push(text.clone());
        self.string_ids.insert(text, id);
        id
    }

    /// Returns a string; [`UNKNOWN`] for an id of other tables.
    pub fn string(&self, id: StringId) -> &str {
        self.strings.get(id.index()).map_or(UNKNOWN, |text| text)
    }

    /// Iterates over all strings in the order of their ids.
    pub fn strings(&self) -> impl ExactSizeIterator<Item = &str> {
        self.strings.iter().map(|text| &**text)
    }

    /// Adds an object. The caller must not add an object twice.
    pub fn add_object(&mut self, object: Object) -> ObjectId {
        let id = ObjectId::next(self.objects.len());
        self.objects.push(object);
        id
    }

    /// Returns the object with this id, if it is in these tables.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.index())
    }

    /// Returns all objects in the order of their ids.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns the path of a location's object; [`UNKNOWN`] without an object.
    pub fn object_path(&self, location: LocationId) -> &str {
        let object = self.get(location).object.and_then(|id| self.object(id));
        object.map_or(UNKNOWN, |object| self.string(object.path))
    }

    /// Returns the id of a function, adding it if it is new.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        let next = FunctionId::next(self.functions.len());
        let id = *self.function_ids.entry(function).or_insert(next);
        if id == next {
            self.functions.push(function);
        }
        id
    }

    /// Returns all functions in the order of their ids.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the function with this id, if it is in these tables.
    pub fn function(&self, id: FunctionId) -> Option<Function> {
        self.functions.get(id.index()).copied()
    }

    /// Returns the name of a function; [`UNKNOWN`] for an id of other tables.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.function(id).map_or(UNKNOWN, |function| self.string(function.name))
    }

    /// Adds a location without functions. The caller must not add a location twice.
    pub fn add(&mut self, object: Option<ObjectId>, address: u64) -> LocationId {
        let is_kernel = object.and_then(|id| self.object(id)).is_some_and(|object| object.is_kernel);
        let id = LocationId::next(self.addresses.len());
        self.addresses.push(Location { object, address, is_kernel, ..NOWHERE });
        id
    }

    /// Sets the functions of a location, innermost first. Each is inlined into the following one.
    pub fn set_frames(&mut self, location: LocationId, frames: impl IntoIterator<Item = Frame>) {
        let start = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.extend(frames);
        let end = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        if let Some(location) = self.addresses.get_mut(location.index()) {
            location.frames = start..end;
        }
    }

    /// Sets the functions of a location from a lookup, or the reason for no name.
    pub fn set_symbols(&mut self, location: LocationId, symbols: &Result<Symbols, Unnamed>) {
        let (functions, offset) = match symbols {
            Ok(symbols) => (&symbols.functions[..], symbols.offset),
            Err(_) => (&[][..], 0),
        };
        let frames: Vec<_> = functions
            .iter()
            .map(|function| {
                let source = function.source.as_ref();
                let name = self.intern_shared(&function.name);
                let file = source.map(|source| self.intern(&source.file.to_string_lossy()));
                Frame {
                    function: self.add_function(Function { name, file }),
                    line: source.and_then(|source| source.line).unwrap_or(0),
                    column: source.and_then(|source| source.column).unwrap_or(0),
                }
            })
            .collect();
        self.set_frames(location, frames);
        if let Some(location) = self.addresses.get_mut(location.index()) {
            location.function_offset = offset;
            location.unnamed =
                symbols.as_ref().map_or_else(|reason| Some(*reason), |symbols| symbols.unnamed);
            location.no_lines = symbols.as_ref().ok().and_then(|symbols| symbols.no_lines);
        }
    }

    /// Sets the distance in bytes from the start of the outermost function.
    #[cfg(test)]
    pub(crate) fn set_offset(&mut self, location: LocationId, offset: u64) {
        if let Some(location) = self.addresses.get_mut(location.index()) {
            location.function_offset = offset;
        }
    }

    /// Sets why a location has no name.
    pub(crate) fn set_unnamed(&mut self, location: LocationId, reason: Unnamed) {
        if let Some(location) = self.addresses.get_mut(location.index()) {
            location.unnamed = Some(reason);
        }
    }

    /// Returns true if a frame of a location has no name but the start of its function: the
    /// outermost one, if the location [is unnamed](Location::unnamed).
    pub fn is_unnamed(&self, location: LocationId, frame: usize) -> bool {
        let location = self.get(location);
        location.unnamed.is_some() && frame + 1 >= location.frames.len()
    }

    /// Returns a location; for an id of other tables, a location without object and functions.
    pub fn get(&self, id: LocationId) -> &Location {
        self.addresses.get(id.index()).unwrap_or(&NOWHERE)
    }

    /// Returns all locations in the order of their ids.
    pub fn as_slice(&self) -> &[Location] {
        &self.addresses
    }

    /// Returns the functions of a location, innermost first; empty if the address has no name.
    pub fn frames(&self, location: LocationId) -> &[Frame] {
        let range = &self.get(location).frames;
        self.frames.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_without_a_name_differs_from_those_inlined_into_it() {
        let mut locations = Locations::new();
        let [started, unknown, named] = [1, 2, 3].map(|address| locations.add(None, address));
        let functions = ["inlined", "libz.so.1+0x2f30"]
            .map(|name| perf_symbols::Function { name: name.into(), source: None });
        let symbols = Symbols::new(functions, 8);
        let reason = Unnamed::NoSymbol;
        let mut unnamed = symbols.clone();
        unnamed.unnamed = Some(reason);
        locations.set_symbols(started, &Ok(unnamed));
        locations.set_symbols(unknown, &Err(reason));
        locations.set_symbols(named, &Ok(symbols));
        let unnamed = [started, unknown, named].map(|id| locations.get(id).unnamed);
        assert_eq!(unnamed, [Some(reason), Some(reason), None]);
        let frames = [0, 1].map(|frame| locations.is_unnamed(started, frame));
        assert_eq!((frames, locations.is_unnamed(named, 1)), ([false, true], false));
    }
}
