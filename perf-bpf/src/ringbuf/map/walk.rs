use super::unread::{Data, Step, Unread, damaged};
use crate::Result;

/// A walk over the unread records. Dropping it makes its position that of the consumer.
#[derive(Debug)]
pub(in crate::ringbuf) struct Walk<'b> {
    pub(super) unread: Unread<'b>,
    next: u64,
    position: &'b mut u64,
    discarded: &'b mut u64,
}

impl<'b> Walk<'b> {
    #[inline]
    pub(super) const fn new(unread: Unread<'b>, position: &'b mut u64, discarded: &'b mut u64) -> Self {
        Self { unread, next: *position, position, discarded }
    }

    /// Steps over the next committed record, and counts the discarded ones before it.
    #[inline(always)] // so that a loop keeps the guess in registers; benches/bpf
    pub(super) fn next(&mut self) -> Option<Result<Data>> {
        loop {
            match self.unread.step(self.next) {
                Step::End => {
                    self.unread.head = self.next; // the record may be committed meanwhile
                    return None;
                }
                Step::Record(data, after) => {
                    self.next = after;
                    return Some(Ok(data));
                }
                Step::Discarded(after) => {
                    self.next = after;
                    *self.discarded += 1;
                }
                Step::Damaged { at, len, available } => {
                    self.next = self.unread.head;
                    return Some(Err(damaged(at, len, available)));
                }
            }
        }
    }

    /// As [`next`](Self::next), and copies the data of the record to the start of `free`. Returns the
    /// copy and the rest of `free`.
    #[inline(always)]
    pub(in crate::ringbuf) fn copy_next(
        &mut self,
        free: &'b mut [u64],
    ) -> Option<Result<(&'b [u8], &'b mut [u64])>> {
        match self.next()? {
            Ok(data) => self.unread.copy(data, free).map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

impl Drop for Walk<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.position = self.next;
    }
}
