//! Probes for BPF features of the running kernel.

use std::os::fd::AsFd;

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfAttachType, BpfCmd, BpfInsn, BpfMapFlags, BpfMapType, BpfProgType};

use crate::error::ENOTSUPP;
use crate::error::Error;
use crate::map_spec::MapSpec;
use crate::object::ObjectName;
use crate::program::ProgramFd;
use crate::syscall::MapFd;
use crate::syscall::{Elements, link_create};
use perf_ring::abi::bpf::BpfElemFlags;

/// `mov r0, 0; exit`.
const RETURN_0: [BpfInsn; 2] = [BpfInsn::new(0xb7, 0, 0, 0, 0), BpfInsn::new(0x95, 0, 0, 0, 0)];

/// Probes of the running kernel: each creates a small object and deletes it again.
///
/// `Err` means that the kernel cannot be asked, usually for lack of a capability; it is not an
/// answer.
///
/// ```
/// use perf_bpf::{BpfMapType, Features};
///
/// match Features::map_type_or_hash(BpfMapType::LRU_HASH) {
///     Ok(map_type) => println!("the cache is a map of type {map_type}"),
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Features;

impl Features {
    /// Returns whether the kernel has a map type.
    ///
    /// # Errors
    ///
    /// [`Error::NoProbe`] for a type that this crate does not know, unless the kernel accepts it
    /// with a key and a value of 4 bytes.
    pub fn map_type(map_type: BpfMapType) -> Result<bool, Error> {
        let inner; // open until the map was created
        let mut spec = smallest(map_type);
        if matches!(map_type, BpfMapType::ARRAY_OF_MAPS | BpfMapType::HASH_OF_MAPS) {
            inner = MapFd::create(&smallest(BpfMapType::HASH))?;
            spec = spec.with_inner(&inner);
        }
        let mut attr = spec.attr();
        // The kernel looks at the BTF after it accepted the type and the sizes.
        let accepted = match map_type {
            BpfMapType::SK_STORAGE
            | BpfMapType::INODE_STORAGE
            | BpfMapType::TASK_STORAGE
            | BpfMapType::CGRP_STORAGE => {
                (attr.btf_fd, attr.btf_key_type_id, attr.btf_value_type_id) = (u32::MAX, 1, 1);
                Some(Errno::EBADF)
            }
            BpfMapType::STRUCT_OPS => {
                attr.btf_vmlinux_value_type_id = 1;
                Some(ENOTSUPP)
            }
            _ => None,
        };
        let created = MapFd::create_from(&attr);
        if accepted.is_some() && created.as_ref().err().and_then(Error::errno) == accepted {
            return Ok(true);
        }
        let is_known = map_type.name().is_some();
        answer(created, is_known, Error::NoProbe { kind: "map type", number: map_type.0 })
    }

    /// Returns the type, or [`HASH`](BpfMapType::HASH) if the kernel lacks this hash type: LRU
    /// hashes before Linux 4.10, LPM tries before 4.11.
    ///
    /// The program must be compiled for the same type. On a hash it looks up exact prefixes, so it
    /// must try each length.
    pub fn map_type_or_hash(map_type: BpfMapType) -> Result<BpfMapType, Error> {
        let has_fallback = matches!(map_type, BpfMapType::LRU_HASH | BpfMapType::LPM_TRIE);
        Ok(match map_type {
            BpfMapType::LRU_PERCPU_HASH if !Self::map_type(map_type)? => BpfMapType::PERCPU_HASH,
            _ if has_fallback && !Self::map_type(map_type)? => BpfMapType::HASH,
            _ => map_type,
        })
    }

    /// Returns whether the kernel has a program type and permits it. It is loaded with a program
    /// that only returns.
    ///
    /// The answer is also `false` for a type that is refused with `EPERM` although the process may
    /// load programs that need the same capabilities: a security module refuses it to every
    /// process.
    ///
    /// Types that need more than instructions, such as tracing with BTF, are found by the
    /// verifier's log, because a kernel that lacks the type does not verify the program.
    ///
    /// # Errors
    ///
    /// [`Error::NoProbe`] for a type that this crate does not know, and for kprobe programs before
    /// Linux 5.0, which need the version of the kernel.
    pub fn prog_type(prog_type: BpfProgType) -> Result<bool, Error> {
        let attach_type = match prog_type {
            BpfProgType::CGROUP_SOCK_ADDR => BpfAttachType(10), // BPF_CGROUP_INET4_CONNECT
            BpfProgType::LIRC_MODE2 => BpfAttachType(16),       // BPF_LIRC_MODE2
            BpfProgType::CGROUP_SOCKOPT => BpfAttachType(21),   // BPF_CGROUP_GETSOCKOPT
            BpfProgType::SK_LOOKUP => BpfAttachType(36),        // BPF_SK_LOOKUP
            BpfProgType::NETFILTER => BpfAttachType(45),        // BPF_NETFILTER
            _ => BpfAttachType::default(),
        };
        let loaded = ProgramFd::load_for(prog_type, attach_type, &RETURN_0, c"GPL", ObjectName::EMPTY);
        if matches!(&loaded, Err(Error::Load { log, .. }) if !log.is_empty()) {
            return Ok(true);
        }
        if loaded.as_ref().is_err_and(|error| error.errno() == Some(Errno::EPERM)) && may_load_all() {
            return Ok(false);
        }
        let is_known = prog_type.name().is_some() && prog_type != BpfProgType::KPROBE;
        answer(loaded, is_known, Error::NoProbe { kind: "program type", number: prog_type.0 })
    }

    /// Returns whether objects can have names. Since Linux 4.15.
    pub fn object_names() -> Result<bool, Error> {
        let spec = smallest(BpfMapType::ARRAY).with_name("pk_probe".parse()?);
        supported(MapFd::create(&spec), &[Errno::E2BIG, Errno::EINVAL])
    }

    /// Returns whether the kernel has batch commands for hashes. Since Linux 5.6.
    pub fn batches() -> Result<bool, Error> {
        let map = MapFd::create(&smallest(BpfMapType::HASH))?;
        let (mut keys, mut values, mut position) = ([0; 8], [0; 8], [0; 8]);
        let mut elements = Elements {
            count: 1,
            keys: &mut keys,
            values: Some(&mut values),
            start: None,
            position: &mut position,
        };
        let (_, errno) = map.batch(BpfCmd::MAP_LOOKUP_BATCH, &mut elements, BpfElemFlags::empty())?;
        match errno {
            None | Some(Errno::ENOENT) => Ok(true),
            Some(Errno::EINVAL) => Ok(false),
            Some(errno) => Err(Error::bpf(BpfCmd::MAP_LOOKUP_BATCH, map.name(), errno)),
        }
    }

    /// Returns whether programs can be attached to perf events by links. Since Linux 5.15.
    #[doc(alias = "BPF_PERF_EVENT")]
    pub fn perf_event_links() -> Result<bool, Error> {
        let program = ProgramFd::load(BpfProgType::PERF_EVENT, &RETURN_0, c"GPL", ObjectName::EMPTY)?;
        // A kernel with such links looks at the event first, and a program is not an event.
        match link_create(program.as_fd(), program.as_fd().into(), 0) {
            Err(Errno::EBADF) => Ok(true),
            Ok(_) | Err(Errno::EINVAL) => Ok(false),
            Err(errno) => Err(Error::bpf(BpfCmd::LINK_CREATE, ObjectName::EMPTY, errno)),
        }
    }

    /// Returns whether maps can be frozen. Since Linux 5.2.
    pub fn freeze() -> Result<bool, Error> {
        supported(MapFd::create(&smallest(BpfMapType::ARRAY))?.freeze(), &[Errno::EINVAL])
    }
}

/// Returns whether the process has the capabilities for programs of every type: those for tracing
/// and those for networking. What it has in the namespaces of a container may not count, so
/// programs are loaded.
fn may_load_all() -> bool {
    let mut types = [BpfProgType::PERF_EVENT, BpfProgType::SCHED_CLS].into_iter();
    types.all(|prog_type| ProgramFd::load(prog_type, &RETURN_0, c"GPL", ObjectName::EMPTY).is_ok())
}

/// Returns a map of the type with one element, or the smallest that the kernel accepts.
fn smallest(map_type: BpfMapType) -> MapSpec<'static> {
    let (key, value, entries) = match map_type {
        BpfMapType::HASH
        | BpfMapType::LRU_HASH
        | BpfMapType::PERCPU_HASH
        | BpfMapType::LRU_PERCPU_HASH
        | BpfMapType::LPM_TRIE => (8, 8, 1),
        BpfMapType::QUEUE | BpfMapType::STACK | BpfMapType::BLOOM_FILTER => (0, 4, 1),
        BpfMapType::STACK_TRACE | BpfMapType::STRUCT_OPS => (4, 8, 1),
        BpfMapType::CGROUP_STORAGE | BpfMapType::PERCPU_CGROUP_STORAGE => (16, 8, 0),
        BpfMapType::SK_STORAGE
        | BpfMapType::INODE_STORAGE
        | BpfMapType::TASK_STORAGE
        | BpfMapType::CGRP_STORAGE => (4, 8, 0),
        BpfMapType::ARENA => (0, 0, 1),
        BpfMapType::INSN_ARRAY => (4, 16, 1),
        // A multiple of the page size, at most 64 KiB.
        BpfMapType::RINGBUF | BpfMapType::USER_RINGBUF => (0, 0, 1 << 16),
        _ => (4, 4, 1),
    };
    let flags = match map_type {
        BpfMapType::LPM_TRIE
        | BpfMapType::SK_STORAGE
        | BpfMapType::INODE_STORAGE
        | BpfMapType::TASK_STORAGE
        | BpfMapType::CGRP_STORAGE => BpfMapFlags::NO_PREALLOC,
        BpfMapType::ARENA => BpfMapFlags::MMAPABLE,
        _ => BpfMapFlags::empty(),
    };
    MapSpec::new(map_type, entries).with_sizes(key, value).with_flags(flags)
}

/// Returns the result of an attempt with a type. If the required properties of the type are
/// unknown, a failed attempt proves nothing, because the kernel has one errno for both.
fn answer<T>(attempt: Result<T, Error>, is_known: bool, no_answer: Error) -> Result<bool, Error> {
    let missing = [Errno::EINVAL, Errno::E2BIG, Errno::EOPNOTSUPP, ENOTSUPP];
    match supported(attempt, &missing) {
        Ok(false) if !is_known => Err(no_answer),
        answer => answer,
    }
}

/// Returns `false` if the attempt failed with one of the errnos of a missing feature.
fn supported<T>(attempt: Result<T, Error>, missing: &[Errno]) -> Result<bool, Error> {
    match attempt {
        Ok(_) => Ok(true),
        Err(error) if error.errno().is_some_and(|errno| missing.contains(&errno)) => Ok(false),
        Err(error) => Err(error),
    }
}
