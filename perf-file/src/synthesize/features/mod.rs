//! The feature sections that describe the machine.

use super::Host;
use crate::format::Feature;
use crate::writer::Features;

mod caches;
mod cpus;
mod memory;

/// Keys of `/proc/cpuinfo` with the name of the CPU, by architecture: x86, arm, powerpc, riscv, s390.
const CPU_NAMES: [&str; 5] = ["model name", "Processor", "cpu", "uarch", "vendor_id"];

impl Host {
    /// Returns what `/proc` and `/sys` report about the machine: host name, kernel release, architecture,
    /// CPUs and their topology and caches, memory, NUMA nodes and PMUs. A section whose files are missing
    /// is left out.
    pub fn features(&self) -> Features {
        let mut features = Features::new();
        let texts = [
            (Feature::HOSTNAME, self.text("/proc/sys/kernel/hostname")),
            (Feature::OSRELEASE, self.text("/proc/sys/kernel/osrelease")),
            (Feature::ARCH, Some(self.arch())),
            (Feature::CPUDESC, self.cpu_name()),
            (Feature::CPUID, self.cpu_id()),
        ];
        for (feature, text) in texts {
            if let Some(text) = text {
                features.set_text(feature, &text);
            }
        }
        if let Some(kilobytes) = self.kilobytes("/proc/meminfo", "MemTotal:") {
            features.set_total_memory(kilobytes);
        }
        self.add_cpus(&mut features);
        self.add_caches(&mut features);
        self.add_memory(&mut features);
        self.add_pmus(&mut features);
        features
    }

    /// Returns the machine as `uname -m` prints it. The file is there since Linux 6.1.
    fn arch(&self) -> String {
        self.text("/proc/sys/kernel/arch").unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    }

    fn cpu_name(&self) -> Option<String> {
        let info = self.text("/proc/cpuinfo")?;
        CPU_NAMES.into_iter().find_map(|key| value(&info, key)).map(ToOwned::to_owned)
    }

    /// Returns the id of the CPU as the perf tool writes it: vendor, family, model and stepping on x86, the
    /// register MIDR on arm64.
    fn cpu_id(&self) -> Option<String> {
        if let Some(midr) = self.text("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1") {
            return Some(midr);
        }
        let info = self.text("/proc/cpuinfo")?;
        let fields = ["vendor_id", "cpu family", "model", "stepping"].map(|key| value(&info, key));
        let fields: Option<Vec<&str>> = fields.into_iter().collect();
        Some(fields?.join(","))
    }

    fn add_pmus(&self, features: &mut Features) {
        const FOLDER: &str = "/sys/bus/event_source/devices";
        let pmu = |name: String| {
            let kind = self.number(format!("{FOLDER}/{name}/type"))?;
            Some((u32::try_from(kind).ok()?, name))
        };
        let mut pmus: Vec<(u32, String)> = self.entries(FOLDER).filter_map(pmu).collect();
        pmus.sort_unstable();
        if !pmus.is_empty() {
            features.set_pmus(&pmus);
        }
    }

    /// Returns the number after a key, in kB.
    fn kilobytes(&self, path: &str, key: &str) -> Option<u64> {
        let text = self.text(path)?;
        let (_, rest) = text.split_once(key)?;
        rest.split_whitespace().next()?.parse().ok()
    }
}

/// Returns the value of the first line `key : value`.
fn value<'a>(info: &'a str, key: &str) -> Option<&'a str> {
    let of_line = |line: &'a str| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    };
    info.lines().find_map(of_line)
}
