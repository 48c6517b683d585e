//! The objects that a recording maps, and which of them its addresses hit.

use std::collections::{HashMap, HashSet};

use perf_abi::{CpuMode, regs::RegsAbi};
use perf_decode::{Layout, Record, Sample};

use super::key::FileKey;
use super::{AddressSpaces, BuildId, Location, MappedObject, Mapping};
use crate::stack::Stack;

/// A mapped object of a recording: returned by [`RecordedObjects::into_objects`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedObject {
    /// The process that used the object first, for `FileFinder::find`.
    pub pid: u32,
    /// A mapping of the object, for `FileFinder::find`.
    pub mapping: Mapping,
    /// The build id from the object's record or from [`AddressSpaces::add_build_id`].
    pub build_id: Option<BuildId>,
    /// True for the kernel and its modules.
    pub is_kernel: bool,
    /// Whether an address of a sample is or may be in the object: see [`RecordedObjects`].
    pub is_used: bool,
}

impl RecordedObject {
    /// Returns the path and identity of the object.
    pub fn object(&self) -> &MappedObject {
        self.mapping.object()
    }
}

/// Collects the objects of a recording: the files that another machine needs to name its addresses.
///
/// An object is used if a sample's instruction, callchain, branch or data address is in it. Samples
/// with registers and a copy of the stack are not unwound, because unwinding needs the files.
/// Instead, each value in the registers or the copy that is an address in executable memory counts,
/// which covers all frames and rarely more. In a recording with hardware traces (`AUX`), all
/// executable objects count.
///
/// Memory is linear in the number of objects. Build ids can be added to the address spaces at any
/// time.
///
/// ```
/// use perf_decode::{Layout, Record};
/// use perf_symbols::{AddressSpaces, RecordedObjects};
///
/// fn collect<L: Layout>(spaces: &mut AddressSpaces, objects: &mut RecordedObjects, record: &Record<'_, L>) {
///     spaces.update(record);
///     objects.update(spaces, record);
/// }
/// # use perf_abi::{Attr, CpuMode, Misc, RecordType, SampleType, Software};
/// # use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
/// # use perf_decode::{RawRecord, SampleLayout};
/// # let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::TID);
/// # let layout = SampleLayout::new(&attr);
/// # let user = Misc::empty().with_cpu_mode(CpuMode::USER);
/// # let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(7, 7).words(&[0x5000, 0x1000, 0x2000]);
/// # let mmap = mmap.string(b"/bin/true").finish();
/// # let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).ip(0x5010).finish();
/// let (mut spaces, mut objects) = (AddressSpaces::new(), RecordedObjects::new());
/// # for words in [&mmap, &sample] {
/// #     collect(&mut spaces, &mut objects, &RawRecord::from_words(words)?.decode(&layout)?);
/// # }
/// // After all records:
/// for object in objects.into_objects(&spaces).iter().filter(|object| object.is_used) {
///     println!("{} {:?}", String::from_utf8_lossy(object.object().path()), object.build_id);
/// #   assert_eq!(object.object().path(), b"/bin/true");
/// }
/// # Ok::<(), perf_decode::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct RecordedObjects {
    objects: Vec<RecordedObject>,
    /// Indices into `objects`.
    by_key: HashMap<FileKey, usize>,
    /// Mappings that are already marked as used, by the version of the process's mappings and the
    /// first address. A shortcut for most addresses. The kernel has version 0.
    marked: HashSet<(u64, u64)>,
    has_traces: bool,
    /// Kept to reuse its memory.
    stack: Stack,
}

/// Maximum size of `marked`. When it is exceeded, the shortcut starts over.
const MAX_MARKED: usize = 1 << 16;

impl RecordedObjects {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a record. Call [`AddressSpaces::update`] with it first.
    pub fn update<L: Layout>(&mut self, spaces: &AddressSpaces, record: &Record<'_, L>) {
        match record {
            Record::Mmap(mmap) => self.map(spaces, mmap.misc().cpu_mode(), mmap.pid(), mmap.addr()),
            Record::Mmap2(mmap) => self.map(spaces, mmap.misc().cpu_mode(), mmap.pid(), mmap.addr()),
            Record::Sample(sample) => self.use_sample(spaces, sample),
            Record::CallchainDeferred(user) => {
                let pid = record.sample_id().and_then(|id| id.pid());
                for &ip in user.ips().iter().take_while(|_| pid.is_some()) {
                    self.use_address(spaces, pid.unwrap_or_default(), CpuMode::USER, ip);
                }
            }
            Record::Aux(_) => self.has_traces = true,
            _ => {}
        }
    }

    /// Returns the objects ordered by name. Objects with equal build ids, or without build ids but
    /// with equal inodes, are merged. `spaces` provides build ids that were added later.
    pub fn into_objects(self, spaces: &AddressSpaces) -> Vec<RecordedObject> {
        let mut objects = Vec::<RecordedObject>::with_capacity(self.objects.len());
        let mut by_key = HashMap::new();
        for mut object in self.objects {
            object.build_id = spaces.build_id(object.object());
            object.is_used |= self.has_traces && object.mapping.is_executable();
            let key = FileKey::new(object.pid, &object.mapping, object.build_id);
            let index = *by_key.entry(key).or_insert(objects.len());
            match objects.get_mut(index) {
                // Prefer the name that samples hit, because it is the most likely to exist still.
                Some(known) if object.is_used && !known.is_used => *known = object,
                Some(_) => {}
                None => objects.push(object),
            }
        }
        let name = |object: &RecordedObject| {
            (object.object().path().to_vec(), object.build_id.map(|id| id.to_string()))
        };
        objects.sort_by_cached_key(name);
        objects
    }

    /// Adds the object of a record that was just mapped.
    fn map(&mut self, spaces: &AddressSpaces, mode: CpuMode, pid: u32, start: u64) {
        match spaces.find(pid, mode, start) {
            Ok(Location::User(mapping)) => {
                self.index_of(spaces, pid, mapping, false);
            }
            Ok(Location::Kernel(Some(mapping))) => {
                // Another module may have taken the address of a marked one.
                self.marked.clear();
                self.index_of(spaces, pid, mapping, true);
            }
            _ => {}
        }
    }

    fn use_sample<L: Layout>(&mut self, spaces: &AddressSpaces, sample: &Sample<'_, L>) {
        let Some(pid) = sample.pid() else { return };
        let mut stack = std::mem::take(&mut self.stack);
        stack.fill(sample);
        for frame in stack.frames() {
            self.use_address(spaces, pid, frame.mode, frame.lookup_address());
        }
        self.stack = stack;
        if let Some(ip) = sample.ip() {
            self.use_address(spaces, pid, sample.misc().cpu_mode(), ip);
        }
        for address in sample.addr().into_iter().filter(|addr| *addr != 0) {
            self.use_address(spaces, pid, mode_of(address), address);
        }
        for branch in sample.branches().iter().flat_map(|branches| branches.entries().iter()) {
            for address in [branch.from, branch.to] {
                self.use_address(spaces, pid, mode_of(address), address);
            }
        }
        self.use_stack_copy(spaces, pid, sample);
    }

    /// Marks the executable mappings that a register or a word of the stack copy points into.
    fn use_stack_copy<L: Layout>(&mut self, spaces: &AddressSpaces, pid: u32, sample: &Sample<'_, L>) {
        let (Some(registers), Some(copy)) = (sample.regs_user(), sample.stack_user()) else { return };
        // Skip objects that are already used, so that most copies need no scan.
        let is_new = |mapping: &&Mapping| {
            let key = FileKey::new(pid, mapping, spaces.build_id(mapping.object()));
            let index = self.by_key.get(&key);
            let is_used =
                index.and_then(|index| self.objects.get(*index)).is_some_and(|object| object.is_used);
            mapping.is_executable() && !is_used
        };
        let mut rest: Vec<Mapping> = spaces.mappings(pid).filter(is_new).cloned().collect();
        let word = |bytes: &[u8]| match (bytes.first_chunk(), bytes.first_chunk()) {
            (Some(long), _) => u64::from_ne_bytes(*long),
            (None, Some(short)) => u32::from_ne_bytes(*short).into(),
            (None, None) => 0,
        };
        let len = if registers.abi() == RegsAbi::ABI_32 { 4 } else { 8 };
        for value in registers.values().iter().copied().chain(copy.bytes().chunks_exact(len).map(word)) {
            if rest.is_empty() {
                return;
            }
            // The return address of a call that never returns can be the first address after the
            // mapping.
            let is_in = |mapping: &Mapping| (mapping.start()..=mapping.end()).contains(&value);
            if let Some(at) = rest.iter().position(is_in) {
                let mapping = rest.swap_remove(at);
                self.mark(spaces, pid, &mapping, false);
            }
        }
    }

    fn use_address(&mut self, spaces: &AddressSpaces, pid: u32, mode: CpuMode, address: u64) {
        match spaces.find(pid, mode, address) {
            Ok(Location::User(mapping)) => {
                let version = spaces.mappings_version(pid).unwrap_or(0);
                if self.is_first((version, mapping.start())) {
                    self.mark(spaces, pid, mapping, false);
                }
            }
            Ok(Location::Kernel(Some(mapping))) if self.is_first((0, mapping.start())) => {
                self.mark(spaces, pid, mapping, true);
                // The kernel's symbol list contains the symbols of its modules, too.
                if let Some(text) = spaces.kernel_text() {
                    self.mark(spaces, pid, text, true);
                }
            }
            _ => {}
        }
    }

    /// Returns true if a mapping is not yet in `marked`.
    fn is_first(&mut self, mapping: (u64, u64)) -> bool {
        if self.marked.len() >= MAX_MARKED {
            self.marked.clear();
        }
        self.marked.insert(mapping)
    }

    fn mark(&mut self, spaces: &AddressSpaces, pid: u32, mapping: &Mapping, is_kernel: bool) {
        let index = self.index_of(spaces, pid, mapping, is_kernel);
        if let Some(object) = self.objects.get_mut(index).filter(|object| !object.is_used) {
            (object.pid, object.mapping, object.is_used) = (pid, mapping.clone(), true);
        }
    }

    /// Returns the index of an object, adding it if necessary.
    fn index_of(&mut self, spaces: &AddressSpaces, pid: u32, mapping: &Mapping, is_kernel: bool) -> usize {
        let build_id = spaces.build_id(mapping.object());
        let key = FileKey::new(pid, mapping, build_id);
        *self.by_key.entry(key).or_insert_with(|| {
            self.objects.push(RecordedObject {
                pid,
                mapping: mapping.clone(),
                build_id,
                is_kernel,
                is_used: false,
            });
            self.objects.len() - 1
        })
    }
}

/// Guesses the mode of an address without one: on architectures that sample branches, the kernel is
/// in the upper half.
fn mode_of(address: u64) -> CpuMode {
    if address >> 63 == 0 { CpuMode::USER } else { CpuMode::KERNEL }
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};
    use perf_decode::{RawRecord, SampleLayout};

    use super::*;

    const KERNEL: u64 = 0xffff_ffff_8100_0000;

    /// The spaces and objects after records of events with these fields.
    struct Recording {
        attr: Attr,
        spaces: AddressSpaces,
        objects: RecordedObjects,
    }

    impl Recording {
        fn new(fields: SampleType) -> Self {
            let fields = fields | SampleType::IP | SampleType::TID;
            let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
            let attr = attr.with_flags(AttrFlags::SAMPLE_ID_ALL).with_regs_user(0b11);
            let mut recording = Self { attr, spaces: AddressSpaces::new(), objects: RecordedObjects::new() };
            recording.map(CpuMode::KERNEL, u32::MAX, KERNEL, "[kernel.kallsyms]_text");
            recording.map(CpuMode::KERNEL, u32::MAX, KERNEL + 0x10000, "[veth]");
            for (start, path) in [(0x1000, "/bin/a"), (0x3000, "/lib/b"), (0x5000, "/lib/c")] {
                recording.map(CpuMode::USER, 7, start, path);
            }
            recording
        }

        fn add(&mut self, words: &[u64]) {
            let layout = SampleLayout::new(&self.attr);
            let raw = RawRecord::from_words(words).expect("a framed record");
            let record = raw.decode(&layout).expect("a valid record");
            self.spaces.update(&record);
            self.objects.update(&self.spaces, &record);
        }

        fn map(&mut self, mode: CpuMode, pid: u32, start: u64, path: &str) {
            let builder = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode));
            let builder = builder.pair(pid, pid).words(&[start, 0x1000, 0]).string(path.as_bytes());
            let values = SampleIdValues::default();
            self.add(&builder.with_trailer(&self.attr, &values).finish());
        }

        fn sample(&mut self, mode: CpuMode, ip: u64, more: impl FnOnce(SampleBuilder) -> SampleBuilder) {
            let builder = SampleBuilder::new(&self.attr).misc(Misc::empty().with_cpu_mode(mode));
            self.add(&more(builder.tid(7, 7).ip(ip)).finish());
        }

        fn used(self) -> Vec<String> {
            let objects = self.objects.into_objects(&self.spaces);
            let name = |object: RecordedObject| String::from_utf8_lossy(object.object().path()).into_owned();
            objects.into_iter().filter(|object| object.is_used).map(name).collect()
        }
    }

    #[test]
    fn objects_of_samples_and_callchains_are_used() {
        let mut recording = Recording::new(SampleType::CALLCHAIN);
        let (kernel, user) = (perf_abi::CallchainContext::KERNEL.0, perf_abi::CallchainContext::USER.0);
        // The return address of the last call in /lib/b is the first address after it.
        let chain = [kernel, KERNEL + 0x10010, user, 0x1010, 0x4000];
        recording.sample(CpuMode::KERNEL, KERNEL + 0x10010, |sample| sample.callchain(&chain));
        assert_eq!(recording.used(), ["/bin/a", "/lib/b", "[kernel.kallsyms]_text", "[veth]"]);
    }

    #[test]
    fn sample_without_a_known_address_uses_no_object() {
        let mut recording = Recording::new(SampleType::ADDR);
        recording.sample(CpuMode::USER, 0x9000, |sample| sample.addr(0));
        recording.sample(CpuMode::HYPERVISOR, 0x1000, |sample| sample.addr(0x9000));
        let objects = recording.objects.into_objects(&recording.spaces);
        assert_eq!(objects.len(), 5);
        assert!(!objects.iter().any(|object| object.is_used), "{objects:?}");
        assert_eq!(objects.iter().filter(|object| object.is_kernel).count(), 2);
    }

    #[test]
    fn data_address_and_branches_use_their_objects() {
        let mut recording = Recording::new(SampleType::ADDR | SampleType::BRANCH_STACK);
        let branches = [[0x3000, KERNEL, 0]];
        recording.sample(CpuMode::HYPERVISOR, 0, |sample| sample.addr(0x1000).branches(&branches, None, &[]));
        assert_eq!(recording.used(), ["/bin/a", "/lib/b", "[kernel.kallsyms]_text"]);
    }

    #[test]
    fn words_of_a_stack_copy_use_the_objects_that_they_point_into() {
        let mut recording = Recording::new(SampleType::REGS_USER | SampleType::STACK_USER);
        let words = [0_u64, 0x2fff, 0x3010, 0x5_0000_0000].map(u64::to_ne_bytes).concat();
        recording.sample(CpuMode::USER, 0x9000, |sample| {
            sample.regs_user(RegsAbi::ABI_64.0, &[0x1000, 0]).stack_user(&words, words.len() as u64)
        });
        assert_eq!(recording.used(), ["/bin/a", "/lib/b"]);
        // 32-bit programs push words of half the length.
        let mut recording = Recording::new(SampleType::REGS_USER | SampleType::STACK_USER);
        let words = [0x3010_u32, 0x5010].map(u32::to_ne_bytes).concat();
        recording.sample(CpuMode::USER, 0x9000, |sample| {
            sample.regs_user(RegsAbi::ABI_32.0, &[0, 0]).stack_user(&words, words.len() as u64)
        });
        assert_eq!(recording.used(), ["/lib/b", "/lib/c"]);
    }

    #[test]
    fn all_executable_objects_are_used_by_hardware_traces() {
        let mut recording = Recording::new(SampleType::empty());
        let aux = RecordBuilder::new(RecordType::AUX, Misc::empty()).words(&[0, 64, 0]);
        let aux = aux.with_trailer(&recording.attr, &SampleIdValues::default()).finish();
        recording.add(&aux);
        assert_eq!(recording.used().len(), 5);
    }

    #[test]
    fn object_of_several_processes_or_paths_is_listed_once_by_its_build_id() {
        let mut recording = Recording::new(SampleType::empty());
        recording.map(CpuMode::USER, 8, 0x1000, "/bin/a");
        recording.map(CpuMode::USER, 8, 0x3000, "/other/b");
        recording.sample(CpuMode::USER, 0x3000, |sample| sample);
        let id = BuildId::new(&[1; 20]).expect("an id");
        // Build ids from the feature section may come after the records.
        recording.spaces.add_build_id(b"/bin/a", BuildId::new(&[2; 20]).expect("an id"));
        recording.spaces.add_build_id(b"/lib/b", id);
        recording.spaces.add_build_id(b"/other/b", id);
        let objects = recording.objects.into_objects(&recording.spaces);
        let paths: Vec<_> = objects.iter().map(|object| object.object().path()).collect();
        assert_eq!(paths, [&b"/bin/a"[..], b"/lib/b", b"/lib/c", b"[kernel.kallsyms]_text", b"[veth]"]);
        let used: Vec<_> = objects.iter().filter(|object| object.is_used).collect();
        assert_eq!(
            used.iter().map(|object| (object.pid, object.build_id)).collect::<Vec<_>>(),
            [(7, Some(id))]
        );
    }
}
