//! Names of the requests of `ioctl`.

use std::fmt;

use linux_raw_sys::ioctl::*;

use super::{Name, names};

/// The requests of terminals, files, block devices, sockets and tunnels. Where drivers share a
/// number, the name is the common one.
static REQUESTS: &[Name] = names![
    TCGETS,
    TCSETS,
    TCSETSW,
    TCSETSF,
    TCGETS2,
    TCSETS2,
    TCSETSW2,
    TCSETSF2,
    TCSBRK,
    TCSBRKP,
    TCXONC,
    TCFLSH,
    TIOCEXCL,
    TIOCNXCL,
    TIOCSCTTY,
    TIOCGPGRP,
    TIOCSPGRP,
    TIOCOUTQ,
    TIOCSTI,
    TIOCGWINSZ,
    TIOCSWINSZ,
    TIOCMGET,
    TIOCMBIS,
    TIOCMBIC,
    TIOCMSET,
    FIONREAD,
    TIOCPKT,
    FIONBIO,
    TIOCNOTTY,
    TIOCSETD,
    TIOCGETD,
    TIOCGSID,
    TIOCGPTN,
    TIOCSPTLCK,
    TIOCGPTPEER,
    TIOCGPKT,
    TIOCGPTLCK,
    TIOCGEXCL,
    TIOCVHANGUP,
    FIONCLEX,
    FIOCLEX,
    FIOASYNC,
    FIOQSIZE,
    FICLONE,
    FICLONERANGE,
    FS_IOC_GETFLAGS,
    FS_IOC_SETFLAGS,
    FS_IOC_GETVERSION,
    FS_IOC_SETVERSION,
    FS_IOC_FIEMAP,
    FS_IOC_FSGETXATTR,
    FS_IOC_FSSETXATTR,
    FS_IOC_GETFSLABEL,
    FS_IOC_SETFSLABEL,
    FS_IOC_ENABLE_VERITY,
    FS_IOC_MEASURE_VERITY,
    BLKROSET,
    BLKROGET,
    BLKRRPART,
    BLKGETSIZE,
    BLKFLSBUF,
    BLKRASET,
    BLKRAGET,
    BLKSSZGET,
    BLKPBSZGET,
    BLKBSZGET,
    BLKBSZSET,
    BLKGETSIZE64,
    BLKDISCARD,
    BLKIOMIN,
    BLKIOOPT,
    BLKALIGNOFF,
    BLKROTATIONAL,
    BLKZEROOUT,
    UFFDIO_API,
    UFFDIO_REGISTER,
    UFFDIO_UNREGISTER,
    UFFDIO_WAKE,
    UFFDIO_COPY,
    UFFDIO_ZEROPAGE,
    NS_GET_USERNS,
    NS_GET_PARENT,
    NS_GET_NSTYPE,
    FIOSETOWN,
    SIOCSPGRP,
    FIOGETOWN,
    SIOCGPGRP,
    SIOCATMARK,
    SIOCADDRT,
    SIOCDELRT,
    SIOCGIFNAME,
    SIOCGIFCONF,
    SIOCGIFFLAGS,
    SIOCSIFFLAGS,
    SIOCGIFADDR,
    SIOCSIFADDR,
    SIOCGIFDSTADDR,
    SIOCGIFBRDADDR,
    SIOCGIFNETMASK,
    SIOCSIFNETMASK,
    SIOCGIFMETRIC,
    SIOCGIFMTU,
    SIOCSIFMTU,
    SIOCSIFHWADDR,
    SIOCGIFHWADDR,
    SIOCGARP,
    SIOCSARP,
    SIOCDARP,
    SIOCSIFNAME,
    SIOCGIFINDEX,
    SIOCGIFTXQLEN,
    SIOCSIFTXQLEN,
    TUNSETIFF,
    TUNGETIFF,
    TUNSETPERSIST,
    TUNSETOWNER,
    TUNGETFEATURES,
    TUNSETOFFLOAD,
    TUNSETVNETHDRSZ,
    RNDGETENTCNT,
    EVIOCGVERSION,
    EVIOCGID,
    EVIOCGRAB,
];

/// Requests of `linux/perf_event.h`, which are not in the crate.
static PERF: &[Name] = &[
    ("PERF_EVENT_IOC_ENABLE", 0x2400),
    ("PERF_EVENT_IOC_DISABLE", 0x2401),
    ("PERF_EVENT_IOC_REFRESH", 0x2402),
    ("PERF_EVENT_IOC_RESET", 0x2403),
    ("PERF_EVENT_IOC_SET_OUTPUT", 0x2405),
];

/// Bits of the number and of the driver in a request, which are the same everywhere.
const NUMBER_BITS: u32 = 8;
/// Bits of the size of the argument; 13 on other architectures, where parts are not printed.
const SIZE_BITS: u32 = 14;
/// Whether the numbers are made as `asm-generic/ioctl.h` does it.
const IS_GENERIC: bool = !cfg!(any(
    target_arch = "mips",
    target_arch = "mips64",
    target_arch = "powerpc",
    target_arch = "powerpc64",
    target_arch = "sparc64"
));

/// Writes the name of a request, or its parts: `_IOC(_IOC_READ, 0x12, 0x34, 0x8)`.
pub(super) fn write(request: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some((name, _)) = REQUESTS.iter().chain(PERF).find(|(_, number)| *number == request) {
        return f.write_str(name);
    }
    if !IS_GENERIC {
        return write!(f, "{request:#x}");
    }
    let [number, driver] = [request & 0xff, request >> NUMBER_BITS & 0xff];
    let size = request >> (2 * NUMBER_BITS) & ((1 << SIZE_BITS) - 1);
    let direction = match request >> (2 * NUMBER_BITS + SIZE_BITS) {
        0 => "_IOC_NONE",
        1 => "_IOC_WRITE",
        2 => "_IOC_READ",
        3 => "_IOC_READ|_IOC_WRITE",
        _ => return write!(f, "{request:#x}"),
    };
    write!(f, "_IOC({direction}, {driver:#x}, {number:#x}, {size:#x})")
}
