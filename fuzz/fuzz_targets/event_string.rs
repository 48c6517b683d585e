//! Parses any text as an event string, and finds its events on the machine in `trees/strings`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_session::expression::Expression;
use perf_session::{EventGroup, NamedEvent, System, catalog};

thread_local! {
    static SYSTEM: System = System::at(concat!(env!("CARGO_MANIFEST_DIR"), "/trees/strings"));
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(expression) = text.parse::<Expression>() {
        let printed = expression.to_string();
        assert_eq!(printed.parse::<Expression>().ok(), Some(expression), "{printed}");
    }
    // Each event and term reads files.
    if text.matches(',').count() > 100 {
        return;
    }
    match SYSTEM.with(|system| perf_session::parse(&text, system)) {
        Ok(groups) => {
            assert!(!groups.is_empty());
            for event in groups.iter().flat_map(EventGroup::members) {
                check(event);
            }
        }
        Err(error) => {
            assert!(error.span().start <= error.span().end && text.get(..error.span().end).is_some());
            let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
            assert!(lines.len() == 3 && lines[2].ends_with('^'), "{error}");
        }
    }
});

/// An event has at least one PMU, and its attr has a name that can be parsed.
fn check(event: &NamedEvent) {
    assert!(!event.specs().is_empty());
    for spec in event.specs() {
        let name = catalog::name_of(&spec.attr());
        assert!(name.parse::<Expression>().is_ok(), "{name}");
    }
}
