//! Generic events of all machines, with their names.

use perf_ring::{Attr, Hardware, Software};

/// A generic event and the names that the perf tool has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named<T> {
    /// The number that the kernel's header has for it.
    pub event: T,
    /// All names: the printed name, then the aliases.
    pub names: &'static [&'static str],
}

impl<T: Copy> Named<T> {
    const fn new(event: T, names: &'static [&'static str]) -> Self {
        Self { event, names }
    }

    /// Returns the name that is printed.
    pub fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }
}

/// The generic hardware events, in the order of their numbers.
pub const HARDWARE: &[Named<Hardware>] = &[
    Named::new(Hardware::CPU_CYCLES, &["cycles", "cpu-cycles"]),
    Named::new(Hardware::INSTRUCTIONS, &["instructions"]),
    Named::new(Hardware::CACHE_REFERENCES, &["cache-references"]),
    Named::new(Hardware::CACHE_MISSES, &["cache-misses"]),
    Named::new(Hardware::BRANCH_INSTRUCTIONS, &["branches", "branch-instructions"]),
    Named::new(Hardware::BRANCH_MISSES, &["branch-misses"]),
    Named::new(Hardware::BUS_CYCLES, &["bus-cycles"]),
    Named::new(Hardware::STALLED_CYCLES_FRONTEND, &["stalled-cycles-frontend", "idle-cycles-frontend"]),
    Named::new(Hardware::STALLED_CYCLES_BACKEND, &["stalled-cycles-backend", "idle-cycles-backend"]),
    Named::new(Hardware::REF_CPU_CYCLES, &["ref-cycles"]),
];

/// The events of the kernel itself, in the order of their numbers.
pub const SOFTWARE: &[Named<Software>] = &[
    Named::new(Software::CPU_CLOCK, &["cpu-clock"]),
    Named::new(Software::TASK_CLOCK, &["task-clock"]),
    Named::new(Software::PAGE_FAULTS, &["page-faults", "faults"]),
    Named::new(Software::CONTEXT_SWITCHES, &["context-switches", "cs"]),
    Named::new(Software::CPU_MIGRATIONS, &["cpu-migrations", "migrations"]),
    Named::new(Software::PAGE_FAULTS_MIN, &["minor-faults"]),
    Named::new(Software::PAGE_FAULTS_MAJ, &["major-faults"]),
    Named::new(Software::ALIGNMENT_FAULTS, &["alignment-faults"]),
    Named::new(Software::EMULATION_FAULTS, &["emulation-faults"]),
    Named::new(Software::DUMMY, &["dummy"]),
    Named::new(Software::BPF_OUTPUT, &["bpf-output"]),
    Named::new(Software::CGROUP_SWITCHES, &["cgroup-switches"]),
];

/// Returns the generic event with this name or alias, without modifiers: a hardware, software or
/// cache event.
///
/// ```
/// use perf_session::catalog;
/// use perf_session::ring::{Attr, Software};
///
/// assert_eq!(catalog::attr_of("cs"), Some(Attr::software(Software::CONTEXT_SWITCHES)));
/// ```
pub fn attr_of(name: &str) -> Option<Attr> {
    let hardware = || find(HARDWARE, name).map(Attr::hardware);
    let software = || find(SOFTWARE, name).map(Attr::software);
    let cache = || super::cache_of(name).map(|event| Attr::cache(event.cache, event.op, event.result));
    hardware().or_else(software).or_else(cache)
}

fn find<T: Copy>(events: &[Named<T>], name: &str) -> Option<T> {
    events.iter().find(|event| event.names.contains(&name)).map(|event| event.event)
}

/// Returns every name and alias of the hardware and software events.
pub(in crate::names) fn names() -> impl Iterator<Item = &'static str> {
    let hardware = HARDWARE.iter().flat_map(|event| event.names);
    hardware.chain(SOFTWARE.iter().flat_map(|event| event.names)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_the_header_has_a_name() {
        let hardware: Vec<_> = HARDWARE.iter().map(|named| named.event).collect();
        assert_eq!(hardware, Hardware::ALL);
        let software: Vec<_> = SOFTWARE.iter().map(|named| named.event).collect();
        assert_eq!(software, Software::ALL);
    }

    #[test]
    fn every_name_finds_its_event() {
        for event in HARDWARE {
            for name in event.names {
                assert_eq!(attr_of(name), Some(Attr::hardware(event.event)), "{name}");
            }
        }
        for event in SOFTWARE {
            for name in event.names {
                assert_eq!(attr_of(name), Some(Attr::software(event.event)), "{name}");
            }
        }
        assert_eq!(attr_of("CYCLES"), None);
    }

    #[test]
    fn no_name_is_listed_twice() {
        let mut names: Vec<_> = names().collect();
        let listed = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), listed);
    }
}
