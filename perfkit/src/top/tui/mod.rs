//! The screen with keys.

mod draw;
#[cfg(test)]
#[allow(dead_code, reason = "tests of the commands use the rest")]
mod pseudoterminal;
mod rows;
mod state;
mod terminal;

use std::io::{self, IsTerminal as _};
use std::mem::ManuallyDrop;
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError};
use std::thread::JoinHandle;

use perf_session::ring::Waker;
use ratatui::crossterm::event::{self, Event};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

use super::Options;
use super::reader::Interval;
use super::screen::{Moment, Subject};
use super::sums::Sums;
use crate::out::interrupt;
use crate::out::thread;
use state::State;
pub(super) use terminal::restore;
use terminal::{Restore, Terminal};

/// Shows the intervals until the reader ends, the user quits, an interrupt comes or the terminal
/// hangs up. Restores the terminal, also after a panic.
pub(super) fn show(
    options: &Options,
    subject: Subject,
    sums: Sums,
    intervals: Receiver<Interval>,
) -> io::Result<()> {
    let waker = Waker::new()?;
    let (moments, sums) = add_up(sums, intervals, waker.clone())?;
    let state = State::new(options, subject);
    let restore = Restore::new();
    // `Restore` shows the cursor. A drop would do it too, and write to standard error if that
    // fails.
    let shown =
        terminal::start().and_then(|terminal| run(&mut ManuallyDrop::new(terminal), state, &moments, &waker));
    drop(restore);
    match shown {
        Ok(End::NoMoments) => sums.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Ok(End::Quit) => {}
        Err(error) => {
            // The terminal may hang up while the screen is drawn.
            let gone = wait(&Waker::new()?, Some(&Timespec::default()))?;
            return if gone { Ok(()) } else { Err(error) };
        }
    }
    Ok(())
}

/// Why the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The user quit, an interrupt arrived, or the terminal hung up.
    Quit,
    /// The thread that adds up the intervals ended.
    NoMoments,
}

/// Adds up the intervals in another thread, because that waits for names.
fn add_up(
    mut sums: Sums,
    intervals: Receiver<Interval>,
    waker: Waker,
) -> io::Result<(Receiver<Moment>, JoinHandle<()>)> {
    let (feed, moments) = Feed::new(waker);
    let add = move || {
        // The screen ends with the last interval, and does not wait for its names.
        for interval in intervals.into_iter().take_while(|interval| !interval.is_last) {
            if !feed.send(sums.add(interval)) {
                return;
            }
        }
    };
    let sums = thread::start("perfkit-sums", add)?;
    Ok((moments, sums))
}

/// Reads the keys and the new sizes of the terminal in another thread, because the library does not
/// return after a hang-up, but reads the end of the file in a loop.
fn read_keys(waker: Waker) -> io::Result<Receiver<io::Result<Event>>> {
    let (feed, keys) = Feed::new(waker);
    let read = move || while feed.send(event::read()) {};
    // Not joined, because it waits for the next key until the program ends.
    thread::start("perfkit-keys", read)?;
    Ok(keys)
}

/// A channel to the thread of the screen. Each value wakes that thread, as does the end or a panic
/// of the sender. A second value waits until the first is received, so that on a stopped terminal
/// the reader of the rings counts the skipped samples.
struct Feed<T> {
    sender: Option<SyncSender<T>>,
    waker: Waker,
}

impl<T> Feed<T> {
    fn new(waker: Waker) -> (Self, Receiver<T>) {
        let (sender, receiver) = mpsc::sync_channel(1);
        (Self { sender: Some(sender), waker }, receiver)
    }

    /// Returns whether the receiver still exists.
    fn send(&self, value: T) -> bool {
        let is_sent = self.sender.as_ref().is_some_and(|sender| sender.send(value).is_ok());
        interrupt::wake(&self.waker);
        is_sent
    }
}

impl<T> Drop for Feed<T> {
    fn drop(&mut self) {
        self.sender = None;
        interrupt::wake(&self.waker);
    }
}

fn run(
    terminal: &mut Terminal,
    mut state: State,
    moments: &Receiver<Moment>,
    waker: &Waker,
) -> io::Result<End> {
    let keys = read_keys(waker.clone())?;
    let mut is_changed = true;
    loop {
        if is_changed {
            terminal.draw(|frame| draw::draw(frame, &mut state))?;
        }
        if wait(waker, None)? {
            return Ok(End::Quit);
        }
        // Reset before the channels are checked, so that a later value wakes again.
        waker.reset()?;
        is_changed = false;
        for event in keys.try_iter() {
            is_changed = true;
            if let Event::Key(key) = event?
                && state.key(key).is_break()
            {
                return Ok(End::Quit);
            }
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

/// Waits for keys and samples. Returns whether the terminal hung up or an interrupt arrived.
fn wait(waker: &Waker, timeout: Option<&Timespec>) -> io::Result<bool> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    // No flags for the terminal, because `poll` always reports a hang-up.
    let mut fds = vec![PollFd::new(waker, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
    if stdin.is_terminal() {
        fds.push(PollFd::new(&stdin, PollFlags::empty()));
    }
    fds.extend(interrupt::descriptor().map(|interrupted| PollFd::new(interrupted, PollFlags::IN)));
    retry_on_intr(|| poll(&mut fds, timeout))?;
    Ok(fds.iter().skip(1).any(|fd| !fd.revents().is_empty()))
}
