//! Tracepoints, which the kernel lists in tracefs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use perf_ring::Attr;
use perf_tracepoint::{Format, FormatError};

use crate::names::glob::Glob;
use crate::names::nearest;
use crate::names::nearest::KnownNames;
use crate::names::spec::EventSpec;
use crate::std_error::into_std;
use crate::system::{FileError, Mount, System, TRACEFS, excerpt};

#[cfg(test)]
mod tests;

/// The mounted tracefs, with the tracepoints of this machine.
///
/// ```no_run
/// use perf_session::{System, Tracefs};
///
/// let tracefs = Tracefs::find(&System::new())?;
/// for tracepoint in tracefs.matching("sched:sched_process_*")? {
///     println!("{tracepoint} is number {}", tracepoint.id());
/// }
/// # Ok::<(), perf_session::TracefsError>(())
/// ```
///
/// # References
///
/// - `Documentation/trace/events.rst` of the kernel
#[derive(Clone, Debug)]
pub struct Tracefs {
    system: System,
    mount: &'static str,
}

impl Tracefs {
    /// Returns the tracefs that is mounted at `/sys/kernel/tracing` (since Linux 4.1) or, as on
    /// older kernels, at `/sys/kernel/debug/tracing`.
    ///
    /// # Errors
    ///
    /// It is not mounted, or the caller may not read it: by default only root may.
    pub fn find(system: &System) -> Result<Self, TracefsError> {
        for mount in TRACEFS {
            let path = system.path(format!("{mount}/events"));
            match fs::metadata(&path) {
                Ok(_) => return Ok(Self { system: system.clone(), mount }),
                // Any other error is of the mount that exists. The next place would hide it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(FileError::io(path, error).into()),
            }
        }
        Err(TracefsError::NotMounted)
    }

    /// Returns the mount point.
    pub fn path(&self) -> PathBuf {
        self.system.path(self.mount)
    }

    /// Returns the sorted categories of tracepoints: `sched`, `syscalls`.
    ///
    /// # Errors
    ///
    /// The directory cannot be read.
    pub fn categories(&self) -> Result<Vec<String>, TracefsError> {
        Ok(self.system.directories(self.absolute("events"))?)
    }

    /// Returns the sorted names of the tracepoints of a category.
    ///
    /// # Errors
    ///
    /// The category does not exist, or its directory cannot be read.
    pub fn names(&self, category: &str) -> Result<Vec<String>, TracefsError> {
        require(category, category, self.categories()?)?;
        Ok(self.system.directories(self.absolute(&format!("events/{category}")))?)
    }

    /// Returns the file `printk_formats`: each text of the kernel that payloads of tracepoints have
    /// the address of, as `0xffffffff8281a569 : "rcu_preempt"`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the kernel does not have it.
    pub fn printk_formats(&self) -> Result<Vec<u8>, TracefsError> {
        Ok(self.read_bytes("printk_formats")?)
    }

    /// Returns a tracepoint.
    ///
    /// # Errors
    ///
    /// The tracepoint does not exist, or its format cannot be read or is malformed.
    pub fn tracepoint(&self, category: &str, name: &str) -> Result<Tracepoint, TracefsError> {
        require(&format!("{category}:{name}"), name, self.names(category)?)?;
        Tracepoint::load(&self.system, self.absolute(&format!("events/{category}/{name}/format")), category)
    }

    /// Returns the tracepoints that `category:name` matches, sorted. Both parts may have the
    /// wildcards `*`, `?` and `[..]`; a name alone is looked up in all categories.
    ///
    /// # Errors
    ///
    /// No tracepoint matches, or a format cannot be read or is malformed.
    pub fn matching(&self, pattern: &str) -> Result<Vec<Tracepoint>, TracefsError> {
        let (category, name) = pattern.split_once(':').unwrap_or(("*", pattern));
        // Without a pattern one format is read, not the directory of each category.
        let (categories, names) = (Glob::new(category), Glob::new(name));
        if !categories.is_pattern() && !names.is_pattern() {
            return Ok(vec![self.tracepoint(category, name)?]);
        }
        let mut known = self.categories()?;
        if !categories.is_pattern() {
            require(pattern, category, known.clone())?;
        }
        known.retain(|known| categories.matches(known));
        let mut found = Vec::new();
        let mut others = Vec::new(); // of a single category, to suggest the nearest
        for category in &known {
            // A tracepoint that was removed since it was listed is left out. A program may remove
            // its probes at any time.
            let directory = self.absolute(&format!("events/{category}"));
            for name in System::optional(self.system.directories(&directory))?.unwrap_or_default() {
                if names.matches(&name) {
                    match Tracepoint::load(&self.system, directory.join(&name).join("format"), category) {
                        Err(TracefsError::File(error)) if error.is_not_found() => {}
                        tracepoint => found.push(tracepoint?),
                    }
                } else if known.len() == 1 {
                    others.push(name);
                }
            }
        }
        if found.is_empty() {
            let has = if known.len() == 1 { others } else { self.categories()? };
            return Err(TracefsError::NotFound { wanted: pattern.to_owned(), has });
        }
        Ok(found)
    }

    /// Returns category and name of the tracepoints with these ids, sorted. Ids that no tracepoint
    /// has are left out.
    ///
    /// # Errors
    ///
    /// [`TracefsError::File`] if a directory cannot be listed.
    pub fn names_of(&self, ids: &[u64]) -> Result<Vec<(String, String)>, TracefsError> {
        let mut found = Vec::new();
        for category in self.categories()? {
            let directory = self.absolute(&format!("events/{category}"));
            // A program may remove its probes, and with them the category, at any time.
            for name in System::optional(self.system.directories(&directory))?.unwrap_or_default() {
                if found.len() == ids.len() {
                    return Ok(found);
                }
                let id = self.system.number(directory.join(&name).join("id"), "the tracepoint's number");
                if id.is_ok_and(|id| ids.contains(&id.into())) {
                    found.push((category.clone(), name));
                }
            }
        }
        Ok(found)
    }

    /// Returns the bytes of a file below the mount point.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is larger than 4 MiB. The error has its path.
    pub fn read_bytes(&self, file: &str) -> Result<Vec<u8>, FileError> {
        self.system.read_bytes(self.absolute(file))
    }

    fn absolute(&self, file: &str) -> PathBuf {
        Path::new(self.mount).join(file)
    }
}

/// Fails if `name` is not one of those that the directory has. It is looked up there because a
/// user's name may be a path.
fn require(wanted: &str, name: &str, has: Vec<String>) -> Result<(), TracefsError> {
    if has.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(TracefsError::NotFound { wanted: wanted.to_owned(), has })
}

/// A tracepoint of this machine, with the layout of its payload.
///
/// ```no_run
/// use perf_session::{System, Tracefs};
/// use perf_session::ring::{Attr, Sample, SampleType};
///
/// let tracepoint = Tracefs::find(&System::new())?.tracepoint("sched", "sched_switch")?;
/// // Some tracepoints count more than 1 at a hit. `PERIOD` makes each hit one sample, with what it counted.
/// let fields = SampleType::RAW | SampleType::PERIOD;
/// let spec = tracepoint.event_spec().map_attr(|attr| attr.with_period(1).with_sample_type(fields));
/// // Once:
/// let (comm, pid) = (tracepoint.format()?.text("next_comm")?, tracepoint.format()?.integer("next_pid")?);
/// // For each sample of an event of `spec`:
/// fn print(sample: &Sample<'_>, comm: perf_session::tracepoint::TextField) {
///     println!("switch to {:?}", sample.raw().and_then(|payload| comm.read(payload)));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Tracepoint {
    label: Arc<str>,
    category_len: usize,
    id: u32,
    text: Arc<str>,
}

impl Tracepoint {
    /// Reads the format, which also has the name and the id.
    fn load(system: &System, path: PathBuf, category: &str) -> Result<Self, TracefsError> {
        let text = system.read(&path)?;
        match Format::parse(&text) {
            Ok(Format { name, id, .. }) => Ok(Self {
                label: format!("{category}:{name}").into(),
                category_len: category.len(),
                id,
                text: text.into(),
            }),
            Err(error) => Err(TracefsError::Format { path: system.path(path), error }),
        }
    }

    /// Returns the category: `sched`.
    pub fn category(&self) -> &str {
        self.label.get(..self.category_len).unwrap_or_default()
    }

    /// Returns the name in the category: `sched_switch`.
    pub fn name(&self) -> &str {
        self.label.get(self.category_len + 1..).unwrap_or_default()
    }

    /// Returns the value of [`Attr::config`] and of `common_type` in a payload. Valid for this
    /// boot, and for tracepoints of a module until the module is unloaded.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the layout of the payload: fields are bound and read by their names.
    ///
    /// Parses the text of the kernel, so bind fields once and not for every sample.
    ///
    /// # Errors
    ///
    /// None, because the text was parsed when the tracepoint was found. It is a result because
    /// [`Format::parse`] returns one.
    pub fn format(&self) -> Result<Format<'_>, FormatError> {
        Format::parse(&self.text)
    }

    /// Returns the text of the kernel, which [`Format::parse`] takes.
    pub fn format_text(&self) -> &str {
        &self.text
    }

    /// Returns an event that counts the hits, or what each hit stands for:
    /// `sched:sched_stat_runtime` counts nanoseconds. Its label is `category:name`.
    ///
    /// To sample every hit, set a period of 1 and
    /// [`SampleType::PERIOD`](perf_ring::SampleType::PERIOD): see [`Attr::with_period`].
    pub fn event_spec(&self) -> EventSpec {
        let attr = Attr::tracepoint(self.id.into());
        EventSpec::new(attr).with_label(Arc::clone(&self.label)).with_pmu("tracepoint")
    }
}

impl fmt::Display for Tracepoint {
    /// Prints `category:name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl fmt::Debug for Tracepoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracepoint").field("label", &self.label).field("id", &self.id).finish_non_exhaustive()
    }
}

/// The reason why a tracepoint cannot be described.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TracefsError {
    /// tracefs is at none of its mount points.
    NotMounted,
    /// The caller may not read tracefs.
    PermissionDenied {
        /// The directory or file.
        path: PathBuf,
    },
    /// The category or tracepoint does not exist.
    NotFound {
        /// The name or pattern that was looked up.
        wanted: String,
        /// The existing names: the categories, or the tracepoints of the category.
        has: Vec<String>,
    },
    /// The kernel's description of a tracepoint is malformed.
    Format {
        /// The file.
        path: PathBuf,
        /// The line and the reason.
        error: FormatError,
    },
    /// A file cannot be read or is malformed.
    File(FileError),
}

impl From<FileError> for TracefsError {
    fn from(error: FileError) -> Self {
        if error.is_permission_denied() {
            return Self::PermissionDenied { path: error.path().to_owned() };
        }
        Self::File(error)
    }
}

impl fmt::Display for TracefsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotMounted => {
                write!(f, "tracefs is not mounted: {}", Mount::TRACEFS)
            }
            Self::PermissionDenied { path } => {
                write!(f, "{}: permission denied; run as root, or {}", path.display(), Self::LET_GROUP_READ)
            }
            Self::NotFound { wanted, has } => {
                let text = excerpt(wanted.as_bytes());
                let name = wanted.rsplit(':').next().unwrap_or_default();
                let near = nearest(name, has.iter().map(String::as_str));
                write!(f, "tracepoint {text}: not on this machine, ")?;
                match near.as_slice() {
                    [] => write!(f, "which has {}", KnownNames(has)),
                    [name] => write!(f, "the nearest name is {name}"),
                    names => write!(f, "the nearest names are {}", KnownNames(names)),
                }
            }
            Self::Format { path, error } => write!(f, "{}: {error}", path.display()),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl TracefsError {
    /// The remedy that needs root once. Since Linux 5.16 the files are not readable by others,
    /// whatever the mode of the mount.
    pub(crate) const LET_GROUP_READ: &str =
        "let a group read tracefs: mount -o remount,mode=750,gid=GROUP /sys/kernel/tracing";

    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::PermissionDenied { .. } => Some(perf_ring::Errno::EACCES.raw_os_error()),
            Self::File(error) => error.raw_os_error(),
            Self::NotMounted | Self::NotFound { .. } | Self::Format { .. } => None,
        }
    }
}

impl std::error::Error for TracefsError {}

into_std!(TracefsError, NotFound);
