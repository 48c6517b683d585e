use std::fmt;

use super::cursor::Cursor;
use super::{ParseError, Spanned};

/// The letters after the colon of an event or group.
///
/// | letter | effect |
/// |---|---|
/// | `u`, `k`, `h` | counts in user space, in the kernel, in the hypervisor only |
/// | `G`, `H` | counts in guests, in the host only; without them guests are excluded, except from an event whose own letters have neither `u` nor `p` |
/// | `I` | does not count in the idle task |
/// | `p`, `pp`, `ppp` | `precise_ip` 1, 2, 3 |
/// | `P` | the highest `precise_ip` that the PMU has |
/// | `S` | the leader samples and reads the counts of the group |
/// | `D` | pinned |
/// | `e` | exclusive |
/// | `W` | the group is opened as single events if it does not fit the PMU |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modifiers {
    letters: u16,
    precise: u8,
}

/// The letters except `p`, in the order in which they are printed.
const LETTERS: &str = "ukhGHIPSDWe";

/// The letters that an event string accepts as modifiers.
const EXPECTED: &str = "modifiers: each of u k h G H I P S D W e at most once, p at most three times";

impl Modifiers {
    /// Returns these letters as modifiers. `None` if there is another letter, one that is repeated, or
    /// more than three `p`.
    pub fn new(text: &str) -> Option<Self> {
        text.chars().try_fold(Self::default(), Self::with)
    }

    fn with(mut self, letter: char) -> Option<Self> {
        match (letter, mask(letter)) {
            ('p', _) if self.precise < 3 => self.precise += 1,
            (_, Some(mask)) if self.letters & mask == 0 => self.letters |= mask,
            _ => return None,
        }
        Some(self)
    }

    /// Returns `true` if this letter was written.
    pub fn has(self, letter: char) -> bool {
        match mask(letter) {
            Some(mask) => self.letters & mask != 0,
            None => letter == 'p' && self.precise != 0,
        }
    }

    /// Returns the number of `p`.
    pub const fn precise(self) -> u8 {
        self.precise
    }

    /// Returns the letters of both. `None` if that makes more than three `p`.
    pub fn union(self, other: Self) -> Option<Self> {
        let precise = self.precise + other.precise;
        (precise <= 3).then_some(Self { letters: self.letters | other.letters, precise })
    }

    /// Returns the modifiers without these letters.
    #[must_use]
    pub fn without(self, letters: &str) -> Self {
        let letters = letters.chars().filter_map(mask).fold(self.letters, |kept, mask| kept & !mask);
        Self { letters, ..self }
    }

    /// Returns `true` if there is no letter.
    pub const fn is_empty(self) -> bool {
        self.letters == 0 && self.precise == 0
    }

    /// Consumes a run of letters.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Spanned<Self>, ParseError> {
        let run = cursor.take_while(|c| c.is_ascii_alphanumeric());
        match Self::new(run.node) {
            Some(node) => Ok(Spanned { node, span: run.span }),
            None => Err(cursor.error_at(run.span, EXPECTED)),
        }
    }

    /// Returns `true` if the text has letters of modifiers only, repeated or not.
    pub(super) fn is_spelled(text: &str) -> bool {
        !text.is_empty() && text.chars().all(|c| c == 'p' || mask(c).is_some())
    }
}

fn mask(letter: char) -> Option<u16> {
    LETTERS.find(letter).map(|index| 1 << index)
}

impl fmt::Display for Modifiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precise = std::iter::repeat_n('p', usize::from(self.precise));
        LETTERS.chars().filter(|letter| self.has(*letter)).chain(precise).try_for_each(|c| write!(f, "{c}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_printed_in_one_order() {
        assert_eq!(Modifiers::new("ppSku").unwrap().to_string(), "ukSpp");
        assert_eq!(Modifiers::new("").unwrap().to_string(), "");
    }

    #[test]
    fn repeated_and_unknown_letters_are_no_modifiers() {
        for text in ["uu", "pppp", "x", "ux", "µ"] {
            assert_eq!(Modifiers::new(text), None, "{text}");
        }
    }

    #[test]
    fn letters_of_both_are_the_union_with_at_most_three_p() {
        let union = |left, right| Modifiers::new(left).unwrap().union(Modifiers::new(right).unwrap());
        assert_eq!(union("up", "ukpp").map(|both| both.to_string()).as_deref(), Some("ukppp"));
        assert_eq!(union("pp", "pp"), None);
    }

    #[test]
    fn listed_letters_are_removed() {
        assert_eq!(Modifiers::new("uDepp").unwrap().without("De").to_string(), "upp");
        assert_eq!(Modifiers::new("kS").unwrap().without("ux").to_string(), "kS");
    }

    #[test]
    fn every_letter_can_be_asked_for() {
        let all = Modifiers::new("ukhGHIPSDWeppp").unwrap();
        assert!(LETTERS.chars().chain(['p']).all(|letter| all.has(letter)));
        assert!(!all.has('x') && !Modifiers::default().has('p'));
        assert_eq!(all.precise(), 3);
    }
}
