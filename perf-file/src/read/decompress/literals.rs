//! The literals of a zstd block.

use std::vec::Vec;

use super::MAX_BLOCK;
use super::huffman::Huffman;
use crate::Malformed;

/// Reads the literals section at the start of a block into `literals`. Returns the following bytes.
pub(super) fn read<'a>(
    block: &'a [u8],
    huffman: &mut Huffman,
    literals: &mut Vec<u8>,
) -> Result<&'a [u8], Malformed> {
    let truncated = Malformed("the literals of a zstd block are truncated");
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(block.iter().take(5)).for_each(|(to, from)| *to = *from);
    let header = u64::from_le_bytes(bytes);
    let (kind, format) = (header & 3, header >> 2 & 3);
    // The number of bits of each length. The two lengths of compressed literals are adjacent.
    let (header_len, shift, bits) = match (kind, format) {
        (0 | 1, 0 | 2) => (1, 3, 5),
        (0 | 1, 1) => (2, 4, 12),
        (0 | 1, _) => (3, 4, 20),
        (_, 0 | 1) => (3, 4, 10),
        (_, 2) => (4, 4, 14),
        (_, _) => (5, 4, 18),
    };
    let mask = (1 << bits) - 1;
    let len = (header >> shift & mask) as usize;
    let coded_len = (header >> (shift + bits) & mask) as usize;
    if len > MAX_BLOCK {
        return Err(Malformed("a zstd block has more than 128 KiB of literals"));
    }
    let rest = block.get(header_len..).ok_or(truncated)?;
    literals.clear();
    match kind {
        0 => {
            let (content, rest) = rest.split_at_checked(len).ok_or(truncated)?;
            literals.extend_from_slice(content);
            Ok(rest)
        }
        1 => {
            let [byte, rest @ ..] = rest else { return Err(truncated) };
            literals.resize(len, *byte);
            Ok(rest)
        }
        _ => {
            let (mut coded, rest) = rest.split_at_checked(coded_len).ok_or(truncated)?;
            if kind == 2 {
                coded = huffman.read(coded)?;
            }
            literals.resize(len, 0);
            huffman.decode(coded, if format == 0 { 1 } else { 4 }, literals)?;
            Ok(rest)
        }
    }
}
