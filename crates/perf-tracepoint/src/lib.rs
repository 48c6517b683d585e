//! Decodes the payload of a tracepoint: the fields in the RAW data of a sample, the text that the
//! kernel prints from them, and the system calls that they trace.
//!
//! The kernel describes each tracepoint in the file `events/SYSTEM/NAME/format` below the tracefs
//! mount, and the perf tool stores these texts in `perf.data`. [`Format::parse`] parses a text
//! once, without allocating. Look up a field by its name and bind it as an integer, text, an array
//! or bytes. Reading a bound field from a payload is one bounds check and one load:
//!
//! ```
//! use perf_tracepoint::Format;
//!
//! let text = "name: sched_switch
//! ID: 372
//! format:
//! \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
//! \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
//! \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
//! \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
//!
//! \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
//! \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
//! \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
//! \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
//! \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
//! \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
//! \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;
//!
//! print fmt: \"prev_comm=%s ==> next_comm=%s\", REC->prev_comm, REC->next_comm
//! ";
//! // Once, when the event is opened:
//! let format = Format::parse(text)?;
//! let comm = format.text("prev_comm")?;
//! let pid = format.integer("next_pid")?;
//!
//! // For every sample, where `payload` is the slice that `sample.raw()` returned:
//! # let mut bytes = [0u8; 68];
//! # bytes[8..11].copy_from_slice(b"thr");
//! # for (at, value) in [(24, 27788i32), (28, 120), (56, 27790), (60, 139)] {
//! #     bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
//! # }
//! # bytes[40..45].copy_from_slice(b"cargo");
//! # let payload = &bytes[..];
//! assert_eq!(comm.read(payload), Some(&b"thr"[..]));
//! assert_eq!(pid.read_i64(payload), Some(27790));
//!
//! // Or all fields, for a listing:
//! assert_eq!(
//!     format.display(payload).to_string(),
//!     "prev_comm=thr prev_pid=27788 prev_prio=120 prev_state=0 \
//!      next_comm=cargo next_pid=27790 next_prio=139",
//! );
//! # Ok::<(), perf_tracepoint::FormatError>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | parse a `format` text | [`Format::parse`] |
//! | read a field of many payloads | [`Format::integer`], [`text`](Format::text), [`array`](Format::array), [`Field::bytes`] |
//! | print all fields of a payload | [`Format::display`] |
//! | print a record with them | [`Format::display_record`] |
//! | print a payload as the kernel does, with the feature `alloc` | `PrintFormat` |
//! | trace system calls, with the feature `syscalls` | `SyscallFormats`, `SyscallJoiner`, `SyscallTable`, `SyscallSummary` |
//! | list the fields, with their declarations | [`Format::fields`](field@Format::fields), [`Field`], [`Value`] |
//!
//! Numbers are read in this machine's byte order. Payloads are not trusted. A field that is not
//! within the payload reads as `None`. Each `Display` of this crate prints one line of printable
//! ASCII.
//!
//! Records, and the [`raw`](perf_decode::Sample::raw) data of samples, are views of the crate
//! `perf-decode`. `perf-session` finds the tracepoints of this machine and opens their events. It
//! re-exports this crate as `tracepoint`.
//!
//! # References
//!
//! - `Documentation/trace/events.rst`, "Event formats"
//! - [`f_show`](https://github.com/torvalds/linux/blob/v6.12/kernel/trace/trace_events.c)
//!   prints the text

#![cfg_attr(not(any(test, feature = "syscalls")), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod payload;
#[cfg(feature = "alloc")]
mod print_format;
#[cfg(feature = "syscalls")]
mod syscalls;

pub use payload::{
    ArrayField, BytesField, Excerpt, Field, Fields, FieldsIter, Format, FormatError, IntegerField, Integers,
    Kind, Location, Payload, TextField, Value,
};
#[cfg(feature = "alloc")]
pub use print_format::{KernelNames, KernelTexts, PrintFormat};
#[cfg(feature = "syscalls")]
pub use syscalls::{
    Signal, Syscall, SyscallArg, SyscallArgs, SyscallEnd, SyscallEnter, SyscallError, SyscallFormats,
    SyscallHit, SyscallJoiner, SyscallStats, SyscallStep, SyscallSummary, SyscallTable,
};
