use perf_decode::{RawRecord, Window};

use super::Ring;
use crate::error::Result;

/// Reading with a cursor, whose state is in the ring, so that a function can return each record.
///
/// ```no_run
/// use perf_decode::{Record, SampleLayout};
/// use perf_sys::Ring;
///
/// struct Reader {
///     ring: Ring,
///     layout: SampleLayout,
/// }
///
/// impl Reader {
///     /// Returns the next record, or `None` if there are no unread records.
///     fn read(&mut self) -> Result<Option<Record<'_>>, Box<dyn std::error::Error>> {
///         if self.ring.peek().is_none() {
///             self.ring.refresh()?; // also releases the records that were read
///         }
///         match self.ring.next() {
///             Some(record) => Ok(Some(record?.decode(&self.layout)?)),
///             None => Ok(None),
///         }
///     }
/// }
/// ```
impl Ring {
    /// Releases the consumed records, loads the kernel's position, and returns whether there are
    /// unread records.
    ///
    /// # Errors
    ///
    /// As [`batch`](Self::batch).
    pub fn refresh(&mut self) -> Result<bool> {
        self.release();
        self.look()?;
        Ok(self.reader.consumer.len() != 0)
    }

    /// Returns the next record without consuming it; `None` if all records as of the last
    /// [`refresh`](Self::refresh) are consumed.
    ///
    /// A size that no record can have is an `Err`, which [`next`](Self::next) skips.
    #[inline]
    pub fn peek(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        self.reader.peek()
    }

    /// Returns the next record and consumes it; `None` if all records as of the last
    /// [`refresh`](Self::refresh) are consumed.
    ///
    /// The kernel does not overwrite the record before [`release`](Self::release) or `refresh`. A
    /// size that no record can have is an `Err`. Then all unread bytes as of the last refresh are
    /// skipped, and [`damage`](Self::damage) counts them.
    #[expect(clippy::should_implement_trait, reason = "the record borrows the ring, not an iterator's input")]
    #[inline]
    pub fn next(&mut self) -> Option<perf_decode::Result<RawRecord<'_>>> {
        self.reader.next()
    }

    /// Releases the consumed records, so that the kernel may overwrite them.
    pub fn release(&mut self) {
        self.reader.consumer.release();
    }

    /// Copies all unread records to `copy`, releases them, and returns them as a window.
    ///
    /// The ring is free before the records are read. Clears `copy` first and allocates only if its
    /// capacity is less than the unread bytes. The window does not wrap, so it needs no scratch.
    ///
    /// ```no_run
    /// # fn read(ring: &mut perf_sys::Ring) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut copy = Vec::new();
    /// for record in ring.copy_into(&mut copy)?.records(&mut []) {
    ///     println!("{:?}", record?.kind());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The words are copied by atomic loads. That is the only sound way to read the ring of a software event
    /// that samples registers while another process has an event of that kind with another number of them
    /// for the same task or CPU, because the kernel then overwrites unread records
    /// (`docs/kernel-errata.md`, "Samples shorter than their registers").
    ///
    /// # Errors
    ///
    /// As [`batch`](Self::batch).
    pub fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Result<Window<'c>> {
        self.look()?;
        Ok(self.reader.copy_into(copy))
    }
}
