//! Maps an address in a sample to the mapping at that time, its file, and its function.
//!
//! A sample has addresses and a process id, and their meaning changes over time: processes exec and
//! exit, ids are reused, libraries are loaded over others, and BPF programs come and go.
//! [`AddressSpaces`] follows the records of these changes and answers for the time of the last
//! record.
//!
//! ```
//! use perf_decode::{Layout, Record};
//! use perf_symbols::{AddressSpaces, Location};
//!
//! /// Applies a record; records must come in time order. Returns the file of a sample's address.
//! fn object<L: Layout>(spaces: &mut AddressSpaces, record: &Record<'_, L>) -> Option<String> {
//!     spaces.update(record);
//!     let Record::Sample(sample) = record else { return None };
//!     Some(match spaces.find(sample.pid()?, sample.misc().cpu_mode(), sample.ip()?) {
//!         Ok(Location::User(mapping)) => {
//!             let path = String::from_utf8_lossy(mapping.object().path());
//!             format!("{path} at offset {:#x}", mapping.offset_of(sample.ip()?))
//!         }
//!         Ok(kernel) => format!("{kernel:?}"),
//!         Err(reason) => reason.to_string(),
//!     })
//! }
//! # use perf_abi::{Attr, CpuMode, Misc, RecordType, SampleType, Software};
//! # use perf_decode::testing::builder::{RecordBuilder, SampleBuilder};
//! # use perf_decode::{RawRecord, SampleLayout};
//! # let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(SampleType::IP | SampleType::TID);
//! # let layout = SampleLayout::new(&attr);
//! # let user = Misc::empty().with_cpu_mode(CpuMode::USER);
//! # let mmap = RecordBuilder::new(RecordType::MMAP, user).pair(7, 7).words(&[0x5000, 0x1000, 0x2000]);
//! # let mmap = mmap.string(b"/bin/true").finish();
//! # let sample = SampleBuilder::new(&attr).misc(user).tid(7, 7).ip(0x5010).finish();
//! # let mut spaces = AddressSpaces::new();
//! # let mut found = None;
//! # for words in [&mmap, &sample] {
//! #     found = object(&mut spaces, &RawRecord::from_words(words)?.decode(&layout)?);
//! # }
//! # assert_eq!(found.as_deref(), Some("/bin/true at offset 0x2010"));
//! # Ok::<(), perf_decode::Error>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | follow the mappings of all processes and of the kernel | [`AddressSpaces::update`] |
//! | find the mapping of an address | [`AddressSpaces::find`]: [`Location`], or [`Unlocated`] with the reason |
//! | get the file of a mapping, its build id or inode, and the file offset | [`Mapping`], [`MappedObject`] |
//! | use the build ids of a `perf.data` file | [`AddressSpaces::add_build_id`] |
//! | name threads, control groups and namespaces | [`AddressSpaces::thread_name`], [`cgroup`](AddressSpaces::cgroup), [`namespaces`](AddressSpaces::namespaces) |
//! | get the stack of a sample as one list of frames, however it was recorded | [`Stack`], [`StackFrame`], [`StackEnd`] |
//! | learn why stacks are incomplete, and count them | [`StackEnd`], [`StackEndReason`]; [`Stack::leave_out_unmapped`] for callchains |
//! | unwind sampled registers and copies of the user stack (feature `unwind`) | `Unwinder::unwind`; `Unwinder::missing_info` for the reason |
//! | find the file of a mapping, and verify it (feature `files`) | `FileFinder::find`: `FoundFile`, or `NotFound` with the reason |
//! | list the objects that a recording maps, and the objects that its addresses hit | [`RecordedObjects`] |
//! | name functions, inlined functions and lines (feature `names`) | `Query::new` for each frame, then `Symbolizer::symbolize` |
//! | learn why addresses have no name, or no line (feature `names`) | `Unnamed`, `NoLines`, `Symbolizer::counts`, `Symbolizer::missing_files` |
//! | read the instructions of a function, with their lines (feature `disassembly`) | `Disassembly::read`, `FileFinder::source` |
//! | name addresses of one file (feature `names`) | `ElfSymbols` |
//! | count records that came too late | [`AddressSpaces::late_records`] |
//!
//! Without features, the crate opens no files and works on any operating system with Rust 1.85.
//!
//! | feature | what it adds | dependencies | Rust |
//! |---|---|---|---|
//! | | address spaces, stacks of callchains | 4, as for `perf-decode` | 1.85 |
//! | `files` | files of mappings, with `object` | 10 | 1.85 |
//! | `names` | names, with `addr2line` | 21 | 1.88 |
//! | `unwind` | stacks from registers and stack copies, with `framehop` | 19 | 1.88 |
//! | `names`, `unwind` | both | 24 | 1.88 |
//! | `disassembly` | instructions of functions, with `iced-x86` and `yaxpeax-arm` | 10 more, and 1 to build | 1.88 |
//! | `debuginfod` | downloads from debuginfod servers, with `ureq` | 21 more, and 3 to build | 1.85 |
//!
//! The examples `stacks` and `live` print folded stacks of a file and of a running command.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

/// Compiles the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(any(feature = "names", feature = "unwind"))]
mod caught;
#[cfg(feature = "disassembly")]
mod code;
pub mod coming_from;
#[cfg(feature = "files")]
mod file;
mod generations;
#[cfg(feature = "names")]
mod name;
mod space;
mod stack;
#[cfg(feature = "files")]
mod system;

#[cfg(any(feature = "names", feature = "unwind"))]
pub use caught::is_panic_caught;
#[cfg(feature = "disassembly")]
pub use code::{Disassembly, DisassemblyError, Instruction, Syntax};
#[cfg(feature = "debuginfod")]
pub use file::Debuginfod;
#[cfg(feature = "disassembly")]
pub use file::SourceText;
#[cfg(feature = "files")]
pub use file::{
    ElfError, Evidence, FileFinder, FoundFile, NotFound, NotFoundKind, ObjectFile, Rejection, SectionBytes,
    kernel_build_id,
};
#[cfg(feature = "names")]
pub use name::{
    CodeChange, CodeChanges, ElfSymbols, FileSymbols, Function, Jitdump, JitdumpError, Kallsyms,
    KallsymsError, KernelFunction, NameCounts, NameRequest, NoLines, PerfMap, Query, SourceLine, Symbolizer,
    Symbols, Unnamed,
};
pub use space::{
    AddressSpaces, BuildId, Inode, KernelSymbol, Location, MappedObject, Mapping, ObjectKind, RecordedObject,
    RecordedObjects, SpaceCounts, Unlocated,
};
#[cfg(feature = "unwind")]
pub use stack::{NoUnwindInfo, Unwinder};
pub use stack::{Stack, StackEnd, StackEndReason, StackFrame, UserSource};
