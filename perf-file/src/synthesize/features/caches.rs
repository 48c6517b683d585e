use super::Host;
use crate::writer::{CpuCache, Features};

const FOLDER: &str = "/sys/devices/system/cpu";

impl Host {
    pub(super) fn add_caches(&self, features: &mut Features) {
        let mut caches = Vec::new();
        for cpu in self.numbered(FOLDER, "cpu") {
            let folder = format!("{FOLDER}/cpu{cpu}/cache");
            for index in self.numbered(&folder, "index") {
                // CPUs that share a cache have the same list.
                if let Some(cache) =
                    self.cache(&format!("{folder}/index{index}")).filter(|cache| !caches.contains(cache))
                {
                    caches.push(cache);
                }
            }
        }
        if !caches.is_empty() {
            caches.sort_by_key(|cache| cache.level);
            features.set_caches(&caches);
        }
    }

    fn cache(&self, folder: &str) -> Option<CpuCache> {
        let number =
            |name| self.number(format!("{folder}/{name}")).and_then(|number| u32::try_from(number).ok());
        let text = |name| self.text(format!("{folder}/{name}"));
        Some(CpuCache {
            level: number("level")?,
            line_size: number("coherency_line_size")?,
            sets: number("number_of_sets")?,
            ways: number("ways_of_associativity")?,
            kind: text("type")?,
            size: text("size")?,
            cpus: text("shared_cpu_list")?,
        })
    }
}
