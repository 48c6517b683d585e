//! The Huffman code of zstd's literals.

use super::bits::Bits;
use super::fse::{Alphabet, Table};
use crate::Malformed;

/// The longest code. The format limits it to 11 bits; libzstd decodes 12.
const MAX_LOG: u32 = 12;
const MAX_ENTRIES: usize = 1 << MAX_LOG;

/// The code of the weights: a weight is a symbol itself.
const WEIGHTS: Alphabet =
    Alphabet { max_log: 6, max_symbol: u8::MAX, value: |symbol| (u32::from(symbol), 0) };

/// A table of the symbols of all codes, each padded to the length of the longest.
#[derive(Clone)]
pub(super) struct Huffman {
    /// The symbol and, in the high byte, the length of its code.
    entries: [u16; MAX_ENTRIES],
    /// The length of the longest code; 0 before a table was read.
    log: u32,
}

impl Default for Huffman {
    fn default() -> Self {
        Self { entries: [0; MAX_ENTRIES], log: 0 }
    }
}

impl Huffman {
    /// Forgets the table.
    pub(super) fn clear(&mut self) {
        self.log = 0;
    }

    /// Reads the description of a table at the start of `bytes`. Returns the following bytes.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let truncated = Malformed("a zstd Huffman table is truncated");
        let [first, rest @ ..] = bytes else { return Err(truncated) };
        let mut weights = [0; 256];
        let (len, rest) = if let Some(count) = first.checked_sub(127) {
            let count = usize::from(count);
            let (pairs, rest) = rest.split_at_checked(count.div_ceil(2)).ok_or(truncated)?;
            let nibbles = pairs.iter().flat_map(|pair| [pair >> 4, pair & 15]);
            weights.iter_mut().zip(nibbles.take(count)).for_each(|(to, weight)| *to = weight);
            (count, rest)
        } else {
            let (coded, rest) = rest.split_at_checked(usize::from(*first)).ok_or(truncated)?;
            (read_weights(coded, &mut weights)?, rest)
        };
        self.build(&mut weights, len)?;
        Ok(rest)
    }

    /// Fills the table from the weights of the first `len` symbols. That of the next one completes
    /// the code.
    fn build(&mut self, weights: &mut [u8; 256], len: usize) -> Result<(), Malformed> {
        let malformed = Malformed("the weights of a zstd Huffman table are malformed");
        let mut sum = 0_u32;
        for weight in weights.iter().filter(|weight| **weight > 0) {
            if u32::from(*weight) > MAX_LOG {
                return Err(malformed);
            }
            sum += 1 << (weight - 1);
        }
        let log = u32::BITS - sum.leading_zeros();
        let last = weights.get_mut(len).filter(|_| (1..=MAX_LOG).contains(&log)).ok_or(malformed)?;
        let rest = (1 << log) - sum;
        if !rest.is_power_of_two() {
            return Err(malformed);
        }
        *last = rest.trailing_zeros() as u8 + 1;
        // Long codes, which have low weights, first.
        let mut start = 0;
        for weight in 1..=log {
            for (symbol, _) in (0..=u8::MAX).zip(&*weights).filter(|(_, of)| u32::from(**of) == weight) {
                let end = start + (1 << (weight - 1));
                let entry = u16::from(symbol) | ((log + 1 - weight) as u16) << 8;
                self.entries.get_mut(start..end).unwrap_or_default().fill(entry);
                start = end;
            }
        }
        self.log = log;
        Ok(())
    }

    /// Decodes literals, in one stream or in four.
    pub(super) fn decode(&self, bytes: &[u8], streams: u8, output: &mut [u8]) -> Result<(), Malformed> {
        if self.log == 0 {
            return Err(Malformed("a zstd block uses a Huffman table that no block described"));
        }
        if streams == 1 {
            return self.decode_stream(bytes, output);
        }
        let truncated = Malformed("the literals of a zstd block are truncated");
        let Some((sizes, mut bytes)) = bytes.split_first_chunk::<6>() else { return Err(truncated) };
        let mut output = output;
        let len = output.len().div_ceil(4);
        for size in sizes.chunks_exact(2) {
            let size = size.first_chunk().map_or(0, |size| u16::from_le_bytes(*size).into());
            let stream;
            (stream, bytes) = bytes.split_at_checked(size).ok_or(truncated)?;
            let part;
            (part, output) = output.split_at_mut_checked(len).ok_or(truncated)?;
            self.decode_stream(stream, part)?;
        }
        self.decode_stream(bytes, output)
    }

    fn decode_stream(&self, bytes: &[u8], output: &mut [u8]) -> Result<(), Malformed> {
        let mut bits = Bits::new(bytes)?;
        let mut chunks = output.chunks_exact_mut(4);
        for chunk in &mut chunks {
            self.decode_chunk(&mut bits, chunk)?;
        }
        self.decode_chunk(&mut bits, chunks.into_remainder())?;
        if !bits.is_empty() {
            return Err(Malformed("the literals of a zstd block have trailing bits"));
        }
        Ok(())
    }

    /// Decodes up to 4 symbols, whose codes fit into one word.
    #[inline]
    fn decode_chunk(&self, bits: &mut Bits<'_>, chunk: &mut [u8]) -> Result<(), Malformed> {
        let mut word = bits.peek();
        let mut len = 0;
        for to in chunk {
            let code = word.peek(self.log as u8) as usize;
            let entry = self.entries.get(code % MAX_ENTRIES).copied().unwrap_or_default();
            let [symbol, code_len] = entry.to_le_bytes();
            *to = symbol;
            word.skip(code_len);
            len += u32::from(code_len);
        }
        bits.skip(len).map_err(|_| Malformed("the literals of a zstd block are truncated"))
    }
}

/// Reads weights that two states of one table write in turn. Returns their number.
fn read_weights(bytes: &[u8], weights: &mut [u8; 256]) -> Result<usize, Malformed> {
    let mut table = Table::default();
    let bytes = table.read(WEIGHTS, bytes)?;
    let mut bits = Bits::new(bytes)?;
    let mut states = [table.first(&mut bits)?, table.first(&mut bits)?].map(|index| table.state(index));
    // The last symbol of the code has no weight here.
    for (len, to) in weights.iter_mut().take(254).enumerate() {
        let [state, other] = states;
        *to = state.base as u8;
        if bits.left() < usize::from(state.bits) {
            if let Some(last) = weights.get_mut(len + 1) {
                *last = other.base as u8;
            }
            return Ok(len + 2);
        }
        let index = state.next(&mut bits.peek());
        bits.skip(state.bits.into())?;
        states = [other, table.state(index)];
    }
    Err(Malformed("a zstd Huffman table has too many weights"))
}
