use perf_events::{CpuList, System};

use crate::Error;

/// The file with the CPUs for which the kernel allocates per-CPU values.
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

/// Returns the possible CPUs of the running system. They do not change until the next boot.
pub(crate) fn possible_cpus() -> Result<CpuList, Error> {
    let text = System::new().read(POSSIBLE)?;
    text.trim_end().parse().map_err(|error| Error::PossibleCpus { text: text.trim_end().into(), error })
}
