//! An event whose descriptor another program has, which maps the ring and releases records that are
//! unread here.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::Arc;

use crate::prelude::*;

/// The number of the descriptor, in the environment of the other program.
const DESCRIPTOR: &str = "PK_KEPT_ON_EXEC";

/// Switches that fill a ring of one page several times.
const MANY: u64 = 1000;

#[test]
fn records_of_an_event_that_is_kept_on_exec_stay_as_they_are_while_another_program_releases_them() {
    if own(&switches()).is_none() {
        return;
    }
    let options = OpenOptions::new().keep_on_exec();
    let mut ring = Ring::map(options.open(&switches(), Target::calling_thread()).unwrap(), 1).unwrap();
    let number = ring.as_raw_fd().to_string();
    ring.event().enable().unwrap();
    switch(10);
    let mut batch = ring.batch().unwrap();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    let before: Vec<Vec<u64>> = records.iter().map(|record| record.words().to_vec()).collect();
    assert!(before.len() >= 10);
    let program = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kept_on_exec::other_program", "--ignored", "--nocapture"])
        .env(DESCRIPTOR, number)
        .status();
    assert!(program.unwrap().success());
    switch(MANY);
    assert!(records.iter().zip(&before).all(|(record, before)| record.words() == &before[..]));
}

#[test]
#[ignore = "the other program of the test here"]
fn other_program() {
    let Ok(number) = std::env::var(DESCRIPTOR) else { return };
    // SAFETY: the descriptor was kept open for this program, which owns it nowhere else.
    let fd = unsafe { OwnedFd::from_raw_fd(number.parse().unwrap()) };
    // SAFETY: the descriptor is of an event with this attr, and the other reader borrows no
    // records.
    let event = unsafe { Event::from_fd(fd, switches()) };
    let mut ring = sys::DataRing::map(&Arc::new(event), 1).unwrap();
    let head = ring.refresh().unwrap();
    assert_ne!(ring.tail(), head);
    ring.release(head);
}

#[test]
fn event_that_is_kept_on_exec_does_not_write_into_a_ring_that_lends_its_records() {
    let Some(lends) = own_ring(&switches(), 1) else { return };
    let kept = OpenOptions::new().keep_on_exec().open(&switches(), Target::calling_thread()).unwrap();
    assert!(kept.may_overwrite_records() && !lends.event().may_overwrite_records());
    assert_eq!(kept.set_output(Some(lends.event())), Err(sys::Error::NotCopied));
    let output = OpenOptions::new().leader(lends.event()).flags(OpenFlags::FD_OUTPUT).keep_on_exec();
    let error = output.open(&switches(), Target::calling_thread()).unwrap_err();
    assert_eq!(error, sys::Error::NotCopied);
}

/// Safe code cannot hand a descriptor to another process.
#[test]
fn events_and_their_rings_have_no_descriptor_that_safe_code_duplicates() {
    // Ambiguous, and so an error, for a type with the trait.
    trait Absent<A> {
        fn is_absent() {}
    }
    struct Present;
    impl<T: ?Sized> Absent<()> for T {}
    impl<T: std::os::fd::AsFd + ?Sized> Absent<Present> for T {}
    <Event as Absent<_>>::is_absent();
    <Ring as Absent<_>>::is_absent();
    <SnapshotRing as Absent<_>>::is_absent();
    <sys::BorrowedEvent<'_> as Absent<_>>::is_absent();
    <sys::Polled<'_> as Absent<_>>::is_absent();
}
