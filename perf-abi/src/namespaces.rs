//! Entries of `NAMESPACES` records.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

open_enum! {
    /// `*_NS_INDEX`—which namespace an entry of a `NAMESPACES` record describes, by its index. Since Linux
    /// 4.12.
    pub struct NamespaceIndex(u32) {
        /// Network. Since Linux 4.12.
        "NET_NS_INDEX" NET = 0;
        /// Host and domain name. Since Linux 4.12.
        "UTS_NS_INDEX" UTS = 1;
        /// System V IPC and message queues. Since Linux 4.12.
        "IPC_NS_INDEX" IPC = 2;
        /// Process ids. Since Linux 4.12.
        "PID_NS_INDEX" PID = 3;
        /// User ids. Since Linux 4.12.
        "USER_NS_INDEX" USER = 4;
        /// Mounts. Since Linux 4.12.
        "MNT_NS_INDEX" MNT = 5;
        /// Control groups. Since Linux 4.12.
        "CGROUP_NS_INDEX" CGROUP = 6;
    }
}

/// `struct perf_ns_link_info`—what identifies one namespace; all 0 if the kernel has none of the kind. Since
/// Linux 4.12.
#[doc(alias = "perf_ns_link_info")]
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct NamespaceLink {
    /// Device of the namespace's file, in the kernel's own encoding.
    pub dev: u64,
    /// Inode of the namespace's file.
    #[doc(alias = "ino")]
    pub inode: u64,
}

layout!(NamespaceLink, 16 { dev: 0, inode: 8 });
