//! Signals that end a measurement or change it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use perf_session::sys::Waker;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `f` in another thread for each `SIGINT` (Ctrl-C) and `SIGTERM` from now on, in place of the signal's
/// default action. A command that was started from the same terminal receives `SIGINT` too.
pub(crate) fn on_interrupt(f: impl FnMut() + Send + 'static) -> io::Result<()> {
    on_signals(&[SIGINT, SIGTERM], f)
}

/// Calls `f` in another thread for each signal of this number from now on, in place of its default action.
pub(crate) fn on_signal(signal: i32, f: impl FnMut() + Send + 'static) -> io::Result<()> {
    on_signals(&[signal], f)
}

/// Calls `f` in another thread for each of these signals from now on, in place of their default actions.
pub(crate) fn on_signals(signals: &[i32], mut f: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new(signals)?;
    let wait = move || signals.forever().for_each(|_| f());
    thread::Builder::new().name("perfkit-signals".to_owned()).spawn(wait).map(drop)
}

/// Exit code after a second Ctrl-C: 128 and the number of `SIGINT`.
pub(crate) const SECOND_INTERRUPT: i32 = 130;

/// Ends a wait for rings at the first signal, and the program at the second, for a command that does not end. Returns
/// whether there was a signal.
pub(crate) fn wake_on_interrupt(stop: &Waker) -> io::Result<Arc<AtomicBool>> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let (interrupted, waker) = (Arc::clone(&is_interrupted), stop.clone());
    on_interrupt(move || {
        if interrupted.swap(true, Ordering::Relaxed) {
            std::process::exit(SECOND_INTERRUPT);
        }
        wake(&waker);
    })?;
    Ok(is_interrupted)
}

/// Ends a wait for rings.
pub(crate) fn wake(waker: &Waker) {
    // No errno is known that the kernel returns here.
    let _ = waker.wake();
}
