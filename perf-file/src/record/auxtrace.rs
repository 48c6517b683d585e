use core::fmt;

use crate::bytes::{Bytes, until_nul};
use crate::{List, Result};

/// The kind of an AUX trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "auxtrace_type")]
pub struct AuxtraceType(pub u32);

impl AuxtraceType {
    /// Unknown.
    pub const UNKNOWN: Self = Self(0);
    /// Intel Processor Trace.
    #[doc(alias = "PERF_AUXTRACE_INTEL_PT")]
    pub const INTEL_PT: Self = Self(1);
    /// Intel Branch Trace Store.
    #[doc(alias = "PERF_AUXTRACE_INTEL_BTS")]
    pub const INTEL_BTS: Self = Self(2);
    /// Arm `CoreSight` ETM.
    #[doc(alias = "PERF_AUXTRACE_CS_ETM")]
    pub const CORESIGHT_ETM: Self = Self(3);
    /// Arm Statistical Profiling Extension.
    #[doc(alias = "PERF_AUXTRACE_ARM_SPE")]
    pub const ARM_SPE: Self = Self(4);
    /// s390 CPU-measurement sampling facility.
    #[doc(alias = "PERF_AUXTRACE_S390_CPUMSF")]
    pub const S390_CPUMSF: Self = Self(5);
    /// `HiSilicon` `PCIe` Tune and Trace.
    #[doc(alias = "PERF_AUXTRACE_HISI_PTT")]
    pub const HISI_PTT: Self = Self(6);
    /// POWER Virtual Processor Area dispatch trace log.
    #[doc(alias = "PERF_AUXTRACE_VPA_DTL")]
    pub const VPA_DTL: Self = Self(7);
}

impl fmt::Debug for AuxtraceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            "UNKNOWN",
            "INTEL_PT",
            "INTEL_BTS",
            "CORESIGHT_ETM",
            "ARM_SPE",
            "S390_CPUMSF",
            "HISI_PTT",
            "VPA_DTL",
        ];
        match names.get(self.0 as usize) {
            Some(name) => f.pad(name),
            None => write!(f, "AuxtraceType({})", self.0),
        }
    }
}

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

/// A part of an AUX trace. The data follows the record outside of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_auxtrace")]
pub struct Auxtrace {
    /// Bytes of AUX data that follow the record.
    pub size: u64,
    /// Offset of the data in the trace, in bytes.
    pub offset: u64,
    /// A number that is unique for each part of the trace.
    pub reference: u64,
    /// Index of the AUX area.
    pub index: u32,
    /// Thread, 0xffffffff for all threads.
    pub tid: u32,
    /// CPU, 0xffffffff for all CPUs.
    pub cpu: u32,
}

impl Auxtrace {
    pub(super) fn parse(body: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self {
            size: body.u64("size")?,
            offset: body.u64("offset")?,
            reference: body.u64("reference")?,
            index: body.u32("idx")?,
            tid: body.u32("tid")?,
            cpu: body.u32("cpu")?,
        })
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
    /// The process.
    pub pid: u32,
    /// The thread.
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
