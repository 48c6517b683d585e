//! The end of a measurement by `SIGINT` (Ctrl-C) or `SIGTERM`.

use std::io;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `f` in another thread for each `SIGINT` and `SIGTERM` from now on, in place of the signal's
/// default action. A command that was started from the same terminal receives `SIGINT` too.
pub(crate) fn on_interrupt(mut f: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let wait = move || signals.forever().for_each(|_| f());
    thread::Builder::new().name("perfkit-signals".to_owned()).spawn(wait).map(drop)
}
