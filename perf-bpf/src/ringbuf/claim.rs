use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// The ids of the ring buffer maps that this process reads.
static CLAIMED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The right of one reader in this process to a ring buffer map, by the map's id. Dropping it ends the
/// right.
#[derive(Debug)]
pub(super) struct Claim(u32);

impl Claim {
    /// Takes the right, or returns [`Error::RingBufInUse`] if there is a reader.
    pub(super) fn new(map: u32) -> Result<Self> {
        if claimed().insert(map) { Ok(Self(map)) } else { Err(Error::RingBufInUse) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        claimed().remove(&self.0);
    }
}

fn claimed() -> MutexGuard<'static, BTreeSet<u32>> {
    CLAIMED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_one_reader_at_a_time() {
        let first = Claim::new(u32::MAX).unwrap();
        assert!(matches!(Claim::new(u32::MAX), Err(Error::RingBufInUse)));
        drop(first);
        drop(Claim::new(u32::MAX).unwrap());
    }
}
