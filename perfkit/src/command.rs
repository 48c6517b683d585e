//! The command that `record` and `stat` run: it is held until the events are open, and its exit status
//! becomes that of this program.
//!
//! The held process is this program with a hidden subcommand. It stops itself, and executes the command
//! when it is continued, so events with `enable_on_exec` begin with the command's first instruction.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::thread;

use clap::Args;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, set_parent_process_death_signal,
    waitid, waitpid,
};

mod lookup;

/// Name of the hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "hold-command";

/// Arguments of the hidden subcommand.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// A command that cannot be executed.
#[derive(Debug)]
pub(crate) struct CommandError {
    command: OsString,
    error: io::Error,
}

impl CommandError {
    /// Returns the exit code of a shell for this error: 127 if there is no such command, 126 if it cannot
    /// be executed.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(if self.error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot execute `{}`: {}", self.command.to_string_lossy(), self.error)
    }
}

impl std::error::Error for CommandError {}

/// A process that is stopped before it executes the command. Killed on drop.
#[derive(Debug)]
pub(crate) struct HeldCommand {
    process: Process,
}

impl HeldCommand {
    /// Starts the process and waits until it is stopped. `command` is the path or name and the
    /// arguments.
    ///
    /// # Errors
    ///
    /// The command is not found or not executable, or the process does not start.
    pub(crate) fn spawn(command: &[OsString]) -> Result<Self, CommandError> {
        let name = command.first().cloned().unwrap_or_default();
        let context = |error| CommandError { command: name.clone(), error };
        lookup::check(&name).map_err(context)?;
        // Not by its path, because the file may have been replaced since the start.
        let mut held = Command::new("/proc/self/exe");
        let child = held.arg(SUBCOMMAND).arg("--").args(command).spawn().map_err(context)?;
        let process = Process(child);
        process.wait_until_stopped().map_err(context)?;
        Ok(Self { process })
    }

    /// Returns the process id, which the command keeps.
    pub(crate) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Lets the process execute the command.
    pub(crate) fn start(self) -> io::Result<RunningCommand> {
        self.process.signal(Signal::CONT)?;
        Ok(RunningCommand { process: self.process })
    }
}

/// A command that runs, or has exited and was not waited for. Killed on drop.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    process: Process,
}

impl RunningCommand {
    /// Calls `f` in another thread when the command has exited.
    pub(crate) fn on_exit(&self, f: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let pid = self.process.pid()?;
        let wait = move || {
            // It stays a zombie, so that its id is not used again before `wait`. On an error there is
            // no such child, because it was waited for.
            let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), exited), Err(rustix::io::Errno::INTR)) {}
            f();
        };
        thread::Builder::new().name("perfkit-wait".to_owned()).spawn(wait).map(drop)
    }

    /// Asks the command to exit, by `SIGTERM`. Does nothing if it has exited.
    pub(crate) fn terminate(&self) -> io::Result<()> {
        self.process.signal(Signal::TERM)
    }

    /// Waits until the command exits and returns its status.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.process.0.wait()
    }
}

/// Returns the exit code that a shell reports for a status: 128 and the signal's number if a signal
/// killed the command.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(exit_number(status))
}

fn exit_number(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1)
}

/// A child process, killed on drop.
#[derive(Debug)]
struct Process(Child);

impl Process {
    fn pid(&self) -> io::Result<Pid> {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::Error::other("the command's process id is 0 or above 2147483647"))
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        Ok(kill_process(self.pid()?, signal)?)
    }

    fn wait_until_stopped(&self) -> io::Result<()> {
        let pid = self.pid()?;
        loop {
            match waitpid(Some(pid), WaitOptions::UNTRACED) {
                Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
                Ok(Some((_, status))) if status.stopped() => return Ok(()),
                Ok(found) => {
                    let found = found.map(|(_, status)| status);
                    return Err(io::Error::other(format!("expected a stopped process, found {found:?}")));
                }
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only after the process was reaped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the hidden subcommand: stops this process, then executes the command.
///
/// Returns only if that fails, with the exit code.
pub(crate) fn hold(arguments: &Arguments) -> io::Result<ExitCode> {
    let Some((name, rest)) = arguments.command.split_first() else {
        return Err(io::Error::other("expected a command"));
    };
    // A recorder that is killed must not leave a stopped process.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    kill_process(getpid(), Signal::STOP)?;
    set_parent_process_death_signal(None)?;
    let error = Command::new(name).args(rest).exec();
    let error = CommandError { command: name.clone(), error };
    eprintln!("perfkit: {error}");
    Ok(error.exit_code())
}

#[cfg(test)]
mod tests;
