use perf_sys::abi::HW_EVENT_MASK;
use perf_sys::{Attr, BreakpointType, CacheEvent, EventType};

use super::{HARDWARE, SOFTWARE, cache_name};
use crate::expression::{Modifiers, Source};

/// Returns the event string of an attr, as the perf tool writes it: `cycles:u`, `L1-dcache-load-misses`,
/// `r1a2`, `mem:0x1000/4:rw`. An event without a name is `TYPE:CONFIG`, with its further words as terms:
/// `9:0x2/config1=0x3/`. So are tracepoints and the events of a PMU, whose names are in files.
///
/// [`parse`](crate::parse) makes an attr with the same event, exclusions and precision of the text.
///
/// ```
/// use perf_events::catalog;
/// use perf_events::sys::{Attr, AttrFlags, Hardware};
///
/// let attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
/// assert_eq!(catalog::name_of(&attr), "cycles:u");
/// assert_eq!(catalog::name_of(&Attr::tracepoint(0x1a3)), "2:0x1a3");
/// ```
pub fn name_of(attr: &Attr) -> String {
    let mut name = match attr.kind {
        EventType::BREAKPOINT => breakpoint(attr),
        _ => named(attr).unwrap_or_else(|| numbered(attr)),
    };
    let modifiers = Modifiers::from_flags(attr.flags);
    if !modifiers.is_empty() {
        let separator = if name.ends_with('/') { "" } else { ":" };
        name = format!("{name}{separator}{modifiers}");
    }
    name
}

/// Returns the name of a generic or raw event without further words.
fn named(attr: &Attr) -> Option<String> {
    if words(attr).next().is_some() {
        return None;
    }
    match attr.kind {
        EventType::HARDWARE => HARDWARE.iter().find(|named| named.event().0 == attr.config).map(name),
        EventType::SOFTWARE => SOFTWARE.iter().find(|named| named.event().0 == attr.config).map(name),
        EventType::HW_CACHE if attr.config <= HW_EVENT_MASK => {
            cache_name(CacheEvent::from_config(attr.config).filter(|event| super::is_possible(*event))?)
        }
        EventType::RAW => Some(Source::Raw(attr.config).to_string()),
        _ => None,
    }
}

fn name<T: Copy>(named: &super::Named<T>) -> String {
    named.name().to_owned()
}

fn numbered(attr: &Attr) -> String {
    let mut name = Source::Number { kind: attr.kind.0, config: attr.config }.to_string();
    for (index, (term, value)) in words(attr).enumerate() {
        let separator = if index == 0 { '/' } else { ',' };
        name = format!("{name}{separator}{term}={value:#x}");
    }
    if words(attr).next().is_some() {
        name.push('/');
    }
    name
}

/// Returns the terms for the words after `config` that are not 0.
fn words(attr: &Attr) -> impl Iterator<Item = (&'static str, u64)> {
    let words = [
        ("config1", attr.config1),
        ("config2", attr.config2),
        ("config3", attr.config3),
        ("config4", attr.config4),
    ];
    words.into_iter().filter(|(_, value)| *value != 0)
}

fn breakpoint(attr: &Attr) -> String {
    let access = (attr.bp_type != BreakpointType::EMPTY).then_some(attr.bp_type);
    Source::Breakpoint { address: attr.config1, len: Some(attr.config2), access }.to_string()
}
