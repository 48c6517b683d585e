//! The hottest functions, by the names of their addresses.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};

use perf_abi::regs::Architecture;
use perf_profile::{Collector, LocationId, Profile, ProfileBuilder, Resolver};
use perf_symbols::FileFinder;

use super::chart::percent;
use crate::out::message::{count, file_name, shown};

/// Rows of the hottest functions.
const ROWS: usize = 10;

/// Returns a collector of samples whose files are found by `finder`.
pub(crate) fn collector(finder: FileFinder) -> io::Result<Collector> {
    Ok(Collector::new(Resolver::new(Architecture::NATIVE, finder)?, ProfileBuilder::new()))
}

/// Prints the functions in which most samples are, and why others have no name.
pub(crate) fn print(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let (mut rows, mut unnamed) = (HashMap::<_, u64>::new(), HashMap::<_, u64>::new());
    for sample in profile.samples() {
        let Some(location) = profile.stack(sample.stack).next() else { continue };
        *rows.entry(name(profile, location)).or_default() += sample.count;
        if let Some(reason) = reason(profile, location) {
            *unnamed.entry(reason).or_default() += sample.count;
        }
    }
    let sum: u64 = rows.values().sum();
    if sum == 0 {
        return Ok(());
    }
    writeln!(out, "\nHottest functions (samples in the function itself, share, name, file)")?;
    let rows = sorted(rows);
    for ((name, file), samples) in rows.iter().take(ROWS) {
        writeln!(out, "  {samples:>7} {:>6}  {name}  {file}", percent(*samples, sum))?;
    }
    if let Some(more @ 1..) = rows.len().checked_sub(ROWS) {
        writeln!(out, "  ... and {more} others")?;
    }
    for (reason, samples) in sorted(unnamed) {
        writeln!(out, "Unnamed {}: {reason}", count(samples, "sample"))?;
    }
    Ok(())
}

/// Returns the name and the file of a location's innermost function, or its address if it has none.
fn name(profile: &Profile, location: LocationId) -> (String, String) {
    let locations = profile.locations();
    let file = shown(file_name(locations.object_path(location)));
    let name = match locations.frames(location).first() {
        Some(frame) => shown(locations.function_name(frame.function)),
        None => format!("{:#x}", offset(profile, location)),
    };
    (name, file)
}

/// Returns the offset of a location in its file, as the hottest instructions have it, or the address in memory that has no file.
fn offset(profile: &Profile, location: LocationId) -> u64 {
    let location = profile.locations().get(location);
    let object = location.object().and_then(|id| profile.locations().object(id));
    match object.filter(|object| !object.is_kernel) {
        Some(object) => location.address().wrapping_sub(object.range.start).wrapping_add(object.file_offset),
        None => location.address(),
    }
}

/// Returns why a location has no name.
fn reason(profile: &Profile, location: LocationId) -> Option<String> {
    let locations = profile.locations();
    if !locations.frames(location).is_empty() {
        return None;
    }
    let reason = locations.get(location).unnamed();
    Some(reason.map_or_else(|| "the reason is unknown".to_owned(), |reason| reason.to_string()))
}

/// Returns rows with most samples first.
fn sorted<T: Ord>(rows: HashMap<T, u64>) -> Vec<(T, u64)> {
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_unstable_by(|(a, left), (b, right)| (Reverse(left), a).cmp(&(Reverse(right), b)));
    rows
}

#[cfg(test)]
mod tests {
    use perf_abi::{Attr, Software};
    use perf_profile::{Event, Frame, Function, Locations, Object};

    use super::*;

    #[test]
    fn functions_are_sorted_by_their_samples_and_addresses_have_a_reason() {
        let (mut builder, mut locations) = (ProfileBuilder::new(), Locations::new());
        let file = Object::new(locations.intern("/usr/bin/a\u{1b}"));
        let file = locations.add_object(file);
        let named = [1, 2].map(|address| locations.add(Some(file), address));
        let hot = locations.intern("hot");
        let hot = locations.add_function(Function { name: hot, file: None });
        for location in named {
            locations.set_frames(location, [Frame { function: hot, line: 0, column: 0 }]);
        }
        let other = locations.add(None, 0x30);
        let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
        let thread = builder.thread(1, 1, locations.intern("a"));
        for stack in [&[named[0]][..], &[named[1], other], &[other], &[]] {
            let stack = builder.stack(stack);
            builder.sample(event, thread, stack, 1);
        }
        let mut out = Vec::new();
        print(&mut out, &builder.finish(locations)).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().skip(2).map(str::trim).collect();
        let [first, second, third] = lines.as_slice() else { panic!("{text}") };
        assert!(first.starts_with("2 ") && first.ends_with("  hot  a\\u{1b}"), "{text}");
        assert!(second.starts_with("1 ") && second.ends_with("  0x30  [unknown]"), "{text}");
        assert_eq!(*third, "Unnamed 1 sample: the reason is unknown");
    }
}
