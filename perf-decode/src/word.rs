//! Words and the smaller values inside them: the only code that depends on the byte order.

use zerocopy::{FromBytes, IntoBytes, transmute};

use crate::error::{Error, Result};

/// Splits a word into its two `u32` in memory order: `pid, tid` or `cpu, reserved`.
#[inline]
pub(crate) fn halves(word: u64) -> [u32; 2] {
    transmute!(word)
}

/// Returns the number of words that hold `bytes` bytes, rounded up.
#[inline]
pub(crate) const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(8)
}

/// Views bytes as words in native order, without a copy. A `Vec<u8>` may begin at any address: read
/// a file into a `Vec<u64>`, or copy with `chunks_exact(8)` and `u64::from_ne_bytes`.
///
/// # Errors
///
/// [`Error::Misaligned`] if the bytes do not start at a multiple of 8, [`Error::UnalignedLength`]
/// if their number is not a multiple of 8.
#[inline]
pub fn words_from_bytes(bytes: &[u8]) -> Result<&[u64]> {
    if bytes.len() % 8 != 0 {
        return Err(Error::UnalignedLength { len: bytes.len() });
    }
    <[u64]>::ref_from_bytes(bytes).map_err(|_| Error::Misaligned { address: bytes.as_ptr().addr() })
}

/// Views words as their bytes in memory order.
#[inline]
pub(crate) fn bytes(words: &[u64]) -> &[u8] {
    words.as_bytes()
}

/// Views words as their bytes in memory order: the opposite of [`words_from_bytes`].
#[must_use]
pub fn bytes_from_words(words: &[u64]) -> &[u8] {
    bytes(words)
}

/// Returns no words, for a bounds check that never fails. A call on a cold path: LLVM makes a
/// branch of the check, where it would select the slice by four instructions.
#[cold]
#[inline(never)]
pub(crate) fn none<'a>() -> &'a [u64] {
    &[]
}

/// The bits that [`nul_bits`] can set.
pub(crate) const NUL_BITS: u64 = 0x8080_8080_8080_8080;

/// Returns a word with one of [`NUL_BITS`] set if and only if a byte of `word` is 0. Other bits are
/// unspecified.
#[inline(always)]
pub(crate) fn nul_bits(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word
}

/// Returns the string at the start of `words` without its NUL; `None` without a NUL.
///
/// Searches word by word, because names are word-aligned and short, and a byte search is slow for
/// them.
#[inline]
pub(crate) fn text(words: &[u64]) -> Option<&[u8]> {
    let mut whole = 0;
    for &word in words {
        // The lowest set bit is in the first zero byte; higher bits can be false positives.
        let word = word.to_le();
        let zeros = nul_bits(word) & NUL_BITS;
        if zeros != 0 {
            return bytes(words).get(..whole + zeros.trailing_zeros() as usize / 8);
        }
        whole += 8;
    }
    None
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
    fn text_ends_before_its_first_nul() {
        for len in 0..24 {
            // The bytes after the NUL: with and without the high bit, and 1, which a borrow from
            // the byte below could turn into a NUL.
            let mut memory = [1_u8; 32];
            memory[len + 2..].fill(0x80);
            memory[..len].iter_mut().zip((1..=255).rev()).for_each(|(byte, value)| *byte = value);
            memory[len] = 0;
            let words: [u64; 4] = transmute!(memory);
            assert_eq!(text(&words), Some(&memory[..len]));
        }
        assert_eq!(text(&[u64::MAX, 0x0101_0101_0101_0101]), None);
        assert_eq!(text(&[]), None);
    }

    #[test]
    fn misaligned_bytes_are_refused_with_their_address() {
        let words = [0_u64; 4];
        // Not 4: a 32-bit target aligns words to 4 bytes.
        let shifted = &bytes(&words)[2..18];
        let address = shifted.as_ptr().addr();
        assert_eq!(words_from_bytes(shifted), Err(Error::Misaligned { address }));
    }

    #[test]
    fn partial_last_word_is_refused_with_the_length() {
        let words = [0_u64; 4];
        assert_eq!(words_from_bytes(&bytes(&words)[..13]), Err(Error::UnalignedLength { len: 13 }));
    }

    #[test]
    fn nul_is_found_in_every_byte() {
        for position in 0..8 {
            for other in [1, 0x7f, 0x80, 0x81, 0xff] {
                let mut bytes = [other; 8];
                assert_eq!(nul_bits(u64::from_ne_bytes(bytes)) & NUL_BITS, 0, "{other:#x}");
                bytes[position] = 0;
                assert!(nul_bits(u64::from_ne_bytes(bytes)) & NUL_BITS != 0, "{other:#x} at {position}");
            }
        }
    }

    #[test]
    fn bytes_and_words_are_the_same_memory() {
        let words = [1_u64, 2, 3];
        assert_eq!(words_from_bytes(bytes_from_words(&words)), Ok(&words[..]));
        assert_eq!(bytes_from_words(&words).as_ptr().addr(), words.as_ptr().addr());
    }
}
