//! Flags of maps and of their elements.

bit_set! {
    /// `BPF_ANY` and others—the mode of an update or lookup.
    ///
    /// `BPF_ANY` is 0: creates an element or replaces it.
    #[doc(alias = "BPF_ANY")]
    pub struct BpfElemFlags(u64) {
        /// Only creates an element. Since Linux 3.18.
        "BPF_NOEXIST" NO_EXIST = 1;
        /// Only replaces an element. Since Linux 3.18.
        "BPF_EXIST" EXIST = 2;
        /// Takes the spin lock of the element. Since Linux 5.1.
        "BPF_F_LOCK" LOCK = 4;
        /// Accesses the value of one CPU, whose number is in the upper half. Since Linux 7.0.
        "BPF_F_CPU" CPU = 8;
        /// Updates the values of all CPUs. Since Linux 7.0.
        "BPF_F_ALL_CPUS" ALL_CPUS = 16;
    }
}

bit_set! {
    /// `BPF_F_*`—properties of a new map.
    pub struct BpfMapFlags(u32) {
        /// Allocates elements on demand. Since Linux 4.6.
        "BPF_F_NO_PREALLOC" NO_PREALLOC = 1 << 0;
        /// Uses an LRU list for each CPU. Since Linux 4.10.
        "BPF_F_NO_COMMON_LRU" NO_COMMON_LRU = 1 << 1;
        /// Allocates from the NUMA node in `numa_node`. Since Linux 4.14.
        "BPF_F_NUMA_NODE" NUMA_NODE = 1 << 2;
        /// Read-only for user space. Since Linux 4.15.
        "BPF_F_RDONLY" READ_ONLY = 1 << 3;
        /// Write-only for user space. Since Linux 4.15.
        "BPF_F_WRONLY" WRITE_ONLY = 1 << 4;
        /// Stores stacks as build id and offset. Since Linux 4.17.
        "BPF_F_STACK_BUILD_ID" STACK_BUILD_ID = 1 << 5;
        /// Uses 0 as the hash seed; for tests. Since Linux 5.0.
        "BPF_F_ZERO_SEED" ZERO_SEED = 1 << 6;
        /// Read-only for programs. Since Linux 5.2.
        "BPF_F_RDONLY_PROG" PROG_READ_ONLY = 1 << 7;
        /// Write-only for programs. Since Linux 5.2.
        "BPF_F_WRONLY_PROG" PROG_WRITE_ONLY = 1 << 8;
        /// Copies the values when a socket is cloned. Since Linux 5.4.
        "BPF_F_CLONE" CLONE = 1 << 9;
        /// Can be mapped into memory. Since Linux 5.5.
        "BPF_F_MMAPABLE" MMAPABLE = 1 << 10;
        /// Keeps its perf events when the descriptor of the map that stored them is closed. Since
        /// Linux 5.11.
        "BPF_F_PRESERVE_ELEMS" PRESERVE_ELEMS = 1 << 11;
        /// Allows inner maps of different lengths. Since Linux 5.11.
        "BPF_F_INNER_MAP" INNER_MAP = 1 << 12;
        /// `map_token_fd` is set. Since Linux 6.9.
        "BPF_F_TOKEN_FD" TOKEN_FD = 1 << 16;
    }
}

/// Index of the current CPU, in the flags of the helpers for perf event arrays. Since Linux 4.4.
pub const BPF_F_CURRENT_CPU: u64 = 0xffff_ffff;
