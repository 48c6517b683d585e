//! Parses any text as the files of `/proc` that perf-bpf reads, and as the name of an object. Input: a text
//! for `fdinfo`, and after NULs those for `mounts`, for `status` and the name.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use perf_bpf::{BpfFs, BpfPrivileges, Error, ObjectName, ProcessMapInfo};
use perf_session::System;

/// The root of the files, in memory. It stays there after the end of the process, because libFuzzer exits
/// without dropping anything.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let root = base.join(format!("perfkit-fuzz-{}", std::process::id()));
    for folder in ["proc/1/fdinfo", "proc/thread-self", "proc/self"] {
        fs::create_dir_all(root.join(folder)).expect("a folder for the files");
    }
    root
});

fn map_info(system: &System, text: &str) -> Result<ProcessMapInfo, Error> {
    fs::write(ROOT.join("proc/1/fdinfo/3"), text).expect("written");
    ProcessMapInfo::read(system, 1, 3)
}

/// Writes a map's properties as the kernel does.
fn fdinfo(info: &ProcessMapInfo) -> String {
    let mut text = format!(
        "map_type:\t{}\nkey_size:\t{}\nvalue_size:\t{}\nmax_entries:\t{}\nmap_flags:\t{:#x}\n",
        info.map_type.0,
        info.key_size,
        info.value_size,
        info.max_entries,
        info.flags.bits()
    );
    let mut add = |name, value: Option<u64>| {
        if let Some(value) = value {
            text += &format!("{name}:\t{value}\n");
        }
    };
    add("map_extra", info.extra);
    add("memlock", info.memlock);
    add("map_id", info.id.map(u64::from));
    add("frozen", info.is_frozen.map(u64::from));
    add("owner_prog_type", info.owner_program_type.map(|kind| u64::from(kind.0)));
    text
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut parts = text.splitn(4, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let system = System::at(&*ROOT);

    match map_info(&system, part()) {
        Ok(info) => assert_eq!(map_info(&system, &fdinfo(&info)).ok(), Some(info)),
        Err(error) => assert!(matches!(error, Error::FdInfo { .. }), "{error}"),
    }

    fs::write(ROOT.join("proc/thread-self/mounts"), part()).expect("written");
    for found in BpfFs::mounted(&system).expect("the file is there") {
        assert!(found.path("name").is_ok_and(|path| path.starts_with(found.root())));
    }

    let status = part();
    fs::write(ROOT.join("proc/thread-self/status"), status).expect("written");
    fs::write(ROOT.join("proc/self/uid_map"), status).expect("written");
    let privileges = BpfPrivileges::read(&system);
    assert!(privileges.to_string().starts_with("found"), "{privileges}");
    assert!(!privileges.may_load_tracing() || privileges.may_use_maps());

    let name = part();
    match name.parse::<ObjectName>() {
        Ok(parsed) => assert_eq!(parsed.to_string(), name),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
