//! Records and features that describe the machine as it was before a recording: processes with their
//! mappings and namespaces, cgroups, the kernel and its modules, from `/proc` and `/sys`.
//!
//! The kernel reports only what happens while an event is enabled. A reader of the recording needs the
//! names and mappings of tasks that started before.

mod bpf;
mod build_id;
mod cgroup;
mod error;
mod features;
mod host;
mod kernel;
mod maps;
mod namespaces;
mod process;
mod side_band;
mod tracing_data;

use std::collections::{BTreeMap, HashMap};

use perf_abi::Attr;

pub use bpf::{BpfFunction, BpfProgram};
pub use host::Host;
pub use kernel::KernelMapError;
pub use side_band::{Mapping, SideBand};
pub use tracing_data::{TracepointError, tracepoint_names, tracing_data};

use crate::writer::BuildId;

/// Collects the records of processes that run, and the build ids of the files that they mapped.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, SampleType, Software};
/// use perf_file::synthesize::{Host, Synthesizer};
///
/// let attr = Attr::software(Software::CPU_CLOCK)
///     .with_sample_type(SampleType::TID | SampleType::TIME)
///     .with_flags(AttrFlags::SAMPLE_ID_ALL);
/// let mut synthesizer = Synthesizer::new(Host::new(), &attr);
/// if let Err(error) = synthesizer.kernel() {
///     println!("{error}"); // addresses are hidden from this user
/// }
/// let found = synthesizer.process(std::process::id());
/// # assert!(found);
/// let records: &[u8] = synthesizer.records().as_bytes(); // for Writer::write_plain
/// # assert!(!records.is_empty());
/// ```
#[derive(Debug)]
pub struct Synthesizer {
    host: Host,
    records: SideBand,
    has_build_ids: bool,
    with_data: bool,
    with_namespaces: bool,
    with_symbols: bool,
    with_programs: bool,
    /// Build ids by device and inode; `None` if the file has none.
    files: HashMap<(u32, u32, u64), Option<Vec<u8>>>,
    /// Build ids by path, and whether it is the kernel or a module.
    build_ids: BTreeMap<Vec<u8>, (Vec<u8>, bool)>,
}

impl Synthesizer {
    /// Starts without records. `attr` is that of the first event: its fields in side-band records are
    /// written as 0, its `build_id` selects the form of `MMAP2`, its `mmap_data` adds mappings that
    /// are not executable, its `namespaces` adds the namespaces of each thread, and its `ksymbol` and
    /// `bpf_event` the records of [`bpf_programs`](Self::bpf_programs).
    pub fn new(host: Host, attr: &Attr) -> Self {
        Self {
            host,
            records: SideBand::new(attr),
            has_build_ids: attr.flags.contains(perf_abi::AttrFlags::BUILD_ID),
            with_data: attr.flags.contains(perf_abi::AttrFlags::MMAP_DATA),
            with_namespaces: attr.flags.contains(perf_abi::AttrFlags::NAMESPACES),
            with_symbols: attr.flags.contains(perf_abi::AttrFlags::KSYMBOL),
            with_programs: attr.flags.contains(perf_abi::AttrFlags::BPF_EVENT),
            files: HashMap::new(),
            build_ids: BTreeMap::new(),
        }
    }

    /// Returns the records so far.
    pub fn records(&self) -> &SideBand {
        &self.records
    }

    /// Removes the records, which were written. Build ids are kept.
    pub fn clear_records(&mut self) {
        self.records.clear();
    }

    /// Reads the build id of a file that was mapped during the recording. Does nothing if it is known
    /// or cannot be read.
    pub fn add_file(&mut self, path: &[u8]) {
        if !path.starts_with(b"/") || path.starts_with(b"//") || self.build_ids.contains_key(path) {
            return;
        }
        if let Some(id) = build_id::of_file(&self.host.path(host::path_of(path))) {
            self.build_ids.insert(path.to_vec(), (id, false));
        }
    }

    /// Adds a build id that a record of the recording had.
    pub fn add_build_id(&mut self, path: &[u8], id: &[u8]) {
        if !self.build_ids.contains_key(path) {
            self.build_ids.insert(path.to_vec(), (id.to_vec(), false));
        }
    }

    /// Returns the build ids of the kernel, its modules and all mapped files, for
    /// [`Features::set_build_ids`](crate::writer::Features::set_build_ids).
    pub fn build_ids(&self) -> Vec<BuildId> {
        let entry = |(path, (id, is_kernel)): (&Vec<u8>, &(Vec<u8>, bool))| BuildId {
            path: path.clone(),
            id: id.clone(),
            is_kernel: *is_kernel,
        };
        self.build_ids.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests;
