use core::mem::offset_of;
use core::sync::atomic::{Ordering, fence};

use perf_abi::{MmapCapabilities, MmapPage};

use crate::TimeConversion;
use crate::map::{Area, Here, PageWord};

/// The words of the page that its lock guards. Two of them hold several fields.
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

/// A counter that was read together with its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    pub(crate) time_enabled: u64,
    pub(crate) time_running: u64,
}

/// Reads the counter and its times: with `counter` the hardware's, with `clock` the CPU's clock, whose
/// values `None` mean that there is none.
///
/// `None` if the counter cannot be read from here at the moment, and in a child of `fork`.
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
        // The kernel wrote the times when it last placed the event, which has been running since.
        let since = conversion(area, MmapCapabilities::USER_TIME, PageWord::TIME_OFFSET);
        let delta = since.and_then(|since| Some(since.time(clock()?))).unwrap_or(0);
        Some(Reading {
            value,
            time_enabled: word(area, PageWord::TIME_ENABLED).wrapping_add(delta),
            time_running: word(area, PageWord::TIME_RUNNING).wrapping_add(delta),
        })
    })?
}

/// How the CPU's clock becomes the time of samples, if the page says so.
pub(crate) fn time_conversion(area: &Area) -> Option<TimeConversion> {
    let area = area.here().ok()?;
    locked(area, || conversion(area, MmapCapabilities::USER_TIME_ZERO, PageWord::TIME_ZERO))?
}

/// What the page offers; nothing on kernels before 3.12, whose bits had two meanings.
pub(crate) fn capabilities(area: &Area) -> MmapCapabilities {
    area.here().map_or(MmapCapabilities::empty(), capabilities_here)
}

fn capabilities_here(area: Here<'_>) -> MmapCapabilities {
    let found = MmapCapabilities::from_bits_retain(word(area, PageWord::CAPABILITIES));
    if found.contains(MmapCapabilities::BIT0_IS_DEPRECATED) { found } else { MmapCapabilities::empty() }
}

/// The conversion of cycles to what is counted from `zero`, if the page has `capability`.
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

/// More than one is needed only if the kernel touched the page meanwhile, which it does at switches of
/// tasks and events: that many of them in a row are no reading worth waiting for.
const ATTEMPTS: u32 = 64;

/// What `read` returns when the kernel did not write the page meanwhile; `None` if it always did.
fn locked<T>(area: Here<'_>, read: impl Fn() -> T) -> Option<T> {
    let lock = |order| lock(area.word(PageWord::LOCK_INDEX).load(order));
    for _ in 0..ATTEMPTS {
        // Acquire keeps the loads of `read` behind this one, and the fence keeps them before the next:
        // they pair with the kernel's barriers between its two increments of the lock.
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

/// The field of `len` bytes that lies `offset` bytes behind the address of `word`.
const fn field(word: u64, offset: u32, len: u32) -> u64 {
    let shift = if cfg!(target_endian = "little") { 8 * offset } else { 64 - 8 * (offset + len) };
    (word >> shift) & (u64::MAX >> (64 - 8 * len))
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

/// A counter of `width` bits as 64: the kernel starts them below zero.
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
