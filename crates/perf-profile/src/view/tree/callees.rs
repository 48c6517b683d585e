//! Trees from the outermost function to its callees.

use super::{Key, Paths};
use crate::profile::{LocationId, Profile, StackId};
use crate::view::entry::{Entries, HeadId, PartId, Places, Range};
use crate::view::table::{Sum, Value};

/// The stacks of each head as a tree, in which several callees of a stack may have the same
/// function.
pub(super) struct Callees<'a> {
    places: &'a Places,
    has_heads: bool,
    heads: usize,
    /// A node for each head, then the nodes of stacks, each after its caller.
    nodes: Vec<Node>,
}

struct Node {
    /// Sum of the samples in it and its callees.
    total: Value,
    /// Places of its innermost and outermost function.
    innermost: u32,
    outermost: u32,
    first_callee: u32,
    /// Next callee of the same caller.
    sibling: u32,
}

/// The samples of a node's stack and its callees, at the place of one of its functions.
#[derive(Clone, Copy)]
pub(super) struct Item {
    node: u32,
    place: u32,
}

const NONE: u32 = u32::MAX;

impl<'a> Callees<'a> {
    pub(super) fn new(profile: &Profile, entries: &'a Entries, sums: Vec<Sum>) -> Self {
        let (places, has_heads) = (entries.places(), entries.has_heads());
        let heads = sums.last().map_or(0, |sum| sum.head as usize + 1);
        let mut callees = Self { places, has_heads, heads, nodes: Vec::new() };
        callees.nodes.extend((0..heads).map(|_| Node::new(0..1)));
        // The last head and its node, by stack.
        let mut known: Vec<(HeadId, u32)> = vec![(0, NONE); profile.stacks().len()];
        // The callers of a stack that are new for its head.
        let mut new: Vec<(StackId, LocationId)> = Vec::new();
        for Sum { head, stack, value } in sums {
            let (mut node, mut next) = (head, stack);
            while let Some((id, (location, caller))) = next.and_then(|id| Some((id, profile.innermost(id)?)))
            {
                match known.get(id.index()) {
                    Some(&(last, found)) if last == head && found != NONE => {
                        node = found;
                        break;
                    }
                    _ => new.push((id, location)),
                }
                next = caller;
            }
            if node == head && new.is_empty() {
                node = callees.add(node, Places::nowhere());
            }
            for (id, location) in new.drain(..).rev() {
                node = callees.add(node, places.of(location));
                if let Some(known) = known.get_mut(id.index()) {
                    *known = (head, node);
                }
            }
            if let Some(node) = callees.nodes.get_mut(node as usize) {
                node.total.add(value);
            }
        }
        callees.add_up();
        callees
    }

    fn add(&mut self, caller: u32, functions: Range) -> u32 {
        let id = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let mut node = Node::new(functions);
        if let Some(caller) = self.nodes.get_mut(caller as usize) {
            node.sibling = std::mem::replace(&mut caller.first_callee, id);
        }
        self.nodes.push(node);
        id
    }

    /// Adds the values of all stacks to their callers.
    fn add_up(&mut self) {
        // In reverse, so that each callee is complete before its caller.
        let len = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        for id in (0..len).rev() {
            let mut below = Value::default();
            self.callees(id).for_each(|(_, callee)| below.add(callee.total));
            if let Some(node) = self.nodes.get_mut(id as usize) {
                node.total.add(below);
            }
        }
    }

    fn get(&self, id: u32) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    fn callees(&self, id: u32) -> impl Iterator<Item = (u32, &Node)> {
        let find = |id: u32| Some((id, self.get(id)?));
        let first = self.get(id).and_then(|node| find(node.first_callee));
        std::iter::successors(first, move |(_, node)| find(node.sibling))
    }
}

impl Node {
    fn new(functions: Range) -> Self {
        let place = |place: usize| u32::try_from(place).unwrap_or(0);
        Self {
            total: Value::default(),
            innermost: place(functions.start),
            outermost: place(functions.end.saturating_sub(1)),
            first_callee: NONE,
            sibling: NONE,
        }
    }
}

impl Paths for Callees<'_> {
    type Item = Item;

    fn roots(&self) -> Vec<Item> {
        let heads = (0u32..).take(self.heads).map(|node| Item { node, place: 0 });
        if self.has_heads {
            return heads.filter(|&head| self.value(head).count > 0).collect();
        }
        let mut roots = Vec::new();
        heads.for_each(|head| self.divide(head, &mut roots));
        roots
    }

    fn root(&self, item: Item) -> Key {
        if self.has_heads { (Some(item.node), None) } else { (None, Some(self.part(item))) }
    }

    fn part(&self, item: Item) -> PartId {
        self.places.part(item.place as usize)
    }

    fn value(&self, item: Item) -> Value {
        self.get(item.node).map_or_else(Value::default, |node| node.total)
    }

    fn divide(&self, Item { node, place }: Item, below: &mut Vec<Item>) {
        if self.get(node).is_some_and(|node| place > node.innermost) {
            below.push(Item { node, place: place - 1 });
        } else {
            below.extend(self.callees(node).map(|(node, callee)| Item { node, place: callee.outermost }));
        }
    }

    fn own(&self, _: bool, total: Value, below: Value) -> Value {
        total.without(below)
    }
}
