//! The records of AUX traces.

use crate::bytes::{Bytes, until_nul};
use crate::error::Result;
use crate::format::AuxtraceType;
use crate::list::{List, fields};

/// Kind and parameters of the AUX traces.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "perf_record_auxtrace_info")]
pub struct AuxtraceInfo<'a> {
    /// The hardware that wrote the trace.
    pub kind: AuxtraceType,
    /// Parameters, whose meaning depends on the kind.
    pub private: List<'a, u64>,
}

impl<'a> AuxtraceInfo<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let kind = AuxtraceType(body.u32("type")?);
        body.u32("reserved")?;
        // Their number depends on the kind, so all that the record has are taken.
        let words = body.rest().len() as u64 / 8;
        Ok(Self { kind, private: List::take(body, words, "parameters")? })
    }
}

fields! {
    /// A part of an AUX trace. The data follows the record outside of its size.
    #[doc(alias = "perf_record_auxtrace")]
    pub struct Auxtrace {
        /// Bytes of AUX data that follow the record.
        pub size: u64 = "size",
        /// Offset of the data in the trace, in bytes.
        pub offset: u64 = "offset",
        /// A number that is unique for each part of the trace.
        pub reference: u64 = "reference",
        /// Index of the AUX area.
        pub index: u32 = "idx",
        /// Thread, 0xffffffff for all threads.
        pub tid: u32 = "tid",
        /// CPU, 0xffffffff for all CPUs.
        pub cpu: u32 = "cpu",
    }
}

/// An error in an AUX trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_auxtrace_error")]
pub struct AuxtraceError<'a> {
    /// The kind of trace: 1 is an instruction trace.
    pub kind: u32,
    /// The error; its meaning depends on the kind of the trace.
    pub code: u32,
    /// The CPU of the trace.
    pub cpu: u32,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The address at which the error was found.
    pub ip: u64,
    /// The time in ns; `None` before Linux 5.1.
    pub time: Option<u64>,
    /// Text of the error, without its NUL.
    pub message: &'a [u8],
    /// Process of the virtual machine and virtual CPU; `None` before Linux 6.1.
    pub guest: Option<(u32, u32)>,
}

impl<'a> AuxtraceError<'a> {
    pub(super) fn parse(body: &mut Bytes<'a>) -> Result<Self> {
        let mut word = |what| body.u32(what);
        let (kind, code, cpu) = (word("type")?, word("code")?, word("cpu")?);
        let (pid, tid, format) = (word("pid")?, word("tid")?, word("fmt")?);
        let ip = body.u64("ip")?;
        // The format says which fields follow: 1 added the time, 2 the guest.
        let time = (format >= 1).then(|| body.u64("time")).transpose()?;
        // The record can end within the message.
        let len = body.rest().len().min(64) as u64;
        let message = until_nul(body.take(len, "msg")?);
        let guest = match format {
            2.. if !body.is_empty() => Some((body.u32("machine_pid")?, body.u32("vcpu")?)),
            _ => None,
        };
        Ok(Self { kind, code, cpu, pid, tid, ip, time, message, guest })
    }
}
