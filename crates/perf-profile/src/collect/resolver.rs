//! Resolves samples to locations, whose names are looked up later in batches.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher as _;
use std::io;
use std::ops::Range;

use perf_abi::CpuMode;
use perf_abi::regs::Architecture;
use perf_decode::{Layout, Record, Sample};
use perf_symbols::{
    AddressSpaces, FileFinder, MappedObject, Mapping, NameRequest, ObjectKind, Query, Stack, StackEnd,
    StackFrame, Symbolizer, Unlocated, Unwinder,
};
use rustc_hash::{FxHashMap, FxHasher};

use super::pending::PendingNames;
use super::runtime_code::RuntimeCode;
use crate::profile::{LocationId, Locations, Object, ObjectId};

/// Finds the location of each frame of samples, from the records of mappings, unwinding, and the
/// files.
///
/// An address that many samples share is looked up once. Names are looked up in batches in the
/// background, and are complete after [`name`](Self::name).
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
///             None => println!("{:#x} in {}", locations.get(location).address, locations.object_path(location)),
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
    /// Small cache of recent processes and their versions, cleared when a record may change them.
    last_versions: [Option<LastVersions>; LAST_VERSIONS],
    by_address: Addresses,
    by_place: FxHashMap<(Place, u64), LocationId>,
    /// Replaces `by_place` for JIT-compiled code, which changes.
    runtime_code: RuntimeCode,
    /// Number of addresses that had several functions in turn. The latest function names them.
    reused: u64,
    objects: FxHashMap<(MappedObject, Option<u32>), ObjectId>,
    unnamed: (Vec<LocationId>, Vec<Query>),
    requested: Requested,
    /// Number of requests that were answered.
    answered: u64,
    has_monotonic_time: bool,
    keeps_unmapped: bool,
    /// Whether the caller of the innermost function is missing, by its location; `None` if this is
    /// not requested.
    lacks_caller: Option<FxHashMap<LocationId, bool>>,
    /// True if it waits for names when too many locations are unnamed.
    waits: bool,
    /// True if a resolver that does not wait leaves all names to the owner of its locations.
    has_stopped: bool,
}

/// Locations with their requested names.
pub(crate) type Requested = VecDeque<(Vec<LocationId>, NameRequest)>;

/// Equal versions have the same mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Version {
    /// The version of a process, `None` if it is unknown, and of the code that it wrote.
    User(Option<u64>, u64),
    Kernel(u64),
}

/// The locations of addresses, valid while no mapping changes.
#[derive(Default)]
struct Addresses {
    ids: FxHashMap<Version, VersionId>,
    /// Id of the next version. Ids are never reused, because stacks may refer to evicted ones.
    next_id: u32,
    locations: FxHashMap<(VersionId, u64), LocationId>,
    /// Direct-mapped cache of recent lookups, indexed by address hash; one load instead of several
    /// hash probes.
    last: Vec<Known>,
}

#[derive(Clone, Copy)]
struct Known {
    address: u64,
    version: VersionId,
    location: LocationId,
}

/// Index of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct VersionId(u32);

/// The versions of the addresses of a process and the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Versions {
    pub(super) user: VersionId,
    pub(super) kernel: VersionId,
}

/// The versions of a process.
#[derive(Clone, Copy, Debug)]
struct LastVersions {
    pid: u32,
    versions: Versions,
    /// Time in ns of the next change of the process's code.
    until: u64,
}

/// A place that gives an address its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// The address is the offset in the file.
    File(ObjectId),
    Kernel(ObjectId),
    Nowhere(Unlocated),
}

/// Maximum number of addresses to cache. When it is exceeded, addresses are found again by their
/// places.
const MAX_ADDRESSES: usize = 1 << 20;

/// Maximum number of version ids to keep, more than the number of living processes on most
/// machines. When it is exceeded, versions get new ids, and their addresses are found again by
/// their places.
const MAX_VERSIONS: usize = if cfg!(test) { 4 } else { 1 << 16 };

/// More than the number of running processes on most machines.
const LAST_VERSIONS: usize = 16;

/// Slots in the cache of recent lookups: 256 KiB.
const LAST_ADDRESSES: usize = 1 << 14;

impl Addresses {
    fn id(&mut self, version: Version) -> VersionId {
        if let Some(&id) = self.ids.get(&version) {
            return id;
        }
        if self.ids.len() >= MAX_VERSIONS {
            self.ids.clear();
        }
        let id = VersionId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        self.ids.insert(version, id);
        id
    }

    /// Returns the location of a recently found address.
    #[inline]
    fn last(&self, version: VersionId, address: u64) -> Option<LocationId> {
        let known = self.last.get(Self::place(version, address))?;
        ((known.address, known.version) == (address, version)).then_some(known.location)
    }

    fn find(&mut self, version: VersionId, address: u64) -> Option<LocationId> {
        let location = *self.locations.get(&(version, address))?;
        if let Some(last) = self.last.get_mut(Self::place(version, address)) {
            *last = Known { address, version, location };
        }
        Some(location)
    }

    fn add(&mut self, version: VersionId, address: u64, location: LocationId) {
        if self.locations.len() >= MAX_ADDRESSES {
            self.locations = FxHashMap::default();
        }
        self.locations.insert((version, address), location);
        if self.last.is_empty() {
            self.last = vec![Known { address, version, location }; LAST_ADDRESSES];
        }
    }

    #[inline]
    fn place(version: VersionId, address: u64) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write_u64(address ^ u64::from(version.0) << 48);
        hasher.finish() as usize % LAST_ADDRESSES
    }
}

/// Number of locations to name at once. Large, because addresses of one file are looked up
/// together; small enough that names are looked up on one CPU while another reads records.
const BATCH: usize = 256;

/// Maximum number of pending batches, because each query holds a part of the mappings.
const MAX_BATCHES: usize = 64;

/// Maximum number of pending addresses if the resolver does not wait. Others are requested later,
/// in a better order.
const MAX_QUEUED: usize = if cfg!(test) { 512 } else { 4096 };

/// The frames of a sample: returned by [`Resolver::resolve`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Resolved<'a> {
    /// The addresses, and why the stack ends.
    pub stack: &'a Stack,
    /// The location of each frame, innermost first.
    pub locations: &'a [LocationId],
    /// Number of outermost addresses of the callchain that are not frames: see
    /// [`Stack::leave_out_unmapped`].
    pub left_out: usize,
}

impl Resolver {
    /// Creates a resolver for recordings of a machine. `finder` locates the files; functions have
    /// lines and inlined functions.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start the thread that looks up names.
    pub fn new(architecture: Architecture, finder: FileFinder) -> io::Result<Self> {
        let symbolizer = Symbolizer::new(finder.clone())?;
        Ok(Self::with_symbolizer(Unwinder::new(architecture, finder), symbolizer))
    }

    /// Creates a resolver like [`new`](Self::new), but without lines and inlined functions, which
    /// takes less time and memory.
    ///
    /// # Errors
    ///
    /// Returns the error of the system if it cannot start the thread that looks up names.
    pub fn without_lines(architecture: Architecture, finder: FileFinder) -> io::Result<Self> {
        let symbolizer = Symbolizer::without_lines(finder.clone())?;
        Ok(Self::with_symbolizer(Unwinder::new(architecture, finder), symbolizer))
    }

    /// Creates a resolver from its parts.
    pub fn with_symbolizer(unwinder: Unwinder, symbolizer: Symbolizer) -> Self {
        Self {
            spaces: AddressSpaces::new(),
            unwinder,
            symbolizer,
            stack: Stack::new(),
            found: Vec::new(),
            locations: Locations::new(),
            last_versions: Default::default(),
            by_address: Addresses::default(),
            by_place: FxHashMap::default(),
            runtime_code: RuntimeCode::default(),
            reused: 0,
            objects: FxHashMap::default(),
            unnamed: Default::default(),
            requested: VecDeque::new(),
            answered: 0,
            has_monotonic_time: false,
            keeps_unmapped: false,
            lacks_caller: None,
            waits: true,
            has_stopped: false,
        }
    }

    /// Declares that the times of samples are `CLOCK_MONOTONIC`, as in jitdump files. JIT-compiled
    /// code then has its name at the time of the sample.
    ///
    /// Otherwise, and for a jitdump with other times, the last function at an address is used, and
    /// [`reused_addresses`](Self::reused_addresses) counts the addresses with several functions. A
    /// jitdump is read once, so that for a program that is still writing and a resolver that never
    /// [waits](Self::without_waiting), code has the name from when a sample first hit it.
    #[must_use]
    pub fn with_monotonic_time(mut self, is_monotonic: bool) -> Self {
        self.has_monotonic_time = is_monotonic;
        self
    }

    /// Keeps all addresses of callchains, even the outermost ones that are not in code, as the perf
    /// tool prints them. By default, they are [left out](Stack::leave_out_unmapped).
    #[must_use]
    pub fn with_unmapped_frames(mut self) -> Self {
        self.keeps_unmapped = true;
        self
    }

    /// Detects callchains that lack the caller of the innermost function because this function has
    /// no frame pointer: see [`Unwinder::has_frame_pointer`]. A [`Collector`](super::Collector)
    /// counts them as incomplete stacks.
    ///
    /// This reads the unwind information of the files, which is too slow for a program that reads
    /// rings.
    #[must_use]
    pub fn with_missing_callers(mut self) -> Self {
        self.lacks_caller = Some(FxHashMap::default());
        self
    }

    /// Never waits for names while samples are resolved. For readers of rings, which would overflow
    /// meanwhile. Otherwise it waits when 16384 locations are unnamed, because each holds a part of
    /// the mappings.
    ///
    /// It requests names while few lookups are pending, and leaves the others to the
    /// [`PendingProfile`](crate::PendingProfile), which requests all of them when it is waited for,
    /// or to a [`LiveProfile`](crate::LiveProfile), which requests the names of its largest values
    /// first.
    #[must_use]
    pub fn without_waiting(mut self) -> Self {
        self.waits = false;
        self
    }

    /// Caches less, for a program that runs as long as the system it observes: the symbols of 32
    /// files, 192 MiB including names, lines from files with at most 128 MiB of debug information,
    /// and 64 MiB of unwind information. Recordings are read faster without it.
    ///
    /// Configure a [`Symbolizer`] and an [`Unwinder`] for other limits, and pass them to
    /// [`with_symbolizer`](Self::with_symbolizer).
    #[must_use]
    pub fn with_small_caches(mut self) -> Self {
        self.symbolizer =
            self.symbolizer.with_max_files(32).with_max_bytes(192 << 20).with_max_file_bytes(128 << 20);
        self.unwinder = self.unwinder.with_max_bytes(64 << 20);
        self
    }

    /// Returns the current address spaces.
    pub fn spaces(&self) -> &AddressSpaces {
        &self.spaces
    }

    /// Returns the address spaces, for adding the build ids of a file.
    pub fn spaces_mut(&mut self) -> &mut AddressSpaces {
        self.last_versions = Default::default();
        &mut self.spaces
    }

    /// Returns the symbolizer, for its counts.
    pub fn symbolizer(&self) -> &Symbolizer {
        &self.symbolizer
    }

    /// Returns the unwinder, for its limits and the reasons of missing unwind information.
    pub fn unwinder_mut(&mut self) -> &mut Unwinder {
        &mut self.unwinder
    }

    /// Returns the number of addresses that had several functions in turn, and were named by the
    /// last one, because the samples' times do not match the jitdump's.
    pub fn reused_addresses(&self) -> u64 {
        self.reused
    }

    /// Returns the locations of all samples so far. New ones since the last [`name`](Self::name)
    /// have no functions.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// Returns the locations, for adding strings.
    pub fn locations_mut(&mut self) -> &mut Locations {
        &mut self.locations
    }

    /// Stops requesting names while samples are resolved, unless it waits for them.
    pub(super) fn stop_naming(&mut self) {
        self.has_stopped = true;
    }

    /// Returns the current locations with their names, some of which are pending. Later locations
    /// go to new tables.
    pub(super) fn take(&mut self) -> (Locations, PendingNames) {
        self.reused = 0;
        if self.waits {
            self.request();
        }
        self.last_versions = Default::default();
        self.by_address = Addresses::default();
        self.by_place.clear();
        self.runtime_code.clear();
        self.objects.clear();
        self.lacks_caller.iter_mut().for_each(FxHashMap::clear);
        self.answered += self.requested.len() as u64;
        let (ids, queries) = std::mem::take(&mut self.unnamed);
        let names = PendingNames {
            requested: std::mem::take(&mut self.requested),
            unasked: ids.into_iter().zip(queries).collect(),
            symbolizer: self.symbolizer.clone(),
        };
        (std::mem::take(&mut self.locations), names)
    }

    /// Applies a record. Pass all records in time order.
    pub fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        if !matches!(record, Record::Sample(_)) {
            self.last_versions = Default::default();
        }
        self.spaces.update(record);
    }

    /// Returns the frames of a sample. Call [`update`](Self::update) with the records before it
    /// first.
    pub fn resolve<L: Layout>(&mut self, sample: &Sample<'_, L>) -> Resolved<'_> {
        let mut stack = std::mem::take(&mut self.stack);
        self.unwinder.unwind(&self.spaces, sample, &mut stack);
        let pid = sample.pid().unwrap_or(0);
        let left_out = self.leave_out_unmapped(pid, &mut stack);
        self.locate(pid, sample.time(), &stack);
        self.stack = stack;
        Resolved { stack: &self.stack, locations: &self.found, left_out }
    }

    /// Returns the locations of a stack of a process, for a stack that a later record completed.
    pub fn locate(&mut self, pid: u32, time: Option<u64>, stack: &Stack) -> &[LocationId] {
        let versions = self.versions(pid, time);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        for frame in stack.frames().iter().rev() {
            found.push(match frame.mode {
                CpuMode::USER => self.locate_frame(versions.user, pid, time, frame),
                CpuMode::KERNEL => self.locate_frame(versions.kernel, pid, time, frame),
                _ => self.find(pid, time, frame),
            });
        }
        found.reverse();
        self.found = found;
        &self.found
    }

    /// Returns the versions of a process's addresses at a time, which must not precede the last
    /// one.
    #[inline]
    pub(super) fn versions(&mut self, pid: u32, time: Option<u64>) -> Versions {
        match self.last_versions.get(pid as usize % LAST_VERSIONS) {
            Some(&Some(last)) if last.pid == pid && time.unwrap_or(0) < last.until => last.versions,
            _ => self.find_versions(pid, time),
        }
    }

    fn find_versions(&mut self, pid: u32, time: Option<u64>) -> Versions {
        let code = if self.has_monotonic_time && self.waits {
            self.runtime_code.at(&self.spaces, &self.symbolizer, pid, time)
        } else {
            RuntimeCode::NONE
        };
        let user = self.by_address.id(Version::User(self.spaces.mappings_version(pid), code.version));
        let kernel = self.by_address.id(Version::Kernel(self.spaces.kernel_version()));
        let versions = Versions { user, kernel };
        if let Some(last) = self.last_versions.get_mut(pid as usize % LAST_VERSIONS) {
            *last = Some(LastVersions { pid, versions, until: code.until });
        }
        versions
    }

    /// Returns the location of a frame in user space or the kernel. A new address is looked up.
    #[inline]
    pub(super) fn locate_frame(
        &mut self,
        version: VersionId,
        pid: u32,
        time: Option<u64>,
        frame: &StackFrame,
    ) -> LocationId {
        match self.by_address.last(version, frame.lookup_address()) {
            Some(location) => location,
            None => self.find_at(version, pid, time, frame),
        }
    }

    #[inline(never)]
    fn find_at(&mut self, version: VersionId, pid: u32, time: Option<u64>, frame: &StackFrame) -> LocationId {
        let address = frame.lookup_address();
        if let Some(location) = self.by_address.find(version, address) {
            return location;
        }
        let location = self.find(pid, time, frame);
        self.by_address.add(version, address, location);
        location
    }

    /// Returns the number of user addresses of a callchain that are frames, and its end:
    /// [`StackEnd::of_user_callchain`]. `addresses` is the total number of addresses that the
    /// kernel wrote, and `known` the number of outermost ones that are known to be code.
    #[inline]
    pub(super) fn end_of_user_callchain(
        &self,
        pid: u32,
        written: usize,
        user: &[u64],
        version: VersionId,
        known: usize,
    ) -> (usize, StackEnd) {
        let unknown = user.len().saturating_sub(known);
        self.stack.end_of_callchain(written).of_user_callchain(user, |index, addr| {
            index >= unknown || self.is_code(version, addr) || self.spaces.may_be_code(pid, addr)
        })
    }

    /// Returns true if an address was found in an object before.
    #[inline]
    fn is_code(&self, version: VersionId, addr: u64) -> bool {
        let location = self.by_address.last(version, addr);
        location.is_some_and(|location| self.locations.get(location).object.is_some())
    }

    /// Sets the maximum number of addresses in callchains of the following samples.
    pub(super) fn set_max_stack(&mut self, addresses: u16) {
        self.stack.set_max_stack(addresses);
    }

    /// Removes the outermost addresses of a callchain that are not frames, and returns their
    /// number.
    pub(super) fn leave_out_unmapped(&self, pid: u32, stack: &mut Stack) -> usize {
        if self.keeps_unmapped { 0 } else { stack.leave_out_unmapped(&self.spaces, pid) }
    }

    /// Returns true if a callchain lacks the caller of its innermost function, if that is
    /// [checked](Self::with_missing_callers).
    pub(super) fn lacks_caller(&mut self, pid: u32, address: u64, location: LocationId) -> bool {
        let Some(lacks_caller) = &mut self.lacks_caller else { return false };
        *lacks_caller
            .entry(location)
            .or_insert_with(|| self.unwinder.has_frame_pointer(&self.spaces, pid, address) == Some(false))
    }

    /// Names all unnamed locations.
    pub fn name(&mut self) {
        self.request();
        while self.take_names() {}
    }

    /// Requests the names of new locations. Returns the total numbers of requests and of locations,
    /// which have names after [`wait_for`](Self::wait_for) with the former.
    pub(super) fn request(&mut self) -> (u64, usize) {
        let (ids, queries) = std::mem::take(&mut self.unnamed);
        self.requested.push_back((ids, self.symbolizer.request(queries)));
        (self.answered + self.requested.len() as u64, self.locations.as_slice().len())
    }

    /// Requests the names of the last batch. Taking the end of the list is cheaper, and any
    /// location is as good as another.
    fn request_newest(&mut self) {
        let (ids, queries) = &mut self.unnamed;
        let start = ids.len().saturating_sub(BATCH);
        let (ids, queries) = (ids.split_off(start), queries.split_off(start));
        self.requested.push_back((ids, self.symbolizer.request(queries)));
    }

    /// Waits for the answers of the first requests.
    pub(super) fn wait_for(&mut self, requests: u64) {
        while self.answered < requests && self.take_names() {}
    }

    /// Waits for the oldest pending names. Returns false if none are pending.
    fn take_names(&mut self) -> bool {
        let Some((ids, request)) = self.requested.pop_front() else { return false };
        self.answered += 1;
        for (id, symbols) in ids.into_iter().zip(request.wait()) {
            self.locations.set_symbols(id, &symbols);
        }
        true
    }

    /// Returns the location of a frame, by the mapping at its address.
    fn find(&mut self, pid: u32, time: Option<u64>, frame: &StackFrame) -> LocationId {
        let addr = frame.lookup_address();
        let mut written = None;
        let place = match self.spaces.find(pid, frame.mode, addr) {
            Ok(perf_symbols::Location::User(mapping)) => {
                let mapping = mapping.clone();
                // Memory without a file has different code in each process.
                let is_file = matches!(mapping.object().kind(), ObjectKind::File | ObjectKind::Vdso);
                let object = self.user_object(&mapping, (!is_file).then_some(pid));
                written = (!is_file && mapping.object().kind() != ObjectKind::Memfd).then_some(object);
                let offset = if has_offsets(&mapping) { mapping.offset_of(addr) } else { addr };
                (Place::File(object), offset)
            }
            Ok(kernel) => {
                let mut range = 0..u64::MAX;
                let mut object = MappedObject::new(kernel.path());
                match kernel {
                    perf_symbols::Location::KernelSymbol(symbol) => range = symbol.start..symbol.end,
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
        let known = written.and_then(|object| self.runtime_code.find(pid, object, addr));
        if let Some(location) = known.or_else(|| self.by_place.get(&place).copied()) {
            return location;
        }
        let location = self.add(place);
        let is_followed = self.has_monotonic_time
            && written.is_some_and(|object| self.runtime_code.add(pid, object, addr, location));
        if !is_followed {
            self.by_place.insert(place, location);
            if written.is_some() && self.waits {
                let is_reused = self.runtime_code.is_reused(&self.spaces, &self.symbolizer, pid, addr);
                self.reused += u64::from(is_reused);
            }
        }
        // A location is the looked-up address, whether a call returns after it or not.
        let looked_up = StackFrame { address: addr, is_return_address: false, ..*frame };
        let mut query = Query::new(&self.spaces, pid, &looked_up);
        if let Some(time) = time.filter(|_| self.has_monotonic_time) {
            query = query.with_monotonic_time(time);
        }
        self.unnamed.0.push(location);
        self.unnamed.1.push(query);
        if self.unnamed.0.len() >= BATCH {
            if self.waits {
                self.request();
                if self.requested.len() > MAX_BATCHES {
                    self.take_names();
                }
            } else if !self.has_stopped && self.symbolizer.queued() < MAX_QUEUED {
                self.request_newest();
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
        let is_memory =
            matches!(mapping.object().kind(), ObjectKind::Anonymous | ObjectKind::Heap | ObjectKind::Stack);
        object.written_by = pid.filter(|_| is_memory && mapping.is_executable());
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

/// Returns whether a mapping has an offset in its object. `/proc/PID/maps` gives 0 for all memory
/// without a file, so that two mappings of one process would be the same code.
fn has_offsets(mapping: &Mapping) -> bool {
    matches!(mapping.object().kind(), ObjectKind::File | ObjectKind::Vdso | ObjectKind::Memfd)
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("spaces", &self.spaces.counts()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, CallchainContext, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
    use perf_decode::{RawRecord, SampleLayout};

    use super::*;

    #[test]
    fn address_at_hand_is_that_of_the_same_mappings() {
        // Different versions have the same place: the lower 16 bits of their ids are a part of it.
        let [one, other] = [VersionId(1), VersionId(1 + (1 << 16))];
        assert_eq!(Addresses::place(one, 0x1000), Addresses::place(other, 0x1000));
        let mut addresses = Addresses::default();
        let [first, second] = [0, 1].map(LocationId::next);
        addresses.add(one, 0x1000, first);
        assert_eq!((addresses.find(one, 0x1000), addresses.last(one, 0x1000)), (Some(first), Some(first)));
        assert_eq!((addresses.last(other, 0x1000), addresses.find(other, 0x1000)), (None, None));
        addresses.add(other, 0x1000, second);
        assert_eq!(
            (addresses.find(other, 0x1000), addresses.last(other, 0x1000)),
            (Some(second), Some(second))
        );
        assert_eq!((addresses.last(one, 0x1000), addresses.find(one, 0x1000)), (None, Some(first)));
    }

    /// Returns the objects of a sample's frames, after the records before it.
    fn objects(resolver: &mut Resolver, attr: &Attr, records: &[Vec<u64>], sample: &[u64]) -> Vec<String> {
        let layout = SampleLayout::new(attr);
        let decode = |words| RawRecord::from_words(words).unwrap().decode(&layout).unwrap();
        for words in records {
            resolver.update(&decode(words));
        }
        let Record::Sample(sample) = decode(sample) else { panic!("a sample") };
        let locations = resolver.resolve(&sample).locations.to_vec();
        locations.into_iter().map(|id| resolver.locations().object_path(id).to_owned()).collect()
    }

    #[test]
    fn address_is_in_what_was_mapped_there_last() {
        const MODULE: u64 = 0xffff_ffff_c000_0000;
        let fields = SampleType::IP | SampleType::TID | SampleType::CALLCHAIN;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        let mut resolver = Resolver::new(Architecture::NATIVE, FileFinder::local()).unwrap();
        let map = |mode, pid, start, path: &[u8]| {
            let mmap = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode));
            mmap.pair(pid, pid).words(&[start, 0x1000, 0]).string(path).finish()
        };
        let [user, kernel] = [CallchainContext::USER.0, CallchainContext::KERNEL.0];
        let chain = [kernel, MODULE + 8, user, 0x1010];
        let sample = SampleBuilder::new(&attr).misc(Misc::empty().with_cpu_mode(CpuMode::KERNEL));
        let sample = sample.tid(7, 7).ip(MODULE + 8).callchain(&chain).finish();
        for (mode, pid, start, path, expected) in [
            (CpuMode::USER, 7, 0x1000, &b"/lib/a"[..], ["[kernel.kallsyms]", "/lib/a"]),
            (CpuMode::USER, 7, 0x1000, b"/lib/b", ["[kernel.kallsyms]", "/lib/b"]),
            (CpuMode::KERNEL, u32::MAX, MODULE, b"[one]", ["[one]", "/lib/b"]),
            (CpuMode::KERNEL, u32::MAX, MODULE, b"[two]", ["[two]", "/lib/b"]),
        ] {
            let records = [map(mode, pid, start, path)];
            assert_eq!(objects(&mut resolver, &attr, &records, &sample), expected);
            // Again, without a record.
            assert_eq!(objects(&mut resolver, &attr, &[], &sample), expected);
        }
    }

    #[test]
    fn ids_of_versions_are_limited_and_not_used_again() {
        let mut addresses = Addresses::default();
        let mut ids: Vec<u32> = Vec::new();
        for version in 0..3 * MAX_VERSIONS as u64 {
            let id = addresses.id(Version::User(Some(version), 0));
            assert_eq!(addresses.id(Version::User(Some(version), 0)), id);
            assert!(addresses.ids.len() <= MAX_VERSIONS);
            ids.push(id.0);
        }
        ids.push(addresses.id(Version::User(Some(0), 0)).0);
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    }
}
