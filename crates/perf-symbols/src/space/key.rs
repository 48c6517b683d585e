//! The identity of a mapped file.

use crate::{BuildId, Inode, MappedObject, Mapping, ObjectKind};

/// Identifies a mapped file: mappings with equal keys map the same file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileKey {
    BuildId(BuildId),
    Inode(Inode, Box<[u8]>),
    Vdso {
        is_32: bool,
    },
    /// With the process id, because the path can lead to another file in another process.
    Path(u32, Box<[u8]>),
}

impl FileKey {
    /// Returns the key of a mapping. `build_id` is the build id according to the records.
    pub(crate) fn new(pid: u32, mapping: &Mapping, build_id: Option<BuildId>) -> Self {
        let object = mapping.object();
        match build_id {
            Some(id) => Self::BuildId(id),
            None if object.kind() == ObjectKind::Vdso => Self::Vdso { is_32: mapping.is_below_4_gib() },
            None => Self::without_id(pid, object),
        }
    }

    /// Returns the key of a mapped file by its inode, or by its path if the inode is unknown.
    pub(crate) fn without_id(pid: u32, object: &MappedObject) -> Self {
        let path = object.path().into();
        match object.inode {
            Some(inode) => Self::Inode(inode, path),
            None => Self::Path(pid, path),
        }
    }
}
