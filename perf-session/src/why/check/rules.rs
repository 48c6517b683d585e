//! Rules of the event's type that need no file.

use perf_sys::{
    Attr, AttrFlags, BranchSampleType, BreakpointType, Clock, Errno, EventType, Hardware, ReadFormat,
    SampleType,
};

use super::Violation;
use super::field::value;
use crate::system::clocks_of;

/// The rules, in the order in which the kernel checks them.
pub(super) const RULES: &[fn(&Attr) -> Option<Violation>] = &[
    unknown_bits,
    no_branches,
    hardware_id,
    cache_event,
    breakpoint_len,
    breakpoint_alignment,
    breakpoint_read_only,
    clock,
];

/// Types whose clocks are known; the kernel decides for the others.
const WITH_CLOCKS: [EventType; 5] =
    [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW, EventType::TRACEPOINT, EventType::BREAKPOINT];

/// Bits that no published kernel knows.
fn unknown_bits(attr: &Attr) -> Option<Violation> {
    let branches = attr.branch_sample_type - BranchSampleType::KNOWN;
    let found = [
        ("flags", attr.flags.difference(AttrFlags::KNOWN).bits()),
        ("sample_type", attr.sample_type.difference(SampleType::KNOWN).bits()),
        ("read_format", attr.read_format.difference(ReadFormat::KNOWN).bits()),
        ("branch_sample_type", branches.bits()),
    ];
    let (field, bits) = found.into_iter().find(|(_, bits)| *bits != 0)?;
    let remedy = "clear the bits, unless the kernel is newer than this library";
    Some(Violation::new(field, format_args!("{bits:#x}"), "bits of Linux 6.19 and older", remedy))
}

fn no_branches(attr: &Attr) -> Option<Violation> {
    let never = [EventType::SOFTWARE, EventType::TRACEPOINT, EventType::BREAKPOINT];
    let breaks = never.contains(&attr.kind) && attr.sample_type.contains(SampleType::BRANCH_STACK);
    breaks.then(|| {
        let rule = "BRANCH_STACK is for hardware events";
        let found = format!("{} on an event of type {}", attr.sample_type, attr.kind);
        let remedy = "clear it, or sample a hardware event such as cycles";
        Violation::new("sample_type", found, rule, remedy).with_errno(Errno::EOPNOTSUPP)
    })
}

fn hardware_id(attr: &Attr) -> Option<Violation> {
    let last = Hardware::ALL.iter().map(|event| event.0).max().unwrap_or_default();
    let id = attr.config & u64::from(u32::MAX);
    (attr.kind == EventType::HARDWARE && id > last).then(|| {
        let rule = format!("a hardware event has a number of at most {last}");
        Violation::new("config", id, rule, "use a number of the table in perf_event_open(2)")
    })
}

fn cache_event(attr: &Attr) -> Option<Violation> {
    let config = attr.config & u64::from(u32::MAX);
    let parts = [(config & 0xff, 6), (config >> 8 & 0xff, 2), (config >> 16, 1)];
    let breaks = attr.kind == EventType::HW_CACHE && parts.iter().any(|(part, most)| part > most);
    breaks.then(|| {
        let rule = "a cache event is a cache up to 6, an operation up to 2 and a result up to 1";
        Violation::new("config", value(attr, "config"), rule, "make it by Attr::cache")
    })
}

/// Breakpoints have 1 to 8 bytes everywhere; x86 has more rules.
fn breakpoint_len(attr: &Attr) -> Option<Violation> {
    let long = size_of::<usize>() as u64;
    let is_execute = attr.bp_type == BreakpointType::EXECUTE;
    let (fits, rule) = if !cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
        ((1..=8).contains(&attr.config2), "a breakpoint watches 1 to 8 bytes")
    } else if is_execute {
        (attr.config2 == long, "a breakpoint on execution has the length of a long")
    } else {
        // Newer CPUs of one vendor watch ranges, whose length is a larger power of two.
        (attr.config2.is_power_of_two(), "a breakpoint watches a power of two of bytes")
    };
    (attr.kind == EventType::BREAKPOINT && !fits)
        .then(|| Violation::new("bp_len", attr.config2, rule, "use a constant of BreakpointLen"))
}

fn breakpoint_alignment(attr: &Attr) -> Option<Violation> {
    let is_data = attr.kind == EventType::BREAKPOINT && attr.bp_type != BreakpointType::EXECUTE;
    let is_x86 = cfg!(any(target_arch = "x86", target_arch = "x86_64"));
    let breaks = is_x86 && is_data && attr.config2.is_power_of_two() && attr.config1 % attr.config2 != 0;
    breaks.then(|| {
        let rule = format!("the address is a multiple of the length {}", attr.config2);
        Violation::new(
            "bp_addr",
            value(attr, "bp_addr"),
            rule,
            "watch fewer bytes, or from an aligned address",
        )
    })
}

fn breakpoint_read_only(attr: &Attr) -> Option<Violation> {
    let is_x86 = cfg!(any(target_arch = "x86", target_arch = "x86_64"));
    let breaks = is_x86 && attr.kind == EventType::BREAKPOINT && attr.bp_type == BreakpointType::READ;
    breaks.then(|| {
        let rule = "x86 cannot watch reads alone";
        Violation::new("bp_type", attr.bp_type, rule, "use BreakpointType::READ_WRITE")
    })
}

fn clock(attr: &Attr) -> Option<Violation> {
    let breaks = attr.flags.contains(AttrFlags::USE_CLOCKID)
        && WITH_CLOCKS.contains(&attr.kind)
        && [Clock::REALTIME, Clock::BOOTTIME, Clock::TAI].contains(&attr.clockid)
        && !clocks_of(attr).contains(&attr.clockid);
    breaks.then(|| {
        let rule = format!("an event of type {} takes MONOTONIC or MONOTONIC_RAW", attr.kind);
        Violation::new("clockid", attr.clockid, rule, "use Clock::MONOTONIC, and convert its times")
    })
}
