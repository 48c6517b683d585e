//! Collecting records into a profile.

mod collector;
mod event_collector;
mod last_stacks;
mod leader_sampling;
mod off_cpu;
mod pending;
mod resolver;
mod runtime_code;
mod split;
mod tabulation;
mod wall;

pub use collector::Collector;
pub use event_collector::EventCollector;
pub use leader_sampling::{LeaderSampling, MemberCount};
pub use off_cpu::{Gaps, OffCpuEvents, SwitchEvent, Wait, WaitReason, Waits, Waker, Wakeup};
pub(crate) use pending::PendingNames;
pub use pending::PendingProfile;
pub use resolver::{Resolved, Resolver};
pub use split::Split;
#[cfg(feature = "perf-data")]
pub(crate) use wall::{CountedTimes, correct_waits};
pub use wall::{Span, SpanKind, ThreadSpans, WallTime, wait_kind};
