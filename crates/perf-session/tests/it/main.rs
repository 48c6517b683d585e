//! The live tests that need no separate process, as one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a failure fails the test

mod clock;
mod counting_tracepoints;
mod event_strings;
mod examples;
mod explain;
mod inherited_probe;
mod loss;
mod oracle_strings;
mod set_cpus;
mod set_pmus;
mod set_records;
mod set_tasks;
mod sized_rings;
mod std_errors;
#[path = "../support/mod.rs"]
mod support;
mod syscalls;
mod threads;
mod tracepoint;
mod two_modes;
