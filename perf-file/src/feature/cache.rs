use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// A CPU cache, from [`Feature::CACHE`](crate::format::Feature::CACHE).
#[derive(Clone, Copy, Debug)]
#[doc(alias = "cpu_cache_level")]
pub struct CacheLevel<'a> {
    /// Level, from 1.
    pub level: u32,
    /// Length of a line in bytes.
    pub line_size: u32,
    /// Number of sets.
    pub sets: u32,
    /// Associativity.
    pub ways: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: &'a [u8],
    /// Size as sysfs prints it, such as `32K`.
    pub size: &'a [u8],
    /// List of the CPUs that share the cache.
    pub cpus: &'a [u8],
}

impl<'a> CacheLevel<'a> {
    pub(super) fn list(bytes: &mut Bytes<'a>) -> Result<List<'a, Self>> {
        let version = bytes.u32("version")?;
        super::version(bytes, version.into(), 1)?;
        super::counted(bytes, "caches")
    }
}

impl<'a> Read<'a> for CacheLevel<'a> {
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            level: bytes.u32("level of a cache")?,
            line_size: bytes.u32("line size of a cache")?,
            sets: bytes.u32("sets of a cache")?,
            ways: bytes.u32("ways of a cache")?,
            kind: bytes.string("type of a cache")?,
            size: bytes.string("size of a cache")?,
            cpus: bytes.string("CPUs of a cache")?,
        })
    }
}
