use perf_sys::{Attr, AttrFlags, BreakpointLen, BreakpointType, EventType, Hardware, Software};

use super::*;

mod errors;
mod machine;

fn system() -> System {
    System::at("/nonexistent")
}

fn groups(text: &str) -> Vec<EventGroup> {
    parse(text, &system()).unwrap_or_else(|error| panic!("{error}"))
}

fn attr(text: &str) -> Attr {
    let event = parse_event(text, &system()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(event.specs().len(), 1);
    event.specs()[0].attr()
}

/// The attr of the event in the host.
fn in_host(attr: Attr) -> Attr {
    attr.with_flags(AttrFlags::EXCLUDE_GUEST)
}

#[test]
fn generic_events_are_found_by_name() {
    assert_eq!(attr("cycles"), in_host(Attr::hardware(Hardware::CPU_CYCLES)));
    assert_eq!(attr("cs"), in_host(Attr::software(Software::CONTEXT_SWITCHES)));
    assert_eq!(attr("LLC-load-misses"), in_host(Attr::new(EventType::HW_CACHE, 0x1_0002)));
    assert_eq!(attr("r1a2"), in_host(Attr::raw(0x1a2)));
    // The PMU of type 7 may reject an exclusion.
    assert_eq!(attr("7:9"), Attr::new(EventType(7), 9));
}

#[test]
fn breakpoints_have_default_length_and_accesses() {
    let breakpoint = |kind, len| in_host(Attr::breakpoint(kind, 0x1000, len));
    assert_eq!(attr("mem:0x1000"), breakpoint(BreakpointType::READ_WRITE, BreakpointLen::FOUR));
    assert_eq!(attr("mem:0x1000/8:w"), breakpoint(BreakpointType::WRITE, BreakpointLen::EIGHT));
    assert_eq!(attr("mem:0x1000:x"), in_host(Attr::breakpoint_execute(0x1000)));
}

#[test]
fn guests_are_excluded_where_the_perf_tool_excludes_them() {
    let machines = AttrFlags::EXCLUDE_GUEST | AttrFlags::EXCLUDE_HOST;
    let excluded = |text: &str| {
        let groups = groups(text);
        let attrs = groups.iter().flat_map(EventGroup::members).map(|event| event.specs()[0].attr());
        attrs.map(|attr| (attr.flags & machines).to_string()).collect::<Vec<_>>().join(" ")
    };
    for text in
        ["cycles", "cs", "cs:", "cs:u", "cs:p", "cs:ku", "cs:H", "cs:uH", "r1", "mem:0x1000", "{cs:k}:u"]
    {
        assert_eq!(excluded(text), "EXCLUDE_GUEST", "{text}");
    }
    for text in ["cs:k", "cs:h", "cs:I", "cs:P", "cs:GH", "{cs:k}", "{cs:G}:H", "7:9"] {
        assert_eq!(excluded(text), "0x0", "{text}");
    }
    assert_eq!(excluded("{cs:G,faults}:u"), "EXCLUDE_HOST EXCLUDE_GUEST");
    assert_eq!(excluded("{cs,faults}:k"), "EXCLUDE_GUEST EXCLUDE_GUEST");
}

#[test]
fn modifiers_become_flags() {
    assert_eq!(
        attr("cycles:uppD").flags.to_string(),
        "PINNED|EXCLUDE_KERNEL|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=2"
    );
}

#[test]
fn group_modifiers_are_added_to_those_of_the_events() {
    let group = &groups("{cycles:u,cs:p}:kDpS")[0];
    let flags: Vec<_> =
        group.members().iter().map(|event| event.specs()[0].attr().flags.to_string()).collect();
    assert_eq!(
        flags,
        [
            "PINNED|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=1",
            "EXCLUDE_USER|EXCLUDE_HV|EXCLUDE_GUEST|precise_ip=2"
        ]
    );
    assert!(group.is_braced() && group.is_leader_sampling() && !group.is_weak());
}

#[test]
fn too_much_precision_of_event_and_group_is_an_error() {
    let error = parse("{cs,cycles:pp}:pp", &system()).unwrap_err();
    assert_eq!(error.found(), "cycles:pp");
}

#[test]
fn terms_set_fields_of_the_attr() {
    let attr = attr("r1/config1=2,config2=3,config3=4,config4=5,period=1000/");
    assert_eq!((attr.config1, attr.config2, attr.config3, attr.config4), (2, 3, 4, 5));
    assert_eq!(attr.sample_period, 1000);
    let attr = self::attr("cs/period=5,freq=99/");
    assert_eq!((attr.sample_period, attr.flags), (99, AttrFlags::FREQ | AttrFlags::EXCLUDE_GUEST));
}

#[test]
fn name_is_the_text_of_the_event_or_its_term() {
    let groups = groups("cycles:u,{cs/name=mine/,r1}:k");
    let names: Vec<_> = groups.iter().flat_map(EventGroup::members).map(NamedEvent::name).collect();
    assert_eq!(names, ["cycles:u", "mine", "r1"]);
    assert_eq!(groups[1].members()[0].specs()[0].label().to_string(), "mine");
}

#[test]
fn unknown_names_list_the_nearest() {
    let error = parse("cs,cyclse:u", &system()).unwrap_err();
    assert_eq!((error.offset(), error.nearest()[0].as_str()), (3, "cycles"));
    let error = parse("L1-dcache-lod-misses", &system()).unwrap_err();
    assert_eq!(error.nearest()[0], "L1-dcache-load-misses");
    let error = parse("cs/perod=1/", &system()).unwrap_err();
    assert_eq!((error.offset(), error.nearest()), (3, &["period".to_owned()][..]));
}

#[test]
fn one_event_is_not_several() {
    assert!(parse_event("cs,cs", &system()).unwrap_err().to_string().contains("expected one event, found 2"));
    assert!(parse_event("{cs}", &system()).is_ok());
}

#[test]
fn number_of_a_tracepoint_is_named_as_written() {
    assert_eq!(parse_event("2:0x17", &system()).unwrap().name(), "2:0x17");
}
