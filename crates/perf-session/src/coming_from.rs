//! Migration tables: the items of another library and their counterparts here and in
//! [`ring`](crate::ring).
//!
//! | from | page |
//! |---|---|
//! | `github.com/elastic/go-perf` | [`go_perf`] |
//! | `perf-event2`, `perf-event-open`, by topic | [`perf_event_crates`] |
//!
//! [`ring::coming_from`](crate::ring::coming_from) lists the counters, groups and rings of
//! `perf-event2` item by item. The examples are compiled as tests, and the links are checked.

// Only the links of the pages use these names.
#[cfg(doc)]
use crate::ring::{abi::*, decode::*, *};

#[doc = include_str!("../docs/coming-from/go-perf.md")]
pub mod go_perf {
    #[cfg(doc)]
    use super::*;
}

#[doc = include_str!("../docs/coming-from/perf-event-crates.md")]
pub mod perf_event_crates {
    #[cfg(doc)]
    use super::*;
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_exported_name_of_go_perf_is_in_its_table() {
        let page = include_str!("../docs/coming-from/go-perf.md");
        let names = include_str!("../tests/data/go-perf.txt");
        let words: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
        let is_there = |name: &str| words.contains(&name);
        let missing: Vec<&str> = names.lines().filter(|name| !is_there(name)).collect();
        assert!(names.lines().count() > 250);
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn every_exported_field_of_go_perf_is_in_a_row_with_its_struct() {
        let page = include_str!("../docs/coming-from/go-perf.md");
        let fields = include_str!("../tests/data/go-perf-fields.txt");
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|row| row.split('`').skip(1).step_by(2).collect())
            .collect();
        let is_there = |name: &str| {
            let (of, field) = name.split_once('.').expect("a struct and a field");
            rows.iter().any(|row| row.contains(&name) || row.contains(&of) && row.contains(&field))
        };
        let missing: Vec<&str> = fields.lines().filter(|name| !is_there(name)).collect();
        assert!(fields.lines().count() > 150);
        assert_eq!(missing, [""; 0]);
    }
}
