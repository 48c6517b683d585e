//! The limit of descriptors. This test has its own process, whose limit it lowers.

#![allow(clippy::unwrap_used)] // also in shared functions

mod support;

use perf_session::ring::{Errno, Event, Target};
use perf_session::{Cause, System, explain};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::explain::{OWN, assert_explains, may_open};

#[test]
fn limit_of_descriptors_is_named_with_its_value() {
    if !may_open() {
        return;
    }
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();
    let mut events = Vec::new();
    let error = loop {
        match Event::open(&OWN, Target::calling_thread()) {
            Ok(event) => events.push(event),
            Err(error) => break error,
        }
    };
    assert!(events.len() < 64);
    assert_eq!(error.errno(), Some(Errno::EMFILE), "{error}");
    // The evidence is read from files too: they need a descriptor.
    let explanation = explain(&System::new(), error, &OWN, Target::calling_thread());
    assert_explains(&explanation, Cause::ProcessFiles, &["RLIMIT_NOFILE", "not readable"]);
    events.truncate(events.len() - 2);
    let explanation = explain(&System::new(), error, &OWN, Target::calling_thread());
    let words = ["RLIMIT_NOFILE", "Max open files of /proc/self/limits: 64"];
    assert_explains(&explanation, Cause::ProcessFiles, &words);
}
