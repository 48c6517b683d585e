//! Maps and programs by their bytes.

use std::io::{BufRead, BufReader};

use crate::prelude::*;

const ANY: BpfElemFlags = BpfElemFlags::empty();

/// `mov r0, 1; exit`.
const RETURN_1: [BpfInsn; 2] = [BpfInsn::new(0xb7, 0, 0, 0, 1), BpfInsn::new(0x95, 0, 0, 0, 0)];

fn hash(max_entries: u32) -> Option<MapFd> {
    let spec =
        MapSpec::new(BpfMapType::HASH, max_entries).with_sizes(4, 8).with_name("pk_bytes".parse().unwrap());
    permitted(MapFd::create(&spec))
}

#[test]
fn an_element_is_written_read_and_deleted() {
    let Some(map) = hash(2) else { return };
    let mut value = [0; 8];
    assert!(!map.lookup(&[1; 4], &mut value, ANY).unwrap());
    map.update(&[1; 4], &[7; 8], ANY).unwrap();
    assert!(map.lookup(&[1; 4], &mut value, ANY).unwrap());
    assert_eq!(value, [7; 8]);
    assert!(map.delete(&[1; 4]).unwrap());
    assert!(!map.delete(&[1; 4]).unwrap());
}

#[test]
fn flags_restrict_an_update_to_new_or_existing_keys() {
    let Some(map) = hash(2) else { return };
    let missing = map.update(&[1; 4], &[7; 8], BpfElemFlags::EXIST).unwrap_err();
    assert_eq!((missing.command(), missing.errno()), (Some(BpfCmd::MAP_UPDATE_ELEM), Some(Errno::ENOENT)));
    map.update(&[1; 4], &[7; 8], BpfElemFlags::NO_EXIST).unwrap();
    let present = map.update(&[1; 4], &[7; 8], BpfElemFlags::NO_EXIST).unwrap_err();
    assert_eq!(present.errno(), Some(Errno::EEXIST));
    assert!(present.to_string().contains("\"pk_bytes\""), "{present}");
}

#[test]
fn buffers_of_another_length_are_refused() {
    let Some(map) = hash(2) else { return };
    let mut long = [0; 16];
    for error in [
        map.lookup(&[1; 8], &mut [0; 8], ANY).unwrap_err(),
        map.lookup(&[1; 4], &mut long, ANY).unwrap_err(),
        map.update(&[1; 4], &[7; 4], ANY).unwrap_err(),
        map.delete(&[]).unwrap_err(),
        map.next_key(Some(&[1; 4]), &mut [0; 2]).unwrap_err(),
        map.next_key(None, &mut [0; 2]).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Size { .. }), "{error}");
    }
}

#[test]
fn keys_are_iterated() {
    let Some(map) = hash(8) else { return };
    for key in 0..5_u32 {
        map.update(&key.to_ne_bytes(), &[0; 8], ANY).unwrap();
    }
    let mut seen = Vec::new();
    let mut key: Option<[u8; 4]> = None;
    let mut next = [0; 4];
    while map.next_key(key.as_ref().map(|key| &key[..]), &mut next).unwrap() {
        seen.push(u32::from_ne_bytes(next));
        key = Some(next);
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2, 3, 4]);
}

#[test]
fn a_descriptor_of_another_kind_is_refused() {
    let Some(map) = hash(2) else { return };
    let error = ProgramFd::from_fd(map.into_fd()).unwrap_err();
    assert!(error.to_string().contains("expected a program, found \"anon_inode:bpf-map\""), "{error}");
    let file = std::fs::File::open("/proc/self/status").unwrap();
    let refused = MapFd::from_fd(file).unwrap_err();
    assert!(matches!(refused.error, Error::Kind { .. }), "{refused}");
    // The descriptor is still open.
    let mut line = String::new();
    let mut file = BufReader::new(std::fs::File::from(refused.value));
    assert!(file.read_line(&mut line).is_ok_and(|length| length > 0));
}

#[test]
fn a_descriptor_of_another_library_has_the_sizes_of_its_map() {
    let Some(map) = hash(3) else { return };
    let foreign = map.as_fd().try_clone_to_owned().unwrap();
    let taken = MapFd::from_fd(foreign).unwrap();
    assert_eq!((taken.map_type(), taken.key_size(), taken.value_size()), (BpfMapType::HASH, 4, 8));
    assert_eq!((taken.max_entries(), taken.name().to_string().as_str()), (3, "pk_bytes"));
}

#[test]
fn a_program_that_the_verifier_refuses_returns_its_log() {
    let Some(_) = hash(1) else { return };
    let load = |code: &[BpfInsn]| {
        ProgramFd::load(BpfProgType::SOCKET_FILTER, code, c"GPL", "pk_prog".parse().unwrap())
    };
    load(&RETURN_1).unwrap();
    let error = load(&RETURN_1[1..]).unwrap_err();
    assert!(error.to_string().contains("R0 !read_ok"), "{error}");
}

#[test]
fn a_raw_tracepoint_program_can_be_run() {
    let name = "pk_prog".parse().unwrap();
    let Some(program) = permitted(ProgramFd::load(BpfProgType::RAW_TRACEPOINT, &RETURN_1, c"GPL", name))
    else {
        return;
    };
    assert_eq!(program.test_run(&[0; 8], Some(0)).unwrap(), 1);
}
