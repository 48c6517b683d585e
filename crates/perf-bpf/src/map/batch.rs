//! Batch commands: many elements with one system call.

use core::fmt;
use std::collections::HashSet;
use std::io;

use perf_ring::Errno;
use perf_ring::abi::bpf::{BpfCmd, BpfElemFlags};
use zerocopy::IntoBytes;

use super::dump::has_atomic_batches;
use super::iterate::{Listed, copy, has_slots};
use super::{Key, Map, Value};
use crate::error::{ENOTSUPP, Error};
use crate::syscall::Elements;

/// Attempts at one batch.
const ATTEMPTS: u32 = 64;

/// Returns of keys that were delivered before, for each element of the map's capacity, after which
/// an iteration gives up.
const RETURNS: u64 = 4;

/// Many elements with one system call.
impl<K: Key, V: Value> Map<K, V> {
    /// `bpf(BPF_MAP_LOOKUP_BATCH)`—Returns the next elements of an iteration. It is over when
    /// [`BatchCursor::is_at_end`] is set; a batch before it may be empty.
    ///
    /// In a trie, the kernel may return a key that is deleted at that moment with the value of a
    /// shorter prefix; [`dump_reliably`](Self::dump_reliably) and [`BatchCursor::by_keys`] do not.
    ///
    /// No key is delivered twice. The kernel begins anew if the key at the end of a batch of a
    /// trie, or of a fallback, is deleted before the next one; then the cursor keeps the delivered
    /// keys in memory and skips them.
    ///
    /// Since Linux 5.6 for hashes and arrays, 5.13 for per-CPU arrays. If the kernel has no batch
    /// commands for the map type, the elements are looked up one by one, and
    /// [`BatchCursor::is_fallback`] is set. So it is for per-CPU maps in a process that may not
    /// create maps, which cannot find out before how many values the kernel copies.
    ///
    /// ```
    /// use perf_bpf::{BatchCursor, BpfMapType, Map, MapSpec};
    ///
    /// # fn main() -> Result<(), perf_bpf::Error> {
    /// # if Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1)).is_err() {
    /// #     return Ok(()); // not permitted here
    /// # }
    /// let map = Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1000))?;
    /// let mut cursor = BatchCursor::new(256);
    /// let mut found = 0;
    /// while !cursor.is_at_end() {
    ///     found += map.lookup_batch(&mut cursor)?.len();
    /// }
    /// assert_eq!(found, 1000);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `EINTR` if deletions interrupt the iteration again and again.
    #[doc(alias = "BPF_MAP_LOOKUP_BATCH")]
    pub fn lookup_batch(&self, cursor: &mut BatchCursor) -> Result<Vec<(K, V)>, Error> {
        self.next_batch(BpfCmd::MAP_LOOKUP_BATCH, cursor)
    }

    /// `bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH)`—Deletes the next elements of an iteration and returns
    /// them. Since Linux 5.6 for hashes.
    ///
    /// In the fallback, the update of an element by a program between its lookup and its deletion
    /// is lost.
    #[doc(alias = "BPF_MAP_LOOKUP_AND_DELETE_BATCH")]
    pub fn lookup_and_delete_batch(&self, cursor: &mut BatchCursor) -> Result<Vec<(K, V)>, Error> {
        self.next_batch(BpfCmd::MAP_LOOKUP_AND_DELETE_BATCH, cursor)
    }

    fn next_batch(&self, command: BpfCmd, cursor: &mut BatchCursor) -> Result<Vec<(K, V)>, Error> {
        if cursor.is_at_end {
            return Ok(Vec::new());
        }
        let mut batch = self.next_batch_of_kernel(command, cursor)?;
        let map_type = self.fd().map_type();
        let may_begin_anew =
            if cursor.is_fallback { !has_slots(map_type) } else { !has_atomic_batches(map_type) };
        // A key that exists again after its deletion is another element.
        if command == BpfCmd::MAP_LOOKUP_BATCH && may_begin_anew {
            let returned = batch.len();
            batch.retain(|(key, _)| cursor.delivered.insert(key.as_bytes().into()));
            let known = (returned - batch.len()) as u64;
            cursor.returns += known;
            let max_entries = self.fd().max_entries();
            if cursor.returns > u64::from(max_entries).saturating_mul(RETURNS) {
                return Err(Error::bpf(command, self.fd().name(), Errno::EINTR));
            }
            // A batch that ends at the same key as the previous one makes no progress.
            if known != 0 && batch.is_empty() {
                cursor.capacity = cursor.capacity.saturating_mul(2).min(max_entries as usize).max(1);
            }
        }
        Ok(batch)
    }

    fn next_batch_of_kernel(&self, command: BpfCmd, cursor: &mut BatchCursor) -> Result<Vec<(K, V)>, Error> {
        if cursor.is_fallback {
            return self.next_by_keys(command, cursor);
        }
        let layout = self.fd().layout();
        let (key_size, element_size) = (size_of::<K>(), layout.element_size()?);
        let max_entries = layout.max_entries as usize;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let count = cursor.capacity.min(max_entries).max(1);
            let mut keys = vec![0; count.saturating_mul(key_size)];
            let mut values = vec![0; count.saturating_mul(element_size)];
            let mut position = vec![0; layout.position_size()];
            let mut elements = Elements {
                count,
                keys: &mut keys,
                values: Some(&mut values),
                start: cursor.position.as_deref(),
                position: &mut position,
            };
            let (found, errno) = self.fd().batch(command, &mut elements, BpfElemFlags::empty())?;
            match errno {
                None => cursor.position = Some(position),
                Some(Errno::ENOENT) => cursor.is_at_end = true,
                // A bucket of the hash does not fit.
                Some(Errno::ENOSPC) if count < max_entries => {
                    cursor.capacity = cursor.capacity.saturating_mul(2);
                    continue;
                }
                // Concurrent deletions: the kernel gives up after a few keys that vanished.
                Some(Errno::EINTR | Errno::EAGAIN) if attempts < ATTEMPTS => continue,
                Some(errno) if cursor.position.is_none() && is_unsupported(errno) => {
                    cursor.is_fallback = true;
                    return self.next_by_keys(command, cursor);
                }
                Some(errno) => return Err(Error::bpf(command, layout.name, errno)),
            }
            let keys = keys.chunks_exact(key_size.max(1));
            let values = values.chunks_exact(element_size.max(1));
            return keys.zip(values).take(found).map(|(key, value)| self.parse(key, value)).collect();
        }
    }

    fn parse(&self, key: &[u8], value: &[u8]) -> Result<(K, V), Error> {
        let layout = self.fd().layout();
        let key = K::read_from_bytes(key).map_err(|_| layout.size_error("key", size_of::<K>(), key.len()))?;
        Ok((key, V::from_element(layout, value)?))
    }

    fn next_by_keys(&self, command: BpfCmd, cursor: &mut BatchCursor) -> Result<Vec<(K, V)>, Error> {
        let mut found = Vec::new();
        let mut next = match cursor.position.as_deref() {
            // The key that the preceding batch ended before.
            Some(position) => K::read_from_bytes(position).ok(),
            None => self.next_key(None)?,
        };
        for _ in 0..cursor.capacity {
            let Some(key) = next else {
                cursor.is_at_end = true;
                return Ok(found);
            };
            next = self.next_key(Some(&key))?;
            if let Listed::Value(value) = self.lookup_listed(&key)? {
                if command == BpfCmd::MAP_LOOKUP_AND_DELETE_BATCH && !self.delete(&key)? {
                    continue; // another task deleted and counts it
                }
                found.push((copy(&key), value));
            }
        }
        match next {
            Some(key) => cursor.position = Some(key.as_bytes().to_vec()),
            None => cursor.is_at_end = true,
        }
        Ok(found)
    }
}

/// Returns whether the kernel has no such command, or the map type does not support it.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, ENOTSUPP | Errno::EOPNOTSUPP | Errno::EINVAL)
}

/// The position of an iteration in batches, for one map.
#[derive(Clone, Debug)]
pub struct BatchCursor {
    capacity: usize,
    /// Whether single elements are accessed, and `position` is the next key and not the kernel's.
    is_fallback: bool,
    /// `None` at the start.
    position: Option<Vec<u8>>,
    is_at_end: bool,
    /// The keys that were delivered, if the kernel may return them again.
    delivered: HashSet<Box<[u8]>>,
    /// The number of times that the kernel returned a key again.
    returns: u64,
}

impl BatchCursor {
    /// Returns a cursor at the start of a map, for batches of at most `capacity` elements, at least
    /// 1.
    ///
    /// The capacity is doubled if a bucket of a hash holds more elements, or if a batch has only
    /// elements that were delivered before.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            is_fallback: false,
            position: None,
            is_at_end: false,
            delivered: HashSet::new(),
            returns: 0,
        }
    }

    /// Returns a cursor that does not use batch commands, as [`is_fallback`](Self::is_fallback)
    /// describes it.
    pub fn by_keys(capacity: usize) -> Self {
        Self { is_fallback: true, ..Self::new(capacity) }
    }

    /// Returns `true` if all elements were returned.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Returns `true` if elements are accessed one by one, because the kernel has no batch commands
    /// for the map type or the process cannot use them for a per-CPU map.
    pub fn is_fallback(&self) -> bool {
        self.is_fallback
    }

    /// Returns the number of elements of the next batch.
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

/// A batch that failed after some elements.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BatchError {
    /// The number of elements that were written before the failed one.
    pub written: usize,
    /// The error of that element.
    pub error: Error,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} elements: {}", self.written, self.error)
    }
}

/// `source` is `None`, because `Display` already has the whole text.
impl core::error::Error for BatchError {}

/// Keeps the kind of the errno and the whole text, with the [`BatchError`] itself inside.
/// [`Error::to_os_error`] of its field `error` keeps the number.
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
    /// The errors of [`update`](Self::update). The elements before the failed one were written.
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
        // A failed batch writes the number of processed elements. If the kernel refuses the command
        // as a whole, for example for a frozen map, it writes no number, so that the passed one
        // remains.
        let is_untouched = errno.is_some() && written >= count;
        Ok((if is_untouched { 0 } else { written }, errno))
    }
}

fn joined<'a, K: Key + 'a>(keys: impl Iterator<Item = &'a K>) -> Vec<u8> {
    keys.flat_map(IntoBytes::as_bytes).copied().collect()
}
