//! What the Linux kernel's headers declare about `perf_event_open`: structs, flags and numbers.
//!
//! ```
//! use perf_abi::{Attr, AttrFlags, Hardware, SampleType};
//!
//! /// 99 times a second: where the CPU is, who is running, when, and how it got there.
//! const PROFILE: Attr = Attr::hardware(Hardware::CPU_CYCLES)
//!     .with_frequency(99)
//!     .with_sample_type(SampleType::IP.union(SampleType::TID).union(SampleType::TIME).union(SampleType::CALLCHAIN))
//!     .with_flags(AttrFlags::DISABLED.union(AttrFlags::EXCLUDE_KERNEL))
//!     .with_precise_ip(1);
//!
//! println!("{PROFILE:#?}");
//! assert_eq!(PROFILE.sample_type.to_string(), "IP|TID|TIME|CALLCHAIN");
//! assert_eq!(PROFILE.flags.to_string(), "DISABLED|EXCLUDE_KERNEL|FREQ|precise_ip=1");
//! ```
//!
//! Everything here is plain data of this machine's byte order, up to the 144-byte attr of Linux 6.19 and the
//! constants of Linux 7.0. Nothing is decoded and no system call is made: records whose layout the header
//! only describes in comments are the business of `perf-decode`, talking to the kernel that of `perf-sys`.
//!
//! | to say or read | types |
//! |---|---|
//! | which event | [`EventType`], [`Hardware`], [`Software`], [`CacheEvent`], [`BreakpointType`] |
//! | how to count and sample | [`Attr`], [`AttrFlags`], [`SampleType`], [`ReadFormat`], [`BranchSampleType`], [`OpenFlags`] |
//! | what a record is | [`Header`], [`RecordType`], [`Misc`], [`AuxFlags`], [`KsymbolType`], [`BpfEventType`], [`NamespaceIndex`] |
//! | what a sample holds | [`CallchainContext`], [`BranchEntry`], [`RegsAbi`], [`Weight`], [`DataSource`], [`Transaction`] |
//! | what is mapped | [`MmapPage`], [`MmapCapabilities`] |
//! | requests | the `IOC_*` constants, [`IocFlags`], [`BpfCmd`] and the `Bpf*` structs |
//!
//! Two rules hold for all of them. The kernel's numbers are newtypes with constants and its flags are bit
//! sets: a value that is newer than this crate is kept, compared and printed like any other. And every struct
//! is held to the kernel's sizes and offsets while this crate is compiled.
//!
//! Names are the header's without their prefix (`PERF_SAMPLE_IP` is [`SampleType::IP`]); searching these
//! pages for the C name finds them. "Since Linux" names the first release with the constant.

#![no_std]
#![forbid(unsafe_code)]
#![allow(missing_debug_implementations, reason = "hidden helper types of zerocopy's derives have none")]

#[macro_use]
mod macros;

mod attr;
mod attr_flags;
mod aux;
mod bits;
mod bpf;
mod bpf_event;
mod branch;
mod breakpoint;
mod cache;
mod callchain;
mod event_type;
mod hardware;
mod header;
mod ioctl;
mod ksymbol;
mod limits;
mod mem;
mod misc;
mod mmap_page;
mod namespaces;
mod open;
mod read_format;
mod regs;
mod sample_type;
mod sigtrap;
mod software;
mod txn;
mod weight;

pub use attr::{Attr, AuxAction};
pub use attr_flags::AttrFlags;
pub use aux::AuxFlags;
pub use bpf::*;
pub use bpf_event::{BPF_TAG_SIZE, BpfEventType};
pub use branch::{
    BranchEntry, BranchInfo, BranchNewType, BranchPrivilege, BranchSampleType, BranchSpeculation, BranchType,
};
pub use breakpoint::{BreakpointLen, BreakpointType};
pub use cache::{Cache, CacheEvent, CacheOp, CacheResult};
pub use callchain::{CallchainContext, MAX_CONTEXT};
pub use event_type::{EventType, HW_EVENT_MASK, PMU_TYPE_SHIFT};
pub use hardware::Hardware;
pub use header::{Header, RecordType};
pub use ioctl::{
    IOC_DISABLE, IOC_ENABLE, IOC_ID, IOC_MODIFY_ATTRIBUTES, IOC_PAUSE_OUTPUT, IOC_PERIOD, IOC_QUERY_BPF,
    IOC_REFRESH, IOC_RESET, IOC_SET_BPF, IOC_SET_FILTER, IOC_SET_OUTPUT, IocFlags,
};
pub use ksymbol::{KsymbolFlags, KsymbolType};
pub use limits::{BUILD_ID_SIZE_MAX, MAX_CONTEXTS_PER_STACK, MAX_STACK_DEPTH};
pub use mem::{
    DataSource, MemBlocked, MemHops, MemLevel, MemLevelNumber, MemLock, MemOp, MemRegion, MemSnoop,
    MemSnoopExt, MemTlb,
};
pub use misc::{CpuMode, Misc, MiscNames};
pub use mmap_page::{MmapCapabilities, MmapPage};
pub use namespaces::{NamespaceIndex, NamespaceLink};
pub use open::OpenFlags;
pub use read_format::ReadFormat;
pub use regs::{Architecture, Arm64Reg, RegsAbi, RiscvReg, X86Reg, register_name};
pub use sample_type::SampleType;
pub use sigtrap::{SigtrapFlags, TRAP_PERF};
pub use software::Software;
pub use txn::Transaction;
pub use weight::Weight;
