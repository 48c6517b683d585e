//! A pseudoterminal for programs under test.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helpers may fail it")]

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, LocalModes, OutputModes, Winsize, tcflow, tcgetattr, tcsetwinsize};

/// Limit of each wait for the program under test.
const LIMIT: Duration = Duration::from_secs(60);

/// A terminal with the output of the program that runs in it.
pub(crate) struct Terminal {
    /// The side of the pseudoterminal that the program has open.
    program: File,
    output: Arc<Mutex<Vec<u8>>>,
    /// The thread that reads the controlling side.
    reader: JoinHandle<()>,
    is_gone: Arc<AtomicBool>,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap();
        let program = OpenOptions::new().read(true).write(true).open(path.to_str().unwrap()).unwrap();
        tcsetwinsize(&program, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let output = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&output);
        let mut controller = File::from(controller);
        let is_gone = Arc::new(AtomicBool::new(false));
        let must_end = Arc::clone(&is_gone);
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            let tick = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
            while !must_end.load(Ordering::Relaxed) {
                if poll(&mut [PollFd::new(&controller, PollFlags::IN)], Some(&tick)) == Ok(0) {
                    continue;
                }
                // An error is the end, after the program and this side have closed the terminal.
                let Ok(count @ 1..) = controller.read(&mut piece) else { break };
                read.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Self { program, output, reader, is_gone }
    }

    /// Starts a program with this terminal. The command must not live on, because it has the
    /// terminal open.
    pub(crate) fn start(&self, mut command: Command) -> Child {
        let side = || Stdio::from(self.program.try_clone().unwrap());
        command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap()
    }

    /// Waits until the output has a text. Returns whether it came before the program ended.
    pub(crate) fn wait_for(&self, text: &str, child: &mut Child) -> bool {
        wait_until(|| {
            let is_there = self.text().contains(text);
            (is_there || child.try_wait().unwrap().is_some()).then_some(is_there)
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap()).into_owned()
    }

    /// Stops the output, as Ctrl-S does.
    pub(crate) fn stop(&self) {
        tcflow(&self.program, Action::OOff).unwrap();
    }

    /// Closes the controlling side, as a closed connection or window does. Waits for the program,
    /// and returns its exit status.
    pub(crate) fn hang_up(self, mut child: Child) -> ExitStatus {
        self.is_gone.store(true, Ordering::Relaxed);
        self.reader.join().unwrap();
        wait_until(|| child.try_wait().unwrap())
    }

    /// Returns whether lines are edited, echoed and printed as before a screen.
    pub(crate) fn is_plain(&self) -> bool {
        let modes = tcgetattr(&self.program).unwrap();
        modes.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && modes.output_modes.contains(OutputModes::OPOST)
    }

    /// Waits for the program. Returns its exit status, whether the terminal is plain then, and the
    /// output.
    pub(crate) fn finish(self, mut child: Child) -> (ExitStatus, bool, String) {
        let status = wait_until(|| child.try_wait().unwrap());
        let is_plain = self.is_plain();
        let Self { program, output, reader, .. } = self;
        drop(program);
        reader.join().unwrap();
        let output = String::from_utf8_lossy(&output.lock().unwrap()).into_owned();
        (status, is_plain, output)
    }
}

fn wait_until<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(start.elapsed() < LIMIT, "the program hangs");
        thread::sleep(Duration::from_millis(20));
    }
}
