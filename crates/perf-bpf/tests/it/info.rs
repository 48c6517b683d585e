//! Ids and properties of maps and programs, also of other processes.

use std::process::{Command, Stdio};

use crate::prelude::*;

fn map() -> Option<MapFd> {
    let spec = MapSpec::new(BpfMapType::HASH, 100).with_sizes(4, 12).with_flags(BpfMapFlags::NO_PREALLOC);
    permitted(MapFd::create(&spec.with_name("pk_info".parse().unwrap())))
}

/// A program of the type that looks up `map`.
fn program(map: &MapFd, prog_type: BpfProgType) -> ProgramFd {
    use std::os::fd::AsRawFd;
    let code = [
        BpfInsn::new(0x18, 1, 1, 0, map.as_fd().as_raw_fd()), // r1 = map
        BpfInsn::new(0, 0, 0, 0, 0),                          // its second half
        BpfInsn::new(0x62, 10, 0, -4, 0),                     // *(u32 *)(r10 - 4) = 0
        BpfInsn::new(0xbf, 2, 10, 0, 0),                      // r2 = r10
        BpfInsn::new(0x07, 2, 0, 0, -4),                      // r2 -= 4
        BpfInsn::new(0x85, 0, 0, 0, 1),                       // call map_lookup_elem
        BpfInsn::new(0xb7, 0, 0, 0, 3),                       // r0 = 3
        BpfInsn::new(0x95, 0, 0, 0, 0),                       // exit
    ];
    ProgramFd::load(prog_type, &code, c"GPL", "pk_info".parse().unwrap()).unwrap()
}

/// Returns whether the process may look for ids, which needs `CAP_SYS_ADMIN` also where BPF is
/// permitted.
fn may_find_ids(kind: ObjectKind) -> bool {
    Ids::new(kind).next().is_none_or(|id| permitted(id).is_some())
}

#[test]
fn info_has_the_properties_of_the_map() {
    let Some(map) = map() else { return };
    let info = map.info().unwrap();
    assert_eq!((info.map_type, info.key_size, info.value_size), (BpfMapType::HASH, 4, 12));
    assert_eq!((info.max_entries, info.flags), (100, BpfMapFlags::NO_PREALLOC));
    assert_eq!((info.name.to_string().as_str(), info.btf_id), ("pk_info", 0));
    assert!(info.id > 0);
}

#[test]
fn a_map_is_found_by_its_id() {
    let Some(map) = map() else { return };
    if !may_find_ids(ObjectKind::Map) {
        return;
    }
    let info = map.info().unwrap();
    assert!(Ids::new(ObjectKind::Map).any(|id| id.unwrap() == info.id));
    assert_eq!(Ids::after(ObjectKind::Map, info.id - 1).next().unwrap().unwrap(), info.id);
    let again = MapFd::open_id(info.id).unwrap().unwrap();
    assert_eq!(again.info().unwrap(), info);
    assert!(MapFd::open_id(u32::MAX).unwrap().is_none());
    assert!(Ids::after(ObjectKind::Map, u32::MAX).next().is_none_or(|id| id.is_err()));
}

#[test]
fn info_of_a_program_has_its_maps() {
    let Some(map) = map() else { return };
    let program = program(&map, BpfProgType::SOCKET_FILTER);
    let info = program.info().unwrap();
    assert_eq!((info.prog_type, info.name), (BpfProgType::SOCKET_FILTER, "pk_info".parse().unwrap()));
    assert_eq!(info.map_ids, [map.info().unwrap().id]);
    assert!(info.is_gpl_compatible && info.translated_len > 0 && info.tag != [0; 8]);
    assert!(!info.load_time.is_zero());
    if !may_find_ids(ObjectKind::Program) {
        return;
    }
    assert!(Ids::new(ObjectKind::Program).any(|id| id.unwrap() == info.id));
    let again = ProgramFd::open_id(info.id).unwrap().unwrap();
    assert_eq!(again.info().unwrap(), info);
    assert!(ProgramFd::open_id(u32::MAX).unwrap().is_none());
}

#[test]
fn a_license_that_is_not_gpl_is_seen() {
    let code = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];
    let program = ProgramFd::load(BpfProgType::SOCKET_FILTER, &code, c"MIT", ObjectName::EMPTY);
    let Some(program) = permitted(program) else { return };
    let info = program.info().unwrap();
    assert!(!info.is_gpl_compatible && info.map_ids.is_empty() && info.name.is_empty());
}

#[test]
fn runs_are_counted_while_statistics_are_enabled() {
    let Some(map) = map() else { return };
    let program = program(&map, BpfProgType::RAW_TRACEPOINT);
    let Some(stats) = permitted(RunStats::enable()) else { return };
    for _ in 0..5 {
        assert_eq!(program.test_run(&[], Some(0)).unwrap(), 3);
    }
    drop(stats);
    let info = program.info().unwrap();
    assert!(info.runs >= 5, "{info:?}");
}

#[test]
fn a_map_of_another_process_is_read() {
    let Some(map) = map() else { return };
    let fd = map.as_fd().try_clone_to_owned().unwrap();
    let mut child =
        match Command::new("sleep").arg("600").stdin(Stdio::from(fd)).stdout(Stdio::null()).spawn() {
            Ok(child) => child,
            Err(error) => return eprintln!("skipped: sleep: {error}"),
        };
    let system = System::new();
    let found = ProcessMapInfo::read(&system, child.id(), 0);
    let no_map = ProcessMapInfo::read(&system, child.id(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let (found, info) = (found.unwrap(), map.info().unwrap());
    assert_eq!((found.map_type, found.key_size, found.value_size), (BpfMapType::HASH, 4, 12));
    assert_eq!((found.max_entries, found.flags), (100, BpfMapFlags::NO_PREALLOC));
    assert_eq!((found.id, found.is_frozen), (Some(info.id), Some(false)));
    let error = no_map.unwrap_err();
    assert!(matches!(error, Error::FdInfo { field: "map_type", found: None, .. }), "{error}");
    assert!(error.to_string().contains("expected the descriptor of a map"), "{error}");
    assert!(matches!(ProcessMapInfo::read(&system, u32::MAX, 0), Err(Error::File(_))));
}

#[test]
fn functions_have_the_machine_code_of_the_program() {
    let Some(map) = map() else { return };
    let program = program(&map, BpfProgType::SOCKET_FILTER);
    let (info, functions) = (program.info().unwrap(), program.functions().unwrap());
    // None if it is interpreted or the addresses are hidden.
    assert!(functions.len() <= 1, "{functions:?}");
    if let [function] = functions[..] {
        assert_eq!(function.len, info.jited_len);
        let kernel_half = 1 << 63;
        assert!(!cfg!(target_arch = "x86_64") || function.address >= kernel_half, "{function:?}");
    }
}
