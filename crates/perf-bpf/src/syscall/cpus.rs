//! The number of values in an element of a per-CPU map: the kernel copies one for each possible CPU
//! and takes no length for them. Containers and mounts can change files about CPUs, so this file
//! asks the kernel by a system call.

use std::os::fd::AsFd;
use std::sync::OnceLock;

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfCmd, BpfMapCreate, BpfMapElem, BpfMapType};

use super::{address, address_mut, bpf, bpf_fd, last_errno, number};

/// The largest set of CPUs that is tried, in bytes. The largest that Linux can be built for has 1
/// KiB.
const LARGEST_SET: usize = 64 << 10;

/// Returns a number of CPUs that the possible ones do not exceed.
///
/// `sched_getaffinity(2)` writes the kernel's whole set of CPUs, regardless of the affinity of the
/// process, and returns its length. Ids of possible CPUs are bits in this set.
pub(crate) fn most_cpus() -> Result<usize, Errno> {
    static MOST: OnceLock<usize> = OnceLock::new();
    if let Some(&most) = MOST.get() {
        return Ok(most);
    }
    let mut set = vec![0_u64];
    let bytes = loop {
        let len = size_of_val(set.as_slice());
        // SAFETY: the kernel writes at most `len` bytes to the set, a live buffer. 0 is the calling
        // thread.
        let written = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, len, set.as_mut_ptr()) };
        match usize::try_from(written) {
            Ok(written) => break written,
            // The set is shorter than the kernel's.
            Err(_) if last_errno() == Errno::EINVAL && len < LARGEST_SET => set.resize(set.len() * 2, 0),
            Err(_) => return Err(last_errno()),
        }
    };
    Ok(*MOST.get_or_init(|| bytes * 8))
}

/// Returns the number of possible CPUs, which stays the same until the next boot, or `None` if the
/// process may not create a map.
///
/// A new map of one value of 0 for each CPU is read into a longer buffer without zeros.
pub(crate) fn possible_cpus() -> Option<usize> {
    static POSSIBLE: OnceLock<usize> = OnceLock::new();
    if let Some(&possible) = POSSIBLE.get() {
        return Some(possible);
    }
    let mut create = BpfMapCreate::new();
    create.map_type = BpfMapType::PERCPU_ARRAY;
    create.key_size = size_of::<u32>() as u32;
    create.value_size = size_of::<u64>() as u32;
    create.max_entries = 1;
    // SAFETY: the attr holds numbers only, and the command returns a descriptor.
    let map = unsafe { bpf_fd(BpfCmd::MAP_CREATE, &mut create) }.ok()?;
    let mut values = vec![u8::MAX; most_cpus().ok()?.checked_mul(size_of::<u64>())?];
    let mut lookup = BpfMapElem::new();
    lookup.map_fd = number(map.as_fd());
    lookup.key = address(&[0; size_of::<u32>()]);
    lookup.value = address_mut(&mut values);
    // SAFETY: the kernel reads a key of 4 bytes and writes a value of 8 bytes for each possible
    // CPU; the buffer has space for at least as many.
    unsafe { bpf(BpfCmd::MAP_LOOKUP_ELEM, &mut lookup) }.ok()?;
    let written = values.iter().take_while(|&&byte| byte == 0).count();
    let is_plain = values.iter().skip(written).all(|&byte| byte == u8::MAX);
    // Another process with the privilege may have found and written the map.
    let is_whole = is_plain && written != 0 && written % size_of::<u64>() == 0;
    is_whole.then(|| *POSSIBLE.get_or_init(|| written / size_of::<u64>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_cpus_are_within_the_bits_of_a_set_of_cpus() {
        let most = most_cpus().unwrap();
        assert!(most >= 8 && most % 8 == 0, "{most}");
        if let Some(possible) = possible_cpus() {
            assert!((1..=most).contains(&possible), "{possible} of at most {most}");
        }
    }
}
