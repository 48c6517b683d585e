//! Types of maps, programs, attachments and links, and the helpers.

open_enum! {
    /// `enum bpf_map_type`—map types.
    #[doc(alias = "bpf_map_type")]
    pub struct BpfMapType(u32) {
        /// Hash. Since Linux 3.19.
        "BPF_MAP_TYPE_HASH" HASH = 1;
        /// Array. Since Linux 3.19.
        "BPF_MAP_TYPE_ARRAY" ARRAY = 2;
        /// Programs for tail calls. Since Linux 4.2.
        "BPF_MAP_TYPE_PROG_ARRAY" PROG_ARRAY = 3;
        /// Perf events, by convention one per CPU. Since Linux 4.3.
        "BPF_MAP_TYPE_PERF_EVENT_ARRAY" PERF_EVENT_ARRAY = 4;
        /// Hash with a value per CPU. Since Linux 4.6.
        "BPF_MAP_TYPE_PERCPU_HASH" PERCPU_HASH = 5;
        /// Array with a value per CPU. Since Linux 4.6.
        "BPF_MAP_TYPE_PERCPU_ARRAY" PERCPU_ARRAY = 6;
        /// Callchains by id. Since Linux 4.6.
        "BPF_MAP_TYPE_STACK_TRACE" STACK_TRACE = 7;
        /// Cgroups. Since Linux 4.8.
        "BPF_MAP_TYPE_CGROUP_ARRAY" CGROUP_ARRAY = 8;
        /// Hash that evicts the least recently used element. Since Linux 4.10.
        "BPF_MAP_TYPE_LRU_HASH" LRU_HASH = 9;
        /// The same with a value per CPU. Since Linux 4.10.
        "BPF_MAP_TYPE_LRU_PERCPU_HASH" LRU_PERCPU_HASH = 10;
        /// Trie for the longest prefix match. Since Linux 4.11.
        "BPF_MAP_TYPE_LPM_TRIE" LPM_TRIE = 11;
        /// Array of maps. Since Linux 4.12.
        "BPF_MAP_TYPE_ARRAY_OF_MAPS" ARRAY_OF_MAPS = 12;
        /// Hash of maps. Since Linux 4.12.
        "BPF_MAP_TYPE_HASH_OF_MAPS" HASH_OF_MAPS = 13;
        /// Network devices by index. Since Linux 4.14.
        "BPF_MAP_TYPE_DEVMAP" DEVMAP = 14;
        /// Sockets by index. Since Linux 4.14.
        "BPF_MAP_TYPE_SOCKMAP" SOCKMAP = 15;
        /// CPUs that packets are redirected to. Since Linux 4.15.
        "BPF_MAP_TYPE_CPUMAP" CPUMAP = 16;
        /// `AF_XDP` sockets. Since Linux 4.18.
        "BPF_MAP_TYPE_XSKMAP" XSKMAP = 17;
        /// Sockets by key. Since Linux 4.18.
        "BPF_MAP_TYPE_SOCKHASH" SOCKHASH = 18;
        /// Values of a program attached to a cgroup; see `CGRP_STORAGE` for cgroups. Since Linux 4.19.
        "BPF_MAP_TYPE_CGROUP_STORAGE" CGROUP_STORAGE = 19;
        /// Sockets of a `SO_REUSEPORT` group. Since Linux 4.19.
        "BPF_MAP_TYPE_REUSEPORT_SOCKARRAY" REUSEPORT_SOCKARRAY = 20;
        /// `CGROUP_STORAGE` with a value per CPU. Since Linux 4.20.
        "BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE" PERCPU_CGROUP_STORAGE = 21;
        /// Queue. Since Linux 4.20.
        "BPF_MAP_TYPE_QUEUE" QUEUE = 22;
        /// Stack. Since Linux 4.20.
        "BPF_MAP_TYPE_STACK" STACK = 23;
        /// Values that belong to sockets. Since Linux 5.2.
        "BPF_MAP_TYPE_SK_STORAGE" SK_STORAGE = 24;
        /// Network devices by key. Since Linux 5.4.
        "BPF_MAP_TYPE_DEVMAP_HASH" DEVMAP_HASH = 25;
        /// Programs that implement a struct of function pointers of the kernel. Since Linux 5.6.
        "BPF_MAP_TYPE_STRUCT_OPS" STRUCT_OPS = 26;
        /// Ring that programs write and user space reads. Since Linux 5.8.
        "BPF_MAP_TYPE_RINGBUF" RINGBUF = 27;
        /// Values that belong to inodes. Since Linux 5.10.
        "BPF_MAP_TYPE_INODE_STORAGE" INODE_STORAGE = 28;
        /// Values that belong to tasks. Since Linux 5.11.
        "BPF_MAP_TYPE_TASK_STORAGE" TASK_STORAGE = 29;
        /// Bloom filter. Since Linux 5.16.
        "BPF_MAP_TYPE_BLOOM_FILTER" BLOOM_FILTER = 30;
        /// Ring that user space writes and programs read. Since Linux 6.1.
        "BPF_MAP_TYPE_USER_RINGBUF" USER_RINGBUF = 31;
        /// Values that belong to cgroups. Since Linux 6.2.
        "BPF_MAP_TYPE_CGRP_STORAGE" CGRP_STORAGE = 32;
        /// Memory shared with user space. Since Linux 6.9.
        "BPF_MAP_TYPE_ARENA" ARENA = 33;
        /// Addresses of instructions, for indirect jumps. Since Linux 6.19.
        "BPF_MAP_TYPE_INSN_ARRAY" INSN_ARRAY = 34;
    }
}

open_enum! {
    /// `enum bpf_prog_type`—program types.
    #[doc(alias = "bpf_prog_type")]
    pub struct BpfProgType(u32) {
        /// Socket filter. Since Linux 3.19.
        "BPF_PROG_TYPE_SOCKET_FILTER" SOCKET_FILTER = 1;
        /// On kprobe and uprobe events. Since Linux 4.1.
        "BPF_PROG_TYPE_KPROBE" KPROBE = 2;
        /// Classifier of traffic control. Since Linux 4.1.
        "BPF_PROG_TYPE_SCHED_CLS" SCHED_CLS = 3;
        /// Action of traffic control. Since Linux 4.1.
        "BPF_PROG_TYPE_SCHED_ACT" SCHED_ACT = 4;
        /// On tracepoint events. Since Linux 4.7.
        "BPF_PROG_TYPE_TRACEPOINT" TRACEPOINT = 5;
        /// On packets in a network driver. Since Linux 4.8.
        "BPF_PROG_TYPE_XDP" XDP = 6;
        /// On all other sampling events. Since Linux 4.9.
        "BPF_PROG_TYPE_PERF_EVENT" PERF_EVENT = 7;
        /// On packets of a cgroup. Since Linux 4.10.
        "BPF_PROG_TYPE_CGROUP_SKB" CGROUP_SKB = 8;
        /// On new sockets of a cgroup. Since Linux 4.10.
        "BPF_PROG_TYPE_CGROUP_SOCK" CGROUP_SOCK = 9;
        /// On packets that arrive by a lightweight tunnel. Since Linux 4.10.
        "BPF_PROG_TYPE_LWT_IN" LWT_IN = 10;
        /// On packets that leave by a lightweight tunnel. Since Linux 4.10.
        "BPF_PROG_TYPE_LWT_OUT" LWT_OUT = 11;
        /// The same, with the packet writable. Since Linux 4.10.
        "BPF_PROG_TYPE_LWT_XMIT" LWT_XMIT = 12;
        /// On changes of TCP connections of a cgroup. Since Linux 4.13.
        "BPF_PROG_TYPE_SOCK_OPS" SOCK_OPS = 13;
        /// On packets of sockets in a map. Since Linux 4.14.
        "BPF_PROG_TYPE_SK_SKB" SK_SKB = 14;
        /// On accesses to devices by a cgroup. Since Linux 4.15.
        "BPF_PROG_TYPE_CGROUP_DEVICE" CGROUP_DEVICE = 15;
        /// On messages sent by sockets in a map. Since Linux 4.17.
        "BPF_PROG_TYPE_SK_MSG" SK_MSG = 16;
        /// On tracepoints, with their raw arguments. Since Linux 4.17.
        "BPF_PROG_TYPE_RAW_TRACEPOINT" RAW_TRACEPOINT = 17;
        /// On bind, connect and other calls of a cgroup with a socket address. Since Linux 4.17.
        "BPF_PROG_TYPE_CGROUP_SOCK_ADDR" CGROUP_SOCK_ADDR = 18;
        /// On packets of a local segment-routing action. Since Linux 4.18.
        "BPF_PROG_TYPE_LWT_SEG6LOCAL" LWT_SEG6LOCAL = 19;
        /// Decoder of an infrared protocol. Since Linux 4.18.
        "BPF_PROG_TYPE_LIRC_MODE2" LIRC_MODE2 = 20;
        /// Chooses a socket of a `SO_REUSEPORT` group. Since Linux 4.19.
        "BPF_PROG_TYPE_SK_REUSEPORT" SK_REUSEPORT = 21;
        /// Extracts the flow of a packet. Since Linux 4.20.
        "BPF_PROG_TYPE_FLOW_DISSECTOR" FLOW_DISSECTOR = 22;
        /// On accesses to sysctls by a cgroup. Since Linux 5.2.
        "BPF_PROG_TYPE_CGROUP_SYSCTL" CGROUP_SYSCTL = 23;
        /// On tracepoints whose arguments it may write. Since Linux 5.2.
        "BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE" RAW_TRACEPOINT_WRITABLE = 24;
        /// On getsockopt and setsockopt of a cgroup. Since Linux 5.3.
        "BPF_PROG_TYPE_CGROUP_SOCKOPT" CGROUP_SOCKOPT = 25;
        /// On tracepoints and functions, with BTF types. Since Linux 5.5.
        "BPF_PROG_TYPE_TRACING" TRACING = 26;
        /// A function of a struct of function pointers of the kernel. Since Linux 5.6.
        "BPF_PROG_TYPE_STRUCT_OPS" STRUCT_OPS = 27;
        /// Replaces a function of another program. Since Linux 5.6.
        "BPF_PROG_TYPE_EXT" EXT = 28;
        /// On security hooks. Since Linux 5.7.
        "BPF_PROG_TYPE_LSM" LSM = 29;
        /// Chooses a socket for a packet. Since Linux 5.9.
        "BPF_PROG_TYPE_SK_LOOKUP" SK_LOOKUP = 30;
        /// Run only by `BPF_PROG_TEST_RUN`; can make system calls. Since Linux 5.14.
        "BPF_PROG_TYPE_SYSCALL" SYSCALL = 31;
        /// On packets of a netfilter hook. Since Linux 6.4.
        "BPF_PROG_TYPE_NETFILTER" NETFILTER = 32;
    }
}

open_enum! {
    /// `enum bpf_attach_type`—attachments of tracing programs.
    #[doc(alias = "bpf_attach_type")]
    pub struct BpfAttachType(u32) {
        /// A tracepoint, with BTF types. Since Linux 5.5.
        "BPF_TRACE_RAW_TP" TRACE_RAW_TP = 23;
        /// Entry of a function. Since Linux 5.5.
        "BPF_TRACE_FENTRY" TRACE_FENTRY = 24;
        /// Exit of a function. Since Linux 5.5.
        "BPF_TRACE_FEXIT" TRACE_FEXIT = 25;
        /// Modifies the return value of a function. Since Linux 5.7.
        "BPF_MODIFY_RETURN" MODIFY_RETURN = 26;
        /// An iterator. Since Linux 5.8.
        "BPF_TRACE_ITER" TRACE_ITER = 28;
        /// A perf event. Since Linux 5.15.
        "BPF_PERF_EVENT" PERF_EVENT = 41;
        /// Many kprobes. Since Linux 5.18.
        "BPF_TRACE_KPROBE_MULTI" TRACE_KPROBE_MULTI = 42;
        /// Many uprobes. Since Linux 6.6.
        "BPF_TRACE_UPROBE_MULTI" TRACE_UPROBE_MULTI = 48;
        /// Many kprobes, entry and return together. Since Linux 6.10.
        "BPF_TRACE_KPROBE_SESSION" TRACE_KPROBE_SESSION = 56;
        /// Many uprobes, entry and return together. Since Linux 6.13.
        "BPF_TRACE_UPROBE_SESSION" TRACE_UPROBE_SESSION = 57;
    }
}

open_enum! {
    /// `enum bpf_link_type`—link types.
    #[doc(alias = "bpf_link_type")]
    pub struct BpfLinkType(u32) {
        /// A raw tracepoint. Since Linux 5.8.
        "BPF_LINK_TYPE_RAW_TRACEPOINT" RAW_TRACEPOINT = 1;
        /// A function. Since Linux 5.8.
        "BPF_LINK_TYPE_TRACING" TRACING = 2;
        /// A cgroup. Since Linux 5.8.
        "BPF_LINK_TYPE_CGROUP" CGROUP = 3;
        /// An iterator. Since Linux 5.8.
        "BPF_LINK_TYPE_ITER" ITER = 4;
        /// A network namespace. Since Linux 5.8.
        "BPF_LINK_TYPE_NETNS" NETNS = 5;
        /// A network device. Since Linux 5.9.
        "BPF_LINK_TYPE_XDP" XDP = 6;
        /// A perf event. Since Linux 5.15.
        "BPF_LINK_TYPE_PERF_EVENT" PERF_EVENT = 7;
        /// Many kprobes. Since Linux 5.18.
        "BPF_LINK_TYPE_KPROBE_MULTI" KPROBE_MULTI = 8;
        /// Struct operations. Since Linux 5.19.
        "BPF_LINK_TYPE_STRUCT_OPS" STRUCT_OPS = 9;
        /// Netfilter. Since Linux 6.4.
        "BPF_LINK_TYPE_NETFILTER" NETFILTER = 10;
        /// Traffic control. Since Linux 6.6.
        "BPF_LINK_TYPE_TCX" TCX = 11;
        /// Many uprobes. Since Linux 6.6.
        "BPF_LINK_TYPE_UPROBE_MULTI" UPROBE_MULTI = 12;
        /// A netkit device. Since Linux 6.7.
        "BPF_LINK_TYPE_NETKIT" NETKIT = 13;
        /// A socket map. Since Linux 6.10.
        "BPF_LINK_TYPE_SOCKMAP" SOCKMAP = 14;
    }
}

open_enum! {
    /// `enum bpf_task_fd_type`—the attachment that [`BpfTaskFdQuery`](super::BpfTaskFdQuery)
    /// returns.
    #[doc(alias = "bpf_task_fd_type")]
    pub struct BpfTaskFdType(u32) {
        /// A raw tracepoint, by name. Since Linux 4.18.
        "BPF_FD_TYPE_RAW_TRACEPOINT" RAW_TRACEPOINT = 0;
        /// A tracepoint, by name. Since Linux 4.18.
        "BPF_FD_TYPE_TRACEPOINT" TRACEPOINT = 1;
        /// A kernel function or address. Since Linux 4.18.
        "BPF_FD_TYPE_KPROBE" KPROBE = 2;
        /// The return of a kernel function. Since Linux 4.18.
        "BPF_FD_TYPE_KRETPROBE" KRETPROBE = 3;
        /// An offset in a file. Since Linux 4.18.
        "BPF_FD_TYPE_UPROBE" UPROBE = 4;
        /// The return of a function in a file. Since Linux 4.18.
        "BPF_FD_TYPE_URETPROBE" URETPROBE = 5;
    }
}

open_enum! {
    /// `enum bpf_func_id`—helpers for programs on perf events, for
    /// [`BpfInsn::imm`](super::BpfInsn::imm).
    #[doc(alias = "bpf_func_id")]
    pub struct BpfHelper(u32) {
        /// Returns the current CPU. Since Linux 4.1.
        "BPF_FUNC_get_smp_processor_id" GET_SMP_PROCESSOR_ID = 8;
        /// Reads a counter. Since Linux 4.3.
        "BPF_FUNC_perf_event_read" PERF_EVENT_READ = 22;
        /// Writes a sample with raw data. Since Linux 4.4.
        "BPF_FUNC_perf_event_output" PERF_EVENT_OUTPUT = 25;
        /// Stores a callchain and returns its id. Since Linux 4.6.
        "BPF_FUNC_get_stackid" GET_STACKID = 27;
        /// Reads a counter and its times. Since Linux 4.15.
        "BPF_FUNC_perf_event_read_value" PERF_EVENT_READ_VALUE = 55;
        /// Reads the counter that the program is attached to. Since Linux 4.15.
        "BPF_FUNC_perf_prog_read_value" PERF_PROG_READ_VALUE = 56;
        /// Copies a callchain. Since Linux 4.18.
        "BPF_FUNC_get_stack" GET_STACK = 67;
        /// Copies the branch stack of the sample. Since Linux 5.6.
        "BPF_FUNC_read_branch_records" READ_BRANCH_RECORDS = 119;
        /// Returns the cookie of the link. Since Linux 5.15.
        "BPF_FUNC_get_attach_cookie" GET_ATTACH_COOKIE = 174;
    }
}
