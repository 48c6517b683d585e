//! Why a probe cannot be described.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::names::nearest::KnownNames;
use crate::names::pmu::PmuError;
use crate::names::tracefs::TracefsError;
use crate::std_error::into_std;
use crate::system::FileError;
use crate::system::excerpt;

/// The reason why a probe cannot be described.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ProbeError {
    /// The name is impossible for a kernel function.
    Function {
        /// The name that was requested.
        name: String,
    },
    /// The path is impossible for a file.
    Path {
        /// The path of the binary.
        path: PathBuf,
    },
    /// The file has no such function or variable.
    NoSymbol {
        /// The file that was opened.
        path: PathBuf,
        /// The name that was looked up.
        symbol: String,
        /// The nearest names that the file has.
        nearest: Vec<String>,
    },
    /// The file has several functions or variables of this name.
    Ambiguous {
        /// The file that was searched.
        path: PathBuf,
        /// The requested function.
        symbol: String,
        /// The offsets of all in the file, in bytes, ascending.
        offsets: Vec<u64>,
    },
    /// The function is one of several, which is chosen when the program starts (`STT_GNU_IFUNC`).
    Indirect {
        /// The file that was searched.
        path: PathBuf,
        /// The requested function.
        symbol: String,
    },
    /// The symbol is at no place of the file.
    NotInFile {
        /// The file that was searched.
        path: PathBuf,
        /// The requested function.
        symbol: String,
        /// Virtual address of the function.
        address: u64,
    },
    /// The symbols of the file are not read, because the feature `symbols` of this crate is off.
    NoSymbols {
        /// The file to probe.
        path: PathBuf,
    },
    /// A probe of the kernel has no reference counter.
    KernelRefCounter,
    /// The kernel has neither the PMU nor the file in tracefs.
    Unsupported {
        /// `kprobe` or `uprobe`.
        kind: &'static str,
    },
    /// The kernel did not accept the line that describes the probe.
    Register {
        /// The file to which the line was written.
        path: PathBuf,
        /// The line that was written.
        line: String,
        /// The error of the system call.
        error: Arc<io::Error>,
    },
    /// The PMU of probes cannot describe it.
    Pmu(PmuError),
    /// tracefs cannot be used.
    Tracefs(TracefsError),
    /// A file cannot be read or is malformed.
    File(FileError),
}

impl From<PmuError> for ProbeError {
    fn from(error: PmuError) -> Self {
        Self::Pmu(error)
    }
}

impl From<TracefsError> for ProbeError {
    fn from(error: TracefsError) -> Self {
        Self::Tracefs(error)
    }
}

impl From<FileError> for ProbeError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function { name } => {
                let name = excerpt(name.as_bytes());
                write!(f, "kernel function: expected 1 to 511 bytes without NUL and blanks, found {name}")
            }
            Self::Path { path } => {
                write!(
                    f,
                    "{}: expected the path of a file, without NUL, and for tracefs without blanks",
                    path.display()
                )
            }
            Self::NoSymbol { path, symbol, nearest } => {
                write!(
                    f,
                    "{}: no symbol {}; the nearest names are ",
                    path.display(),
                    excerpt(symbol.as_bytes())
                )?;
                write!(f, "{}; a stripped file has exported symbols only", KnownNames(nearest))
            }
            Self::Ambiguous { path, symbol, offsets } => {
                write!(
                    f,
                    "{}: {} symbols {}, at the file offsets",
                    path.display(),
                    offsets.len(),
                    excerpt(symbol.as_bytes())
                )?;
                offsets.iter().take(8).try_for_each(|offset| write!(f, " {offset:#x}"))?;
                f.write_str("; probe one by its offset")
            }
            Self::Indirect { path, symbol } => write!(
                f,
                "{}: {symbol} is replaced by a function for this CPU when a program starts; probe that one",
                path.display()
            ),
            Self::NotInFile { path, symbol, address } => write!(
                f,
                "{}: {symbol} has the address {address:#x}, which no segment loads from the file",
                path.display()
            ),
            Self::NoSymbols { path } => write!(
                f,
                "{}: finding a name in the file needs the feature `symbols` of perf-session; enable it, or give the offset in \
                 the file",
                path.display()
            ),
            Self::KernelRefCounter => f.write_str("a probe of the kernel has no reference counter"),
            Self::Unsupported { kind } => {
                let option = kind.to_ascii_uppercase();
                write!(f, "this kernel has no {kind}s: it needs CONFIG_{option}_EVENTS")
            }
            Self::Register { path, line, error } => {
                write!(f, "{}: writing {}: {error}", path.display(), excerpt(line.as_bytes()))?;
                f.write_str("; the file `error_log` beside it has the reason")
            }
            Self::Pmu(error) => error.fmt(f),
            Self::Tracefs(error) => error.fmt(f),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl ProbeError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.raw_os_error(),
            Self::Tracefs(error) => error.raw_os_error(),
            Self::Pmu(error) => error.raw_os_error(),
            Self::Register { error, .. } => error.raw_os_error(),
            _ => None,
        }
    }
}

impl std::error::Error for ProbeError {}

into_std!(ProbeError, InvalidInput);
