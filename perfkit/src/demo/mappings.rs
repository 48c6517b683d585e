//! Which file an address belonged to, at the time of a sample.
//!
//! An address means something only together with its process and a moment: an exec throws all mappings
//! away, a fork copies them, a later mapping hides an earlier one. Records of several rings do not come
//! in the order of time, so nothing is resolved before all of them were seen.

use std::collections::HashMap;
use std::rc::Rc;

/// Forks to follow back; a longer line than this is a damaged one.
const MAX_GENERATIONS: usize = 32;

/// All mappings of all processes.
#[derive(Debug, Default)]
pub(crate) struct Mappings {
    spaces: HashMap<u32, Space>,
}

/// The address space of one process, over its whole life.
#[derive(Debug, Default)]
struct Space {
    /// The process it was copied from, and when.
    parent: Option<(u32, u64)>,
    /// When it was emptied by an exec.
    execs: Vec<u64>,
    areas: Vec<Area>,
}

#[derive(Debug)]
struct Area {
    time: u64,
    start: u64,
    len: u64,
    place: Place,
}

/// A place in a mapped file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The file's path as the kernel gave it, or a name like `//anon` or `[vdso]`.
    pub(crate) file: Rc<str>,
    /// Bytes from the start of the file.
    pub(crate) offset: u64,
}

impl Mappings {
    /// Process `pid` mapped `len` bytes at `start`, which hold `place` and what follows it.
    pub(crate) fn map(&mut self, pid: u32, time: u64, start: u64, len: u64, place: Place) {
        self.spaces.entry(pid).or_default().areas.push(Area { time, start, len, place });
    }

    /// Process `pid` began as a copy of `parent`.
    pub(crate) fn fork(&mut self, pid: u32, time: u64, parent: u32) {
        // A new thread shares the space it is in.
        if pid != parent {
            self.spaces.entry(pid).or_default().parent = Some((parent, time));
        }
    }

    /// Process `pid` started another program.
    pub(crate) fn exec(&mut self, pid: u32, time: u64) {
        self.spaces.entry(pid).or_default().execs.push(time);
    }

    /// What lay at `address` in process `pid` at `time`.
    pub(crate) fn find(&self, pid: u32, time: u64, address: u64) -> Option<Place> {
        let (mut pid, mut time) = (pid, time);
        for _ in 0..MAX_GENERATIONS {
            let space = self.spaces.get(&pid)?;
            let exec = space.execs.iter().copied().filter(|&exec| exec <= time).max();
            if let Some(area) = space.newest(exec.unwrap_or(0), time, address) {
                return Some(area.place_of(address));
            }
            match (exec, space.parent) {
                (None, Some((parent, forked))) => (pid, time) = (parent, forked.min(time)),
                _ => return None,
            }
        }
        None
    }
}

impl Space {
    fn newest(&self, from: u64, to: u64, address: u64) -> Option<&Area> {
        let holds =
            |area: &&Area| (from..=to).contains(&area.time) && address.wrapping_sub(area.start) < area.len;
        self.areas.iter().filter(holds).max_by_key(|area| area.time)
    }
}

impl Area {
    fn place_of(&self, address: u64) -> Place {
        let offset = self.place.offset.wrapping_add(address.wrapping_sub(self.start));
        Place { file: Rc::clone(&self.place.file), offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, offset: u64) -> Place {
        Place { file: file.into(), offset }
    }

    #[test]
    fn an_address_is_an_offset_into_its_file() {
        let mut mappings = Mappings::default();
        mappings.map(1, 10, 0x1000, 0x100, place("a", 0x40));
        assert_eq!(mappings.find(1, 20, 0x10ff), Some(place("a", 0x13f)));
        assert_eq!(mappings.find(1, 20, 0x1100), None);
        assert_eq!(mappings.find(1, 20, 0xfff), None);
        assert_eq!(mappings.find(2, 20, 0x1000), None);
    }

    #[test]
    fn a_mapping_says_nothing_about_the_time_before_it() {
        let mut mappings = Mappings::default();
        mappings.map(1, 10, 0x1000, 0x100, place("a", 0));
        assert_eq!(mappings.find(1, 9, 0x1000), None);
    }

    #[test]
    fn a_later_mapping_hides_an_earlier_one_in_any_order() {
        let mut mappings = Mappings::default();
        mappings.map(1, 20, 0x1000, 0x100, place("new", 0));
        mappings.map(1, 10, 0x1000, 0x200, place("old", 0));
        assert_eq!(mappings.find(1, 30, 0x1000), Some(place("new", 0)));
        assert_eq!(mappings.find(1, 15, 0x1000), Some(place("old", 0)));
        assert_eq!(mappings.find(1, 30, 0x1180), Some(place("old", 0x180)));
    }

    #[test]
    fn a_fork_sees_its_parents_mappings_as_they_were() {
        let mut mappings = Mappings::default();
        mappings.map(1, 10, 0x1000, 0x100, place("before", 0));
        mappings.fork(2, 20, 1);
        mappings.map(1, 30, 0x1000, 0x100, place("after", 0));
        assert_eq!(mappings.find(2, 40, 0x1000), Some(place("before", 0)));
    }

    #[test]
    fn an_exec_forgets_the_parent_and_what_was_mapped() {
        let mut mappings = Mappings::default();
        mappings.map(1, 10, 0x1000, 0x100, place("parent", 0));
        mappings.fork(2, 20, 1);
        mappings.map(2, 25, 0x5000, 0x100, place("child", 0));
        mappings.exec(2, 30);
        assert_eq!(mappings.find(2, 40, 0x1000), None);
        assert_eq!(mappings.find(2, 40, 0x5000), None);
        assert_eq!(mappings.find(2, 29, 0x5000), Some(place("child", 0)));
    }

    #[test]
    fn processes_that_claim_to_be_each_others_parent_end() {
        let mut mappings = Mappings::default();
        mappings.fork(1, 10, 2);
        mappings.fork(2, 10, 1);
        assert_eq!(mappings.find(1, 20, 0x1000), None);
    }

    #[test]
    fn an_area_up_to_the_last_address_does_not_overflow() {
        let mut mappings = Mappings::default();
        mappings.map(1, 0, u64::MAX - 0xf, 0x10, place("top", 0));
        assert_eq!(mappings.find(1, 1, u64::MAX), Some(place("top", 0xf)));
    }
}
