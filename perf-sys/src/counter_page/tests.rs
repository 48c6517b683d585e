use core::cell::Cell;

use super::*;

const RDPMC: MmapCapabilities = MmapCapabilities::BIT0_IS_DEPRECATED.union(MmapCapabilities::USER_RDPMC);

/// Returns a control page as the kernel writes it, of counter 5 with 48 bits, started at -2^47, and
/// a clock with 1.5 ns per cycle.
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
    let found = read(&page(RDPMC), counter, || None).unwrap();
    assert_eq!(found.value, 42);
    assert_eq!(sign_extended(0x8000, 16), 0x8000_u64.wrapping_sub(0x1_0000));
    assert_eq!(sign_extended(0x7fff, 16), 0x7fff);
    assert_eq!(sign_extended(0xabc_7fff, 16), 0x7fff, "bits above the width are undefined");
    assert_eq!((sign_extended(u64::MAX, 64), sign_extended(9, 0)), (u64::MAX, 9));
}

/// Returns time enabled and time running of a reading.
fn times(found: Reading) -> Option<(u64, u64)> {
    found.times.map(|times| (times.enabled, times.running))
}

#[test]
fn times_are_unknown_without_a_clock() {
    let with_time = RDPMC | MmapCapabilities::USER_TIME;
    for (capabilities, clock) in [(RDPMC, None), (RDPMC, Some(200)), (with_time, None)] {
        let found = read(&page(capabilities), counter, || clock).unwrap();
        assert_eq!((found.value, times(found)), (42, None));
    }
}

#[test]
fn clock_extends_both_times_to_now() {
    let found = read(&page(RDPMC | MmapCapabilities::USER_TIME), counter, || Some(200)).unwrap();
    assert_eq!(times(found), Some((1_150, 550)), "200 cycles are 300 ns, minus 150");
}

#[test]
fn short_clock_extends_both_times_past_its_wrap() {
    let capabilities = RDPMC | MmapCapabilities::USER_TIME | MmapCapabilities::USER_TIME_SHORT;
    let found = read(&page(capabilities), counter, || Some(0x10)).unwrap();
    let delta = 0x210 * 3 / 2 - 150;
    assert_eq!(times(found), Some((1_000 + delta, 400 + delta)));
}

#[test]
fn event_that_is_not_on_the_pmu_is_not_readable() {
    let area = page(RDPMC);
    area.word(PageWord::LOCK_INDEX).store(lock_and_index(8, 0), Ordering::Relaxed);
    assert_eq!(read(&area, |_| panic!("no counter has index 0"), || None), None);
}

#[test]
fn counter_is_not_read_without_the_capability() {
    let aliased = MmapCapabilities::BIT0 | MmapCapabilities::USER_RDPMC;
    for capabilities in [MmapCapabilities::BIT0_IS_DEPRECATED, aliased] {
        assert_eq!(read(&page(capabilities), |_| panic!("not allowed"), || None), None);
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
    assert_eq!(read(&area, moved, || None).map(|found| found.value), Some(42));
    assert_eq!(reads.get(), 2);
}

#[test]
fn reading_ends_if_the_lock_stays_odd() {
    let area = page(RDPMC);
    area.word(PageWord::LOCK_INDEX).store(lock_and_index(9, 6), Ordering::Relaxed);
    assert_eq!(read(&area, counter, || None), None);
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
