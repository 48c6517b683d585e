use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::names::catalog;
use crate::names::expression::parse::raw_digits;

fn modifiers() -> impl Strategy<Value = Spanned<Modifiers>> {
    "u?k?h?G?H?I?P?S?D?W?e?p{0,3}".prop_map(|text| spanned(Modifiers::new(&text).unwrap()))
}

fn spanned<T>(node: T) -> Spanned<T> {
    Spanned { node, span: Span::default() }
}

/// A name that is neither a raw event nor a number.
fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z_][a-zA-Z0-9_.-]{0,12}"
        .prop_filter("raw event or breakpoint", |name| raw_digits(name).is_none() && name != "mem")
}

fn source() -> impl Strategy<Value = Source> {
    let breakpoint = (any::<u64>(), option::of(any::<u64>()), option::of(1..=7_u32));
    let place = ("[a-zA-Z_.$@<>~0-9]{1,12}", 0..0x100_u64, any::<bool>());
    let probe = (option::of("/[a-z0-9 ./_-]{0,12}"), place);
    prop_oneof![
        probe.prop_map(|(file, (function, offset, is_return))| Source::Probe {
            file: file.map(spanned),
            function: spanned(function),
            offset,
            is_return,
        }),
        ("kprobe|mem|tracepoint|cycles|r1|12|0x1|sched", "x|u|kp|switch|7")
            .prop_map(|(category, name)| Source::Tracepoint { category, name }),
        name().prop_map(Source::Name),
        any::<u64>().prop_map(Source::Raw),
        any::<(u32, u64)>().prop_map(|(kind, config)| Source::Number { kind, config }),
        (name(), "[a-z*?_\\[\\]]{0,6}[xyz*]")
            .prop_filter("generic event", |(category, _)| catalog::attr_of(category).is_none())
            .prop_map(|(category, name)| Source::Tracepoint { category, name }),
        breakpoint.prop_map(|(address, len, access)| {
            Source::Breakpoint { address, len, access: access.map(BreakpointType) }
        }),
    ]
}

fn term() -> impl Strategy<Value = Term> {
    (name(), option::of("[^'\\p{Cc}]{0,12}"))
        .prop_map(|(name, value)| Term { name: spanned(name), value: value.map(spanned) })
}

fn event() -> impl Strategy<Value = Event> {
    (source(), option::of(vec(term(), 0..4)), modifiers()).prop_map(|(source, terms, modifiers)| Event {
        source: spanned(source),
        terms,
        modifiers,
    })
}

fn group() -> impl Strategy<Value = Group> {
    let braced =
        (option::of(name()), vec(event(), 1..4), modifiers()).prop_map(|(name, events, modifiers)| Group {
            name: name.map(spanned),
            is_braced: true,
            events,
            modifiers,
        });
    let single = event().prop_map(|event| Group { events: vec![event], ..Group::default() });
    prop_oneof![braced, single]
}

proptest! {
    #[test]
    fn what_is_printed_parses_to_the_same(groups in vec(group(), 1..4)) {
        let expression = Expression { groups };
        let text = expression.to_string();
        prop_assert_eq!(text.parse::<Expression>().map_err(|error| error.to_string()), Ok(expression));
    }

    #[test]
    fn any_text_is_parsed_or_refused_inside(text in "[a-z0-9{}/,:= 'µ\t]{0,40}") {
        if let Err(error) = text.parse::<Expression>() {
            prop_assert!(text.is_char_boundary(error.offset()) && error.offset() <= text.len());
            prop_assert!(error.expected().is_some());
            prop_assert_eq!(error.to_string().lines().count(), 3);
        }
    }
}
