use std::os::fd::AsFd;

use perf_sys::BpfRing;
use perf_sys::abi::bpf::BpfMapType;

use crate::{Error, MapFd, MapSpec, ObjectName};

/// Creates a ring buffer map with at least `bytes` bytes of data, and maps it. Since Linux 5.8.
///
/// The size is rounded up to a power of two, at least 64 KiB, because the kernel takes only powers of two
/// of whole pages and no page is larger. Programs use the map by the descriptor of the ring:
///
/// ```no_run
/// use perf_bpf::create_ring_buffer;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut ring = create_ring_buffer("events".parse()?, 1 << 20)?;
/// // Here a program that uses the map is loaded and attached.
/// loop {
///     ring.wait(None)?;
///     for record in ring.batch()?.records() {
///         println!("{:x?}", record?);
///     }
/// }
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Size`] above 2 GiB, and those of [`MapFd::create`] and [`BpfRing::map`].
#[doc(alias = "BPF_MAP_TYPE_RINGBUF")]
pub fn create_ring_buffer(name: ObjectName, bytes: u32) -> Result<BpfRing, Error> {
    /// The largest page of all architectures.
    const LEAST: u32 = 64 << 10;
    let Some(size) = bytes.max(LEAST).checked_next_power_of_two() else {
        let (part, expected, found) = ("size", 1 << 31, bytes as usize);
        return Err(Error::Size { map: name, part, expected, found });
    };
    let map = MapFd::create(&MapSpec::new(BpfMapType::RINGBUF, size).with_name(name))?;
    Ok(BpfRing::map(map.into_fd())?)
}

/// Maps a ring buffer map of another library. The descriptor is duplicated.
///
/// One reader at a time consumes the records: [`BpfRing`] reports another one, also in another process.
///
/// # Errors
///
/// [`Error::Descriptor`] if no descriptor is left, and those of [`BpfRing::map`], for example
/// [`NotBpfRing`](perf_sys::Error::NotBpfRing) for a map of another type.
pub fn open_ring_buffer(map: impl AsFd) -> Result<BpfRing, Error> {
    let fd = map.as_fd().try_clone_to_owned().map_err(|error| Error::descriptor(&error))?;
    Ok(BpfRing::map(fd)?)
}
