//! The example `maps`.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

#[allow(dead_code)] // its main function
#[path = "../examples/maps.rs"]
mod maps;

use perf_bpf::BpfMapType;
use support::map_or_skip;

#[test]
fn a_map_is_listed_with_its_elements() {
    let Some(map) = map_or_skip::<u32, u16>(BpfMapType::HASH, 4) else { return };
    map.update(&u32::from_ne_bytes([1, 2, 3, 4]), &u16::from_ne_bytes([5, 6])).unwrap();
    let id = map.fd().info().unwrap().id;
    let line = maps::list().unwrap().into_iter().find(|line| line.trim().starts_with(&format!("{id} ")));
    assert!(line.unwrap().contains("HASH                 pk_test         key 4 value 2 entries 4"));
    assert_eq!(maps::elements(id).unwrap(), ["[01, 02, 03, 04] [05, 06]"]);
    assert!(maps::elements(u32::MAX).is_err());
}
