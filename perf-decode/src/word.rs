//! Words and the smaller things inside them: the only place that fiddles with bytes.

use core::ffi::CStr;

use perf_abi::Header;
use zerocopy::{FromBytes, IntoBytes};

use crate::{Error, Result};

/// Reads the header that a record's first word is.
#[inline]
pub(crate) fn header(word: u64) -> Header {
    zerocopy::transmute!(word)
}

/// Splits a word into its two `u32` in memory order: `pid, tid` or `cpu, reserved`.
#[inline]
pub(crate) fn halves(word: u64) -> [u32; 2] {
    zerocopy::transmute!(word)
}

/// Splits a word into its four `u16` in memory order.
#[inline]
pub(crate) fn quarters(word: u64) -> [u16; 4] {
    zerocopy::transmute!(word)
}

/// How many words hold `bytes` bytes, the last one perhaps in part.
#[inline]
pub(crate) const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(8)
}

/// Views bytes as words: native order, no copy.
///
/// # Errors
///
/// [`Error::Misaligned`] if the bytes do not start at a multiple of 8, [`Error::PartialWord`] if their
/// number is not a multiple of 8.
pub fn words_from_bytes(bytes: &[u8]) -> Result<&[u64]> {
    if bytes.len() % 8 != 0 {
        return Err(Error::PartialWord { len: bytes.len() });
    }
    <[u64]>::ref_from_bytes(bytes).map_err(|_| Error::Misaligned { address: bytes.as_ptr().addr() })
}

/// Views words as their bytes in memory order.
#[inline]
pub(crate) fn bytes(words: &[u64]) -> &[u8] {
    words.as_bytes()
}

/// The string at the start of `bytes`, up to its NUL; `None` without one.
#[inline]
pub(crate) fn c_str(bytes: &[u8]) -> Option<&CStr> {
    CStr::from_bytes_until_nul(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_come_in_memory_order() {
        let word = u64::from_ne_bytes([1, 0, 0, 0, 2, 0, 0, 0]);
        let [first, second] = halves(word);
        assert_eq!(first.to_ne_bytes(), [1, 0, 0, 0]);
        assert_eq!(second.to_ne_bytes(), [2, 0, 0, 0]);
    }

    #[test]
    fn misaligned_bytes_are_refused_with_their_address() {
        let words = [0_u64; 4];
        let shifted = &bytes(&words)[4..20];
        let address = shifted.as_ptr().addr();
        assert_eq!(words_from_bytes(shifted), Err(Error::Misaligned { address }));
    }

    #[test]
    fn a_cut_last_word_is_refused_with_the_length() {
        let words = [0_u64; 4];
        assert_eq!(words_from_bytes(&bytes(&words)[..13]), Err(Error::PartialWord { len: 13 }));
    }
}
