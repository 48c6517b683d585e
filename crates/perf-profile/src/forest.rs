//! Nodes of trees in the order in which a parent comes before its children.

use std::cmp::Ordering;

/// Returns the indices of all nodes, each parent before its children, and the children of a parent
/// by `compare`.
///
/// `parents` has the parent of each node, which comes earlier.
pub(crate) fn preorder(parents: &[Option<u32>], compare: impl Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let parent = |node: u32| parents.get(node as usize).copied().flatten();
    let mut sorted: Vec<u32> = (0u32..).take(parents.len()).collect();
    sorted.sort_unstable_by(|&a, &b| parent(a).cmp(&parent(b)).then_with(|| compare(a, b)));
    // The children of a node are a range of `sorted`, by the index of the node + 1.
    let mut starts = vec![0usize; parents.len() + 2];
    for parent in parents {
        let index = parent.map_or(0, |parent| parent as usize + 1) + 1;
        if let Some(count) = starts.get_mut(index) {
            *count += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let children = |index: usize| match starts.get(index..index + 2) {
        Some(&[start, end]) => sorted.get(start..end).unwrap_or(&[]),
        _ => &[],
    };
    let mut order = Vec::with_capacity(parents.len());
    let mut pending: Vec<u32> = children(0).iter().rev().copied().collect();
    while let Some(node) = pending.pop() {
        order.push(node);
        pending.extend(children(node as usize + 1).iter().rev());
    }
    order
}
