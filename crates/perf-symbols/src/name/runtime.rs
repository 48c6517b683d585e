//! The functions that a process wrote into memory, for the unwinder.

use std::io::BufReader;
use std::sync::Arc;

use super::jitdump::Jitdump;
use super::perf_map;
use super::worker::is_jitdump_of;
use crate::{AddressSpaces, FileFinder};

/// A function that a runtime compiled.
pub(crate) struct RuntimeFunction<'a> {
    pub(crate) name: &'a [u8],
    /// First address.
    pub(crate) start: u64,
    /// Length in bytes.
    pub(crate) len: u64,
    /// The bytes of its `.eh_frame`, whose addresses are relative, and which follows the code at
    /// the next address that is a multiple of 8 bytes away from its start.
    pub(crate) unwinding: Option<&'a Arc<[u8]>>,
}

/// Passes each function in the jitdump and the perf map of a process. `address` is one that must be
/// in the perf map if that can belong to an ended process only.
pub(crate) fn functions_of_runtime(
    finder: &FileFinder,
    spaces: &AddressSpaces,
    pid: u32,
    address: u64,
    mut each: impl FnMut(RuntimeFunction<'_>),
) {
    if let Some(object) = spaces.jitdump(pid)
        && let Ok((file, metadata)) = finder.open_in_process(pid, object)
        && is_jitdump_of(pid, object, &metadata, finder)
        && let Ok(jitdump) = Jitdump::read_with_unwinding(BufReader::new(file))
    {
        jitdump.for_each(&mut each);
    }
    // The names say elsewhere why a map cannot be trusted.
    let Some(code) = spaces.process_mappings(pid).filter(|_| finder.is_local()) else { return };
    let found = match perf_map::read_if_new(finder.system(), pid, &code, None) {
        Ok(None) => perf_map::read_of_ended_namespace(finder.system(), pid, address, &code),
        found => found,
    };
    if let Ok(Some((_, map))) = found {
        map.for_each(&mut each);
    }
}
