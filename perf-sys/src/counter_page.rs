use core::mem::offset_of;
use core::sync::atomic::{Ordering, fence};

use perf_abi::{MmapCapabilities, MmapPage};

use crate::TimeConversion;
use crate::map::{Area, Here, PageWord};

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

/// A counter and its times, read under one lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    /// `None` if the page or the CPU has no clock that extends them to the current time.
    pub(crate) times: Option<Times>,
}

/// Times of an event in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) enabled: u64,
    pub(crate) running: u64,
}

/// Reads the hardware counter by `counter` and its times by `clock`, the CPU's clock. Either returns
/// `None` where this crate has no instruction for it.
///
/// Returns `None` if the counter cannot be read from user space at the moment, and in a child of `fork`.
pub(crate) fn read(
    area: &Area,
    counter: impl Fn(u32) -> Option<u64>,
    clock: impl Fn() -> Option<u64>,
) -> Option<Reading> {
    let area = area.here().ok()?;
    locked(area, || {
        let capabilities = capabilities_here(area);
        if !capabilities.contains(MmapCapabilities::USER_RDPMC) {
            return None;
        }
        let raw = counter(index(word(area, PageWord::LOCK_INDEX)).checked_sub(1)?)?;
        let width = pmc_width(word(area, PageWord::WIDTH_SHIFT_MULT));
        let value = word(area, PageWord::OFFSET).wrapping_add(sign_extended(raw, width));
        Some(Reading { value, times: times(area, &clock) })
    })?
}

/// Returns the current times. The page has those of the moment when the kernel last scheduled the
/// event in; the event has been running since. Returns `None` without a clock, because two readings
/// would then have the page's times and an interval of 0 ns.
fn times(area: Here<'_>, clock: impl Fn() -> Option<u64>) -> Option<Times> {
    let since = conversion(area, MmapCapabilities::USER_TIME, PageWord::TIME_OFFSET)?;
    let delta = since.time(clock()?);
    Some(Times {
        enabled: word(area, PageWord::TIME_ENABLED).wrapping_add(delta),
        running: word(area, PageWord::TIME_RUNNING).wrapping_add(delta),
    })
}

/// Returns the conversion of the CPU's clock to the time of samples, if the page has one.
pub(crate) fn time_conversion(area: &Area) -> Option<TimeConversion> {
    let area = area.here().ok()?;
    locked(area, || conversion(area, MmapCapabilities::USER_TIME_ZERO, PageWord::TIME_ZERO))?
}

/// Returns the page's capabilities; none before Linux 3.12, where bit 0 has two meanings.
pub(crate) fn capabilities(area: &Area) -> MmapCapabilities {
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
    let long = TimeConversion::new(time_mult(factors), time_shift(factors), word(area, zero))?;
    if !capabilities.contains(MmapCapabilities::USER_TIME_SHORT) {
        return Some(long);
    }
    Some(long.with_short_clock(word(area, PageWord::TIME_CYCLES), word(area, PageWord::TIME_MASK)))
}

/// The kernel writes the page when it switches tasks or events, so a second attempt is rare. After this
/// many failures in a row `read(2)` is the better choice.
const ATTEMPTS: u32 = 64;

/// Returns the result of a `read` during which the kernel did not write the page; `None` if every
/// attempt overlapped with a write.
fn locked<T>(area: Here<'_>, read: impl Fn() -> T) -> Option<T> {
    let lock = |order| lock(area.word(PageWord::LOCK_INDEX).load(order));
    for _ in 0..ATTEMPTS {
        // Acquire keeps the loads of `read` after this load, and the fence keeps them before the next
        // one. They pair with the barriers after and before the kernel's two increments of the lock.
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

/// Returns the field of `len` bytes at `offset` bytes after the address of `word`, in the low bytes of
/// the result.
const fn field(word: u64, offset: u32, len: u32) -> u64 {
    word >> if cfg!(target_endian = "little") { 8 * offset } else { 64 - 8 * (offset + len) }
}

const fn lock(word: u64) -> u32 {
    field(word, 0, 4) as u32
}

const fn index(word: u64) -> u32 {
    field(word, 4, 4) as u32
}

const fn pmc_width(word: u64) -> u16 {
    field(word, 0, 2) as u16
}

const fn time_shift(word: u64) -> u16 {
    field(word, 2, 2) as u16
}

const fn time_mult(word: u64) -> u32 {
    field(word, 4, 4) as u32
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
mod tests;
