//! A map of disjoint address ranges. A new range replaces what it overlaps, as mmap(2) with
//! `MAP_FIXED` does.

#[cfg(feature = "names")]
use std::iter;
use std::slice;
use std::sync::Arc;

/// A value for a range of addresses that can be truncated at both ends.
pub(crate) trait Ranged: Clone {
    fn start(&self) -> u64;
    /// Returns the end of the range, exclusive.
    fn end(&self) -> u64;
    /// Moves the start up to `start`, which is inside the range.
    fn cut_before(&mut self, start: u64);
    /// Moves the end down to `end`, which is inside the range.
    fn cut_after(&mut self, end: u64);
}

/// Disjoint ranges, ordered by their start.
///
/// A B-tree with shared nodes. Each fork(2) copies the mappings of a process, so that a clone must
/// be cheap: it copies a pointer. A later change copies the nodes on the path from the root to one
/// leaf; the clones share the rest.
#[derive(Clone, Debug)]
pub(crate) struct RangeMap<T> {
    root: Arc<Node<T>>,
    len: usize,
}

/// Maximum number of values in a leaf, or of children of an inner node. Small, because the first
/// change after a clone copies full nodes; large enough that a thousand mappings need four levels
/// only.
const WIDTH: usize = 8;

#[derive(Clone, Debug)]
enum Node<T> {
    /// Ordered by start. Only the root can be empty.
    Leaf(Vec<T>),
    /// Ordered by start. All leaves have the same depth.
    Inner(Vec<Child<T>>),
}

#[derive(Debug)]
struct Child<T> {
    /// Start of the first value in `node`. Lookups depend on it, so that each change must update
    /// it.
    start: u64,
    node: Arc<Node<T>>,
}

impl<T> Clone for Child<T> {
    fn clone(&self) -> Self {
        Self { start: self.start, node: self.node.clone() }
    }
}

impl<T> Default for Node<T> {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl<T> Default for RangeMap<T> {
    fn default() -> Self {
        Self { root: Arc::default(), len: 0 }
    }
}

impl<T: Ranged> RangeMap<T> {
    pub(crate) fn get(&self, addr: u64) -> Option<&T> {
        self.root.last_up_to(addr).filter(|value| addr < value.end())
    }

    /// Returns the ranges that overlap `start..end`.
    #[cfg(feature = "names")]
    pub(crate) fn overlapping(&self, start: u64, end: u64) -> impl Iterator<Item = &T> {
        let before = start.checked_sub(1).and_then(|before| self.root.last_up_to(before));
        let before = before.filter(|value| value.end() > start && start < end);
        let mut from = start;
        let next = move || {
            let value = self.root.first_from(from).filter(|value| value.start() < end)?;
            from = value.start() + 1;
            Some(value)
        };
        before.into_iter().chain(iter::from_fn(next))
    }

    /// Inserts a range and removes its addresses from existing ranges. An empty range is ignored.
    pub(crate) fn insert(&mut self, value: T) {
        let (start, end) = (value.start(), value.end());
        if start >= end {
            return;
        }
        self.clear(start, end);
        self.put(value);
    }

    /// Removes the addresses `start..end`. A range with addresses on both sides is split.
    pub(crate) fn clear(&mut self, start: u64, end: u64) {
        // At most one range begins before `start` and reaches beyond it, because ranges are
        // disjoint.
        let before = start.checked_sub(1).and_then(|before| self.root.last_up_to(before));
        if let Some(mut before) = before.filter(|before| before.end() > start).cloned() {
            let mut rest = before.clone();
            before.cut_after(start);
            self.put(before);
            if rest.end() > end {
                rest.cut_before(end);
                self.put(rest);
            }
        }
        while let Some(mut covered) = self.root.first_from(start).filter(|next| next.start() < end).cloned() {
            self.remove(covered.start());
            if covered.end() > end {
                covered.cut_before(end);
                self.put(covered);
            }
        }
    }

    /// Removes the range that begins at `start`.
    pub(crate) fn remove(&mut self, start: u64) {
        if !self.has_start(start) {
            return;
        }
        self.len -= 1;
        Arc::make_mut(&mut self.root).remove(start);
        // Drop roots with a single child, so that the height shrinks with the number of values.
        while let Node::Inner(children) = &*self.root {
            self.root = match &children[..] {
                [] => Arc::default(),
                [only] => only.node.clone(),
                _ => break,
            };
        }
    }

    /// Inserts a value, or replaces the value with the same start.
    fn put(&mut self, value: T) {
        self.len += usize::from(!self.has_start(value.start()));
        if let Some(second) = Arc::make_mut(&mut self.root).put(value) {
            let first = Child::new(self.root.clone());
            self.root = Arc::new(Node::Inner([first, Child::new(second)].into_iter().flatten().collect()));
        }
    }

    #[cfg(feature = "unwind")]
    pub(crate) fn last(&self) -> Option<&T> {
        self.root.last_up_to(u64::MAX)
    }

    fn has_start(&self, start: u64) -> bool {
        self.root.last_up_to(start).is_some_and(|value| value.start() == start)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mut iter = Iter { levels: Vec::new(), leaf: [].iter() };
        iter.descend(&self.root);
        iter
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl<T: Ranged> Child<T> {
    /// Returns `None` for an empty node.
    fn new(node: Arc<Node<T>>) -> Option<Self> {
        Some(Self { start: node.start()?, node })
    }
}

impl<T: Ranged> Node<T> {
    /// Returns the start of the first value.
    fn start(&self) -> Option<u64> {
        match self {
            Self::Leaf(values) => values.first().map(Ranged::start),
            Self::Inner(children) => children.first().map(|child| child.start),
        }
    }

    /// Returns the last value that starts at or before `addr`.
    fn last_up_to(&self, addr: u64) -> Option<&T> {
        let mut node = self;
        loop {
            match node {
                Self::Leaf(values) => {
                    let index = values.partition_point(|value| value.start() <= addr);
                    return values.get(index.checked_sub(1)?);
                }
                Self::Inner(children) => node = &children.get(child_at(children, addr)?)?.node,
            }
        }
    }

    /// Returns the first value that starts at or after `addr`.
    fn first_from(&self, addr: u64) -> Option<&T> {
        match self {
            Self::Leaf(values) => values.get(values.partition_point(|value| value.start() < addr)),
            Self::Inner(children) => {
                let index = child_at(children, addr).unwrap_or(0);
                // If all values of this child start before `addr`, the next child has it.
                children.get(index..)?.iter().take(2).find_map(|child| child.node.first_from(addr))
            }
        }
    }

    /// Inserts a value, or replaces the value with the same start. Splits an overfull node and
    /// returns its second half.
    fn put(&mut self, value: T) -> Option<Arc<Self>> {
        match self {
            Self::Leaf(values) => {
                let index = values.partition_point(|other| other.start() < value.start());
                match values.get_mut(index).filter(|other| other.start() == value.start()) {
                    Some(old) => *old = value,
                    None => values.insert(index, value),
                }
                (values.len() > WIDTH).then(|| Arc::new(Self::Leaf(values.split_off(WIDTH / 2))))
            }
            Self::Inner(children) => {
                let index = child_at(children, value.start()).unwrap_or(0);
                let child = children.get_mut(index)?;
                child.start = child.start.min(value.start());
                if let Some(second) = Arc::make_mut(&mut child.node).put(value).and_then(Child::new) {
                    children.insert(index + 1, second);
                }
                (children.len() > WIDTH).then(|| Arc::new(Self::Inner(children.split_off(WIDTH / 2))))
            }
        }
    }

    /// Removes the value that starts at `start`, and nodes that this leaves empty.
    fn remove(&mut self, start: u64) {
        match self {
            Self::Leaf(values) => values.retain(|value| value.start() != start),
            Self::Inner(children) => {
                let Some(index) = child_at(children, start) else { return };
                let Some(child) = children.get_mut(index) else { return };
                let node = Arc::make_mut(&mut child.node);
                node.remove(start);
                match node.start() {
                    Some(first) => child.start = first,
                    None => drop(children.remove(index)),
                }
            }
        }
    }
}

/// Returns the index of the last child that starts at or before `addr`.
fn child_at<T>(children: &[Child<T>], addr: u64) -> Option<usize> {
    children.partition_point(|child| child.start <= addr).checked_sub(1)
}

/// Iterates over the values in order of their starts.
struct Iter<'a, T> {
    /// The remaining children on each level above the leaf.
    levels: Vec<slice::Iter<'a, Child<T>>>,
    leaf: slice::Iter<'a, T>,
}

impl<'a, T> Iter<'a, T> {
    /// Moves to the first leaf of a node.
    fn descend(&mut self, mut node: &'a Node<T>) {
        loop {
            match node {
                Node::Leaf(values) => {
                    self.leaf = values.iter();
                    return;
                }
                Node::Inner(children) => {
                    let mut children = children.iter();
                    let Some(first) = children.next() else { return };
                    self.levels.push(children);
                    node = &first.node;
                }
            }
        }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(value) = self.leaf.next() {
                return Some(value);
            }
            match self.levels.last_mut()?.next() {
                Some(child) => self.descend(&child.node),
                None => drop(self.levels.pop()),
            }
        }
    }
}

#[cfg(test)]
impl<T: Ranged> RangeMap<T> {
    /// Adds the addresses of all nodes. Clones share nodes.
    pub(crate) fn add_nodes(&self, nodes: &mut std::collections::HashSet<usize>) {
        fn add<T>(node: &Arc<Node<T>>, nodes: &mut std::collections::HashSet<usize>) {
            if !nodes.insert(Arc::as_ptr(node) as usize) {
                return;
            }
            let Node::Inner(children) = &**node else { return };
            for child in children {
                add(&child.node, nodes);
            }
        }
        add(&self.root, nodes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Range(u64, u64, u16);

    impl Ranged for Range {
        fn start(&self) -> u64 {
            self.0
        }
        fn end(&self) -> u64 {
            self.1
        }
        fn cut_before(&mut self, start: u64) {
            self.0 = start;
        }
        fn cut_after(&mut self, end: u64) {
            self.1 = end;
        }
    }

    /// The name at each address.
    type Naive = [Option<u16>; 512];

    /// Applies the same changes to a map and to a naive model.
    fn change(map: &mut RangeMap<Range>, naive: &mut Naive, changes: &[(u64, u64, u16, bool)]) {
        for &(start, len, name, is_insert) in changes {
            let end = start + len;
            if is_insert {
                map.insert(Range(start, end, name));
            } else {
                map.clear(start, end);
            }
            naive[start as usize..end as usize].fill(is_insert.then_some(name));
        }
    }

    fn changes() -> impl Strategy<Value = Vec<(u64, u64, u16, bool)>> {
        let len = prop_oneof![8 => 0_u64..4, 1 => 0_u64..100];
        prop::collection::vec((0_u64..400, len, any::<u16>(), prop::bool::weighted(0.8)), 0..200)
    }

    fn check(map: &RangeMap<Range>, naive: &Naive) -> Result<(), TestCaseError> {
        for (addr, name) in (0..).zip(naive) {
            prop_assert_eq!(map.get(addr).map(|range| range.2), *name, "address {}", addr);
        }
        let mut last = 0;
        for range in map.iter() {
            prop_assert!(last <= range.0 && range.0 < range.1, "{:?}", range);
            last = range.1;
        }
        prop_assert_eq!(map.len(), map.iter().count());
        Ok(())
    }

    proptest! {
        #[test]
        fn each_address_has_the_newest_range(first in changes(), second in changes(), third in changes()) {
            let (mut map, mut naive) = (RangeMap::default(), [None; 512]);
            change(&mut map, &mut naive, &first);
            check(&map, &naive)?;
            // A clone and its original change independently.
            let (mut copy, mut naive_copy) = (map.clone(), naive);
            change(&mut map, &mut naive, &second);
            change(&mut copy, &mut naive_copy, &third);
            check(&map, &naive)?;
            check(&copy, &naive_copy)?;
        }
    }

    #[test]
    fn nodes_are_few_after_many_changes() {
        let mut map = RangeMap::default();
        let nodes = |map: &RangeMap<Range>| {
            let mut nodes = std::collections::HashSet::new();
            map.add_nodes(&mut nodes);
            nodes.len()
        };
        for start in 0..1000 {
            map.insert(Range(start, start + 1, 0));
        }
        assert!(nodes(&map) < 1000 / 2, "{} nodes", nodes(&map));
        map.insert(Range(0, 999, 1));
        assert_eq!((map.len(), nodes(&map)), (2, 1));
        map.clear(0, 1000);
        assert_eq!((map.len(), nodes(&map), map.iter().count()), (0, 1, 0));
    }
}
