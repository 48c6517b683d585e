use perf_sys::{Attr, EventType};

use crate::{CpuList, Evidence, FileError, System};

/// The directory of a PMU in sysfs, found by the type of an attr.
#[derive(Clone, Debug)]
pub(crate) struct PmuDir {
    pub(crate) name: String,
    kind: u32,
}

/// The directory of all PMUs.
pub(crate) const DEVICES: &str = "/sys/bus/event_source/devices";

impl PmuDir {
    /// Returns the PMU that the attr selects: by its type, of hardware and cache events by the PMU type in
    /// the upper half of `config`, without one the PMU of the CPU. `None` if sysfs has no such PMU.
    ///
    /// # Errors
    ///
    /// sysfs cannot be read, or a type is no number.
    pub(crate) fn of_attr(system: &System, attr: &Attr) -> Result<Option<Self>, FileError> {
        match attr.kind {
            EventType::HARDWARE | EventType::HW_CACHE => match (attr.config >> 32) as u32 {
                0 => Self::of_cpu(system),
                hybrid => Self::find(system, |pmu| pmu.kind == hybrid),
            },
            EventType::RAW => Self::of_cpu(system),
            kind => Self::find(system, |pmu| pmu.kind == kind.0),
        }
    }

    /// Returns the PMU of the CPU, of a hybrid CPU the first one.
    pub(crate) fn of_cpu(system: &System) -> Result<Option<Self>, FileError> {
        let is_core = |pmu: &Self| {
            let named = pmu.name == "cpu" || pmu.name.starts_with("cpu_") || pmu.name.starts_with("armv");
            pmu.kind == EventType::RAW.0 || named
        };
        Self::find(system, is_core)
    }

    fn find(system: &System, is_it: impl Fn(&Self) -> bool) -> Result<Option<Self>, FileError> {
        let Some(names) = System::optional(system.list(DEVICES))? else { return Ok(None) };
        for name in names {
            let Some(kind) =
                System::optional(system.number(format!("{DEVICES}/{name}/type"), "the type of a PMU"))?
            else {
                continue;
            };
            let pmu = Self { name, kind };
            if is_it(&pmu) {
                return Ok(Some(pmu));
            }
        }
        Ok(None)
    }

    /// Returns the path of a file of the PMU.
    pub(crate) fn path(&self, file: &str) -> String {
        format!("{DEVICES}/{}/{file}", self.name)
    }

    /// Returns the CPUs on which an uncore PMU is opened; `None` if it counts on each CPU.
    pub(crate) fn cpumask(&self, system: &System) -> Result<Option<CpuList>, FileError> {
        System::optional(system.cpu_list(&self.path("cpumask")))
    }

    /// Returns the CPUs of a core PMU; `None` if it is on each CPU.
    pub(crate) fn cpus(&self, system: &System) -> Result<Option<CpuList>, FileError> {
        System::optional(system.cpu_list(&self.path("cpus")))
    }

    /// Returns the largest `precise_ip` that the PMU samples with.
    pub(crate) fn max_precise(&self, system: &System) -> Result<Option<u32>, FileError> {
        System::optional(system.number(self.path("caps/max_precise"), "a level"))
    }

    /// Returns the type file as evidence.
    pub(crate) fn evidence(&self) -> Evidence {
        Evidence::new(self.path("type"), self.kind)
    }
}
