//! Tracepoints, which the kernel lists in tracefs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::names::glob::Glob;
use crate::system::{FileError, System};

mod error;
#[cfg(test)]
mod tests;
mod tracepoint;

pub use error::TracefsError;
pub use tracepoint::Tracepoint;

/// The mount points, the usual one first.
const MOUNT_POINTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

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
    /// Returns the tracefs that is mounted at `/sys/kernel/tracing` (since Linux 4.1) or, as on older
    /// kernels, at `/sys/kernel/debug/tracing`.
    ///
    /// # Errors
    ///
    /// It is not mounted, or the caller may not read it: by default only root may.
    pub fn find(system: &System) -> Result<Self, TracefsError> {
        for mount in MOUNT_POINTS {
            let path = system.path(format!("{mount}/events"));
            match fs::metadata(&path) {
                Ok(_) => return Ok(Self { system: system.clone(), mount }),
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
    /// There is no such category, or its directory cannot be read.
    pub fn names(&self, category: &str) -> Result<Vec<String>, TracefsError> {
        require(category, category, self.categories()?)?;
        Ok(self.system.directories(self.absolute(&format!("events/{category}")))?)
    }

    /// Returns a tracepoint.
    ///
    /// # Errors
    ///
    /// There is no such tracepoint, or its format cannot be read or is malformed.
    pub fn tracepoint(&self, category: &str, name: &str) -> Result<Tracepoint, TracefsError> {
        require(&format!("{category}:{name}"), name, self.names(category)?)?;
        Tracepoint::load(&self.system, self.absolute(&format!("events/{category}/{name}/format")), category)
    }

    /// Returns the tracepoints that `category:name` stands for, sorted. Both parts may have the wildcards
    /// `*`, `?` and `[..]`; a name alone is looked up in all categories.
    ///
    /// # Errors
    ///
    /// There is no such tracepoint, or a format cannot be read or is malformed.
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
            // A tracepoint that was removed since it was listed is left out. A program may remove its probes at any time.
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

    /// Returns category and name of the tracepoints with these ids, sorted. Ids that no tracepoint has are left out.
    #[cfg(feature = "synthesize")]
    pub(crate) fn names_of(&self, ids: &[u64]) -> Result<Vec<(String, String)>, TracefsError> {
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
    #[cfg(feature = "synthesize")]
    pub(crate) fn read_bytes(&self, file: &str) -> Result<Vec<u8>, FileError> {
        self.system.read_bytes(self.absolute(file))
    }

    fn absolute(&self, file: &str) -> PathBuf {
        Path::new(self.mount).join(file)
    }
}

/// Fails if `name` is not one of those that the directory has. It is looked up there because a user's
/// name may be a path.
fn require(wanted: &str, name: &str, has: Vec<String>) -> Result<(), TracefsError> {
    if has.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(TracefsError::NotFound { wanted: wanted.to_owned(), has })
}
