//! The events of a file: attrs of any length, in either byte order.

use perf_abi::{
    Attr, AttrFlags, AuxAction, BranchSampleType, BreakpointType, Clock, EventType, ReadFormat, SampleType,
};
use zerocopy::{FromZeros, IntoBytes};

#[cfg(any(test, feature = "std"))]
use std::vec::Vec;

use crate::bytes::Bytes;
use crate::format::Section;
use crate::{ByteOrder, Error, List, Reason, Result};

/// The longest attr in bytes: a page, which is the limit of the kernel.
const MAX_SIZE: u64 = 4096;

/// Checks the size of an attr in bytes, which is at `offset` in the file.
pub(crate) fn check_attr_size(size: u64, offset: u64) -> Result<()> {
    if (Attr::SIZE_VER0.into()..=MAX_SIZE).contains(&size) {
        Ok(())
    } else {
        Err(Error::new(offset, Reason::AttrSize { found: size }))
    }
}

/// Reads an entry of the section of attrs, which is exactly `entry`: the attr, and the section of its ids.
pub(crate) fn read_entry(mut entry: Bytes<'_>) -> Result<(&[u8], Section)> {
    let offset = entry.offset();
    // The entry has the length of the file's header, which the attr must confirm.
    let attr_size = (entry.rest().len() as u64).saturating_sub(size_of::<Section>() as u64);
    let mut start = entry;
    start.u32("type of the attr")?;
    let found = start.u32("size of the attr")?;
    // The first tools and `perf_event_open` take a size of 0 for the first published one.
    let own = if found == 0 { Attr::SIZE_VER0 } else { found };
    if u64::from(own) != attr_size {
        return Err(Error::new(offset + 4, Reason::AttrLength { found, expected: attr_size }));
    }
    let attr = entry.take(attr_size, "attr")?;
    Ok((attr, Section { offset: entry.u64("offset of ids")?, size: entry.u64("size of ids")? }))
}

/// An event of a file: its attr and the ids of the events that were opened with it, one per CPU or
/// thread.
#[derive(Clone, Copy, Debug)]
pub struct FileAttr<'a> {
    attr: Attr,
    bytes: &'a [u8],
    ids: List<'a, u64>,
}

impl<'a> FileAttr<'a> {
    pub(crate) fn new(bytes: &'a [u8], ids: List<'a, u64>, order: ByteOrder) -> Self {
        Self { attr: attr_from_bytes(bytes, order), bytes, ids }
    }

    /// Reads an attr whose own size field is its length, and ids up to the end of `bytes`, as in a
    /// record [`HEADER_ATTR`](crate::format::record_type::HEADER_ATTR).
    pub(crate) fn read(mut bytes: Bytes<'a>) -> Result<Self> {
        let mut start = bytes;
        start.u32("type of the attr")?;
        let size = match start.u32("size of the attr")? {
            0 => Attr::SIZE_VER0,
            size => size,
        };
        check_attr_size(size.into(), bytes.offset() + 4)?;
        let attr = bytes.take(size.into(), "attr")?;
        let ids = bytes.rest().len() as u64 / 8;
        Ok(Self::new(attr, List::take(&mut bytes, ids, "ids")?, bytes.order()))
    }

    /// Returns the attr. Fields that the file's attr lacks are 0; fields newer than this crate are
    /// in [`bytes`](FileAttr::bytes) only.
    pub fn attr(&self) -> Attr {
        self.attr
    }

    /// Returns the attr as it is in the file.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the ids, which records carry.
    pub const fn ids(&self) -> List<'a, u64> {
        self.ids
    }
}

/// Returns the attr in `bytes`, which has any length. Missing fields are 0, unknown ones are left
/// out.
pub fn attr_from_bytes(bytes: &[u8], order: ByteOrder) -> Attr {
    let mut attr = Attr::new_zeroed();
    for (to, from) in attr.as_mut_bytes().iter_mut().zip(bytes) {
        *to = *from;
    }
    if order.is_native() { attr } else { swapped(attr) }
}

/// Appends the first `size` bytes of an attr, with that number in its field `size`.
#[cfg(any(test, feature = "std"))]
pub(crate) fn push(bytes: &mut Vec<u8>, attr: &Attr, size: u32, order: ByteOrder) {
    let attr = Attr { size, ..*attr };
    let attr = if order.is_native() { attr } else { swapped(attr) };
    bytes.extend(attr.as_bytes().iter().take(size as usize));
}

/// Swaps each field of an attr of the other byte order.
fn swapped(attr: Attr) -> Attr {
    Attr {
        kind: EventType(attr.kind.0.swap_bytes()),
        size: attr.size.swap_bytes(),
        config: attr.config.swap_bytes(),
        sample_period: attr.sample_period.swap_bytes(),
        sample_type: SampleType::from_bits_retain(attr.sample_type.bits().swap_bytes()),
        read_format: ReadFormat::from_bits_retain(attr.read_format.bits().swap_bytes()),
        flags: swapped_flags(attr.flags),
        wakeup: attr.wakeup.swap_bytes(),
        bp_type: BreakpointType(attr.bp_type.0.swap_bytes()),
        config1: attr.config1.swap_bytes(),
        config2: attr.config2.swap_bytes(),
        branch_sample_type: BranchSampleType::from_bits_retain(attr.branch_sample_type.bits().swap_bytes()),
        sample_regs_user: attr.sample_regs_user.swap_bytes(),
        sample_stack_user: attr.sample_stack_user.swap_bytes(),
        clockid: Clock(attr.clockid.0.swap_bytes()),
        sample_regs_intr: attr.sample_regs_intr.swap_bytes(),
        aux_watermark: attr.aux_watermark.swap_bytes(),
        sample_max_stack: attr.sample_max_stack.swap_bytes(),
        reserved_2: attr.reserved_2.swap_bytes(),
        aux_sample_size: attr.aux_sample_size.swap_bytes(),
        aux_action: AuxAction::from_bits_retain(
            attr.aux_action.bits().swap_bytes().reverse_bits().swap_bytes(),
        ),
        sig_data: attr.sig_data.swap_bytes(),
        config3: attr.config3.swap_bytes(),
        config4: attr.config4.swap_bytes(),
    }
}

/// Swaps bit fields, which C lays out from the first byte on: from its lowest bit on little-endian
/// machines, from its highest one on big-endian ones.
fn swapped_flags(flags: AttrFlags) -> AttrFlags {
    let reversed = flags.bits().to_ne_bytes().map(u8::reverse_bits);
    let flags = AttrFlags::from_bits_retain(u64::from_ne_bytes(reversed));
    // The only field of two bits is a number, whose high bit is first on big-endian machines.
    let high = AttrFlags::PRECISE_IP_MASK & (AttrFlags::PRECISE_IP_MASK << 1);
    let low = AttrFlags::PRECISE_IP_MASK & !high;
    let exchanged = (flags.bits() & high) >> 1 | (flags.bits() & low) << 1;
    AttrFlags::from_bits_retain(flags.bits() & !AttrFlags::PRECISE_IP_MASK | exchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perf_abi::{Skid, Software};

    #[test]
    fn short_attr_lacks_its_last_fields() {
        let attr = Attr { config1: 7, config2: 8, ..Attr::software(Software::DUMMY) };
        let read = attr_from_bytes(&attr.as_bytes()[..64], ByteOrder::NATIVE);
        assert_eq!((read.kind, read.config, read.config1, read.config2), (attr.kind, attr.config, 7, 0));
    }

    #[test]
    fn attr_newer_than_this_crate_is_read_as_far_as_known() {
        let attr = Attr { config4: 9, ..Attr::software(Software::DUMMY) };
        let bytes = [attr.as_bytes(), &[1; 16]].concat();
        assert_eq!(attr_from_bytes(&bytes, ByteOrder::NATIVE), attr);
    }

    #[test]
    fn flags_of_the_other_order_are_reversed_in_each_byte() {
        // `disabled`, `precise_ip` 1 and `sample_id_all`, 18 bits after the start.
        let constant = ([1, 0x80, 4, 0, 0, 0, 0, 0], [0x80, 0, 0xa0, 0, 0, 0, 0, 0], Skid::CONSTANT);
        // The same with `precise_ip` 2.
        let requested = ([1, 0, 5, 0, 0, 0, 0, 0], [0x80, 1, 0x20, 0, 0, 0, 0, 0], Skid::REQUESTED_ZERO);
        for (little, big, skid) in [constant, requested] {
            let file = if cfg!(target_endian = "little") { big } else { little };
            let flags = swapped_flags(AttrFlags::from_bits_retain(u64::from_ne_bytes(file)));
            let expected = (AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL).with_precise_ip(skid);
            assert_eq!(flags, expected);
        }
    }

    #[test]
    fn swapping_an_attr_twice_changes_nothing() {
        let mut attr = Attr::new_zeroed();
        attr.as_mut_bytes().iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
        // The two bits of `precise_ip` are elsewhere in the other order.
        attr.flags = AttrFlags::DISABLED | AttrFlags::SAMPLE_ID_ALL;
        assert_eq!(swapped(swapped(attr)), attr);
        assert!(swapped(attr) != attr);
    }
}
