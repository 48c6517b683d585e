//! Lists the maps of the system, or prints the elements of one as bytes.
//!
//! ```sh
//! cargo run -p perf-bpf --example maps
//! cargo run -p perf-bpf --example maps ID
//! ```

use std::env;
use std::error::Error;

use perf_bpf::{BpfElemFlags, Ids, MapFd, ObjectKind};

fn main() -> Result<(), perf_bpf::Report> {
    match env::args().nth(1) {
        None => list()?.iter().for_each(|line| println!("{line}")),
        Some(id) => elements(id.parse()?)?.iter().for_each(|line| println!("{line}")),
    }
    Ok(())
}

/// Returns a line for each map.
pub(crate) fn list() -> Result<Vec<String>, perf_bpf::Error> {
    let mut lines = Vec::new();
    for id in Ids::new(ObjectKind::Map) {
        // It may be gone since its id was listed.
        let Some(map) = MapFd::open_id(id?)? else { continue };
        let info = map.info()?;
        lines.push(format!(
            "{:>5} {:20} {:15} key {} value {} entries {} flags {}",
            info.id,
            info.map_type.to_string(),
            info.name,
            info.key_size,
            info.value_size,
            info.max_entries,
            info.flags
        ));
    }
    Ok(lines)
}

/// Returns a line for each element of a map.
pub(crate) fn elements(id: u32) -> Result<Vec<String>, Box<dyn Error>> {
    let map = MapFd::open_id(id)?.ok_or("no map has this id")?;
    let mut lines = Vec::new();
    let (mut key, mut value) = (vec![0; map.key_size()], vec![0; map.element_size()?]);
    let mut found = map.next_key(None, &mut key)?;
    while found {
        if map.lookup(&key, &mut value, BpfElemFlags::empty())? {
            lines.push(format!("{key:02x?} {value:02x?}"));
        }
        let last = key.clone();
        found = map.next_key(Some(&last), &mut key)?;
    }
    Ok(lines)
}
