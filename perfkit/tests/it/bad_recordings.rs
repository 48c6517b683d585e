//! Each command that reads a recording, on input that is missing, damaged or hostile, and with
//! outputs that cannot be written: a clear line, the right exit code, no panic, and no part of a
//! file.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use perf_abi::SampleType;

use crate::support::made::{KERNEL, Made};
use crate::support::recording::{Folder, perfkit};

/// A command line that reads a recording. `FILE` and `OUT` stand for the paths.
struct Line {
    words: &'static [&'static str],
}

/// Every command that reads a recording, in each form of its output.
const LINES: &[Line] = &[
    Line { words: &["archive", "-i", "FILE", "-o", "OUT.tar"] },
    Line { words: &["archive", "-i", "FILE", "-o", "OUT.tar.gz", "--all", "--json"] },
    Line { words: &["diff", "FILE", "FILE"] },
    Line { words: &["diff", "FILE", "FILE", "--json"] },
    Line { words: &["dump", "FILE"] },
    Line { words: &["dump", "FILE", "--json", "--sorted"] },
    Line { words: &["dump", "FILE", "--features"] },
    Line { words: &["export", "-i", "FILE", "-f", "chrome", "-o", "OUT"] },
    Line { words: &["export", "-i", "FILE", "-f", "firefox", "-o", "OUT"] },
    Line { words: &["export", "-i", "FILE", "-f", "folded", "-o", "OUT"] },
    Line { words: &["export", "-i", "FILE", "-f", "folded", "-o", "-"] },
    Line { words: &["export", "-i", "FILE", "-f", "json", "-o", "OUT"] },
    Line { words: &["export", "-i", "FILE", "-f", "pprof", "-o", "OUT"] },
    Line { words: &["flamegraph", "-i", "FILE", "-o", "OUT.svg"] },
    Line { words: &["report", "-i", "FILE"] },
    Line { words: &["report", "-i", "FILE", "--json"] },
    Line { words: &["script", "-i", "FILE"] },
];

impl Line {
    /// Returns whether this program has the command.
    fn is_there(&self) -> bool {
        let known = perfkit().arg("--help").output().unwrap();
        let known = String::from_utf8(known.stdout).unwrap();
        known.lines().any(|line| line.trim_start().split(' ').next() == self.words.first().copied())
    }

    fn all() -> Vec<&'static Self> {
        let lines: Vec<_> = LINES.iter().filter(|line| line.is_there()).collect();
        assert!(lines.len() > 5);
        lines
    }

    /// Returns the option with the output, if there is one.
    fn output(&self) -> Option<&'static str> {
        self.words.iter().find(|word| word.starts_with("OUT")).copied()
    }

    /// Returns the command for a recording and the start of the path of its output.
    fn command(&self, program: &Path, file: &Path, out: &Path) -> Command {
        let mut command = Command::new(program);
        for word in self.words {
            match word.strip_prefix("OUT") {
                Some(extension) => command.arg(format!("{}{extension}", out.display())),
                None if *word == "FILE" => command.arg(file),
                None => command.arg(word),
            };
        }
        // Without the caches of the user, and without a program that looks up names for minutes.
        command.env("HOME", "/nonexistent").env_remove("XDG_CACHE_HOME").env_remove("DEBUGINFOD_CACHE_PATH");
        command.env_remove("DEBUGINFOD_URLS").stdin(Stdio::null());
        command
    }

    fn run(&self, file: &Path, out: &Path) -> Ended {
        end(&mut self.command(program(), file, out))
    }
}

/// Runs a command.
fn end(command: &mut Command) -> Ended {
    let output = wait(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { what: format!("{command:?}"), code: output.status.code(), stdout: output.stdout, errors }
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_perfkit"))
}

/// Waits for a process, which is killed if it does not end.
fn wait(mut child: Child) -> Output {
    let start = Instant::now();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            bytes
        })
    };
    let stdout = read(stdout.map(|pipe| Box::new(pipe) as _));
    let stderr = read(stderr.map(|pipe| Box::new(pipe) as _));
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            break child.wait().unwrap();
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

/// How a command ended.
#[derive(Debug)]
struct Ended {
    what: String,
    code: Option<i32>,
    stdout: Vec<u8>,
    errors: String,
}

impl Ended {
    /// Fails unless the command exited without a signal or a panic, with code 0, or with code 1 and
    /// a reason that names the program.
    #[track_caller]
    fn expect_orderly(&self) {
        let is_orderly = match self.code {
            Some(0) => true,
            Some(1) => self.errors.lines().last().is_some_and(|line| line.starts_with("perfkit: ")),
            _ => false,
        };
        assert!(is_orderly && !self.errors.contains("panicked"), "{self:?}");
        assert!(!self.errors.contains("(os error"), "{}: {self:?}", self.what);
    }

    /// Fails unless the command failed by one line, which contains `expected`, and printed no
    /// record.
    #[track_caller]
    fn expect_failure(&self, expected: &str) {
        self.expect_orderly();
        let lines = self.errors.lines().count();
        assert!(self.code == Some(1) && lines == 1 && self.errors.contains(expected), "{expected}: {self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
    }
}

/// Returns a captured recording.
fn captured(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../perf-decode/tests/data/{name}.data"))
}

/// Returns the names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Numbers that look random, and are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit
    }
}

#[test]
fn input_that_is_no_recording_is_named_in_one_line() {
    let folder = Folder::new();
    let out = folder.path("out");
    let (empty, text, folder_without_data) =
        (folder.path("empty"), folder.path("text"), folder.path("folder"));
    fs::write(&empty, "").unwrap();
    fs::write(&text, "# a text of several lines\n".repeat(100)).unwrap();
    fs::create_dir(&folder_without_data).unwrap();
    for line in Line::all() {
        for (input, expected) in [
            (&folder.path("missing"), "missing: No such file or directory"),
            (&folder_without_data, "folder"),
            (&empty, "empty"),
            (&text, "text"),
            (&PathBuf::from("/dev/null"), "/dev/null"),
            (&PathBuf::from("/proc/self/mem"), "/proc/self/mem"),
            (&folder.path("text/below"), "text/below: Not a directory"),
            (&folder.path("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb: No such file"),
        ] {
            line.run(input, &out).expect_failure(expected);
        }
    }
    assert_eq!(names(&folder.path(".")).len(), 3, "no output");
}

#[test]
fn truncated_recording_ends_in_order() {
    let folder = Folder::new();
    let (cut, out) = (folder.path("cut.data"), folder.path("out"));
    let mut failed = 0;
    for name in ["cycles-dwarf", "zstd", "pipe", "irq-exc-tp"] {
        let whole = fs::read(captured(name)).unwrap();
        let lengths = [1, 7, 8, 16, 103, 104, 105, 200, 300].into_iter();
        let lengths =
            lengths.chain((1..8).map(|eighth| whole.len() * eighth / 8 + eighth)).chain([whole.len() - 1]);
        for len in lengths {
            fs::write(&cut, whole.get(..len).unwrap()).unwrap();
            for line in Line::all() {
                let ended = line.run(&cut, &out);
                ended.expect_orderly();
                failed += usize::from(ended.code == Some(1));
                // A pipe may end after any record, and the others have large sections after the
                // records.
                if len < whole.len() / 2 && name == "cycles-dwarf" && !line.words.contains(&"--features") {
                    assert!(
                        ended.code == Some(1) && ended.errors.contains("cut.data"),
                        "{name} {len}: {ended:?}"
                    );
                }
            }
        }
    }
    assert!(failed > 100);
}

#[test]
fn random_bytes_and_damaged_recordings_end_in_order() {
    let folder = Folder::new();
    let (file, out) = (folder.path("random.data"), folder.path("out"));
    let mut random = Random(7);
    let lines = Line::all();
    for start in [&b""[..], b"PERFILE2", b"2ELIFREP"] {
        for len in [24, 104, 1000, 20_000] {
            let bytes = (0..len).map(|_| random.next().to_le_bytes()[0]);
            fs::write(&file, [start, &bytes.collect::<Vec<_>>()].concat()).unwrap();
            for line in &lines {
                line.run(&file, &out).expect_failure("random.data");
            }
        }
    }
    for name in ["cycles-dwarf", "zstd", "pipe", "trace-record", "big-stack", "dwarf-32bit"] {
        let whole = fs::read(captured(name)).unwrap();
        for count in [1, 3, 30, 300] {
            let mut damaged = whole.clone();
            for _ in 0..count {
                let at = random.below(damaged.len());
                *damaged.get_mut(at).unwrap() = random.next().to_le_bytes()[0];
            }
            fs::write(&file, &damaged).unwrap();
            for line in &lines {
                line.run(&file, &out).expect_orderly();
            }
        }
    }
}

/// Returns whether the test runs as root, and says so if not.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: root is needed");
    }
    is_root
}

#[test]
fn missing_permissions_are_named_in_one_line() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let (file, copy, closed) = (folder.path("secret.data"), folder.path("perfkit"), folder.path("closed"));
    // Copied to a folder in which other users may execute it.
    fs::copy(program(), &copy).unwrap();
    fs::copy(captured("cpuclock-fp"), &file).unwrap();
    fs::create_dir(&closed).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&folder.path("."), 0o755);
    mode(&closed, 0o755);
    for line in Line::all() {
        let nobody = |out: &Path| {
            let mut command = line.command(&copy, &file, out);
            end(command.uid(65534).gid(65534))
        };
        mode(&file, 0o600);
        nobody(&closed.join("out")).expect_failure("secret.data: Permission denied");
        mode(&file, 0o644);
        if let Some(out) = line.output().map(|out| out.replacen("OUT", "out", 1)) {
            let ended = nobody(&closed.join("out"));
            assert_eq!(ended.code, Some(1), "{ended:?}");
            ended.expect_orderly();
            let last = ended.errors.lines().last().unwrap();
            assert!(last.contains(&format!("closed/{out}: Permission denied")), "{ended:?}");
        }
    }
    assert_eq!(names(&closed), [""; 0]);
}

#[test]
fn unwritable_outputs_are_named_and_nothing_is_left() {
    let folder = Folder::new();
    let file = example(&folder);
    for line in Line::all() {
        let full = |out: &str| {
            let mut command = line.command(program(), &file, Path::new(out));
            command.stdout(File::options().write(true).open("/dev/full").unwrap());
            let output = command.stderr(Stdio::piped()).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let Some(out) = line.output() else {
            let (code, errors) = full("out");
            assert_eq!(code, Some(1), "{:?}: {errors}", line.words);
            assert!(errors.ends_with("No space left on device\n"), "{:?}: {errors}", line.words);
            continue;
        };
        let path = format!("/nonexistent/{}", out.replacen("OUT", "out", 1));
        let ended = line.run(&file, Path::new("/nonexistent/out"));
        ended.expect_orderly();
        let last = ended.errors.lines().last().unwrap_or_default();
        assert!(ended.code == Some(1) && last.contains(&format!("{path}: No such file")), "{ended:?}");

        let directory = folder.path(&out.replacen("OUT", "directory", 1));
        fs::create_dir(&directory).unwrap();
        let ended = line.run(&file, &folder.path("directory"));
        ended.expect_orderly();
        assert!(ended.code == Some(1) && ended.errors.contains("directory"), "{ended:?}");
        fs::remove_dir(&directory).unwrap();
    }
    assert_eq!(names(&folder.path(".")), ["example.data"]);
}

#[test]
fn full_disk_keeps_the_file_that_was_there_and_leaves_no_other() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let file = example(&folder);
    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut found = 0;
    for line in Line::all() {
        let Some(out) = line.output().map(|out| out.replacen("OUT", "out", 1)) else { continue };
        let command = line.command(program(), &file, &disk.join("out"));
        let words: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
        // The rest of the disk is a file, so that the smallest output has no space.
        let script = "mount -t tmpfs -o size=64k none \"$1\" || exit 77; cd \"$1\" || exit 77
            printf old > \"$2\"; head -c 100000 /dev/zero > filler 2> /dev/null
            shift; name=$1; shift; \"$@\"; code=$?; echo; echo \"$code\"; cat \"$name\"; echo; ls -A";
        let mut unshared = Command::new("unshare");
        unshared.args(["-m", "sh", "-c", script, "sh"]).arg(&disk).arg(&out).args(&words);
        let output = unshared.env("HOME", "/nonexistent").stdin(Stdio::null()).output();
        let Some(output) = output.ok().filter(|output| output.status.code() != Some(77)) else {
            eprintln!("skipped: no mount namespace or tmpfs");
            return;
        };
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let expected = format!("\n1\nold\nfiller\n{out}\n");
        assert!(text.ends_with(&expected), "{:?}: {text} {errors}", line.words);
        assert!(errors.contains("No space left on device"), "{:?}: {errors}", line.words);
        found += 1;
    }
    assert!(found > 0);
}

#[test]
fn viewer_that_closes_the_pipe_is_no_failure() {
    let folder = Folder::new();
    let (file, out) = (folder.path("large.data"), folder.path("out"));
    let mut made = Made::new();
    for pid in 1..3000 {
        made.comm(pid, format!("program-{pid}").as_bytes());
        made.map(pid, 0x1000, format!("/nonexistent/program-{pid}").as_bytes(), None);
        made.sample(pid, 0x1010);
    }
    made.write(&file);
    let lines: Vec<_> = Line::all().into_iter().filter(|line| line.output().is_none()).collect();
    for line in lines.iter().copied().chain([&Line { words: &["archive", "-i", "FILE", "--all", "-o", "-"] }])
    {
        let mut command = line.command(program(), &file, &out);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let ended = std::thread::spawn(move || wait(child));
        // The pipe is closed with the reader.
        BufReader::new(out).read_line(&mut String::new()).unwrap();
        let output = ended.join().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        // The archive would be empty, which fails before the first byte is written.
        let is_archive = line.words.contains(&"archive");
        assert!(output.status.code() == Some(i32::from(is_archive)), "{:?}: {errors}", line.words);
        assert!(errors.is_empty() || is_archive, "{:?}: {errors}", line.words);
    }
}

/// The kernel writes samples of a task with registers and an empty stack without their last word.
#[test]
fn samples_with_a_truncated_field_are_read_by_all_commands() {
    let folder = Folder::new();
    let (file, out) = (folder.path("truncated.data"), folder.path("out"));
    let fields = SampleType::REGS_USER | SampleType::STACK_USER | SampleType::DATA_SRC;
    let mut made = Made::with_fields("cpu-clock", fields);
    made.comm(7, b"program");
    made.sample_with(7, 0x1000, &[2, 11, 0, 0]); // ABI, register, size of the stack, the extra word
    made.sample_with(7, 0x1008, &[2, 11, 8, 12, 8, 33]); // ABI, register, stack, data source
    made.write(&file);
    for line in Line::all().into_iter().filter(|line| line.words.first() != Some(&"archive")) {
        let ended = line.run(&file, &out);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(!ended.errors.contains("SAMPLE"), "{ended:?}");
    }
    let dump = |words| {
        let ended = Line { words }.run(&file, &out);
        String::from_utf8(ended.stdout).unwrap()
    };
    let lines = dump(&["dump", "FILE"]);
    assert!(lines.contains("ip=0x1000") && lines.contains(" (data_src truncated)\n"), "{lines}");
    let json = dump(&["dump", "FILE", "--json"]);
    assert_eq!(json.matches("\"truncated\":\"data_src\"").count(), 1, "{json}");
    let script = dump(&["script", "-i", "FILE", "-F", "ip"]);
    assert_eq!(script.lines().map(str::trim).collect::<Vec<_>>(), ["1000", "1008"], "{script}");
}

/// Returns a recording whose every name has an escape sequence, newlines and other controls.
fn hostile(folder: &Folder) -> PathBuf {
    const NAME: &[u8] = b"\x1b[31mred\x1b]0;title\x07\n\r\x08\xff\xc2\x9b2J\xe2\x80\xae";
    let name = |start: &str| [start.as_bytes(), NAME].concat();
    let mut made = Made::with_event(&String::from_utf8_lossy(&name("event")));
    made.comm(7, &name("c"));
    for (start, path) in [(0x1000, name("/tmp/")), (0x2000, name("[anon:")), (0x3000, name(""))] {
        made.map(7, start, &path, Some(&start.to_ne_bytes()));
        made.sample(7, start);
    }
    for (start, path) in [(KERNEL, name("[kernel.kallsyms]")), (KERNEL + 0x1000, name("["))] {
        made.map(u32::MAX, start, &path, Some(&start.to_ne_bytes()));
        made.sample(7, start);
    }
    let file = folder.path("hostile.data");
    made.write(&file);
    file
}

/// Returns a recording of a program that is there.
fn example(folder: &Folder) -> PathBuf {
    let program = Path::new("/bin/ls");
    let id = perf_symbols::ObjectFile::open(program).ok().and_then(|file| file.build_id());
    let id = id.map_or_else(|| panic!("skipped: /bin/ls has no build id"), |id| id.as_bytes().to_vec());
    let mut made = Made::new();
    made.comm(7, b"ls");
    made.map(7, 0x1000, b"/bin/ls", Some(&id));
    for offset in 0..500 {
        made.sample(7, 0x1000 + 8 * offset);
    }
    let file = folder.path("example.data");
    made.write(&file);
    file
}

#[test]
fn names_with_escape_sequences_are_printed_escaped() {
    let folder = Folder::new();
    let (file, out) = (hostile(&folder), folder.path("out"));
    // Compared as bytes, because a terminal also takes some bytes that are not UTF-8 for controls.
    let is_control = |&byte: &u8| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f;
    let is_hidden = |text: &str| {
        text.chars().any(|character| matches!(character, '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}'))
    };
    for line in Line::all() {
        let ended = line.run(&file, &out);
        ended.expect_orderly();
        let mut texts = vec![ended.stdout.clone(), ended.errors.clone().into_bytes()];
        // A compressed file is not a text.
        let written =
            line.output().filter(|_| !line.words.contains(&"pprof") && !line.words.contains(&"archive"));
        if let Some(written) = written.map(|out| folder.path(&out.replacen("OUT", "out", 1))) {
            texts.extend(fs::read(written));
        }
        for text in texts {
            let shown = String::from_utf8(text.clone()).unwrap_or_else(|_| panic!("not UTF-8: {ended:?}"));
            assert!(!text.iter().any(is_control) && !is_hidden(&shown), "{:?}: {shown:?}", line.words);
        }
    }
}
