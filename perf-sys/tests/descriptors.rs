//! The end of the descriptors: alone in its process, whose limit it lowers.

#![allow(clippy::unwrap_used)] // also in what the tests share

mod support;
mod work;

use perf_sys::{Errno, Event, Target};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::open_or_skip;
use work::faults;

#[test]
fn an_exhausted_limit_says_so() {
    if open_or_skip(&faults(), Target::calling_thread()).is_none() {
        return;
    }
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(32), ..limit }).unwrap();
    let mut events = Vec::new();
    let error = loop {
        match Event::open(&faults(), Target::calling_thread()) {
            Ok(event) => events.push(event),
            Err(error) => break error,
        }
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    assert_eq!(error.errno(), Some(Errno::MFILE));
    assert!(events.len() < 32 && error.to_string().contains("descriptor limit"), "{error}");
}
