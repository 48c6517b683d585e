//! Flags of maps and of their elements.

bit_set! {
    /// `BPF_ANY` and others—how an element is stored or looked up.
    ///
    /// No bit is `BPF_ANY`: make a new element or replace one.
    #[doc(alias = "BPF_ANY")]
    pub struct BpfElemFlags(u64) {
        /// Only make a new one. Since Linux 3.18.
        "BPF_NOEXIST" NO_EXIST = 1;
        /// Only replace one. Since Linux 3.18.
        "BPF_EXIST" EXIST = 2;
        /// Take the element's spin lock. Since Linux 5.1.
        "BPF_F_LOCK" LOCK = 4;
        /// Of one CPU, whose number is in the upper half. Since Linux 7.0.
        "BPF_F_CPU" CPU = 8;
        /// The same value for all CPUs. Since Linux 7.0.
        "BPF_F_ALL_CPUS" ALL_CPUS = 16;
    }
}

bit_set! {
    /// `BPF_F_*`—properties of a new map.
    pub struct BpfMapFlags(u32) {
        /// Takes memory for elements only when they are stored. Since Linux 4.6.
        "BPF_F_NO_PREALLOC" NO_PREALLOC = 1 << 0;
        /// Keeps the order of use per CPU. Since Linux 4.10.
        "BPF_F_NO_COMMON_LRU" NO_COMMON_LRU = 1 << 1;
        /// Takes memory from the node in `numa_node`. Since Linux 4.14.
        "BPF_F_NUMA_NODE" NUMA_NODE = 1 << 2;
        /// User space can only read. Since Linux 4.15.
        "BPF_F_RDONLY" READ_ONLY = 1 << 3;
        /// User space can only write. Since Linux 4.15.
        "BPF_F_WRONLY" WRITE_ONLY = 1 << 4;
        /// Stacks as build id and offset. Since Linux 4.17.
        "BPF_F_STACK_BUILD_ID" STACK_BUILD_ID = 1 << 5;
        /// Starts hashes from 0; for tests. Since Linux 5.0.
        "BPF_F_ZERO_SEED" ZERO_SEED = 1 << 6;
        /// Programs can only read. Since Linux 5.2.
        "BPF_F_RDONLY_PROG" PROG_READ_ONLY = 1 << 7;
        /// Programs can only write. Since Linux 5.2.
        "BPF_F_WRONLY_PROG" PROG_WRITE_ONLY = 1 << 8;
        /// Keeps its contents when a socket is cloned. Since Linux 5.4.
        "BPF_F_CLONE" CLONE = 1 << 9;
        /// Can be mapped into memory. Since Linux 5.5.
        "BPF_F_MMAPABLE" MMAPABLE = 1 << 10;
        /// Keeps its perf events when the descriptor that stored them is closed. Since Linux 5.11.
        "BPF_F_PRESERVE_ELEMS" PRESERVE_ELEMS = 1 << 11;
        /// Can be an inner map of any length. Since Linux 5.11.
        "BPF_F_INNER_MAP" INNER_MAP = 1 << 12;
        /// `map_token_fd` is set. Since Linux 6.9.
        "BPF_F_TOKEN_FD" TOKEN_FD = 1 << 16;
    }
}

/// Index that means the CPU it runs on, in the flags of the helpers for perf event arrays. Since Linux 4.4.
pub const BPF_F_CURRENT_CPU: u64 = 0xffff_ffff;
