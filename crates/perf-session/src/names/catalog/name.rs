//! The event string of an attr.

use perf_ring::abi::HW_EVENT_MASK;
use perf_ring::{Attr, AttrFlags, BreakpointType, CacheEvent, EventType};

use super::{HARDWARE, SOFTWARE, cache_name};
use crate::names::expression::{Modifiers, Source};

/// Returns the event string of an attr, as the perf tool writes it: `cycles:u`,
/// `L1-dcache-load-misses`, `r1a2`, `mem:0x1000/4:rw`. An event without a name is `TYPE:CONFIG`,
/// with its further words as terms: `9:0x2/config1=0x3/`. So are tracepoints and the events of a
/// PMU, whose names are in files.
///
/// [`parse`](crate::parse) makes an attr with the same event, exclusions and precision of the text,
/// except that the text does not say whether guests are excluded, which is the default of event
/// strings and not of attrs.
///
/// ```
/// use perf_session::catalog;
/// use perf_session::ring::{Attr, AttrFlags, Hardware};
///
/// let attr = Attr::hardware(Hardware::CPU_CYCLES).with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
/// assert_eq!(catalog::name_of(&attr), "cycles:u");
/// assert_eq!(catalog::name_of(&Attr::tracepoint(0x1a3)), "2:0x1a3");
/// ```
pub fn name_of(attr: &Attr) -> String {
    let mut name = breakpoint(attr).or_else(|| named(attr)).unwrap_or_else(|| numbered(attr));
    let modifiers = Modifiers::from_flags(attr.flags.difference(AttrFlags::EXCLUDE_GUEST));
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
        EventType::HARDWARE => HARDWARE.iter().find(|named| named.event.0 == attr.config).map(name),
        EventType::SOFTWARE => SOFTWARE.iter().find(|named| named.event.0 == attr.config).map(name),
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

/// Returns the name of a breakpoint on accesses that have a letter.
fn breakpoint(attr: &Attr) -> Option<String> {
    let is_named = attr.kind == EventType::BREAKPOINT
        && (attr.config, attr.config3, attr.config4) == (0, 0, 0)
        && attr.bp_type != BreakpointType::EMPTY
        && BreakpointType::INVALID.contains(attr.bp_type);
    let source =
        Source::Breakpoint { address: attr.config1, len: Some(attr.config2), access: Some(attr.bp_type) };
    is_named.then(|| source.to_string())
}

#[cfg(test)]
mod tests {
    use perf_ring::{BreakpointLen, Skid};
    use proptest::prelude::*;

    use super::*;
    use crate::names::resolve::parse_event;
    use crate::system::System;

    fn numbers(attr: &Attr) -> (EventType, [u64; 5], BreakpointType, AttrFlags) {
        let words = [attr.config, attr.config1, attr.config2, attr.config3, attr.config4];
        (attr.kind, words, attr.bp_type, attr.flags.difference(AttrFlags::EXCLUDE_GUEST))
    }

    fn again(attr: &Attr) -> Attr {
        let event = parse_event(&name_of(attr), &System::at("/nonexistent"));
        event.unwrap_or_else(|error| panic!("{error}")).specs()[0].attr()
    }

    #[test]
    fn breakpoints_are_named_by_address_length_and_accesses() {
        let attr = Attr::breakpoint(BreakpointType::READ_WRITE, 0x1000, BreakpointLen::FOUR);
        assert_eq!(name_of(&attr), "mem:0x1000/4:rw");
        let user = attr.with_flags(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV);
        assert_eq!(name_of(&user), "mem:0x1000/4:rw:u");
        assert_eq!(
            name_of(&attr.with(|attr| attr.bp_type = BreakpointType(8))),
            "5:0x0/config1=0x1000,config2=0x4/"
        );
    }

    #[test]
    fn events_without_a_name_are_numbers() {
        assert_eq!(name_of(&Attr::new(EventType::HARDWARE, 77)), "0:0x4d");
        assert_eq!(name_of(&Attr::new(EventType::HARDWARE, 0xa_0000_0000)), "0:0xa00000000");
        assert_eq!(name_of(&Attr::raw(0x1a2).with_config1(3)), "4:0x1a2/config1=0x3/");
        // The kernel has no stores to a TLB for instructions.
        assert_eq!(name_of(&Attr::new(EventType::HW_CACHE, 0x104)), "3:0x104");
    }

    proptest! {
        #[test]
        fn name_of_any_attr_is_a_string_of_the_same_event(
            kind in prop_oneof![0..8_u32, any::<u32>()],
            config in prop_oneof![0..0x2_0000_u64, any::<u64>()],
            words in prop_oneof![Just([0; 4]), any::<[u64; 4]>()],
            access in 1..8_u32,
            privileges in 0..7_u32,
            others in 0..16_u32,
            skid in 0..4_u8,
        ) {
            let flags = [
                (privileges & 1 != 0, AttrFlags::EXCLUDE_USER),
                (privileges & 2 != 0, AttrFlags::EXCLUDE_KERNEL),
                (privileges & 4 != 0, AttrFlags::EXCLUDE_HV),
                (others & 1 != 0, AttrFlags::EXCLUDE_HOST),
                (others & 2 != 0, AttrFlags::EXCLUDE_IDLE),
                (others & 4 != 0, AttrFlags::PINNED),
                (others & 8 != 0, AttrFlags::EXCLUSIVE),
            ];
            let flags = flags.iter().filter(|(is_set, _)| *is_set).fold(AttrFlags::empty(), |all, (_, it)| all | *it);
            let [config1, config2, config3, config4] = words;
            let mut attr = Attr::new(EventType(kind), config)
                .with_config1(config1)
                .with_config2(config2)
                .with_config3(config3)
                .with_config4(config4)
                .with_flags(flags)
                .with_precise_ip(Skid::from_level(skid).unwrap());
            if attr.kind == EventType::BREAKPOINT {
                attr = attr.with(|attr| { attr.bp_type = BreakpointType(access); attr.config = 0; attr.config3 = 0; attr.config4 = 0; });
            }
            prop_assert_eq!(numbers(&again(&attr)), numbers(&attr));
        }
    }
}
