//! The place of a CPU in the machine.

use super::{FileError, System, cpu_file};

/// The package, the die and the core of a CPU, as the kernel numbers them.
///
/// Cores of different packages may have the same number, so a core is named by all three. They sort by package, die and
/// core.
///
/// ```
/// use perf_session::{CpuList, CpuTopology, System};
///
/// # fn main() -> Result<(), perf_session::FileError> {
/// let system = System::new();
/// let cpu = CpuList::online(&system)?.iter().next().unwrap_or(0);
/// let CpuTopology { package, die, core, .. } = CpuTopology::of(cpu, &system)?;
/// println!("CPU {cpu}: S{package}-D{die}-C{core}");
/// # Ok(())
/// # }
/// ```
///
/// # References
///
/// - `Documentation/admin-guide/cputopology.rst` of the kernel
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct CpuTopology {
    /// The package, also called socket; -1 on machines without packages.
    pub package: i32,
    /// The die in the package; 0 before Linux 5.3, and on machines that do not number them.
    pub die: i32,
    /// The core in the package.
    pub core: i32,
}

impl CpuTopology {
    /// Returns a place in a machine.
    pub const fn new(package: i32, die: i32, core: i32) -> Self {
        Self { package, die, core }
    }

    /// Reads the place of an online CPU from `/sys`.
    ///
    /// # Errors
    ///
    /// A file cannot be read, because the CPU is offline or does not exist, or has no number. The error has its path.
    pub fn of(cpu: u32, system: &System) -> Result<Self, FileError> {
        let die = System::optional(number(system, cpu, "die_id"))?.unwrap_or(0).max(0);
        Ok(Self { package: package(system, cpu)?, die, core: number(system, cpu, "core_id")? })
    }
}

/// Returns the package of an online CPU, -1 on machines without packages.
pub(crate) fn package(system: &System, cpu: u32) -> Result<i32, FileError> {
    number(system, cpu, "physical_package_id")
}

fn number(system: &System, cpu: u32, name: &str) -> Result<i32, FileError> {
    let path = cpu_file(&format!("cpu{cpu}/topology/{name}"));
    let text = system.read(&path)?;
    text.trim().parse().map_err(|_| FileError::malformed(system.path(&path), "a number", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let tree = Tree::new();
        for (name, content) in files {
            tree.file(format!("/sys/devices/system/cpu/cpu3/topology/{name}"), content);
        }
        tree
    }

    #[test]
    fn place_has_the_numbers_of_the_kernel() {
        let new = tree(&[("physical_package_id", "1\n"), ("die_id", "2\n"), ("core_id", "17\n")]);
        let place = CpuTopology::of(3, new.system()).unwrap();
        assert_eq!(place, CpuTopology { package: 1, die: 2, core: 17 });
        let old = tree(&[("physical_package_id", "-1\n"), ("core_id", "0\n")]);
        let place = CpuTopology::of(3, old.system()).unwrap();
        assert_eq!(place, CpuTopology { package: -1, die: 0, core: 0 });
    }

    #[test]
    fn missing_or_malformed_number_is_an_error_with_its_path() {
        let tree = tree(&[("physical_package_id", "1\n"), ("core_id", "x\n")]);
        let error = CpuTopology::of(3, tree.system()).unwrap_err().to_string();
        assert!(error.contains("cpu3/topology/core_id") && error.contains('x'), "{error}");
        let error = CpuTopology::of(4, tree.system()).unwrap_err().to_string();
        assert!(error.contains("cpu4/topology"), "{error}");
    }
}
