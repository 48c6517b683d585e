//! The checksum of a consumer, and the part of a record that it reads.

/// The sum of the values that a consumer reads.
///
/// Adding is the cheapest operation that still needs every value, so that the cost of decoding
/// dominates.
#[derive(Default)]
pub struct Sum(pub u64);

impl Sum {
    /// Adds one value.
    #[inline(always)]
    pub fn add(&mut self, value: impl Into<u64>) {
        self.0 = self.0.wrapping_add(value.into());
    }

    /// Adds a value that the record may lack.
    #[inline(always)]
    pub fn add_some(&mut self, value: Option<impl Into<u64>>) {
        if let Some(value) = value {
            self.add(value);
        }
    }

    /// Adds words.
    #[inline(always)]
    pub fn words(&mut self, words: &[u64]) {
        self.add(sum_of_words(words));
    }

    /// Adds a name: its length, and its bytes eight at a time.
    #[inline(always)]
    pub fn text(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        self.add(sum_of_bytes(bytes));
    }

    /// Notes that a record could not be read. Such a sum equals no other.
    // Inlined, because a call would force every consumer's sum into memory.
    #[inline(always)]
    pub fn refused(&mut self) {
        self.add(0xbad0_bad0_bad0_bad1_u64);
    }
}

// Shared by all consumers, because its cost is not compared.
#[inline(never)]
fn sum_of_words(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
}

#[inline(never)]
fn sum_of_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks();
    let sum = words.iter().fold(0_u64, |sum, &word| sum.wrapping_add(u64::from_le_bytes(word)));
    sum.wrapping_add(rest.iter().rev().fold(0, |last, &byte| last << 8 | u64::from(byte)))
}

/// The part of each record that a consumer reads.
pub trait Touch {
    /// Name in titles of benches.
    const NAME: &'static str;
    /// Whether the consumer reads every field, or only ip and time of a sample and the time of a
    /// side-band record.
    const ALL: bool;
    /// Reads the content of a stack or of raw data, if the touch includes it.
    fn content(sum: &mut Sum, bytes: &[u8]);
}

/// Reads ip and time of a sample, and the time in the trailer of a side-band record.
pub struct Few;

/// Reads every field, but only length and ends of a stack or of raw data.
///
/// This resembles a consumer that passes the slice on or reads two fields of it. In [`All`],
/// reading 8 KiB hides the cost of decoding the record.
pub struct Views;

/// Reads every field and every word of it.
pub struct All;

impl Touch for Few {
    const NAME: &'static str = "few";
    const ALL: bool = false;
    #[inline(always)]
    fn content(_: &mut Sum, _: &[u8]) {}
}

impl Touch for Views {
    const NAME: &'static str = "views";
    const ALL: bool = true;
    #[inline(always)]
    fn content(sum: &mut Sum, bytes: &[u8]) {
        sum.add(bytes.len() as u64);
        sum.add_some(bytes.first().copied());
        sum.add_some(bytes.last().copied());
    }
}

impl Touch for All {
    const NAME: &'static str = "all";
    const ALL: bool = true;
    #[inline(always)]
    fn content(sum: &mut Sum, bytes: &[u8]) {
        sum.text(bytes);
    }
}
