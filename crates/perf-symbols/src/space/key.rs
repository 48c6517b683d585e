//! The key by which mappings of one file are equal.

use crate::{BuildId, Inode, MappedObject, Mapping, ObjectKind};

/// Mappings with equal keys are of one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileKey {
    BuildId(BuildId),
    Inode(Inode, Box<[u8]>),
    Vdso {
        is_32: bool,
    },
    /// Another process may have another file at the path.
    Path(u32, Box<[u8]>),
}

impl FileKey {
    /// Returns the key of a mapping of a process. `build_id` is that of the records.
    pub(crate) fn new(pid: u32, mapping: &Mapping, build_id: Option<BuildId>) -> Self {
        let object = mapping.object();
        match build_id {
            Some(id) => Self::BuildId(id),
            None if object.kind() == ObjectKind::Vdso => Self::Vdso { is_32: mapping.is_below_4_gib() },
            None => Self::without_id(pid, object),
        }
    }

    /// Returns the key of a file that a process has mapped, by its inode or path.
    pub(crate) fn without_id(pid: u32, object: &MappedObject) -> Self {
        let path = object.path().into();
        match object.inode() {
            Some(inode) => Self::Inode(inode, path),
            None => Self::Path(pid, path),
        }
    }
}
