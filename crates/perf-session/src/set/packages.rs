//! Which package a CPU belongs to.

use super::ScopeCount;
use super::opened::Opened;
use crate::system::{FileError, package};

/// The package of each CPU that has an event which counts once for a package.
#[derive(Clone, Debug, Default)]
pub(super) struct Packages(Vec<(u32, i32)>);

impl Packages {
    /// Reads the packages, if an event of the set needs them.
    pub(super) fn read(opened: &Opened) -> Result<Self, FileError> {
        let per_package = opened.events().filter(|event| event.spec.is_per_package());
        let mut cpus: Vec<u32> = per_package.filter_map(|event| event.scope.cpu_id()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        let system = &opened.options().system;
        cpus.into_iter().map(|cpu| Ok((cpu, package(system, cpu)?))).collect::<Result<_, _>>().map(Self)
    }

    fn of(&self, cpu: u32) -> Option<i32> {
        self.0.iter().find(|&&(other, _)| other == cpu).map(|&(_, package)| package)
    }

    /// Marks the counts of a package that an earlier CPU of the package has already.
    pub(super) fn mark_repeated(&self, counts: &mut [ScopeCount]) {
        let mut seen = Vec::new();
        for count in counts {
            let Some(package) = count.scope.cpu_id().and_then(|cpu| self.of(cpu)) else { continue };
            let key = (package, count.pmu.clone());
            count.is_repeated = seen.contains(&key);
            if !count.is_repeated {
                seen.push(key);
            }
        }
    }
}
