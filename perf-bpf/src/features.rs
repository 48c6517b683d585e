use std::os::fd::AsFd;

use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfInsn, BpfMapFlags, BpfMapType, BpfProgType};

use crate::error::ENOTSUPP;
use crate::syscall::{Elements, link_create};
use crate::{BpfElemFlags, Error, MapFd, MapSpec, ObjectName, ProgramFd};

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
    pub fn map_type(map_type: BpfMapType) -> Result<bool, Error> {
        supported(MapFd::create(&smallest(map_type)), &[Errno::EINVAL, Errno::E2BIG, ENOTSUPP])
    }

    /// Returns the type, or [`HASH`](BpfMapType::HASH) in place of a type of hash that the kernel
    /// lacks: LRU hashes before Linux 4.10, LPM tries before 4.11.
    ///
    /// A program must be compiled for the same type. On a hash it looks up exact prefixes, so it
    /// has to try each length itself.
    pub fn map_type_or_hash(map_type: BpfMapType) -> Result<BpfMapType, Error> {
        let has_fallback = matches!(map_type, BpfMapType::LRU_HASH | BpfMapType::LPM_TRIE);
        Ok(match map_type {
            BpfMapType::LRU_PERCPU_HASH if !Self::map_type(map_type)? => BpfMapType::PERCPU_HASH,
            _ if has_fallback && !Self::map_type(map_type)? => BpfMapType::HASH,
            _ => map_type,
        })
    }

    /// Returns whether the kernel has a program type, for a program that only returns.
    ///
    /// Types that need more than instructions, such as tracing with BTF, are reported as missing.
    pub fn prog_type(prog_type: BpfProgType) -> Result<bool, Error> {
        let loaded = ProgramFd::load(prog_type, &RETURN_0, c"GPL", ObjectName::EMPTY);
        supported(loaded, &[Errno::EINVAL, Errno::E2BIG, Errno::EOPNOTSUPP, ENOTSUPP])
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
        match link_create(program.as_fd(), program.as_fd(), 0) {
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

/// Returns a map of the type with one element, or the smallest that the kernel accepts.
fn smallest(map_type: BpfMapType) -> MapSpec<'static> {
    let (key, value, entries) = match map_type {
        BpfMapType::HASH
        | BpfMapType::LRU_HASH
        | BpfMapType::PERCPU_HASH
        | BpfMapType::LRU_PERCPU_HASH
        | BpfMapType::LPM_TRIE => (8, 8, 1),
        BpfMapType::QUEUE | BpfMapType::STACK | BpfMapType::BLOOM_FILTER => (0, 4, 1),
        BpfMapType::STACK_TRACE => (4, 8, 1),
        // A multiple of the page size, at most 64 KiB.
        BpfMapType::RINGBUF | BpfMapType::USER_RINGBUF => (0, 0, 1 << 16),
        _ => (4, 4, 1),
    };
    let flags = match map_type {
        BpfMapType::LPM_TRIE => BpfMapFlags::NO_PREALLOC,
        _ => BpfMapFlags::empty(),
    };
    MapSpec::new(map_type, entries).with_sizes(key, value).with_flags(flags)
}

/// Returns `false` if the attempt failed with one of the errnos of a missing feature.
fn supported<T>(attempt: Result<T, Error>, missing: &[Errno]) -> Result<bool, Error> {
    match attempt {
        Ok(_) => Ok(true),
        Err(error) if error.errno().is_some_and(|errno| missing.contains(&errno)) => Ok(false),
        Err(error) => Err(error),
    }
}
