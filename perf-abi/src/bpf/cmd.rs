//! Commands, and the flags of maps and of their elements.

open_enum! {
    /// `enum bpf_cmd`—the command of the `bpf` system call.
    ///
    /// # References
    ///  - [`bpf(2)`](https://man7.org/linux/man-pages/man2/bpf.2.html)
    #[doc(alias = "bpf_cmd")]
    pub struct BpfCmd(u32) {
        /// Creates a map. Since Linux 3.18.
        "BPF_MAP_CREATE" MAP_CREATE = 0;
        /// Looks up an element. Since Linux 3.18.
        "BPF_MAP_LOOKUP_ELEM" MAP_LOOKUP_ELEM = 1;
        /// Updates an element. Since Linux 3.18.
        "BPF_MAP_UPDATE_ELEM" MAP_UPDATE_ELEM = 2;
        /// Deletes an element. Since Linux 3.18.
        "BPF_MAP_DELETE_ELEM" MAP_DELETE_ELEM = 3;
        /// Iterates over the keys of a map. Since Linux 3.18.
        "BPF_MAP_GET_NEXT_KEY" MAP_GET_NEXT_KEY = 4;
        /// Loads a program. Since Linux 3.18.
        "BPF_PROG_LOAD" PROG_LOAD = 5;
        /// Pins an object to a path. Since Linux 4.4.
        "BPF_OBJ_PIN" OBJ_PIN = 6;
        /// Opens a pinned object. Since Linux 4.4.
        "BPF_OBJ_GET" OBJ_GET = 7;
        /// Attaches a program. Since Linux 4.10.
        "BPF_PROG_ATTACH" PROG_ATTACH = 8;
        /// Detaches a program. Since Linux 4.10.
        "BPF_PROG_DETACH" PROG_DETACH = 9;
        /// Runs a program once. Since Linux 4.12.
        "BPF_PROG_TEST_RUN" PROG_TEST_RUN = 10;
        /// Iterates over the ids of programs. Since Linux 4.13.
        "BPF_PROG_GET_NEXT_ID" PROG_GET_NEXT_ID = 11;
        /// Iterates over the ids of maps. Since Linux 4.13.
        "BPF_MAP_GET_NEXT_ID" MAP_GET_NEXT_ID = 12;
        /// Opens a program by id. Since Linux 4.13.
        "BPF_PROG_GET_FD_BY_ID" PROG_GET_FD_BY_ID = 13;
        /// Opens a map by id. Since Linux 4.13.
        "BPF_MAP_GET_FD_BY_ID" MAP_GET_FD_BY_ID = 14;
        /// Returns information about an object. Since Linux 4.13.
        "BPF_OBJ_GET_INFO_BY_FD" OBJ_GET_INFO_BY_FD = 15;
        /// Returns the attached programs. Since Linux 4.15.
        "BPF_PROG_QUERY" PROG_QUERY = 16;
        /// Attaches to a raw tracepoint. Since Linux 4.17.
        "BPF_RAW_TRACEPOINT_OPEN" RAW_TRACEPOINT_OPEN = 17;
        /// Loads BTF. Since Linux 4.18.
        "BPF_BTF_LOAD" BTF_LOAD = 18;
        /// Opens BTF by id. Since Linux 4.18.
        "BPF_BTF_GET_FD_BY_ID" BTF_GET_FD_BY_ID = 19;
        /// Returns the program that is attached to an event of a task. Since Linux 4.18.
        "BPF_TASK_FD_QUERY" TASK_FD_QUERY = 20;
        /// Looks up and deletes an element. Since Linux 4.20.
        "BPF_MAP_LOOKUP_AND_DELETE_ELEM" MAP_LOOKUP_AND_DELETE_ELEM = 21;
        /// Makes a map read-only for user space. Since Linux 5.2.
        "BPF_MAP_FREEZE" MAP_FREEZE = 22;
        /// Iterates over the ids of BTF objects. Since Linux 5.4.
        "BPF_BTF_GET_NEXT_ID" BTF_GET_NEXT_ID = 23;
        /// Looks up many elements. Since Linux 5.6.
        "BPF_MAP_LOOKUP_BATCH" MAP_LOOKUP_BATCH = 24;
        /// Looks up and deletes many elements. Since Linux 5.6.
        "BPF_MAP_LOOKUP_AND_DELETE_BATCH" MAP_LOOKUP_AND_DELETE_BATCH = 25;
        /// Updates many elements. Since Linux 5.6.
        "BPF_MAP_UPDATE_BATCH" MAP_UPDATE_BATCH = 26;
        /// Deletes many elements. Since Linux 5.6.
        "BPF_MAP_DELETE_BATCH" MAP_DELETE_BATCH = 27;
        /// Attaches a program by a link. Since Linux 5.7.
        "BPF_LINK_CREATE" LINK_CREATE = 28;
        /// Replaces the program of a link. Since Linux 5.7.
        "BPF_LINK_UPDATE" LINK_UPDATE = 29;
        /// Opens a link by id. Since Linux 5.8.
        "BPF_LINK_GET_FD_BY_ID" LINK_GET_FD_BY_ID = 30;
        /// Iterates over the ids of links. Since Linux 5.8.
        "BPF_LINK_GET_NEXT_ID" LINK_GET_NEXT_ID = 31;
        /// Enables statistics. Since Linux 5.8.
        "BPF_ENABLE_STATS" ENABLE_STATS = 32;
        /// Creates an iterator. Since Linux 5.8.
        "BPF_ITER_CREATE" ITER_CREATE = 33;
        /// Detaches a link. Since Linux 5.9.
        "BPF_LINK_DETACH" LINK_DETACH = 34;
        /// Binds a map to a program. Since Linux 5.10.
        "BPF_PROG_BIND_MAP" PROG_BIND_MAP = 35;
        /// Creates a BPF token, which delegates permissions. Since Linux 6.9.
        "BPF_TOKEN_CREATE" TOKEN_CREATE = 36;
        /// Reads the output stream of a program. Since Linux 6.17.
        "BPF_PROG_STREAM_READ_BY_FD" PROG_STREAM_READ_BY_FD = 37;
        /// Associates a program with struct operations. Since Linux 7.0.
        "BPF_PROG_ASSOC_STRUCT_OPS" PROG_ASSOC_STRUCT_OPS = 38;
    }
}

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
