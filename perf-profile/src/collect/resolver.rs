//! From samples to locations, whose names are looked up later and many at once.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::ops::Range;

use perf_abi::CpuMode;
use perf_abi::regs::Architecture;
use perf_decode::{Layout, Record, Sample};
use perf_symbols::{
    AddressSpaces, FileFinder, MappedObject, Mapping, NameRequest, ObjectKind, Query, Stack, StackFrame,
    Symbolizer, Unlocated, Unwinder,
};
use rustc_hash::FxHashMap;

use crate::profile::{LocationId, Locations, Object, ObjectId};

/// Finds the location of each frame of samples: from the records of mappings, unwinding, and the files.
///
/// An address that many samples have is looked up once. Names are looked up in the background, many at once, and are all
/// there after [`name`](Self::name).
///
/// ```no_run
/// use perf_abi::regs::Architecture;
/// use perf_decode::{Layout, Record};
/// use perf_profile::Resolver;
/// use perf_symbols::FileFinder;
///
/// /// Prints the innermost function of each sample.
/// fn print<'r, L: Layout>(records: impl Iterator<Item = Record<'r, L>>) -> std::io::Result<()> {
///     let mut resolver = Resolver::new(Architecture::NATIVE, FileFinder::local())?;
///     let mut innermost = Vec::new();
///     for record in records {
///         resolver.update(&record);
///         if let Record::Sample(sample) = &record {
///             innermost.extend(resolver.resolve(sample).locations.first().copied());
///         }
///     }
///     resolver.name();
///     let locations = resolver.locations();
///     for location in innermost {
///         match locations.frames(location).first() {
///             Some(frame) => println!("{}", locations.function_name(frame.function)),
///             None => println!("{:#x} in {}", locations.get(location).address(), locations.object_path(location)),
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Resolver {
    spaces: AddressSpaces,
    unwinder: Unwinder,
    symbolizer: Symbolizer,
    stack: Stack,
    found: Vec<LocationId>,
    locations: Locations,
    /// The last stacks of some threads, outermost frame first: the next one of a thread often has the same callers.
    last_stacks: [Vec<(Key, LocationId)>; LAST_STACKS],
    by_address: Addresses,
    by_place: FxHashMap<(Place, u64), LocationId>,
    objects: FxHashMap<(MappedObject, Option<u32>), ObjectId>,
    unnamed: (Vec<LocationId>, Vec<Query>),
    requested: Requested,
    /// Requests that were answered.
    answered: u64,
    has_monotonic_time: bool,
    /// Batches that are looked up at a time.
    max_batches: usize,
}

/// Locations with the names that were asked for.
pub(super) type Requested = VecDeque<(Vec<LocationId>, NameRequest)>;

/// Equal versions have the same mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Version {
    User(u64),
    Kernel(u64),
}

/// The locations of addresses, while nothing is mapped anew.
#[derive(Default)]
struct Addresses {
    ids: FxHashMap<Version, VersionId>,
    /// The last ones of user space and the kernel, which often are those of the next stack.
    last: [Option<(Version, VersionId)>; 2],
    /// By the number of the version: an address alone is a smaller key.
    locations: Vec<FxHashMap<u64, LocationId>>,
    count: usize,
}

/// The number of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VersionId(u32);

/// An address, while nothing is mapped anew.
type Key = (VersionId, u64);

/// The stacks that are kept: more than most machines have threads that are sampled in turn.
const LAST_STACKS: usize = 16;

/// Place of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The address is the offset in the file.
    File(ObjectId),
    Kernel(ObjectId),
    Nowhere(Unlocated),
}

/// Addresses whose locations are kept, at most. When there are more, they are found again by their places.
const MAX_ADDRESSES: usize = 1 << 20;

impl Addresses {
    #[inline]
    fn id(&mut self, version: Version) -> VersionId {
        let [user, kernel] = self.last;
        let last = if matches!(version, Version::User(_)) { user } else { kernel };
        match last {
            Some((last, id)) if last == version => id,
            _ => self.find_id(version),
        }
    }

    fn find_id(&mut self, version: Version) -> VersionId {
        let next = VersionId(u32::try_from(self.locations.len()).unwrap_or(u32::MAX));
        let id = *self.ids.entry(version).or_insert(next);
        if id == next {
            self.locations.push(FxHashMap::default());
        }
        let [user, kernel] = &mut self.last;
        let last = if matches!(version, Version::User(_)) { user } else { kernel };
        *last = Some((version, id));
        id
    }

    #[inline]
    fn get(&self, (version, address): Key) -> Option<LocationId> {
        self.locations.get(version.0 as usize)?.get(&address).copied()
    }

    fn add(&mut self, (version, address): Key, location: LocationId) {
        if self.count >= MAX_ADDRESSES {
            // The versions stay, because stacks have their numbers; the memory of each goes.
            self.locations.fill_with(FxHashMap::default);
            self.count = 0;
        }
        if let Some(locations) = self.locations.get_mut(version.0 as usize) {
            self.count += usize::from(locations.insert(address, location).is_none());
        }
    }
}

/// Locations that are named together: many, because those of one file are looked up together, and few, so that names are
/// looked up by one CPU while another reads records.
const BATCH: usize = 256;

/// Batches that are looked up at a time: each query holds a part of the mappings.
const MAX_BATCHES: usize = 64;

/// The frames of a sample: returned by [`Resolver::resolve`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Resolved<'a> {
    /// The addresses and why the stack ends.
    pub stack: &'a Stack,
    /// The location of each frame of the stack, the innermost first.
    pub locations: &'a [LocationId],
}

impl Resolver {
    /// Makes one for recordings of a machine, whose files are found by `finder`; functions have lines and inlined functions.
    ///
    /// # Errors
    ///
    /// The system cannot start the thread that looks names up.
    pub fn new(architecture: Architecture, finder: FileFinder) -> io::Result<Self> {
        let symbolizer = Symbolizer::new(finder.clone())?;
        Ok(Self::with_symbolizer(Unwinder::new(architecture, finder), symbolizer))
    }

    /// Makes one of its parts, such as a [`Symbolizer`] without lines.
    pub fn with_symbolizer(unwinder: Unwinder, symbolizer: Symbolizer) -> Self {
        Self {
            spaces: AddressSpaces::new(),
            unwinder,
            symbolizer,
            stack: Stack::new(),
            found: Vec::new(),
            locations: Locations::new(),
            last_stacks: Default::default(),
            by_address: Addresses::default(),
            by_place: FxHashMap::default(),
            objects: FxHashMap::default(),
            unnamed: Default::default(),
            requested: VecDeque::new(),
            answered: 0,
            has_monotonic_time: false,
            max_batches: MAX_BATCHES,
        }
    }

    /// Says that the times of samples are of `CLOCK_MONOTONIC`, which jitdump files have: code that a runtime wrote is named
    /// as it was when a sample met it first.
    #[must_use]
    pub fn with_monotonic_time(mut self, is_monotonic: bool) -> Self {
        self.has_monotonic_time = is_monotonic;
        self
    }

    /// Never waits for names while samples are resolved: for a reader of rings, which overflow meanwhile. Otherwise it waits
    /// once 16384 locations have no name yet, because each keeps a part of the mappings.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.max_batches = usize::MAX;
        self
    }

    /// Keeps less of files, for a program that runs for as long as what it observes: the symbols of 32 files, 192 MiB with the
    /// names, and 64 MiB of unwind information. Recordings are read faster without it.
    ///
    /// Other limits are those of [`Symbolizer`] and [`Unwinder`] for [`with_symbolizer`](Self::with_symbolizer).
    #[must_use]
    pub fn with_small_caches(mut self) -> Self {
        self.symbolizer = self.symbolizer.with_max_files(32).with_max_bytes(192 << 20);
        self.unwinder = self.unwinder.with_max_bytes(64 << 20);
        self
    }

    /// Returns the address spaces up to now.
    pub fn spaces(&self) -> &AddressSpaces {
        &self.spaces
    }

    /// Returns the address spaces, to add the build ids of a file.
    pub fn spaces_mut(&mut self) -> &mut AddressSpaces {
        &mut self.spaces
    }

    /// Returns the source of the names, for its counts.
    pub fn symbolizer(&self) -> &Symbolizer {
        &self.symbolizer
    }

    /// Returns the unwinder, for why unwind information is missing.
    pub fn unwinder_mut(&mut self) -> &mut Unwinder {
        &mut self.unwinder
    }

    /// Returns the locations of all samples up to now. Those since the last [`name`](Self::name) have no functions.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// Returns the locations, to add strings.
    pub fn locations_mut(&mut self) -> &mut Locations {
        &mut self.locations
    }

    /// Returns the locations up to now, and the names that were asked for. Those that follow are in new tables.
    pub(super) fn take(&mut self) -> (Locations, Requested) {
        self.request();
        self.last_stacks = Default::default();
        self.by_address = Addresses::default();
        self.by_place.clear();
        self.objects.clear();
        self.answered += self.requested.len() as u64;
        (std::mem::take(&mut self.locations), std::mem::take(&mut self.requested))
    }

    /// Applies one record. Pass all records, in the order of time.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        self.spaces.update(record);
    }

    /// Returns the frames of a sample, after [`update`](Self::update) had the records before it.
    pub fn resolve<L: Layout>(&mut self, sample: &Sample<'_, L>) -> Resolved<'_> {
        let mut stack = std::mem::take(&mut self.stack);
        self.unwinder.unwind(&self.spaces, sample, &mut stack);
        let pid = sample.pid().unwrap_or(0);
        self.locate_as(sample.tid().unwrap_or(pid), pid, sample.time(), &stack);
        self.stack = stack;
        Resolved { stack: &self.stack, locations: &self.found }
    }

    /// Returns the locations of a stack of a process: for one that was completed by a later record.
    pub fn locate(&mut self, pid: u32, time: Option<u64>, stack: &Stack) -> &[LocationId] {
        self.locate_as(pid, pid, time, stack)
    }

    /// Returns the locations of a stack, and keeps it as the last one of a thread.
    fn locate_as(&mut self, tid: u32, pid: u32, time: Option<u64>, stack: &Stack) -> &[LocationId] {
        let user =
            self.spaces.mappings_version(pid).map(|version| self.by_address.id(Version::User(version)));
        let kernel = Some(self.by_address.id(Version::Kernel(self.spaces.kernel_version())));
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let last = self.last_stacks.get_mut(tid as usize % LAST_STACKS);
        let mut last = last.map(std::mem::take).unwrap_or_default();
        // The outermost frames are those of the last stack, up to the first that differs.
        let mut is_same = true;
        for (index, frame) in stack.frames().iter().rev().enumerate() {
            let version = match frame.mode {
                CpuMode::USER => user,
                CpuMode::KERNEL => kernel,
                _ => None,
            };
            let key = version.map(|version| (version, frame.lookup_address()));
            if is_same {
                if let Some(&(_, location)) = last.get(index).filter(|(last, _)| Some(*last) == key) {
                    found.push(location);
                    continue;
                }
                last.truncate(index);
                is_same = false;
            }
            let location = self.find_at(key, pid, time, frame);
            // Without a key, the frames after it are looked up again.
            if let Some(key) = key.filter(|_| last.len() == index) {
                last.push((key, location));
            }
            found.push(location);
        }
        found.reverse();
        last.truncate(found.len());
        if let Some(place) = self.last_stacks.get_mut(tid as usize % LAST_STACKS) {
            *place = last;
        }
        self.found = found;
        &self.found
    }

    /// Returns the location of a frame, which is looked up if its address is new.
    fn find_at(&mut self, key: Option<Key>, pid: u32, time: Option<u64>, frame: &StackFrame) -> LocationId {
        if let Some(location) = key.and_then(|key| self.by_address.get(key)) {
            return location;
        }
        let location = self.find(pid, time, frame);
        if let Some(key) = key {
            self.by_address.add(key, location);
        }
        location
    }

    /// Names the locations that have no name yet.
    pub fn name(&mut self) {
        self.request();
        while self.take_names() {}
    }

    /// Asks for the names of new locations. Returns the number of requests up to now, and that of all locations, which have
    /// names when these were [waited for](Self::wait_for).
    pub(super) fn request(&mut self) -> (u64, usize) {
        let (ids, queries) = std::mem::take(&mut self.unnamed);
        self.requested.push_back((ids, self.symbolizer.request(queries)));
        (self.answered + self.requested.len() as u64, self.locations.as_slice().len())
    }

    /// Waits for the answers of the first requests.
    pub(super) fn wait_for(&mut self, requests: u64) {
        while self.answered < requests && self.take_names() {}
    }

    /// Waits for the names that were asked for first. Returns whether there were such.
    fn take_names(&mut self) -> bool {
        let Some((ids, request)) = self.requested.pop_front() else { return false };
        self.answered += 1;
        for (id, symbols) in ids.into_iter().zip(request.wait()) {
            self.locations.set_symbols(id, &symbols);
        }
        true
    }

    /// Returns the location of a frame by what is mapped there.
    fn find(&mut self, pid: u32, time: Option<u64>, frame: &StackFrame) -> LocationId {
        let addr = frame.lookup_address();
        let place = match self.spaces.find(pid, frame.mode, addr) {
            Ok(perf_symbols::Location::User(mapping)) => {
                let mapping = mapping.clone();
                // Memory without a file has other code in each process.
                let is_file = matches!(mapping.object().kind(), ObjectKind::File | ObjectKind::Vdso);
                let object = self.user_object(&mapping, (!is_file).then_some(pid));
                let offset = if has_offsets(&mapping) { mapping.offset_of(addr) } else { addr };
                (Place::File(object), offset)
            }
            Ok(kernel) => {
                let mut range = 0..u64::MAX;
                let mut object = MappedObject::new(kernel.path());
                match kernel {
                    perf_symbols::Location::KernelSymbol(symbol) => range = symbol.start()..symbol.end(),
                    perf_symbols::Location::Kernel(Some(mapping))
                    | perf_symbols::Location::GuestKernel(Some(mapping)) => {
                        range = mapping.start()..mapping.end();
                        if let Some(id) = self.spaces.build_id(mapping.object()) {
                            object = object.with_build_id(id);
                        }
                    }
                    _ => {}
                }
                (Place::Kernel(self.kernel_object(object, range)), addr)
            }
            Err(reason) => (Place::Nowhere(reason), addr),
        };
        if let Some(&location) = self.by_place.get(&place) {
            return location;
        }
        let location = self.add(place);
        self.by_place.insert(place, location);
        let mut query = Query::new(&self.spaces, pid, frame);
        if let Some(time) = time.filter(|_| self.has_monotonic_time) {
            query = query.with_monotonic_time(time);
        }
        self.unnamed.0.push(location);
        self.unnamed.1.push(query);
        if self.unnamed.0.len() >= BATCH {
            self.request();
            if self.requested.len() > self.max_batches {
                self.take_names();
            }
        }
        location
    }

    fn add(&mut self, (place, addr): (Place, u64)) -> LocationId {
        match place {
            Place::File(id) => {
                let object = self.locations.object(id);
                let base = object.map_or(0, |object| object.range.start.wrapping_sub(object.file_offset));
                self.locations.add(Some(id), base.wrapping_add(addr))
            }
            Place::Kernel(id) => self.locations.add(Some(id), addr),
            Place::Nowhere(_) => self.locations.add(None, addr),
        }
    }

    fn user_object(&mut self, mapping: &Mapping, pid: Option<u32>) -> ObjectId {
        let key = (mapping.object().clone(), pid);
        if let Some(&id) = self.objects.get(&key) {
            return id;
        }
        let path = self.locations.intern(&String::from_utf8_lossy(mapping.object().path()));
        let mut object = Object::new(path);
        object.build_id = self.spaces.build_id(mapping.object());
        object.range = mapping.start()..mapping.end();
        object.file_offset =
            if has_offsets(mapping) { mapping.offset_of(mapping.start()) } else { mapping.start() };
        let id = self.locations.add_object(object);
        self.objects.insert(key, id);
        id
    }

    fn kernel_object(&mut self, mapped: MappedObject, range: Range<u64>) -> ObjectId {
        let key = (mapped, None);
        if let Some(&id) = self.objects.get(&key) {
            return id;
        }
        let mut object = Object::new(self.locations.intern(&String::from_utf8_lossy(key.0.path())));
        object.is_kernel = true;
        object.build_id = self.spaces.build_id(&key.0);
        object.range = range;
        let id = self.locations.add_object(object);
        self.objects.insert(key, id);
        id
    }
}

/// Returns whether a mapping has an offset in its object. `/proc/PID/maps` gives 0 for all memory without a file, so that two
/// mappings of one process would be the same code.
fn has_offsets(mapping: &Mapping) -> bool {
    matches!(mapping.object().kind(), ObjectKind::File | ObjectKind::Vdso | ObjectKind::Memfd)
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("spaces", &self.spaces.counts()).finish_non_exhaustive()
    }
}
