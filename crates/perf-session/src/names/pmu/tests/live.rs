//! The machine that runs the tests.

use super::*;

#[test]
fn every_pmu_of_this_machine_and_its_events_are_understood() {
    let system = System::new();
    let pmus = match Pmu::all(&system) {
        Ok(pmus) => pmus,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    for pmu in &pmus {
        assert_eq!(Pmu::with_kind(&system, pmu.kind()).unwrap().unwrap().name(), pmu.name());
        assert_eq!(Pmu::named(&system, pmu.name()).unwrap().kind(), pmu.kind());
        assert!(names(&Pmu::matching(&system, pmu.unit_name()).unwrap()).contains(&pmu.name()));
        for name in pmu.format_names().unwrap() {
            let field = pmu.format(&name).unwrap().unwrap();
            let attr = spec(pmu, &format!("{name}={:#x}", field.max())).unwrap().attr();
            assert_eq!(field.value(&attr), field.max(), "{pmu}/{name}/");
        }
        for event in pmu.events().unwrap().iter().filter(|event| !event.terms.contains('?')) {
            assert_eq!(spec(pmu, &event.name).unwrap().attr().kind, pmu.kind(), "{pmu}/{}/", event.name);
        }
        assert!(pmu.caps().is_ok() && pmu.user_access().is_ok() && pmu.multiplex_interval().is_ok());
    }
}

#[test]
fn software_and_tracepoints_have_their_numbers() {
    let system = System::new();
    for (name, kind) in [("software", EventType::SOFTWARE), ("tracepoint", EventType::TRACEPOINT)] {
        match Pmu::named(&system, name) {
            Ok(pmu) => assert_eq!((pmu.kind(), pmu.cpus(), pmu.is_core()), (kind, None, false)),
            Err(error) => eprintln!("skipped: {error}"),
        }
    }
}
