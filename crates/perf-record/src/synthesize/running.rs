//! Records of everything that runs already.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;

use perf_session::{FileError, TracefsError};

use super::{KernelMapError, LoadedProgram, Synthesizer};

/// A fact that is missing from a recording, with the reason.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Missing {
    /// The mappings of the kernel and its modules, without which samples in the kernel have no
    /// names.
    Kernel(KernelMapError),
    /// Names, threads, mappings or build ids of processes, without which samples in them have no
    /// names: the number of files that cannot be read, and the first error.
    Processes(usize, FileError),
    /// Parts of the description of the machine.
    Machine(FileError),
    /// The names of BPF programs.
    BpfPrograms(Arc<io::Error>),
    /// The paths of cgroups.
    Cgroups(FileError),
    /// The formats of tracepoints, without which readers do not print their fields.
    TracepointFormats(TracefsError),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(error) => error.fmt(f),
            Self::Processes(1, error) => {
                write!(f, "processes that ran before lack names, mappings or build ids: {error}")
            }
            Self::Processes(files, error) => {
                write!(
                    f,
                    "processes that ran before lack names, mappings or build ids: {error}, and {} more files",
                    files - 1
                )
            }
            Self::Machine(error) => write!(f, "the file does not describe the whole machine: {error}"),
            Self::BpfPrograms(error) => write!(f, "the names of BPF programs are missing: {error}"),
            Self::Cgroups(error) => write!(f, "the file does not name the cgroups: {error}"),
            Self::TracepointFormats(error) => write!(f, "the file has no formats of tracepoints: {error}"),
        }
    }
}

impl Synthesizer {
    /// Appends the records of the kernel and its modules, the loaded BPF programs, and `processes`,
    /// or all processes without a list. Returns the parts that cannot be read; the kernel is
    /// skipped if only user space is sampled.
    ///
    /// `programs` lists the BPF programs, by `bpf(2)`. Processes that exit meanwhile are left out.
    ///
    /// # Errors
    ///
    /// [`FileError`] if `/proc` cannot be read.
    pub fn running(
        &mut self,
        processes: Option<&BTreeSet<u32>>,
        has_kernel: bool,
        programs: impl FnOnce() -> io::Result<Vec<LoadedProgram>>,
    ) -> Result<Vec<Missing>, FileError> {
        let mut missing = Vec::new();
        if let Err(error) = self.kernel() {
            missing.extend(has_kernel.then_some(Missing::Kernel(error)));
        }
        match programs() {
            Ok(programs) => self.bpf_programs(programs),
            Err(error) => missing.push(Missing::BpfPrograms(Arc::new(error))),
        }
        match processes {
            None => drop(self.processes()?),
            Some(processes) => {
                for &process in processes {
                    self.process(process);
                }
            }
        }
        missing.extend(self.unread.take().map(|(files, error)| Missing::Processes(files, error)));
        Ok(missing)
    }
}
