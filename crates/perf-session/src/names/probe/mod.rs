//! Probes: events at an instruction of the kernel or of a program.

use std::ffi::{CStr, CString};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "symbols")]
mod elf;
#[cfg(not(feature = "symbols"))]
#[path = "without_symbols.rs"]
mod elf;
mod error;
mod event;
mod hit;
#[cfg(test)]
mod tests;

pub use error::ProbeError;
pub use event::ProbeEvent;
pub use hit::ProbeHit;

/// The longest name of a kernel function, in bytes (`KSYM_NAME_LEN` without its NUL).
const MAX_FUNCTION: usize = 511;

/// An instruction of the kernel or of a program whose executions are counted.
///
/// ```no_run
/// use perf_session::ring::{Event, Target};
/// use perf_session::{Probe, System};
///
/// let probe = Probe::file_function("/bin/bash", "readline")?.on_return();
/// let event = probe.event(&System::new())?;
/// let count = Event::open(&event.spec().attr(), Target::calling_thread())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An event of a probe's PMU must not have [`INHERIT`](perf_ring::AttrFlags::INHERIT): forks of the
/// observed tasks fail (kernel errata). An [`EventSet`](crate::EventSet) opens such a probe by a
/// tracepoint.
///
/// # References
///
/// - [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html), "kprobe
///   and uprobe PMUs"
/// - `Documentation/trace/kprobetrace.rst` and `uprobetracer.rst` of the kernel
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    location: Location,
    is_return: bool,
    ref_counter: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Location {
    Function { name: Arc<CStr>, offset: u64 },
    Address(u64),
    File { path: Arc<CStr>, offset: u64, function: Option<Function> },
}

/// A function of a file, and the bytes from its entry to the probe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Function {
    name: Box<str>,
    within: u64,
}

impl Probe {
    /// Returns a probe at the entry of a function of the kernel.
    ///
    /// # Errors
    ///
    /// The name is empty, has a NUL byte or a blank, or is longer than 511 bytes.
    #[doc(alias = "kprobe_func")]
    pub fn kernel_function(name: &str) -> Result<Self, ProbeError> {
        let is_symbol = !name.is_empty() && name.len() <= MAX_FUNCTION && !name.contains(char::is_whitespace);
        let text = CString::new(name).ok().filter(|_| is_symbol);
        let text = text.ok_or_else(|| ProbeError::Function { name: name.to_owned() })?;
        Ok(Self::new(Location::Function { name: text.into(), offset: 0 }))
    }

    /// Returns a probe at the instruction at a virtual address of the kernel.
    #[doc(alias = "kprobe_addr")]
    pub fn kernel_address(address: u64) -> Self {
        Self::new(Location::Address(address))
    }

    /// Returns a probe at the instruction that is `offset` bytes after the start of a file. The
    /// path is completed by the current directory.
    ///
    /// # Errors
    ///
    /// The path is empty or has a NUL byte.
    #[doc(alias = "uprobe_path")]
    #[doc(alias = "probe_offset")]
    pub fn file_offset(path: impl AsRef<Path>, offset: u64) -> Result<Self, ProbeError> {
        let path = path.as_ref();
        let wrong = || ProbeError::Path { path: path.to_owned() };
        // The probe may be opened later, when the program is in another directory.
        let absolute = std::path::absolute(path).map_err(|_| wrong())?;
        let text = CString::new(absolute.as_os_str().as_encoded_bytes()).map_err(|_| wrong())?;
        Ok(Self::new(Location::File { path: text.into(), offset, function: None }))
    }

    /// Returns a probe at the entry of a function of a program or shared library, which is looked
    /// up in the symbol tables of the file: first among the exported symbols, then among all. Needs
    /// the feature `symbols`.
    ///
    /// # Errors
    ///
    /// - [`ProbeError::File`]: the file cannot be read, or is not an ELF file.
    /// - [`ProbeError::NoSymbol`], [`ProbeError::Ambiguous`]: the file does not have the function,
    ///   or has several.
    /// - [`ProbeError::Indirect`]: the function is one of several, which is chosen when the program
    ///   starts.
    /// - [`ProbeError::NotInFile`]: no segment of the file has the address of the function.
    /// - [`ProbeError::NoSymbols`]: the feature is off.
    pub fn file_function(path: impl AsRef<Path>, function: &str) -> Result<Self, ProbeError> {
        let path = path.as_ref();
        let mut probe = Self::file_offset(path, elf::function_offset(path, function)?)?;
        if let Location::File { function: found, .. } = &mut probe.location {
            *found = Some(Function { name: function.into(), within: 0 });
        }
        Ok(probe)
    }

    /// Moves the probe by a number of bytes, which must be the start of an instruction.
    #[must_use]
    pub fn with_offset(mut self, bytes: u64) -> Self {
        if let Location::File { function: Some(function), .. } = &mut self.location {
            function.within = function.within.wrapping_add(bytes);
        }
        match &mut self.location {
            Location::Function { offset, .. } | Location::Address(offset) | Location::File { offset, .. } => {
                *offset = offset.wrapping_add(bytes);
            }
        }
        self
    }

    /// Counts returns of the function that begins at the place, instead of entries.
    #[must_use]
    pub fn on_return(mut self) -> Self {
        self.is_return = true;
        self
    }

    /// Sets the place of a 16-bit counter in the file, in bytes from its start. The kernel
    /// increments it in each process while the probe exists, so that the program prepares arguments
    /// only for a probe. For probes of files. Since Linux 4.20.
    #[doc(alias = "ref_ctr_offset")]
    #[must_use]
    pub fn with_ref_counter(mut self, offset: u64) -> Self {
        self.ref_counter = Some(offset);
        self
    }

    /// Sets the counter of [`with_ref_counter`](Self::with_ref_counter) by the name of a variable
    /// of the file. Needs the feature `symbols`.
    ///
    /// # Errors
    ///
    /// [`ProbeError::KernelRefCounter`] for a probe of the kernel, and the errors of
    /// [`file_function`](Self::file_function), for the variable.
    pub fn with_ref_counter_symbol(self, variable: &str) -> Result<Self, ProbeError> {
        let path = match &self.location {
            Location::File { path, .. } => path_of(path),
            _ => return Err(ProbeError::KernelRefCounter),
        };
        let offset = elf::variable_offset(&path, variable)?;
        Ok(self.with_ref_counter(offset))
    }

    /// Returns `true` for a probe of the kernel.
    pub(crate) fn is_of_kernel(&self) -> bool {
        !matches!(self.location, Location::File { .. })
    }

    /// Returns the name of the PMU and of the kind of probe.
    fn pmu(&self) -> &'static str {
        if self.is_of_kernel() { "kprobe" } else { "uprobe" }
    }

    const fn new(location: Location) -> Self {
        Self { location, is_return: false, ref_counter: None }
    }
}

/// Returns the path that was made a C string.
fn path_of(text: &CStr) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(text.to_bytes())).to_owned()
}

impl fmt::Display for Probe {
    /// Prints `kprobe:do_sys_open+0x4`, or for returns of a function of a file
    /// `uretprobe:/bin/bash:readline`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.pmu().strip_suffix("probe").unwrap_or_default();
        write!(f, "{kind}{}probe:", if self.is_return { "ret" } else { "" })?;
        let within = match &self.location {
            Location::Function { name, offset } => {
                f.write_str(&name.to_string_lossy())?;
                *offset
            }
            Location::File { path, function: Some(function), .. } => {
                write!(f, "{}:{}", path.to_string_lossy(), function.name)?;
                function.within
            }
            Location::File { path, offset, .. } => {
                return write!(f, "{}:{offset:#x}", path.to_string_lossy());
            }
            Location::Address(address) => return write!(f, "{address:#x}"),
        };
        match within {
            0 => Ok(()),
            bytes => write!(f, "+{bytes:#x}"),
        }
    }
}
