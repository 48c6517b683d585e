//! Attaches BPF programs to perf events, reads their output and uses their maps.

#![deny(unsafe_code)]
#![allow(dead_code, unused_imports)] // the system calls land before their callers

mod error;
mod layout;
mod map;
mod map_fd;
mod map_spec;
mod object_kind;
mod object_name;
mod privilege;
mod program_fd;
mod syscall;

#[doc(no_inline)]
pub use perf_sys::abi::bpf::{BpfCmd, BpfElemFlags, BpfInsn, BpfMapFlags, BpfMapType, BpfProgType};

pub use error::{Error, Result};
pub use map::{BatchCursor, BatchError, DumpStats, Iter, Key, Keys, Map, PerCpu, Value};
pub use map_spec::MapSpec;
pub use object_kind::ObjectKind;
pub use object_name::ObjectName;
pub use privilege::Privilege;
pub use program_fd::ProgramFd;
pub use syscall::MapFd;

use layout::MapLayout;
