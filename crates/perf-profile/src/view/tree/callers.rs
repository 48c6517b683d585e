//! Trees from the innermost function to its callers.

use super::{Key, Paths};
use crate::profile::{Profile, StackId};
use crate::view::entry::{Entries, PartId, Places};
use crate::view::table::{Sum, Value};

/// The stacks of each head, kept separately.
pub(super) struct Callers<'a> {
    profile: &'a Profile,
    places: &'a Places,
    has_heads: bool,
    sums: Vec<Sum>,
}

/// The samples of a stack, at the place of one of its functions.
#[derive(Clone, Copy)]
pub(super) struct Item {
    sum: u32,
    place: u32,
    /// The part of the stack from that function to the outermost one.
    stack: Option<StackId>,
}

impl<'a> Callers<'a> {
    pub(super) fn new(profile: &'a Profile, entries: &'a Entries, sums: Vec<Sum>) -> Self {
        Self { profile, places: entries.places(), has_heads: entries.has_heads(), sums }
    }

    /// Returns an item at the innermost function of a stack, if it has a location.
    fn item(&self, sum: u32, stack: Option<StackId>) -> Option<Item> {
        let (location, _) = self.profile.innermost(stack?)?;
        Some(Item { sum, place: u32::try_from(self.places.of(location).start).ok()?, stack })
    }
}

impl Paths for Callers<'_> {
    type Item = Item;

    fn roots(&self) -> Vec<Item> {
        let nowhere = |sum| Item { sum, place: 0, stack: None };
        let sums = (0u32..).zip(&self.sums);
        sums.map(|(id, sum)| self.item(id, sum.stack).unwrap_or_else(|| nowhere(id))).collect()
    }

    fn root(&self, item: Item) -> Key {
        let head = self.sums.get(item.sum as usize).map(|sum| sum.head);
        (head.filter(|_| self.has_heads), Some(self.part(item)))
    }

    fn part(&self, item: Item) -> PartId {
        self.places.part(item.place as usize)
    }

    fn value(&self, item: Item) -> Value {
        self.sums.get(item.sum as usize).map_or_else(Value::default, |sum| sum.value)
    }

    fn divide(&self, item: Item, below: &mut Vec<Item>) {
        let Some((location, caller)) = item.stack.and_then(|stack| self.profile.innermost(stack)) else {
            return;
        };
        let place = item.place + 1;
        if self.places.of(location).contains(&(place as usize)) {
            below.push(Item { place, ..item });
        } else {
            below.extend(self.item(item.sum, caller));
        }
    }

    fn own(&self, is_root: bool, total: Value, _: Value) -> Value {
        if is_root { total } else { Value::default() }
    }
}
