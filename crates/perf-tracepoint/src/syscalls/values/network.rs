//! Names of the arguments of sockets.

use linux_raw_sys::general::{O_CLOEXEC, O_NONBLOCK};
use linux_raw_sys::net::*;

use super::{Name, Names, names};

pub(super) static FAMILY: Names = Names::choice(names![
    AF_UNSPEC,
    AF_UNIX,
    AF_INET,
    AF_INET6,
    AF_NETLINK,
    AF_PACKET,
    AF_ALG,
    AF_VSOCK,
    AF_XDP,
    AF_BLUETOOTH,
    AF_KEY,
    AF_CAN,
    AF_TIPC,
]);

/// The flags of `socket` and `accept4`, whose numbers are the numbers of `open`.
static SOCKET_FLAGS: &[Name] = &[("SOCK_CLOEXEC", O_CLOEXEC as u64), ("SOCK_NONBLOCK", O_NONBLOCK as u64)];
pub(super) static ACCEPT: Names = Names::flags(SOCKET_FLAGS);
/// `SOCK_TYPE_MASK` of the kernel is 15.
pub(super) static TYPE: Names = Names::both(
    15,
    &[
        ("SOCK_STREAM", SOCK_STREAM as u64),
        ("SOCK_DGRAM", SOCK_DGRAM as u64),
        ("SOCK_RAW", SOCK_RAW as u64),
        ("SOCK_RDM", SOCK_RDM as u64),
        ("SOCK_SEQPACKET", SOCK_SEQPACKET as u64),
        ("SOCK_DCCP", 6),
        ("SOCK_PACKET", 10),
    ],
    SOCKET_FLAGS,
);

/// Protocols of `AF_INET` and `AF_INET6`.
pub(super) static PROTOCOL: Names = Names::choice(&[
    ("IPPROTO_IP", 0),
    ("IPPROTO_ICMP", 1),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_UDP", 17),
    ("IPPROTO_IPV6", 41),
    ("IPPROTO_ICMPV6", 58),
    ("IPPROTO_SCTP", 132),
    ("IPPROTO_UDPLITE", 136),
    ("IPPROTO_RAW", 255),
    ("IPPROTO_MPTCP", 262),
]);
/// Protocols of `AF_NETLINK`.
pub(super) static NETLINK: Names = Names::choice(&[
    ("NETLINK_ROUTE", 0),
    ("NETLINK_SOCK_DIAG", 4),
    ("NETLINK_XFRM", 6),
    ("NETLINK_SELINUX", 7),
    ("NETLINK_AUDIT", 9),
    ("NETLINK_CONNECTOR", 11),
    ("NETLINK_NETFILTER", 12),
    ("NETLINK_KOBJECT_UEVENT", 15),
    ("NETLINK_GENERIC", 16),
    ("NETLINK_CRYPTO", 21),
]);

/// Returns the names of the protocols of a family.
pub(super) fn protocol(family: u64) -> Option<&'static Names> {
    #[allow(clippy::cast_possible_truncation)] // an `int`
    match family as u32 {
        AF_INET | AF_INET6 => Some(&PROTOCOL),
        AF_NETLINK => Some(&NETLINK),
        _ => None,
    }
}

pub(super) static LEVEL: Names = Names::choice(&[
    ("SOL_SOCKET", SOL_SOCKET as u64),
    ("SOL_IP", 0),
    ("SOL_TCP", 6),
    ("SOL_UDP", 17),
    ("SOL_IPV6", 41),
    ("SOL_NETLINK", 270),
]);
static SOCKET_OPTIONS: Names = Names::choice(&[
    ("SO_DEBUG", SO_DEBUG as u64),
    ("SO_REUSEADDR", SO_REUSEADDR as u64),
    ("SO_TYPE", SO_TYPE as u64),
    ("SO_ERROR", SO_ERROR as u64),
    ("SO_DONTROUTE", SO_DONTROUTE as u64),
    ("SO_BROADCAST", SO_BROADCAST as u64),
    ("SO_SNDBUF", SO_SNDBUF as u64),
    ("SO_RCVBUF", SO_RCVBUF as u64),
    ("SO_KEEPALIVE", SO_KEEPALIVE as u64),
    ("SO_OOBINLINE", SO_OOBINLINE as u64),
    ("SO_PRIORITY", SO_PRIORITY as u64),
    ("SO_LINGER", SO_LINGER as u64),
    ("SO_REUSEPORT", SO_REUSEPORT as u64),
    ("SO_PASSCRED", SO_PASSCRED as u64),
    ("SO_PEERCRED", SO_PEERCRED as u64),
    ("SO_RCVLOWAT", SO_RCVLOWAT as u64),
    ("SO_SNDLOWAT", SO_SNDLOWAT as u64),
    ("SO_RCVTIMEO", SO_RCVTIMEO_OLD as u64),
    ("SO_SNDTIMEO", SO_SNDTIMEO_OLD as u64),
    ("SO_TIMESTAMP", SO_TIMESTAMP_OLD as u64),
    ("SO_BINDTODEVICE", SO_BINDTODEVICE as u64),
    ("SO_ATTACH_FILTER", SO_ATTACH_FILTER as u64),
    ("SO_ACCEPTCONN", SO_ACCEPTCONN as u64),
    ("SO_PEERSEC", SO_PEERSEC as u64),
    ("SO_SNDBUFFORCE", SO_SNDBUFFORCE as u64),
    ("SO_RCVBUFFORCE", SO_RCVBUFFORCE as u64),
    ("SO_PASSSEC", SO_PASSSEC as u64),
    ("SO_MARK", SO_MARK as u64),
    ("SO_PROTOCOL", SO_PROTOCOL as u64),
    ("SO_DOMAIN", SO_DOMAIN as u64),
    ("SO_RXQ_OVFL", SO_RXQ_OVFL as u64),
    ("SO_BUSY_POLL", SO_BUSY_POLL as u64),
    ("SO_INCOMING_CPU", SO_INCOMING_CPU as u64),
    ("SO_COOKIE", SO_COOKIE as u64),
    ("SO_PEERGROUPS", SO_PEERGROUPS as u64),
    ("SO_ZEROCOPY", SO_ZEROCOPY as u64),
]);
static TCP_OPTIONS: Names = Names::choice(names![
    TCP_NODELAY,
    TCP_MAXSEG,
    TCP_CORK,
    TCP_KEEPIDLE,
    TCP_KEEPINTVL,
    TCP_KEEPCNT,
    TCP_SYNCNT,
    TCP_LINGER2,
    TCP_DEFER_ACCEPT,
    TCP_WINDOW_CLAMP,
    TCP_INFO,
    TCP_QUICKACK,
    TCP_CONGESTION,
    TCP_USER_TIMEOUT,
    TCP_FASTOPEN,
    TCP_FASTOPEN_CONNECT,
    TCP_NOTSENT_LOWAT,
    TCP_ULP,
]);
static IP_OPTIONS_NAMES: Names = Names::choice(names![
    IP_TOS,
    IP_TTL,
    IP_HDRINCL,
    IP_OPTIONS,
    IP_PKTINFO,
    IP_MTU_DISCOVER,
    IP_RECVERR,
    IP_RECVTTL,
    IP_RECVTOS,
    IP_MTU,
    IP_FREEBIND,
    IP_TRANSPARENT,
    IP_BIND_ADDRESS_NO_PORT,
    IP_MULTICAST_IF,
    IP_MULTICAST_TTL,
    IP_MULTICAST_LOOP,
    IP_ADD_MEMBERSHIP,
    IP_DROP_MEMBERSHIP,
]);
static IPV6_OPTIONS: Names = Names::choice(names![
    IPV6_V6ONLY,
    IPV6_RECVERR,
    IPV6_RECVPKTINFO,
    IPV6_UNICAST_HOPS,
    IPV6_MULTICAST_HOPS,
    IPV6_TCLASS,
    IPV6_RECVTCLASS,
    IPV6_MTU_DISCOVER,
    IPV6_ADDR_PREFERENCES,
    IPV6_FREEBIND,
]);

/// Returns the names of the options of a level.
pub(super) fn options(level: u64) -> Option<&'static Names> {
    #[allow(clippy::cast_possible_truncation)] // an `int`
    match level as u32 {
        SOL_SOCKET => Some(&SOCKET_OPTIONS),
        0 => Some(&IP_OPTIONS_NAMES),
        6 => Some(&TCP_OPTIONS),
        41 => Some(&IPV6_OPTIONS),
        _ => None,
    }
}

pub(super) static MESSAGE: Names = Names::flags(&[
    ("MSG_OOB", MSG_OOB as u64),
    ("MSG_PEEK", MSG_PEEK as u64),
    ("MSG_DONTROUTE", MSG_DONTROUTE as u64),
    ("MSG_CTRUNC", MSG_CTRUNC as u64),
    ("MSG_TRUNC", MSG_TRUNC as u64),
    ("MSG_DONTWAIT", MSG_DONTWAIT as u64),
    ("MSG_EOR", MSG_EOR as u64),
    ("MSG_WAITALL", MSG_WAITALL as u64),
    ("MSG_CONFIRM", MSG_CONFIRM as u64),
    ("MSG_ERRQUEUE", MSG_ERRQUEUE as u64),
    ("MSG_NOSIGNAL", MSG_NOSIGNAL as u64),
    ("MSG_MORE", MSG_MORE as u64),
    // `linux/socket.h` of the kernel, which is not exported.
    ("MSG_WAITFORONE", 0x1_0000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("MSG_CMSG_CLOEXEC", MSG_CMSG_CLOEXEC as u64),
]);
pub(super) static SHUTDOWN: Names = Names::choice(names![SHUT_RD, SHUT_WR, SHUT_RDWR]);
