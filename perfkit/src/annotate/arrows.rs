//! Arrows that show the jumps within a function.

use std::collections::BTreeMap;

/// Maximum number of columns for arrows. Jumps that do not fit have their target as a number alone.
const MAX_LANES: usize = 6;

/// The arrows of a function, by row.
pub(super) struct Arrows {
    /// The column nearest to the instructions first; each has its arrows by their first row.
    lanes: Vec<BTreeMap<usize, Arrow>>,
}

/// All jumps to a row.
struct Arrow {
    last: usize,
    target: usize,
    /// Ascending.
    sources: Vec<usize>,
}

impl Arrow {
    /// Returns whether a line leads from the column to the instruction of a row.
    fn has_branch(&self, row: usize) -> bool {
        row == self.target || self.sources.binary_search(&row).is_ok()
    }
}

impl Arrows {
    /// Places jumps, each from a row to a row. Short ones are nearest to the instructions.
    pub(super) fn new(jumps: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut by_target = BTreeMap::<usize, Vec<usize>>::new();
        for (source, target) in jumps.into_iter().filter(|(source, target)| source != target) {
            by_target.entry(target).or_default().push(source);
        }
        let mut arrows: Vec<_> = by_target
            .into_iter()
            .map(|(target, mut sources)| {
                sources.sort_unstable();
                let ends = sources.iter().chain([&target]);
                let first = ends.clone().min().copied().unwrap_or(target);
                let last = ends.max().copied().unwrap_or(target);
                (first, Arrow { last, target, sources })
            })
            .collect();
        arrows.sort_by_key(|(first, arrow)| (arrow.last - first, *first));
        let mut lanes: Vec<BTreeMap<usize, Arrow>> = Vec::new();
        for (first, arrow) in arrows {
            let is_free = |lane: &BTreeMap<usize, Arrow>| {
                lane.range(..=arrow.last).next_back().is_none_or(|(_, before)| before.last < first)
            };
            match lanes.iter().position(is_free) {
                Some(lane) => drop(lanes.get_mut(lane).map(|lane| lane.insert(first, arrow))),
                None if lanes.len() < MAX_LANES => lanes.push(BTreeMap::from([(first, arrow)])),
                None => {}
            }
        }
        Self { lanes }
    }

    /// Returns the arrows at a row, as wide as in all rows.
    pub(super) fn row(&self, row: usize) -> String {
        let (mut text, mut is_crossed, mut is_target) = (String::new(), false, false);
        for lane in self.lanes.iter().rev() {
            let found = lane.range(..=row).next_back().filter(|(_, arrow)| row <= arrow.last);
            text.push(match found {
                None if is_crossed => '─',
                None => ' ',
                Some((&first, arrow)) if arrow.has_branch(row) => {
                    let corner = match (row == first, row == arrow.last, is_crossed) {
                        (true, _, false) => '┌',
                        (true, _, true) => '┬',
                        (_, true, false) => '└',
                        (_, true, true) => '┴',
                        (_, _, false) => '├',
                        (_, _, true) => '┼',
                    };
                    is_crossed = true;
                    is_target |= row == arrow.target;
                    corner
                }
                Some(_) if is_crossed => '┼',
                Some(_) => '│',
            });
        }
        if !self.lanes.is_empty() {
            text.push(match (is_target, is_crossed) {
                (true, _) => '►',
                (_, true) => '─',
                _ => ' ',
            });
        }
        text
    }

    /// Returns the arrows between a row and the one before it, for a line that is not an
    /// instruction.
    pub(super) fn before(&self, row: usize) -> String {
        let passes = |lane: &BTreeMap<usize, Arrow>| {
            lane.range(..row).next_back().is_some_and(|(_, arrow)| row <= arrow.last)
        };
        let mut text: String =
            self.lanes.iter().rev().map(|lane| if passes(lane) { '│' } else { ' ' }).collect();
        if !self.lanes.is_empty() {
            text.push(' ');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn drawn(jumps: &[(usize, usize)], rows: usize) -> Vec<String> {
        let arrows = Arrows::new(jumps.iter().copied());
        (0..rows).map(|row| arrows.row(row)).collect()
    }

    #[test]
    fn jumps_to_one_row_share_a_column_and_cross_shorter_ones() {
        assert_eq!(drawn(&[(0, 2)], 3), ["┌─", "│ ", "└►"]);
        assert_eq!(drawn(&[(3, 0), (2, 0)], 4), ["┌►", "│ ", "├─", "└─"]);
        // A loop crosses a jump that leads out of it.
        assert_eq!(drawn(&[(3, 0), (1, 4)], 5), [" ┌►", "┌┼─", "││ ", "│└─", "└─►"]);
        assert_eq!(drawn(&[], 2), ["", ""]);
        assert_eq!(drawn(&[(1, 1)], 2), ["", ""]);
    }

    proptest! {
        #[test]
        fn arrows_of_any_jumps_have_one_width(
            jumps in prop::collection::vec((0..40_usize, 0..40_usize), 0..60),
        ) {
            let arrows = Arrows::new(jumps.iter().copied());
            let width = arrows.row(0).chars().count();
            prop_assert!(width <= MAX_LANES + 1);
            for row in 0..40 {
                prop_assert_eq!(arrows.row(row).chars().count(), width);
                prop_assert_eq!(arrows.before(row).chars().count(), width);
                let is_target = jumps.iter().any(|(from, to)| *to == row && from != to);
                prop_assert!(is_target || !arrows.row(row).contains('►'));
            }
        }
    }
}
