//! The functions that a process wrote into memory, for the unwinder.

use std::io::BufReader;

use super::jitdump::Jitdump;
use super::perf_map;
use super::worker::is_jitdump_of;
use crate::{AddressSpaces, FileFinder};

/// Passes the name, address and length in bytes of each function in the jitdump and the perf map of
/// a process. `address` is one that must be in the perf map if that can belong to an ended process
/// only.
pub(crate) fn functions_of_runtime(
    finder: &FileFinder,
    spaces: &AddressSpaces,
    pid: u32,
    address: u64,
    mut each: impl FnMut(&[u8], u64, u64),
) {
    if let Some(object) = spaces.jitdump(pid)
        && let Ok((file, metadata)) = finder.open_in_process(pid, object)
        && is_jitdump_of(pid, object, &metadata, finder)
        && let Ok(mut jitdump) = Jitdump::read(BufReader::new(file))
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
