//! A question for the name of an address, and the answer: its functions, or the reason for no name.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::elf::NoLines;
use crate::file::NotFoundKind;
use crate::space::ProcessMappings;
use crate::{AddressSpaces, BuildId, Location, MappedObject, Mapping, ObjectKind, StackFrame, Unlocated};

/// An address with its place at the time of a sample, to be named by a [`Symbolizer`](crate::Symbolizer) now or later.
///
/// It keeps a part of the address spaces, which can change meanwhile. A clone copies pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub(super) pid: u32,
    pub(super) target: Target,
    /// The instruction: for a return address, the byte before it.
    pub(super) addr: u64,
    /// Bytes from there to the address of the frame.
    pub(super) after_call: u64,
    pub(super) monotonic_time: Option<u64>,
}

/// The place of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    User {
        mapping: Mapping,
        build_id: Option<BuildId>,
        jitdump: Option<MappedObject>,
        /// All mappings of the process, for memory without a file.
        all: Option<ProcessMappings>,
    },
    KernelSymbol {
        start: u64,
        name: Arc<[u8]>,
    },
    /// `text` is the mapping of the kernel itself, `mapping` that of the address: the same one, or a module.
    Kernel {
        text: Option<Mapping>,
        mapping: Option<Mapping>,
        build_id: Option<BuildId>,
    },
    Unnamed(Unnamed),
}

impl Query {
    /// Takes the place of a frame of a process from the records up to now.
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
                Target::KernelSymbol { start: symbol.start(), name: symbol.name.clone() }
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

    /// Sets the time of the sample in ns of `CLOCK_MONOTONIC`, which finds code in jitdump files that was there then. For
    /// recordings with that clock (`perf record -k mono`); without it, the newest code at the address counts.
    #[must_use]
    pub fn with_monotonic_time(mut self, time: u64) -> Self {
        self.monotonic_time = Some(time);
        self
    }

    /// Returns what is mapped at the address, and the offset in it in bytes: known even if no function is found.
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

/// The functions at an address: returned by [`Symbolizer::symbolize`](crate::Symbolizer::symbolize).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    functions: Arc<[Function]>,
    offset: u64,
    no_lines: Option<NoLines>,
}

impl Symbols {
    /// Makes an answer of functions, the innermost first, at an offset in bytes from the start of the last one.
    pub fn new(functions: impl Into<Arc<[Function]>>, offset: u64) -> Self {
        Self { functions: functions.into(), offset, no_lines: None }
    }

    /// Returns the functions, the innermost first. All but the last one are inlined into the next one.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Returns the number of bytes from the start of the last function to the address of the frame, also if that is a return
    /// address, for which the call before it is looked up.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns why the functions have no lines, or inlined functions are missing, although the file has debug information.
    pub fn no_lines(&self) -> Option<NoLines> {
        self.no_lines
    }

    /// Moves the address up by this number of bytes.
    pub(super) fn move_offset(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
    }

    /// Sets the reason for no lines.
    #[must_use]
    pub fn with_no_lines(mut self, reason: Option<NoLines>) -> Self {
        self.no_lines = reason;
        self
    }
}

/// A function, and where in its source an address is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The demangled name, for Rust and C++: as the perf tool prints it, without parameters and the type that is returned.
    /// Others are as they are in the file.
    pub name: Arc<str>,
    /// The line: of the address in the innermost function, of the call in those around it.
    pub source: Option<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The path, as the compiler wrote it.
    pub file: Arc<Path>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u16>,
}

/// Why an address has no name, to be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unnamed {
    /// It has no location.
    Unlocated(Unlocated),
    /// The file was not found, or is another one now: [`Symbolizer::missing_files`](crate::Symbolizer::missing_files)
    /// has the details.
    File(NotFoundKind),
    /// Code that was written at run time, and no perf map or jitdump has it.
    NoPerfMap,
    /// Code that was written at run time. There is a perf map of its process id, which is older than the process, or has no
    /// function in its code.
    OldPerfMap,
    /// Code that was written at run time. There is a perf map of its process id, and its owner is not the user of the process; or that
    /// is not known, because the process has ended, and the functions are not where only the process knows that its code is.
    ForeignPerfMap,
    /// Code that was written at run time by a process that has ended. Several perf maps in `/tmp`, under the ids of other namespaces of
    /// process ids, have different functions in its code.
    SeveralPerfMaps,
    /// The file loads nothing at the address.
    OutsideSegments,
    /// The file has no symbol there: it is stripped, or was written in assembly.
    NoSymbol,
    /// A stub of the procedure linkage table, by which a library is called. Linkers give it no symbol.
    LinkageTable,
    /// The file is stripped, and has symbols in the section `.gnu_debugdata`, which this crate does not read.
    MiniDebugInfo,
    /// The symbols of the file are damaged: the library that reads them failed.
    Damaged,
    /// The file says that it has more than 4 GiB of symbol tables.
    TooLarge,
    /// The file was replaced while its symbols were read.
    Changed,
    /// The kernel hides its addresses from this user.
    KernelHidden,
    /// The list of the kernel's symbols is missing or unreadable.
    NoKallsyms,
    /// The recording is of another kernel or boot, and no list of its symbols is in a build-id cache.
    OtherKernel,
    /// The address is in the kernel of a guest.
    Guest,
    /// The thread that looks names up ended.
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
            Self::LinkageTable => "a stub that calls a library (procedure linkage table), which has no symbol",
            Self::MiniDebugInfo => {
                "the symbols of the file are in .gnu_debugdata, which is not read; install its debug package"
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
