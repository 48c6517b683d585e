//! A time limit for tests that wait.

use std::io::{Write, stderr};
use std::process::exit;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The longest time of a test. A test that waits takes at most some seconds.
const LIMIT: Duration = Duration::from_secs(60);

thread_local! {
    /// Dropped with the thread of the test, which ends the limit.
    static TEST: Sender<()> = start(LIMIT);
}

/// Limits the time of the calling test, so that a wait that never ends fails it with its name. The
/// first call counts.
pub(crate) fn limit_time() {
    TEST.with(|_| ());
}

fn start(limit: Duration) -> Sender<()> {
    let (test, ended) = channel();
    let name = thread::current().name().unwrap_or("a thread of a test").to_owned();
    thread::spawn(move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Not by a macro, whose output the harness keeps until the test ends.
            let _ = writeln!(stderr(), "\n{name}: still running after {} s", limit.as_secs());
            exit(101);
        }
    });
    test
}
