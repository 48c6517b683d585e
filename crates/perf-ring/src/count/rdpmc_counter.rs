//! Counters that are read without a system call.

use perf_sys::abi::MmapCapabilities;
use perf_sys::{CounterPage, Event, PageCount, TimeConversion};

use super::Count;
use crate::error::Result;

/// A counter of the calling thread that is read without a system call, where CPU and kernel allow
/// it, by `rdpmc` on x86 and by `mrs` on arm64. [`read`](Self::read) falls back to `read(2)`
/// everywhere else, and for events without a hardware counter.
///
/// It is not [`Send`], because the instruction reads a counter of the CPU that executes it.
///
/// ```
/// use perf_ring::{Attr, AttrFlags, Event, Hardware, RdpmcCounter, Target};
///
/// # fn main() -> perf_ring::Result<()> {
/// let attr = Attr::hardware(Hardware::INSTRUCTIONS).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// # if Event::open(&attr, Target::calling_thread()).is_err() {
/// #     return Ok(()); // not permitted here
/// # }
/// let event = Event::open(&attr, Target::calling_thread())?;
/// let counter = RdpmcCounter::map(&event)?;
/// let before = counter.read()?;
/// let sum = (0..1000_u64).sum::<u64>();
/// println!("{}", counter.read()?.since(&before));
/// # std::hint::black_box(sum);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RdpmcCounter<'e>(CounterPage<'e>);

impl<'e> RdpmcCounter<'e> {
    /// Maps the control page of `event`, as [`CounterPage::map`].
    ///
    /// # Errors
    ///
    /// [`NotSelfMonitoring`](perf_sys::Error::NotSelfMonitoring) unless the event was opened by
    /// this process for the calling thread and without `INHERIT`, and
    /// [`System`](perf_sys::Error::System): `EINVAL` for an event whose ring is mapped, `EBUSY` for
    /// one whose records go to another event's ring.
    #[doc(alias = "rdpmc")]
    pub fn map(event: &'e Event) -> Result<Self> {
        Ok(Self(CounterPage::map(event)?))
    }

    /// Reads the event's count by [`try_read`](Self::try_read), or by [`Count::read`] if that
    /// returns `None`.
    ///
    /// The two differ in the times and in the rest of the format. The first may return `None` at
    /// any time, for example while the event is multiplexed out. A [difference](Count::since) has
    /// only what both counts have.
    ///
    /// # Errors
    ///
    /// The errors of [`Count::read`], and [`Forked`](perf_sys::Error::Forked).
    #[inline]
    pub fn read(&self) -> Result<Count> {
        if let Some(count) = self.try_read() {
            return Ok(count);
        }
        self.0.check_process()?; // in a child of fork it is not this thread's event
        Count::read(self.0.event())
    }

    /// Reads the event's count without a system call, as [`CounterPage::read`]; `None` if that is
    /// not possible now.
    ///
    /// The count has no id and no losses. It has both times where the kernel offers its clock. A
    /// [scaled](Count::scaled) value needs [`Count::read`] elsewhere.
    #[inline]
    pub fn try_read(&self) -> Option<Count> {
        self.0.read().map(Count::from)
    }

    /// Returns the capabilities that the kernel offers to user space, empty before Linux 3.12.
    #[doc(alias = "cap_user_rdpmc")]
    #[doc(alias = "cap_user_time")]
    pub fn capabilities(&self) -> MmapCapabilities {
        self.0.capabilities()
    }

    /// Returns the conversion between the CPU's clock and the time of samples, if the kernel offers
    /// it ([`USER_TIME_ZERO`](MmapCapabilities::USER_TIME_ZERO)); most virtual machines do not.
    ///
    /// It is valid until the kernel changes the clock's offset or frequency.
    pub fn time_conversion(&self) -> Option<TimeConversion> {
        self.0.time_conversion()
    }
}

/// The count without an id and losses.
impl From<PageCount> for Count {
    fn from(PageCount { value, times, .. }: PageCount) -> Self {
        let (time_enabled, time_running) = times.unzip();
        Self { value, time_enabled, time_running, ..Self::default() }
    }
}
