//! Parses any text as the terms of an event of the PMU in `trees/pmu`, and describes the event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use perf_session::{Pmu, PmuError, PmuTerm, System};

thread_local! {
    static PMU: Pmu = Pmu::named(&System::at(concat!(env!("CARGO_MANIFEST_DIR"), "/trees/pmu")), "test").unwrap();
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let terms = match PmuTerm::parse_list(&text) {
        Ok(terms) => terms,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let printed = terms.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    assert_eq!(PmuTerm::parse_list(&printed).as_ref(), Ok(&terms));
    // Each term reads files.
    if terms.len() > 8 {
        return;
    }
    match PMU.with(|pmu| pmu.event_spec(&terms)) {
        Ok(spec) => {
            assert_eq!((spec.pmu(), spec.attr().kind.0), (Some("test"), 77));
            assert!(spec.scale().is_finite());
        }
        Err(PmuError::Term(error)) => {
            assert!(error.index < terms.len() && &*error.pmu == "test");
            assert!(!error.to_string().contains('\n'));
        }
        // One of the events in the tree is malformed.
        Err(error) => assert!(error.to_string().contains("/events/"), "{error}"),
    }
});
