//! The terms of an event, whatever the PMU.

use perf_ring::{AttrFlags, SampleType};

use super::*;

/// A PMU with a term of each kind.
fn tree() -> Tree {
    let tree = Tree::new();
    tree.pmu(
        "test",
        &[
            ("type", "77\n"),
            ("format/event", "config:0-7\n"),
            ("format/umask", "config:8-15\n"),
            ("format/edge", "config:18\n"),
            ("format/domain", "config2:4-7\n"),
            ("format/all", "config1:0-63\n"),
            ("events/reads", "event=0x64,umask=0x09\n"),
            ("events/READS_BY", "event=0x65,domain=?\n"),
            ("events/sampled", "event=0x66,period=1000,name=of-file,config1=0x10\n"),
            ("events/r12", "event=0x67\n"),
        ],
    );
    tree
}

fn problem(pmu: &Pmu, terms: &str) -> (usize, bool, TermProblem) {
    let Err(PmuError::Term(error)) = spec(pmu, terms) else { panic!("{terms}: a term is wrong") };
    assert_eq!(&*error.pmu, "test");
    (error.index, error.is_value(), error.problem.clone())
}

#[test]
fn no_terms_are_an_event_of_zeros() {
    let tree = tree();
    assert_eq!(spec(&named(&tree, "test"), "").unwrap().attr(), perf_ring::Attr::new(EventType(77), 0));
}

#[test]
fn name_alone_is_one() {
    let tree = tree();
    let pmu = named(&tree, "test");
    assert_eq!((config(&pmu, "edge"), config(&pmu, "edge=1"), config(&pmu, "edge=0")), (1 << 18, 1 << 18, 0));
    assert_eq!(config(&pmu, "event"), 1);
}

/// The values are those that the perf tool 6.1 passes for the same terms.
#[test]
fn bits_are_added_to_whole_words() {
    let tree = tree();
    let pmu = named(&tree, "test");
    assert_eq!(config(&pmu, "event=1,event=2"), 3);
    assert_eq!(config(&pmu, "event=2,config=0x10"), 0x12);
    assert_eq!(config(&pmu, "config=0x10,event=2"), 0x12);
    assert_eq!(config(&pmu, "config=1,config=2"), 2);
    assert_eq!(config(&pmu, "event=0x10,r3"), 0x13);
    assert_eq!(config(&pmu, "event=010"), 10);
    assert_eq!(config(&pmu, "reads,umask=0x40"), 0x4964);
    let attr = spec(&pmu, "config1=7,config2=9,config3=11,config4=13,all=8").unwrap().attr();
    assert_eq!((attr.config1, attr.config2, attr.config3, attr.config4), (15, 9, 11, 13));
}

#[test]
fn event_is_found_in_any_case_and_before_a_raw_code() {
    let tree = tree();
    let pmu = named(&tree, "test");
    for terms in ["READS", "reads=1", "event=reads"] {
        assert_eq!(config(&pmu, terms), 0x964, "{terms}");
    }
    assert_eq!((config(&pmu, "r12"), config(&pmu, "r13"), config(&pmu, "r0x13")), (0x67, 0x13, 0x13));
    assert!(matches!(problem(&pmu, "reads=2").2, TermProblem::Unknown { .. }));
}

#[test]
fn parameter_must_be_given() {
    let tree = tree();
    let pmu = named(&tree, "test");
    for terms in ["READS_BY,domain=0xa", "domain=10,reads_by"] {
        let attr = spec(&pmu, terms).unwrap().attr();
        assert_eq!((attr.config, attr.config2), (0x65, 0xa0), "{terms}");
    }
    let missing = TermProblem::Parameter { name: "domain".into() };
    assert_eq!(problem(&pmu, "edge,reads_by"), (1, false, missing));
    let message = "PMU test: term `reads_by`: the event has a parameter; add `domain=VALUE`";
    assert_eq!(error(&pmu, "reads_by"), message);
}

#[test]
fn wrong_term_is_named_with_its_place_and_the_known_ones() {
    let tree = tree();
    let pmu = named(&tree, "test");
    let (index, is_value, found) = problem(&pmu, "edge,evnt=1");
    assert!(!is_value && index == 1);
    let TermProblem::Unknown { terms, events } = found else { panic!("{found:?}") };
    assert!(terms.iter().any(|term| term == "event") && terms.iter().any(|term| term == "period"));
    assert_eq!(events, ["READS_BY", "r12", "reads", "sampled"]);
    let message = error(&pmu, "evnt=1");
    assert!(
        message.starts_with("PMU test: term `evnt=1`: not known; the PMU has the terms all, domain, edge")
    );
    assert!(message.ends_with("and the events READS_BY, r12, reads, sampled"), "{message}");
    assert!(matches!(problem(&pmu, "../type").2, TermProblem::Unknown { .. }));

    assert_eq!(problem(&pmu, "umask=0x100"), (0, true, TermProblem::TooWide { value: 0x100, max: 0xff }));
    for value in ["x", "-1", "+1", "0x", "0x10000000000000000", "?", "0XFF"] {
        let (index, is_value, found) = problem(&pmu, &format!("edge,event={value}"));
        assert_eq!((index, is_value), (1, true), "{value}");
        assert!(matches!(found, TermProblem::Value { .. }), "{value}");
    }
    assert_eq!(problem(&pmu, "reads,sampled").2, TermProblem::SecondEvent { first: "reads".into() });
}

#[test]
fn general_terms_change_the_attr() {
    let tree = tree();
    let pmu = named(&tree, "test");
    let attr = |terms| spec(&pmu, terms).unwrap().attr();
    assert_eq!(attr("period=1000").sample_period, 1000);
    let freq = attr("freq=99");
    assert_eq!((freq.sample_period, freq.flags), (99, AttrFlags::FREQ));
    assert_eq!(attr("freq=99,period=5").flags, AttrFlags::empty());
    assert_eq!(
        (attr("time").sample_type, attr("time,time=0").sample_type),
        (SampleType::TIME, SampleType::empty())
    );
    assert_eq!(attr("inherit").flags, AttrFlags::INHERIT);
    assert_eq!(attr("inherit,no-inherit").flags, AttrFlags::empty());
    assert_eq!(attr("overwrite,aux-output").flags, AttrFlags::WRITE_BACKWARD | AttrFlags::AUX_OUTPUT);
    assert_eq!(
        (attr("max-stack=5").sample_max_stack, attr("aux-sample-size=4096").aux_sample_size),
        (5, 4096)
    );
    assert_eq!(attr("overwrite,no-overwrite").flags, AttrFlags::empty());
    assert_eq!(attr("stack-size=1024,call-graph=dwarf").sample_stack_user, 1024);
    assert_eq!(attr("branch_type=any").branch_sample_type.to_string(), "ANY");
    assert_eq!(attr("branch_type=u").branch_sample_type.to_string(), "USER|ANY");
    for terms in [
        "period=0x8000000000000000",
        "max-stack=65536",
        "time=2",
        "aux-sample-size=0x100000000",
        "name",
        "call-graph=x",
        "stack-size=7",
        "branch_type=x",
    ] {
        assert!(problem(&pmu, terms).1, "{terms}");
    }
    // The list in errors must match the terms that are applied.
    for name in general::NAMES {
        let mut general = General { attr: attr(""), name: None };
        assert_ne!(general.apply(name, Some("1")), Ok(false), "{name}");
    }
}

#[test]
fn name_replaces_the_terms() {
    let tree = tree();
    let pmu = named(&tree, "test");
    let label = |terms| spec(&pmu, terms).unwrap().label().to_string();
    assert_eq!(label("reads,name=x"), "x");
    assert_eq!(label(" reads , umask = 0x40"), "test/reads,umask=0x40/");
    assert_eq!(label(""), "test//");
}

#[test]
fn file_of_an_event_may_have_general_terms() {
    let tree = tree();
    let spec = spec(&named(&tree, "test"), "sampled").unwrap();
    let attr = spec.attr();
    assert_eq!((attr.config, attr.config1, attr.sample_period), (0x66, 0x10, 1000));
    assert_eq!(spec.label().to_string(), "of-file");
}
