//! Event strings and the errors in them.

use perf_ring::BreakpointType;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::names::catalog;
use crate::names::expression::error::Problem;
use crate::names::expression::parse::raw_digits;
use crate::system::FileError;

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn one(text: &str) -> Event {
    let mut expression = parse(text);
    assert_eq!((expression.groups.len(), expression.groups[0].events.len()), (1, 1), "{text}");
    expression.groups.remove(0).events.remove(0)
}

#[test]
fn sources_are_recognized_by_their_form() {
    let source = |text: &str| one(text).source.node;
    assert_eq!(source("cycles:u"), Source::Name("cycles".into()));
    assert_eq!(source("cpu/event=1/"), Source::Name("cpu".into()));
    assert_eq!(source("r01C2"), Source::Raw(0x1c2));
    assert_eq!(source("reads"), Source::Name("reads".into()));
    assert_eq!(source("1:0x10"), Source::Number { kind: 1, config: 16 });
    let tracepoint = |name: &str| Source::Tracepoint { category: "sched".into(), name: name.into() };
    assert_eq!(source("sched:sched_switch:u"), tracepoint("sched_switch"));
    assert_eq!(source("sched:*"), tracepoint("*"));
    for category in ["0x", "0xyz", "1a"] {
        let found = source(&format!("{category}:switch"));
        assert_eq!(found, Source::Tracepoint { category: category.into(), name: "switch".into() });
    }
}

#[test]
fn breakpoints_have_optional_parts() {
    let source = |text: &str| one(text).source.node;
    let breakpoint = |len, access| Source::Breakpoint { address: 0x1000, len, access };
    assert_eq!(source("mem:0x1000"), breakpoint(None, None));
    assert_eq!(source("mem:4096/8"), breakpoint(Some(8), None));
    assert_eq!(source("mem:0x1000:x"), breakpoint(None, Some(BreakpointType::EXECUTE)));
    assert_eq!(source("mem:0x1000/4:wr:u"), breakpoint(Some(4), Some(BreakpointType::READ_WRITE)));
    assert_eq!(source("mem:0x1000:u"), breakpoint(None, None));
    assert_eq!(one("mem:0x1000:u").modifiers.node.to_string(), "u");
}

#[test]
fn probes_are_written_as_in_bpftrace() {
    let probe = |file: Option<&str>, function: &str, offset, is_return| {
        let spanned = |text: &str| Spanned { node: text.to_owned(), span: Span::default() };
        Source::Probe { file: file.map(spanned), function: spanned(function), offset, is_return }
    };
    let source = |text: &str| one(text).source.node;
    let bash = Some("/bin/bash");
    assert_eq!(source("uprobe:/bin/bash:readline"), probe(bash, "readline", 0, false));
    assert_eq!(source("uretprobe:/bin/bash:readline"), probe(bash, "readline", 0, true));
    assert_eq!(source("uprobe:/bin/bash:readline%return"), probe(bash, "readline", 0, true));
    assert_eq!(source("uprobe:/bin/bash:readline+0x4"), probe(bash, "readline", 4, false));
    assert_eq!(source("uprobe:/bin/bash:0x1234"), probe(bash, "0x1234", 0, false));
    assert_eq!(source("uprobe:/a b/c:f<x>@V"), probe(Some("/a b/c"), "f<x>@V", 0, false));
    assert_eq!(source("kprobe:do_sys_openat2"), probe(None, "do_sys_openat2", 0, false));
    assert_eq!(source("kretprobe:do_sys_openat2"), probe(None, "do_sys_openat2", 0, true));
    assert_eq!(one("uprobe:/bin/bash:readline:u").modifiers.node.to_string(), "u");
    assert_eq!(one("uprobe:/bin/bash:readline/period=5/u").terms.unwrap().len(), 1);
    assert_eq!(parse("{uprobe:/bin/bash:readline,cs}").groups[0].events.len(), 2);
    let kprobe = Source::Tracepoint { category: "kprobe".into(), name: "mine".into() };
    assert_eq!(source("tracepoint:kprobe:mine"), kprobe);
    assert_eq!(parse("tracepoint:sched:sched_switch:u").to_string(), "sched:sched_switch:u");
    assert_eq!(parse("uprobe:/a:f+4%return:u").to_string(), "uretprobe:/a:f+0x4:u");
}

#[test]
fn a_word_of_modifier_letters_after_a_name_is_modifiers() {
    assert_eq!(one("cycles:kpp").modifiers.node, Modifiers::new("kpp").unwrap());
    assert_eq!(one("cpu/event=1/kpp").modifiers.node, Modifiers::new("kpp").unwrap());
    assert_eq!(one("foo:u").modifiers.node, Modifiers::new("u").unwrap());
    assert!(one("cycles:").modifiers.node.is_empty());
}

#[test]
fn events_are_printed_without_what_they_do_not_need() {
    for text in ["cycles", "cycles:u", "cpu//", "cpu/event=0xc0,edge/u", "cpu/name='a b'/", "cpu/name=''/"] {
        assert_eq!(parse(text).to_string(), text);
    }
}

#[test]
fn events_are_equal_if_their_parts_are() {
    assert_eq!(parse(" cycles:u"), parse("cycles:u"), "wherever they are");
    assert_ne!(parse("cycles:u"), parse("cycles:k"));
    assert_ne!(parse("cycles"), parse("faults"));
}

#[test]
fn terms_have_values_or_none() {
    let terms = one("cpu/event=0xc0, edge ,name='a b,c/d'/").terms.unwrap();
    let terms: Vec<_> = terms
        .iter()
        .map(|term| (term.name.node.as_str(), term.value.as_ref().map(|v| v.node.as_str())))
        .collect();
    assert_eq!(terms, [("event", Some("0xc0")), ("edge", None), ("name", Some("a b,c/d"))]);
    assert_eq!(one("cpu//").terms, Some(vec![]));
}

#[test]
fn groups_have_names_and_modifiers() {
    let expression = parse(" g{cycles:u, cs}:SD , faults ");
    let group = &expression.groups[0];
    assert_eq!(group.name.as_ref().map(|name| name.node.as_str()), Some("g"));
    assert_eq!((group.is_braced, group.events.len()), (true, 2));
    assert_eq!(group.modifiers.node.to_string(), "SD");
    assert!(!expression.groups[1].is_braced);
}

#[test]
fn spans_are_the_bytes_of_the_parts() {
    let text = "cs,cpu/event=0xc0/u";
    let event = &parse(text).groups[1].events[0];
    let slice = |span: Span| &text[span.start..span.end];
    assert_eq!(slice(event.span()), "cpu/event=0xc0/u");
    assert_eq!(slice(event.source.span), "cpu");
    assert_eq!(slice(event.modifiers.span), "u");
    let term = &event.terms.as_ref().unwrap()[0];
    assert_eq!((slice(term.name.span), slice(term.value.as_ref().unwrap().span)), ("event", "0xc0"));
}

#[test]
fn hostile_strings_need_neither_depth_nor_much_time() {
    const MANY: usize = 100_000;
    for text in ["{", "a{", "a/", "a:", "mem:", "a,{", "a/b=c,"] {
        assert!(text.repeat(MANY).parse::<Expression>().is_err(), "{text}");
    }
    let events = format!("{}cs", "cs,".repeat(MANY));
    assert_eq!(parse(&events).groups.len(), MANY + 1);
    let members = format!("{{{}cs}}", "cs:u,".repeat(MANY));
    assert_eq!(parse(&members).groups[0].events.len(), MANY + 1);
    let terms = format!("a/{}b/", "b=c,".repeat(MANY));
    assert_eq!(one(&terms).terms.map(|terms| terms.len()), Some(MANY + 1));
}

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

/// Asserts the message without its first line's end, and that the caret is under the same
/// character.
#[track_caller]
fn fails(text: &str, offset: usize, message: &str) {
    let error = text.parse::<Expression>().expect_err(text);
    assert_eq!(error.offset(), offset, "{error}");
    assert!(error.to_string().starts_with(message), "{error}");
    assert_eq!(error.text(), text);
}

#[test]
fn errors_are_at_the_character() {
    fails("", 0, "expected an event, found the end");
    fails("cycles,,cs", 7, "expected an event, found `,`");
    fails("cycles cs", 7, "expected `,` or the end, found `c`");
    fails("{cycles,cs", 10, "expected `,` or the closing `}` of the group, found the end");
    fails("{}", 1, "expected an event, found `}`");
    fails("{{cs}}", 1, "expected an event, found `{`");
    fails("cpu/event=/", 10, "expected the value of the term, found `/`");
    fails("cpu/event=1", 11, "expected `,`, `=` or the closing `/` of the terms, found the end");
    fails("cpu/,/", 4, "expected the name of a term, found `,`");
    fails("cpu/name='x/", 12, "expected the closing `'` of the value, found the end");
    fails("mem:", 4, "expected the address of a breakpoint, found the end");
    fails("mem:0x", 4, "expected the address of a breakpoint, found `0x`");
    fails("mem:1/", 6, "expected the name of a term, found the end");
    fails("mem:1/0x", 6, "expected the length of a breakpoint in bytes, found `0x`");
    fails("mem:1:rr", 6, "expected accesses");
    fails("uprobe:", 7, "expected the absolute path of a program or library, found the end");
    fails("uprobe:libc:f", 7, "expected the absolute path of a program or library, found `l`");
    fails("uprobe:/lib/c", 13, "expected `:` and a function of the file, found the end");
    fails("uprobe:/lib/c:", 14, "expected a function, or a number of bytes from the start of the file");
    fails("kprobe:", 7, "expected a function or an address of the kernel, found the end");
    fails("kprobe:f+x", 9, "expected a number of bytes, found `x`");
    fails("tracepoint:sched", 16, "expected `:` and the name of the tracepoint, found the end");
    fails("r12345678123456781", 0, "expected a raw event of at most 16 hexadecimal digits");
    fails("4294967296:1", 0, "expected a type of at most 32 bits");
    fails("1:99999999999999999999", 2, "expected a number of at most 64 bits");
    fails("cs,12", 3, "expected an event; one that starts with a number is TYPE:CONFIG, found `12`");
    fails("cycles:uu", 7, "expected modifiers");
    fails("cpu/event=1/xyz", 12, "expected modifiers");
    fails("cpu/event=1/:u", 12, "expected `,` or the end, found `:`");
    fails("cycles:switch", 7, "expected modifiers");
    fails("{cs}:", 5, "expected modifiers, found the end");
}

#[test]
fn caret_is_below_the_wrong_character() {
    let error = "cs,µ".parse::<Expression>().unwrap_err();
    assert_eq!(error.to_string(), "expected an event, found `µ`\n  cs,µ\n     ^");
    assert_eq!((error.found(), error.span()), ("µ", Span { start: 3, end: 5 }));
    assert!(error.nearest().is_empty() && error.file_error().is_none());
    // Wide characters take two cells of a terminal.
    let error = "cs/name=日本/,µ".parse::<Expression>().unwrap_err().to_string();
    assert!(error.ends_with(&format!("\n  {:14}^", "")), "{error}");
}

#[test]
fn long_strings_are_shown_around_the_character() {
    let text = format!("{}!{}", "cs,".repeat(1000), "x".repeat(1000));
    let error = format!("{text}+").parse::<Expression>().unwrap_err();
    let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "expected `,` or the end, found `+`");
    assert_eq!(lines[1].trim(), format!("{}+", "x".repeat(50)));
    assert_eq!(lines[2].find('^'), Some(52));
}

#[test]
fn control_characters_are_not_printed() {
    let error = "cs,\u{1b}[2J".parse::<Expression>().unwrap_err();
    assert!(error.to_string().chars().all(|c| c == '\n' || !c.is_control()));
}

#[test]
fn parts_of_an_error_can_be_asked_for() {
    let grammar = "cs,".parse::<Expression>().unwrap_err();
    assert_eq!(grammar.expected(), Some("an event"));
    let span = Span { start: 0, end: 6 };
    let unknown = ParseError::new("cyclse", span, Problem::Unknown("event"));
    let unknown = unknown.with_nearest(vec!["cycles".to_owned(), "cycle".to_owned()]);
    assert_eq!(
        (unknown.expected(), unknown.nearest()),
        (None, &["cycles".to_owned(), "cycle".to_owned()][..])
    );
    assert_eq!(unknown.message(), "unknown event `cyclse`, the nearest names are cycles, cycle");
    let error = FileError::malformed("/sys/x".into(), "a number", "zwei");
    let file = ParseError::new("cyclse", span, Problem::File(error));
    assert_eq!(file.file_error().map(FileError::path), Some(std::path::Path::new("/sys/x")));
    assert!(file.message().starts_with("`cyclse`: "), "{file}");
}
