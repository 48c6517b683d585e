//! The files that are mapped in each process, now.
//!
//! The records come in order of time, so an address is looked up when its sample is read: no
//! history of the mappings is kept. A record that comes late (the summary counts them) may miss its
//! mapping.

use std::collections::HashMap;
use std::rc::Rc;

/// The mappings of all processes, by process id.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    spaces: HashMap<u32, Vec<Area>>,
}

#[derive(Clone, Debug)]
struct Area {
    start: u64,
    /// In bytes, not 0.
    len: u64,
    place: Place,
}

/// A byte of a mapped file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Path of the file as the kernel reported it, or a name like `//anon` or `[vdso]`.
    pub(crate) file: Rc<str>,
    /// In bytes from the start of the file.
    pub(crate) offset: u64,
}

impl Mappings {
    /// Maps `len` bytes of process `pid` at address `start` to `place` and the bytes after it.
    pub(crate) fn map(&mut self, pid: u32, start: u64, len: u64, place: Place) {
        if len == 0 {
            return;
        }
        let area = Area { start, len, place };
        let areas = self.spaces.entry(pid).or_default();
        areas.retain(|old| !area.covers(old));
        areas.push(area);
    }

    /// Copies the mappings of process `parent` to its new child `pid`.
    pub(crate) fn fork(&mut self, pid: u32, parent: u32) {
        // A new thread shares the address space.
        if pid != parent {
            let areas = self.spaces.get(&parent).cloned().unwrap_or_default();
            self.spaces.insert(pid, areas);
        }
    }

    /// Removes all mappings of process `pid`, which executes another program.
    pub(crate) fn exec(&mut self, pid: u32) {
        self.spaces.remove(&pid);
    }

    /// Returns what is mapped at `address` in process `pid`.
    pub(crate) fn find(&self, pid: u32, address: u64) -> Option<Place> {
        // The latest mapping hides the earlier ones.
        self.spaces.get(&pid)?.iter().rev().find_map(|area| area.place_of(address))
    }
}

impl Area {
    fn place_of(&self, address: u64) -> Option<Place> {
        let distance = address.wrapping_sub(self.start);
        let offset = self.place.offset.wrapping_add(distance);
        (distance < self.len).then(|| Place { file: Rc::clone(&self.place.file), offset })
    }

    fn covers(&self, other: &Self) -> bool {
        let distance = other.start.wrapping_sub(self.start);
        distance < self.len && other.len <= self.len - distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, offset: u64) -> Place {
        Place { file: file.into(), offset }
    }

    #[test]
    fn address_is_an_offset_into_its_file() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0x1000, 0x100, place("a", 0x40));
        assert_eq!(mappings.find(1, 0x10ff), Some(place("a", 0x13f)));
        assert_eq!(mappings.find(1, 0x1100), None);
        assert_eq!(mappings.find(1, 0xfff), None);
        assert_eq!(mappings.find(2, 0x1000), None);
    }

    #[test]
    fn later_mapping_hides_the_part_that_it_overlaps() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0x1000, 0x200, place("old", 0));
        mappings.map(1, 0x1000, 0x100, place("new", 0));
        assert_eq!(mappings.find(1, 0x1000), Some(place("new", 0)));
        assert_eq!(mappings.find(1, 0x1180), Some(place("old", 0x180)));
    }

    #[test]
    fn mapping_that_is_hidden_completely_is_removed() {
        let mut mappings = Mappings::default();
        for round in 0..100 {
            mappings.map(1, 0x1000 + round % 2, 0x100 - round % 2, place("old", 0));
            mappings.map(1, 0x1000, 0x100, place("new", 0));
        }
        assert_eq!(mappings.spaces[&1].len(), 1);
        mappings.map(1, 0x1001, 0x100, place("overlaps", 0));
        assert_eq!(mappings.spaces[&1].len(), 2);
    }

    #[test]
    fn child_has_the_mappings_of_its_parent_at_the_fork() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0x1000, 0x100, place("before", 0));
        mappings.fork(2, 1);
        mappings.map(1, 0x1000, 0x100, place("after", 0));
        assert_eq!(mappings.find(2, 0x1000), Some(place("before", 0)));
    }

    #[test]
    fn new_thread_keeps_the_mappings_of_its_process() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0x1000, 0x100, place("a", 0));
        mappings.fork(1, 1);
        assert_eq!(mappings.find(1, 0x1000), Some(place("a", 0)));
    }

    #[test]
    fn reused_process_id_starts_with_its_parents_mappings() {
        let mut mappings = Mappings::default();
        mappings.map(2, 0x1000, 0x100, place("exited", 0));
        mappings.fork(2, 1);
        assert_eq!(mappings.find(2, 0x1000), None);
    }

    #[test]
    fn exec_removes_all_mappings() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0x1000, 0x100, place("parent", 0));
        mappings.fork(2, 1);
        mappings.exec(2);
        assert_eq!(mappings.find(2, 0x1000), None);
        assert_eq!(mappings.find(1, 0x1000), Some(place("parent", 0)));
    }

    #[test]
    fn mapping_up_to_the_last_address_does_not_overflow() {
        let mut mappings = Mappings::default();
        mappings.map(1, u64::MAX - 0xf, 0x10, place("top", 0));
        assert_eq!(mappings.find(1, u64::MAX), Some(place("top", 0xf)));
    }
}
