//! The tests of the commands, as one program, which is linked once. Tests that need an idle machine
//! are separate.

#[cfg(feature = "annotate")]
mod annotate;
mod archive;
mod bad_input;
mod bad_recordings;
mod command_line;
mod demo;
mod descriptors;
mod dump_files;
mod dump_options;
mod explain;
mod export;
#[cfg(feature = "flamegraph")]
mod flamegraph;
mod interrupts;
mod large_values;
mod leader_sampling;
mod list;
mod locks;
mod losses;
mod off_cpu;
mod outputs;
mod record;
mod record_control;
mod record_events;
mod record_options;
mod record_profiles;
mod record_report;
mod record_spelling;
mod record_switch;
mod recording_filters;
mod recording_input;
mod report;
mod runtimes;
mod sched;
mod script;
mod shells;
#[cfg(feature = "flamegraph")]
mod stacks;
mod stat;
mod stat_values;
#[path = "../support/mod.rs"]
mod support;
mod top;
mod trace;
mod unread_output;
