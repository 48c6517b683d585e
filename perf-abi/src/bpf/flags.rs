//! Flags of maps and of their elements.

bit_set! {
    /// `BPF_ANY` and others—the mode of an update or lookup.
    ///
    /// `BPF_ANY` is 0: creates an element or replaces it.
    #[doc(alias = "BPF_ANY")]
    pub struct BpfElemFlags(u64) {
        /// Only creates an element.
        "BPF_NOEXIST" NO_EXIST = 1, since (3, 18);
        /// Only replaces an element.
        "BPF_EXIST" EXIST = 2, since (3, 18);
        /// Takes the spin lock of the element.
        "BPF_F_LOCK" LOCK = 4, since (5, 1);
        /// Accesses the value of one CPU, whose number is in the upper half.
        "BPF_F_CPU" CPU = 8, since (7, 0);
        /// Updates the values of all CPUs.
        "BPF_F_ALL_CPUS" ALL_CPUS = 16, since (7, 0);
    }
}

bit_set! {
    /// `BPF_F_*`—properties of a new map.
    pub struct BpfMapFlags(u32) {
        /// Allocates elements on demand.
        "BPF_F_NO_PREALLOC" NO_PREALLOC = 1 << 0, since (4, 6);
        /// Uses an LRU list for each CPU.
        "BPF_F_NO_COMMON_LRU" NO_COMMON_LRU = 1 << 1, since (4, 10);
        /// Allocates from the NUMA node in `numa_node`.
        "BPF_F_NUMA_NODE" NUMA_NODE = 1 << 2, since (4, 14);
        /// Read-only for user space.
        "BPF_F_RDONLY" READ_ONLY = 1 << 3, since (4, 15);
        /// Write-only for user space.
        "BPF_F_WRONLY" WRITE_ONLY = 1 << 4, since (4, 15);
        /// Stores stacks as build id and offset.
        "BPF_F_STACK_BUILD_ID" STACK_BUILD_ID = 1 << 5, since (4, 17);
        /// Uses 0 as the hash seed; for tests.
        "BPF_F_ZERO_SEED" ZERO_SEED = 1 << 6, since (5, 0);
        /// Read-only for programs.
        "BPF_F_RDONLY_PROG" PROG_READ_ONLY = 1 << 7, since (5, 2);
        /// Write-only for programs.
        "BPF_F_WRONLY_PROG" PROG_WRITE_ONLY = 1 << 8, since (5, 2);
        /// Copies the values when a socket is cloned.
        "BPF_F_CLONE" CLONE = 1 << 9, since (5, 4);
        /// Can be mapped into memory.
        "BPF_F_MMAPABLE" MMAPABLE = 1 << 10, since (5, 5);
        /// Keeps its perf events when the descriptor of the map that stored them is closed.
        "BPF_F_PRESERVE_ELEMS" PRESERVE_ELEMS = 1 << 11, since (5, 11);
        /// Allows inner maps of different lengths.
        "BPF_F_INNER_MAP" INNER_MAP = 1 << 12, since (5, 11);
        /// `map_token_fd` is set.
        "BPF_F_TOKEN_FD" TOKEN_FD = 1 << 16, since (6, 9);
    }
}

/// Index of the current CPU, in the flags of the helpers for perf event arrays. Since Linux 4.4.
pub const BPF_F_CURRENT_CPU: u64 = 0xffff_ffff;
