use perf_abi::{CpuMode, Header, Misc, RecordType};
use zerocopy::{FromBytes, IntoBytes};

use super::{Content, Features};
use crate::format::Feature;

/// The build id of a mapped file, for [`Features::set_build_ids`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildId {
    /// Path as in the `MMAP2` records, `[kernel.kallsyms]` for the kernel.
    pub path: Vec<u8>,
    /// The build id, at most 20 bytes. Bytes after that are not written.
    pub id: Vec<u8>,
    /// Whether the file is the kernel or a module.
    pub is_kernel: bool,
}

/// Bytes of a build id in the file format.
const ID_SIZE: usize = 20;
/// `pid` of the host's kernel, and of files that belong to no guest.
const HOST: i32 = -1;
/// The length of the build id is recorded.
const HAS_SIZE: u16 = 0x8000;
/// Bytes before the path.
const FIXED: usize = size_of::<Header>() + 4 + ID_SIZE + 4;
/// Bytes of a path that are written; the kernel's `PATH_MAX`.
const MAX_PATH: usize = 4096;
/// Names are padded to a multiple of this number of bytes, as the perf tool does.
const NAME_ALIGN: usize = 64;

impl Features {
    /// Sets [`Feature::BUILD_ID`].
    pub fn set_build_ids(&mut self, build_ids: &[BuildId]) {
        self.fill(Feature::BUILD_ID, |content| {
            for build_id in build_ids {
                push(content, build_id);
            }
        });
    }

    /// Returns the entries of [`Feature::BUILD_ID`] as records of a kind.
    pub(in crate::writer) fn build_id_records(&self, kind: RecordType) -> Vec<Vec<u8>> {
        let mut rest = self.get(Feature::BUILD_ID).unwrap_or_default();
        let mut records = Vec::new();
        while let Ok((header, _)) = Header::read_from_prefix(rest) {
            let Some((entry, after)) = rest.split_at_checked(usize::from(header.size)) else { break };
            let Some(body) = entry.get(size_of::<Header>()..) else { break };
            records.push([Header { kind, ..header }.as_bytes(), body].concat());
            rest = after;
        }
        records
    }
}

fn push(content: &mut Content, build_id: &BuildId) {
    let path = build_id.path.get(..MAX_PATH).unwrap_or(&build_id.path);
    let id = build_id.id.get(..ID_SIZE).unwrap_or(&build_id.id);
    let padded = (path.len() + 1).next_multiple_of(NAME_ALIGN);
    let mode = if build_id.is_kernel { CpuMode::KERNEL } else { CpuMode::USER };
    let header = Header {
        kind: RecordType(0),
        misc: Misc::from_bits_retain(HAS_SIZE).with_cpu_mode(mode),
        size: (FIXED + padded) as u16,
    };
    let bytes = &mut content.0;
    let end = bytes.len() + FIXED + padded;
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(HOST.as_bytes());
    bytes.extend_from_slice(id);
    bytes.resize(end - padded - 4, 0);
    bytes.extend_from_slice(&[id.len() as u8, 0, 0, 0]);
    bytes.extend_from_slice(path);
    bytes.resize(end, 0);
}
