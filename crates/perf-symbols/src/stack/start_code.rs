//! The functions `_init` and `_fini` of a file, to which libc's start files contribute code without
//! unwind information. Each library runs them once, often when its first page is read.

use std::ops::Range;

/// Length in bytes of `endbr64`, with which the code begins in builds for CET.
const ENDBR64: u64 = 4;

/// The sections of the functions, which have nothing else unless a program adds to them.
pub(super) const SECTIONS: [&str; 2] = [".init", ".fini"];

/// Returns the distance of the stack pointer to the CFA in bytes before the instruction at an
/// address runs. Returns `None` if the length of the section is of no known form, or no
/// instruction begins there. The return address is below the CFA, and the frame pointer is the
/// caller's.
pub(super) fn x86_64(address: u64, section: &Range<u64>) -> Option<u64> {
    // Offsets of the instructions, from `sub $8, %rsp` to `add $8, %rsp` and `ret`, and the end.
    const INIT: [u64; 8] = [0, 4, 11, 14, 16, 18, 22, 23];
    const FINI: [u64; 4] = [0, 4, 8, 9];
    let (offset, len) = (address.checked_sub(section.start)?, section.end.checked_sub(section.start)?);
    let (starts, before) = [&INIT[..], &FINI[..]].into_iter().find_map(|starts| {
        let before = len.checked_sub(*starts.last()?)?;
        (before == 0 || before == ENDBR64).then_some((starts, before))
    })?;
    if offset == 0 {
        return Some(8);
    }
    let at = offset.checked_sub(before)?;
    let index = starts.iter().position(|&start| start == at)?;
    match starts.len() - index {
        1 => None,
        2 => Some(8),
        _ => Some(if index == 0 { 8 } else { 16 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_of_init_and_fini_is_known_by_the_length_of_their_section() {
        let at = |offset: u64, len: u64| x86_64(0x1000 + offset, &(0x1000..0x1000 + len));
        // As objdump(1) prints the code of glibc 2.36, and the same after `endbr64`.
        for (len, starts) in [
            (23, &[0, 4, 11, 14, 16, 18, 22][..]),
            (27, &[0, 4, 8, 15, 18, 20, 22, 26]),
            (9, &[0, 4, 8]),
            (13, &[0, 4, 8, 12]),
        ] {
            let first = if starts.len() % 2 == 0 { 4 } else { 0 };
            for offset in 0..40 {
                let expected = match offset {
                    _ if !starts.contains(&offset) => None,
                    _ if offset <= first || offset + 1 == len => Some(8),
                    _ => Some(16),
                };
                assert_eq!(at(offset, len), expected, "{offset} of {len}");
            }
        }
        assert_eq!((at(4, 30), at(4, 0), x86_64(0, &(8..31))), (None, None, None));
    }
}
