//! Call trees: the values of each function by its callers or callees.

mod callees;
mod callers;

use std::cmp::{Ordering, Reverse};

use super::entry::{Column, Entries, Entry, HeadId, PartId};
use super::table::{Cost, Value, sums};
use crate::profile::{EventId, Locations, Profile};
use callees::Callees;
use callers::Callers;

/// Which end of the stacks forms the roots of a [`CallTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// From the outermost function to its callees: the perf tool's order `caller`.
    FromOutermost,
    /// From the sampled functions to their callers: the perf tool's order `callee`.
    FromInnermost,
}

/// A node of a [`CallTree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node<'p> {
    /// The subject of the node.
    pub entry: Entry<'p>,
    /// The values of the samples whose stacks contain the path from the root to this node. From the
    /// innermost function, only roots have a self value.
    pub cost: Cost,
    /// Number of ancestors; 0 for a root.
    pub depth: usize,
}

/// The stacks of an event as a tree. Each node follows its parent, and siblings are ordered by
/// their values.
///
/// With columns of threads, the threads are the roots if the tree starts at the outermost function,
/// and a part of the roots otherwise.
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
/// let functions: Vec<_> = tree.nodes.iter().map(|node| (node.depth, node.entry.function.unwrap())).collect();
/// assert_eq!(functions, [(0, "main"), (1, "sort")]);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallTree<'p> {
    /// The nodes: each before its children, siblings with the largest total first.
    pub nodes: Vec<Node<'p>>,
    /// The number of nodes that were [left out](Self::filtered).
    pub left_out: u64,
}

/// A property that distinguishes siblings.
type Key = (Option<HeadId>, Option<PartId>);

/// The paths of a tree. An item is one or more samples at one node. The items of a parent divide
/// into the items of its children.
trait Paths {
    type Item: Copy;

    /// Returns the items of all roots.
    fn roots(&self) -> Vec<Self::Item>;

    /// Returns the root of an item of [`roots`](Self::roots).
    fn root(&self, item: Self::Item) -> Key;

    /// Returns the node of any other item, among its siblings.
    fn part(&self, item: Self::Item) -> PartId;

    /// Returns the value of the samples in an item.
    fn value(&self, item: Self::Item) -> Value;

    /// Adds the items that an item divides into below its node; none for samples that end there.
    fn divide(&self, item: Self::Item, below: &mut Vec<Self::Item>);

    /// Returns the self value of a node: its total minus the values of nodes below it.
    fn own(&self, is_root: bool, total: Value, below: Value) -> Value;
}

/// A pending node.
#[derive(Clone, Copy)]
struct Branch {
    key: Key,
    total: Value,
    depth: usize,
    is_kept: bool,
    /// Start and number of its items among the items of all siblings.
    start: usize,
    len: usize,
}

/// Creates the nodes in their final order. Only the items of pending nodes are kept, so that nodes
/// that are left out need no memory.
struct Growth<'a, 'p> {
    entries: &'a Entries,
    locations: &'p Locations,
    is_kept: &'a dyn Fn(u64) -> bool,
    tree: CallTree<'p>,
}

impl<'p> Growth<'_, 'p> {
    fn grow<P: Paths>(mut self, paths: &P) -> CallTree<'p> {
        let mut items = paths.roots();
        let mut branches = Vec::new();
        self.branch(paths, &mut items, |item| paths.root(item), None, &mut branches);
        // The last branch is processed next, and its items are the last of `waiting`.
        let mut waiting: Vec<P::Item> = Vec::new();
        let mut pending: Vec<Branch> = Vec::new();
        loop {
            for branch in branches.drain(..) {
                waiting.extend(items.get(branch.start..branch.start + branch.len).unwrap_or_default());
                pending.push(branch);
            }
            let Some(branch) = pending.pop() else { return self.tree };
            items.clear();
            for item in waiting.drain(waiting.len().saturating_sub(branch.len)..) {
                paths.divide(item, &mut items);
            }
            let key = |item| (None, Some(paths.part(item)));
            let below = self.branch(paths, &mut items, key, Some(branch), &mut branches);
            if branch.is_kept {
                let own = paths.own(branch.depth == 0, branch.total, below);
                self.tree.nodes.push(Node {
                    entry: self.entry(branch),
                    cost: Cost {
                        self_value: own.value,
                        self_count: own.count,
                        total_value: branch.total.value,
                        total_count: branch.total.count,
                    },
                    depth: branch.depth,
                });
            } else {
                self.tree.left_out += 1;
            }
        }
    }

    /// Sorts items by their nodes, and adds these nodes in reverse order. Returns the sum of their
    /// values.
    fn branch<P: Paths>(
        &self,
        paths: &P,
        items: &mut [P::Item],
        key: impl Fn(P::Item) -> Key,
        parent: Option<Branch>,
        branches: &mut Vec<Branch>,
    ) -> Value {
        items.sort_unstable_by_key(|&item| key(item));
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let is_parent_kept = parent.is_none_or(|parent| parent.is_kept);
        let (mut start, mut sum) = (0, Value::default());
        for items in items.chunk_by(|&a, &b| key(a) == key(b)) {
            let &[first, ..] = items else { continue };
            let mut total = Value::default();
            for &item in items {
                total.add(paths.value(item));
            }
            let is_kept = is_parent_kept && (self.is_kept)(total.value);
            branches.push(Branch { key: key(first), total, depth, is_kept, start, len: items.len() });
            sum.add(total);
            start += items.len();
        }
        branches.sort_unstable_by(|a, b| self.compare(a, b));
        sum
    }

    /// Compares siblings. The order of nodes that are left out does not matter.
    fn compare(&self, a: &Branch, b: &Branch) -> Ordering {
        let order = |branch: &Branch| (branch.is_kept, branch.total.value, branch.total.count);
        match order(a).cmp(&order(b)) {
            Ordering::Equal if a.is_kept => Reverse(self.entry(*a)).cmp(&Reverse(self.entry(*b))),
            order => order,
        }
    }

    fn entry(&self, Branch { key: (head, part), .. }: Branch) -> Entry<'p> {
        self.entries.entry(self.locations, head, part)
    }
}

impl<'p> CallTree<'p> {
    /// Builds the tree of an event, whose nodes are distinguished by these columns.
    ///
    /// Time and memory grow with the frames of the different stacks of each thread name, process
    /// and thread, as far as they are columns.
    /// are columns.
    pub fn new(profile: &'p Profile, event: EventId, columns: &[Column], direction: Direction) -> Self {
        Self::filtered(profile, event, columns, direction, |_| true)
    }

    /// Builds the tree like [`new`](Self::new), but leaves out nodes for whose total `is_kept`
    /// returns false, and all nodes below them. If stacks differ, most nodes have few samples, and
    /// memory does not grow with them.
    ///
    /// ```
    /// use perf_profile::{CallTree, Column, Direction, EventId, Profile};
    ///
    /// /// Builds the tree of the functions that have a hundredth of an event's samples.
    /// fn largest(profile: &Profile, event: EventId) -> CallTree<'_> {
    ///     let least = profile.total(event) / 100;
    ///     CallTree::filtered(profile, event, &[Column::Function], Direction::FromOutermost, |total| total >= least)
    /// }
    /// ```
    pub fn filtered(
        profile: &'p Profile,
        event: EventId,
        columns: &[Column],
        direction: Direction,
        is_kept: impl Fn(u64) -> bool,
    ) -> Self {
        let entries = Entries::of(profile, columns);
        let sums = sums(profile, entries.places(), event);
        let tree = Self { nodes: Vec::new(), left_out: 0 };
        let growth = Growth { entries: &entries, locations: profile.locations(), is_kept: &is_kept, tree };
        match direction {
            Direction::FromOutermost => growth.grow(&Callees::new(profile, &entries, sums)),
            Direction::FromInnermost => growth.grow(&Callers::new(profile, &entries, sums)),
        }
    }

    /// Returns the hottest path: the root with the largest total, and after each node its child
    /// with the largest total, while that is at least a quarter of the node's own total.
    ///
    /// Siblings with the largest total come first, so that the path is the start of the nodes.
    pub fn hottest_path(&self) -> &[Node<'p>] {
        let mut parent = u64::MAX;
        let is_next = |&(depth, node): &(usize, &Node<'_>)| {
            let total = node.cost.total_value;
            let is_next = node.depth == depth && (depth == 0 || total >= parent / 4);
            parent = total;
            is_next
        };
        let len = self.nodes.iter().enumerate().take_while(is_next).count();
        self.nodes.get(..len).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
