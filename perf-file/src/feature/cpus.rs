use crate::bytes::Bytes;
use crate::list::Read;
use crate::{List, Result};

/// Numbers of CPUs, from [`Feature::NRCPUS`](crate::format::Feature::NRCPUS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuCount {
    /// The highest number of a present CPU, plus 1.
    pub available: u32,
    /// CPUs that were online.
    pub online: u32,
}

impl CpuCount {
    pub(super) fn parse(bytes: &mut Bytes<'_>) -> Result<Self> {
        Ok(Self { available: bytes.u32("available CPUs")?, online: bytes.u32("online CPUs")? })
    }
}

/// Cores, packages and dies, from [`Feature::CPU_TOPOLOGY`](crate::format::Feature::CPU_TOPOLOGY).
#[derive(Clone, Copy, Debug)]
pub struct CpuTopology<'a> {
    /// Lists of the CPUs of each package.
    pub packages: List<'a, &'a [u8]>,
    /// Lists of the CPUs of each core.
    pub cores: List<'a, &'a [u8]>,
    rest: Bytes<'a>,
}

/// Core and package of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreId {
    /// Number of the core in its package; -1 if unknown.
    pub core: i32,
    /// Number of the package; -1 if unknown.
    pub package: i32,
}

/// The dies of the packages.
#[derive(Clone, Copy, Debug)]
pub struct Dies<'a> {
    /// Lists of the CPUs of each die.
    pub lists: List<'a, &'a [u8]>,
    /// The die of each CPU.
    pub ids: List<'a, u32>,
}

impl<'a> Read<'a> for CoreId {
    #[expect(clippy::cast_possible_wrap, reason = "perf writes -1 for an unknown number")]
    fn read(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self { core: bytes.u32("core")? as i32, package: bytes.u32("package")? as i32 })
    }
}

impl<'a> CpuTopology<'a> {
    pub(super) fn parse(bytes: &mut Bytes<'a>) -> Result<Self> {
        Ok(Self {
            packages: super::counted(bytes, "packages")?,
            cores: super::counted(bytes, "cores")?,
            rest: *bytes,
        })
    }

    /// Returns core and package of each CPU; empty in files of old tools, before Linux 4.1.
    ///
    /// The section does not contain the number of CPUs, which is
    /// [`CpuCount::available`].
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the section has fewer.
    pub fn core_ids(&self, cpus: u32) -> Result<List<'a, CoreId>> {
        let mut rest = self.rest;
        let cpus = if rest.is_empty() { 0 } else { cpus };
        List::take(&mut rest, cpus.into(), "cores of the CPUs")
    }

    /// Returns the dies; `None` in files of tools before Linux 5.3. For `cpus` see [`core_ids`](CpuTopology::core_ids).
    ///
    /// # Errors
    ///
    /// [`Reason::Truncated`](crate::Reason::Truncated) if the section ends within them.
    pub fn dies(&self, cpus: u32) -> Result<Option<Dies<'a>>> {
        let mut rest = self.rest;
        rest.take(u64::from(cpus) * 8, "cores of the CPUs")?;
        if rest.is_empty() {
            return Ok(None);
        }
        let lists = super::counted(&mut rest, "dies")?;
        Ok(Some(Dies { lists, ids: List::take(&mut rest, cpus.into(), "dies of the CPUs")? }))
    }
}
