//! Names of functions in a process that runs already.

use std::error::Error as StdError;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use perf_session::{FileError, System, Task};

use super::Runtime;

/// The most time that a process gets to write names.
const PATIENCE: Duration = Duration::from_secs(10);

/// Program that another Python runs to hand over the path.
const HAND_OVER: &str = "import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])";

/// Result of [`Runtime::attach`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attached {
    /// File with the names, which symbolizers read by its path.
    pub map: PathBuf,
    /// Whether functions that are compiled later are named too. If not, attach once more.
    pub follows: bool,
}

/// Why a running process does not name its functions.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttachError {
    /// This runtime cannot: [`Runtime::at_start`] has what a restart needs.
    Unsupported(Runtime),
    /// The facts about the process cannot be read.
    File(FileError),
    /// The process runs as another user, whose id this is. A program of that user would run here
    /// with the permissions of the caller.
    OtherUser(u32),
    /// The process is in another mount namespace, as in a container.
    OtherNamespace,
    /// The runtime's program that attaches cannot be started.
    Start(PathBuf, io::Error),
    /// The program that attaches failed, with this text.
    Failed(String),
    /// The process did not write names within ten seconds: its main thread did not reach a point
    /// where it can.
    Late(PathBuf),
}

impl Runtime {
    /// Lets a running process of this runtime name its functions, without a restart, and waits
    /// until it does, at most ten seconds.
    ///
    /// - Python 3.14 and newer, by `sys.remote_exec` ([PEP 768]): needs the permission to trace the
    ///   process. Calls are some percent slower until it exits.
    /// - Java 17 and newer, by `jcmd PID Compiler.perfmap`: needs a JDK. The process waits while it
    ///   writes the map.
    ///
    /// The process must run as the calling user and have the same mount namespace, because a
    /// program of its installation is run.
    ///
    /// [PEP 768]: https://peps.python.org/pep-0768/
    ///
    /// # Errors
    ///
    /// See [`AttachError`].
    pub fn attach(self, pid: u32, system: &System) -> Result<Attached, AttachError> {
        if !self.can_attach() {
            return Err(AttachError::Unsupported(self));
        }
        let process = system.task(pid);
        let executable = process.path("exe");
        let own = rustix::process::geteuid().as_raw();
        let owner = fs::metadata(process.path("")).map_err(|error| file(&process.path(""), error))?.uid();
        if owner != own {
            return Err(AttachError::OtherUser(owner));
        }
        let identity = |namespace: fs::Metadata| (namespace.dev(), namespace.ino());
        let here = system.this_process().namespace("mnt").map(identity);
        if process.namespace("mnt").map(identity).map_err(AttachError::File)?
            != here.map_err(AttachError::File)?
        {
            return Err(AttachError::OtherNamespace);
        }
        let program = fs::read_link(&executable).map_err(|error| file(&executable, error))?;
        let status = process.status().map_err(AttachError::File)?;
        let own_id = status.field("NSpid").and_then(|ids| ids.split_ascii_whitespace().next_back());
        let map = PathBuf::from(format!("/tmp/perf-{}.map", own_id.map_or(pid.to_string(), str::to_owned)));
        if self == Self::Java {
            java(&program, pid)?;
        } else {
            python(&program, pid, &process, &map)?;
        }
        Ok(Attached { map, follows: self != Self::Java })
    }
}

fn file(path: &Path, error: io::Error) -> AttachError {
    AttachError::File(FileError::io(path.to_owned(), error))
}

/// Writes the map by the `jcmd` of the same JDK, or else by the one in `PATH`.
fn java(program: &Path, pid: u32) -> Result<(), AttachError> {
    let sibling = program.with_file_name("jcmd");
    let jcmd = if sibling.exists() { sibling } else { PathBuf::from("jcmd") };
    let said = run(&jcmd, Command::new(&jcmd).arg(pid.to_string()).arg("Compiler.perfmap"))?;
    // An unknown command is an exit code of 1. If the virtual machine refuses, it is a text.
    if said.contains("Command executed successfully") { Ok(()) } else { Err(AttachError::Failed(said)) }
}

/// Hands a script to the process by the same Python, and waits for the map.
fn python(program: &Path, pid: u32, process: &Task<'_>, map: &Path) -> Result<(), AttachError> {
    let path = PathBuf::from(format!("/tmp/perfkit-{pid}-{}.py", std::process::id()));
    // Fails if the file exists, also as a link.
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let script = created.map_err(|error| file(&path, error))?;
    let hand_over = ["-I", "-S", "-c", HAND_OVER];
    let handed_over = write_script(script, &path)
        .map_err(|error| file(&path, error))
        .and_then(|()| run(program, Command::new(program).args(hand_over).arg(pid.to_string()).arg(&path)));
    if let Err(error) = handed_over {
        // It contains nothing that harms if it stays.
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    let end = Instant::now() + PATIENCE;
    // A file of this name may be left of an earlier process.
    while !has_open(process, map) {
        if Instant::now() > end {
            return Err(AttachError::Late(map.to_owned()));
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Writes the script that Python runs inside of the process, at the next safe point of its main
/// thread. It removes itself, because that point may be much later.
fn write_script(mut script: File, path: &Path) -> io::Result<()> {
    let path = path.display();
    write!(
        script,
        "import os, sys\nos.unlink('{path}')\nif not sys.is_stack_trampoline_active():\n    \
         sys.activate_stack_trampoline('perf')\n"
    )
}

/// Returns whether the process has a file open.
fn has_open(process: &Task<'_>, file: &Path) -> bool {
    let descriptors = fs::read_dir(process.path("fd")).into_iter().flatten().flatten();
    descriptors.into_iter().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target == file))
}

/// Runs a program to its end, and returns what it wrote.
fn run(program: &Path, command: &mut Command) -> Result<String, AttachError> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| AttachError::Start(program.to_owned(), error))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(said(&output.stdout));
    }
    let text = if output.stderr.is_empty() { said(&output.stdout) } else { said(&output.stderr) };
    // The last line of a Python traceback is the error.
    let last = text.lines().next_back().unwrap_or_default();
    Err(AttachError::Failed(format!("{}: {}: {last}", program.display(), output.status)))
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(runtime) => {
                write!(f, "{runtime} cannot name the functions of a process that runs already")?;
                match runtime.at_start() {
                    Some(setting) => write!(f, "; start it with {setting}"),
                    None => Ok(()),
                }
            }
            Self::File(error) => error.fmt(f),
            Self::OtherUser(uid) => {
                write!(
                    f,
                    "the process runs as the user with the id {uid}: attach as that user, as by `sudo -u '#{uid}'`"
                )
            }
            Self::OtherNamespace => {
                f.write_str("the process is in another mount namespace: attach inside of its container")
            }
            Self::Start(program, error) => write!(f, "{}: {error}", program.display()),
            Self::Failed(text) => f.write_str(text),
            Self::Late(map) => write!(
                f,
                "{} did not appear within {} s: the main thread runs no Python code, as in a long system call; the names \
                 begin when it does",
                map.display(),
                PATIENCE.as_secs()
            ),
        }
    }
}

impl StdError for AttachError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::File(error) => Some(error),
            Self::Start(_, error) => Some(error),
            _ => None,
        }
    }
}
