//! Records and features for `perf.data` that describe the machine before a recording: processes
//! with their mappings and namespaces, cgroups, the kernel and its modules, CPUs and memory.
//!
//! The kernel reports only what happens while an event is enabled. A reader of the recording also
//! needs the names and mappings of tasks that started earlier.
//!
//! | to | use |
//! |---|---|
//! | write the records before the first round | [`Synthesizer`]: [`running`](Synthesizer::running); [`SideBand`] for single records |
//! | describe the machine | [`machine_features`] |
//! | write the formats of tracepoints | [`add_tracing_data`] |
//! | write the build ids at the end | [`Synthesizer::add_file`], [`Synthesizer::build_ids`] |

mod bpf;
mod cgroup;
mod features;
mod kernel;
mod process;
mod running;
mod side_band;
mod tracing_data;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use perf_file::feature::BuildId as FileBuildId;
use perf_session::ring::abi::CpuMode;
use perf_session::ring::{Attr, AttrFlags};
use perf_session::{FileError, KernelSymbols, System};
use perf_symbols::{BuildId, ObjectFile};

pub use bpf::{LoadedFunction, LoadedProgram};
pub use features::machine_features;
pub use kernel::KernelMapError;
pub use running::Missing;
pub use side_band::SideBand;
pub use tracing_data::add_tracing_data;

/// Collects the records of processes that run already, and the build ids of the files that they
/// mapped.
///
/// ```
/// use perf_session::System;
/// use perf_record::synthesize::Synthesizer;
/// use perf_session::ring::{Attr, AttrFlags, SampleType, Software};
///
/// let attr = Attr::software(Software::CPU_CLOCK)
///     .with_sample_type(SampleType::TID | SampleType::TIME)
///     .with_flags(AttrFlags::SAMPLE_ID_ALL);
/// let mut synthesizer = Synthesizer::new(&System::new(), &attr);
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
    system: System,
    records: SideBand,
    /// The kernel's symbols from its text on, for the next [`bpf_programs`](Self::bpf_programs).
    /// The file is opened once, because the kernel takes long to generate it.
    symbols: Option<KernelSymbols>,
    has_build_ids: bool,
    with_data: bool,
    with_namespaces: bool,
    with_symbols: bool,
    with_programs: bool,
    /// Build ids by device and inode, so that a library is read once and not once per process;
    /// `None` for a file without a build id.
    files: HashMap<(u32, u32, u64), Option<BuildId>>,
    /// Files of processes that exist and cannot be read: their number, and the first error.
    unread: Option<(usize, FileError)>,
    /// Build ids by path, and the mode in which the file runs.
    build_ids: BTreeMap<Vec<u8>, (BuildId, CpuMode)>,
}

impl Synthesizer {
    /// Creates a synthesizer without records. `attr` is the attr of the first event. Its fields in
    /// side-band records are written as 0. Its flag `build_id` selects the form of `MMAP2`,
    /// `mmap_data` adds mappings that are not executable, `namespaces` adds the namespaces of each
    /// thread, and `ksymbol` and `bpf_event` add the records of
    /// [`bpf_programs`](Self::bpf_programs).
    pub fn new(system: &System, attr: &Attr) -> Self {
        Self {
            system: system.clone(),
            records: SideBand::new(attr),
            symbols: None,
            has_build_ids: attr.flags.contains(AttrFlags::BUILD_ID),
            with_data: attr.flags.contains(AttrFlags::MMAP_DATA),
            with_namespaces: attr.flags.contains(AttrFlags::NAMESPACES),
            with_symbols: attr.flags.contains(AttrFlags::KSYMBOL),
            with_programs: attr.flags.contains(AttrFlags::BPF_EVENT),
            files: HashMap::new(),
            unread: None,
            build_ids: BTreeMap::new(),
        }
    }

    /// Returns the records so far.
    pub fn records(&self) -> &SideBand {
        &self.records
    }

    /// Removes the records, after they were written. Build ids are kept.
    pub fn clear_records(&mut self) {
        self.records.clear();
    }

    /// Reads the build id of a file that was mapped during the recording. Does nothing if the build
    /// id is known or cannot be read.
    pub fn add_file(&mut self, path: &[u8]) {
        if !path.starts_with(b"/") || path.starts_with(b"//") || self.build_ids.contains_key(path) {
            return;
        }
        if let Some(id) = build_id_of_file(self.system.path(path_of(path))) {
            self.build_ids.insert(path.to_vec(), (id, CpuMode::USER));
        }
    }

    /// Adds a build id from a record of the recording, if it is one.
    pub fn add_build_id(&mut self, path: &[u8], id: &[u8]) {
        if let Some(id) = BuildId::new(id).filter(|_| !self.build_ids.contains_key(path)) {
            self.build_ids.insert(path.to_vec(), (id, CpuMode::USER));
        }
    }

    /// Returns the build ids of the kernel, its modules and all mapped files, by path, for
    /// [`FeatureData::BuildIds`](perf_file::FeatureData::BuildIds).
    pub fn build_ids(&self) -> Vec<FileBuildId<'_>> {
        let ids = self.build_ids.iter();
        ids.map(|(path, (id, mode))| FileBuildId::new(path, id.as_bytes(), *mode)).collect()
    }
}

/// Returns the build id of an ELF file; `None` if it has no build id, cannot be read or is not an
/// ELF file.
fn build_id_of_file(path: PathBuf) -> Option<BuildId> {
    ObjectFile::open(path).ok()?.build_id()
}

/// Returns the bytes as a path.
fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
