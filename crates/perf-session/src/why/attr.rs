//! Rules of the event's type that need no file.

use perf_ring::{
    Attr, AttrFlags, BranchSampleType, BreakpointType, Clock, EventType, Hardware, ReadFormat, SampleType,
};

use super::case::Case;
use super::{Cause, Diagnosis, Field};
use crate::system::clocks_of;

/// The clocks that an event can have.
pub(super) const CLOCKS: [Clock; 5] =
    [Clock::MONOTONIC, Clock::MONOTONIC_RAW, Clock::REALTIME, Clock::BOOTTIME, Clock::TAI];
/// The clocks that cannot be read in an NMI, in which PMUs sample.
pub(super) const OTHER_CLOCKS: [Clock; 3] = [Clock::REALTIME, Clock::BOOTTIME, Clock::TAI];

/// Types whose clocks are known; the kernel decides for the others.
const WITH_CLOCKS: [EventType; 5] =
    [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW, EventType::TRACEPOINT, EventType::BREAKPOINT];

const IS_X86: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

fn rule(text: impl Into<String>, remedy: &str) -> Diagnosis {
    Diagnosis::new(Cause::Rule, text, remedy)
}

/// Bits that no published kernel knows.
pub(super) fn unknown_bits(attr: &Attr) -> Option<Diagnosis> {
    let branches = attr.branch_sample_type - BranchSampleType::KNOWN;
    let found = [
        (Field::FLAGS, (attr.flags - AttrFlags::KNOWN).bits()),
        (Field::SAMPLE_TYPE, (attr.sample_type - SampleType::KNOWN).bits()),
        (Field::READ_FORMAT, (attr.read_format - ReadFormat::KNOWN).bits()),
        (Field::BRANCH_SAMPLE_TYPE, branches.bits()),
    ];
    let (field, bits) = found.into_iter().find(|(_, bits)| *bits != 0)?;
    let remedy = "clear the bits, unless the kernel is newer than this library";
    Some(rule("Linux 6.19 and older lack some of the bits", remedy).on(field, format_args!("{bits:#x}")))
}

pub(super) fn hardware_id(attr: &Attr) -> Option<Diagnosis> {
    let last = Hardware::ALL.iter().map(|event| event.0).max().unwrap_or_default();
    // The upper half is the type of a hybrid CPU's PMU.
    let id = attr.config & u64::from(u32::MAX);
    (attr.kind == EventType::HARDWARE && id > last).then(|| {
        let text = format!("a hardware event has a number of at most {last}");
        rule(text, "use a number of the table in perf_event_open(2)").on(Field::CONFIG, id)
    })
}

pub(super) fn cache_event(attr: &Attr) -> Option<Diagnosis> {
    let config = attr.config & u64::from(u32::MAX);
    let parts = [(config & 0xff, 6), (config >> 8 & 0xff, 2), (config >> 16, 1)];
    let breaks = attr.kind == EventType::HW_CACHE && parts.iter().any(|(part, most)| part > most);
    breaks.then(|| {
        let text = "a cache event is a cache up to 6, an operation up to 2 and a result up to 1";
        rule(text, "make it by Attr::cache").on_attr(Field::CONFIG, attr)
    })
}

/// Breakpoints have 1 to 8 bytes everywhere; x86 has more rules.
pub(super) fn breakpoint(attr: &Attr) -> Option<Diagnosis> {
    if attr.kind != EventType::BREAKPOINT {
        return None;
    }
    let (addr, len) = (attr.config1, attr.config2);
    let is_execute = attr.bp_type == BreakpointType::EXECUTE;
    let (fits, text) = if !IS_X86 {
        ((1..=8).contains(&len), "a breakpoint watches 1 to 8 bytes")
    } else if is_execute {
        (len == size_of::<usize>() as u64, "a breakpoint on execution has the length of a long")
    } else {
        // Newer CPUs of one vendor watch ranges, whose length is a larger power of two.
        (len.is_power_of_two(), "a breakpoint watches a power of two of bytes")
    };
    if !fits {
        return Some(rule(text, "use a constant of BreakpointLen").on_attr(Field::BP_LEN, attr));
    }
    if IS_X86 && !is_execute && addr % len != 0 {
        let text = format!("the address is a multiple of the length {len}");
        return Some(
            rule(text, "watch fewer bytes, or from an aligned address").on_attr(Field::BP_ADDR, attr),
        );
    }
    let is_read = IS_X86 && attr.bp_type == BreakpointType::READ;
    is_read.then(|| {
        rule("x86 cannot watch reads alone", "use BreakpointType::READ_WRITE").on_attr(Field::BP_TYPE, attr)
    })
}

pub(super) fn clock(attr: &Attr) -> Option<Diagnosis> {
    let breaks = attr.flags.contains(AttrFlags::USE_CLOCKID)
        && WITH_CLOCKS.contains(&attr.kind)
        && OTHER_CLOCKS.contains(&attr.clockid)
        && !clocks_of(attr).contains(&attr.clockid);
    breaks.then(|| {
        let text = format!("an event of type {} takes MONOTONIC or MONOTONIC_RAW", attr.kind);
        rule(text, "use Clock::MONOTONIC, and convert its times").on_attr(Field::CLOCKID, attr)
    })
}

/// Explains `ENOSYS` for registers and stacks, which some architectures cannot sample.
pub(super) fn no_dumps(case: &mut Case<'_>) -> Option<Diagnosis> {
    let dumps = SampleType::REGS_USER | SampleType::REGS_INTR | SampleType::STACK_USER;
    let requested = case.attr.sample_type & dumps;
    (!requested.is_empty()).then(|| {
        let text = format!("this architecture cannot sample {requested}");
        Diagnosis::new(Cause::NotImplemented, text, format!("sample without {requested}"))
    })
}
