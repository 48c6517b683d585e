//! `perfkit archive`: its archive is the perf tool's, gives names without the files, and never
//! follows the names of a recording.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use perf_file::Reader;
use perf_symbols::{AddressSpaces, FileFinder, Query, RecordedObjects, Stack, Symbolizer};
use serde_json::Value;

use crate::support::made::{KERNEL, Made};
use crate::support::recording::{Folder, perfkit, record};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs `perfkit archive`.
fn archive(recording: &Path, options: &[&str]) -> Output {
    let mut command = perfkit();
    command.arg("archive").arg("-i").arg(recording).args(options);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Runs a program of another package; `None` if it is missing, and says so.
fn run(command: &mut Command) -> Option<Output> {
    match command.stdin(Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("skipped: {command:?}: {error}");
            None
        }
    }
}

/// Returns the names in a tar, as the program `tar` reads them.
fn names(file: &Path) -> BTreeSet<String> {
    let output = Command::new("tar").arg("-tf").arg(file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn unpack(file: &Path, folder: &Path) {
    fs::create_dir(folder).unwrap();
    let output = Command::new("tar").arg("-xf").arg(file).arg("-C").arg(folder).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// A program in C++ with a library in the same folder, which the two compile with debug
/// information.
struct Program {
    folder: Folder,
    program: PathBuf,
}

impl Program {
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let (library, program) = (folder.path("libwork.so"), folder.path("program"));
        let code = folder.path("work.cpp");
        fs::write(&code, LIBRARY).unwrap();
        let compiler = |output: &Path| {
            let mut command = Command::new("c++");
            command.args(["-O1", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id=uuid", "-o"]).arg(output);
            command
        };
        let compiled = run(compiler(&library).args(["-shared", "-fPIC"]).arg(&code))?;
        assert!(compiled.status.success(), "{compiled:?}");
        fs::write(&code, PROGRAM).unwrap();
        let compiled = run(compiler(&program).arg(&code).arg(&library))?;
        assert!(compiled.status.success(), "{compiled:?}");
        Some(Self { folder, program })
    }
}

const LIBRARY: &str = "#include <vector>
namespace work {
__attribute__((noinline)) unsigned long spin(unsigned long n) {
    unsigned long x = n | 1;
    for (int i = 0; i < 3000; i++) x = x * 6364136223846793005ul + (x >> 33);
    return x;
}
__attribute__((noinline)) unsigned long in_library(unsigned long n) {
    unsigned long x = spin(n) + spin(n + 1);
    for (int i = 0; i < 3000; i++) x = x * 6364136223846793005ul + (x >> 33);
    return x;
}
}";

const PROGRAM: &str = "#include <cstdio>
namespace work { unsigned long in_library(unsigned long); }
__attribute__((noinline)) unsigned long in_program(unsigned long n) {
    unsigned long x = work::in_library(n);
    for (int i = 0; i < 3000; i++) x = x * 6364136223846793005ul + (x >> 33);
    return x;
}
int main() {
    unsigned long sum = 0;
    for (unsigned long n = 0; n < 20000; n++) sum += in_program(n);
    printf(\"%lu\\n\", sum);
}";

/// Records a program by the perf tool. `None` if that is missing or not permitted.
fn perf_record(options: &[&str], home: &Path, file: &Path, program: &Path) -> Option<()> {
    let mut command = Command::new("perf");
    command
        .args(["record", "-q", "-e", "cpu-clock"])
        .args(options)
        .arg("-o")
        .arg(file)
        .arg("--")
        .arg(program);
    let output = run(command.env("HOME", home))?;
    if !output.status.success() {
        eprintln!("skipped: {}", text(&output.stderr));
        return None;
    }
    Some(())
}

/// Returns the names of all frames by the perf tool, which looks for files in this build-id cache.
fn perf_script(file: &Path, cache: &Path) -> String {
    let mut command = Command::new("perf");
    command.arg("--buildid-dir").arg(cache).args(["script", "-F", "ip,sym,dso", "-i"]).arg(file);
    text(&command.env("HOME", "/nonexistent").output().unwrap().stdout)
}

/// Returns the names of all samples by the libraries of this workspace.
fn names_of_samples(file: &Path, finder: FileFinder) -> BTreeSet<String> {
    let (mut spaces, mut objects) = (AddressSpaces::new(), RecordedObjects::new());
    let mut reader = Reader::open(file).unwrap().sorted();
    if let Some(section) = reader.feature(perf_file::format::Feature::BUILD_ID).unwrap() {
        let Ok(perf_file::FeatureData::BuildIds(ids)) = section.section().data() else { panic!("no ids") };
        for id in &ids {
            spaces.add_build_id(id.filename, perf_symbols::BuildId::new(id.build_id).unwrap());
        }
    }
    let (mut stack, mut queries) = (Stack::new(), Vec::new());
    while let Some(record) = reader.next().unwrap() {
        if record.kernel().is_none() {
            continue;
        }
        let record = record.decode().unwrap();
        spaces.update(&record);
        objects.update(&spaces, &record);
        if let perf_decode::Record::Sample(sample) = record {
            stack.fill(&sample);
            let pid = sample.pid().unwrap();
            queries.extend(stack.frames().iter().map(|frame| Query::new(&spaces, pid, frame)));
        }
    }
    let symbolizer = Symbolizer::new(finder).unwrap();
    let named = symbolizer.symbolize(&queries).into_iter().filter_map(Result::ok);
    named
        .flat_map(|symbols| {
            symbols.functions.iter().map(|function| function.name.to_string()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn names_are_found_on_a_machine_that_has_the_archive_only() {
    let Some(Program { folder, program }) = Program::new() else { return };
    for (name, options) in [("fp", &["-g"][..]), ("dwarf", &["--call-graph", "dwarf,4096"])] {
        let file = folder.path(name);
        // Without copies in a cache.
        let options = [options, &["--no-buildid-cache"]].concat();
        if perf_record(&options, Path::new("/nonexistent"), &file, &program).is_none() {
            return;
        }
        // The first is the default; compression is slow in a test's build.
        let extension = if name == "fp" { "tar.gz" } else { "tar" };
        let packed = PathBuf::from(format!("{}.{extension}", file.display()));
        let output_option = ["-o", packed.to_str().unwrap()];
        let output = archive(&file, if name == "fp" { &[] } else { &output_option });
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(fs::metadata(&packed).unwrap().permissions().mode() & 0o777, 0o600);
        let cache = folder.path(&format!("{name}.cache"));
        unpack(&packed, &cache);

        let before = perf_script(&file, Path::new("/nonexistent"));
        let hidden = [("program", "program.old"), ("libwork.so", "libwork.so.old")];
        for (from, to) in hidden {
            fs::rename(folder.path(from), folder.path(to)).unwrap();
        }
        let without = perf_script(&file, Path::new("/nonexistent"));
        let after = perf_script(&file, &cache);
        let remote = FileFinder::remote();
        let found = names_of_samples(&file, remote.clone().with_build_id_cache(&cache));
        let missing = names_of_samples(&file, remote);
        for (from, to) in hidden {
            fs::rename(folder.path(to), folder.path(from)).unwrap();
        }
        for function in ["in_program", "work::in_library", "work::spin"] {
            assert!(before.contains(function) && after.contains(function), "{name}: {function}: {after}");
            assert!(!without.contains(function), "{name}: {function}");
            assert!(found.iter().any(|name| name.starts_with(function)), "{name}: {function}: {found:?}");
            assert!(
                !missing.iter().any(|name| name.starts_with(function)),
                "{name}: {function}: {missing:?}"
            );
        }
        // Frames in the program and its library. Objects of no sample's first address have no build
        // id in a recording of the perf tool, so that their names depend on the machine.
        let own = |text: &str| {
            text.lines().filter(|line| line.contains("/program") || line.contains("libwork")).count()
        };
        assert!(own(&before) > 0, "{before}");
        let unnamed = |text: &str| text.lines().filter(|line| line.contains("[unknown]")).count();
        assert!(unnamed(&after) <= unnamed(&before), "{name}: {after}");
    }
}

#[test]
fn archive_has_the_files_that_the_perf_tool_packs() {
    let Some(Program { folder, program }) = Program::new() else { return };
    let (file, home) = (folder.path("perf.data"), folder.path("home"));
    fs::create_dir(&home).unwrap();
    if perf_record(&[], &home, &file, &program).is_none() {
        return;
    }
    let mut command = Command::new("perf");
    let Some(output) = run(command.arg("archive").arg(&file).env("HOME", &home).current_dir(&home)) else {
        return;
    };
    let packed = PathBuf::from(format!("{}.tar.bz2", file.display()));
    if !output.status.success() || !packed.exists() {
        eprintln!("skipped: perf archive: {output:?}");
        return;
    }
    let mut expected = names(&packed);
    // Folders follow from their files. The lists of static probes are for `perf probe`, and empty
    // here.
    expected.retain(|name| !name.ends_with('/') && !name.ends_with("/probes"));
    let ours = folder.path("ours.tar");
    let output = archive(&file, &["-o", ours.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let found = names(&ours);
    assert!(found.iter().any(|name| name.contains("/libwork.so/")), "{found:?}");
    assert_eq!(found, expected);

    // The same again, through standard output.
    let output = archive(&file, &["-o", "-"]);
    assert!(output.stdout == fs::read(&ours).unwrap());
    // The cache of the perf tool has a copy of the removed file.
    fs::remove_file(folder.path("libwork.so")).unwrap();
    let output = archive(&file, &["--buildid-dir", home.join(".debug").to_str().unwrap(), "-o", "-"]);
    assert!(output.stdout == fs::read(&ours).unwrap(), "{}", text(&output.stderr));
}

#[test]
fn replaced_file_is_listed_and_not_packed() {
    let Some(Program { folder, program }) = Program::new() else { return };
    let file = folder.path("perf.data");
    let Some(output) = record(&["-e", "cpu-clock", "-o", file.to_str().unwrap(), program.to_str().unwrap()])
    else {
        return;
    };
    assert!(output.status.success(), "{output:?}");
    fs::copy("/bin/true", folder.path("other")).unwrap();
    fs::rename(folder.path("other"), folder.path("libwork.so")).unwrap();
    let tar = folder.path("a.tar");
    let output = archive(&file, &["-o", tar.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let errors = text(&output.stderr);
    let line = errors.lines().find(|line| line.contains("libwork.so")).unwrap();
    assert!(line.starts_with("perfkit: not found: /") && line.contains("was replaced"), "{line}");
    assert!(line.contains("expected the build id"), "{line}");
    let found = names(&tar);
    assert!(!found.iter().any(|name| name.contains("libwork.so")), "{found:?}");
    assert!(found.iter().any(|name| name.contains("/program/") && name.ends_with("/elf")), "{found:?}");

    let output = archive(&file, &["-o", tar.to_str().unwrap(), "--json", "--all"]);
    let lines = text(&output.stdout);
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| {
        objects.iter().find(|object| object["object"].as_str().unwrap().ends_with(name)).unwrap()
    };
    assert!(of("/libwork.so")["reason"].as_str().unwrap().contains("was replaced"), "{lines}");
    let program_file = &of("/program")["files"][0];
    assert_eq!(program_file["bytes"], fs::metadata(&program).unwrap().len());
    assert!(objects.iter().any(|object| object["is_used"] == false), "{lines}");
    assert!(!text(&output.stderr).contains("not found"), "{output:?}");
}

/// Returns the build id of the first mapped file of this process that has one, and its path.
fn real_file() -> (PathBuf, Vec<u8>) {
    let path = std::env::current_exe().unwrap();
    let candidates = [path.as_path(), Path::new("/bin/true"), Path::new("/bin/ls")];
    let id = |path: &Path| Some(perf_symbols::ObjectFile::open(path).ok()?.build_id()?.as_bytes().to_vec());
    candidates.iter().find_map(|path| Some((path.to_path_buf(), id(path)?))).unwrap()
}

#[test]
fn names_of_a_hostile_recording_stay_in_the_archive_and_open_no_pipe() {
    let folder = Folder::new();
    let (real, id) = real_file();
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let endless = folder.path("endless");
    fs::copy(&real, &endless).unwrap();
    let is_sparse = fs::OpenOptions::new().write(true).open(&endless).unwrap().set_len(1 << 40).is_ok();
    let relative = real.strip_prefix("/").unwrap().to_str().unwrap().to_owned();
    let long = format!("/{}{relative}", "usr/../".repeat(500));
    let link = folder.path("a\n\u{1b}[31m");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut made = Made::new();
    // Each has its own build id, because equal build ids would make them one object.
    let paths: Vec<Vec<u8>> = vec![
        format!("/proc/self/root/../{relative}").into_bytes(),
        b"../../../../etc/passwd".to_vec(),
        b"/etc/passwd".to_vec(),
        fifo.as_os_str().as_bytes().to_vec(),
        b"/dev/zero0".to_vec(),
        b"/dev/stdin".to_vec(),
        b"/dev/tty".to_vec(),
        b"/proc/kmsg".to_vec(),
        b"/proc/self/mem".to_vec(),
        b"/proc/kcore".to_vec(),
        b"/\n\x1b[31mperfkit: all is well".to_vec(),
        long.clone().into_bytes(),
        vec![b'/'; 4000],
        vec![0xff; 300],
        b"/".to_vec(),
        b"/.build-id/ab/cdef".to_vec(),
    ];
    let mut start = 0x1000;
    let mut map = |made: &mut Made, path: &[u8], id: Option<&[u8]>| {
        made.map(7, start, path, id);
        made.sample(7, start);
        start += 0x1000;
    };
    for (number, path) in (1_u8..).zip(&paths) {
        map(&mut made, path, Some(&[number; 20]));
    }
    map(&mut made, b"/no/build/id", None);
    map(&mut made, b"/one/byte", Some(&[1]));
    made.map(u32::MAX, KERNEL, b"[kernel.kallsyms]_text", Some(&[0xee; 20]));
    made.sample(7, KERNEL);
    made.map(u32::MAX, KERNEL + 0x1000, b"[veth]", Some(&[0xef; 20]));
    made.sample(7, KERNEL + 0x1000);
    let file = folder.path("hostile.data");
    made.write(&file);
    let tar = folder.path("hostile.tar");
    let output = archive(&file, &["-o", tar.to_str().unwrap()]);
    let errors = text(&output.stderr);
    assert_eq!((output.status.code(), tar.exists()), (Some(1), false), "{errors}");
    assert!(errors.ends_with("hostile.tar: not written: no object of the recording was found\n"), "{errors}");
    // One line each, without control characters.
    assert_eq!(errors.lines().count(), paths.len() + 5, "{errors}");
    assert!(errors.chars().all(|character| character == '\n' || !character.is_control()), "{errors}");
    assert!(errors.contains("not found: /etc/passwd: the file is no ELF file"), "{errors}");
    assert!(errors.contains("not found: /no/build/id: the recording has no build id of it"), "{errors}");
    assert!(errors.contains("not found: [veth]: a kernel module"), "{errors}");

    // The real file by its build id: found by names that cannot be names in an archive.
    for name in [long.as_bytes(), link.as_os_str().as_bytes(), b"/proc/self/exe"] {
        let mut made = Made::new();
        made.map(7, 0x1000, name, Some(&id));
        made.sample(7, 0x1000);
        made.write(&file);
        let output = archive(&file, &["-o", tar.to_str().unwrap()]);
        if name.starts_with(b"/proc") {
            // perfkit itself, with another build id.
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let id = perf_symbols::BuildId::new(&id).unwrap().to_string();
        let expected = [format!(".build-id/{}/{}", &id[..2], &id[2..]), format!("[object]/{id}/elf")];
        let mut found = names(&tar);
        found.remove(&format!("[object]/{id}/debug"));
        assert_eq!(found, expected.into(), "{}", OsStr::from_bytes(name).display());
        fs::remove_file(&tar).unwrap();
    }
    if is_sparse {
        let mut made = Made::new();
        made.map(7, 0x1000, endless.as_os_str().as_bytes(), Some(&id));
        made.sample(7, 0x1000);
        made.write(&file);
        let output = archive(&file, &["-o", tar.to_str().unwrap()]);
        assert!(text(&output.stderr).contains("endless: the file has more than 16 GiB"), "{output:?}");
    }
}

#[test]
fn failed_archive_leaves_nothing() {
    let folder = Folder::new();
    let (real, id) = real_file();
    let mut made = Made::new();
    made.map(7, 0x1000, real.as_os_str().as_bytes(), Some(&id));
    made.comm(7, b"program");
    let file = folder.path("perf.data");
    made.write(&file);
    let out = folder.path("a.tar");
    let output = archive(&file, &["-o", out.to_str().unwrap()]);
    let errors = text(&output.stderr);
    assert!(errors.contains("no sample of the recording is in an object; --all"), "{errors}");
    assert_eq!((output.status.code(), out.exists()), (Some(1), false));
    // The process called `exec` after the mapping, which --all packs anyway.
    let output = archive(&file, &["-o", out.to_str().unwrap(), "--all"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let whole = fs::read(&out).unwrap();

    let output = archive(&file, &["-o", "/dev/full", "--all"]);
    assert_eq!(text(&output.stderr), "perfkit: /dev/full: No space left on device\n", "{output:?}");
    assert_eq!(output.status.code(), Some(1));
    // A recording that ends early has the objects up to there, and is a failure.
    let bytes = fs::read(&file).unwrap();
    let name = real.as_os_str().as_bytes();
    let at = bytes.windows(name.len()).rposition(|window| window == name).unwrap();
    fs::write(&file, &bytes[..at]).unwrap();
    let output = archive(&file, &["-o", out.to_str().unwrap(), "--all"]);
    let errors = text(&output.stderr);
    assert!(
        errors.contains("perf.data: ") && errors.ends_with("no object of the recording was found\n"),
        "{errors}"
    );
    assert!(output.status.code() == Some(1) && fs::read(&out).unwrap() == whole);
    for (arguments, code, expected) in [
        (&["-o", "-", "--json"][..], 2, "cannot have both"),
        (&["-o", "/nonexistent/a.tar", "--all"], 1, "/nonexistent/a.tar: No such file or directory"),
    ] {
        let output = archive(&file, arguments);
        assert!(text(&output.stderr).contains(expected), "{output:?}");
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

#[test]
fn interrupted_archive_leaves_nothing() {
    let folder = Folder::new();
    let (real, id) = real_file();
    let mut made = Made::new();
    made.map(7, 0x1000, real.as_os_str().as_bytes(), Some(&id));
    made.sample(7, 0x1000);
    let (file, outputs) = (folder.path("perf.data"), folder.path("outputs"));
    made.write(&file);
    for signal in ["-INT", "-TERM"] {
        fs::create_dir(&outputs).unwrap();
        let mut command = perfkit();
        command.arg("archive").arg("-i").arg(&file).arg("-o").arg(outputs.join("a.tar.gz"));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let names =
            || fs::read_dir(&outputs).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        while names().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().is_ok());
        let status = child.wait().unwrap();
        // A fast machine ends before the signal.
        let expected: Vec<std::ffi::OsString> =
            if status.success() { vec!["a.tar.gz".into()] } else { Vec::new() };
        assert_eq!(names(), expected, "{status}");
        fs::remove_dir_all(&outputs).unwrap();
    }
}

#[test]
fn list_has_the_documented_form() {
    let folder = Folder::new();
    let mut made = Made::new();
    // More than Linux gives to a process.
    let pid = 1 << 30;
    for (start, path, id) in [
        (0x1000, &b"/nonexistent/program"[..], Some(1)),
        (0x2000, b"/nonexistent/library", None),
        (0x3000, b"/etc/passwd", Some(2)),
        (0x4000, b"//anon", None),
        (0x5000, b"[heap]", None),
        (KERNEL, b"[kernel.kallsyms]_text", Some(3)),
        (KERNEL + 0x1000, b"[veth]", Some(4)),
    ] {
        let id = id.map(|byte| [byte; 20]);
        made.map(pid, start, path, id.as_ref().map(|id| &id[..]));
        made.sample(pid, start);
    }
    made.map(pid, 0x6000, b"/nonexistent/unused", Some(&[5; 20]));
    let file = folder.path("perf.data");
    made.write(&file);
    let out = folder.path("a.tar");
    let run = |options: &[&str]| {
        let output = archive(&file, &[&["-o", out.to_str().unwrap()], options].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        [output.stdout, output.stderr].map(|bytes| text(&bytes).replace(out.to_str().unwrap(), "OUT"))
    };
    let snapshot = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/archive");
    let found = [("list.txt", run(&[])[1].clone()), ("list.jsonl", run(&["--json", "--all"])[0].clone())];
    for (name, found) in &found {
        if std::env::var_os("PERFKIT_BLESS").is_some() {
            fs::write(snapshot.join(name), found).unwrap();
        }
        assert_eq!(*found, fs::read_to_string(snapshot.join(name)).unwrap(), "{name}");
    }
    let documented =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/archive-json.md")).unwrap();
    for line in found[1].1.lines() {
        let object: Value = serde_json::from_str(line).unwrap();
        for key in object.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("| `{key}` |")), "{key}");
        }
    }
    assert_eq!(documented.matches("\n| `").count(), 5 + 3);
}
