//! The privilege levels that the user chooses for all events.

use clap::Args;
use perf_session::EventSpec;
use perf_session::ring::AttrFlags;

/// The options `--all-user` and `--all-kernel`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LevelOptions {
    /// User space only, for all events
    #[arg(long, conflicts_with = "all_kernel")]
    all_user: bool,
    /// The kernel only, for all events
    #[arg(long)]
    all_kernel: bool,
}

/// Flags of the levels that an event leaves out.
const LEVELS: AttrFlags =
    AttrFlags::EXCLUDE_USER.union(AttrFlags::EXCLUDE_KERNEL).union(AttrFlags::EXCLUDE_HV);

impl LevelOptions {
    /// Returns an event with these levels instead of the levels in its name, as in the perf tool.
    pub(crate) fn apply(self, spec: EventSpec) -> EventSpec {
        let excluded = match (self.all_user, self.all_kernel) {
            (true, _) => AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
            (false, true) => AttrFlags::EXCLUDE_USER,
            (false, false) => return spec,
        };
        spec.map_attr(|attr| attr.without_flags(LEVELS).with_flags(excluded))
    }
}
