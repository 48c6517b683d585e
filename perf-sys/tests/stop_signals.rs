//! The descriptor of the signals that end a program.

#![allow(clippy::unwrap_used)]

use std::thread;

use libc::{SIGINT, SIGTERM, raise};
use perf_sys::StopSignals;

#[test]
fn signals_of_a_thread_are_read_one_by_one() {
    // In a thread that ends here, because the signals stay blocked.
    let read = thread::spawn(|| {
        let signals = StopSignals::block().unwrap();
        let read = [SIGTERM, SIGINT].map(|signal| {
            // SAFETY: the signal is blocked, and only this thread gets it.
            assert_eq!(unsafe { raise(signal) }, 0);
            signals.wait().unwrap()
        });
        assert_eq!(read, [SIGTERM, SIGINT].map(i32::unsigned_abs));
    });
    read.join().unwrap();
}
