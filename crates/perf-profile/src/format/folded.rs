//! Folded stacks: one line of text per stack, for flame graphs.

use std::io::{self, Write};

use perf_decode::breaks_line;
use rustc_hash::FxHashMap;

use super::names::unnamed;
use crate::forest::preorder;
use crate::profile::{EventId, LocationId, Profile, ThreadId, UNKNOWN};

/// Writes an event as folded stacks, one line per stack: `comm;outermost;...;innermost value`.
///
/// This is the format of `stackcollapse-perf.pl` and `inferno-collapse-perf`, which flamegraph.pl,
/// inferno, speedscope and others read. Inlined functions are frames. A function without a name is
/// its file and start, such as `libz.so.1+0x2f30`, or `[file]` or [`UNKNOWN`] if its start is
/// unknown. The lines are sorted.
///
/// In names, a semicolon becomes a colon, and a control character U+FFFD. A blank in the name of a
/// thread becomes an underscore, as in the scripts.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, Folded, Frame, Function, Locations, ProfileBuilder};
///
/// let mut locations = Locations::new();
/// let name = locations.intern("main");
/// let function = locations.add_function(Function { name, file: None });
/// let address = locations.add(None, 0x1234);
/// locations.set_frames(address, [Frame { function, line: 0, column: 0 }]);
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// builder.sample(event, thread, stack, 1_000_000);
/// let profile = builder.finish(locations);
///
/// let mut text = Vec::new();
/// Folded::new(event).write(&profile, &mut text)?;
/// assert_eq!(text, b"sort;main 1000000\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Folded {
    event: EventId,
    has_counts: bool,
    has_thread: bool,
    has_pid: bool,
    has_tid: bool,
    has_cgroup: bool,
    has_cpu: bool,
    has_time: bool,
    has_annotations: bool,
}

impl Folded {
    /// Creates a writer for the values of an event, by thread name.
    pub fn new(event: EventId) -> Self {
        Self {
            event,
            has_counts: false,
            has_thread: true,
            has_pid: false,
            has_tid: false,
            has_cgroup: false,
            has_cpu: false,
            has_time: false,
            has_annotations: false,
        }
    }

    /// Writes numbers of samples instead of sums of their values.
    #[must_use]
    pub fn with_counts(mut self) -> Self {
        self.has_counts = true;
        self
    }

    /// Leaves out the name of the thread, so that threads with the same stack share a line.
    #[must_use]
    pub fn without_thread(mut self) -> Self {
        self.has_thread = false;
        self
    }

    /// Adds the process id to the name of the thread: `comm-pid`.
    #[must_use]
    pub fn with_pid(mut self) -> Self {
        self.has_pid = true;
        self
    }

    /// Adds the process and thread id to the name of the thread: `comm-pid/tid`.
    #[must_use]
    pub fn with_tid(mut self) -> Self {
        self.has_tid = true;
        self
    }

    /// Adds the control group of the thread before its name, [`UNKNOWN`] if it was not recorded:
    /// `/a/b;comm;...`.
    #[must_use]
    pub fn with_cgroup(mut self) -> Self {
        self.has_cgroup = true;
        self
    }

    /// Adds the CPU before the name of the thread, in a profile that [splits](crate::Split) threads
    /// by it: `cpu 1;comm;...`.
    #[must_use]
    pub fn with_cpu(mut self) -> Self {
        self.has_cpu = true;
        self
    }

    /// Adds the slice of time before the name of the thread, in a profile that
    /// [splits](crate::Split) threads by it, in seconds of the events' clock:
    /// `7612.300000;comm;...`.
    #[must_use]
    pub fn with_time(mut self) -> Self {
        self.has_time = true;
        self
    }

    /// Adds `_[k]` to kernel functions and `_[i]` to inlined ones, which some palettes color.
    #[must_use]
    pub fn with_annotations(mut self) -> Self {
        self.has_annotations = true;
        self
    }

    /// Writes the lines.
    ///
    /// # Errors
    ///
    /// Writing to `out` failed.
    pub fn write(&self, profile: &Profile, mut out: impl Write) -> io::Result<()> {
        let mut names = Names::default();
        let mut tree = Tree::default();
        let nodes = self.add_stacks(profile, &mut names, &mut tree);
        // The frame of samples without an address, needed if lines have no thread name.
        let nowhere = (!self.has_root()).then(|| tree.add(None, names.intern(UNKNOWN.to_owned())));
        let order = tree.order(&names);

        // Sums by root, then in tree order, because the lines of a root are sorted by their frames.
        let mut sums: FxHashMap<(u32, Option<u32>), u64> = FxHashMap::default();
        for sample in profile.samples().iter().filter(|sample| sample.event == self.event) {
            let root = names.intern(self.root(profile, sample.thread));
            let node = sample.stack.and_then(|stack| nodes.get(stack.index()).copied().flatten()).or(nowhere);
            let value = if self.has_counts { sample.count } else { sample.value };
            let sum = sums.entry((root, node)).or_default();
            *sum = sum.saturating_add(value);
        }
        let mut lines: Vec<_> = sums.into_iter().collect();
        let rank = |node: Option<u32>| node.and_then(|node| order.get(node as usize).copied());
        let mut roots: Vec<u32> = lines.iter().map(|&((root, _), _)| root).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.sort_unstable_by(|&a, &b| names.get(a).split(';').cmp(names.get(b).split(';')));
        let roots: FxHashMap<u32, usize> = roots.into_iter().zip(0..).collect();
        lines.sort_unstable_by_key(|&((root, node), _)| (roots.get(&root).copied(), rank(node)));

        let mut path = Vec::new();
        for ((root, node), value) in lines {
            path.clear();
            tree.path(node, &mut path);
            if self.has_root() {
                path.push(root);
            }
            for (index, &name) in path.iter().rev().enumerate() {
                if index > 0 {
                    out.write_all(b";")?;
                }
                out.write_all(names.get(name).as_bytes())?;
            }
            writeln!(out, " {value}")?;
        }
        Ok(())
    }

    /// Adds all stacks to the tree, and returns the node of each stack.
    fn add_stacks(&self, profile: &Profile, names: &mut Names, tree: &mut Tree) -> Vec<Option<u32>> {
        let mut by_location: FxHashMap<LocationId, Vec<u32>> = FxHashMap::default();
        let mut nodes: Vec<Option<u32>> = Vec::with_capacity(profile.stacks().len());
        for (location, caller) in profile.stacks() {
            let frames = by_location.entry(location).or_insert_with(|| self.frames(profile, location, names));
            let caller = caller.and_then(|caller| nodes.get(caller.index()).copied().flatten());
            // The innermost frame comes first.
            nodes.push(frames.iter().rev().fold(caller, |caller, &frame| Some(tree.add(caller, frame))));
        }
        nodes
    }

    /// Returns the names of a location's functions, innermost first.
    fn frames(&self, profile: &Profile, location: LocationId, names: &mut Names) -> Vec<u32> {
        let locations = profile.locations();
        let frames = locations.frames(location);
        let is_kernel = locations.get(location).is_kernel;
        let annotate = |name: &str, is_inlined: bool| match (is_kernel, is_inlined) {
            _ if !self.has_annotations => clean(name),
            (_, true) => clean(name) + "_[i]",
            (true, false) => clean(name) + "_[k]",
            (false, false) => clean(name),
        };
        if frames.is_empty() {
            return vec![names.intern(annotate(&unnamed(locations, location), false))];
        }
        let outermost = frames.len() - 1;
        let frames = frames.iter().enumerate();
        frames
            .map(|(index, frame)| {
                names.intern(annotate(locations.function_name(frame.function), index != outermost))
            })
            .collect()
    }

    /// Returns the outermost frames, which come from the thread.
    fn root(&self, profile: &Profile, id: ThreadId) -> String {
        let cgroup = self.has_cgroup.then(|| clean(profile.cgroup(id).unwrap_or(UNKNOWN)));
        let name = profile.thread(id).filter(|_| self.has_thread).map(|thread| {
            let name = clean(profile.locations().string(thread.name)).replace(' ', "_");
            match (self.has_pid, self.has_tid) {
                (_, true) => format!("{name}-{}/{}", thread.pid, thread.tid),
                (true, false) => format!("{name}-{}", thread.pid),
                (false, false) => name,
            }
        });
        let thread = profile.thread(id);
        let unknown = || UNKNOWN.to_owned();
        let cpu = self.has_cpu.then(|| thread.and_then(|thread| thread.cpu));
        let cpu = cpu.map(|cpu| cpu.map_or_else(unknown, |cpu| format!("cpu {cpu}")));
        let time = self.has_time.then(|| thread.and_then(|thread| thread.time));
        let seconds = |time: u64| format!("{}.{:06}", time / 1_000_000_000, time / 1000 % 1_000_000);
        let time = time.map(|time| time.map_or_else(unknown, seconds));
        [cgroup, time, cpu, name].into_iter().flatten().collect::<Vec<_>>().join(";")
    }

    /// Returns whether lines begin with a frame that is not of the stack.
    fn has_root(&self) -> bool {
        self.has_thread || self.has_cgroup || self.has_cpu || self.has_time
    }
}

/// Replaces characters that end a frame or a line.
fn clean(name: &str) -> String {
    let replace = |character: char| match character {
        ';' => ':',
        // Some readers take U+2028 and U+2029 as line ends.
        _ if breaks_line(character) => '\u{fffd}',
        _ => character,
    };
    if name.is_empty() { UNKNOWN.to_owned() } else { name.chars().map(replace).collect() }
}

/// Distinct names of frames: functions with the same name are the same frame.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    ids: FxHashMap<String, u32>,
}

impl Names {
    fn intern(&mut self, name: String) -> u32 {
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    fn get(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or(UNKNOWN, |name| name)
    }
}

/// Stacks as a tree of names. Callers have smaller indices.
#[derive(Default)]
struct Tree {
    /// The caller and the name of each node.
    nodes: Vec<(Option<u32>, u32)>,
    ids: FxHashMap<(Option<u32>, u32), u32>,
}

impl Tree {
    fn add(&mut self, caller: Option<u32>, name: u32) -> u32 {
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry((caller, name)).or_insert(next);
        if id == next {
            self.nodes.push((caller, name));
        }
        id
    }

    /// Returns the names from a node to the outermost one.
    fn path(&self, node: Option<u32>, path: &mut Vec<u32>) {
        let mut next = node;
        while let Some(&(caller, name)) = next.and_then(|node| self.nodes.get(node as usize)) {
            path.push(name);
            next = caller;
        }
    }

    /// Returns the rank of each node in an order where callers precede their callees, and callees
    /// are sorted by name.
    fn order(&self, names: &Names) -> Vec<usize> {
        let name = |node: u32| self.nodes.get(node as usize).map(|&(_, name)| names.get(name));
        let callers: Vec<_> = self.nodes.iter().map(|&(caller, _)| caller).collect();
        let mut order = vec![0; self.nodes.len()];
        for (place, node) in preorder(&callers, |a, b| name(a).cmp(&name(b))).into_iter().enumerate() {
            if let Some(order) = order.get_mut(node as usize) {
                *order = place;
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::format::testing::{self, profiles, snapshot};

    fn text(folded: &Folded, profile: &Profile) -> String {
        let mut text = Vec::new();
        folded.write(profile, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn folded_stacks_are_those_of_the_snapshots() {
        let profile = testing::example(true);
        let events: Vec<_> = profile.event_ids().map(|(id, _)| id).collect();
        snapshot("folded.txt", &text(&Folded::new(events[0]), &profile));
        let counts = Folded::new(events[1]).with_counts().with_tid().with_annotations();
        snapshot("folded_counts.txt", &text(&counts, &profile));
        snapshot("folded_without_thread.txt", &text(&Folded::new(events[0]).without_thread(), &profile));
        let pid = text(&Folded::new(events[0]).with_pid(), &profile);
        assert!(pid.lines().any(|line| line.starts_with("sort_it-10;main;")), "{pid}");
        let faults = text(&Folded::new(events[1]).with_cgroup(), &profile);
        assert_eq!(
            faults,
            "/a:b/c d;w\u{fffd}:\u{fffd};main 3\n/a:b/c d;w\u{fffd}:\u{fffd};main;do_syscall_64 1\n"
        );
        let groups = text(&Folded::new(events[0]).with_cgroup().without_thread(), &profile);
        assert!(groups.contains("/a:b/c d 250000\n") && groups.contains("[unknown];main;"), "{groups}");
    }

    #[test]
    fn samples_and_their_sums_have_the_same_lines() {
        let event = testing::example(true).event_ids().next().unwrap().0;
        let folded = Folded::new(event);
        assert_eq!(text(&folded, &testing::example(true)), text(&folded, &testing::example(false)));
    }

    proptest! {
        #[test]
        fn lines_are_sorted_and_the_sums_of_a_naive_model(profile in profiles(), has_thread: bool, has_cgroup: bool) {
            for (event, _) in profile.event_ids() {
                let folded = Folded { has_thread, has_cgroup, ..Folded::new(event) };
                let text = text(&folded, &profile);
                let mut found = BTreeMap::new();
                for line in text.lines() {
                    let (stack, value) = line.rsplit_once(' ').unwrap();
                    let before = found.insert(stack.to_owned(), value.parse::<u64>().unwrap());
                    prop_assert_eq!(before, None, "twice: {}", stack);
                }
                let frames: Vec<Vec<&str>> = text.lines().map(|line| line.rsplit_once(' ').unwrap().0.split(';').collect()).collect();
                prop_assert!(frames.is_sorted());
                let mut expected = BTreeMap::<String, u64>::new();
                for sample in testing::samples(&profile).into_iter().filter(|sample| sample.event == event) {
                    let mut stack = Vec::new();
                    if has_cgroup {
                        stack.push(clean(sample.cgroup.as_deref().unwrap_or(UNKNOWN)));
                    }
                    if has_thread {
                        stack.push(clean(&sample.comm).replace(' ', "_"));
                    }
                    for location in sample.stack.iter().rev() {
                        stack.extend(location.functions.iter().rev().map(|function| clean(&function.name)));
                        if location.functions.is_empty() {
                            stack.push(clean(&location.unnamed));
                        }
                    }
                    if stack.is_empty() {
                        stack.push(UNKNOWN.to_owned());
                    }
                    let sum = expected.entry(stack.join(";")).or_default();
                    *sum = sum.saturating_add(sample.value);
                }
                prop_assert_eq!(found, expected);
            }
        }
    }
}
