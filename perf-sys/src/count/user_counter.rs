use core::marker::PhantomData;

use perf_abi::MmapCapabilities;
use std::os::fd::AsFd;

use super::counter_page::Reading;
use super::{Count, TimeConversion};
use super::{counter_page, rdpmc};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::map::Area;

/// A counter of the calling thread that is read without a system call, where CPU and kernel allow
/// it, by `rdpmc` on x86 and by `mrs` on arm64. [`read`](Self::read) falls back to `read(2)`
/// everywhere else, and for events without a hardware counter.
///
/// Holding one proves that the event was opened here for the calling thread alone. The instruction
/// requires that, because it reads a counter of the CPU that executes it. For the same reason the
/// type is not [`Send`].
///
/// ```compile_fail,E0277
/// fn to_another_thread(counter: perf_sys::RdpmcCounter<'static>) {
///     std::thread::spawn(move || counter.try_read()); // does not compile
/// }
/// ```
///
/// The event cannot have a [`Ring`](crate::Ring) at the same time, because all mappings of an event have
/// one size.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`](crate::Error::Forked).
///
/// ```
/// use perf_abi::{Attr, AttrFlags, Hardware};
/// use perf_sys::{Event, Target, RdpmcCounter};
///
/// # fn main() -> perf_sys::Result<()> {
/// let attr = Attr::hardware(Hardware::INSTRUCTIONS).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// let event = match Event::open(&attr, Target::calling_thread()) {
///     Ok(event) => event,
///     Err(refused) => return Ok(println!("{refused}")),
/// };
/// let counter = RdpmcCounter::map(&event)?;
/// let before = counter.read()?;
/// let sum = (0..1000_u64).sum::<u64>();
/// println!("{}", counter.read()?.since(&before));
/// # std::hint::black_box(sum);
/// # Ok(())
/// # }
/// ```
///
/// # References
///
/// `perf_event_open(2)`, "MMAP layout", `cap_user_rdpmc`; the comments at `perf_event_mmap_page` in
/// `linux/perf_event.h`.
#[derive(Debug)]
pub struct RdpmcCounter<'e> {
    area: Area,
    event: &'e Event,
    not_send: PhantomData<*mut ()>,
}

impl<'e> RdpmcCounter<'e> {
    /// `mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps the control page of `event`,
    /// and no ring. On x86 this also permits the process to execute `rdpmc`.
    ///
    /// On arm64 the kernel permits the instruction only with the sysctl `perf_user_access` and bit 1 of
    /// the attr's `config1`.
    ///
    /// # Errors
    ///
    /// [`Error::NotSelfMonitoring`] unless the event was opened by this process with a
    /// [`Target`](crate::Target) that is the calling thread, on any CPU or on one, and without
    /// [`INHERIT`](perf_abi::AttrFlags::INHERIT). The target of an event adopted by
    /// [`Event::from_owned_fd`] is unknown, so it is refused too.
    ///
    /// [`Error::System`]: `EINVAL` for an event whose ring is mapped, `EBUSY` for one whose records go to
    /// another event's ring.
    #[doc(alias = "rdpmc")]
    pub fn map(event: &'e Event) -> Result<Self> {
        event.check_not_redirected()?;
        if !event.is_self_monitoring() {
            return Err(Error::NotSelfMonitoring);
        }
        let area = Area::map_page(event.as_fd())?;
        Ok(Self { area, event, not_send: PhantomData })
    }

    /// Reads the event's count by [`try_read`](Self::try_read), or by [`Event::read`] if that
    /// returns `None`.
    ///
    /// The two differ in the times and in the rest of the format. The first may return `None` at
    /// any time, for example while the event is multiplexed out. A [difference](Count::since) has
    /// only what both counts have.
    ///
    /// # Errors
    ///
    /// As [`Event::read`], and [`Error::Forked`](crate::Error::Forked).
    #[inline]
    pub fn read(&self) -> Result<Count> {
        if let Some(count) = self.try_read() {
            return Ok(count);
        }
        self.area.here()?; // in a child of fork it is not this thread's event
        self.event.read()
    }

    /// Reads the event's count without a system call.
    ///
    /// The count has no id and no losses. It has both times, independent of the event's
    /// [`ReadFormat`](perf_abi::ReadFormat), where the kernel offers its clock
    /// ([`USER_TIME`](MmapCapabilities::USER_TIME)). It has none elsewhere, for example in most
    /// virtual machines, because the control page then has the times of the moment when the event
    /// was last scheduled in, which are not those of an interval between two reads. A
    /// [scaled](Count::scaled) value needs [`Event::read`] there.
    ///
    /// Returns `None` if the event has no hardware counter, is disabled or multiplexed out, or the
    /// kernel does not permit the instruction.
    #[inline]
    pub fn try_read(&self) -> Option<Count> {
        let reading = counter_page::read(&self.area, rdpmc::counter, rdpmc::clock)?;
        Some(count(reading))
    }

    /// Returns the capabilities that the kernel offers to user space, empty before Linux 3.12.
    #[doc(alias = "cap_user_rdpmc")]
    #[doc(alias = "cap_user_time")]
    pub fn capabilities(&self) -> MmapCapabilities {
        counter_page::capabilities(&self.area)
    }

    /// Returns the conversion between the CPU's clock and the time of samples, if the kernel offers it
    /// ([`USER_TIME_ZERO`](MmapCapabilities::USER_TIME_ZERO)); most virtual machines do not.
    ///
    /// It is valid until the kernel changes the clock's offset or frequency.
    pub fn time_conversion(&self) -> Option<TimeConversion> {
        counter_page::time_conversion(&self.area)
    }
}

/// Returns the count of a reading.
fn count(Reading { value, times }: Reading) -> Count {
    Count {
        value,
        time_enabled: times.map(|times| times.enabled),
        time_running: times.map(|times| times.running),
        ..Count::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::counter_page::Times;

    fn interval(times: [Option<Times>; 2]) -> String {
        let [before, now] = times;
        let before = count(Reading { value: 1_000, times: before });
        count(Reading { value: 1_100, times: now }).since(&before).to_string()
    }

    #[test]
    fn interval_without_a_clock_has_a_value_and_no_times() {
        assert_eq!(interval([None, None]), "100");
    }

    #[test]
    fn interval_with_a_clock_is_scaled() {
        let times = [(80, 80), (180, 130)].map(|(enabled, running)| Some(Times { enabled, running }));
        assert_eq!(interval(times), "~200  ran 50.0 %");
    }
}
