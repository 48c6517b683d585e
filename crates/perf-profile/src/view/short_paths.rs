//! Short names of paths for people.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::format::names::file_name;

/// Shortens paths to their last component, or as many as are needed to distinguish them.
///
/// ```
/// use perf_profile::ShortPaths;
///
/// let names = ShortPaths::new(["/usr/lib/libc.so.6", "/src/target/debug/app", "/src/target/release/app"]);
/// assert_eq!(names.of("/usr/lib/libc.so.6"), "libc.so.6");
/// assert_eq!(names.of("/src/target/debug/app"), "debug/app");
/// assert_eq!(names.of("/src/target/release/app"), "release/app");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ShortPaths<'p> {
    /// The end of each path whose last component is ambiguous.
    longer: FxHashMap<&'p str, &'p str>,
}

impl<'p> ShortPaths<'p> {
    /// Computes the names of these paths, which may repeat.
    ///
    /// Takes time linear in the number of path components.
    pub fn new(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let paths: FxHashSet<&str> = paths.into_iter().collect();
        // Paths that are still ambiguous, with the length of their end so far.
        let mut open: Vec<(&str, usize)> = paths.iter().map(|&path| (path, file_name(path).len())).collect();
        let mut longer = FxHashMap::default();
        let mut is_first = true;
        while !open.is_empty() {
            let mut counts: FxHashMap<&str, u32> = FxHashMap::default();
            for &(path, len) in &open {
                *counts.entry(end(path, len)).or_default() += 1;
            }
            let mut next = Vec::new();
            for (path, len) in open {
                let is_alone = counts.get(end(path, len)) == Some(&1);
                if is_alone || len == path.len() {
                    longer.extend((!is_first).then(|| (path, end(path, len))));
                } else {
                    next.push((path, len_with_folder(path, len)));
                }
            }
            open = next;
            is_first = false;
        }
        Self { longer }
    }

    /// Returns the name of a path. For an unknown path, its last component.
    pub fn of<'a>(&self, path: &'a str) -> &'a str {
        let len = self.longer.get(path).map_or_else(|| file_name(path).len(), |end| end.len());
        end(path, len)
    }
}

/// Returns the last `len` bytes of a path.
fn end(path: &str, len: usize) -> &str {
    path.get(path.len().saturating_sub(len)..).unwrap_or(path)
}

/// Returns the length of an end with one more component.
fn len_with_folder(path: &str, len: usize) -> usize {
    let before = path.get(..path.len().saturating_sub(len + 1)).unwrap_or_default();
    match before.rfind('/') {
        Some(slash) => path.len() - slash - 1,
        None => path.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn path_that_ends_another_one_is_whole() {
        let names = ShortPaths::new(["burn", "/d/burn", "/burn", "", "/x//burn", "[vdso]"]);
        let found =
            ["burn", "/d/burn", "/burn", "", "/x//burn", "[vdso]", "/other/burn"].map(|path| names.of(path));
        assert_eq!(found, ["burn", "d/burn", "/burn", "", "x//burn", "[vdso]", "burn"]);
    }

    proptest! {
        #[test]
        fn names_are_the_shortest_ends_that_differ(paths in prop::collection::vec("[ab]{1,2}(/[ab]){0,3}", 0..12)) {
            let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
            let names = ShortPaths::new(paths.iter().copied());
            let ends = |path: &str| -> Vec<String> {
                let parts: Vec<_> = path.split('/').collect();
                (1..=parts.len()).map(|len| parts[parts.len() - len..].join("/")).collect()
            };
            for path in &paths {
                let is_other = |other: &&&str| **other != *path;
                let others: BTreeSet<_> = paths.iter().filter(is_other).flat_map(|other| ends(other)).collect();
                let shortest = ends(path).into_iter().find(|end| !others.contains(end));
                prop_assert_eq!(names.of(path), shortest.as_deref().unwrap_or(path));
            }
        }
    }
}
