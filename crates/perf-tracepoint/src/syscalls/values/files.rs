//! Names of the arguments that concern files and descriptors.

use linux_raw_sys::general::*;

use super::{Name, Names, names};

/// `open`, `openat`, and `F_SETFL`.
pub(super) static OPEN: Names = Names::both(O_ACCMODE as u64, names![O_RDONLY, O_WRONLY, O_RDWR], OPEN_FLAGS);

/// `pipe2`, `dup3` and others that take flags of `open` without a mode.
pub(super) static DESCRIPTOR: Names = Names::flags(OPEN_FLAGS);

static OPEN_FLAGS: &[Name] = &[
    ("O_CREAT", O_CREAT as u64),
    ("O_EXCL", O_EXCL as u64),
    ("O_NOCTTY", O_NOCTTY as u64),
    ("O_TRUNC", O_TRUNC as u64),
    ("O_APPEND", O_APPEND as u64),
    ("O_NONBLOCK", O_NONBLOCK as u64),
    ("O_SYNC", O_SYNC as u64),
    ("O_DSYNC", O_DSYNC as u64),
    ("O_ASYNC", FASYNC as u64),
    ("O_DIRECT", O_DIRECT as u64),
    ("O_LARGEFILE", O_LARGEFILE as u64),
    ("O_NOFOLLOW", O_NOFOLLOW as u64),
    ("O_NOATIME", O_NOATIME as u64),
    ("O_CLOEXEC", O_CLOEXEC as u64),
    ("O_PATH", O_PATH as u64),
    ("O_TMPFILE", O_TMPFILE as u64),
    ("O_DIRECTORY", O_DIRECTORY as u64),
];

/// Whether `open` creates a file, so that it has permissions.
pub(super) const fn creates(flags: u64) -> bool {
    flags & O_CREAT as u64 != 0 || flags & O_TMPFILE as u64 == O_TMPFILE as u64
}

pub(super) static AT: Names = Names::flags(names![
    AT_SYMLINK_NOFOLLOW,
    AT_SYMLINK_FOLLOW,
    AT_NO_AUTOMOUNT,
    AT_EMPTY_PATH,
    AT_STATX_FORCE_SYNC,
    AT_STATX_DONT_SYNC,
    AT_RECURSIVE,
]);
/// The same bit as [`AT`]'s `AT_EACCESS`.
pub(super) static UNLINK: Names = Names::flags(names![AT_REMOVEDIR]);
pub(super) static ACCESS_AT: Names = Names::flags(names![AT_SYMLINK_NOFOLLOW, AT_EACCESS, AT_EMPTY_PATH]);
/// `statx`, whose flags contain a choice that has the name 0.
pub(super) static STATX_AT: Names = Names::both(
    (AT_STATX_FORCE_SYNC | AT_STATX_DONT_SYNC) as u64,
    &[
        ("AT_STATX_SYNC_AS_STAT", 0),
        ("AT_STATX_FORCE_SYNC", AT_STATX_FORCE_SYNC as u64),
        ("AT_STATX_DONT_SYNC", AT_STATX_DONT_SYNC as u64),
    ],
    names![AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT, AT_EMPTY_PATH],
);
pub(super) static STATX: Names = Names::flags(names![
    STATX_ALL,
    STATX_BASIC_STATS,
    STATX_TYPE,
    STATX_MODE,
    STATX_NLINK,
    STATX_UID,
    STATX_GID,
    STATX_ATIME,
    STATX_MTIME,
    STATX_CTIME,
    STATX_INO,
    STATX_SIZE,
    STATX_BLOCKS,
    STATX_BTIME,
    STATX_MNT_ID,
]);
pub(super) static RENAME: Names = Names::flags(names![RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT]);
pub(super) static ACCESS: Names = Names { choice: 0, choices: names![F_OK], flags: names![R_OK, W_OK, X_OK] };
pub(super) static WHENCE: Names = Names::choice(names![SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE]);

pub(super) static FCNTL: Names = Names::choice(names![
    F_DUPFD,
    F_GETFD,
    F_SETFD,
    F_GETFL,
    F_SETFL,
    F_GETLK,
    F_SETLK,
    F_SETLKW,
    F_SETOWN,
    F_GETOWN,
    F_SETSIG,
    F_GETSIG,
    F_SETOWN_EX,
    F_GETOWN_EX,
    F_OFD_GETLK,
    F_OFD_SETLK,
    F_OFD_SETLKW,
    F_SETLEASE,
    F_GETLEASE,
    F_NOTIFY,
    F_CANCELLK,
    F_DUPFD_CLOEXEC,
    F_SETPIPE_SZ,
    F_GETPIPE_SZ,
    F_ADD_SEALS,
    F_GET_SEALS,
    F_GET_RW_HINT,
    F_SET_RW_HINT,
]);

/// The meaning of the third argument of `fcntl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FcntlArg {
    None,
    Number,
    DescriptorFlags,
    OpenFlags,
    Signal,
    Other,
}

/// Returns the third argument of a command of `fcntl`.
pub(super) fn fcntl_arg(command: u64) -> FcntlArg {
    #[allow(clippy::cast_possible_truncation)] // an `unsigned int`
    match command as u32 {
        F_GETFD | F_GETFL | F_GETOWN | F_GETSIG | F_GETLEASE | F_GETPIPE_SZ | F_GET_SEALS => FcntlArg::None,
        F_DUPFD | F_DUPFD_CLOEXEC | F_SETPIPE_SZ => FcntlArg::Number,
        F_SETFD => FcntlArg::DescriptorFlags,
        F_SETFL => FcntlArg::OpenFlags,
        F_SETSIG => FcntlArg::Signal,
        _ => FcntlArg::Other,
    }
}

pub(super) static FD_FLAGS: Names = Names::flags(names![FD_CLOEXEC]);
pub(super) static LOCK: Names = Names::flags(names![LOCK_SH, LOCK_EX, LOCK_UN, LOCK_NB]);
pub(super) static FALLOCATE: Names = Names::flags(names![
    FALLOC_FL_KEEP_SIZE,
    FALLOC_FL_PUNCH_HOLE,
    FALLOC_FL_COLLAPSE_RANGE,
    FALLOC_FL_ZERO_RANGE,
    FALLOC_FL_INSERT_RANGE,
    FALLOC_FL_UNSHARE_RANGE,
]);
pub(super) static FADVISE: Names = Names::choice(names![
    POSIX_FADV_NORMAL,
    POSIX_FADV_RANDOM,
    POSIX_FADV_SEQUENTIAL,
    POSIX_FADV_WILLNEED,
    POSIX_FADV_DONTNEED,
    POSIX_FADV_NOREUSE,
]);
pub(super) static EVENTFD: Names = Names::flags(names![EFD_SEMAPHORE, EFD_CLOEXEC, EFD_NONBLOCK]);
pub(super) static EPOLL_CREATE: Names = Names::flags(names![EPOLL_CLOEXEC]);
pub(super) static EPOLL_CTL: Names = Names::choice(names![EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD]);
pub(super) static INOTIFY: Names = Names::flags(names![IN_CLOEXEC, IN_NONBLOCK]);
pub(super) static INOTIFY_MASK: Names = Names::flags(names![
    IN_ACCESS,
    IN_MODIFY,
    IN_ATTRIB,
    IN_CLOSE_WRITE,
    IN_CLOSE_NOWRITE,
    IN_OPEN,
    IN_MOVED_FROM,
    IN_MOVED_TO,
    IN_CREATE,
    IN_DELETE,
    IN_DELETE_SELF,
    IN_MOVE_SELF,
    IN_ONLYDIR,
    IN_DONT_FOLLOW,
    IN_EXCL_UNLINK,
    IN_MASK_ADD,
    IN_ISDIR,
    IN_ONESHOT,
]);
pub(super) static TIMERFD: Names = Names::flags(names![TFD_CLOEXEC, TFD_NONBLOCK]);
pub(super) static TIMERFD_SET: Names = Names::flags(names![TFD_TIMER_ABSTIME]);
/// The numbers of the header are the numbers of `open`.
pub(super) static SIGNALFD: Names =
    Names::flags(&[("SFD_CLOEXEC", O_CLOEXEC as u64), ("SFD_NONBLOCK", O_NONBLOCK as u64)]);
pub(super) static MOUNT: Names = Names::flags(names![
    MS_RDONLY,
    MS_NOSUID,
    MS_NODEV,
    MS_NOEXEC,
    MS_SYNCHRONOUS,
    MS_REMOUNT,
    MS_BIND,
    MS_MOVE,
    MS_REC,
    MS_SILENT,
    MS_PRIVATE,
    MS_SLAVE,
    MS_SHARED,
    MS_RELATIME,
    MS_STRICTATIME,
]);
pub(super) static UMOUNT: Names = Names::flags(names![MNT_FORCE, MNT_DETACH, MNT_EXPIRE, UMOUNT_NOFOLLOW]);
pub(super) static XATTR: Names = Names::flags(names![XATTR_CREATE, XATTR_REPLACE]);
pub(super) static SPLICE: Names =
    Names::flags(names![SPLICE_F_MOVE, SPLICE_F_NONBLOCK, SPLICE_F_MORE, SPLICE_F_GIFT]);
/// `linux/close_range.h`.
pub(super) static CLOSE_RANGE: Names =
    Names::flags(&[("CLOSE_RANGE_UNSHARE", 1 << 1), ("CLOSE_RANGE_CLOEXEC", 1 << 2)]);
