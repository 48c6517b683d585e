//! The call tree of a report: a line for each function, below its caller or callee.

use std::io::{self, Write};

use perf_profile::{CallTree, Entry, Node};

use super::sort::{FileNames, node_text};
use super::{Percent, Shares};

/// Prints the nodes.
///
/// An only child is indented like its parent, so that long stacks stay on the screen.
pub(super) fn print(
    out: &mut dyn Write,
    tree: &CallTree<'_>,
    shares: Shares,
    is_colored: bool,
) -> io::Result<()> {
    let nodes = &tree.nodes;
    let siblings = siblings(nodes);
    let files = FileNames::new(nodes.iter().map(|node| node.entry));
    // The path from the root to the node: for each node its entry, and the text before its
    // children.
    let mut path: Vec<(Entry<'_>, String)> = Vec::new();
    for (node, sibling) in nodes.iter().zip(siblings) {
        path.truncate(node.depth);
        let parent = path.last();
        let indent = parent.map_or("", |(_, indent)| indent.as_str());
        let (mark, below) = match sibling {
            _ if parent.is_none() => ("", ""),
            Sibling::Only => ("", ""),
            Sibling::Last => ("\u{2514}\u{2500} ", "   "),
            Sibling::Another => ("\u{251c}\u{2500} ", "\u{2502}  "),
        };
        let name = node_text(&node.entry, parent.map(|(entry, _)| entry), &files);
        let [total, own] = [node.cost.total_value, node.cost.self_value]
            .map(|value| Percent::new(shares.of(value), is_colored));
        writeln!(out, "{total}{own}  {indent}{mark}{name}")?;
        let indent = format!("{indent}{below}");
        path.push((node.entry, indent));
    }
    Ok(())
}

/// The position of a node among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sibling {
    Only,
    Last,
    Another,
}

fn siblings(nodes: &[Node<'_>]) -> Vec<Sibling> {
    // Whether a later sibling exists, by depth, computed from the last node to the first.
    let mut has_later: Vec<bool> = Vec::new();
    let is_last: Vec<_> = nodes
        .iter()
        .rev()
        .map(|node| {
            has_later.resize(node.depth + 1, false);
            let has_later = has_later.last_mut().map(|later| std::mem::replace(later, true));
            has_later == Some(false)
        })
        .collect();
    let mut earlier: Vec<bool> = Vec::new();
    let places = nodes.iter().zip(is_last.into_iter().rev()).map(|(node, is_last)| {
        earlier.resize(node.depth + 1, false);
        let has_earlier = earlier.last_mut().is_some_and(|earlier| std::mem::replace(earlier, true));
        match (is_last, has_earlier) {
            (true, false) => Sibling::Only,
            (true, true) => Sibling::Last,
            (false, _) => Sibling::Another,
        }
    });
    places.collect()
}
