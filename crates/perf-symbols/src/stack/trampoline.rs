//! The code through which Python calls its evaluation loop, one copy for each Python function, so
//! that stacks have their names (`python -X perf`, since Python 3.12).
//!
//! A recording has neither its bytes nor unwind information. Its length distinguishes the forms
//! that `Python/asm_trampoline.S` of `CPython` has had; code of another length is left alone. On
//! arm64 it keeps a frame pointer, so that nothing is needed here.

/// The caller of code at an address in a trampoline, relative to the stack pointer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trampoline {
    /// Distance to the CFA in bytes. The return address is below it.
    pub(super) cfa: u64,
    /// True if the caller's frame pointer is at the stack pointer.
    pub(super) is_frame_pointer_saved: bool,
}

/// Length in bytes of `endbr64`, with which the code begins in builds for CET.
const ENDBR64: u64 = 4;

/// Returns how to leave a trampoline of `len` bytes before the instruction at `offset` runs.
/// Returns `None` if the length is of no known form, or no instruction begins there.
pub(super) fn x86_64(offset: u64, len: u64) -> Option<Trampoline> {
    // Each form as the offsets of its instructions: the last one is the return.
    const BY_STACK_POINTER: [u64; 4] = [0, 4, 6, 10]; // sub $8, %rsp; call *%rcx; add $8, %rsp; ret
    const BY_FRAME_POINTER: [u64; 5] = [0, 1, 4, 6, 7]; // push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret
    let outside = Trampoline { cfa: 8, is_frame_pointer_saved: false };
    let forms = [(&BY_STACK_POINTER[..], false), (&BY_FRAME_POINTER[..], true)];
    let (starts, is_frame_pointer_saved, before) = forms.into_iter().find_map(|(starts, is_saved)| {
        let end = starts.last()? + 1;
        let before = len.checked_sub(end).filter(|&before| before == 0 || before == ENDBR64)?;
        Some((starts, is_saved, before))
    })?;
    if offset == 0 {
        return Some(outside);
    }
    let at = offset.checked_sub(before)?;
    let index = starts.iter().position(|&start| start == at)?;
    if index == 0 || index + 1 == starts.len() {
        return Some(outside);
    }
    Some(Trampoline { cfa: 16, is_frame_pointer_saved })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_of_a_trampoline_is_known_by_its_length() {
        let outside = Some(Trampoline { cfa: 8, is_frame_pointer_saved: false });
        let inside = |is_frame_pointer_saved| Some(Trampoline { cfa: 16, is_frame_pointer_saved });
        for (len, starts, is_saved) in [
            (11, &[0, 4, 6, 10][..], false),
            (15, &[0, 4, 8, 10, 14], false),
            (8, &[0, 1, 4, 6, 7], true),
            (12, &[0, 4, 5, 8, 10, 11], true),
        ] {
            for offset in 0..20 {
                let first = if len == 15 || len == 12 { 4 } else { 0 };
                let expected = match offset {
                    _ if !starts.contains(&offset) => None,
                    offset if offset <= first || offset + 1 == len => outside,
                    _ => inside(is_saved),
                };
                assert_eq!(x86_64(offset, len), expected, "{offset} of {len}");
            }
        }
        for len in [0, 1, 7, 9, 10, 13, 14, 16, 64, u64::MAX] {
            assert_eq!(x86_64(6, len), None, "{len}");
        }
    }
}
