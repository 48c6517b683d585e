//! Comparisons of every constant, bit field and struct with what the kernel's headers declare.
//!
//! The constants themselves are compared, by their names in C, with bindings that others generated
//! from the headers (`published`) and with the type information of a running kernel (`btf`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod bit_fields;
mod btf;
mod btf_bpf;
mod constants;
mod kernel;
mod libc_values;
mod older;
mod published;
mod uapi;
