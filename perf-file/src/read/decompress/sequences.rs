//! The sequences of a zstd block: literals to copy, then content to repeat.

use super::bits::Bits;
use super::fse::{Alphabet, Table};
use super::window::Block;
use crate::Malformed;

/// Lengths of literals.
const LITERALS: Alphabet = Alphabet { max_log: 9, max_symbol: 35, value: literals_value };
/// Offsets.
const OFFSETS: Alphabet =
    Alphabet { max_log: 8, max_symbol: 31, value: |symbol| (1 << (symbol & 31), symbol) };
/// Lengths of matches.
const MATCHES: Alphabet = Alphabet { max_log: 9, max_symbol: 52, value: matches_value };

fn literals_value(symbol: u8) -> (u32, u8) {
    match symbol {
        0..16 => (symbol.into(), 0),
        16..20 => (16 + 2 * u32::from(symbol - 16), 1),
        20 | 21 => (20 + 4 * u32::from(symbol - 19), 2),
        22 | 23 => (32 + 8 * u32::from(symbol - 22), 3),
        24 => (48, 4),
        // Each has the next power of two, from 64.
        _ => (1 << (symbol - 19), symbol - 19),
    }
}

fn matches_value(symbol: u8) -> (u32, u8) {
    match symbol {
        0..32 => (3 + u32::from(symbol), 0),
        32..36 => (35 + 2 * u32::from(symbol - 32), 1),
        36 | 37 => (43 + 4 * u32::from(symbol - 36), 2),
        38 | 39 => (51 + 8 * u32::from(symbol - 38), 3),
        40 | 41 => (67 + 16 * u32::from(symbol - 40), 4),
        42 => (99, 5),
        // Each has the next power of two, from 128.
        _ => ((1 << (symbol - 36)) + 3, symbol - 36),
    }
}

/// The predefined probabilities, with the logarithms 6, 5 and 6 of their sums.
const LITERALS_PREDEFINED: [i16; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
];
const OFFSETS_PREDEFINED: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
const MATCHES_PREDEFINED: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];

/// A table, and whether a block of the frame described it.
#[derive(Clone, Default)]
struct Described {
    table: Table,
    is_set: bool,
}

impl Described {
    /// Reads a table in the form of its mode. Returns the following bytes.
    fn read<'a>(
        &mut self,
        mode: u8,
        alphabet: Alphabet,
        (log, predefined): (u32, &[i16]),
        bytes: &'a [u8],
    ) -> Result<&'a [u8], Malformed> {
        let rest = match mode & 3 {
            0 => {
                self.table.build(alphabet, log, predefined);
                bytes
            }
            1 => {
                let [symbol, rest @ ..] = bytes else { return Err(Malformed("a zstd table is truncated")) };
                self.table.build_single(alphabet, *symbol)?;
                rest
            }
            2 => self.table.read(alphabet, bytes)?,
            _ if !self.is_set => {
                return Err(Malformed("a zstd block uses a table that no block described"));
            }
            _ => bytes,
        };
        self.is_set = true;
        Ok(rest)
    }
}

/// The tables of sequences and the offsets that were used last. Each block of a frame can continue
/// those of the one before.
#[derive(Clone)]
pub(super) struct Sequences {
    literals: Described,
    offsets: Described,
    matches: Described,
    last_offsets: [u32; 3],
}

impl Default for Sequences {
    fn default() -> Self {
        let [literals, offsets, matches] = [(); 3].map(|()| Described::default());
        Self { literals, offsets, matches, last_offsets: FIRST_OFFSETS }
    }
}

const FIRST_OFFSETS: [u32; 3] = [1, 4, 8];

impl Sequences {
    /// Forgets the tables and offsets.
    pub(super) fn clear(&mut self) {
        for described in [&mut self.literals, &mut self.offsets, &mut self.matches] {
            described.is_set = false;
        }
        self.last_offsets = FIRST_OFFSETS;
    }

    /// Decodes the sequences of a block and writes its content.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        literals: &[u8],
        block: &mut Block<'_>,
    ) -> Result<(), Malformed> {
        let truncated = Malformed("the sequences of a zstd block are truncated");
        let (count, bytes) = match bytes {
            [0] => return block.extend(literals, literals.len()),
            [0, ..] => return Err(Malformed("a zstd block has trailing bytes")),
            [count @ ..128, rest @ ..] => (u32::from(*count), rest),
            [255, low, high, rest @ ..] => (u32::from(u16::from_le_bytes([*low, *high])) + 0x7f00, rest),
            [high @ ..=254, low, rest @ ..] => (u32::from(u16::from_be_bytes([high - 128, *low])), rest),
            _ => return Err(truncated),
        };
        let [modes, bytes @ ..] = bytes else { return Err(truncated) };
        if modes & 3 != 0 {
            return Err(Malformed("a zstd block has reserved bits"));
        }
        let bytes = self.literals.read(modes >> 6, LITERALS, (6, &LITERALS_PREDEFINED), bytes)?;
        let bytes = self.offsets.read(modes >> 4, OFFSETS, (5, &OFFSETS_PREDEFINED), bytes)?;
        let bytes = self.matches.read(modes >> 2, MATCHES, (6, &MATCHES_PREDEFINED), bytes)?;
        self.execute(Bits::new(bytes)?, count, literals, block)
    }

    fn execute(
        &mut self,
        mut bits: Bits<'_>,
        count: u32,
        mut literals: &[u8],
        block: &mut Block<'_>,
    ) -> Result<(), Malformed> {
        let (literal_table, offset_table) = (&self.literals.table, &self.offsets.table);
        let match_table = &self.matches.table;
        let mut literal_index = literal_table.first(&mut bits)?;
        let mut offset_index = offset_table.first(&mut bits)?;
        let mut match_index = match_table.first(&mut bits)?;
        let mut last_offsets = self.last_offsets;
        for left in (0..count).rev() {
            let literal_state = literal_table.state(literal_index);
            let offset_state = offset_table.state(offset_index);
            let match_state = match_table.state(match_index);
            // At most 31 and 16 bits.
            let mut word = bits.peek();
            let offset = offset_state.base + word.take(offset_state.extra);
            let match_len = (match_state.base + word.take(match_state.extra)) as usize;
            bits.skip(u32::from(offset_state.extra) + u32::from(match_state.extra))?;
            // At most 16, 9, 9 and 8 bits.
            let mut word = bits.peek();
            let literal_len = (literal_state.base + word.take(literal_state.extra)) as usize;
            let mut len = u32::from(literal_state.extra);
            if left > 0 {
                literal_index = literal_state.next(&mut word);
                match_index = match_state.next(&mut word);
                offset_index = offset_state.next(&mut word);
                len += u32::from(literal_state.bits)
                    + u32::from(match_state.bits)
                    + u32::from(offset_state.bits);
            }
            bits.skip(len)?;
            let offset = take_offset(&mut last_offsets, offset, literal_len == 0);
            let Some(rest) = literals.get(literal_len..) else {
                return Err(Malformed("a zstd block uses more literals than it has"));
            };
            block.extend(literals, literal_len)?;
            block.repeat(offset as usize, match_len)?;
            literals = rest;
        }
        if !bits.is_empty() {
            return Err(Malformed("the sequences of a zstd block have trailing bits"));
        }
        self.last_offsets = last_offsets;
        block.extend(literals, literals.len())
    }
}

/// Returns the offset of a sequence, and remembers it: values up to 3 are the last ones again.
#[inline]
fn take_offset(last: &mut [u32; 3], value: u32, is_without_literals: bool) -> u32 {
    let [first, second, third] = *last;
    // Without literals, the last offset would continue the match before, so the meanings move on.
    let offset = match value + u32::from(is_without_literals && value <= 3) {
        0 | 1 => return first,
        2 => {
            *last = [second, first, third];
            return second;
        }
        3 => third,
        // 0 is malformed and refused.
        4 if value == 3 => first.wrapping_sub(1),
        _ => value - 3,
    };
    *last = [offset, first, second];
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_lengths_have_no_gaps() {
        // base and extra bits of some symbols, from the tables of RFC 8878
        let literals =
            [(0, (0, 0)), (15, (15, 0)), (19, (22, 1)), (21, (28, 2)), (25, (64, 6)), (35, (65536, 16))];
        let matches =
            [(0, (3, 0)), (31, (34, 0)), (35, (41, 1)), (39, (59, 3)), (41, (83, 4)), (52, (65539, 16))];
        for (alphabet, first, samples) in [(LITERALS, 0, literals), (MATCHES, 3, matches)] {
            let mut next = first;
            for symbol in 0..=alphabet.max_symbol {
                let (base, extra) = (alphabet.value)(symbol);
                assert_eq!(base, next, "{symbol}");
                next = base + (1 << extra);
            }
            for (symbol, value) in samples {
                assert_eq!((alphabet.value)(symbol), value, "{symbol}");
            }
        }
        assert_eq!([0, 1, 31].map(OFFSETS.value), [(1, 0), (2, 1), (1 << 31, 31)]);
    }

    #[test]
    fn predefined_probabilities_have_the_sum_of_their_table() {
        let sum = |probabilities: &[i16]| {
            probabilities.iter().map(|probability| u32::from(probability.unsigned_abs())).sum::<u32>()
        };
        assert_eq!(sum(&LITERALS_PREDEFINED), 1 << 6);
        assert_eq!(sum(&OFFSETS_PREDEFINED), 1 << 5);
        assert_eq!(sum(&MATCHES_PREDEFINED), 1 << 6);
    }

    #[test]
    fn last_offsets_are_used_again_by_their_number() {
        // value, whether there are no literals; the offset and the last ones after it
        let cases = [
            (1, false, 10, [10, 20, 30]),
            (2, false, 20, [20, 10, 30]),
            (3, false, 30, [30, 10, 20]),
            (4, false, 1, [1, 10, 20]),
            (1, true, 20, [20, 10, 30]),
            (2, true, 30, [30, 10, 20]),
            (3, true, 9, [9, 10, 20]),
            (4, true, 1, [1, 10, 20]),
            (100, true, 97, [97, 10, 20]),
        ];
        for (value, is_without_literals, offset, after) in cases {
            let mut last = [10, 20, 30];
            assert_eq!(take_offset(&mut last, value, is_without_literals), offset, "{value}");
            assert_eq!(last, after, "{value}");
        }
    }
}
