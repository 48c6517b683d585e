//! The rows of a table, summed up stack by stack.

use rustc_hash::FxHashMap;

use super::entry::{HeadId, PartId, Places, Range};
use super::table::{Cost, Value};
use crate::profile::LocationId;

/// The rows of a table and their values.
///
/// A sample costs only the frames in which its stack differs from the previous stack, because its
/// value is held back at its innermost frame. When a stack without that frame comes, the value is
/// added to the rows of the frame, and held back at the caller.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    keys: Vec<(HeadId, PartId)>,
    ids: FxHashMap<(HeadId, PartId), u32>,
    /// The last head and its row, by place. Consecutive stacks often have the same head.
    by_place: Vec<(HeadId, u32)>,
    /// Costs by event, then by row. Missing rows at the end are 0.
    costs: Vec<Vec<Cost>>,
    /// The event and head of the last stack.
    last: (usize, HeadId),
    /// Frames of the last stack, outermost first.
    frames: Vec<Frame>,
    /// Rows of these frames. If frames share a row, it belongs to the outermost.
    entered: Vec<u32>,
    /// Whether a frame has this row, so that recursive functions count once per stack.
    is_in_stack: Vec<bool>,
    has_callers: bool,
    /// Number of unnamed frames in the last stack.
    unnamed_frames: usize,
    /// Number of samples with an unnamed frame.
    unnamed: u64,
}

/// A frame of the last stack.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// `None` for samples without a stack.
    location: Option<LocationId>,
    /// Row of the innermost function.
    innermost: u32,
    is_unnamed: bool,
    /// Number of rows of the frames before it.
    rows_before: u32,
    /// The held back sum of samples in this frame and its callees.
    waiting: Value,
}

/// Not entered yet.
const NEW: u32 = u32::MAX;

impl Rows {
    /// Adds samples of an event. Their stack has the first `kept` frames of the previous stack,
    /// whose event and head must be equal, followed by these locations, outermost first.
    pub(super) fn add(
        &mut self,
        places: &Places,
        (event, head): (usize, HeadId),
        value: Value,
        kept: usize,
        locations: &[LocationId],
    ) {
        if self.last != (event, head) {
            self.leave(0);
            self.last = (event, head);
        }
        // Usually, the first locations are equal, too.
        let frames = self.frames.get(kept..).unwrap_or_default().iter();
        let same = frames.zip(locations).take_while(|(frame, new)| frame.location == Some(**new)).count();
        self.leave(kept + same);
        for &location in locations.get(same..).unwrap_or_default() {
            self.enter(places, Some(location), places.of(location));
        }
        if self.frames.is_empty() {
            self.enter(places, None, Places::nowhere());
        }
        if self.costs.len() <= event {
            self.costs.resize(event + 1, Vec::new());
        }
        self.has_callers |= self.frames.len() > 1;
        let Some((frame, costs)) = self.frames.last_mut().zip(self.costs.get_mut(event)) else { return };
        if costs.len() < self.keys.len() {
            costs.resize(self.keys.len(), Cost::default());
        }
        frame.waiting.add(value);
        if self.unnamed_frames > 0 {
            self.unnamed = self.unnamed.saturating_add(value.count);
        }
        if let Some(cost) = costs.get_mut(frame.innermost as usize) {
            cost.add_self(value);
        }
    }

    /// Adds all values that are held back.
    pub(super) fn finish(&mut self) {
        self.leave(0);
    }

    /// Leaves the frames after the first `kept` ones.
    fn leave(&mut self, kept: usize) {
        while self.frames.len() > kept {
            let Some(left) = self.frames.pop() else { return };
            self.unnamed_frames -= usize::from(left.is_unnamed);
            if let Some(caller) = self.frames.last_mut() {
                caller.waiting.add(left.waiting);
            }
            while self.entered.len() > left.rows_before as usize {
                let Some(row) = self.entered.pop() else { return };
                if let Some(is_in_stack) = self.is_in_stack.get_mut(row as usize) {
                    *is_in_stack = false;
                }
                let costs = self.costs.get_mut(self.last.0);
                if let Some(cost) = costs.and_then(|costs| costs.get_mut(row as usize)) {
                    cost.add_total(left.waiting);
                }
            }
        }
    }

    /// Enters a frame with the functions of these places, innermost first.
    fn enter(&mut self, places: &Places, location: Option<LocationId>, functions: Range) {
        let rows_before = self.entered.len() as u32;
        let mut innermost = None;
        for place in functions {
            let row = self.row(places, self.last.1, place);
            innermost.get_or_insert(row);
            if let Some(is_in_stack) = self.is_in_stack.get_mut(row as usize).filter(|is_in| !**is_in) {
                *is_in_stack = true;
                self.entered.push(row);
            }
        }
        let innermost = innermost.unwrap_or(NEW);
        let is_unnamed = location.is_some_and(|location| places.is_unnamed(location));
        self.unnamed_frames += usize::from(is_unnamed);
        self.frames.push(Frame { location, innermost, is_unnamed, rows_before, waiting: Value::default() });
    }

    #[inline]
    fn row(&mut self, places: &Places, head: HeadId, place: usize) -> u32 {
        match self.by_place.get(place) {
            Some(&(last, row)) if last == head && row != NEW => row,
            _ => self.find_row(places, head, place),
        }
    }

    fn find_row(&mut self, places: &Places, head: HeadId, place: usize) -> u32 {
        let part = places.part(place);
        let next = u32::try_from(self.keys.len()).unwrap_or(NEW);
        let row = *self.ids.entry((head, part)).or_insert(next);
        if row == next {
            self.keys.push((head, part));
            self.is_in_stack.push(false);
        }
        if self.by_place.len() <= place {
            self.by_place.resize(place + 1, (0, NEW));
        }
        if let Some(last) = self.by_place.get_mut(place) {
            *last = (head, row);
        }
        row
    }

    /// Returns true if any stack had more than one location.
    pub(super) fn has_callers(&self) -> bool {
        self.has_callers
    }

    /// Returns the number of samples with an unnamed address in their stack.
    pub(super) fn unnamed(&self) -> u64 {
        self.unnamed
    }

    /// Returns the key of each row and its values by event, after [`finish`](Self::finish).
    pub(super) fn iter(&self) -> impl Iterator<Item = (HeadId, PartId, Vec<Cost>)> {
        self.keys.iter().enumerate().map(|(row, &(head, part))| {
            let costs = self.costs.iter().map(|costs| costs.get(row).copied().unwrap_or_default());
            (head, part, costs.collect())
        })
    }
}
