//! The terminal while it shows a screen, and as it was before.

use std::io::{self, Write as _};
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use ratatui::{DefaultTerminal, Terminal};

use crate::message::note;

/// Messages of panics that are kept.
const MAX_PANICS: usize = 16;

/// Restores the terminal on drop: at the end, after an error, and while a panic of its thread unwinds.
///
/// Messages of panics are printed afterwards. Most threads catch one, such as that of a library in damaged symbols, and the
/// screen stays: so the panic hook must not restore the terminal, and its message would be lost on the screen.
#[must_use]
pub(super) struct Restore {
    panics: Arc<Mutex<Vec<String>>>,
}

impl Restore {
    /// Begins to keep messages of panics. Call it before [`start`], which may fail half-way.
    pub(super) fn new() -> Self {
        let panics = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&panics);
        panic::set_hook(Box::new(move |info| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() < MAX_PANICS {
                let thread = thread::current();
                kept.push(format!("thread {} {info}", thread.name().unwrap_or("without a name")));
            }
        }));
        Self { panics }
    }
}

impl Drop for Restore {
    fn drop(&mut self) {
        // The part of a drawing that was interrupted. An error of a terminal that is gone helps nobody.
        let _ = io::stdout().flush();
        let _ = restore();
        // A thread that panics may not change the hook.
        if !thread::panicking() {
            drop(panic::take_hook());
        }
        for panic in &*self.panics.lock().unwrap_or_else(PoisonError::into_inner) {
            note(panic);
        }
    }
}

/// Changes to the screen.
pub(super) fn start() -> io::Result<DefaultTerminal> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

/// Changes back, also if another thread has locked the standard output: for a program that ends at once.
pub(in crate::top) fn restore() -> io::Result<()> {
    let mode = disable_raw_mode();
    let mut codes = Vec::new();
    queue!(codes, LeaveAlternateScreen, Show)?;
    rustix::io::write(io::stdout(), &codes)?;
    mode
}
