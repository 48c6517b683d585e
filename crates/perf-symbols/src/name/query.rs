//! Queries for the name of an address, and their results: functions, or the reason for no name.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::elf::NoLines;
use crate::file::NotFoundKind;
use crate::space::ProcessMappings;
use crate::{AddressSpaces, BuildId, Location, MappedObject, Mapping, ObjectKind, StackFrame, Unlocated};

/// An address and its location at the time of a sample, for a [`Symbolizer`](crate::Symbolizer) to
/// name now or later.
///
/// It keeps the part of the address spaces that it needs, so that later changes do not affect it.
/// Cloning copies pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub(super) pid: u32,
    pub(super) target: Target,
    /// Address of the instruction. For a return address, the byte before it.
    pub(super) addr: u64,
    /// Bytes from `addr` to the address of the frame.
    pub(super) after_call: u64,
    pub(super) monotonic_time: Option<u64>,
}

/// The location of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    User {
        mapping: Mapping,
        build_id: Option<BuildId>,
        jitdump: Option<MappedObject>,
        /// All mappings of the process, to verify perf maps of memory without a file.
        all: Option<ProcessMappings>,
    },
    KernelSymbol {
        start: u64,
        name: Arc<[u8]>,
    },
    /// `text` is the mapping of the kernel itself; `mapping` contains the address: the kernel or a
    /// module.
    Kernel {
        text: Option<Mapping>,
        mapping: Option<Mapping>,
        build_id: Option<BuildId>,
    },
    Unnamed(Unnamed),
}

impl Query {
    /// Captures the location of a frame of a process, according to the records so far.
    pub fn new(spaces: &AddressSpaces, pid: u32, frame: &StackFrame) -> Self {
        let addr = frame.lookup_address();
        let target = match spaces.find(pid, frame.mode, addr) {
            Ok(Location::User(mapping)) => Target::User {
                mapping: mapping.clone(),
                build_id: spaces.build_id(mapping.object()),
                jitdump: spaces.jitdump(pid).cloned(),
                all: (mapping.object().kind() != ObjectKind::File)
                    .then(|| spaces.process_mappings(pid))
                    .flatten(),
            },
            Ok(Location::KernelSymbol(symbol)) => {
                Target::KernelSymbol { start: symbol.start, name: symbol.name.clone() }
            }
            Ok(Location::Kernel(mapping)) => {
                let text = spaces.kernel_text();
                Target::Kernel {
                    text: text.cloned(),
                    mapping: mapping.cloned(),
                    build_id: text.and_then(|text| spaces.build_id(text.object())),
                }
            }
            Ok(Location::GuestKernel(_)) => Target::Unnamed(Unnamed::Guest),
            Err(reason) => Target::Unnamed(Unnamed::Unlocated(reason)),
        };
        Self { pid, target, addr, after_call: frame.address - addr, monotonic_time: None }
    }

    /// Sets the time of the sample in ns of `CLOCK_MONOTONIC`, to find the code in a jitdump at
    /// that time. Requires a recording with that clock (`perf record -k mono`). Without a time, the
    /// newest code at the address is used.
    #[must_use]
    pub fn with_monotonic_time(mut self, time: u64) -> Self {
        self.monotonic_time = Some(time);
        self
    }

    /// Returns the mapped object and the offset in it in bytes, even if no function is found.
    pub fn object(&self) -> Option<(&MappedObject, u64)> {
        match &self.target {
            Target::User { mapping, .. } => Some((mapping.object(), mapping.offset_of(self.addr))),
            _ => None,
        }
    }

    /// Returns the address that is looked up.
    pub fn address(&self) -> u64 {
        self.addr
    }
}

/// The functions at an address: returned by
/// [`Symbolizer::symbolize`](crate::Symbolizer::symbolize).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Symbols {
    /// The functions, innermost first. Each is inlined into the following one.
    pub functions: Arc<[Function]>,
    /// The distance in bytes from the start of the last function to the address of the
    /// frame. For a return address, it is the distance to the return address although the call
    /// before it is looked up.
    pub offset: u64,
    /// Why lines or inlined functions are missing although the file has debug information.
    pub no_lines: Option<NoLines>,
    /// Why the last function has no name, if only its start is known.
    ///
    /// Unwind information has the starts of functions also in stripped files. Such a function is
    /// called by its file and its start in the file's symbol table: `libcrypto.so.3+0x243440`.
    /// Functions that are inlined into it have names.
    pub unnamed: Option<Unnamed>,
}

impl Symbols {
    /// Creates a result from functions, innermost first, and the offset in bytes from the start of
    /// the last one.
    pub fn new(functions: impl Into<Arc<[Function]>>, offset: u64) -> Self {
        Self { functions: functions.into(), offset, no_lines: None, unnamed: None }
    }

    /// Adds `bytes` to the offset.
    pub(super) fn move_offset(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
    }
}

/// A function and a location in its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The demangled name for Rust and C++, without parameters and return type, as the perf tool
    /// prints it. Other names are unchanged. A function without a name is called by its file and
    /// start: see [`Symbols::unnamed`].
    pub name: Arc<str>,
    /// The line of the address in the innermost function, and of the call in the functions around
    /// it.
    pub source: Option<SourceLine>,
}

/// A location in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The path as the compiler wrote it.
    pub file: Arc<Path>,
    /// Line number from 1.
    pub line: Option<u32>,
    /// Column number from 1.
    pub column: Option<u16>,
}

/// Why an address has no name. A key for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unnamed {
    /// The address has no location.
    Unlocated(Unlocated),
    /// The file was not found or has been replaced:
    /// [`Symbolizer::missing_files`](crate::Symbolizer::missing_files) has the details.
    File(NotFoundKind),
    /// Code that was written at run time, without a perf map or jitdump that contains it.
    NoPerfMap,
    /// Code that was written at run time. The perf map for its process id is older than the
    /// process, or has no function in its code.
    OldPerfMap,
    /// Code that was written at run time. The perf map for its process id is not trusted: its owner
    /// is not the user of the process; or the process has ended, so that its user is unknown, and
    /// the functions do not prove that the process wrote the map.
    ForeignPerfMap,
    /// Code that was written at run time by a process that has ended. Several perf maps in `/tmp`,
    /// named by ids of other pid namespaces, have different functions in its code.
    SeveralPerfMaps,
    /// The address is in no segment that the file loads.
    OutsideSegments,
    /// The file has no symbol there because it is stripped or was written in assembly.
    NoSymbol,
    /// A stub in the procedure linkage table, through which a library is called, and the function
    /// that it calls is unknown. Linkers give it no symbol.
    LinkageTable,
    /// The file is stripped. It has symbols in `.gnu_debugdata`, which are damaged or larger than
    /// 256 MiB.
    MiniDebugInfo,
    /// The symbols of the file are damaged, so that the library could not read them.
    Damaged,
    /// The file claims more than 4 GiB of symbol tables.
    TooLarge,
    /// The file was replaced while its symbols were read.
    Changed,
    /// The kernel hides its addresses from this user.
    KernelHidden,
    /// The list of kernel symbols is missing or unreadable.
    NoKallsyms,
    /// The recording is from another kernel or boot, and no build-id cache has its symbols.
    OtherKernel,
    /// The address is in the kernel of a guest.
    Guest,
    /// The thread that looks up names has ended.
    Stopped,
}

impl fmt::Display for Unnamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unlocated(reason) => return reason.fmt(f),
            Self::File(kind) => kind.as_str(),
            Self::NoPerfMap => {
                "code written at run time; start the runtime with perf maps or jitdump (node: --perf-basic-prof, python: -X perf, \
                 java: -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, or jcmd PID Compiler.perfmap while it runs)"
            }
            Self::OldPerfMap => {
                "code written at run time; /tmp/perf-PID.map is of an earlier process with this id"
            }
            Self::ForeignPerfMap => {
                "code written at run time; /tmp/perf-PID.map belongs to another user, and nothing proves that the process wrote it: \
                 read the recording as that user, or while the process runs"
            }
            Self::SeveralPerfMaps => {
                "code written at run time; several perf maps in /tmp have functions at its addresses: read the recording while the \
                 process runs, or remove the maps of other processes"
            }
            Self::OutsideSegments => "the file loads nothing at the address",
            Self::NoSymbol => "the file has no symbol at the address; install its debug package",
            Self::LinkageTable => "a stub of the procedure linkage table, whose function is unknown",
            Self::MiniDebugInfo => {
                "the symbols of the file are in .gnu_debugdata, which is damaged or too large; install its debug package"
            }
            Self::Damaged => "the symbols of the file are damaged",
            Self::TooLarge => "the file has more than 4 GiB of symbols; give a debug file with fewer",
            Self::Changed => "the file was replaced while its symbols were read",
            Self::KernelHidden => {
                "the kernel hides its addresses; run as root, with kernel.kptr_restrict below 2"
            }
            Self::NoKallsyms => "/proc/kallsyms is missing or unreadable",
            Self::OtherKernel => "recorded with another kernel or boot; give its kallsyms by a build-id cache",
            Self::Guest => "the address is in the kernel of a guest",
            Self::Stopped => "the thread that looks up names ended",
        })
    }
}

impl std::error::Error for Unnamed {}
