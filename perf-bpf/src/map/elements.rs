use perf_sys::Errno;
use perf_sys::abi::bpf::BpfElemFlags;
use zerocopy::IntoBytes;

use super::{Key, Map, Value};
use crate::Error;

/// Single elements.
impl<K: Key, V: Value> Map<K, V> {
    /// `bpf(BPF_MAP_LOOKUP_ELEM)`—Returns the value of a key, or `None` if there is no such
    /// element. Since Linux 3.18.
    ///
    /// A trie returns the value of the longest prefix that matches, so an absent key returns the value
    /// of a shorter prefix that covers it.
    ///
    /// Some types, such as perf event arrays, have no lookup (errno 524).
    #[doc(alias = "BPF_MAP_LOOKUP_ELEM")]
    pub fn lookup(&self, key: &K) -> Result<Option<V>, Error> {
        self.lookup_with(key, BpfElemFlags::empty())
    }

    /// Returns the value of a key, with flags: [`LOCK`](BpfElemFlags::LOCK) takes its spin lock
    /// (since Linux 5.1).
    pub fn lookup_with(&self, key: &K, flags: BpfElemFlags) -> Result<Option<V>, Error> {
        let fd = self.fd();
        V::read(fd.layout(), |value| fd.lookup(key.as_bytes(), value, flags))
    }

    /// `bpf(BPF_MAP_LOOKUP_AND_DELETE_ELEM)`—Deletes an element and returns its value, or `None` if
    /// there is no such element.
    ///
    /// For queues and stacks since Linux 4.20, for hashes since 5.14.
    #[doc(alias = "BPF_MAP_LOOKUP_AND_DELETE_ELEM")]
    pub fn lookup_and_delete(&self, key: &K) -> Result<Option<V>, Error> {
        let fd = self.fd();
        V::read(fd.layout(), |value| fd.lookup_and_delete(key.as_bytes(), value))
    }

    /// `bpf(BPF_MAP_UPDATE_ELEM)`—Creates an element or replaces its value. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// `E2BIG` if the map is full, or the index of an array is too large.
    #[doc(alias = "BPF_ANY")]
    #[doc(alias = "BPF_MAP_UPDATE_ELEM")]
    pub fn update(&self, key: &K, value: &V) -> Result<(), Error> {
        self.update_with(key, value, BpfElemFlags::empty())
    }

    /// Updates an element with flags: [`NO_EXIST`](BpfElemFlags::NO_EXIST),
    /// [`EXIST`](BpfElemFlags::EXIST), and [`LOCK`](BpfElemFlags::LOCK) (since Linux 5.1).
    pub fn update_with(&self, key: &K, value: &V, flags: BpfElemFlags) -> Result<(), Error> {
        let fd = self.fd();
        value.with_bytes(fd.layout(), |value| fd.update(key.as_bytes(), value, flags))
    }

    /// Creates an element, and returns `false` if its key exists; its value is then unchanged.
    #[doc(alias = "BPF_NOEXIST")]
    pub fn insert(&self, key: &K, value: &V) -> Result<bool, Error> {
        false_if(self.update_with(key, value, BpfElemFlags::NO_EXIST), Errno::EEXIST)
    }

    /// Replaces the value of an element, and returns `false` if its key does not exist.
    #[doc(alias = "BPF_EXIST")]
    pub fn replace(&self, key: &K, value: &V) -> Result<bool, Error> {
        false_if(self.update_with(key, value, BpfElemFlags::EXIST), Errno::ENOENT)
    }

    /// `bpf(BPF_MAP_DELETE_ELEM)`—Deletes an element, and returns `false` if its key does not
    /// exist. Since Linux 3.18.
    ///
    /// # Errors
    ///
    /// `EINVAL` for arrays, whose elements always exist.
    #[doc(alias = "BPF_MAP_DELETE_ELEM")]
    pub fn delete(&self, key: &K) -> Result<bool, Error> {
        self.fd().delete(key.as_bytes())
    }

    /// `bpf(BPF_MAP_GET_NEXT_KEY)`—Returns the key after `key`, or the first without a key, or
    /// `None` at the end. Since Linux 3.18; the first key since 4.12.
    ///
    /// A hash returns its first key for a key that does not exist, as if the iteration began anew.
    #[doc(alias = "BPF_MAP_GET_NEXT_KEY")]
    pub fn next_key(&self, key: Option<&K>) -> Result<Option<K>, Error> {
        let mut next = K::new_zeroed();
        let found = self.fd().next_key(key.map(IntoBytes::as_bytes), next.as_mut_bytes())?;
        Ok(found.then_some(next))
    }

    /// `bpf(BPF_MAP_FREEZE)`—Makes the map read-only for all user space, which cannot be undone.
    /// Since Linux 5.2.
    #[doc(alias = "BPF_MAP_FREEZE")]
    pub fn freeze(&self) -> Result<(), Error> {
        self.fd().freeze()
    }
}

/// Returns `false` for one errno.
fn false_if(done: Result<(), Error>, errno: Errno) -> Result<bool, Error> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.errno() == Some(errno) => Ok(false),
        Err(error) => Err(error),
    }
}
