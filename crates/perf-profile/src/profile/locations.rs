//! Addresses with their objects and functions, each once.

use std::ops::Range;
use std::sync::Arc;

use perf_symbols::{BuildId, NoLines, Symbols, Unnamed};
use rustc_hash::FxHashMap;

use super::ids::{FunctionId, LocationId, ObjectId, StringId};

/// A file or memory with code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object {
    /// The path as the process saw it, or the kernel's name such as `[vdso]` and
    /// `[kernel.kallsyms]`.
    pub path: StringId,
    /// Its identity, if the recording has it.
    pub build_id: Option<BuildId>,
    /// Whether it is the kernel, a module or code that the kernel wrote.
    pub is_kernel: bool,
    /// Its first mapping, in bytes; all addresses for an object without a mapping.
    pub range: Range<u64>,
    /// The offset in the file at the start of the range, in bytes.
    pub file_offset: u64,
    /// The process that wrote the code while it ran: of executable memory without a file.
    pub written_by: Option<u32>,
}

impl Object {
    /// Makes an object that is mapped at all addresses, from its first byte on.
    pub fn new(path: StringId) -> Self {
        Self { path, build_id: None, is_kernel: false, range: 0..u64::MAX, file_offset: 0, written_by: None }
    }
}

/// A function in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// The demangled name.
    pub name: StringId,
    /// The path of the source file, as the compiler wrote it; without line information, `None`.
    pub file: Option<StringId>,
}

/// A function at a [`Location`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Entry of the functions.
    pub function: FunctionId,
    /// The line in its source file, from 1; 0 if it is unknown.
    pub line: u32,
    /// The column, from 1; 0 if it is unknown.
    pub column: u16,
}

/// An address in an object, with the functions there.
///
/// The same address of a file is one location for all processes that map the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    object: Option<ObjectId>,
    address: u64,
    is_kernel: bool,
    frames: Range<u32>,
    function_offset: u64,
    unnamed: Option<Unnamed>,
    no_lines: Option<NoLines>,
}

impl Location {
    /// Returns the object; `None` if nothing was known to be mapped.
    pub fn object(&self) -> Option<ObjectId> {
        self.object
    }

    /// Returns the address, where the object was mapped first; of a call, an address in the call.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns whether it is an address of the kernel.
    pub fn is_kernel(&self) -> bool {
        self.is_kernel
    }

    /// Returns the number of bytes from the start of the outermost function to the address.
    pub fn function_offset(&self) -> u64 {
        self.function_offset
    }

    /// Returns why it has no function.
    pub fn unnamed(&self) -> Option<Unnamed> {
        self.unnamed
    }

    /// Returns why it has no lines, or lacks inlined functions, although its file has debug
    /// information.
    pub fn no_lines(&self) -> Option<NoLines> {
        self.no_lines
    }
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

/// The name of what has none.
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
    /// Makes empty tables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the id of a string, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> StringId {
        match self.string_ids.get(text) {
            Some(&id) => id,
            None => self.add_string(text.into()),
        }
    }

    /// As [`intern`](Self::intern), and shares the memory of a new string.
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

    /// Returns all strings, in the order of their ids.
    pub fn strings(&self) -> impl ExactSizeIterator<Item = &str> {
        self.strings.iter().map(|text| &**text)
    }

    /// Adds an object. The caller adds each once.
    pub fn add_object(&mut self, object: Object) -> ObjectId {
        let id = ObjectId::next(self.objects.len());
        self.objects.push(object);
        id
    }

    /// Returns an object.
    pub fn object(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id.index())
    }

    /// Returns all objects, in the order of their ids.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Returns the path of a location's object; [`UNKNOWN`] if it has none.
    pub fn object_path(&self, location: LocationId) -> &str {
        let object = self.get(location).object.and_then(|id| self.object(id));
        object.map_or(UNKNOWN, |object| self.string(object.path))
    }

    /// Returns the id of a function, which is added if it is new.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        let next = FunctionId::next(self.functions.len());
        let id = *self.function_ids.entry(function).or_insert(next);
        if id == next {
            self.functions.push(function);
        }
        id
    }

    /// Returns all functions, in the order of their ids.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns a function.
    pub fn function(&self, id: FunctionId) -> Option<Function> {
        self.functions.get(id.index()).copied()
    }

    /// Returns the name of a function; [`UNKNOWN`] for an id of other tables.
    pub fn function_name(&self, id: FunctionId) -> &str {
        self.function(id).map_or(UNKNOWN, |function| self.string(function.name))
    }

    /// Adds a location without functions. The caller adds each once.
    pub fn add(&mut self, object: Option<ObjectId>, address: u64) -> LocationId {
        let is_kernel = object.and_then(|id| self.object(id)).is_some_and(|object| object.is_kernel);
        let id = LocationId::next(self.addresses.len());
        self.addresses.push(Location { object, address, is_kernel, ..NOWHERE });
        id
    }

    /// Sets the functions of a location, the innermost first: all but the last one are inlined into
    /// the next one.
    pub fn set_frames(&mut self, location: LocationId, frames: impl IntoIterator<Item = Frame>) {
        let start = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        self.frames.extend(frames);
        let end = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        if let Some(location) = self.addresses.get_mut(location.index()) {
            location.frames = start..end;
        }
    }

    /// Sets the functions of a location to those that were found, or the reason why there is no
    /// name.
    pub fn set_symbols(&mut self, location: LocationId, symbols: &Result<Symbols, Unnamed>) {
        let (functions, offset) = match symbols {
            Ok(symbols) => (symbols.functions(), symbols.offset()),
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
            location.unnamed = symbols.as_ref().err().copied();
            location.no_lines = symbols.as_ref().ok().and_then(Symbols::no_lines);
        }
    }

    /// Returns a location; for an id of other tables, one without object and functions.
    pub fn get(&self, id: LocationId) -> &Location {
        self.addresses.get(id.index()).unwrap_or(&NOWHERE)
    }

    /// Returns all locations, in the order of their ids.
    pub fn as_slice(&self) -> &[Location] {
        &self.addresses
    }

    /// Returns the functions of a location, the innermost first; none if the address has no name.
    pub fn frames(&self, location: LocationId) -> &[Frame] {
        let range = &self.get(location).frames;
        self.frames.get(range.start as usize..range.end as usize).unwrap_or(&[])
    }
}
