//! Changes between made-up profiles.

use perf_abi::{Attr, Software};

use super::*;
use crate::profile::{Event, Frame, Function, Locations, Object, ProfileBuilder};

/// A profile of functions with their numbers of samples, of 1000 ns each.
fn profile(functions: &[(&str, u64)]) -> (Profile, EventId) {
    let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
    let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    let thread = builder.thread(1, 1, locations.intern("a"));
    for &(name, count) in functions {
        let name = locations.intern(name);
        let function = locations.add_function(Function { name, file: None });
        let location = locations.add(None, 0);
        locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
        let stack = builder.stack(&[location]);
        for _ in 0..count {
            builder.sample(event, thread, stack, 1000);
        }
    }
    (builder.finish(locations), event)
}

/// A profile of a function at line 7 in objects of these paths, with 1 sample each, compiled in the
/// folder of the object.
fn built(paths: &[&str]) -> (Profile, EventId) {
    let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
    let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    let thread = builder.thread(1, 1, locations.intern("a"));
    for path in paths {
        let id = locations.intern(path);
        let object = locations.add_object(Object::new(id));
        let (name, file) = (locations.intern("f"), locations.intern(&format!("{path}.c")));
        let function = locations.add_function(Function { name, file: Some(file) });
        let location = locations.add(Some(object), 0);
        locations.set_frames(location, [Frame { function, line: 7, column: 0 }]);
        let stack = builder.stack(&[location]);
        builder.sample(event, thread, stack, 1000);
    }
    (builder.finish(locations), event)
}

fn of(profiles: &[(Profile, EventId)]) -> Vec<(&Profile, EventId)> {
    profiles.iter().map(|(profile, event)| (profile, *event)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn rows_are_all_functions_of_both_sides_by_their_change() {
    let (base, new) =
        ([profile(&[("same", 50), ("gone", 40), ("less", 10)])], [profile(&[("same", 50), ("new", 50)])]);
    let diff = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, Scale::Share);
    let rows: Vec<_> = diff.rows.iter().map(|row| (row.entry.function.unwrap(), row.change())).collect();
    let expected = [("new", 0.5), ("gone", -0.4), ("less", -0.1), ("same", 0.0)];
    assert!(rows.iter().zip(expected).all(|(a, b)| a.0 == b.0 && close(a.1, b.1)), "{rows:?}");
    assert_eq!(rows.len(), 4);
    assert!(close(diff.total.new.mean, 100_000.0));

    let values = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::ByTotal, Scale::Value);
    let rows: Vec<_> = values.rows.iter().map(|row| (row.entry.function.unwrap(), row.change())).collect();
    assert_eq!(rows, [("new", 50_000.0), ("gone", -40_000.0), ("less", -10_000.0), ("same", 0.0)]);
}

#[test]
fn builds_in_different_folders_are_the_same_object() {
    let changes = |base: &[&str], new: &[&str], columns: &[Column]| -> Vec<(String, f64)> {
        let (base, new) = ([built(base)], [built(new)]);
        let diff = Diff::new(&of(&base), &of(&new), columns, Order::BySelf, Scale::Value);
        let path = |entry: Entry<'_>| entry.object.or(entry.line.map(|(file, _)| file)).unwrap().to_owned();
        diff.rows.iter().map(|row| (path(row.entry), row.change())).collect()
    };
    let [object, line] = [[Column::Object, Column::Function], [Column::Function, Column::Line]];
    assert_eq!(changes(&["/old/a"], &["/new/a"], &object), [("/new/a".to_owned(), 0.0)]);
    assert_eq!(changes(&["/old/a"], &["/new/a"], &line), [("/new/a.c".to_owned(), 0.0)]);
    // Two objects of a name are compared by folders of the same name.
    let two = changes(&["/old/x/a", "/old/y/a"], &["/new/x/a", "/new/y/a"], &object);
    assert_eq!(two, [("/new/x/a".to_owned(), 0.0), ("/new/y/a".to_owned(), 0.0)]);
    let two = changes(&["/d/x/a", "/d/y/a"], &["/d/x/a"], &object);
    assert_eq!(two, [("/d/y/a".to_owned(), -1000.0), ("/d/x/a".to_owned(), 0.0)]);
    // It is ambiguous which of the two corresponds.
    let several = changes(&["/old/a"], &["/new/a", "/other/a"], &object);
    let expected = [("/new/a", 1000.0), ("/old/a", -1000.0), ("/other/a", 1000.0)];
    assert_eq!(several, expected.map(|(path, change)| (path.to_owned(), change)));
    assert_eq!(changes(&["/old/a", "/x/a"], &["/new/a"], &line).len(), 3);
}

#[test]
fn noise_is_at_least_what_sampling_causes() {
    let (base, new) = ([profile(&[("a", 25), ("b", 75)])], [profile(&[("a", 30), ("b", 70)])]);
    let diff = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, Scale::Share);
    let row = diff.rows.iter().find(|row| row.entry.function == Some("a")).unwrap();
    assert!(close(row.base.error, (0.25f64 * 0.75 / 100.0).sqrt()), "{row:?}");
    assert!(row.is_noise() && close(row.noise(), 2.0 * row.base.error.hypot(row.new.error)));
    let values = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, Scale::Value);
    let row = values.rows.iter().find(|row| row.entry.function == Some("a")).unwrap();
    assert!(close(row.base.error, 5000.0), "{row:?}");
}

#[test]
fn noise_of_several_recordings_is_their_spread() {
    let base = [10, 20, 30].map(|count| profile(&[("a", count * 1000), ("b", (100 - count) * 1000)]));
    let new = [58, 60, 62].map(|count| profile(&[("a", count * 1000), ("b", (100 - count) * 1000)]));
    let diff = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, Scale::Share);
    let row = diff.rows.iter().find(|row| row.entry.function == Some("a")).unwrap();
    assert!(close(row.base.mean, 0.2) && close(row.base.error, 0.1 / 3f64.sqrt()), "{row:?}");
    assert!(close(row.change(), 0.4) && !row.is_noise());
    // A function that a recording lacks counts as 0 there.
    let base = [profile(&[("a", 100)]), profile(&[("b", 100)])];
    let diff = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, Scale::Share);
    let row = diff.rows.iter().find(|row| row.entry.function == Some("a")).unwrap();
    assert!(close(row.base.mean, 0.5) && close(row.base.error, 0.5) && row.is_noise());
    let empty = Diff::new(&[], &of(&new), &[Column::Function], Order::BySelf, Scale::Share);
    assert_eq!(empty.rows[0].base, Estimate::default());
}

#[test]
fn growth_counts_if_it_is_beyond_the_limit_without_its_noise() {
    let side = |hot: u64| [hot, hot + 2, hot + 4].map(|hot| profile(&[("hot", hot), ("same", 500)]));
    let grown = |new: u64, share: f64, scale: Scale| -> Vec<Option<String>> {
        let (base, new) = (side(500), side(new));
        let diff = Diff::new(&of(&base), &of(&new), &[Column::Function], Order::BySelf, scale);
        diff.grown(share).map(|change| change.entry.function.map(str::to_owned)).collect()
    };
    let hot = || Some("hot".to_owned());
    assert_eq!(grown(700, 0.1, Scale::Value), [None, hot()], "the total first");
    assert_eq!(grown(700, 0.19, Scale::Value), [None], "the noise of one function is larger");
    assert_eq!(grown(700, 0.21, Scale::Value), []);
    assert_eq!(grown(700, 0.01, Scale::Share), [hot()], "shares have no total");
    assert_eq!(grown(300, 0.0, Scale::Value), [], "less is no growth");
    assert_eq!(grown(502, 0.0, Scale::Value), [], "noise");
}
