//! Tasks, events and commands that `record`, `stat`, `top` and `trace` measure.

pub(crate) mod bpf_programs;
pub(crate) mod command;
pub(crate) mod events;
pub(crate) mod failure;
pub(crate) mod privilege_levels;
pub(crate) mod recording_file;
pub(crate) mod ring_pages;
pub(crate) mod running;
pub(crate) mod sampling;
pub(crate) mod target;
pub(crate) mod waiting;
