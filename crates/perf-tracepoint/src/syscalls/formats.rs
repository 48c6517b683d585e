//! Binding of the two tracepoints of system calls.

use perf_decode::{Layout, Sample};

use crate::payload::{ArrayField, Format, FormatError, IntegerField};

use super::{SyscallHit, SyscallStep};

/// The formats of `raw_syscalls:sys_enter` and `raw_syscalls:sys_exit`, which every system call
/// passes.
#[derive(Clone, Copy, Debug)]
pub struct SyscallFormats {
    enter_id: u32,
    exit_id: u32,
    kind: IntegerField,
    entered: IntegerField,
    args: ArrayField,
    exited: IntegerField,
    result: IntegerField,
}

impl SyscallFormats {
    /// Binds the fields of both tracepoints.
    ///
    /// # Errors
    ///
    /// [`FormatError::NoField`] and [`FormatError::Mismatch`] if a format lacks a field that each
    /// kernel has since Linux 2.6.33.
    pub fn bind(enter: &Format<'_>, exit: &Format<'_>) -> Result<Self, FormatError> {
        Ok(Self {
            enter_id: enter.id,
            exit_id: exit.id,
            kind: enter.integer("common_type")?,
            entered: enter.integer("id")?,
            args: enter.array("args")?,
            exited: exit.integer("id")?,
            result: exit.integer("ret")?,
        })
    }

    /// Returns the hit of a sample; `None` if the sample belongs to another event, or has no task,
    /// time or payload.
    pub fn read<L: Layout>(&self, sample: &Sample<'_, L>) -> Option<SyscallHit> {
        let raw = sample.raw()?;
        let kind = self.kind.read_u64(raw)?;
        let (number, step) = if kind == u64::from(self.enter_id) {
            let mut words = self.args.read(raw)?;
            let args = [(); 6].map(|()| words.next().unwrap_or(0));
            (self.entered.read_i64(raw)?, SyscallStep::Enter { args })
        } else if kind == u64::from(self.exit_id) {
            let result = self.result.read_i64(raw)?;
            (self.exited.read_i64(raw)?, SyscallStep::Exit { result })
        } else {
            return None;
        };
        Some(SyscallHit { pid: sample.pid()?, tid: sample.tid()?, time: sample.time()?, number, step })
    }
}
