use perf_sys::Errno;
use perf_sys::abi::bpf::{BpfCmd, BpfElemFlags};

use super::iterate::copy;
use super::listed::Listed;
use super::{Key, Map, Value};
use crate::Error;
use crate::error::ENOTSUPP;
use crate::syscall::Elements;

mod cursor;
mod write;

pub use cursor::BatchCursor;
pub(super) use cursor::Mode;
pub use write::BatchError;

/// Attempts at one batch.
const ATTEMPTS: u32 = 64;

/// Many elements with one system call.
impl<K: Key, V: Value> Map<K, V> {
    /// `bpf(BPF_MAP_LOOKUP_BATCH)`—Returns the next elements of an iteration. It is over when
    /// [`BatchCursor::is_at_end`] is set; a batch before it may be empty.
    ///
    /// In a trie, the kernel may return a key that is deleted at that moment with the value of a
    /// shorter prefix; [`dump_reliably`](Self::dump_reliably) and [`BatchCursor::by_keys`] do not.
    ///
    /// Since Linux 5.6 for hashes and arrays, 5.13 for per-CPU arrays. If the kernel has no batch
    /// commands for the map type, the elements are looked up one by one, and
    /// [`BatchCursor::is_fallback`] is set.
    ///
    /// ```
    /// use perf_bpf::{BatchCursor, BpfMapType, Map, MapSpec};
    ///
    /// # fn main() -> Result<(), perf_bpf::Error> {
    /// let map = match Map::<u32, u64>::create(MapSpec::new(BpfMapType::ARRAY, 1000)) {
    ///     Ok(map) => map,
    ///     Err(error) => return Ok(println!("{error}")),
    /// };
    /// let mut cursor = BatchCursor::new(256);
    /// let mut found = 0;
    /// while !cursor.is_at_end() {
    ///     found += map.lookup_batch(&mut cursor)?.len();
    /// }
    /// assert_eq!(found, 1000);
    /// # Ok(())
    /// # }
    /// ```
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
        if cursor.is_at_end() {
            return Ok(Vec::new());
        }
        if cursor.mode() == Mode::Keys {
            return self.next_by_keys(command, cursor);
        }
        let layout = self.fd().layout();
        let (key_size, element_size) = (size_of::<K>(), layout.element_size()?);
        let max_entries = layout.max_entries as usize;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let count = cursor.capacity().min(max_entries).max(1);
            let mut keys = vec![0; count.saturating_mul(key_size)];
            let mut values = vec![0; count.saturating_mul(element_size)];
            let mut position = vec![0; layout.position_size()];
            let mut elements = Elements {
                count,
                keys: &mut keys,
                values: Some(&mut values),
                start: cursor.position(),
                position: &mut position,
            };
            let (found, errno) = self.fd().batch(command, &mut elements, BpfElemFlags::empty())?;
            match errno {
                None => cursor.advance(position),
                Some(Errno::ENOENT) => cursor.end(),
                // A bucket of the hash does not fit.
                Some(Errno::ENOSPC) if count < max_entries => {
                    cursor.grow();
                    continue;
                }
                // Concurrent deletions: the kernel gives up after a few keys that vanished.
                Some(Errno::EINTR | Errno::EAGAIN) if attempts < ATTEMPTS => continue,
                Some(errno) if cursor.is_at_start() && is_unsupported(errno) => {
                    cursor.fall_back();
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
        let mut next = match cursor.position() {
            // The key that the preceding batch ended before.
            Some(position) => K::read_from_bytes(position).ok(),
            None => self.next_key(None)?,
        };
        for _ in 0..cursor.capacity() {
            let Some(key) = next else {
                cursor.end();
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
            Some(key) => cursor.advance(key.as_bytes().to_vec()),
            None => cursor.end(),
        }
        Ok(found)
    }
}

/// Returns whether the kernel has no such command, or the map type does not support it.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, ENOTSUPP | Errno::EOPNOTSUPP | Errno::EINVAL)
}
