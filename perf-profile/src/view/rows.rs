//! The values of a table's rows, to which stacks are added one by one.

use rustc_hash::FxHashMap;

use super::entry::{HeadId, PartId, Places, Range};
use super::table::{Cost, Value};
use crate::profile::LocationId;

/// The rows of a table and their values.
///
/// A frame costs few looks into memory: at its location and, if the stack did not have that before, at the places of its
/// functions, at their rows, and at the values of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    keys: Vec<(HeadId, PartId)>,
    ids: FxHashMap<(HeadId, PartId), u32>,
    /// By location, the last stack that had it: recursive functions come several times.
    last_stacks: Vec<u64>,
    /// By place, the last head and its row: stacks in turn often have the same head.
    by_place: Vec<(HeadId, u32)>,
    /// Of each event, by row. The last rows of an event may be missing: they are 0.
    sums: Vec<Vec<Sum>>,
    stacks: u64,
    has_callers: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    cost: Cost,
    /// The last stack that had the row, so that a function counts once for a stack.
    last_stack: u64,
}

/// No row.
const NEW: u32 = u32::MAX;

impl Rows {
    /// Adds a sum of samples of an event with these locations, the innermost first.
    pub(super) fn add(
        &mut self,
        places: &Places,
        event: usize,
        head: HeadId,
        value: Value,
        locations: impl Iterator<Item = LocationId>,
    ) {
        self.stacks += 1;
        if self.sums.len() <= event {
            self.sums.resize(event + 1, Vec::new());
        }
        let mut is_self = true;
        let mut add = |rows: &mut Self, range: Range| {
            for place in range {
                let row = rows.row(places, head, place);
                rows.add_value(event, row, value, is_self);
                is_self = false;
            }
        };
        let mut locations = locations.peekable();
        if locations.peek().is_none() {
            add(self, Places::nowhere());
        }
        for (depth, location) in locations.enumerate() {
            self.has_callers |= depth > 0;
            if self.is_new(location) {
                add(self, places.of(location));
            }
        }
    }

    /// Returns whether a location comes for the first time in this stack.
    #[inline]
    fn is_new(&mut self, location: LocationId) -> bool {
        let index = location.index();
        if self.last_stacks.len() <= index {
            self.last_stacks.resize(index + 1, 0);
        }
        let last = self.last_stacks.get_mut(index).map(|last| std::mem::replace(last, self.stacks));
        last != Some(self.stacks)
    }

    #[inline]
    fn add_value(&mut self, event: usize, row: u32, value: Value, is_self: bool) {
        let (row, stack) = (row as usize, self.stacks);
        let Some(sums) = self.sums.get_mut(event) else { return };
        if sums.len() <= row {
            sums.resize(row + 1, Sum::default());
        }
        // The innermost function is the first of its row.
        if let Some(sum) = sums.get_mut(row).filter(|sum| sum.last_stack != stack) {
            sum.last_stack = stack;
            sum.cost.add(value, is_self);
        }
    }

    #[inline]
    fn row(&mut self, places: &Places, head: HeadId, place: usize) -> u32 {
        match self.by_place.get(place) {
            Some(&(last, row)) if last == head && row != NEW => row,
            _ => self.find_row(places, head, place),
        }
    }

    fn find_row(&mut self, places: &Places, head: HeadId, place: usize) -> u32 {
        let part = places.parts(place..place + 1).first().copied().unwrap_or(0);
        let next = u32::try_from(self.keys.len()).unwrap_or(NEW);
        let row = *self.ids.entry((head, part)).or_insert(next);
        if row == next {
            self.keys.push((head, part));
        }
        if self.by_place.len() <= place {
            self.by_place.resize(place + 1, (0, NEW));
        }
        if let Some(last) = self.by_place.get_mut(place) {
            *last = (head, row);
        }
        row
    }

    /// Returns whether a stack had more than one location.
    pub(super) fn has_callers(&self) -> bool {
        self.has_callers
    }

    /// Returns the key of each row and its values by event.
    pub(super) fn iter(&self) -> impl Iterator<Item = (HeadId, PartId, Vec<Cost>)> {
        self.keys.iter().enumerate().map(|(row, &(head, part))| {
            let costs = self.sums.iter().map(|sums| sums.get(row).map_or(Cost::default(), |sum| sum.cost));
            (head, part, costs.collect())
        })
    }
}
