//! The structs, flags and numbers that the Linux kernel's headers declare for `perf_event_open`.
//!
//! ```
//! use perf_abi::{Attr, AttrFlags, Hardware, SampleType, Skid};
//!
//! /// Samples address, task, time and callchain of user space 99 times a second.
//! const PROFILE: Attr = Attr::hardware(Hardware::CPU_CYCLES)
//!     .with_frequency(99)
//!     .with_sample_type(SampleType::IP.union(SampleType::TID).union(SampleType::TIME).union(SampleType::CALLCHAIN))
//!     .with_flags(AttrFlags::DISABLED.union(AttrFlags::EXCLUDE_KERNEL))
//!     .with_precise_ip(Skid::CONSTANT);
//!
//! println!("{PROFILE:#?}");
//! assert_eq!(PROFILE.sample_type.to_string(), "IP|TID|TIME|CALLCHAIN");
//! assert_eq!(PROFILE.flags.to_string(), "DISABLED|EXCLUDE_KERNEL|FREQ|precise_ip=1");
//! ```
//!
//! Everything here is plain data in the byte order of this machine, up to the 144-byte attr of
//! Linux 6.19 and the constants of Linux 7.0. This crate decodes nothing and makes no system call:
//! the crate `perf-decode` decodes records, the crate `perf-sys` calls the kernel.
//!
//! | part of the interface | types |
//! |---|---|
//! | the event | [`EventType`], [`Hardware`], [`Software`], [`CacheEvent`], [`BreakpointType`] |
//! | counting and sampling | [`Attr`], [`AttrFlags`], [`SampleType`], [`ReadFormat`], [`BranchSampleType`], [`Clock`], [`Skid`], [`OpenFlags`] |
//! | record headers and side-band records | [`Header`], [`RecordType`], [`Misc`], [`AuxFlags`], [`KsymbolType`], [`BpfEventType`], [`NamespaceIndex`] |
//! | fields of samples | [`CallchainContext`], [`Weight`], [`Transaction`], the modules [`branch`], [`mem`] and [`regs`] |
//! | the mapped control page | [`MmapPage`], [`MmapCapabilities`] |
//! | ioctls | the `IOC_*` constants, [`IocFlags`] |
//! | `bpf(2)`, as far as it concerns perf events | the module `bpf`, with the feature `bpf` |
//!
//! The kernel's numbers are newtypes with constants and its flags are bit sets, so a value that is
//! newer than this crate is kept, compared and printed like any other. `ALL` lists the constants of
//! a number and `KNOWN` is the union of the flags. The kernel's value is the public field of both:
//!
//! ```
//! use perf_abi::{Misc, RecordType};
//!
//! assert_eq!((RecordType(9), Misc(2)), (RecordType::SAMPLE, Misc::from_bits_retain(2)));
//! assert_eq!((RecordType::SAMPLE.0, Misc::EXACT_IP.0), (9, Misc::EXACT_IP.bits()));
//! ```
//!
//! The size and the offsets of every struct are asserted at compile time.
//!
//! Names are those of the header without their prefix (`PERF_SAMPLE_IP` is [`SampleType::IP`]); the
//! search of these pages finds the C name. "Since Linux" is the first release with the constant or
//! field; programs read it of flags by `since`, for example [`AttrFlags::since`]. The "kernel errata" are a page of
//! [`perf-ring`](https://docs.rs/perf-ring/latest/perf_ring/kernel_errata/): faults of real kernels, with the
//! affected versions.
//!
//! # Structs and bytes
//!
//! With the feature `zerocopy-08` every type implements `FromBytes`, `IntoBytes`, `Immutable` and
//! `KnownLayout` of the crate `zerocopy`, version 0.8. It is off by default, because the derives and
//! the crates they need take longer to build than the rest of this crate. A [`Header`], a [`branch::BranchEntry`] and a
//! [`NamespaceLink`] are converted from the words of a record without it.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    feature = "zerocopy-08",
    allow(missing_debug_implementations, reason = "hidden helper types of zerocopy's derives have none")
)]

#[cfg(test)]
extern crate std;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[macro_use]
mod macros;

mod attr;
mod bits;
#[cfg(feature = "bpf")]
pub mod bpf;
pub mod branch;
mod event;
mod format;
mod header;
#[cfg(test)]
mod headers;
pub mod mem;
mod misc;
mod mmap_page;
pub mod regs;
mod release;
mod sample;
mod side_band;
mod syscall;
mod zero;

pub use attr::{Attr, AttrFlags, AuxAction, Clock, Sampling, Skid, StackSize};
pub use event::{
    BreakpointLen, BreakpointType, Cache, CacheEvent, CacheOp, CacheResult, EventType, HW_EVENT_MASK,
    Hardware, PMU_TYPE_SHIFT, Software,
};
pub use format::{BranchSampleType, ReadFormat, SampleType};
pub use header::{Header, RecordType};
pub use misc::{CpuMode, Misc, MiscNames};
pub use mmap_page::{MmapCapabilities, MmapPage};
pub use release::Release;
pub use sample::{CallchainContext, MAX_CONTEXTS_PER_STACK, MAX_STACK_DEPTH, Transaction, Weight};
pub use side_band::{
    AuxFlags, BUILD_ID_SIZE_MAX, BpfEventType, KsymbolFlags, KsymbolType, NamespaceIndex, NamespaceLink,
};
pub use syscall::{
    IOC_DISABLE, IOC_ENABLE, IOC_ID, IOC_MODIFY_ATTRIBUTES, IOC_PAUSE_OUTPUT, IOC_PERIOD, IOC_QUERY_BPF,
    IOC_REFRESH, IOC_RESET, IOC_SET_BPF, IOC_SET_FILTER, IOC_SET_OUTPUT, IocFlags, OpenFlags,
    PerfEventQueryBpf, SigtrapFlags, TRAP_PERF,
};
