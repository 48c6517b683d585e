//! Files of living and dead processes: replaced, deleted, in another root, stripped, and in caches.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use perf_symbols::{
    BuildId, Evidence, FileFinder, Inode, MappedObject, Mapping, NotFoundKind, ObjectFile, Rejection,
    SectionBytes,
};

use crate::programs::Programs;

/// A program that runs until it is dropped.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).spawn().expect("a program that starts"))
    }

    /// Waits for the executable mapping whose name ends with `name`.
    fn mapping(&self, name: &str) -> Mapping {
        for _ in 0..1000 {
            let maps = fs::read_to_string(format!("/proc/{}/maps", self.0.id())).unwrap_or_default();
            let is_wanted = |line: &&str| line.contains(" r-xp ") && line.ends_with(name);
            if let Some(line) = maps.lines().find(is_wanted) {
                return parse(line);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no mapping of {name}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

/// Converts a line of `/proc/PID/maps`.
fn parse(line: &str) -> Mapping {
    let hex = |text| u64::from_str_radix(text, 16).expect("a number");
    let words: Vec<_> = line.splitn(6, ' ').collect();
    let [range, _, offset, dev, inode, path] = words[..] else { panic!("{line}") };
    let (start, end) = range.split_once('-').expect("a range");
    let (major, minor) = dev.split_once(':').expect("a device");
    let inode = Inode {
        major: hex(major) as u32,
        minor: hex(minor) as u32,
        inode: inode.parse().expect("a number"),
        generation: 0,
    };
    let object = MappedObject::new(path.trim().as_bytes()).with_inode(inode);
    Mapping::new(hex(start)..hex(end), hex(offset), object)
}

/// Removes the inode, as in a record with a build id.
fn without_inode(mapping: &Mapping) -> Mapping {
    let object = MappedObject::new(mapping.object().path());
    Mapping::new(mapping.start()..mapping.end(), mapping.offset_of(mapping.start()), object)
}

fn section(file: &ObjectFile, name: &str) -> SectionBytes {
    file.section(name).expect("a file that can be read").expect("the section")
}

#[test]
fn replaced_program_is_found_while_it_runs_and_refused_after_it() {
    let Some(programs) = Programs::new("replaced") else { return };
    let path = programs.path("history");
    let running = Running::start(Command::new(&path).arg("wait"));
    let (pid, mapping) = (running.0.id(), running.mapping("/history"));
    let id = ObjectFile::open(&path).expect("the program").build_id();
    assert!(id.is_some(), "the linker writes build ids");
    let finder = FileFinder::local();
    let found = |id| finder.find(pid, &mapping, id).map(|found| found.evidence());
    assert_eq!((found(id), found(None)), (Ok(Evidence::BuildId), Ok(Evidence::Inode)));
    // The path in this root is preferred, because it stays when the process ends.
    let here = finder.find(pid, &mapping, id).expect("the program");
    assert_eq!(here.object().path(), path);

    programs.compile("newer", "history.c", &["-O0", "-ldl", "-lpthread"]);
    fs::rename(programs.path("newer"), &path).expect("a new program in its place");
    // The kernel has a link to the program even without a path.
    for id in [id, None] {
        let found = finder.find(pid, &mapping, id).expect("the program that runs");
        assert!(found.object().path().starts_with("/proc"), "{found:?}");
        assert_eq!(
            found.object().build_id(),
            ObjectFile::open(found.object().path()).expect("it").build_id()
        );
    }

    drop(running);
    let by_id = finder.find(pid, &mapping, id).expect_err("a replaced program");
    assert_eq!(by_id.kind(), NotFoundKind::Replaced);
    let newer = ObjectFile::open(&path).expect("the new program").build_id();
    let text = by_id.to_string();
    for id in [id, newer] {
        assert!(text.contains(&id.expect("an id").to_string()), "{text}");
    }
    let by_inode = finder.find(pid, &mapping, None).expect_err("a replaced program");
    assert_eq!(by_inode.kind(), NotFoundKind::Replaced);
    assert!(
        by_inode.rejected().any(|(_, rejection)| matches!(rejection, Rejection::Inode { .. })),
        "{by_inode}"
    );

    // The file was written in place, so that the inode is the same.
    let recorded = SystemTime::now() - Duration::from_secs(100);
    let metadata = fs::metadata(&path).expect("the program");
    let inode = Inode { inode: metadata.ino(), ..mapping.object().inode.expect("an inode") };
    let object = mapping.object().clone().with_inode(inode);
    let same = Mapping::new(mapping.start()..mapping.end(), 0x1000, object);
    assert_eq!(finder.find(pid, &same, None).map(|found| found.evidence()), Ok(Evidence::Inode));
    let modified = finder.clone().with_recorded_until(recorded).find(pid, &same, None);
    let modified = modified.expect_err("a program that was written after the recording");
    assert!(
        modified.rejected().any(|(_, rejection)| matches!(rejection, Rejection::Modified { .. })),
        "{modified}"
    );

    fs::remove_file(&path).expect("the program");
    assert_eq!(
        finder.find(pid, &mapping, id).map_err(|error| error.kind()).err(),
        Some(NotFoundKind::Missing)
    );
}

#[test]
fn deleted_program_and_its_vdso_are_found_while_it_runs() {
    let Some(programs) = Programs::new("deleted") else { return };
    let path = programs.path("history");
    let running = Running::start(Command::new(&path).arg("wait"));
    let (mapping, vdso) = (running.mapping("/history"), running.mapping("[vdso]"));
    let id = ObjectFile::open(&path).expect("the program").build_id();
    fs::remove_file(&path).expect("the program");
    let finder = FileFinder::local();
    let found = finder.find(running.0.id(), &without_inode(&mapping), id).expect("the program that runs");
    assert_eq!(found.evidence(), Evidence::BuildId);

    let vdso_file = finder.find(running.0.id(), &vdso, None).expect("the vdso");
    assert!(!section(vdso_file.object(), ".dynsym").bytes.is_empty());
    assert!(vdso_file.object().has_code());
    let shorter = Mapping::new(vdso.start()..vdso.end() - 0x1000, 0, vdso.object().clone());
    assert!(finder.find(1, &shorter, None).is_err(), "a vdso of another size is another one");
    #[cfg(target_pointer_width = "64")]
    {
        let end = 0xf7f0_0000;
        let of_32_bits = Mapping::new(end - (vdso.end() - vdso.start())..end, 0, vdso.object().clone());
        assert!(
            finder.find(1, &of_32_bits, None).is_err(),
            "32-bit programs have another one, which is as long"
        );
    }
    assert!(FileFinder::remote().find(1, &vdso, None).is_err(), "the vdso of another kernel");
    let heap = Mapping::new(0..0x1000, 0, MappedObject::new(b"[heap]"));
    assert_eq!(finder.find(1, &heap, None).map_err(|error| error.kind()).err(), Some(NotFoundKind::NoFile));
}

#[test]
fn program_in_memory_is_found_while_it_is_mapped() {
    let Some(programs) = Programs::new("memfd") else { return };
    let library = programs.path("first.so");
    let Ok(python) = Command::new("python3").arg("-V").output() else {
        eprintln!("skipped: python3 is missing");
        return;
    };
    assert!(python.status.success());
    let script = "import ctypes, os, sys\n\
        fd = os.memfd_create('code')\n\
        os.write(fd, open(sys.argv[1], 'rb').read())\n\
        ctypes.CDLL(f'/proc/self/fd/{fd}')\n\
        sys.stdin.read()";
    let running = Running::start(Command::new("python3").args(["-c", script]).arg(&library));
    let mapping = running.mapping("/memfd:code (deleted)");
    let find = |finder: FileFinder| finder.find(running.0.id(), &mapping, None);
    let found = find(FileFinder::local()).expect("the library in memory");
    assert_eq!(found.evidence(), Evidence::Inode);
    assert_eq!(found.object().build_id(), ObjectFile::open(&library).expect("the library").build_id());
    assert!(find(FileFinder::remote()).is_err());
    assert!(FileFinder::local().is_local() && !FileFinder::remote().is_local());
}

#[test]
fn inode_of_another_device_is_not_compared() {
    let Some(programs) = Programs::new("device") else { return };
    let path = programs.path("history");
    let metadata = fs::metadata(&path).expect("the program");
    let object = MappedObject::new(path.as_os_str().as_encoded_bytes());
    let inode = Inode { major: 0xfff, minor: 0xfffff, inode: metadata.ino(), generation: 0 };
    let pid = std::process::id();
    let evidence = |inode| {
        let mapping = Mapping::new(0x1000..0x2000, 0x1000, object.clone().with_inode(inode));
        FileFinder::local().find(pid, &mapping, None).map(|found| found.evidence())
    };
    assert_eq!(evidence(inode), Ok(Evidence::Path));
    assert_eq!(evidence(Inode { inode: 1, ..inode }), Ok(Evidence::Path));
    // A file that changed in the last second of the recording may be unchanged since its mapping.
    let seconds = u64::try_from(metadata.mtime()).expect("after 1970");
    let until = |seconds| {
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let mapping = Mapping::new(0x1000..0x2000, 0x1000, object.clone());
        FileFinder::local().with_recorded_until(end).find(pid, &mapping, None).map_err(|error| error.kind())
    };
    assert!(until(seconds).is_ok());
    assert_eq!(until(seconds - 1).err(), Some(NotFoundKind::Replaced));
}

#[test]
fn program_in_another_root_is_found_there_and_not_at_its_path_here() {
    let Some(programs) = Programs::new("root") else { return };
    let root = programs.path("");
    let running = Running::start(Command::new("chroot").arg(&root).args(["/static", "wait"]));
    let mapping = running.mapping("/static");
    // The kernel records the path in the root of the process.
    let inside = MappedObject::new(b"/static").with_inode(mapping.object().inode.expect("an inode"));
    let inside = Mapping::new(mapping.start()..mapping.end(), mapping.offset_of(mapping.start()), inside);
    let found = FileFinder::local().find(running.0.id(), &inside, None).expect("the program");
    assert_eq!(found.evidence(), Evidence::Inode);
    assert_eq!(found.object().path(), Path::new(&format!("/proc/{}/root/static", running.0.id())));

    // A path that exists here but not there.
    let outside =
        without_inode(&parse(&format!("1000-2000 r-xp 0 00:00 0 {}", programs.path("history").display())));
    let rejected = FileFinder::local().find(running.0.id(), &outside, None).expect_err("another root");
    assert_eq!(rejected.kind(), NotFoundKind::Missing, "{rejected}");
    drop(running);
    // symfs finds it without its process.
    let symfs = FileFinder::remote().with_symfs(&root);
    let found = symfs.find(1, &without_inode(&inside), None).expect("the program");
    assert_eq!((found.evidence(), found.object().path()), (Evidence::Path, &*programs.path("static")));
}

#[test]
fn remote_file_needs_its_build_id() {
    let Some(programs) = Programs::new("remote") else { return };
    let path = programs.path("history");
    let id = ObjectFile::open(&path).expect("the program").build_id().expect("an id");
    let object = MappedObject::new(path.as_os_str().as_encoded_bytes());
    let mapping = Mapping::new(0x1000..0x2000, 0, object);
    let finder = FileFinder::remote();
    let error = finder.find(1, &mapping, None).expect_err("it may be another file");
    assert_eq!(error.kind(), NotFoundKind::Missing);
    assert!(error.to_string().contains("the mapping has no build id"), "{error}");
    assert_eq!(finder.find(1, &mapping, Some(id)).map(|found| found.evidence()), Ok(Evidence::BuildId));

    // Without the file, each of the three caches has a copy.
    let caches = programs.path("caches");
    let text = id.to_string();
    let (first, rest) = text.split_at(2);
    let places = [
        (caches.join("perf"), PathBuf::from(format!(".build-id/{first}/{rest}/elf"))),
        (caches.join("debuginfod"), PathBuf::from(format!("{text}/executable"))),
        (caches.join("packages"), PathBuf::from(format!(".build-id/{first}/{rest}"))),
    ];
    for (root, place) in &places {
        let copy = root.join(place);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::copy(&path, &copy).expect("a copy");
    }
    fs::remove_file(&path).expect("the program");
    assert_eq!(
        finder.find(1, &mapping, Some(id)).map_err(|error| error.kind()).err(),
        Some(NotFoundKind::Missing)
    );
    let [perf, debuginfod, packages] = places.map(|(root, _)| root);
    for (finder, root) in [
        (finder.clone().with_build_id_cache(&perf), perf),
        (finder.clone().with_debuginfod_cache(&debuginfod), debuginfod),
        (finder.clone().with_debug_folder(&packages), packages),
    ] {
        let found = finder.find(1, &mapping, Some(id)).expect("a copy");
        assert!(found.object().path().starts_with(&root), "{found:?}");
        assert_eq!(found.evidence(), Evidence::BuildId);
    }
    // A file of another build id under the name is rejected.
    let other = programs.path("first.so");
    let wrong = caches.join("perf/.build-id").join(first).join(rest).join("elf");
    fs::copy(other, wrong).expect("a copy");
    let rejected = finder.with_build_id_cache(caches.join("perf")).find(1, &mapping, Some(id));
    assert_eq!(rejected.map_err(|error| error.kind()).err(), Some(NotFoundKind::Replaced));
}

#[test]
fn kernel_is_found_by_its_release_or_in_a_cache_if_the_build_id_is_equal() {
    let Some(programs) = Programs::new("kernel") else { return };
    // The finder compares only the build id.
    let (vmlinux, root) = (programs.path("history"), programs.path("files"));
    let id = ObjectFile::open(&vmlinux).expect("the program").build_id().expect("an id");
    let finder = FileFinder::remote().with_symfs(&root);
    let kind = |release, id| finder.find_kernel(release, id).map_err(|error| error.kind()).err();
    assert_eq!(kind("6.1.0", id), Some(NotFoundKind::Missing));
    let place = root.join("boot/vmlinux-6.1.0");
    fs::create_dir_all(root.join("boot/vmlinux-")).expect("a folder");
    fs::copy(&vmlinux, &place).expect("a copy");
    assert_eq!(finder.find_kernel("6.1.0", id).expect("the kernel").object().path(), place);
    assert_eq!(kind("6.1.0", BuildId::new(&[1; 20]).expect("an id")), Some(NotFoundKind::Replaced));
    assert_eq!(kind("/../vmlinux-6.1.0", id), Some(NotFoundKind::Missing));
    let text = id.to_string();
    let cached = root.join(format!(".build-id/{}/{}/elf", &text[..2], &text[2..]));
    fs::create_dir_all(cached.parent().expect("a folder")).expect("a folder");
    fs::rename(&place, &cached).expect("the file");
    let found = FileFinder::remote().with_build_id_cache(&root).find_kernel("6.1.0", id).expect("the kernel");
    assert_eq!((found.object().path(), found.evidence()), (&*cached, Evidence::BuildId));
}

#[test]
fn file_without_segments_has_its_build_id_in_a_section() {
    let Some(programs) = Programs::new("module") else { return };
    // Link as for kernel modules.
    let options = ["-r", "-nostdlib", "-Wl,--build-id=0x0102030405060708090a0b0c0d0e0f1011121314"];
    if programs.compile("module.ko", "spin.c", &options).is_none() {
        eprintln!("skipped: the linker makes no such file");
        return;
    }
    let (path, stripped) = (programs.path("module.ko"), programs.path("module.debug"));
    let module = ObjectFile::open(&path).expect("the file");
    let id = module.build_id().expect("its build id");
    assert_eq!((id.as_bytes().len(), id.as_bytes()[0], module.has_code()), (20, 1, true));
    let object = MappedObject::new(path.as_os_str().as_encoded_bytes());
    let found = FileFinder::local().find(u32::MAX, &Mapping::new(0x1000..0x2000, 0, object), Some(id));
    assert_eq!(found.map(|found| found.evidence()), Ok(Evidence::BuildId));
    if objcopy(&["--only-keep-debug"], &[&path, &stripped]) {
        assert!(!ObjectFile::open(&stripped).expect("the file").has_code());
    }
}

#[test]
fn debug_file_is_found_by_build_id_and_by_checksum() {
    let Some(programs) = Programs::new("debug") else { return };
    let (path, debug) = (programs.path("linked"), programs.path("linked.debug"));
    if programs.compile("linked", "history.c", &["-g", "-O1", "-ldl", "-lpthread"]).is_none()
        || !objcopy(&["--only-keep-debug"], &[&path, &debug])
    {
        eprintln!("skipped: objcopy is missing");
        return;
    }
    let link = format!("--add-gnu-debuglink={}", debug.display());
    assert!(objcopy(&["--strip-all", &link], &[&path]));
    let id = ObjectFile::open(&path).expect("the program").build_id().expect("an id");
    let mapping = Mapping::new(0x1000..0x2000, 0, MappedObject::new(path.as_os_str().as_encoded_bytes()));
    let debug_of = |finder: &FileFinder| {
        let found = finder.find(1, &mapping, Some(id)).expect("the program");
        found.debug_file().map(|file| file.path().to_owned())
    };
    let finder = FileFinder::local();
    assert_eq!(debug_of(&finder).as_ref(), Some(&debug), "beside it, by its checksum");

    // In the folder of a debug package, by its build id or at the path of the program.
    let packages = programs.path("packages");
    let text = id.to_string();
    let by_id = packages.join(".build-id").join(&text[..2]).join(format!("{}.debug", &text[2..]));
    let by_path = packages.join(programs.path("").strip_prefix("/").expect("a path")).join("linked.debug");
    for place in [&by_id, &by_path] {
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::copy(&debug, place).expect("a copy");
    }
    let finder = finder.with_debug_folder(&packages);
    assert_eq!(debug_of(&finder).as_ref(), Some(&by_id));
    fs::remove_file(&by_id).expect("the copy");
    assert_eq!(debug_of(&finder).as_ref(), Some(&debug));
    fs::remove_file(&debug).expect("the file");
    assert_eq!(debug_of(&finder).as_ref(), Some(&by_path));
    // With another checksum.
    let mut bytes = fs::read(&by_path).expect("the file");
    *bytes.last_mut().expect("a byte") ^= 1;
    fs::write(&by_path, bytes).expect("the file");
    assert_eq!(debug_of(&finder), None);

    // With only the debug file, the length of the mapping determines the position of the code.
    fs::copy(&by_path, &by_id).expect("a copy");
    fs::remove_file(&path).expect("the program");
    let found = finder.find(1, &mapping, Some(id)).expect("its debug information");
    assert!(!found.object().has_code());
    assert_eq!(found.debug_file().map(ObjectFile::path), None);
}

fn objcopy(options: &[&str], files: &[&PathBuf]) -> bool {
    Command::new("objcopy").args(options).args(files).status().is_ok_and(|status| status.success())
}
