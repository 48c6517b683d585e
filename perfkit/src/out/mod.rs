//! Messages, outputs, threads and signals, which also end a wait for a reader of an output.

pub(crate) mod color;
pub(crate) mod destination;
pub(crate) mod interrupt;
pub(crate) mod message;
pub(crate) mod output_path;
pub(crate) mod payload_names;
pub(crate) mod standard_output;
pub(crate) mod thread;
pub(crate) mod whole_file;
