//! Pins a thread to a CPU.

pub(crate) fn pin(cpu: usize) -> std::io::Result<()> {
    // SAFETY: any bytes are a set of CPUs.
    let mut cpus: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is live and mutable.
    unsafe { libc::CPU_SET(cpu, &mut cpus) };
    // SAFETY: the kernel reads the set, of this size.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&cpus), &raw const cpus) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
