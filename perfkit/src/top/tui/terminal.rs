//! The terminal while it shows a screen, and as it was before.

use std::io::{self, BufWriter};
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use perf_symbols::is_panic_caught;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};

use crate::out::destination::Stream;
use crate::out::interrupt::wait_until_writable;
use crate::out::message::note;

/// The terminal as a screen.
pub(super) type Terminal = ratatui::Terminal<CrosstermBackend<BufWriter<Stream>>>;

/// Messages of panics that are kept.
const MAX_PANICS: usize = 16;

/// Restores the terminal on drop: at the end, after an error, and while a panic of its thread
/// unwinds.
///
/// Messages of panics are printed afterwards: another thread may panic while the screen stays, so
/// the panic hook must not restore the terminal, and its message would be lost on the screen. The
/// drop also restores the previous hook.
#[must_use]
pub(super) struct Restore {
    panics: Arc<Mutex<Vec<String>>>,
    before: Arc<PanicHook>,
}

type PanicHook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

impl Restore {
    /// Begins to keep messages of panics. Call it before [`start`], which may fail half-way.
    pub(super) fn new() -> Self {
        let panics = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&panics);
        let before = panic::take_hook().into();
        panic::set_hook(Box::new(move |info| {
            // Like the hook of the program, ignore caught panics, which are counted where their
            // result is missing.
            if is_panic_caught() {
                return;
            }
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < MAX_PANICS {
                let thread = thread::current();
                kept.push(format!("thread {} {info}", thread.name().unwrap_or("without a name")));
            }
        }));
        Self { panics, before }
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        // Nothing can be done about an error of a terminal that hung up.
        let _ = restore();
        // A thread that panics may not change the hook.
        if !thread::panicking() {
            let before = Arc::clone(&self.before);
            panic::set_hook(Box::new(move |info| before(info)));
        }
        for panic in &*self.panics.lock().unwrap_or_else(PoisonError::into_inner) {
            note(panic);
        }
    }
}

/// Changes to the screen.
pub(super) fn start() -> io::Result<Terminal> {
    enable_raw_mode()?;
    let mut out = BufWriter::new(Stream::of(&io::stdout())?);
    execute!(out, EnterAlternateScreen)?;
    Terminal::new(CrosstermBackend::new(out))
}

/// Restores the terminal even if another thread has locked standard output, for a program that ends
/// at once.
pub(in crate::top) fn restore() -> io::Result<()> {
    let mode = disable_raw_mode();
    let mut codes = Vec::new();
    queue!(codes, LeaveAlternateScreen, Show)?;
    if wait_until_writable(&io::stdout())? {
        rustix::io::write(io::stdout(), &codes)?;
    }
    mode
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::process::Command;

    use ratatui::crossterm::terminal::is_raw_mode_enabled;

    use super::super::pseudoterminal;
    use super::*;

    /// Names the action of the test program, which is this test itself.
    const VARIABLE: &str = "PERFKIT_TEST_SCREEN";

    /// Runs this test in a terminal as a program that performs the action. Returns its exit code,
    /// whether the terminal is restored, and what it printed after the screen.
    fn run(action: &str) -> (Option<i32>, bool, String) {
        let terminal = pseudoterminal::Terminal::new();
        let mut command = Command::new(env::current_exe().unwrap());
        let name = "top::tui::terminal::tests::terminal_is_restored_however_the_program_ends";
        command.args([name, "--exact", "--nocapture"]).env(VARIABLE, action);
        let child = terminal.start(command);
        let (status, is_plain, output) = terminal.finish(child);
        let (_, screen) = output.split_once("\u{1b}[?1049h").unwrap_or_else(|| panic!("no screen: {output}"));
        let (_, rest) = screen.split_once("\u{1b}[?1049l").unwrap_or_else(|| panic!("no end: {output}"));
        (status.code(), is_plain, rest.to_owned())
    }

    fn act(action: &str) {
        let lock = io::stdout().lock();
        let guard = Restore::new();
        let _terminal = start().unwrap();
        match action {
            "panic" => panic!("on purpose"),
            "exit" => {
                // Like the second interrupt.
                thread::spawn(|| {
                    let _ = restore();
                    std::process::exit(3);
                });
                thread::sleep(std::time::Duration::from_secs(60));
            }
            _ => {
                let library = thread::spawn(|| panic!("in a library"));
                assert!(library.join().is_err());
                assert!(is_raw_mode_enabled().unwrap(), "the screen stays");
            }
        }
        drop((guard, lock));
    }

    #[test]
    fn terminal_is_restored_however_the_program_ends() {
        if let Ok(action) = env::var(VARIABLE) {
            return act(&action);
        }
        let (code, is_plain, rest) = run("panic");
        assert!(code == Some(101) && is_plain && rest.contains("on purpose"), "{code:?} {is_plain}: {rest}");
        let (code, is_plain, rest) = run("exit");
        assert!(code == Some(3) && is_plain, "{code:?} {is_plain}: {rest}");
        let (code, is_plain, rest) = run("caught");
        assert!(code == Some(0) && is_plain && rest.contains("in a library"), "{code:?} {is_plain}: {rest}");
    }
}
