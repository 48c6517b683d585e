//! The bytes of a file, read by offset.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

/// The contents of a file, on disk or in memory.
///
/// The file is not mapped, so that truncation while it is read is an error, not a signal.
pub(super) enum Content {
    File {
        file: File,
        /// Taken when the file was opened.
        identity: Identity,
    },
    /// A closed file, which can no longer be read.
    #[cfg_attr(
        not(any(feature = "names", feature = "unwind")),
        allow(dead_code, reason = "others close none")
    )]
    Closed(Identity),
    Memory(Arc<[u8]>),
}

/// Distinguishes files, and versions of the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) dev: u64,
    pub(super) inode: u64,
    len: u64,
    /// Seconds and nanoseconds since 1970.
    pub(super) modified: (i64, i64),
}

impl From<&Metadata> for Identity {
    fn from(metadata: &Metadata) -> Self {
        Self {
            dev: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

fn closed() -> io::Error {
    io::Error::other("the file was closed")
}

impl Content {
    /// Returns `None` for memory.
    pub(super) fn identity(&self) -> Option<Identity> {
        match self {
            Self::File { identity, .. } | Self::Closed(identity) => Some(*identity),
            Self::Memory(_) => None,
        }
    }

    /// Returns true if the open file was not written since it was opened.
    pub(super) fn is_unchanged(&self) -> bool {
        match self {
            Self::File { file, identity } => {
                file.metadata().is_ok_and(|metadata| Identity::from(&metadata) == *identity)
            }
            Self::Closed(_) => false,
            Self::Memory(_) => true,
        }
    }

    /// Returns the current length in bytes.
    pub(super) fn len(&self) -> io::Result<u64> {
        match self {
            Self::File { file, .. } => Ok(file.metadata()?.len()),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads as many bytes as available, up to the length of the buffer; 0 at the end.
    pub(super) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => file.read_at(buffer, at),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
                    to.copy_from_slice(from);
                }
                Ok(count)
            }
        }
    }

    pub(super) fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.read_exact_at(buffer, at),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => {
                let start = usize::try_from(at).ok();
                let range = start.and_then(|start| bytes.get(start..start.checked_add(buffer.len())?));
                buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// A reader with its own position, because all users of a file share the position of its
/// descriptor.
pub(super) struct Reader<'a> {
    pub(super) content: &'a Content,
    pub(super) at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
