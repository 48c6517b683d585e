//! Counters read from the control page of an event.

use core::marker::PhantomData;
use core::mem::offset_of;
use core::sync::atomic::{Ordering, fence};

use perf_abi::{MmapCapabilities, MmapPage};

use super::{TimeConversion, rdpmc};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::map::{Area, Here, PageWord};

/// The control page of an event that counts the calling thread alone: its counter and clock, read
/// without a system call where CPU and kernel allow it, by `rdpmc` on x86 and by `mrs` on arm64.
///
/// Holding one proves that the event was opened here for the calling thread alone. The instruction
/// requires that, because it reads a counter of the CPU that executes it. For the same reason the
/// type is not [`Send`].
///
/// ```compile_fail,E0277
/// fn to_another_thread(page: perf_sys::CounterPage<'static>) {
///     std::thread::spawn(move || page.read()); // does not compile
/// }
/// ```
///
/// The event cannot have a [`DataRing`](crate::DataRing) at the same time, because all mappings of
/// an event have one size.
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
///
/// # References
///
/// `perf_event_open(2)`, "MMAP layout", `cap_user_rdpmc`; the comments at `perf_event_mmap_page` in
/// `linux/perf_event.h`.
#[derive(Debug)]
pub struct CounterPage<'e> {
    area: Area,
    event: &'e Event,
    not_send: PhantomData<*mut ()>,
}

impl<'e> CounterPage<'e> {
    /// `mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)`—Maps the control page of
    /// `event`, and no ring. On x86 this also permits the process to execute `rdpmc`.
    ///
    /// On arm64 the kernel permits the instruction only with the sysctl `perf_user_access` and bit
    /// 1 of the attr's `config1`.
    ///
    /// # Errors
    ///
    /// [`Error::NotSelfMonitoring`] unless the event was opened by this process with a
    /// [`Target`](crate::Target) that is the calling thread, on any CPU or on one, and without
    /// [`INHERIT`](perf_abi::AttrFlags::INHERIT). The target of an event adopted by
    /// [`Event::from_fd`] is unknown, so it is refused too.
    ///
    /// [`Error::System`]: `EINVAL` for an event whose ring is mapped, `EBUSY` for one whose records go to
    /// another event's ring.
    #[doc(alias = "rdpmc")]
    pub fn map(event: &'e Event) -> Result<Self> {
        event.check_not_redirected()?;
        if !event.is_self_monitoring() {
            return Err(Error::NotSelfMonitoring);
        }
        let area = Area::map_page(event.fd())?;
        Ok(Self { area, event, not_send: PhantomData })
    }

    /// Reads the event's count without a system call.
    ///
    /// The times are present, independent of the event's [`ReadFormat`](perf_abi::ReadFormat),
    /// where the kernel offers its clock ([`USER_TIME`](MmapCapabilities::USER_TIME)). Elsewhere,
    /// for example in most virtual machines, they are absent, because the page then has the times
    /// of the moment when the event was last scheduled in, which do not give the interval between
    /// two reads.
    ///
    /// Returns `None` if the event has no hardware counter, is disabled or multiplexed out, or the
    /// kernel does not permit the instruction; then use [`Event::read_raw`]. `None` too in a child
    /// of `fork`.
    #[inline]
    pub fn read(&self) -> Option<PageCount> {
        count(&self.area, rdpmc::counter, rdpmc::clock)
    }

    /// Returns [`Error::Forked`] in a child of `fork`, where the event is not one of this thread.
    #[inline]
    pub fn check_process(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// Returns the event.
    pub const fn event(&self) -> &'e Event {
        self.event
    }

    /// Returns the capabilities that the kernel offers to user space, empty before Linux 3.12.
    #[doc(alias = "cap_user_rdpmc")]
    #[doc(alias = "cap_user_time")]
    pub fn capabilities(&self) -> MmapCapabilities {
        capabilities(&self.area)
    }

    /// Returns the conversion between the CPU's clock and the time of samples, if the kernel offers
    /// it ([`USER_TIME_ZERO`](MmapCapabilities::USER_TIME_ZERO)); most virtual machines do not.
    ///
    /// It is valid until the kernel changes the clock's offset or frequency.
    pub fn time_conversion(&self) -> Option<TimeConversion> {
        time_conversion(&self.area)
    }
}

/// A count that was read from a [`CounterPage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageCount {
    /// The number of events. Not scaled.
    pub value: u64,
    /// Time enabled and time running in ns, where the kernel offers its clock.
    pub times: Option<(u64, u64)>,
}

/// The words of the control page that its seqlock guards. Two of them hold several fields.
impl PageWord {
    const LOCK_INDEX: Self = Self::at(offset_of!(MmapPage, lock));
    const OFFSET: Self = Self::at(offset_of!(MmapPage, offset));
    const TIME_ENABLED: Self = Self::at(offset_of!(MmapPage, time_enabled));
    const TIME_RUNNING: Self = Self::at(offset_of!(MmapPage, time_running));
    const CAPABILITIES: Self = Self::at(offset_of!(MmapPage, capabilities));
    const WIDTH_SHIFT_MULT: Self = Self::at(offset_of!(MmapPage, pmc_width));
    const TIME_OFFSET: Self = Self::at(offset_of!(MmapPage, time_offset));
    const TIME_ZERO: Self = Self::at(offset_of!(MmapPage, time_zero));
    const TIME_CYCLES: Self = Self::at(offset_of!(MmapPage, time_cycles));
    const TIME_MASK: Self = Self::at(offset_of!(MmapPage, time_mask));
}

/// Reads the hardware counter by `counter` and its times by `clock`, the CPU's clock. Either
/// returns `None` where this crate has no instruction for it.
///
/// Returns `None` if the counter cannot be read from user space at the moment, and in a child of
/// `fork`.
fn count(
    area: &Area,
    counter: impl Fn(u32) -> Option<u64>,
    clock: impl Fn() -> Option<u64>,
) -> Option<PageCount> {
    let area = area.here().ok()?;
    locked(area, || {
        let capabilities = capabilities_here(area);
        if !capabilities.contains(MmapCapabilities::USER_RDPMC) {
            return None;
        }
        let index = field(word(area, PageWord::LOCK_INDEX), 4, 4) as u32; // 0: not on the PMU
        let raw = counter(index.checked_sub(1)?)?;
        let width = field(word(area, PageWord::WIDTH_SHIFT_MULT), 0, 2) as u16;
        let value = word(area, PageWord::OFFSET).wrapping_add(sign_extended(raw, width));
        Some(PageCount { value, times: times(area, &clock) })
    })?
}

/// Returns time enabled and time running, up to now. The page has the times of the moment when the
/// kernel last scheduled the event in; the event has been running since. Returns `None` without a
/// clock, because two readings would then have the page's times and an interval of 0 ns.
fn times(area: Here<'_>, clock: impl Fn() -> Option<u64>) -> Option<(u64, u64)> {
    let since = conversion(area, MmapCapabilities::USER_TIME, PageWord::TIME_OFFSET)?;
    let delta = since.time(clock()?);
    let now = |times| word(area, times).wrapping_add(delta);
    Some((now(PageWord::TIME_ENABLED), now(PageWord::TIME_RUNNING)))
}

/// Returns the conversion of the CPU's clock to the time of samples, if the page has one.
fn time_conversion(area: &Area) -> Option<TimeConversion> {
    let area = area.here().ok()?;
    locked(area, || conversion(area, MmapCapabilities::USER_TIME_ZERO, PageWord::TIME_ZERO))?
}

/// Returns the page's capabilities; none before Linux 3.12, where bit 0 has two meanings.
fn capabilities(area: &Area) -> MmapCapabilities {
    area.here().map_or(MmapCapabilities::empty(), capabilities_here)
}

fn capabilities_here(area: Here<'_>) -> MmapCapabilities {
    let found = MmapCapabilities::from_bits_retain(word(area, PageWord::CAPABILITIES));
    if found.contains(MmapCapabilities::BIT0_IS_DEPRECATED) { found } else { MmapCapabilities::empty() }
}

/// Returns the conversion of cycles to ns from `zero`, if the page has `capability`.
fn conversion(area: Here<'_>, capability: MmapCapabilities, zero: PageWord) -> Option<TimeConversion> {
    let capabilities = capabilities_here(area);
    if !capabilities.contains(capability) {
        return None;
    }
    let factors = word(area, PageWord::WIDTH_SHIFT_MULT);
    let (shift, mult) = (field(factors, 2, 2) as u16, field(factors, 4, 4) as u32);
    let long = TimeConversion::new(mult, shift, word(area, zero))?;
    if !capabilities.contains(MmapCapabilities::USER_TIME_SHORT) {
        return Some(long);
    }
    Some(long.with_short_clock(word(area, PageWord::TIME_CYCLES), word(area, PageWord::TIME_MASK)))
}

/// The kernel writes the page when it switches tasks or events, so a second attempt is rare. After
/// this many failures in a row `read(2)` is the better choice.
const ATTEMPTS: u32 = 64;

/// Returns the result of a `read` during which the kernel did not write the page; `None` if every
/// attempt overlapped with a write.
fn locked<T>(area: Here<'_>, read: impl Fn() -> T) -> Option<T> {
    let lock = |order| field(area.word(PageWord::LOCK_INDEX).load(order), 0, 4) as u32;
    for _ in 0..ATTEMPTS {
        // Acquire keeps the loads of `read` after this load, and the fence keeps them before the
        // next one. They pair with the barriers after and before the kernel's two increments of the
        // lock.
        let before = lock(Ordering::Acquire);
        let found = read();
        fence(Ordering::Acquire);
        if before % 2 == 0 && lock(Ordering::Relaxed) == before {
            return Some(found);
        }
    }
    None
}

fn word(area: Here<'_>, word: PageWord) -> u64 {
    area.word(word).load(Ordering::Relaxed)
}

/// Returns the field of `len` bytes at `offset` bytes after the address of `word`, in the low bytes
/// of the result.
const fn field(word: u64, offset: u32, len: u32) -> u64 {
    word >> if cfg!(target_endian = "little") { 8 * offset } else { 64 - 8 * (offset + len) }
}

/// Extends a counter of `width` bits to 64. The kernel starts sampling counters below zero.
const fn sign_extended(raw: u64, width: u16) -> u64 {
    match width {
        1..=63 => {
            let sign = 1 << (width - 1);
            ((raw & (u64::MAX >> (64 - width))) ^ sign).wrapping_sub(sign)
        }
        _ => raw,
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    const RDPMC: MmapCapabilities = MmapCapabilities::BIT0_IS_DEPRECATED.union(MmapCapabilities::USER_RDPMC);

    /// Returns a control page as the kernel writes it, of counter 5 with 48 bits, started at -2^47,
    /// and a clock with 1.5 ns per cycle.
    fn page(capabilities: MmapCapabilities) -> Area {
        let area = Area::anonymous(0).unwrap();
        let store = |word, value| area.word(word).store(value, Ordering::Relaxed);
        store(PageWord::LOCK_INDEX, lock_and_index(8, 6));
        store(PageWord::OFFSET, 1 << 47);
        store(PageWord::TIME_ENABLED, 1_000);
        store(PageWord::TIME_RUNNING, 400);
        store(PageWord::CAPABILITIES, capabilities.bits());
        store(
            PageWord::WIDTH_SHIFT_MULT,
            word_of(&[&48_u16.to_ne_bytes(), &2_u16.to_ne_bytes(), &6_u32.to_ne_bytes()]),
        );
        store(PageWord::TIME_OFFSET, 150_u64.wrapping_neg());
        store(PageWord::TIME_ZERO, 7_000);
        store(PageWord::TIME_CYCLES, 0x1f0);
        store(PageWord::TIME_MASK, 0xff);
        area
    }

    fn lock_and_index(lock: u32, index: u32) -> u64 {
        word_of(&[&lock.to_ne_bytes(), &index.to_ne_bytes()])
    }

    /// Returns the word that consists of adjacent fields.
    fn word_of(fields: &[&[u8]]) -> u64 {
        u64::from_ne_bytes(fields.concat().try_into().unwrap())
    }

    /// Reads counter 5, 42 events after its start.
    fn counter(index: u32) -> Option<u64> {
        (index == 5).then_some((1 << 47) + 42)
    }

    #[test]
    fn counter_is_sign_extended_from_its_width() {
        let found = count(&page(RDPMC), counter, || None).unwrap();
        assert_eq!(found.value, 42);
        assert_eq!(sign_extended(0x8000, 16), 0x8000_u64.wrapping_sub(0x1_0000));
        assert_eq!(sign_extended(0x7fff, 16), 0x7fff);
        assert_eq!(sign_extended(0xabc_7fff, 16), 0x7fff, "bits above the width are undefined");
        assert_eq!((sign_extended(u64::MAX, 64), sign_extended(9, 0)), (u64::MAX, 9));
    }

    #[test]
    fn times_are_unknown_without_a_clock() {
        let with_time = RDPMC | MmapCapabilities::USER_TIME;
        for (capabilities, clock) in [(RDPMC, None), (RDPMC, Some(200)), (with_time, None)] {
            let found = count(&page(capabilities), counter, || clock).unwrap();
            assert_eq!((found.value, found.times), (42, None));
        }
    }

    #[test]
    fn clock_extends_both_times_to_now() {
        let found = count(&page(RDPMC | MmapCapabilities::USER_TIME), counter, || Some(200)).unwrap();
        assert_eq!(found.times, Some((1_150, 550)), "200 cycles are 300 ns, minus 150");
    }

    #[test]
    fn short_clock_extends_both_times_past_its_wrap() {
        let capabilities = RDPMC | MmapCapabilities::USER_TIME | MmapCapabilities::USER_TIME_SHORT;
        let found = count(&page(capabilities), counter, || Some(0x10)).unwrap();
        let delta = 0x210 * 3 / 2 - 150;
        assert_eq!(found.times, Some((1_000 + delta, 400 + delta)));
    }

    #[test]
    fn event_that_is_not_on_the_pmu_is_not_readable() {
        let area = page(RDPMC);
        area.word(PageWord::LOCK_INDEX).store(lock_and_index(8, 0), Ordering::Relaxed);
        assert_eq!(count(&area, |_| panic!("no counter has index 0"), || None), None);
    }

    #[test]
    fn counter_is_not_read_without_the_capability() {
        let aliased = MmapCapabilities::BIT0 | MmapCapabilities::USER_RDPMC;
        for capabilities in [MmapCapabilities::BIT0_IS_DEPRECATED, aliased] {
            assert_eq!(count(&page(capabilities), |_| panic!("not allowed"), || None), None);
        }
    }

    #[test]
    fn reading_is_repeated_after_the_kernel_wrote_the_page() {
        let area = page(RDPMC);
        let reads = Cell::new(0);
        let moved = |index| {
            reads.set(reads.get() + 1);
            if reads.get() == 1 {
                area.word(PageWord::LOCK_INDEX).store(lock_and_index(10, 6), Ordering::Relaxed);
            }
            counter(index)
        };
        assert_eq!(count(&area, moved, || None).map(|found| found.value), Some(42));
        assert_eq!(reads.get(), 2);
    }

    #[test]
    fn reading_ends_if_the_lock_stays_odd() {
        let area = page(RDPMC);
        area.word(PageWord::LOCK_INDEX).store(lock_and_index(9, 6), Ordering::Relaxed);
        assert_eq!(count(&area, counter, || None), None);
        assert_eq!(time_conversion(&area), None);
    }

    #[test]
    fn time_of_samples_needs_user_time_zero() {
        assert_eq!(time_conversion(&page(RDPMC | MmapCapabilities::USER_TIME)), None);
        let zero = RDPMC | MmapCapabilities::USER_TIME_ZERO;
        let long = TimeConversion::new(6, 2, 7_000).unwrap();
        assert_eq!(time_conversion(&page(zero)), Some(long));
        let short = long.with_short_clock(0x1f0, 0xff);
        assert_eq!(time_conversion(&page(zero | MmapCapabilities::USER_TIME_SHORT)), Some(short));
    }
}
