//! The live tests that need no separate process, as one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::panic, clippy::never_loop)] // also in shared functions

mod aux;
mod bpf;
mod bpf_output;
mod cost;
mod count;
mod group;
mod group_ring;
mod inherit;
mod ioctl;
mod kept_on_exec;
mod open;
mod overwritten;
mod period;
mod read_format;
mod records;
mod redirect;
mod ring;
mod ring_set;
mod ring_wait;
mod same_kind;
mod scarce;
mod seccomp;
mod shared_ring;
mod snapshot;
mod sorted_wait;
#[path = "../support/mod.rs"]
mod support;
mod system_records;
mod unprivileged;
mod user_counter;
#[path = "../work/mod.rs"]
mod work;

mod prelude {
    pub(crate) use perf_ring::*;
    pub(crate) use rustix::param::page_size;

    pub(crate) use crate::support::*;
    pub(crate) use crate::work::*;
}
