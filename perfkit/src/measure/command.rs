//! The command that `record`, `stat` and `trace` run. Its exit status becomes the exit code of this
//! program, by the rules of a shell.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, OnceLock};

use perf_session::{DescriptorLimit, EventSet, EventSetError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::out::thread;

/// Returns the command of these words, the program first; `None` without a word.
pub(crate) fn command(words: &[OsString]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}

/// The limit of descriptors that this program was started with.
static INITIAL_LIMIT: OnceLock<DescriptorLimit> = OnceLock::new();

/// Lets this program open as many events as the hard limit of descriptors permits.
pub(crate) fn raise_descriptor_limit() {
    // With the limit as it is, an event that cannot be opened is reported with the cause.
    if let Ok(initial) = DescriptorLimit::raise() {
        let _ = INITIAL_LIMIT.set(initial);
    }
}

/// Starts a command, which inherits the limit that this program was started with: a measured
/// program runs as it does without perfkit.
fn with_initial_limit<R>(start: impl FnOnce() -> R) -> R {
    let Some(initial) = INITIAL_LIMIT.get() else { return start() };
    let raised = DescriptorLimit::read();
    // Both are within the hard limit.
    let _ = initial.set();
    let started = start();
    let _ = raised.set();
    started
}

/// Starts the events of a set, and the command. If the set is for the command, its events start at
/// the `exec`.
pub(crate) fn start(
    command: &mut Command,
    set: &mut EventSet,
    is_for_command: bool,
) -> Result<RunningCommand, EventSetError> {
    if is_for_command {
        return with_initial_limit(|| set.spawn(command)).map(RunningCommand);
    }
    set.enable()?;
    spawn(command)
}

/// Starts the command without events.
pub(crate) fn spawn(command: &mut Command) -> Result<RunningCommand, EventSetError> {
    with_initial_limit(|| command.spawn()).map(RunningCommand).map_err(|error| EventSetError::Command {
        program: command.get_program().to_string_lossy().into_owned(),
        error: Arc::new(error),
    })
}

/// Returns the exit code for a command that could not be started: 127 if the program was not found,
/// 126 if it cannot be executed.
pub(super) fn start_exit_code(error: &io::Error) -> ExitCode {
    ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// Returns the exit code for the status of a command: 128 and the signal's number if a signal
/// killed it.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(exit_number(status))
}

fn exit_number(status: ExitStatus) -> u8 {
    let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1)
}

/// A command that runs, or has exited and was not waited for. Killed on drop.
#[derive(Debug)]
pub(crate) struct RunningCommand(Child);

impl RunningCommand {
    /// Calls `f` in another thread when the command has exited.
    pub(crate) fn on_exit(&self, f: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let pid = self.pid()?;
        let wait = move || {
            // It stays a zombie, so that its id is not used again before `wait`. On an error there
            // is no such child, because it was waited for.
            let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), exited), Err(rustix::io::Errno::INTR)) {}
            f();
        };
        thread::start("perfkit-wait", wait).map(drop)
    }

    /// Asks the command to exit, by `SIGTERM`. Does nothing if it has exited.
    pub(crate) fn terminate(&self) -> io::Result<()> {
        Ok(kill_process(self.pid()?, Signal::TERM)?)
    }

    /// Kills the command, by `SIGKILL`, and waits for it.
    pub(crate) fn kill(mut self) -> io::Result<()> {
        self.0.kill()?;
        self.0.wait().map(drop)
    }

    /// Waits until the command exits and returns its status.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.0.wait()
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    fn pid(&self) -> io::Result<Pid> {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        pid.ok_or_else(|| io::Error::other("the command's process id is 0 or above 2147483647"))
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // Both fail only after the process was reaped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn exit_status_of_a_command_is_passed_on() {
        assert_eq!(exit_number(ExitStatus::from_raw(0)), 0);
        assert_eq!(exit_number(ExitStatus::from_raw(3 << 8)), 3);
    }

    #[test]
    fn killed_command_exits_with_128_and_the_signal() {
        assert_eq!(exit_number(ExitStatus::from_raw(9)), 137);
        assert_eq!(exit_number(ExitStatus::from_raw(15)), 143);
    }

    #[test]
    fn command_that_cannot_be_started_exits_as_in_a_shell() {
        let start = |program: &str| command(&[program.into()]).unwrap().spawn().unwrap_err();
        assert_eq!(start_exit_code(&start("/no/such/command")), ExitCode::from(127));
        assert_eq!(start_exit_code(&start("/")), ExitCode::from(126));
        assert!(command(&[]).is_none());
    }

    #[test]
    fn exit_of_a_command_is_noticed_before_it_is_waited_for() {
        let (exited, wait) = channel();
        let mut sleeps = command(&["sleep".into(), "1000".into()]).unwrap();
        let running = RunningCommand(sleeps.spawn().unwrap());
        running.on_exit(move || exited.send(()).unwrap()).unwrap();
        running.terminate().unwrap();
        wait.recv().unwrap();
        running.terminate().unwrap();
        assert_eq!(exit_number(running.wait().unwrap()), 143);
    }
}
