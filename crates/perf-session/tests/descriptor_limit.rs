//! The limit of descriptors is raised and set back. This test has its own process, whose limit it
//! changes.

#![allow(clippy::unwrap_used)] // a failure here fails the test

use std::process::Command;

use perf_session::DescriptorLimit;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn soft_limit_is_raised_to_the_hard_one_and_programs_start_with_the_one_from_before() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();
    let before = DescriptorLimit::raise().unwrap();
    assert_eq!((before.soft(), before.hard()), (Some(64), limit.maximum));
    let raised = DescriptorLimit::read();
    assert_eq!((raised.soft(), raised.hard()), (limit.maximum, limit.maximum));
    assert_eq!(DescriptorLimit::raise().unwrap(), raised);

    // The descriptors above the soft limit stay open, and the program starts in spite of them.
    let open: Vec<_> = (0..100).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
    before.set().unwrap();
    assert_eq!(DescriptorLimit::read(), before);
    let status = Command::new("sh").args(["-c", "test $(ulimit -Sn) = 64"]).status();
    raised.set().unwrap();
    assert!(status.unwrap().success());
    assert_eq!((open.len(), DescriptorLimit::read()), (100, raised));
}
