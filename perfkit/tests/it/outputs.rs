//! Outputs in a folder in which other users may have created links and files.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::made::Made;
use crate::support::recording::{Folder, perfkit};

/// The output of each command, and its words. `IN` is the recording, `OUT` a file and `DIR` a
/// folder.
const COMMANDS: &[(&str, &str)] = &[
    ("perf.data", "record -e cpu-clock -- true"),
    ("OUT", "record -e cpu-clock -o OUT -- true"),
    ("OUT", "record -e cpu-clock --switch-output=60s -o OUT -- true"),
    ("DIR", "record -e cpu-clock --every 1s -f pprof -o DIR -- true"),
    ("OUT", "stat -e cpu-clock -o OUT -- true"),
    ("OUT", "stat -e cpu-clock -o OUT --append -- true"),
    ("OUT", "trace -e sched:sched_process_exit -o OUT -- true"),
    #[cfg(feature = "flamegraph")]
    ("flamegraph.svg", "flamegraph -i IN"),
    #[cfg(feature = "flamegraph")]
    ("OUT", "flamegraph -i IN -o OUT"),
    ("OUT", "export -f json -i IN -o OUT"),
    ("OUT", "export -f pprof -i IN -o OUT"),
    ("made.data.tar.gz", "archive -i IN"),
    ("OUT", "archive -i IN -o OUT"),
    ("DIR", "man DIR"),
    ("DIR", "man DIR/in/it"),
    ("demo.perf.data", "demo --keep"),
];

/// A folder as `/tmp`, and one of this user alone with a recording and a file.
struct Folders {
    shared: Folder,
    own: Folder,
}

impl Folders {
    /// Returns `None`, and skips the test, if this user cannot make files of others.
    fn new() -> Option<Self> {
        let folders = Self { shared: Folder::new(), own: Folder::new() };
        fs::set_permissions(folders.shared.path(""), fs::Permissions::from_mode(0o1777)).unwrap();
        let mut made = Made::new();
        made.comm(7, b"sort");
        made.map(7, 0x1000, b"/bin/sh", None);
        made.sample(7, 0x1000);
        made.write(&folders.shared.path("made.data"));
        fs::write(folders.own.path("victim"), "old").unwrap();
        fs::create_dir(folders.own.path("folder")).unwrap();
        if lchown(folders.shared.path("made.data"), Some(65534), Some(65534)).is_err() {
            eprintln!("skipped: only root can make a file of another user");
            return None;
        }
        Some(folders)
    }

    fn run(&self, words: &str) -> Output {
        let words = words.replace("IN", "made.data");
        let mut command = perfkit();
        // In a pipe, a recording would go there.
        command.args(words.split(' ')).current_dir(self.shared.path("")).stdout(Stdio::null());
        command.output().unwrap()
    }

    /// Returns the names in the folder of this user.
    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(&self.own.path(""), &mut names);
        names.sort();
        names
    }
}

fn list(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        names.push(entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), names);
        }
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_command_writes_through_a_link_of_another_user() {
    let Some(folders) = Folders::new() else { return };
    for (name, words) in COMMANDS {
        let targets: &[&str] = if *name == "DIR" { &["folder"] } else { &["victim", "missing"] };
        for target in targets {
            let link = folders.shared.path(name);
            symlink(folders.own.path(target), &link).unwrap();
            lchown(&link, Some(65534), Some(65534)).unwrap();
            let output = folders.run(words);
            let errors = errors(&output);
            if !errors.contains("tracefs") && !errors.contains("\nremedy ") {
                assert!(!output.status.success(), "{words}: {errors}");
                assert!(errors.contains("symbolic link of user 65534"), "{words}: {errors}");
            }
            assert_eq!(fs::read(folders.own.path("victim")).unwrap(), b"old", "{words}");
            assert_eq!(folders.names(), ["folder", "victim"], "{words}");
            assert!(link.is_symlink(), "{words}");
            fs::remove_file(link).unwrap();
        }
    }
}

#[test]
fn no_command_takes_over_the_mode_of_a_file_of_another_user_or_gives_it_the_output() {
    let Some(folders) = Folders::new() else { return };
    // The recording has no object to pack.
    let is_written = |(name, words): &&(&str, &str)| *name != "DIR" && !words.starts_with("archive");
    for (name, words) in COMMANDS.iter().filter(is_written) {
        let file = folders.shared.path(name);
        fs::write(&file, "").unwrap();
        lchown(&file, Some(65534), Some(65534)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4777)).unwrap();
        let output = folders.run(words);
        let errors = errors(&output);
        if errors.contains("tracefs") || errors.contains("\nremedy ") {
            eprintln!("skipped {words}: {errors}");
        } else if output.status.success() {
            // It is another file now.
            let mode = fs::metadata(&file).map(|file| file.permissions().mode() & 0o7777);
            assert!(mode.is_ok_and(|mode| mode == 0o600) || words.contains("--switch"), "{words}: {errors}");
        } else {
            assert!(errors.contains("is a file of user 65534"), "{words}: {errors}");
            assert_eq!(fs::metadata(&file).unwrap().len(), 0, "{words}");
        }
        for entry in fs::read_dir(folders.shared.path("")).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != "made.data" {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
}

#[test]
fn recording_follows_a_link_of_its_user_and_renames_what_it_leads_to() {
    let (folder, other) = (Folder::new(), Folder::new());
    symlink(other.path("there.data"), folder.path("perf.data")).unwrap();
    let record = || {
        let mut command = perfkit();
        command.args(["record", "-q", "-e", "cpu-clock", "-o", "perf.data", "--", "true"]);
        command.current_dir(folder.path("")).output().unwrap()
    };
    let output = record();
    if !output.status.success() {
        return crate::support::recording::skip_if_refused(&output);
    }
    assert!(other.path("there.data").is_file() && !other.path("there.data.old").exists());
    assert!(record().status.success());
    assert!(other.path("there.data").is_file() && other.path("there.data.old").is_file());
    assert!(folder.path("perf.data").is_symlink());
}

#[test]
fn standard_output_by_its_name_is_written_and_stays_there() {
    let folder = Folder::new();
    let mut made = Made::new();
    made.comm(7, b"sort");
    made.sample(7, 0x1000);
    made.write(&folder.path("perf.data"));
    let script =
        "\"$0\" export -f json -o /dev/stdout > file && \"$0\" export -f json -o /dev/stdout | cat > pipe
        \"$0\" export -f json -o - > direct";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_perfkit")]);
    let output = command.current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", errors(&output));
    let direct = fs::read(folder.path("direct")).unwrap();
    assert!(!direct.is_empty() && Path::new("/dev/stdout").is_symlink());
    assert_eq!(
        (fs::read(folder.path("file")).unwrap(), fs::read(folder.path("pipe")).unwrap()),
        (direct.clone(), direct)
    );
}
