//! Tables of zstd's finite state entropy code.

use super::bits::{Bits, Word};
use crate::Malformed;

/// A state: the value of its symbol, and the next state.
#[derive(Clone, Copy, Default)]
pub(super) struct State {
    /// The value of the symbol, to which `extra` bits are added.
    pub base: u32,
    pub extra: u8,
    /// Number of bits that are added to `next`.
    pub bits: u8,
    next: u16,
}

impl State {
    /// Takes the bits of the index of the next state.
    #[inline]
    pub(super) fn next(self, word: &mut Word) -> usize {
        usize::from(self.next) + word.take(self.bits) as usize
    }
}

/// The symbols of a table and their values.
#[derive(Clone, Copy)]
pub(super) struct Alphabet {
    /// The highest binary logarithm of the number of states.
    pub max_log: u32,
    /// The highest symbol.
    pub max_symbol: u8,
    /// Returns the base of a symbol's value, and the number of extra bits.
    pub value: fn(u8) -> (u32, u8),
}

/// The largest table.
const MAX_LOG: u32 = 9;
const MAX_STATES: usize = 1 << MAX_LOG;

/// A table of states.
#[derive(Clone)]
pub(super) struct Table {
    states: [State; MAX_STATES],
    log: u32,
}

impl Default for Table {
    fn default() -> Self {
        Self { states: [State::default(); MAX_STATES], log: 0 }
    }
}

impl Table {
    /// Returns a state. Indexes of this table's states are in it.
    #[inline]
    pub(super) fn state(&self, index: usize) -> State {
        // The mask, not a check, keeps the index in the array.
        self.states.get(index % MAX_STATES).copied().unwrap_or_default()
    }

    /// Reads the index of the first state.
    pub(super) fn first(&self, bits: &mut Bits<'_>) -> Result<usize, Malformed> {
        let index = bits.peek().take(self.log as u8);
        bits.skip(self.log)?;
        Ok(index as usize)
    }

    /// Reads the description of a table at the start of `bytes`. Returns the following bytes.
    pub(super) fn read<'a>(&mut self, alphabet: Alphabet, bytes: &'a [u8]) -> Result<&'a [u8], Malformed> {
        let mut probabilities = [0; 256];
        let mut description = Description { bytes, position: 0 };
        let log = 5 + description.peek(4);
        description.position += 4;
        if log > alphabet.max_log {
            return Err(Malformed("a zstd table has too many states"));
        }
        let mut left = 1 << log;
        let mut symbol = 0;
        while left > 0 {
            let probability = description.probability(left);
            let Some(to) = probabilities.get_mut(symbol).filter(|_| symbol <= alphabet.max_symbol.into())
            else {
                return Err(Malformed("a zstd table has too many symbols"));
            };
            *to = probability;
            left -= u32::from(probability.unsigned_abs());
            symbol += 1;
            // The number of further symbols that do not occur, in digits of which 3 continues.
            let mut digit = if probability == 0 { 3 } else { 0 };
            while digit == 3 {
                digit = description.peek(2);
                description.position += 2;
                symbol += digit as usize;
                if symbol > probabilities.len() {
                    return Err(Malformed("a zstd table has too many symbols"));
                }
            }
        }
        let len = description.position.div_ceil(8);
        let rest = bytes.get(len..).ok_or(Malformed("a zstd table is truncated"))?;
        self.build(alphabet, log, probabilities.get(..symbol).unwrap_or_default());
        Ok(rest)
    }

    /// Fills the table from the probabilities of its symbols, whose sum is the number of states.
    /// A probability of -1 is one below 1.
    pub(super) fn build(&mut self, alphabet: Alphabet, log: u32, probabilities: &[i16]) {
        self.log = log;
        let size = 1_usize << log;
        let mut symbols = [0; MAX_STATES];
        let mut counts = [0_u32; 256];
        let mut free = size;
        let numbered = || (0..=u8::MAX).zip(probabilities.iter().copied());
        for ((symbol, probability), count) in numbered().zip(&mut counts) {
            *count = probability.unsigned_abs().into();
            if probability == -1 {
                free -= 1;
                put(&mut symbols, free, symbol);
            }
        }
        let mut position = 0;
        for (symbol, probability) in numbered() {
            for _ in 0..probability.max(0) {
                put(&mut symbols, position, symbol);
                position = (position + (size >> 1) + (size >> 3) + 3) % size;
                while position >= free && free > 0 {
                    position = (position + (size >> 1) + (size >> 3) + 3) % size;
                }
            }
        }
        for (state, symbol) in self.states.iter_mut().zip(symbols).take(size) {
            let Some(count) = counts.get_mut(usize::from(symbol)) else { continue };
            let number = (*count).max(1);
            *count += 1;
            let bits = log.saturating_sub(number.ilog2());
            let (base, extra) = (alphabet.value)(symbol);
            let next = (number << bits).saturating_sub(size as u32) as u16;
            *state = State { base, extra, bits: bits as u8, next };
        }
    }

    /// Fills the table with the single state of one symbol.
    pub(super) fn build_single(&mut self, alphabet: Alphabet, symbol: u8) -> Result<(), Malformed> {
        if symbol > alphabet.max_symbol {
            return Err(Malformed("a zstd table has an unknown symbol"));
        }
        self.log = 0;
        let (base, extra) = (alphabet.value)(symbol);
        if let Some(state) = self.states.first_mut() {
            *state = State { base, extra, bits: 0, next: 0 };
        }
        Ok(())
    }
}

/// Writes the symbol of a state.
fn put(symbols: &mut [u8; MAX_STATES], state: usize, symbol: u8) {
    if let Some(to) = symbols.get_mut(state) {
        *to = symbol;
    }
}

/// The description of a table: bits that are read from the first to the last.
struct Description<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Description<'_> {
    /// Returns the next bits, at most 16; zeros after the last one.
    fn peek(&self, len: u32) -> u32 {
        let mut word = [0; 4];
        let bytes = self.bytes.get(self.position / 8..).unwrap_or_default();
        word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        u32::from_le_bytes(word) >> (self.position % 8) & ((1 << len) - 1)
    }

    /// Reads a probability, of which `left` are left for all following symbols.
    fn probability(&mut self, left: u32) -> i16 {
        // Values from 0 to `left + 1` are one more than the probability. Low ones have a bit less.
        let max = left + 1;
        let len = max.ilog2() + 1;
        let short = (1 << len) - 1 - max;
        let value = self.peek(len);
        let low = value & ((1 << (len - 1)) - 1);
        let value = if low < short {
            self.position += len as usize - 1;
            low
        } else {
            self.position += len as usize;
            if value == low { value } else { value - short }
        };
        value as i16 - 1
    }
}
