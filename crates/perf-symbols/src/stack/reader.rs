//! Reads the copy of a stack in a sample.

use framehop::FrameAddress;
use perf_decode::UserStack;

use super::StackEnd;
use super::machine::Interrupted;
use super::trail::Trail;
use super::walker::{By, Next};

/// Maximum size of a record in bytes, which is a 16-bit number. The kernel truncates a copy that
/// would exceed it.
const MAX_RECORD: u64 = 65528;
/// Maximum distance in bytes from the stack pointer. Anything further away is not a stack address.
const MAX_STACK: u64 = 1 << 30;

/// The copy of a stack in a sample.
#[derive(Clone, Copy)]
pub(super) struct StackCopy<'a, 'b> {
    copy: &'b UserStack<'a>,
    /// Maximum size of the copy in bytes, given the other fields of the sample.
    limit: u64,
}

impl<'a, 'b> StackCopy<'a, 'b> {
    /// Takes the copy from a record of `record_len` bytes.
    pub(super) fn new(copy: &'b UserStack<'a>, record_len: u64) -> Self {
        let others = record_len.saturating_sub(copy.size());
        Self { copy, limit: MAX_RECORD.saturating_sub(others) }
    }
}

/// Reads words from the copy and collects the addresses that it lacks.
pub(super) struct StackReader<'a> {
    sp: u64,
    bytes: &'a [u8],
    limit: u64,
    /// True if the kernel copied everything that was requested.
    is_full: bool,
    /// True after a switch to a stack other than the copied one.
    is_other_stack: bool,
    /// Addresses of failed reads. The caller clears it before each frame.
    pub(super) failed: Vec<u64>,
}

impl<'a> StackReader<'a> {
    pub(super) fn new(sp: u64, StackCopy { copy, limit }: StackCopy<'a, '_>) -> Self {
        let bytes = copy.bytes();
        let is_full = bytes.len() as u64 == copy.size();
        Self { sp, bytes, limit, is_full, is_other_stack: false, failed: Vec::new() }
    }

    pub(super) fn read(&mut self, address: u64) -> Result<u64, ()> {
        let at = address.checked_sub(self.sp).and_then(|at| usize::try_from(at).ok());
        let word = at.and_then(|at| self.bytes.get(at..)).and_then(|bytes| bytes.first_chunk());
        let Some(word) = word else {
            self.failed.push(address);
            return Err(());
        };
        Ok(u64::from_le_bytes(*word))
    }

    /// Restores the registers that a signal interrupted, or returns why they cannot be read.
    pub(super) fn interrupted<R>(
        &mut self,
        found: Result<Interrupted<R>, ()>,
        registers: &mut R,
        trail: &mut Trail,
    ) -> Result<Next, StackEnd> {
        if let Ok(found) = found {
            *registers = found.registers;
            trail.restart(&found.all);
            self.is_other_stack |= found.is_on_other_stack;
            return Ok(Next { address: FrameAddress::from_instruction_pointer(found.ip), by: By::Signal });
        }
        let address = self.failed.first().copied().unwrap_or(self.sp);
        Err(self.beyond(address).unwrap_or(StackEnd::BadFrame { address }))
    }

    /// Returns the end address of the copy, exclusive.
    pub(super) fn end(&self) -> u64 {
        self.sp.wrapping_add(self.bytes.len() as u64)
    }

    /// Returns why a stack ends at an address; `None` if the copy contains the address.
    pub(super) fn beyond(&self, address: u64) -> Option<StackEnd> {
        let needed = address.checked_sub(self.sp).and_then(|distance| distance.checked_add(8));
        if needed.is_some_and(|needed| needed <= self.bytes.len() as u64) {
            return None;
        }
        if self.is_other_stack {
            return Some(StackEnd::OtherStack);
        }
        let needed = needed?.checked_next_multiple_of(8)?;
        Some(match self.is_full {
            _ if needed > MAX_STACK => StackEnd::BadFrame { address },
            true if needed > self.limit => StackEnd::BeyondCopy { needed, limit: self.limit },
            true => StackEnd::Truncated { needed },
            false => StackEnd::NotCopied { address },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SP: u64 = 0x7fff_0000;

    #[test]
    fn stack_that_no_copy_reaches_differs_from_one_that_a_larger_copy_does() {
        let bytes = [0; 64];
        let reader = |is_full, is_other_stack| StackReader {
            sp: SP,
            bytes: &bytes,
            limit: 65000,
            is_full,
            is_other_stack,
            failed: Vec::new(),
        };
        let end = |address| reader(true, false).beyond(address);
        assert_eq!(end(SP + 56), None);
        assert_eq!(end(SP + 64), Some(StackEnd::Truncated { needed: 72 }));
        // Events can only request multiples of 8.
        assert_eq!(end(SP + 60), Some(StackEnd::Truncated { needed: 72 }));
        assert_eq!(end(SP + 64992), Some(StackEnd::Truncated { needed: 65000 }));
        assert_eq!(end(SP + 65000), Some(StackEnd::BeyondCopy { needed: 65008, limit: 65000 }));
        assert_eq!(end(SP + (1 << 40)), Some(StackEnd::BadFrame { address: SP + (1 << 40) }));
        for address in [SP - 8, u64::MAX, u64::MAX - 15] {
            assert!(matches!(end(address), None | Some(StackEnd::BadFrame { .. })), "{address:#x}");
        }
        assert_eq!(reader(false, false).beyond(SP + 64), Some(StackEnd::NotCopied { address: SP + 64 }));
        for address in [SP - 8, SP + 64, SP + (1 << 40)] {
            assert_eq!(reader(true, true).beyond(address), Some(StackEnd::OtherStack), "{address:#x}");
        }
    }
}
