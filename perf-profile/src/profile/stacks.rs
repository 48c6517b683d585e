//! Stacks as a tree, in which callers are shared.

use rustc_hash::FxHashMap;

use super::ids::{LocationId, StackId};

/// A tree of stacks: each has its innermost location, and the stack of the caller.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, StackId>,
    /// The last stack that was added, outermost first: the next one often has the same callers.
    last: Vec<(LocationId, StackId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    caller: Option<StackId>,
    location: LocationId,
}

impl Stacks {
    /// Returns the id of a stack, innermost location first, which is added if it is new; `None` without a location.
    pub(super) fn add(&mut self, locations: &[LocationId]) -> Option<StackId> {
        let outermost_first = || locations.iter().rev().copied();
        let is_same = |(location, last): &(LocationId, &(LocationId, StackId))| *location == last.0;
        let same = outermost_first().zip(&self.last).take_while(is_same).count();
        self.last.truncate(same);
        let mut caller = self.last.last().map(|&(_, id)| id);
        for location in outermost_first().skip(same) {
            let node = Node { caller, location };
            let next = StackId::next(self.nodes.len());
            let id = *self.ids.entry(node).or_insert(next);
            if id == next {
                self.nodes.push(node);
            }
            self.last.push((location, id));
            caller = Some(id);
        }
        caller
    }

    /// Returns the innermost location and the stack of the caller.
    pub(super) fn get(&self, id: StackId) -> Option<(LocationId, Option<StackId>)> {
        self.nodes.get(id.index()).map(|node| (node.location, node.caller))
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (LocationId, Option<StackId>)> {
        self.nodes.iter().map(|node| (node.location, node.caller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stacks_have_equal_ids_if_and_only_if_they_are_equal(
            stacks in prop::collection::vec(prop::collection::vec(0usize..4, 0..6), 0..40)
        ) {
            let mut tree = Stacks::default();
            let locations = |stack: &[usize]| stack.iter().map(|&index| LocationId::next(index)).collect::<Vec<_>>();
            let ids: Vec<_> = stacks.iter().map(|stack| tree.add(&locations(stack))).collect();
            for (stack, &id) in stacks.iter().zip(&ids) {
                let mut found = Vec::new();
                let mut next = id;
                while let Some((location, caller)) = next.and_then(|id| tree.get(id)) {
                    found.push(location.index());
                    next = caller;
                }
                prop_assert_eq!(stack, &found);
                for (other, &other_id) in stacks.iter().zip(&ids) {
                    prop_assert_eq!(stack == other, id == other_id);
                }
            }
        }
    }
}
