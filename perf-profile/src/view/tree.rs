//! Call trees: the values of each function by its callers, or by its callees.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::entry::{Column, Entries, Entry, HeadId, PartId, Places};
use super::table::{Cost, Sums, Value};
use crate::forest::preorder;
use crate::profile::{EventId, LocationId, Locations, Profile, StackId};

/// Which end of the stacks has the roots of a [`CallTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// From the outermost function to its callees: the order `caller` of the perf tool.
    FromOutermost,
    /// From the functions in which the samples are to their callers: the order `callee` of the perf tool.
    FromInnermost,
}

/// A node of a [`CallTree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node<'p> {
    /// The subject of the node.
    pub entry: Entry<'p>,
    /// The values of the samples whose stacks have the path from the root to this node. From the innermost function on, only
    /// roots have a self value.
    pub cost: Cost,
    /// The number of nodes between a root and this one: 0 for a root.
    pub depth: usize,
}

/// The stacks of an event as a tree, each node after its parent and the nodes of a parent by their values.
///
/// With columns of threads, the threads are the roots from the outermost function on, and a part of the roots from
/// the innermost one on.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{CallTree, Column, Direction, Event, Frame, Function, Locations, ProfileBuilder};
///
/// let mut locations = Locations::new();
/// let [main, sort] = ["main", "sort"].map(|name| {
///     let name = locations.intern(name);
///     let function = locations.add_function(Function { name, file: None });
///     let location = locations.add(None, 0x1000);
///     locations.set_frames(location, [Frame { function, line: 0, column: 0 }]);
///     location
/// });
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("a"));
/// let stack = builder.stack(&[sort, main]);
/// builder.sample(event, thread, stack, 1_000_000);
/// let profile = builder.finish(locations);
///
/// let tree = CallTree::new(&profile, event, &[Column::Function], Direction::FromOutermost);
/// let functions: Vec<_> = tree.nodes().iter().map(|node| (node.depth, node.entry.function.unwrap())).collect();
/// assert_eq!(functions, [(0, "main"), (1, "sort")]);
/// ```
#[derive(Clone, Debug)]
pub struct CallTree<'p> {
    nodes: Vec<Node<'p>>,
}

/// The property that distinguishes the nodes of a parent.
type Key = (Option<HeadId>, Option<PartId>);

#[derive(Default)]
struct Builder {
    parents: Vec<Option<u32>>,
    keys: Vec<Key>,
    costs: Vec<Cost>,
    ids: FxHashMap<(Option<u32>, Key), u32>,
}

impl Builder {
    fn add(&mut self, parent: Option<u32>, key: Key) -> u32 {
        let next = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry((parent, key)).or_insert(next);
        if id == next {
            self.parents.push(parent);
            self.keys.push(key);
            self.costs.push(Cost::default());
        }
        id
    }

    /// Adds a path below a node, and returns its end.
    fn add_parts<'a>(&mut self, node: Option<u32>, parts: impl Iterator<Item = &'a PartId>) -> Option<u32> {
        parts.fold(node, |parent, &part| Some(self.add(parent, (None, Some(part)))))
    }

    /// Adds a value to the end of a path.
    fn add_value(&mut self, node: Option<u32>, value: Value, is_self: bool) {
        if let Some(cost) = node.and_then(|node| self.costs.get_mut(node as usize)) {
            cost.add(value, is_self);
        }
    }

    /// Adds the values of all paths to the nodes on them.
    fn add_up(&mut self) {
        // Parents come earlier, so that each node is complete before its turn.
        for (index, &parent) in self.parents.iter().enumerate().rev() {
            let Some(&Cost { total_value, total_count, .. }) = self.costs.get(index) else { continue };
            if let Some(cost) = parent.and_then(|parent| self.costs.get_mut(parent as usize)) {
                cost.add(Value { value: total_value, count: total_count }, false);
            }
        }
    }

    fn nodes<'p>(&self, entries: &Entries, locations: &'p Locations) -> Vec<Node<'p>> {
        let key = |&(head, part): &Key| entries.entry(locations, head, part);
        let sorted: Vec<_> = self
            .keys
            .iter()
            .zip(&self.costs)
            .map(|(node, cost)| (Reverse((cost.total_value, cost.total_count)), key(node)))
            .collect();
        let order = preorder(&self.parents, |a, b| sorted.get(a as usize).cmp(&sorted.get(b as usize)));
        let mut depths = vec![0usize; self.keys.len()];
        let nodes = order.into_iter().filter_map(|node| {
            let index = node as usize;
            let parent = self.parents.get(index).copied().flatten();
            let depth = parent.and_then(|parent| depths.get(parent as usize)).map_or(0, |depth| depth + 1);
            *depths.get_mut(index)? = depth;
            Some(Node { entry: key(self.keys.get(index)?), cost: *self.costs.get(index)?, depth })
        });
        nodes.collect()
    }
}

/// The nodes of stacks, one head after the other: the path of callers that several stacks have is added once.
#[derive(Default)]
struct Paths {
    /// By stack, the last head and the node of the innermost function.
    nodes: Vec<Option<(HeadId, u32)>>,
    /// The callers of a stack that are new for its head.
    new: Vec<(StackId, LocationId)>,
}

impl Paths {
    /// Adds the functions of a stack from the outermost on, and returns the node of the innermost one.
    fn innermost(
        &mut self,
        tree: &mut Builder,
        profile: &Profile,
        entries: &Entries,
        head: HeadId,
        stack: Option<StackId>,
    ) -> Option<u32> {
        self.nodes.resize(profile.stacks().len(), None);
        let (mut known, mut next) = (None, stack);
        while let Some(id) = next.filter(|_| known.is_none()) {
            known = self.nodes.get(id.index()).copied().flatten().filter(|&(last, _)| last == head);
            let (location, caller) = profile.innermost(id)?;
            if known.is_none() {
                self.new.push((id, location));
            }
            next = caller;
        }
        let places = entries.places();
        let root = || entries.has_heads().then(|| tree.add(None, (Some(head), None)));
        let mut node = known.map_or_else(root, |(_, node)| Some(node));
        for (id, location) in self.new.drain(..).rev() {
            node = tree.add_parts(node, places.parts(places.of(location)).iter().rev());
            if let Some(known) = self.nodes.get_mut(id.index()) {
                *known = node.map(|node| (head, node));
            }
        }
        if stack.is_none() {
            node = tree.add_parts(node, places.parts(Places::nowhere()).iter());
        }
        node
    }
}

impl<'p> CallTree<'p> {
    /// Makes the tree of an event, whose nodes are distinguished by these columns.
    ///
    /// The time and memory grow with the frames of the different stacks of each thread name, process and thread, as far as they
    /// are columns.
    pub fn new(profile: &'p Profile, event: EventId, columns: &[Column], direction: Direction) -> Self {
        let entries = Entries::of(profile, columns);
        let places = entries.places();
        let sums = Sums::new(profile, places);
        let mut tree = Builder::default();
        let mut paths = Paths::default();
        let mut path: Vec<PartId> = Vec::new();
        for (head, stack, values) in sums.iter() {
            let Some(&value) = values.get(event.index()).filter(|value| value.count > 0) else { continue };
            match direction {
                Direction::FromOutermost => {
                    let innermost = paths.innermost(&mut tree, profile, &entries, head, stack);
                    tree.add_value(innermost, value, true);
                }
                Direction::FromInnermost => {
                    path.clear();
                    for location in profile.stack(stack) {
                        path.extend(places.parts(places.of(location)));
                    }
                    if path.is_empty() {
                        path.extend(places.parts(Places::nowhere()));
                    }
                    let Some((&innermost, callers)) = path.split_first() else { continue };
                    let head = entries.has_heads().then_some(head);
                    let root = tree.add(None, (head, Some(innermost)));
                    let outermost = tree.add_parts(Some(root), callers.iter());
                    tree.add_value(outermost, value, false);
                    if let Some(cost) = tree.costs.get_mut(root as usize) {
                        cost.add_self(value);
                    }
                }
            }
        }
        tree.add_up();
        Self { nodes: tree.nodes(&entries, profile.locations()) }
    }

    /// Returns all nodes: each before those below it, the largest total of each parent first.
    pub fn nodes(&self) -> &[Node<'p>] {
        &self.nodes
    }

    /// Returns the nodes with at least this total, whose parents have it, too.
    pub fn above(&self, least: u64) -> impl Iterator<Item = &Node<'p>> {
        self.nodes.iter().filter(move |node| node.cost.total_value >= least)
    }
}

#[cfg(test)]
mod tests;
