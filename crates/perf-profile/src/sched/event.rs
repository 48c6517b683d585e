//! The tracepoints of the scheduler.

use perf_abi::{Attr, EventType, Sampling};
use perf_tracepoint::{Format, IntegerField, TextField};

/// An event whose samples [`SchedSummary::add`](super::SchedSummary::add) understands.
///
/// | event | provides |
/// |---|---|
/// | `sched:sched_switch` | the thread that leaves a CPU, its state, and the one that runs next |
/// | `sched:sched_wakeup`, `sched:sched_wakeup_new` | when a thread became ready: the kernel counts its wait for a CPU from then on |
/// | `sched:sched_waking` | when its waker began to wake it, which `perf sched record` records |
/// | `sched:sched_migrate_task` | when a thread was moved to another CPU |
///
/// All are needed on all CPUs: on its own, a thread writes `sched_switch` only where it leaves a
/// CPU.
#[derive(Clone, Copy, Debug)]
pub struct SchedEvent(pub(super) Kind);

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Switch { prev: Named, prev_state: IntegerField, next: Named },
    Wakeup(Named),
    WakeupNew(Named),
    Waking(Named),
    Migrate(Named),
}

/// The id of a thread, and its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    tid: IntegerField,
    comm: Option<TextField>,
}

impl Named {
    fn new(format: &Format<'_>, tid: &str, comm: &str) -> Option<Self> {
        Some(Self { tid: format.integer(tid).ok()?, comm: format.text(comm).ok() })
    }

    /// Reads the id and the name; `None` if the payload is too short, and for an id that no thread
    /// has.
    pub(super) fn read(self, raw: &[u8]) -> Option<(u32, &[u8])> {
        let tid = i32::try_from(self.tid.read_i64(raw)?).ok().and_then(|tid| u32::try_from(tid).ok())?;
        Some((tid, self.comm.and_then(|comm| comm.read(raw)).unwrap_or_default()))
    }
}

impl SchedEvent {
    /// Returns the event of an attr, with the format of its tracepoint; `None` for any other event,
    /// and for one that does not sample each hit.
    pub fn new(attr: &Attr, format: &Format<'_>) -> Option<Self> {
        if attr.kind != EventType::TRACEPOINT || attr.sampling() != Sampling::Period(1) {
            return None;
        }
        let woken = || Named::new(format, "pid", "comm");
        Some(Self(match format.name {
            "sched_switch" => Kind::Switch {
                prev: Named::new(format, "prev_pid", "prev_comm")?,
                prev_state: format.integer("prev_state").ok()?,
                next: Named::new(format, "next_pid", "next_comm")?,
            },
            "sched_wakeup" => Kind::Wakeup(woken()?),
            "sched_wakeup_new" => Kind::WakeupNew(woken()?),
            "sched_waking" => Kind::Waking(woken()?),
            "sched_migrate_task" => Kind::Migrate(woken()?),
            _ => return None,
        }))
    }

    /// Returns true for `sched:sched_switch`.
    pub fn is_switch(&self) -> bool {
        matches!(self.0, Kind::Switch { .. })
    }

    /// Returns true for `sched:sched_wakeup`, which makes `sched:sched_waking` superfluous: pass
    /// the samples of only one of them.
    pub fn is_wakeup(&self) -> bool {
        matches!(self.0, Kind::Wakeup(_))
    }

    /// Returns true for `sched:sched_waking`.
    pub fn is_waking(&self) -> bool {
        matches!(self.0, Kind::Waking(_))
    }

    /// Returns true for `sched:sched_migrate_task`.
    pub fn is_migration(&self) -> bool {
        matches!(self.0, Kind::Migrate(_))
    }
}
