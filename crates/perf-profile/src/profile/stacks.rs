//! Stacks as a tree with shared callers.

use rustc_hash::FxHashMap;

use super::ids::{LocationId, StackId};

/// A tree of stacks: each node has its innermost location and the stack of the caller.
///
/// Most callers have only one callee, whose node directly follows theirs, so that it is found
/// without the map.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    nodes: Vec<Node>,
    /// The callees of each caller except the first.
    others: FxHashMap<Edge, StackId>,
    first_root: Option<StackId>,
    /// Last stacks of some threads, outermost first. The next stack of a thread often has the same
    /// callers.
    last: [Vec<(LocationId, StackId)>; LAST],
}

/// Number of last stacks to keep, more than most machines have threads that are sampled in turn.
const LAST: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Node {
    edge: Edge,
    first_callee: Option<StackId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Edge {
    /// Number of the caller's stack plus 1, or 0. An option would need 4 bytes more, in a map that
    /// is larger than the caches.
    caller: u32,
    location: LocationId,
}

impl Edge {
    fn new(location: LocationId, caller: Option<StackId>) -> Self {
        Self { caller: caller.map_or(0, |id| id.number().saturating_add(1)), location }
    }

    fn parts(self) -> (LocationId, Option<StackId>) {
        (self.location, self.caller.checked_sub(1).map(|number| StackId::next(number as usize)))
    }
}

impl Stacks {
    /// Returns the id of a stack, outermost location first, adding it if it is new; `None` without
    /// a location. A stack with the callers of the same thread's last stack is found faster.
    pub(super) fn add(
        &mut self,
        thread: usize,
        locations: impl Iterator<Item = LocationId> + Clone,
    ) -> Option<StackId> {
        let mut last = self.last.get_mut(thread % LAST).map(std::mem::take).unwrap_or_default();
        let is_same = |(location, last): &(LocationId, &(LocationId, StackId))| *location == last.0;
        let same = locations.clone().zip(&last).take_while(is_same).count();
        last.truncate(same);
        let mut caller = last.last().map(|&(_, id)| id);
        for location in locations.skip(same) {
            let id = self.callee(caller, location);
            last.push((location, id));
            caller = Some(id);
        }
        if let Some(place) = self.last.get_mut(thread % LAST) {
            *place = last;
        }
        caller
    }

    pub(super) fn callee(&mut self, caller: Option<StackId>, location: LocationId) -> StackId {
        let edge = Edge::new(location, caller);
        let next = StackId::next(self.nodes.len());
        let first = match caller {
            None => &mut self.first_root,
            Some(caller) => match self.nodes.get_mut(caller.index()) {
                Some(node) => &mut node.first_callee,
                None => return next,
            },
        };
        let first = *first.get_or_insert(next);
        if first != next {
            if self.nodes.get(first.index()).is_some_and(|node| node.edge == edge) {
                return first;
            }
            let id = *self.others.entry(edge).or_insert(next);
            if id != next {
                return id;
            }
        }
        self.nodes.push(Node { edge, first_callee: None });
        next
    }

    /// Returns the innermost location and the stack of the caller.
    pub(super) fn get(&self, id: StackId) -> Option<(LocationId, Option<StackId>)> {
        self.nodes.get(id.index()).map(|node| node.edge.parts())
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (LocationId, Option<StackId>)> {
        self.nodes.iter().map(|node| node.edge.parts())
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
            let ids: Vec<_> = stacks.iter().enumerate().map(|(index, stack)| tree.add(index % 3, locations(stack).into_iter().rev())).collect();
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
