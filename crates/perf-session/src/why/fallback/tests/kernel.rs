//! A simulated kernel of any release: it refuses unknown bits and sizes, in the order in which
//! `perf_copy_attr` and `perf_event_alloc` check them. `perf-abi` has the bits of each release.

use perf_ring::abi::Release;
use perf_ring::sys::Error as SysError;
use perf_ring::{Attr, AttrFlags, BranchSampleType, Call, Errno, Error, EventType, ReadFormat, SampleType};

/// Releases as major and minor number; 2.6.x is (2, x).
type Number = (u8, u8);

#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    pub(super) release: Number,
    /// The largest level that the PMU samples with.
    pub(super) max_precise: u8,
    pub(super) can_exclude: bool,
    pub(super) has_branches: bool,
    /// Whether the caller may observe the kernel.
    pub(super) is_privileged: bool,
}

/// The first release of each size of the attr.
pub(super) const SIZES: [(Number, u32); 10] = [
    ((2, 31), 64),
    ((2, 33), 72),
    ((3, 4), 80),
    ((3, 7), 96),
    ((3, 19), 104),
    ((4, 1), 112),
    ((5, 5), 120),
    ((5, 13), 128),
    ((6, 3), 136),
    ((6, 19), 144),
];

/// Returns the bit field `n` of the flags on this machine.
fn flag(n: u32) -> u64 {
    if cfg!(target_endian = "big") { 1 << (63 - n) } else { 1 << n }
}

impl Kernel {
    pub(super) fn new(release: Number) -> Self {
        Self { release, max_precise: 3, can_exclude: true, has_branches: true, is_privileged: true }
    }

    pub(super) fn size(self) -> u32 {
        SIZES.iter().rev().find(|(since, _)| *since <= self.release).unwrap().1
    }

    fn has(self, since: Release) -> bool {
        let (major, minor) = self.release;
        since <= if major == 2 { Release(2, 6, minor) } else { Release(major, minor, 0) }
    }

    pub(super) fn flags(self) -> u64 {
        let precise = if self.has(Release(2, 6, 35)) { AttrFlags::PRECISE_IP_MASK } else { 0 };
        AttrFlags::SINCE.iter().filter(|row| self.has(row.1)).fold(precise, |bits, row| bits | row.0.bits())
    }

    pub(super) fn samples(self) -> u64 {
        SampleType::SINCE.iter().filter(|row| self.has(row.1)).fold(0, |bits, row| bits | row.0.bits())
    }

    pub(super) fn reads(self) -> u64 {
        ReadFormat::SINCE.iter().filter(|row| self.has(row.1)).fold(0, |bits, row| bits | row.0.bits())
    }

    pub(super) fn branches(self) -> u64 {
        BranchSampleType::SINCE.iter().filter(|row| self.has(row.1)).fold(0, |bits, row| bits | row.0.bits())
    }

    /// Opens an event.
    pub(super) fn open(self, attr: &Attr) -> Result<(), Error> {
        let fail = |errno| Err(Error::Sys(SysError::System { call: Call::PerfEventOpen, errno }));
        let kernel = self.size();
        let end = used(attr);
        if attr.size < 64 || (attr.size > kernel && end > kernel) {
            return Err(Error::Sys(SysError::AttrSize { kernel, call: Call::PerfEventOpen }));
        }
        if !self.knows(attr) {
            return fail(Errno::EINVAL);
        }
        if !self.is_privileged && attr.flags.bits() & flag(5) == 0 {
            return fail(Errno::EACCES);
        }
        let inherited_read = attr.flags.bits() & flag(1) != 0 && attr.sample_type.bits() & 1 << 4 != 0;
        if inherited_read && self.release < (6, 12) && self.release >= (4, 13) {
            return fail(Errno::EINVAL);
        }
        let is_hardware = attr.kind != EventType::SOFTWARE;
        if is_hardware && attr.flags.precise_ip().level() > self.max_precise {
            return fail(Errno::EOPNOTSUPP);
        }
        if attr.sample_type.bits() & 1 << 11 != 0 && !(is_hardware && self.has_branches) {
            return fail(Errno::EOPNOTSUPP);
        }
        let excludes: u64 = [4, 5, 6, 7, 19, 20].map(flag).iter().sum();
        if !self.can_exclude && attr.flags.bits() & excludes != 0 {
            return fail(Errno::EINVAL);
        }
        let clocks: &[i32] = if is_hardware { &[1, 4] } else { &[0, 1, 4, 7, 11] };
        if attr.flags.bits() & flag(25) != 0 && !clocks.contains(&attr.clockid.0) {
            return fail(Errno::EINVAL);
        }
        Ok(())
    }

    /// Returns whether the kernel knows all bits, as its `perf_copy_attr` does.
    fn knows(self, attr: &Attr) -> bool {
        let samples = attr.sample_type.bits();
        let branches = attr.branch_sample_type.bits();
        let wants = |bit: u32| samples >> bit & 1 == 1;
        let known = attr.flags.bits() & !self.flags() == 0
            && samples & !self.samples() == 0
            && attr.read_format.bits() & !self.reads() == 0
            && (self.release >= (4, 1) || attr.clockid.0 == 0)
            && (self.release >= (4, 8) || attr.sample_max_stack == 0)
            && (self.release >= (6, 13) || attr.aux_action.is_empty());
        let privileges = BranchSampleType::USER | BranchSampleType::KERNEL | BranchSampleType::HV;
        let has_branches = branches & !self.branches() == 0 && branches & !privileges.bits() != 0;
        known
            && (!wants(11) || has_branches)
            && (!wants(12) || attr.sample_regs_user != 0)
            && (!wants(18) || attr.sample_regs_intr != 0)
            && !(wants(14) && wants(24))
    }
}

/// Returns the end of the last byte that is not 0.
fn used(attr: &Attr) -> u32 {
    let ends = [
        (attr.config2 != 0, 72),
        (!attr.branch_sample_type.is_empty(), 80),
        (attr.sample_regs_user != 0, 88),
        (attr.sample_stack_user != 0, 92),
        (attr.clockid.0 != 0, 96),
        (attr.sample_regs_intr != 0, 104),
        (attr.aux_watermark != 0, 108),
        (attr.sample_max_stack != 0, 110),
        (attr.aux_sample_size != 0, 116),
        (!attr.aux_action.is_empty(), 120),
        (attr.sig_data != 0, 128),
        (attr.config3 != 0, 136),
        (attr.config4 != 0, 144),
    ];
    ends.iter().filter(|(is_set, _)| *is_set).map(|(_, end)| *end).max().unwrap_or(64)
}
