//! Sums, splits and metrics of made-up counts.

use super::*;

fn count(value: u64, enabled: u64, running: u64) -> Count {
    let mut count = Count::new(value);
    (count.time_enabled, count.time_running) = (Some(enabled), Some(running));
    count.lost = Some(1);
    count
}

fn at(scope: Scope, pmu: &str, count: Count) -> ScopeCount {
    ScopeCount {
        scope,
        pmu: Some(pmu.into()),
        label: "x".into(),
        count,
        is_repeated: false,
        is_failed: false,
    }
}

fn event(scopes: Vec<ScopeCount>) -> EventCounts {
    EventCounts { scopes, ..EventCounts::named(&"x".into()) }
}

#[test]
fn each_cpu_is_scaled_by_its_own_times() {
    let event = event(vec![
        at(Scope::cpu(0), "cpu", count(10, 100, 50)),
        at(Scope::cpu(3), "cpu", count(7, 100, 100)),
    ]);
    assert_eq!(event.scaled(), Some(Scaled::Estimate(27)));
    let total = event.total();
    assert_eq!(
        (total.value, total.time_enabled, total.time_running, total.lost),
        (17, Some(200), Some(150), Some(2))
    );
}

#[test]
fn thread_on_two_pmus_is_not_scaled_up() {
    let thread = Scope::thread(7);
    let event =
        event(vec![at(thread, "cpu_atom", count(50, 10, 6)), at(thread, "cpu_core", count(100, 10, 4))]);
    assert_eq!(event.scaled(), Some(Scaled::Exact(150)));
    let pmus = event.by_pmu();
    let pmus: Vec<(&str, u64)> = pmus.iter().map(|(pmu, count)| (&**pmu, count.value)).collect();
    assert_eq!(pmus, [("cpu_atom", 50), ("cpu_core", 100)]);
}

#[test]
fn thread_on_two_cpus_was_enabled_once() {
    let (one, other) = (Scope::thread(7).on_cpu(0), Scope::thread(7).on_cpu(1));
    let event = event(vec![at(one, "cpu", count(3, 10, 6)), at(other, "cpu", count(4, 10, 2))]);
    assert_eq!(event.scaled(), Some(Scaled::Estimate(8)), "ran 8 of 10 ns");
}

#[test]
fn place_that_was_never_enabled_adds_nothing() {
    let scopes =
        vec![at(Scope::thread(1), "cpu", count(0, 0, 0)), at(Scope::thread(2), "cpu", count(5, 9, 9))];
    assert_eq!(event(scopes).scaled(), Some(Scaled::Exact(5)));
    assert_eq!(event(Vec::new()).scaled(), Some(Scaled::NeverRan));
    let never = at(Scope::cpu(1), "cpu", count(0, 9, 0));
    let scopes = vec![never, at(Scope::cpu(2), "cpu", count(5, 9, 9))];
    assert_eq!(event(scopes).scaled(), Some(Scaled::Estimate(5)), "CPU 1 is unknown");
}

#[test]
fn count_of_a_package_is_summed_once() {
    let mut event = event((0..3).map(|cpu| at(Scope::cpu(cpu), "power", count(100, 1, 1))).collect());
    event.scopes[1].is_repeated = true;
    event.scale = 0.5;
    assert_eq!(event.total().value, 200);
    assert_eq!(event.in_unit(), Some(100.0));
    assert_eq!(event.scopes.len(), 3, "each reading can be asked for");
}

#[test]
fn momentary_values_are_neither_summed_nor_subtracted() {
    let snapshot = |values: &[u64]| EventCounts {
        is_snapshot: true,
        ..event((0..).zip(values).map(|(cpu, value)| at(Scope::cpu(cpu), "t", count(*value, 1, 1))).collect())
    };
    let (two, one) = (snapshot(&[40, 50]), snapshot(&[45]));
    assert_eq!((two.scaled(), two.in_unit(), two.total().value), (None, None, 0));
    assert_eq!(one.since(&snapshot(&[44])).scaled(), Some(Scaled::Exact(45)));
}

#[test]
fn difference_counts_new_places_from_zero() {
    let now =
        event(vec![at(Scope::cpu(0), "cpu", count(10, 8, 8)), at(Scope::cpu(1), "cpu", count(5, 4, 4))]);
    let before = event(vec![at(Scope::cpu(0), "cpu", count(4, 6, 6))]);
    let difference = now.since(&before);
    let values: Vec<u64> = difference.scopes.iter().map(|count| count.count.value).collect();
    assert_eq!(values, [6, 5]);
    assert_eq!(difference.total().time_enabled, Some(6));
}

#[test]
fn count_of_a_closed_event_is_merged_with_that_of_its_successor() {
    let mut all = vec![(0, at(Scope::cpu(1), "cpu", count(10, 8, 4)))];
    assert!(merge(&mut all, 0, at(Scope::cpu(1), "cpu", count(1, 2, 2))).is_none());
    assert!(merge(&mut all, 0, at(Scope::cpu(0), "cpu", count(1, 2, 2))).is_some());
    assert!(merge(&mut all, 1, at(Scope::cpu(1), "cpu", count(1, 2, 2))).is_some());
    assert_eq!((all[0].1.count.value, all[0].1.count.time_running), (11, Some(6)));
}

#[test]
fn pinned_event_that_was_not_scheduled_makes_the_sum_an_estimate() {
    let failed = || ScopeCount { is_failed: true, ..at(Scope::cpu(0), "cpu", Count::default()) };
    let known = || at(Scope::cpu(1), "cpu", count(5, 9, 9));
    assert_eq!(event(vec![failed(), known()]).scaled(), Some(Scaled::Estimate(5)));
    assert_eq!(event(vec![failed(), known()]).total().time_enabled, Some(9));
    assert_eq!(event(vec![failed()]).scaled(), Some(Scaled::NeverRan));
    let mut all = vec![(0, failed())];
    assert!(merge(&mut all, 0, ScopeCount { scope: Scope::cpu(0), ..known() }).is_none());
    assert_eq!((all[0].1.is_failed, all[0].1.count.value), (true, 5));
}

#[test]
fn interval_of_each_pmu_starts_at_its_own_count() {
    let thread = Scope::thread(7);
    let counts = |core, atom| {
        event(vec![at(thread, "cpu_core", count(core, 9, 9)), at(thread, "cpu_atom", count(atom, 9, 9))])
    };
    let interval = counts(110, 2_050).since(&counts(100, 2_000));
    let values: Vec<u64> = interval.scopes.iter().map(|count| count.count.value).collect();
    assert_eq!(values, [10, 50]);
}

#[test]
fn counts_are_split_by_a_key_of_the_cpu() {
    let count_at = |cpu, value| at(Scope::cpu(cpu), "cpu", count(value, 10, 10));
    let counts = Counts {
        events: vec![
            event(vec![count_at(0, 1), count_at(1, 2), count_at(2, 4), count_at(3, 8)]),
            event(vec![count_at(2, 16)]),
        ],
    };
    let parts = counts.split_by(|scope| scope.cpu_id().filter(|cpu| *cpu != 3).map(|cpu| cpu / 2));
    let totals = |part: &Counts| part.iter().map(|event| event.total().value).collect::<Vec<_>>();
    assert_eq!(
        parts.iter().map(|(key, part)| (*key, totals(part))).collect::<Vec<_>>(),
        [(0, vec![3, 0]), (1, vec![4, 16])]
    );
    assert!(counts.split_by(Scope::thread_id).is_empty());
    assert_eq!(parts[0].1.get(1).unwrap().scaled(), Some(Scaled::NeverRan));
}

#[test]
fn count_of_a_package_is_in_the_sum_of_each_part_once() {
    let repeated = |cpu| ScopeCount { is_repeated: cpu != 0, ..at(Scope::cpu(cpu), "power", count(5, 9, 9)) };
    let counts = Counts { events: vec![event(vec![repeated(0), repeated(1), repeated(2), repeated(3)])] };
    for cpus in [1, 2, 4] {
        let parts = counts.split_by(|scope| scope.cpu_id().map(|cpu| cpu / cpus));
        assert_eq!(parts.len() as u32, 4 / cpus);
        assert!(parts.iter().all(|(_, part)| part.get(0).unwrap().total().value == 5), "{cpus}");
    }
}
