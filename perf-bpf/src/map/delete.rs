use super::{Key, Map, Value};
use crate::Error;

/// Deletion of all elements.
impl<K: Key, V: Value> Map<K, V> {
    /// Deletes all elements, and returns the number of them.
    ///
    /// Elements that are added meanwhile may survive: at most as many keys are deleted as the map
    /// has capacity.
    ///
    /// # Errors
    ///
    /// `EINVAL` for arrays, whose elements always exist.
    pub fn delete_all(&self) -> Result<u64, Error> {
        let mut deleted = 0;
        let mut next = self.next_key(None)?;
        for _ in 0..self.fd().max_entries() {
            let Some(key) = next else { break };
            // The successor first, because a deleted key has none.
            next = self.next_key(Some(&key))?;
            deleted += u64::from(self.delete(&key)?);
        }
        Ok(deleted)
    }
}
