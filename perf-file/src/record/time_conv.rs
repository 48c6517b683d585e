use crate::Result;
use crate::bytes::Bytes;

/// The parameters that convert time stamps of the CPU to the time of records, as in the kernel's
/// `perf_event_mmap_page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "perf_record_time_conv")]
pub struct TimeConv {
    /// `time_shift`.
    pub time_shift: u64,
    /// `time_mult`.
    pub time_mult: u64,
    /// `time_zero`, in ns.
    pub time_zero: u64,
    /// The parameters of counters shorter than 64 bits; `None` before Linux 5.10.
    pub short: Option<ShortTime>,
}

/// The parameters of time stamps shorter than 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortTime {
    /// `time_cycles`.
    pub time_cycles: u64,
    /// `time_mask`.
    pub time_mask: u64,
    /// Whether `time_zero` is valid.
    pub cap_user_time_zero: bool,
    /// Whether `time_cycles` and `time_mask` are valid.
    pub cap_user_time_short: bool,
}

impl TimeConv {
    pub(super) fn parse(body: &mut Bytes<'_>) -> Result<Self> {
        let (time_shift, time_mult) = (body.u64("time_shift")?, body.u64("time_mult")?);
        let time_zero = body.u64("time_zero")?;
        let short = if body.is_empty() {
            None
        } else {
            Some(ShortTime {
                time_cycles: body.u64("time_cycles")?,
                time_mask: body.u64("time_mask")?,
                cap_user_time_zero: body.u8("cap_user_time_zero")? != 0,
                cap_user_time_short: body.u8("cap_user_time_short")? != 0,
            })
        };
        Ok(Self { time_shift, time_mult, time_zero, short })
    }
}
