//! The texts of errors, with the causes of common errnos.

use core::fmt;

use perf_ring::Errno;
use perf_ring::abi::bpf::BpfCmd;
use perf_session::Mount;

use super::Error;
use crate::map_spec::Difference;
use crate::privileges::BpfPrivileges;

impl fmt::Display for Error {
    #[allow(clippy::too_many_lines)] // one arm for each variant
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bpf { command, object, errno, privilege } => {
                write!(f, "BPF_{command}")?;
                if !object.is_empty() {
                    write!(f, " of {object:?}")?;
                }
                write!(f, ": {errno}")?;
                write_cause(f, *command, hint(*command, *errno), privilege.as_deref())
            }
            Self::Create { map, map_type, key_size, value_size, max_entries, flags, errno, privilege } => {
                f.write_str("BPF_MAP_CREATE")?;
                if !map.is_empty() {
                    write!(f, " of {map:?}")?;
                }
                write!(f, ": {errno}")?;
                if privilege.is_none() {
                    write!(
                        f,
                        ": type {map_type}, key_size {key_size}, value_size {value_size}, max_entries \
                         {max_entries}, map_flags {flags}"
                    )?;
                }
                write_cause(f, BpfCmd::MAP_CREATE, hint(BpfCmd::MAP_CREATE, *errno), privilege.as_deref())
            }
            Self::NoEntries { map, map_type } => {
                write!(f, "map {map:?} of type {map_type}: expected max_entries of at least 1, found 0")
            }
            Self::NoProbe { kind, number } => write!(
                f,
                "{kind} {number}: expected a type with a probe, found one that the kernel lacks or that \
                 needs other properties"
            ),
            Self::Load { program, errno, log, privilege } => {
                write!(f, "BPF_PROG_LOAD of {program:?}: {errno}")?;
                let hint = hint(BpfCmd::PROG_LOAD, *errno).filter(|_| log.is_empty());
                write_cause(f, BpfCmd::PROG_LOAD, hint, privilege.as_deref())?;
                if log.is_empty() { Ok(()) } else { write!(f, ": the verifier's log:\n{log}") }
            }
            Self::Decode(error) => error.fmt(f),
            Self::Event(error) => error.fmt(f),
            Self::Set(error) => error.fmt(f),
            Self::Attach { scope, error } => write!(f, "program on the event of {scope}: {error}"),
            Self::NoPeriod { event } => write!(
                f,
                "event {event}: expected a period or a frequency, found none, so that a program of type perf \
                 event would never run; open it with Attr::with_period or Attr::with_frequency"
            ),
            Self::File(error) => error.fmt(f),
            Self::Path { call, path, errno } => {
                write!(f, "{call} {}: {errno}", path.display())?;
                let needs_proc = *errno == Errno::ENOENT && path.starts_with(Mount::PROC.path());
                if needs_proc { write!(f, ": mount it: {}", Mount::PROC) } else { Ok(()) }
            }
            Self::Pin { command, path, errno, privilege } => {
                write!(f, "BPF_{command} {}: {errno}", path.display())?;
                write_cause(f, *command, hint(*command, *errno), privilege.as_deref())
            }
            Self::Contended { path } => {
                write!(f, "pin {}: other processes keep creating and removing it", path.display())
            }
            Self::FdInfo { path, field, found: Some(found) } => {
                write!(f, "{}: {field}: expected a number, found {found:?}", path.display())
            }
            Self::FdInfo { path, field, found: None } => write!(
                f,
                "{}: expected the descriptor of a map, found one without the field {field}",
                path.display()
            ),
            Self::NotBpfFs { path, found } => write!(
                f,
                "{}: expected a bpf file system, found one with magic {found:#x}; mount it: \
                 mount -t bpf bpf /sys/fs/bpf",
                path.display()
            ),
            Self::Kind { path: Some(path), expected, found } => {
                write!(f, "{}: expected a {expected}, found {found:?}", path.display())
            }
            Self::Kind { path: None, expected, found } => {
                write!(f, "BPF object: expected a {expected}, found {found:?}")
            }
            Self::Differs { path, differences, .. } => {
                write!(f, "{}: the pinned map differs", path.display())?;
                write_differences(f, differences)?;
                f.write_str("; open it as it is, replace it, or choose another path")
            }
            Self::Unmoved { path, differences, stats, cause, .. } => {
                write!(f, "{}: the pinned map differs", path.display())?;
                write_differences(f, differences)?;
                let found = stats.moved + stats.unmoved;
                f.write_str("; expected the new map to take all elements, found that it lacks ")?;
                match (stats.unmoved, stats.complete) {
                    (0, _) => write!(f, "some that may not have been read besides the {found}")?,
                    (unmoved, true) => write!(f, "{unmoved} of {found} elements")?,
                    (unmoved, false) => write!(f, "{unmoved} of at least {found} elements")?,
                }
                if let Some(cause) = cause {
                    write!(f, " ({cause})")?;
                }
                f.write_str(
                    "; the pinned map is as it was; make the new one larger, or permit the loss by \
                     IfDifferent::MoveFitting",
                )
            }
            Self::Locked { directory, waited } => write!(
                f,
                "flock {}: expected the lock within {waited:?}, found it held by another process, which \
                 /proc/locks lists; pin to a directory of mode 0700, which others cannot lock",
                directory.display()
            ),
            Self::PinPath { path, expected } => {
                write!(f, "path of a pin: expected {expected}, found {}", path.display())
            }
            Self::MapType { map, expected, found } => {
                write!(f, "map {map:?}: expected type {expected}, found {found}")
            }
            Self::Slot { map, slots, found } => write!(
                f,
                "perf event array {map:?}: expected a slot below {slots}, found {found}; create the map with \
                 a slot for each possible CPU, or choose the CPUs"
            ),
            Self::SlotsLost { cpus } => write!(
                f,
                "perf event array: expected the events of this reader in the slots of the CPUs {cpus}, found \
                 that another reader has replaced or cleared them; end one of the readers, or take the slots \
                 back by refresh"
            ),
            Self::NotRingBuf { map_type, flags } => write!(
                f,
                "ring buffer: expected a map of type BPF_MAP_TYPE_RINGBUF that keeps unread records, \
                 found type {map_type:?} with flags {flags:?}"
            ),
            Self::RingBufInUse => f.write_str(
                "ring buffer: expected a map without a reader in this process, found one; drop the other \
                 RingBuf first",
            ),
            Self::RingBufShared { expected, found } => write!(
                f,
                "ring buffer: expected position {expected}, found {found}: end the other reader of the map"
            ),
            Self::RingBufRecord { at, len, available } => write!(
                f,
                "ring buffer: expected a record within the {available} unread bytes at {at}, \
                 found one of {len} bytes"
            ),
            Self::NoCpu { offline } if offline.is_empty() => {
                f.write_str("CPUs: expected at least one, found an empty list")
            }
            Self::NoCpu { offline } => {
                write!(f, "CPUs: expected one that is online, found {offline}, all offline")
            }
            Self::Size { map, part, expected, found } => {
                write!(f, "{part} of map {map:?}: expected {expected} bytes, found {found}")
            }
            Self::UnknownMapType { map, found } => write!(
                f,
                "map {map:?}: expected a type whose elements are known, found {found}; a newer version of \
                 this crate may know it"
            ),
            Self::PerCpu { map, found } => write!(
                f,
                "map {map:?} of type {found}: expected values of type PerCpu<V> for a map with a value for \
                 each CPU and of type V for others, found the other one"
            ),
            Self::PossibleCpus { listed, values } => write!(
                f,
                "/sys/devices/system/cpu/possible: expected {values} CPUs, as many as a per-CPU map has values, \
                 found {} ({listed}); the file is not the kernel's own: unmount what covers it",
                listed.len()
            ),
            Self::CpuCount { errno } => {
                write!(f, "sched_getaffinity: {errno}: needed for the length of an element of a per-CPU map")
            }
            Self::Descriptor { errno } => {
                write!(f, "dup: {errno}")?;
                write_hint(f, descriptor_hint(*errno))
            }
            Self::Name { found } => write!(
                f,
                "name of an object: expected at most 15 letters, digits, '_' and '.', found {found:?}"
            ),
        }
    }
}

/// Writes `: difference; difference`.
pub(crate) fn write_differences(f: &mut fmt::Formatter<'_>, differences: &[Difference]) -> fmt::Result {
    let mut separator = ": ";
    for difference in differences {
        write!(f, "{separator}{difference}")?;
        separator = "; ";
    }
    Ok(())
}

fn write_cause(
    f: &mut fmt::Formatter<'_>,
    command: BpfCmd,
    hint: Option<&str>,
    privilege: Option<&BpfPrivileges>,
) -> fmt::Result {
    write_hint(f, hint)?;
    let Some(privilege) = privilege else { return Ok(()) };
    write!(f, "; {privilege}")?;
    match privilege.remedy(command) {
        Some(remedy) => write!(f, "; {remedy}"),
        None => Ok(()),
    }
}

fn write_hint(f: &mut fmt::Formatter<'_>, hint: Option<&str>) -> fmt::Result {
    hint.map_or(Ok(()), |hint| write!(f, ": {hint}"))
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for Error {}

/// `ENOTSUPP`, an errno inside the kernel that `bpf(2)` returns for an operation that a type lacks.
pub(crate) const ENOTSUPP: Errno = Errno::from_raw_os_error(524);

/// Returns the usual causes and remedies of an errno.
#[allow(clippy::match_same_arms)] // one row per command
fn hint(command: BpfCmd, errno: Errno) -> Option<&'static str> {
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
        (BpfCmd::MAP_LOOKUP_BATCH | BpfCmd::MAP_LOOKUP_AND_DELETE_BATCH, Errno::EINTR) => {
            "keys were deleted again and again meanwhile; dump_reliably returns what it gets then"
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
fn descriptor_hint(errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::EMFILE => Some(
            "the descriptor limit of the process (RLIMIT_NOFILE): an event takes one for each CPU, and so does \
             its link",
        ),
        Errno::ENFILE => Some("the limit of open files of the system (fs.file-max)"),
        _ => None,
    }
}
