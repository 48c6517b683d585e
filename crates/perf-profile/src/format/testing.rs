//! Profiles for tests of writers, with their samples as a naive model.

use std::path::PathBuf;
use std::{env, fs};

use perf_abi::{Attr, Software};
use perf_decode::LostCounts;
use perf_symbols::BuildId;
use proptest::prelude::*;

use super::names::unnamed;
use crate::profile::{
    Event, EventId, Frame, Function, Locations, Losses, Object, Profile, ProfileBuilder, Sample, Thread,
};

/// Compares a text with the file of this name.
/// `PERFKIT_BLESS=1 cargo test -p perf-profile --all-features` writes it.
pub(crate) fn snapshot(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/format/snapshots").join(name);
    if env::var_os("PERFKIT_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "not as in {}:\n{text}", path.display());
}

/// A small profile: two events, two threads with bad names, the kernel, inlined functions,
/// addresses without a name or a file, a stack without an address, and losses.
pub(crate) fn example(has_times: bool) -> Profile {
    let mut locations = Locations::new();
    let mut program = Object::new(locations.intern("/usr/bin/sort \"it\""));
    program.build_id =
        BuildId::new(&[0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]);
    program.range = 0x5555_0000..0x5556_0000;
    program.file_offset = 0x1000;
    let program = locations.add_object(program);
    let mut kernel = Object::new(locations.intern("[kernel.kallsyms]"));
    kernel.is_kernel = true;
    let kernel = locations.add_object(kernel);
    let function = |locations: &mut Locations, name: &str, file: Option<&str>| {
        let file = file.map(|file| locations.intern(file));
        let name = locations.intern(name);
        locations.add_function(Function { name, file })
    };
    let main = function(&mut locations, "main", Some("/src/sort.c"));
    let compare = function(&mut locations, "compare<a; b>", Some("/src/sort.c"));
    let inlined = function(&mut locations, "less\n\"than\"\u{1b}[31m", Some("/src/less.h"));
    let syscall = function(&mut locations, "do_syscall_64", None);

    let in_main = locations.add(Some(program), 0x5555_0100);
    locations.set_frames(in_main, [Frame { function: main, line: 12, column: 3 }]);
    let in_inlined = locations.add(Some(program), 0x5555_0200);
    let frames =
        [Frame { function: inlined, line: 4, column: 0 }, Frame { function: compare, line: 30, column: 9 }];
    locations.set_frames(in_inlined, frames);
    let without_name = locations.add(Some(program), 0x5555_0300);
    let in_kernel = locations.add(Some(kernel), 0xffff_ffff_8100_0010);
    locations.set_frames(in_kernel, [Frame { function: syscall, line: 0, column: 0 }]);
    let nowhere = locations.add(None, 0x7fff_0000_1234);

    let mut builder = ProfileBuilder::new();
    if has_times {
        builder = builder.with_times();
    }
    let clock = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
    let faults = builder.event(Event::new("page-faults", &Attr::software(Software::PAGE_FAULTS)));
    let sort = builder.thread(10, 10, locations.intern("sort it"));
    let worker = Thread::new(10, 11, locations.intern("w\u{fffd};\n"));
    let worker = builder.add_thread(worker.with_cgroup(Some(locations.intern("/a;b/c d"))));
    let mut time = 1_000_000;
    let mut add = |event, thread, stack: &[_], value| {
        time += 250_000;
        let stack = builder.stack(stack);
        builder.add(Sample { event, thread, stack, value, count: 1, time: Some(time), cpu: Some(1) });
    };
    add(clock, sort, &[in_inlined, in_main], 250_000);
    add(clock, sort, &[in_inlined, in_main], 250_000);
    add(clock, sort, &[in_kernel, without_name, in_main], 250_001);
    add(faults, worker, &[in_kernel, in_main], 1);
    add(clock, worker, &[nowhere], 250_000);
    add(clock, worker, &[], 250_000);
    add(faults, worker, &[in_main], 3);
    builder.losses(Losses {
        lost: LostCounts::new(3, 0),
        incomplete_stacks: vec![(1, "the copy of the stack is too short".to_owned())],
        missing_files: vec!["/usr/lib/x.so: not found".to_owned()],
        ..Losses::default()
    });
    builder.finish(locations)
}

/// A profile of an instant and a span of 2500 ns, which start at the same time.
#[cfg(feature = "json")]
pub(super) fn instant_and_span() -> Profile {
    let (mut builder, mut locations) = (ProfileBuilder::new().with_times(), Locations::new());
    let events = [Event::new("faults", &Attr::software(Software::PAGE_FAULTS)), Event::spans("offcpu-time")];
    let thread = builder.thread(1, 1, locations.intern("a"));
    for (event, value) in events.map(|event| builder.event(event)).into_iter().zip([1, 2500]) {
        builder.add(Sample { event, thread, stack: None, value, count: 1, time: Some(1000), cpu: None });
    }
    builder.finish(locations)
}

/// Gives each sample without a time its position as the time, for writers of timelines.
#[cfg(feature = "json")]
pub(crate) fn with_times(profile: &Profile) -> Profile {
    let mut builder = ProfileBuilder::new().with_times();
    for event in profile.events() {
        builder.event(event.clone());
    }
    for (position, sample) in (0..).zip(profile.samples()) {
        let thread = profile.thread(sample.thread).unwrap();
        let thread = builder.add_thread(thread);
        let stack: Vec<_> = profile.stack(sample.stack).collect();
        let stack = builder.stack(&stack);
        builder.add(Sample { thread, stack, time: sample.time.or(Some(position)), ..*sample });
    }
    builder.finish(profile.locations().clone())
}

/// A sample with all its properties.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Naive {
    pub(crate) event: EventId,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) comm: String,
    pub(crate) cgroup: Option<String>,
    pub(crate) value: u64,
    pub(crate) count: u64,
    pub(crate) time: Option<u64>,
    pub(crate) cpu: Option<u32>,
    /// Innermost first.
    pub(crate) stack: Vec<NaiveLocation>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NaiveLocation {
    pub(crate) object: Option<String>,
    pub(crate) address: u64,
    pub(crate) unnamed: String,
    /// Innermost first.
    pub(crate) functions: Vec<NaiveFunction>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NaiveFunction {
    pub(crate) name: String,
    pub(crate) file: Option<String>,
    pub(crate) line: u32,
}

pub(crate) fn samples(profile: &Profile) -> Vec<Naive> {
    let locations = profile.locations();
    let text = |id| locations.string(id).to_owned();
    let location = |id| {
        let location = locations.get(id);
        let object = location.object.map(|object| text(locations.object(object).unwrap().path));
        let frames = locations.frames(id).iter();
        let functions = frames.map(|frame| {
            let function = locations.function(frame.function).unwrap();
            NaiveFunction { name: text(function.name), file: function.file.map(text), line: frame.line }
        });
        let unnamed = unnamed(locations, id);
        NaiveLocation { object, address: location.address, unnamed, functions: functions.collect() }
    };
    let samples = profile.samples().iter().map(|sample| {
        let thread = profile.thread(sample.thread).unwrap();
        Naive {
            event: sample.event,
            pid: thread.pid,
            tid: thread.tid,
            comm: text(thread.name),
            cgroup: thread.cgroup.map(text),
            value: sample.value,
            count: sample.count,
            time: sample.time,
            cpu: sample.cpu,
            stack: profile.stack(sample.stack).map(location).collect(),
        }
    });
    samples.collect()
}

/// Texts with everything that can break a format.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}",
        ".{0,6}",
        Just("a;b c 12".to_owned()),
        Just("\n\r\u{0}\u{1b}]0;\u{2028}\"\\".to_owned()),
        Just("\u{fffd}\u{fffd}".to_owned()),
        Just(String::new()),
        Just("x".repeat(5000)),
    ]
}

/// Any profiles, with and without times.
pub(crate) fn profiles() -> impl Strategy<Value = Profile> {
    let number = || prop_oneof![any::<u64>(), 0u64..100, Just(u64::MAX)];
    let tables = (prop::collection::vec(texts(), 1..6), prop::collection::vec(texts(), 1..4));
    let objects = prop::collection::vec((0usize..6, any::<bool>(), number(), number(), number()), 1..4);
    let addresses = prop::collection::vec(
        (
            prop::option::of(0usize..4),
            number(),
            prop::collection::vec((0usize..6, any::<bool>(), 0u32..5), 0..3),
        ),
        1..6,
    );
    let stacks = prop::collection::vec(prop::collection::vec(0usize..6, 0..6), 1..6);
    let sample = (0usize..2, 0usize..3, 0usize..6, number(), prop::option::of(number()));
    let samples = prop::collection::vec(sample, 0..20);
    let ids = prop::collection::vec((any::<u32>(), any::<u32>()), 3);
    (tables, objects, addresses, stacks, samples, ids, any::<bool>()).prop_map(
        |((names, comms), objects, addresses, stacks, samples, ids, has_times)| {
            let mut locations = Locations::new();
            let name = |index: usize| names[index % names.len()].as_str();
            let objects: Vec<_> = objects
                .into_iter()
                .map(|(path, is_kernel, start, end, offset)| {
                    let mut object = Object::new(locations.intern(name(path)));
                    object.is_kernel = is_kernel;
                    object.range = start..end;
                    object.file_offset = offset;
                    object.build_id = BuildId::new(&offset.to_le_bytes());
                    locations.add_object(object)
                })
                .collect();
            let addresses: Vec<_> = addresses
                .into_iter()
                .map(|(object, address, frames)| {
                    let location = locations.add(object.map(|index| objects[index % objects.len()]), address);
                    let frames: Vec<_> = frames
                        .into_iter()
                        .map(|(index, has_file, line)| {
                            let file = has_file.then(|| locations.intern(name(index + 1)));
                            let name = locations.intern(name(index));
                            Frame {
                                function: locations.add_function(Function { name, file }),
                                line,
                                column: 0,
                            }
                        })
                        .collect();
                    locations.set_frames(location, frames);
                    location
                })
                .collect();
            let mut builder = ProfileBuilder::new();
            if has_times {
                builder = builder.with_times();
            }
            let clock = Attr::software(Software::CPU_CLOCK);
            // Two events can have the same name.
            let events = [Event::new(name(0), &clock), Event::spans(name(1))];
            let events = events.map(|event| builder.event(event));
            let threads: Vec<_> = ids
                .into_iter()
                .enumerate()
                .map(|(index, (pid, tid))| {
                    let name = locations.intern(&comms[index % comms.len()]);
                    // Known for some threads only.
                    let cgroup = (pid % 2 == 1).then(|| locations.intern(&comms[tid as usize % comms.len()]));
                    builder.add_thread(Thread::new(pid, tid, name).with_cgroup(cgroup))
                })
                .collect();
            for (event, thread, stack, value, time) in samples {
                let stack: Vec<_> = stacks[stack % stacks.len()]
                    .iter()
                    .map(|&index| addresses[index % addresses.len()])
                    .collect();
                let stack = builder.stack(&stack);
                let (event, thread) = (events[event], threads[thread]);
                builder.add(Sample { event, thread, stack, value, count: 1, time, cpu: None });
            }
            builder.finish(locations)
        },
    )
}
