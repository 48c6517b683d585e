use core::marker::PhantomData;

use perf_abi::{AttrFlags, MmapCapabilities};
use std::os::fd::AsFd;

use crate::map::Area;
use crate::{Count, Event, Label, Result, TimeConversion, counter_page, rdpmc};

/// A counter that is read without a system call, where CPU and kernel allow it: by `rdpmc` on x86, by
/// `mrs` on arm64. Everywhere else it reads by `read(2)`.
///
/// **Only for an event on the calling thread**, opened by this very thread with
/// [`Target::calling_thread`](crate::Target::calling_thread). The instruction reads a counter of the
/// CPU that it runs on: for another task's event, or another CPU's, the value would be that of
/// something else. That is why this type stays on its thread; what the event watches it cannot check.
///
/// ```compile_fail,E0277
/// fn to_another_thread(counter: perf_sys::UserCounter<'static>) {
///     std::thread::spawn(move || counter.try_read()); // does not compile
/// }
/// ```
///
/// The event must not have a [`Ring`](crate::Ring): one event has one size of mapping.
///
/// The mapping is not inherited across `fork`: see [`Error::Forked`](crate::Error::Forked).
///
/// ```
/// use perf_abi::{Attr, AttrFlags, Hardware};
/// use perf_sys::{Event, Target, UserCounter};
///
/// # fn main() -> perf_sys::Result<()> {
/// let attr = Attr::hardware(Hardware::INSTRUCTIONS).with_flags(AttrFlags::EXCLUDE_KERNEL);
/// let event = match Event::open(&attr, Target::calling_thread()) {
///     Ok(event) => event,
///     Err(refused) => return Ok(println!("{refused}")),
/// };
/// let counter = UserCounter::map(&event)?;
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
pub struct UserCounter<'e> {
    area: Area,
    event: &'e Event,
    stays_on_its_thread: PhantomData<*mut ()>,
}

impl<'e> UserCounter<'e> {
    /// `mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps the control page of `event`,
    /// and no ring. On x86 this also allows the process the instruction.
    ///
    /// On arm64 the kernel allows it only with the sysctl `perf_user_access` and bit 1 of the attr's
    /// `config1`.
    ///
    /// # Errors
    ///
    /// [`Error::System`](crate::Error::System): `EINVAL` for an inherited event on any CPU, and for one
    /// whose ring is mapped; `EBUSY` for one whose records go to another's ring.
    #[doc(alias = "rdpmc")]
    pub fn map(event: &'e Event) -> Result<Self> {
        event.check_not_redirected()?;
        let area = Area::map_page(event.as_fd())?;
        Ok(Self { area, event, stays_on_its_thread: PhantomData })
    }

    /// The event's count at this moment: by [`try_read`](Self::try_read) if that works, else by
    /// [`Event::read`].
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

    /// The event's count at this moment, without any system call.
    ///
    /// It has both times, whatever the event's [`ReadFormat`](perf_abi::ReadFormat), and nothing else of
    /// it. Where the kernel does not offer its clock ([`USER_TIME`](MmapCapabilities::USER_TIME)) they are
    /// those of the moment when the event was last put on the PMU.
    ///
    /// `None` if the counter cannot be read so: not a hardware event, not enabled, not on the PMU at the
    /// moment, not allowed, or [inherited](AttrFlags::INHERIT), for the counts of children are not in the
    /// counter.
    #[inline]
    pub fn try_read(&self) -> Option<Count> {
        let attr = self.event.attr();
        if attr.flags.contains(AttrFlags::INHERIT) {
            return None;
        }
        let found = counter_page::read(&self.area, rdpmc::counter, rdpmc::clock)?;
        Some(Count {
            label: Label::of(attr),
            value: found.value,
            time_enabled: Some(found.time_enabled),
            time_running: Some(found.time_running),
            id: None,
            lost: None,
        })
    }

    /// What the kernel offers to do without it. Empty before Linux 3.12.
    #[doc(alias = "cap_user_rdpmc")]
    #[doc(alias = "cap_user_time")]
    pub fn capabilities(&self) -> MmapCapabilities {
        counter_page::capabilities(&self.area)
    }

    /// How the CPU's clock and the time of samples are converted, if the kernel says it
    /// ([`USER_TIME_ZERO`](MmapCapabilities::USER_TIME_ZERO)): not in most virtual machines.
    ///
    /// It holds until the CPU's clock is set or changes its speed.
    pub fn time_conversion(&self) -> Option<TimeConversion> {
        counter_page::time_conversion(&self.area)
    }
}
