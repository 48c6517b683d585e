//! Signals that end or change a measurement, and the time that a command has after a signal.

use std::io;
use std::os::fd::AsFd;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use perf_session::System;
use perf_session::ring::Waker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::out::thread;

/// The first interrupt. Before [`on_interrupt`], the default action of the signals ends the
/// program.
static INTERRUPTED: OnceLock<Interrupt> = OnceLock::new();

struct Interrupt {
    /// Woken at the first interrupt, and never reset.
    waker: Waker,
    first: OnceLock<Instant>,
}

impl Interrupt {
    /// Returns the end of the time that others have; `None` before the first interrupt.
    fn end(&self, patience: Duration) -> Option<Instant> {
        self.first.get().map(|first| *first + patience)
    }
}

/// Time that other programs have after an interrupt: a reader of a stream to read more, a collector
/// to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time to read symbols after an interrupt. The rest of [`PATIENCE`] is left to print the names.
const PATIENCE_FOR_NAMES: Duration = Duration::from_secs(1);

/// Time between two looks for an interrupt, for waits that have no descriptor.
const STEP: Duration = Duration::from_millis(100);

/// Whether a reader did not read within [`PATIENCE`]. The program then ends without waiting for
/// any.
static HAS_GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Returns the signals that end a program: Ctrl-C, the request to end, and the hang-up of the
/// terminal, unless the program was started to ignore that, as `nohup` does.
///
/// Ctrl-C is handled even if it was ignored at the start, because a shell that is not interactive
/// ignores it in all programs that it starts in the background, and scripts send it to them.
pub(crate) fn interrupts() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

fn is_ignored(signal: i32) -> bool {
    let status = System::new().this_process().status();
    status.is_ok_and(|status| status.ignores(signal.unsigned_abs()))
}

/// The functions of [`on_interrupt`], in the order of its calls.
static SUBSCRIBERS: Mutex<Vec<Subscriber>> = Mutex::new(Vec::new());

type Subscriber = Box<dyn FnMut() + Send>;

fn subscribers() -> MutexGuard<'static, Vec<Subscriber>> {
    SUBSCRIBERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `f` in another thread for each [interrupt](interrupts) from now on, instead of the default
/// action, and at once if an interrupt occurred since an earlier call. A command that was started
/// from the same terminal receives Ctrl-C and the hang-up, too.
///
/// Only the first hang-up counts: when a terminal closes, both the kernel and the shell send a
/// hang-up, while a second Ctrl-C is a request of the user.
pub(crate) fn on_interrupt(mut f: impl FnMut() + Send + 'static) -> io::Result<()> {
    let (waker, mut is_new) = (Waker::new()?, false);
    let interrupt = INTERRUPTED.get_or_init(|| {
        is_new = true;
        Interrupt { waker, first: OnceLock::new() }
    });
    if is_new {
        on_signals(&interrupts(), move |signal| {
            // Locked before the first interrupt is checked, so that no subscriber misses it or gets
            // it twice.
            let mut subscribers = subscribers();
            let is_first = interrupt.first.set(Instant::now()).is_ok();
            wake(&interrupt.waker);
            if is_first || signal != SIGHUP {
                subscribers.iter_mut().for_each(|f| f());
            }
        })?;
    }
    let mut subscribers = subscribers();
    if interrupt.first.get().is_some() {
        f();
    }
    subscribers.push(Box::new(f));
    Ok(())
}

/// Calls `first` in another thread at the first interrupt. The second interrupt calls `second` and
/// ends the program, in case the command does not end.
pub(crate) fn end_on_interrupt(
    first: impl Fn() + Send + 'static,
    second: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let mut is_second = false;
    on_interrupt(move || {
        if std::mem::replace(&mut is_second, true) {
            second();
            std::process::exit(EXIT_CODE.into());
        }
        first();
    })
}

/// Calls `f` in another thread for each signal of this number from now on, instead of the default
/// action.
pub(crate) fn on_signal(signal: i32, mut f: impl FnMut() + Send + 'static) -> io::Result<()> {
    on_signals(&[signal], move |_| f())
}

fn on_signals(signals: &[i32], mut f: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new(signals)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot handle signals: {error}")))?;
    let wait = move || signals.forever().for_each(&mut f);
    thread::start("perfkit-signals", wait).map(drop)
}

/// Exit code of a program that an interrupt ends at once: 128 and the number of `SIGINT`.
pub(crate) const EXIT_CODE: u8 = 130;

/// Returns whether there was an interrupt since the first call of [`on_interrupt`].
pub(crate) fn has_occurred() -> bool {
    INTERRUPTED.get().is_some_and(|interrupt| interrupt.first.get().is_some())
}

/// Returns the descriptor that is readable from the first interrupt on; `None` before
/// [`on_interrupt`].
pub(crate) fn descriptor() -> Option<&'static impl AsFd> {
    INTERRUPTED.get().map(|interrupt| &interrupt.waker)
}

/// Waits by calling `wait`, which takes a deadline and returns whether its condition was met by
/// then. The wait has no limit before an interrupt, and lasts [`PATIENCE`] after it. Returns
/// whether the condition was met.
pub(crate) fn wait_patiently(wait: impl FnMut(Instant) -> bool) -> bool {
    wait_until_end(|| INTERRUPTED.get()?.end(PATIENCE), wait)
}

/// Waits like [`wait_patiently`], but stops earlier, so that time is left to print the names.
pub(crate) fn wait_for_names(wait: impl FnMut(Instant) -> bool) -> bool {
    wait_until_end(|| INTERRUPTED.get()?.end(PATIENCE_FOR_NAMES), wait)
}

fn wait_until_end(end: impl Fn() -> Option<Instant>, mut wait: impl FnMut(Instant) -> bool) -> bool {
    loop {
        let (end, next) = (end(), Instant::now() + STEP);
        if wait(end.map_or(next, |end| end.min(next))) {
            return true;
        }
        if end.is_some_and(|end| end <= Instant::now()) {
            return false;
        }
    }
}

/// Ends a wait for rings.
pub(crate) fn wake(waker: &Waker) {
    // No errno is known that the kernel returns here.
    let _ = waker.wake();
}

/// Waits until a stream is writable: without a limit before an interrupt, and for [`PATIENCE`]
/// after it. Returns whether it is writable.
pub(crate) fn wait_until_writable(stream: &impl AsFd) -> io::Result<bool> {
    let Some(Interrupt { waker, .. }) = INTERRUPTED.get() else { return Ok(true) };
    let patience = if HAS_GIVEN_UP.load(Ordering::Relaxed) { Duration::ZERO } else { PATIENCE };
    let patience = Timespec::try_from(patience).unwrap_or_default();
    let is_writable = wait(stream, waker, &patience)?;
    HAS_GIVEN_UP.fetch_or(!is_writable, Ordering::Relaxed);
    Ok(is_writable)
}

fn wait(stream: &impl AsFd, interrupted: &Waker, patience: &Timespec) -> io::Result<bool> {
    let mut fds = [PollFd::new(stream, PollFlags::OUT), PollFd::new(interrupted, PollFlags::IN)];
    retry_on_intr(|| poll(&mut fds, None))?;
    let [stream, _] = &mut fds;
    // The write returns the error of a stream that has one.
    Ok(!stream.revents().is_empty() || retry_on_intr(|| poll(slice::from_mut(stream), Some(patience)))? > 0)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _, pipe};

    use super::*;

    #[test]
    fn waits_last_until_it_is_there() {
        let (mut waits, start) = (0, Instant::now());
        let is_there = wait_patiently(|until| {
            assert!(until > start);
            waits += 1;
            waits == 3
        });
        assert!(is_there && waits == 3);
    }

    #[test]
    fn what_is_not_there_some_time_after_an_interrupt_is_given_up() {
        let interrupt = Interrupt { waker: Waker::new().unwrap(), first: OnceLock::new() };
        let mut waits = 0;
        let is_there = wait_until_end(
            || interrupt.end(PATIENCE),
            |until| {
                waits += 1;
                if waits == 3 {
                    // Longer ago than any patience.
                    let first = Instant::now().checked_sub(2 * PATIENCE).unwrap();
                    interrupt.first.set(first).unwrap();
                }
                assert!(waits < 5 && (waits < 4 || until < Instant::now()));
                false
            },
        );
        assert!(!is_there && waits > 2);
    }

    #[test]
    fn interrupt_ends_the_wait_for_a_reader_that_does_not_read() {
        let interrupted = Waker::new().unwrap();
        let (mut reader, mut writer) = pipe().unwrap();
        let (none, long) = (Timespec::default(), Timespec { tv_sec: 600, tv_nsec: 0 });
        interrupted.wake().unwrap();
        assert!(wait(&writer, &interrupted, &none).unwrap(), "there is space");
        while wait(&writer, &interrupted, &none).unwrap() {
            writer.write_all(&[0; 4096]).unwrap();
        }
        let reading = std::thread::spawn(move || {
            reader.read_exact(&mut [0; 4096]).unwrap();
            reader
        });
        assert!(wait(&writer, &interrupted, &long).unwrap(), "the reader reads");
        drop(reading.join().unwrap());
        assert!(wait(&writer, &interrupted, &none).unwrap(), "the write returns the error");
    }
}
