//! Trees compared with a naive model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::format::testing::{example, profiles};
use crate::view::testing::{self, Named};

const COLUMNS: &[Column] = &[Column::Comm, Column::Object, Column::Function];

fn text(tree: &CallTree<'_>) -> Vec<String> {
    let line = |node: &Node<'_>| {
        let Cost { self_count, total_count, .. } = node.cost;
        format!("{}{} {total_count} {self_count}", " ".repeat(node.depth), node.entry.function.unwrap_or("-"))
    };
    tree.nodes.iter().map(line).collect()
}

#[test]
fn nodes_follow_their_parents_by_value() {
    let profile = example(false);
    let clock = profile.event_ids().next().unwrap().0;
    let columns = &[Column::Function];
    let tree = CallTree::new(&profile, clock, columns, Direction::FromOutermost);
    let lines = [
        "main 3 0",
        " compare<a; b> 2 0",
        "  less\n\"than\"\u{1b}[31m 2 2",
        " [unknown] 1 0",
        "  do_syscall_64 1 1",
        "[unknown] 2 2",
    ];
    assert_eq!(text(&tree), lines);

    let callers = CallTree::new(&profile, clock, columns, Direction::FromInnermost);
    let lines = [
        "[unknown] 2 2",
        "less\n\"than\"\u{1b}[31m 2 2",
        " compare<a; b> 2 0",
        "  main 2 0",
        "do_syscall_64 1 1",
        " [unknown] 1 0",
        "  main 1 0",
    ];
    assert_eq!(text(&callers), lines);

    let threads = CallTree::new(&profile, clock, COLUMNS, Direction::FromOutermost);
    let roots: Vec<_> = threads.nodes.iter().filter(|node| node.depth == 0).collect();
    assert_eq!(
        roots.iter().map(|root| root.entry.comm.unwrap()).collect::<Vec<_>>(),
        ["sort it", "w\u{fffd};\n"]
    );
}

/// The paths from the roots with their sums, and the sums of the samples that end there.
type Paths = BTreeMap<Vec<Named>, (u64, u64)>;

/// Returns an unambiguous name for a root of function and thread name.
fn root(function: &str, comm: &str) -> String {
    format!("{} {function}{comm}", function.len())
}

fn model(profile: &Profile, event: EventId, direction: Direction) -> Paths {
    let mut paths = Paths::new();
    for mut sample in testing::samples(profile).into_iter().filter(|sample| sample.event == event) {
        let comm = (sample.comm, String::new(), false);
        match direction {
            Direction::FromOutermost => {
                sample.stack.push(comm);
                sample.stack.reverse();
            }
            Direction::FromInnermost => {
                sample.stack[0].0 = root(&sample.stack[0].0, &comm.0);
            }
        }
        let self_end = if direction == Direction::FromOutermost { sample.stack.len() } else { 1 };
        for end in 1..=sample.stack.len() {
            let sums = paths.entry(sample.stack[..end].to_vec()).or_default();
            sums.0 += sample.count;
            sums.1 += if end == self_end { sample.count } else { 0 };
        }
    }
    paths
}

fn paths(tree: &CallTree<'_>, direction: Direction) -> Paths {
    let mut path: Vec<Named> = Vec::new();
    let mut paths = Paths::new();
    for node in &tree.nodes {
        path.truncate(node.depth);
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let mut named = (text(node.entry.function), text(node.entry.object), node.entry.is_kernel);
        if node.depth == 0 && direction == Direction::FromOutermost {
            named.0 = text(node.entry.comm);
        } else if node.depth == 0 {
            named.0 = root(&named.0, node.entry.comm.unwrap());
        }
        path.push(named);
        let known = paths.insert(path.clone(), (node.cost.total_count, node.cost.self_count));
        assert_eq!(known, None, "{path:?}");
    }
    paths
}

proptest! {
    #[test]
    fn trees_are_those_of_the_naive_model(profile in profiles()) {
        for (event, _) in profile.event_ids() {
            for direction in [Direction::FromOutermost, Direction::FromInnermost] {
                let tree = CallTree::new(&profile, event, COLUMNS, direction);
                prop_assert_eq!(paths(&tree, direction), model(&profile, event, direction));
                let siblings = |parent: usize| {
                    let below = tree.nodes[parent + 1..].iter();
                    let depth = tree.nodes[parent].depth;
                    let below = below.take_while(move |node| node.depth > depth);
                    below.filter(move |node| node.depth == depth + 1).collect::<Vec<_>>()
                };
                for parent in 0..tree.nodes.len() {
                    for pair in siblings(parent).windows(2) {
                        prop_assert!(pair[0].cost.total_value >= pair[1].cost.total_value);
                    }
                }
            }
        }
    }

    #[test]
    fn filtered_tree_has_the_nodes_that_are_kept(profile in profiles(), hundredths in 0u64..100) {
        for (event, _) in profile.event_ids() {
            for direction in [Direction::FromOutermost, Direction::FromInnermost] {
                let all = CallTree::new(&profile, event, COLUMNS, direction);
                let largest = all.nodes.iter().map(|node| node.cost.total_value).max().unwrap_or(0);
                let is_kept = |total: u64| u128::from(total) * 100 >= u128::from(largest) * u128::from(hundredths);
                let tree = CallTree::filtered(&profile, event, COLUMNS, direction, is_kept);
                let kept: Vec<_> = all.nodes.iter().filter(|node| is_kept(node.cost.total_value)).collect();
                prop_assert_eq!(tree.nodes.iter().collect::<Vec<_>>(), kept);
                prop_assert_eq!(tree.left_out, (all.nodes.len() - tree.nodes.len()) as u64);
                prop_assert_eq!(all.left_out, 0);
            }
        }
    }
}
