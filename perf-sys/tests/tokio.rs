//! Runs the asynchronous example.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

#[allow(dead_code)] // its `main`
#[path = "../examples/tokio.rs"]
mod example;

use perf_sys::{Errno, Error};
use support::skip;

#[test]
fn one_task_reads_many_rings_to_their_ends() {
    let samples = match example::watch(6, 20) {
        Ok(samples) => samples,
        Err(error) => {
            let errno = error.downcast_ref().and_then(Error::errno);
            let refused = matches!(errno, Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS));
            assert!(refused, "{error}");
            return skip(error);
        }
    };
    assert!(samples.len() == 6 && samples.iter().all(|&samples| samples >= 20), "{samples:?}");
}
