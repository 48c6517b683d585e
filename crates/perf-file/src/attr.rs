//! The events of a file: attrs of any length, in either byte order.

use perf_abi::{Attr, AttrFlags};
use zerocopy::{FromZeros, IntoBytes};

#[cfg(any(test, feature = "std"))]
use std::vec::Vec;

use crate::bytes::Bytes;
use crate::error::{Error, Reason, Result};
use crate::format::Section;
use crate::list::List;
use crate::order::ByteOrder;

/// The longest attr in bytes: a page, which is the limit of the kernel.
const MAX_SIZE: u64 = 4096;

/// Checks the size of an attr in bytes, which is at `offset` in the file.
pub(crate) fn check_attr_size(size: u64, offset: u64) -> Result<()> {
    if (Attr::SIZE_VER0.into()..=MAX_SIZE).contains(&size) {
        Ok(())
    } else {
        Err(wrong_attr_size(size, offset))
    }
}

pub(crate) fn wrong_attr_size(found: u64, offset: u64) -> Error {
    let expected = "64 to 4096 bytes and 16 for its ids";
    Error::new(offset, Reason::Size { what: "an attr", expected, found })
}

/// Reads an entry of the section of attrs, which is exactly `entry`: the attr, and the section of
/// its ids.
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
#[non_exhaustive]
pub struct FileAttr<'a> {
    /// The attr. Fields that the file's attr lacks are 0; fields newer than this crate are
    /// in [`bytes`](FileAttr::bytes) only.
    pub attr: Attr,
    /// The attr as it is in the file.
    pub bytes: &'a [u8],
    /// The ids, which records carry.
    pub ids: List<'a, u64>,
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
    let mut attr = *attr;
    attr.size = size;
    let attr = if order.is_native() { attr } else { swapped(attr) };
    bytes.extend(attr.as_bytes().iter().take(size as usize));
}

/// The widths of the attr's fields in bytes, in order.
const WIDTHS: [usize; 24] = [4, 4, 8, 8, 8, 8, 8, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8, 8];

/// Swaps each field of an attr of the other byte order.
fn swapped(attr: Attr) -> Attr {
    let mut swapped = attr;
    let mut rest = swapped.as_mut_bytes();
    for width in WIDTHS {
        let Some((field, after)) = rest.split_at_mut_checked(width) else { break };
        field.reverse();
        rest = after;
    }
    // The bit fields are not numbers.
    swapped.flags = swapped_flags(attr.flags);
    swapped.aux_action = zerocopy::transmute!(swapped_bits::<4>(zerocopy::transmute!(attr.aux_action)));
    swapped
}

/// Swaps bit fields, which C lays out from the first byte on: from its lowest bit on little-endian
/// machines, from its highest one on big-endian ones.
fn swapped_bits<const N: usize>(bytes: [u8; N]) -> [u8; N] {
    bytes.map(u8::reverse_bits)
}

/// Swaps the flags. One is not a bit: `precise_ip` is a number of two bits, whose high bit comes
/// first on big-endian machines.
fn swapped_flags(flags: AttrFlags) -> AttrFlags {
    let flags: AttrFlags = zerocopy::transmute!(swapped_bits::<8>(zerocopy::transmute!(flags)));
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
        let mut attr = Attr::software(Software::DUMMY);
        attr.config1 = 7;
        attr.config2 = 8;
        let read = attr_from_bytes(&attr.as_bytes()[..64], ByteOrder::NATIVE);
        assert_eq!((read.kind, read.config, read.config1, read.config2), (attr.kind, attr.config, 7, 0));
    }

    #[test]
    fn attr_newer_than_this_crate_is_read_as_far_as_known() {
        let mut attr = Attr::software(Software::DUMMY);
        attr.config4 = 9;
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
    fn each_field_of_an_attr_is_swapped_by_its_width() {
        macro_rules! offsets {
            ($($field:ident)+) => { [$(core::mem::offset_of!(Attr, $field)),+] };
        }
        let offsets = offsets! {
            kind size config sample_period sample_type read_format flags wakeup bp_type config1 config2
            branch_sample_type sample_regs_user sample_stack_user clockid sample_regs_intr aux_watermark
            sample_max_stack reserved_2 aux_sample_size aux_action sig_data config3 config4
        };
        let bits = [core::mem::offset_of!(Attr, flags), core::mem::offset_of!(Attr, aux_action)];
        let mut end = 0;
        for (offset, width) in offsets.into_iter().zip(WIDTHS) {
            assert_eq!(offset, end);
            end += width;
            let (mut attr, mut expected) = (Attr::new_zeroed(), Attr::new_zeroed());
            attr.as_mut_bytes()[offset] = 1;
            let (at, byte) = if bits.contains(&offset) { (offset, 0x80) } else { (end - 1, 1) };
            expected.as_mut_bytes()[at] = byte;
            assert_eq!(swapped(attr), expected, "{offset}");
            assert_eq!(swapped(expected), attr, "{offset}");
        }
        assert_eq!(end, size_of::<Attr>());
    }
}
