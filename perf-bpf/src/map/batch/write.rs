use core::fmt;
use std::io;

use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfElemFlags};
use zerocopy::IntoBytes;

use super::{Key, Map, Value, is_unsupported};
use crate::Error;
use crate::syscall::Elements;

/// A batch that failed after some elements.
#[derive(Clone)]
pub struct BatchError {
    /// Elements that were written before the one that failed.
    pub written: usize,
    /// The error of that element.
    pub error: Error,
}

impl BatchError {
    /// Returns the errno if a system call failed, as [`Error::errno`].
    pub fn errno(&self) -> Option<Errno> {
        self.error.errno()
    }

    /// Returns the number of the errno if a system call failed, as [`Error::raw_os_error`].
    pub fn raw_os_error(&self) -> Option<i32> {
        self.error.raw_os_error()
    }

    /// Returns an error of std with the errno, as [`Error::to_os_error`].
    pub fn to_os_error(&self) -> io::Error {
        self.error.to_os_error()
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} elements: {}", self.written, self.error)
    }
}

/// The text of `Display`.
impl fmt::Debug for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for BatchError {}

/// As of [`Error`]: keeps the kind of the errno and the whole text, with the [`BatchError`] itself
/// inside. [`BatchError::to_os_error`] keeps the number.
impl From<BatchError> for io::Error {
    fn from(error: BatchError) -> Self {
        Self::new(Self::from(error.error.clone()).kind(), error)
    }
}

impl From<BatchError> for Error {
    fn from(error: BatchError) -> Self {
        error.error
    }
}

/// Many elements with one system call.
impl<K: Key, V: Value> Map<K, V> {
    /// `bpf(BPF_MAP_UPDATE_BATCH)`—Creates or replaces elements. Since Linux 5.6; one by one if the
    /// kernel has no batch commands for the map type.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update). The elements before the one that failed were written.
    #[doc(alias = "BPF_MAP_UPDATE_BATCH")]
    pub fn update_batch(&self, elements: &[(K, V)]) -> Result<(), BatchError> {
        let unwritten = |error| BatchError { written: 0, error };
        let mut keys = joined(elements.iter().map(|(key, _)| key));
        let layout = self.fd().layout();
        let mut values = Vec::new();
        for (_, value) in elements {
            let appended = value.with_bytes(layout, |bytes| {
                values.extend_from_slice(bytes);
                Ok(())
            });
            appended.map_err(unwritten)?;
        }
        let written = self.write(BpfCmd::MAP_UPDATE_BATCH, elements.len(), &mut keys, Some(&mut values));
        match written.map_err(unwritten)? {
            (_, None) => Ok(()),
            // Also to find the error of an element: `EINVAL` alone may mean an unknown command.
            (written, Some(errno)) => {
                let written = if is_unsupported(errno) { 0 } else { written };
                self.update_singly(elements, written)
            }
        }
    }

    fn update_singly(&self, elements: &[(K, V)], first: usize) -> Result<(), BatchError> {
        for (at, (key, value)) in elements.iter().enumerate().skip(first) {
            self.update(key, value).map_err(|error| BatchError { written: at, error })?;
        }
        Ok(())
    }

    /// `bpf(BPF_MAP_DELETE_BATCH)`—Deletes elements, and returns the number of those that existed.
    /// Since Linux 5.6; one by one if the kernel has no batch commands for the map type.
    #[doc(alias = "BPF_MAP_DELETE_BATCH")]
    pub fn delete_batch(&self, keys: &[K]) -> Result<usize, BatchError> {
        let mut deleted = 0;
        let mut rest = keys;
        let mut is_supported = true;
        while !rest.is_empty() {
            let failed = |error| BatchError { written: deleted, error };
            if is_supported {
                let mut bytes = joined(rest.iter());
                let (done, errno) =
                    self.write(BpfCmd::MAP_DELETE_BATCH, rest.len(), &mut bytes, None).map_err(failed)?;
                is_supported = !errno.is_some_and(is_unsupported);
                let done = if is_supported { done } else { 0 };
                deleted += done;
                rest = rest.get(done..).unwrap_or_default();
            }
            // The kernel stops at a key that does not exist.
            let Some((key, others)) = rest.split_first() else { break };
            let failed = |error| BatchError { written: deleted, error };
            deleted += usize::from(self.delete(key).map_err(failed)?);
            rest = others;
        }
        Ok(deleted)
    }

    fn write(
        &self,
        command: BpfCmd,
        count: usize,
        keys: &mut [u8],
        values: Option<&mut [u8]>,
    ) -> Result<(usize, Option<Errno>), Error> {
        let mut position = vec![0; self.fd().layout().position_size()];
        let mut elements = Elements { count, keys, values, start: None, position: &mut position };
        let (written, errno) = self.fd().batch(command, &mut elements, BpfElemFlags::empty())?;
        // A failed batch has fewer elements than were passed. If the kernel refuses the command as a
        // whole, as for a frozen map, it writes no number, and the one that was passed is still there.
        let is_untouched = errno.is_some() && written >= count;
        Ok((if is_untouched { 0 } else { written }, errno))
    }
}

fn joined<'a, K: Key + 'a>(keys: impl Iterator<Item = &'a K>) -> Vec<u8> {
    keys.flat_map(IntoBytes::as_bytes).copied().collect()
}
