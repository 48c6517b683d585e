use perf_abi::Clock;

use crate::Result;
use crate::bytes::Bytes;

/// Two clocks at one instant, from [`Feature::CLOCK_DATA`](crate::format::Feature::CLOCK_DATA).
///
/// `time - clock_time + wall_clock_time` is the wall-clock time of a record's `time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockData {
    /// The clock of the records.
    pub clock: Clock,
    /// Time of the wall clock, in ns since 1970.
    pub wall_clock_time: u64,
    /// Time of `clock` in ns.
    pub clock_time: u64,
}

impl ClockData {
    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Result<Self> {
        let version = bytes.u32("version")?;
        super::version(bytes, version.into(), 1)?;
        #[expect(clippy::cast_possible_wrap, reason = "the number of a clock is signed")]
        let clock = Clock(bytes.u32("clock")? as i32);
        Ok(Self {
            clock,
            wall_clock_time: bytes.u64("wall clock")?,
            clock_time: bytes.u64("time of the clock")?,
        })
    }
}
