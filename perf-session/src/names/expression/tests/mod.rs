use perf_sys::BreakpointType;

use super::*;

mod errors;
mod identity;

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
