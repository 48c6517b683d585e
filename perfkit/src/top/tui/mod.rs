//! The screen with keys.

mod draw;
#[cfg(test)]
#[allow(dead_code, reason = "tests of the commands use the rest")]
mod pseudoterminal;
mod rows;
mod state;
mod terminal;

use std::io;
use std::mem::ManuallyDrop;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use super::Options;
use super::reader::Interval;
use super::screen::{Moment, Subject};
use super::sums::Sums;
use state::State;
pub(super) use terminal::restore;
use terminal::{Restore, Terminal};

/// Time between two looks for keys and new samples.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows the intervals until the reader ends or the user quits, and restores the terminal, also after a panic.
pub(super) fn show(
    options: &Options,
    subject: Subject,
    sums: Sums,
    intervals: Receiver<Interval>,
) -> io::Result<()> {
    let (moments, sums) = add_up(sums, intervals)?;
    let state = State::new(options, subject);
    let restore = Restore::new();
    // `Restore` shows the cursor. A drop would do it too, and write to standard error if that fails.
    let shown = terminal::start().and_then(|terminal| run(&mut ManuallyDrop::new(terminal), state, &moments));
    drop(restore);
    if shown? == End::NoMoments {
        sums.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
    Ok(())
}

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Quit,
    /// The thread that adds up the intervals ended.
    NoMoments,
}

/// Adds up the intervals in another thread, because that waits for names.
fn add_up(mut sums: Sums, intervals: Receiver<Interval>) -> io::Result<(Receiver<Moment>, JoinHandle<()>)> {
    // The thread waits for a terminal that is stopped, and the reader counts the samples that are skipped then.
    let (sender, moments) = mpsc::sync_channel(1);
    let add = move || {
        // The screen ends with the last one, and does not wait for its names.
        for interval in intervals.into_iter().take_while(|interval| !interval.is_last) {
            if sender.send(sums.add(interval)).is_err() {
                return;
            }
        }
    };
    let sums = thread::Builder::new().name("perfkit-sums".to_owned()).spawn(add)?;
    Ok((moments, sums))
}

fn run(terminal: &mut Terminal, mut state: State, moments: &Receiver<Moment>) -> io::Result<End> {
    let mut is_changed = true;
    loop {
        if is_changed {
            terminal.draw(|frame| draw::draw(frame, &mut state))?;
        }
        is_changed = event::poll(INTERVAL)?;
        if is_changed
            && let Event::Key(key) = event::read()?
            && state.key(key).is_break()
        {
            return Ok(End::Quit);
        }
        match moments.try_recv() {
            Ok(moment) => {
                state.update(moment);
                is_changed = true;
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(End::NoMoments),
        }
    }
}
