//! Functions of files by their names.

use super::elf_file::{INDIRECT, OBJECT, SEGMENT, Symbol, function, library};
use super::*;

/// Returns the file offset of the function in a file with these symbols.
fn look_up(exported: &[Symbol], others: &[Symbol], name: &str) -> Result<u64, ProbeError> {
    let tree = Tree::new();
    let path = tree.file("/lib/library.so", library(exported, others));
    let probe = Probe::file_function(&path, name)?;
    assert_eq!(probe.to_string(), format!("uprobe:{}:{name}", path.display()));
    let Location::File { offset, .. } = probe.location else { panic!("a file") };
    let moved = probe.with_offset(5);
    assert_eq!(moved.to_string(), format!("uprobe:{}:{name}+0x5", path.display()));
    assert!(matches!(moved.location, Location::File { offset: moved, .. } if moved == offset + 5));
    Ok(offset)
}

#[test]
fn address_becomes_an_offset_by_its_segment() {
    let (address, offset, len) = SEGMENT;
    let look_up = |address| look_up(&[function("f", address)], &[], "f");
    assert_eq!(look_up(address).unwrap(), offset);
    assert_eq!(look_up(address + len - 1).unwrap(), offset + len - 1);
    for outside in [address - 1, address + len, 0, u64::MAX] {
        assert!(matches!(look_up(outside), Err(ProbeError::NotInFile { address, .. }) if address == outside));
    }
}

#[test]
fn exported_function_is_preferred_to_others() {
    let found = look_up(&[function("f", 0x40_1010)], &[function("f", 0x40_1020)], "f");
    assert_eq!(found.unwrap(), 0x2010);
    assert_eq!(look_up(&[], &[function("f", 0x40_1020)], "f").unwrap(), 0x2020);
}

#[test]
fn global_function_is_preferred_to_local_ones() {
    let local = |address| Symbol { is_global: false, ..function("f", address) };
    let found = look_up(&[], &[local(0x40_1010), local(0x40_1020), function("f", 0x40_1030)], "f");
    assert_eq!(found.unwrap(), 0x2030);
    let several = look_up(&[], &[local(0x40_1020), local(0x40_1010), local(0x40_1020)], "f").unwrap_err();
    let ProbeError::Ambiguous { offsets, .. } = &several else { panic!("{several}") };
    assert_eq!(offsets, &[0x2010, 0x2020]);
    assert!(
        several
            .to_string()
            .ends_with("2 symbols `f`, at the file offsets 0x2010 0x2020; probe one by its offset")
    );
}

#[test]
fn functions_without_one_place_are_errors() {
    let undefined = Symbol { section: 0, ..function("malloc", 0) };
    assert!(matches!(look_up(&[undefined], &[], "malloc"), Err(ProbeError::NoSymbol { .. })));
    let indirect = Symbol { kind: INDIRECT, ..function("memcpy", 0x40_1010) };
    assert!(matches!(look_up(&[indirect], &[], "memcpy"), Err(ProbeError::Indirect { .. })));
}

#[test]
fn variable_is_not_a_function() {
    let variable = || Symbol { kind: OBJECT, ..function("semaphore", 0x40_1010) };
    assert!(matches!(look_up(&[variable()], &[], "semaphore"), Err(ProbeError::NoSymbol { .. })));
    let tree = tree();
    let path = tree.file("/lib/library.so", library(&[variable()], &[function("f", 0x40_1020)]));
    let probe = Probe::file_function(&path, "f").unwrap();
    let attr =
        probe.clone().with_ref_counter_symbol("semaphore").unwrap().event_spec(tree.system()).unwrap().attr();
    assert_eq!((attr.config, attr.config2), (0x2010_0000_0000, 0x2020));
    assert!(matches!(probe.with_ref_counter_symbol("f"), Err(ProbeError::NoSymbol { .. })));
}

#[test]
fn nearest_names_are_listed() {
    let message =
        error(look_up(&[function("readline", 0x40_1000)], &[function("getline", 0x40_1000)], "raedline"));
    assert!(
        message.contains("/library.so: no symbol `raedline`; the nearest names are readline"),
        "{message}"
    );
}

#[test]
fn file_that_is_no_program_is_named() {
    let tree = Tree::new();
    for content in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &library(&[], &[])[..100]] {
        let path = tree.file("/bin/script", content);
        let message = error(Probe::file_function(&path, "main"));
        assert!(
            message.starts_with(&format!("{}: expected an ELF file, found", path.display())),
            "{message}"
        );
    }
    let missing = Probe::file_function(tree.system().path("/bin/missing"), "main").unwrap_err();
    assert!(matches!(missing, ProbeError::File(error) if error.is_not_found()));
}

#[test]
fn symbols_of_the_test_itself_are_found() {
    // The symbol table has the mangled name.
    let path = std::env::current_exe().unwrap();
    let offset = Probe::file_function(&path, "main").map(|probe| probe.location);
    assert!(matches!(offset, Ok(Location::File { offset, .. }) if offset > 0), "{offset:?}");
}
