//! The addresses in samples of probes.

use super::Probe;

/// The addresses in the payload of a probe's sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeHit {
    /// Virtual address of the probed instruction; for a return, the entry of the function.
    pub address: u64,
    /// Virtual address to which the function returns, `None` for an entry.
    pub return_to: Option<u64>,
}

/// The length of the fields that every tracepoint begins with, in bytes.
const COMMON: usize = 8;

impl Probe {
    /// Returns the addresses in the payload of a sample, which is the slice that
    /// [`Sample::raw`](perf_ring::Sample::raw) returns, or `None` if it is too short.
    ///
    /// The kernel has no file that describes the payload of a probe of the PMUs. After the common
    /// fields it has one address or, for a return, two, each an `unsigned long` of the kernel. The
    /// words are 64 bits long if the payload has the space for them, as on a 64-bit kernel under a
    /// 32-bit program.
    pub fn hit(&self, payload: &[u8]) -> Option<ProbeHit> {
        let addresses = payload.get(COMMON..)?;
        if !self.is_return {
            let address = word::<8>(addresses, 0).or_else(|| word::<4>(addresses, 0))?;
            return Some(ProbeHit { address, return_to: None });
        }
        let long = word::<8>(addresses, 0).zip(word::<8>(addresses, 1));
        let (address, return_to) = long.or_else(|| word::<4>(addresses, 0).zip(word::<4>(addresses, 1)))?;
        Some(ProbeHit { address, return_to: Some(return_to) })
    }
}

/// Returns the word of this index, each of `N` bytes of this machine's order.
fn word<const N: usize>(bytes: &[u8], index: usize) -> Option<u64> {
    let word = bytes.get(index * N..)?.first_chunk::<N>()?;
    let mut long = [0; 8];
    let start = if cfg!(target_endian = "big") { 8 - N } else { 0 };
    long.get_mut(start..)?.get_mut(..N)?.copy_from_slice(word);
    Some(u64::from_ne_bytes(long))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the payload: common fields, words of this length, and bytes up to the kernel's
    /// alignment.
    fn payload<const N: usize>(words: &[[u8; N]]) -> Vec<u8> {
        let mut payload = vec![0xff; COMMON];
        payload.extend(words.iter().flatten());
        // With its length of 4 bytes a multiple of 8.
        payload.resize((payload.len() + 4).next_multiple_of(8) - 4, 0xee);
        payload
    }

    #[test]
    fn entry_has_one_address() {
        let entry = Probe::kernel_address(0);
        let hit = Some(ProbeHit { address: 0x1234_5678, return_to: None });
        assert_eq!(entry.hit(&payload(&[0x1234_5678_u64.to_ne_bytes()])), hit);
        assert_eq!(entry.hit(&payload(&[0x1234_5678_u32.to_ne_bytes()])), hit);
        assert_eq!(entry.hit(&[0; 11]), None);
    }

    #[test]
    fn return_has_two_addresses() {
        let exit = Probe::kernel_address(0).on_return();
        let hit = Some(ProbeHit { address: 0x1111_2222, return_to: Some(0x3333_4444) });
        assert_eq!(exit.hit(&payload(&[0x1111_2222_u64, 0x3333_4444].map(u64::to_ne_bytes))), hit);
        assert_eq!(exit.hit(&payload(&[0x1111_2222_u32, 0x3333_4444].map(u32::to_ne_bytes))), hit);
        assert_eq!(exit.hit(&payload(&[[0; 8]; 0])), None);
        assert_eq!((exit.hit(&[]), exit.hit(&[0; 15])), (None, None));
    }
}
