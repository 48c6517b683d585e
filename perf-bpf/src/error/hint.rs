use perf_sys::Errno;
use perf_sys::abi::bpf::BpfCmd;

/// `ENOTSUPP`, an errno inside the kernel that `bpf(2)` returns for an operation that a type lacks.
pub(crate) const ENOTSUPP: Errno = Errno::from_raw_os_error(524);

/// Returns the usual causes and remedies of an errno.
#[allow(clippy::match_same_arms)] // one row per command
pub(super) fn hint(command: BpfCmd, errno: Errno) -> Option<&'static str> {
    Some(match (command, errno) {
        (_, Errno::ENOSYS) => "the kernel is built without CONFIG_BPF_SYSCALL",
        (BpfCmd::MAP_CREATE, Errno::EINVAL) => {
            "the type, a flag or a size is unknown to this kernel or not accepted for the type"
        }
        (BpfCmd::MAP_CREATE, Errno::E2BIG) => {
            "too large, or a field that this kernel does not have, such as a name before Linux 4.15"
        }
        (BpfCmd::MAP_CREATE, Errno::ENOMEM) => "max_entries takes more memory than there is",
        (BpfCmd::MAP_UPDATE_ELEM, Errno::E2BIG) => {
            "the map is full, or the index of an array is not below max_entries"
        }
        (BpfCmd::MAP_UPDATE_ELEM, Errno::EEXIST) => "expected no element with this key, found one",
        (BpfCmd::MAP_UPDATE_ELEM, Errno::ENOENT) => "expected an element with this key, found none",
        (BpfCmd::MAP_UPDATE_ELEM, Errno::EINVAL) => {
            "a flag is not accepted for the type, the inner map differs from the template, or the program \
             is of another type than the others of the map"
        }
        (
            BpfCmd::MAP_UPDATE_ELEM
            | BpfCmd::MAP_DELETE_ELEM
            | BpfCmd::MAP_UPDATE_BATCH
            | BpfCmd::MAP_DELETE_BATCH,
            Errno::EPERM,
        ) => "the map is frozen, or its descriptor is read-only",
        (BpfCmd::MAP_LOOKUP_ELEM | BpfCmd::MAP_GET_NEXT_KEY | BpfCmd::MAP_LOOKUP_BATCH, Errno::EPERM) => {
            "its descriptor is write-only"
        }
        (BpfCmd::MAP_LOOKUP_AND_DELETE_ELEM | BpfCmd::MAP_LOOKUP_AND_DELETE_BATCH, Errno::EPERM) => {
            "the map is frozen, or its descriptor is read-only or write-only"
        }
        (BpfCmd::MAP_DELETE_ELEM, Errno::EINVAL) => "elements of an array cannot be deleted",
        (BpfCmd::MAP_GET_NEXT_KEY, Errno::EINVAL) => "queues and stacks have no keys",
        (BpfCmd::MAP_FREEZE, Errno::EPERM) => "the map is frozen already, or its descriptor is read-only",
        (BpfCmd::MAP_FREEZE, Errno::EBUSY) => "the map is frozen already, or mapped for writing",
        (BpfCmd::MAP_FREEZE, Errno::EINVAL) => "BPF_MAP_FREEZE needs Linux 5.2",
        (BpfCmd::OBJ_PIN, Errno::EEXIST) => "another object is pinned to the path; unpin it first",
        (BpfCmd::OBJ_PIN, Errno::EPERM) => "the path is not on a bpf file system, or is not writable",
        (BpfCmd::OBJ_GET, Errno::ENOENT) => "nothing is pinned to the path",
        (BpfCmd::OBJ_GET, Errno::EACCES) => "the path is not that of a pinned object, or not readable",
        (BpfCmd::LINK_CREATE, Errno::EINVAL) => {
            "the program's type does not fit the event, or the kernel has no links to perf events before \
             Linux 5.15; attach by ioctl"
        }
        (BpfCmd::LINK_CREATE, Errno::EEXIST) => {
            "the event already has a program, or its tracepoint or probe already runs this program, for the \
             hits of all its events; detach it, open another event, or load the program again"
        }
        (BpfCmd::LINK_CREATE, Errno::E2BIG) => {
            "the tracepoint or probe already has 64 programs, the most that the kernel accepts; detach one"
        }
        (BpfCmd::PROG_LOAD, Errno::E2BIG) => {
            "expected 1 to 1000000 instructions (at most 4096 without CAP_BPF), and no field that this kernel \
             does not have, such as a name before Linux 4.15"
        }
        (BpfCmd::RAW_TRACEPOINT_OPEN, Errno::ENOENT) => "the kernel has no raw tracepoint of this name",
        (_, ENOTSUPP | Errno::EOPNOTSUPP) => "the type of the object does not support the command",
        _ => return descriptor_hint(errno),
    })
}

/// Returns the cause of an errno of any call that opens a descriptor.
pub(super) fn descriptor_hint(errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::EMFILE => Some(
            "the descriptor limit of the process (RLIMIT_NOFILE): an event takes one for each CPU, and so does \
             its link",
        ),
        Errno::ENFILE => Some("the limit of open files of the system (fs.file-max)"),
        _ => None,
    }
}
