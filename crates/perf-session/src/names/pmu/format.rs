//! The bits of an attr that a term sets, from the directory `format/`.

use std::fmt;
use std::str::FromStr;

use perf_ring::Attr;

/// The bits of an attr that hold the value of a term: the content of a file in `format/`.
///
/// The lowest bit of the value is in the lowest of the bits, whatever the order of the ranges in
/// the file.
///
/// ```
/// use perf_session::ConfigField;
///
/// let event: ConfigField = "config:0-7,32-35".parse()?;
/// assert_eq!((event.word(), event.width()), (0, 12));
/// assert_eq!(event.insert(0xfc0), Some(0xf_0000_00c0));
/// assert_eq!(event.insert(0x1000), None);
/// assert_eq!(event.extract(0xf_0000_00c0), 0xfc0);
/// # Ok::<(), perf_session::ConfigFieldError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConfigField {
    word: u8,
    mask: u64,
}

/// The number of words `config`, `config1` ... of an attr.
pub(super) const WORDS: usize = 5;

impl ConfigField {
    /// Returns the number of the word: 0 for `config`, 4 for `config4`.
    pub fn word(self) -> usize {
        usize::from(self.word)
    }

    /// Returns the bits in the word.
    pub fn mask(self) -> u64 {
        self.mask
    }

    /// Returns the number of bits.
    pub fn width(self) -> u32 {
        self.mask.count_ones()
    }

    /// Returns the largest value that fits.
    pub fn max(self) -> u64 {
        u64::MAX.checked_shr(64 - self.width()).unwrap_or(0)
    }

    /// Returns the bits of the word for this value, or `None` if it is too wide.
    pub fn insert(self, value: u64) -> Option<u64> {
        if value > self.max() {
            return None;
        }
        let places = self.places().enumerate();
        // The field may be in several ranges of the word: bit n of the value goes to the n-th bit
        // of the mask.
        Some(places.filter(|(bit, _)| value >> bit & 1 == 1).fold(0, |word, (_, place)| word | place))
    }

    /// Returns the value that these bits of the word hold.
    pub fn extract(self, word: u64) -> u64 {
        let places = self.places().enumerate();
        places.filter(|(_, place)| word & place != 0).fold(0, |value, (bit, _)| value | 1 << bit)
    }

    /// Returns the value that the attr holds.
    pub fn value(self, attr: &Attr) -> u64 {
        let words = [attr.config, attr.config1, attr.config2, attr.config3, attr.config4];
        words.get(self.word()).map_or(0, |word| self.extract(*word))
    }

    /// Returns the bits of the mask, the lowest first.
    fn places(self) -> impl Iterator<Item = u64> {
        let mask = self.mask;
        (0..64).map(|bit| 1 << bit).filter(move |place| mask & place != 0)
    }
}

/// The error of a text that is not a field of an attr such as `config:0-7,32-35`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigFieldError {
    /// The text that was expected.
    pub expected: &'static str,
}

impl fmt::Display for ConfigFieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "format of a term: expected {}, as in `config:0-7,32-35`", self.expected)
    }
}

impl std::error::Error for ConfigFieldError {}

crate::std_error::into_std!(no_errno ConfigFieldError, InvalidInput);

/// Parses a bit of the mask.
fn bit(text: &str) -> Result<u32, ConfigFieldError> {
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.filter(|bit| *bit < 64).ok_or(ConfigFieldError { expected: "bits of 0 to 63" })
}

impl FromStr for ConfigField {
    type Err = ConfigFieldError;

    fn from_str(text: &str) -> Result<Self, ConfigFieldError> {
        let expected = |expected| ConfigFieldError { expected };
        let (field, ranges) = text.trim_ascii().split_once(':').ok_or(expected("`:` after the word"))?;
        let word = match field {
            "config" => 0,
            "config1" => 1,
            "config2" => 2,
            "config3" => 3,
            "config4" => 4,
            _ => return Err(expected("`config` or `config1` to `config4`")),
        };
        let mut mask = 0;
        for range in ranges.split(',') {
            // A single bit is read as a range to 0, like the `5-0` below.
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (bit(first)?, bit(last)?),
                None => (bit(range)?, 0),
            };
            // Some drivers print one bit as `5-0`.
            let last = if last == 0 { first } else { last };
            if last < first {
                return Err(expected("a range whose end is not below its start"));
            }
            mask |= u64::MAX >> (63 - last) & u64::MAX << first;
        }
        Ok(Self { word, mask })
    }
}

impl fmt::Display for ConfigField {
    /// Prints the content of the file: `config:0-7,32-35`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("config")?;
        if self.word > 0 {
            write!(f, "{}", self.word)?;
        }
        let bits: Vec<u32> = (0..64).filter(|bit| self.mask >> bit & 1 == 1).collect();
        let mut separator = ':';
        for range in bits.chunk_by(|bit, next| bit + 1 == *next) {
            match range {
                [bit] => write!(f, "{separator}{bit}")?,
                [first, .., last] => write!(f, "{separator}{first}-{last}")?,
                [] => {}
            }
            separator = ',';
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn field(text: &str) -> ConfigField {
        text.parse().unwrap()
    }

    #[test]
    fn value_bits_are_spread_over_the_ranges() {
        let event = field("config:0-7,32-35\n");
        assert_eq!(event.mask(), 0xf_0000_00ff);
        assert_eq!(event.insert(0xabc), Some(0xa_0000_00bc));
        assert_eq!(event.extract(0xfff1_ffff_ff12), 0x112);
        // Compared as a set: the order and repetitions of ranges do not matter.
        assert_eq!(field("config:32-35,0-7,3"), event);
    }

    #[test]
    fn word_and_width_are_those_of_the_file() {
        for (text, word, width, max) in [
            ("config:18", 0, 1, 1),
            ("config1:0-63", 1, 64, u64::MAX),
            ("config2:0-31", 2, 32, 0xffff_ffff),
            ("config3:5-0", 3, 1, 1),
            ("config4:63", 4, 1, 1),
        ] {
            let field = field(text);
            assert_eq!((field.word(), field.width(), field.max()), (word, width, max), "{text}");
        }
        assert_eq!(field("config3:5-0").mask(), 1 << 5);
        assert_eq!(field("config:0-0").mask(), 1);
    }

    #[test]
    fn value_that_is_too_wide_has_no_bits() {
        assert_eq!(
            (field("config:8-15").insert(0xff), field("config:8-15").insert(0x100)),
            (Some(0xff00), None)
        );
        assert_eq!((field("config:18").insert(1), field("config:18").insert(2)), (Some(1 << 18), None));
        assert_eq!(field("config:0-63").insert(u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn value_is_read_from_its_word_of_the_attr() {
        let attr =
            Attr::raw(0x12).with_config1(0x34).with_config2(0x56).with_config3(0x78).with_config4(0x9a);
        let values = ["config", "config1", "config2", "config3", "config4"]
            .map(|word| field(&format!("{word}:4-7")).value(&attr));
        assert_eq!(values, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn other_text_is_an_error() {
        for (text, expected) in [
            ("", "`:` after the word"),
            ("config", "`:` after the word"),
            ("config5:0", "`config` or `config1` to `config4`"),
            ("config0:0", "`config` or `config1` to `config4`"),
            ("cfg:0", "`config` or `config1` to `config4`"),
            ("config:", "bits of 0 to 63"),
            ("config:64", "bits of 0 to 63"),
            ("config:0-64", "bits of 0 to 63"),
            ("config:0-7,", "bits of 0 to 63"),
            ("config:+1", "bits of 0 to 63"),
            ("config:1-2-3", "bits of 0 to 63"),
            ("config:0 - 7", "bits of 0 to 63"),
            ("config:7-5", "a range whose end is not below its start"),
        ] {
            assert_eq!(text.parse::<ConfigField>(), Err(ConfigFieldError { expected }), "{text}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_is_the_identity(word in 0_u8..5, mask in 1..=u64::MAX) {
            let field = ConfigField { word, mask };
            prop_assert_eq!(field.to_string().parse(), Ok(field));
        }

        #[test]
        fn extracting_returns_the_inserted_value(mask in 1..=u64::MAX, value: u64, noise: u64) {
            let field = ConfigField { word: 0, mask };
            let value = value & field.max();
            let word = field.insert(value).unwrap();
            prop_assert_eq!(word & !mask, 0);
            prop_assert_eq!(field.extract(word | noise & !mask), value);
        }
    }
}
