//! The key by which mappings of one file are equal.

use crate::{BuildId, Inode, MappedObject, ObjectKind};

/// Mappings with equal keys are of one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileKey {
    BuildId(BuildId),
    Inode(Inode, Box<[u8]>),
    Vdso,
    /// Another process may have another file at the path.
    Path(u32, Box<[u8]>),
}

impl FileKey {
    /// Returns the key of an object that a process has mapped. `build_id` is that of the records.
    pub(crate) fn new(pid: u32, object: &MappedObject, build_id: Option<BuildId>) -> Self {
        let path = || object.path().into();
        match (build_id, object.inode()) {
            (Some(id), _) => Self::BuildId(id),
            (None, Some(inode)) => Self::Inode(inode, path()),
            (None, None) if object.kind() == ObjectKind::Vdso => Self::Vdso,
            (None, None) => Self::Path(pid, path()),
        }
    }
}
