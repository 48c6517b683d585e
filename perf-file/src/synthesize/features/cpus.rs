use super::Host;
use crate::writer::{CpuTopology, Features};

const FOLDER: &str = "/sys/devices/system/cpu";

impl Host {
    pub(super) fn add_cpus(&self, features: &mut Features) {
        let list = |name| self.text(format!("{FOLDER}/{name}")).and_then(|text| cpus(&text));
        let (Some(present), Some(online)) = (list("present"), list("online")) else { return };
        let available = present.iter().max().map_or(0, |highest| highest + 1);
        features.set_cpus(available, online.len() as u32);

        let mut topology = CpuTopology::default();
        for cpu in 0..available {
            let file = |name: &str| self.text(format!("{FOLDER}/cpu{cpu}/topology/{name}"));
            // The kernel writes -1 for an unknown number.
            let number = |name| file(name).map(|text| text.parse().unwrap_or(u32::MAX));
            let lists = [
                // The second name is that of kernels before 5.3.
                (&mut topology.packages, file("package_cpus_list").or_else(|| file("core_siblings_list"))),
                (&mut topology.cores, file("core_cpus_list").or_else(|| file("thread_siblings_list"))),
                (&mut topology.dies, file("die_cpus_list")),
            ];
            for (lists, list) in lists {
                if let Some(list) = list.filter(|list| !lists.contains(list)) {
                    lists.push(list);
                }
            }
            let ids = (number("core_id"), number("physical_package_id"), number("die_id"));
            topology.cpus.push(match ids {
                (Some(core), Some(package), die) => Some([core, package, die.unwrap_or(u32::MAX)]),
                _ => None,
            });
        }
        if !topology.cores.is_empty() {
            features.set_cpu_topology(&topology);
        }
    }
}

/// Returns the CPUs of a list such as `0-3,8`; `None` if it is malformed.
fn cpus(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for range in list.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // No kernel has more CPUs; a file of a test may.
        cpus.extend((first..=last).take(1 << 16));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_cpus_has_ranges_and_holes() {
        assert_eq!(cpus("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(cpus(""), Some(vec![]));
        assert_eq!(cpus("0-x"), None);
    }
}
