//! The sum of profiles, with only those table entries that samples use.

use perf_symbols::{BuildId, MappedObject, ObjectKind, Query, Unnamed};
use rustc_hash::FxHashMap;

use crate::profile::{
    Frame, Function, FunctionId, Location, LocationId, Locations, Losses, Object, ObjectId, Profile,
    ProfileBuilder, Sample, StringId, Thread, ThreadId,
};

/// A profile that grows by the samples of others.
pub(super) struct Merge {
    builder: ProfileBuilder,
    by_thread_name: bool,
    locations: Locations,
    objects: FxHashMap<(StringId, Option<BuildId>, bool), ObjectId>,
    /// Locations by object and list of functions. An empty list means addresses without a name, by
    /// reason.
    by_frames: FxHashMap<Named, LocationId>,
    /// Locations whose names are pending, by place.
    by_place: FxHashMap<(Option<ObjectId>, Place), LocationId>,
}

/// An object, its functions, and the reason for a missing name.
type Named = (Option<ObjectId>, Box<[Frame]>, Option<Unnamed>);

/// The place of an address whose name is pending. Equal places get equal names.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Place {
    /// An offset in a file that is identified by its build id or inode.
    File(MappedObject, u64),
    Kernel(u64),
}

impl Place {
    /// Returns the place of a location; `None` for memory without a file, whose code at an address
    /// varies by process and time.
    fn new(location: &Location, query: &Query) -> Option<Self> {
        match query.object() {
            Some((object, offset)) => {
                let is_known = object.build_id.is_some() || object.inode.is_some();
                let is_file = object.kind() == ObjectKind::File && is_known;
                is_file.then(|| Self::File(object.clone(), offset))
            }
            None => location.is_kernel.then_some(Self::Kernel(location.address)),
        }
    }
}

/// Ids in the sum for the ids of a profile that were met so far.
struct Known {
    threads: Vec<Option<ThreadId>>,
    locations: Vec<Option<LocationId>>,
}

impl Merge {
    /// Creates an empty sum with the events of a profile.
    pub(super) fn new(events: &Profile, by_thread_name: bool) -> Self {
        let mut builder = ProfileBuilder::new();
        for event in events.events() {
            builder.event(event.clone());
        }
        Self {
            builder,
            by_thread_name,
            locations: Locations::new(),
            objects: FxHashMap::default(),
            by_frames: FxHashMap::default(),
            by_place: FxHashMap::default(),
        }
    }

    /// Adds each sample of a profile, as returned by `change`. The events must have the same ids.
    /// The names of some locations are pending. Returns the ids in the sum for the profile's
    /// locations.
    pub(super) fn add(
        &mut self,
        profile: &Profile,
        queries: &FxHashMap<LocationId, Option<&Query>>,
        change: impl Fn(&Sample) -> Option<Sample>,
    ) -> Vec<Option<LocationId>> {
        let mut known = Known {
            threads: vec![None; profile.threads().len()],
            locations: vec![None; profile.locations().as_slice().len()],
        };
        let mut stack = Vec::new();
        for sample in profile.samples().iter().filter_map(change) {
            let Some(thread) = self.thread(profile, &mut known, sample.thread) else { continue };
            stack.clear();
            for location in profile.stack(sample.stack) {
                stack.push(self.location(profile.locations(), queries, &mut known, location));
            }
            let stack = self.builder.stack(&stack);
            self.builder.add(Sample { thread, stack, ..sample });
        }
        known.locations
    }

    pub(super) fn finish(mut self, losses: Losses) -> Profile {
        self.builder.losses(losses);
        self.builder.finish(self.locations)
    }

    fn thread(&mut self, profile: &Profile, known: &mut Known, id: ThreadId) -> Option<ThreadId> {
        let known = known.threads.get_mut(id.index())?;
        if known.is_none() {
            let thread = profile.thread(id)?;
            let name = self.locations.intern(profile.locations().string(thread.name));
            let cgroup = profile.cgroup(id).map(|path| self.locations.intern(path));
            let (pid, tid) = if self.by_thread_name { (0, 0) } else { (thread.pid, thread.tid) };
            let merged = Thread { cpu: thread.cpu, time: thread.time, ..Thread::new(pid, tid, name) };
            *known = Some(self.builder.add_thread(merged.with_cgroup(cgroup)));
        }
        *known
    }

    fn location(
        &mut self,
        from: &Locations,
        queries: &FxHashMap<LocationId, Option<&Query>>,
        known: &mut Known,
        id: LocationId,
    ) -> LocationId {
        if let Some(Some(known)) = known.locations.get(id.index()) {
            return *known;
        }
        let location = from.get(id);
        let object = location.object.and_then(|id| from.object(id)).map(|object| self.object(from, object));
        let merged = match queries.get(&id) {
            Some(query) => {
                let locations = &mut self.locations;
                let mut add = || locations.add(object, location.address);
                match query.and_then(|query| Place::new(location, query)) {
                    Some(place) => *self.by_place.entry((object, place)).or_insert_with(add),
                    None => add(),
                }
            }
            None => self.named(from, id, object),
        };
        if let Some(known) = known.locations.get_mut(id.index()) {
            *known = Some(merged);
        }
        merged
    }

    /// Returns the location with the functions of another, or with its reason for no name.
    fn named(&mut self, from: &Locations, id: LocationId, object: Option<ObjectId>) -> LocationId {
        let location = from.get(id);
        let frames: Box<[Frame]> = from
            .frames(id)
            .iter()
            .map(|frame| Frame { function: self.function(from, frame.function), ..*frame })
            .collect();
        let locations = &mut self.locations;
        let key = (object, frames, location.unnamed);
        *self.by_frames.entry(key).or_insert_with_key(|(object, frames, reason)| {
            let merged = locations.add(*object, location.address);
            locations.set_frames(merged, frames.iter().copied());
            if let Some(reason) = reason {
                locations.set_unnamed(merged, *reason);
            }
            merged
        })
    }

    fn object(&mut self, from: &Locations, object: &Object) -> ObjectId {
        let path = self.locations.intern(from.string(object.path));
        let locations = &mut self.locations;
        *self
            .objects
            .entry((path, object.build_id, object.is_kernel))
            .or_insert_with(|| locations.add_object(Object { path, written_by: None, ..object.clone() }))
    }

    fn function(&mut self, from: &Locations, id: FunctionId) -> FunctionId {
        let function = from.function(id);
        let name = self.locations.intern(from.function_name(id));
        let file =
            function.and_then(|function| function.file).map(|file| self.locations.intern(from.string(file)));
        self.locations.add_function(Function { name, file })
    }
}
