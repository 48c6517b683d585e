//! Why the file of a mapping was not found.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::elf::ElfError;
use crate::{BuildId, MappedObject, ObjectKind};

/// Why no candidate is the file of a mapping: returned by
/// [`FileFinder::find`](crate::FileFinder::find).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    kind: NotFoundKind,
    object: MappedObject,
    rejected: Vec<(PathBuf, Rejection)>,
}

/// The kind of a [`NotFound`]. A key for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotFoundKind {
    /// The mapping has no file, such as `//anon` or `[heap]`. Code there was written at run time.
    NoFile,
    /// The file at the path is a different one, or was changed after the recording.
    Replaced,
    /// A candidate cannot be opened for lack of permission.
    Denied,
    /// The file at the path is damaged or not ELF.
    Malformed,
    /// There is no file at the path and no copy of it.
    Missing,
}

impl NotFoundKind {
    /// Returns the reason as lower-case text without a remedy.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoFile => "memory without a file",
            Self::Replaced => "the file was replaced since it was mapped",
            Self::Denied => "the file may not be read",
            Self::Malformed => "the file is no ELF file",
            Self::Missing => "the file is missing",
        }
    }
}

/// Why a candidate was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The candidate cannot be read as ELF.
    Elf(ElfError),
    /// The candidate has a different build id, or none.
    BuildId {
        /// The build id of the mapping.
        expected: BuildId,
        /// The build id of the candidate.
        found: Option<BuildId>,
    },
    /// The candidate is another file on the same device.
    Inode {
        /// The inode in the record.
        expected: u64,
        /// The inode of the candidate.
        found: u64,
    },
    /// The candidate was changed after the recording.
    Modified {
        /// End of the recording, in seconds since 1970.
        recorded: u64,
        /// Last change of the candidate, in seconds since 1970.
        modified: u64,
    },
    /// A download failed with this message.
    Download(String),
    /// The candidate may be another file, because the mapping has no build id or inode to compare.
    /// The same path can lead to different files on another machine, in another root, or through
    /// the links of a process that reuses the id.
    Unverified,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(error) => error.fmt(f),
            Self::BuildId { expected, found: Some(found) } => {
                write!(f, "expected the build id {expected}, found {found}")
            }
            Self::BuildId { expected, found: None } => {
                write!(f, "expected the build id {expected}, found none")
            }
            Self::Inode { expected, found } => write!(f, "expected inode {expected}, found {found}"),
            Self::Modified { recorded, modified } => {
                write!(f, "changed {} s after the recording", modified.saturating_sub(*recorded))
            }
            Self::Download(message) => f.write_str(message),
            Self::Unverified => f.write_str("the mapping has no build id or inode to compare"),
        }
    }
}

impl NotFound {
    /// Returns the kind, for counting.
    pub fn kind(&self) -> NotFoundKind {
        self.kind
    }

    /// Returns the mapped object.
    pub fn object(&self) -> &MappedObject {
        &self.object
    }

    /// Returns the candidates that exist, with the reasons why they were rejected.
    pub fn rejected(&self) -> impl Iterator<Item = (&Path, &Rejection)> {
        self.rejected.iter().map(|(path, rejection)| (path.as_path(), rejection))
    }

    /// Returns the reason for a mapping without a file.
    pub(super) fn no_file(object: &MappedObject) -> Self {
        Self { kind: NotFoundKind::NoFile, object: object.clone(), rejected: Vec::new() }
    }

    pub(super) fn new(object: &MappedObject, rejected: Vec<(PathBuf, Rejection)>) -> Self {
        let kinds = rejected.iter().map(|(_, rejection)| match rejection {
            Rejection::Elf(ElfError::Io { kind: io::ErrorKind::PermissionDenied, .. }) => {
                NotFoundKind::Denied
            }
            Rejection::Elf(_) => NotFoundKind::Malformed,
            Rejection::Unverified | Rejection::Download(_) => NotFoundKind::Missing,
            _ => NotFoundKind::Replaced,
        });
        Self { kind: kinds.min().unwrap_or(NotFoundKind::Missing), object: object.clone(), rejected }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", String::from_utf8_lossy(self.object.path()), self.kind.as_str())?;
        if let Some((path, rejection)) = self.rejected.first() {
            write!(f, " ({}: {rejection})", path.display())?;
        }
        f.write_str(match self.kind {
            NotFoundKind::NoFile => "; a runtime with a perf map or jitdump names its code",
            NotFoundKind::Replaced => "; give the old file by a build-id cache or symfs",
            // The vdso is not stored in folders of files, so that only a build id can lead to a
            // copy.
            _ if self.object.kind() == ObjectKind::Vdso => {
                "; 32-bit programs and other kernels have another one, which a build-id cache can have"
            }
            NotFoundKind::Denied => "; run as the user of the process, or as root",
            NotFoundKind::Malformed | NotFoundKind::Missing => {
                "; give the file by symfs, a build-id cache or a debug package"
            }
        })
    }
}

impl std::error::Error for NotFound {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vdso_of_another_kernel_is_not_looked_for_in_folders() {
        let reason = NotFound::new(&MappedObject::new(b"[vdso]"), Vec::new()).to_string();
        assert!(reason.contains("build-id cache") && !reason.contains("symfs"), "{reason}");
    }

    #[test]
    fn reason_is_the_first_in_order_of_all_candidates() {
        let object = MappedObject::new(b"/bin/a");
        let denied = || Rejection::Elf(ElfError::from(io::Error::from_raw_os_error(13)));
        let malformed = || Rejection::Elf(ElfError::Malformed("no header".to_owned()));
        let other = || Rejection::Inode { expected: 1, found: 2 };
        for (rejected, kind, text) in [
            (
                vec![denied(), malformed()],
                NotFoundKind::Denied,
                "/bin/a: the file may not be read (/x: Permission denied (os error 13)); \
                 run as the user of the process, or as root",
            ),
            (
                vec![malformed(), Rejection::Unverified],
                NotFoundKind::Malformed,
                "/bin/a: the file is no ELF file (/x: expected an ELF file: no header); \
                 give the file by symfs, a build-id cache or a debug package",
            ),
            (
                vec![other(), denied()],
                NotFoundKind::Replaced,
                "/bin/a: the file was replaced since it was mapped (/x: expected inode 1, found 2); \
                 give the old file by a build-id cache or symfs",
            ),
            (
                vec![],
                NotFoundKind::Missing,
                "/bin/a: the file is missing; give the file by symfs, a build-id cache or a debug package",
            ),
        ] {
            let rejected = rejected.into_iter().map(|rejection| (PathBuf::from("/x"), rejection)).collect();
            let reason = NotFound::new(&object, rejected);
            assert_eq!((reason.kind(), reason.to_string().as_str()), (kind, text));
            assert_eq!(reason.object(), &object);
        }
    }
}
