//! The letters after the colon of an event.

use std::fmt;

use perf_ring::{AttrFlags, Skid};

use super::parse::Cursor;
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
    /// Returns these letters as modifiers. `None` if there is another letter, one that is repeated,
    /// or more than three `p`.
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

    /// Returns `true` without letters.
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

/// The letters of the privilege levels to count, with the flags that exclude them.
const PRIVILEGES: [(char, AttrFlags); 3] =
    [('u', AttrFlags::EXCLUDE_USER), ('k', AttrFlags::EXCLUDE_KERNEL), ('h', AttrFlags::EXCLUDE_HV)];

const MACHINES: [(char, AttrFlags); 2] = [('G', AttrFlags::EXCLUDE_GUEST), ('H', AttrFlags::EXCLUDE_HOST)];

/// The letters that set a flag.
const SETTERS: [(char, AttrFlags); 3] =
    [('I', AttrFlags::EXCLUDE_IDLE), ('D', AttrFlags::PINNED), ('e', AttrFlags::EXCLUSIVE)];

/// # Flags of the attr
impl Modifiers {
    /// Returns the flags that the letters set, with the skid of `p` and `P`.
    /// [`parse`](crate::parse) adds `EXCLUDE_GUEST` where no letter selects a machine.
    ///
    /// `P` requests zero skid. A PMU that has more skid fails with `EOPNOTSUPP`, the caller then
    /// lowers the level.
    pub fn flags(self) -> AttrFlags {
        let excluded = |counted: &[(char, AttrFlags)]| {
            let excluded = counted.iter().filter(|(letter, _)| !self.has(*letter));
            if excluded.clone().count() == counted.len() {
                return AttrFlags::empty();
            }
            excluded.fold(AttrFlags::empty(), |flags, (_, flag)| flags | *flag)
        };
        let set = SETTERS.iter().filter(|(letter, _)| self.has(*letter));
        let set = set.fold(AttrFlags::empty(), |flags, (_, flag)| flags | *flag);
        let skid = if self.has('P') { Some(Skid::ZERO) } else { Skid::from_level(self.precise()) };
        (excluded(&PRIVILEGES) | excluded(&MACHINES) | set).with_precise_ip(skid.unwrap_or_default())
    }

    /// Returns `true` if these modifiers, of an event and its group together, exclude guests
    /// although none of them selects a machine. `own` are the event's modifiers without the
    /// group's.
    ///
    /// perf 6.1 has the same default of an event without modifiers, and of `u` and `p`.
    pub(in crate::names) fn excludes_guests(self, own: Self) -> bool {
        let selects_machine = MACHINES.iter().any(|(letter, _)| self.has(*letter));
        !selects_machine && (own.is_empty() || self.has('u') || self.has('p'))
    }

    /// Returns the letters for the flags that have one. Flags that exclude everything have none.
    pub fn from_flags(flags: AttrFlags) -> Self {
        let counted = |exclusions: &[(char, AttrFlags)]| -> String {
            let counted = exclusions.iter().filter(|(_, flag)| !flags.contains(*flag));
            if counted.clone().count() == exclusions.len() {
                return String::new();
            }
            counted.map(|(letter, _)| *letter).collect()
        };
        let set = SETTERS.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(letter, _)| *letter);
        let precise = "p".repeat(usize::from(flags.precise_ip().level()));
        let text: String = set.chain(precise.chars()).collect();
        Self::new(&(counted(&PRIVILEGES) + &counted(&MACHINES) + &text)).unwrap_or_default()
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

    fn flags(text: &str) -> String {
        Modifiers::new(text).unwrap().flags().to_string()
    }

    #[test]
    fn what_is_not_listed_is_excluded() {
        assert_eq!(flags("u"), "EXCLUDE_KERNEL|EXCLUDE_HV");
        assert_eq!(flags("kh"), "EXCLUDE_USER");
        assert_eq!(flags("ukh"), "0x0");
        assert_eq!(flags("G"), "EXCLUDE_HOST");
        assert_eq!(flags("GH"), "0x0");
    }

    #[test]
    fn other_letters_set_their_flag() {
        assert_eq!(flags("IDe"), "PINNED|EXCLUSIVE|EXCLUDE_IDLE");
        assert_eq!(flags("pp"), "precise_ip=2");
        assert_eq!(flags("P"), "precise_ip=3");
        assert_eq!(flags("SW"), "0x0");
    }

    #[test]
    fn letters_are_found_from_flags() {
        for text in ["u", "kh", "uk", "G", "H", "IDe", "uHIpp", "ppp"] {
            let modifiers = Modifiers::new(text).unwrap();
            assert_eq!(Modifiers::from_flags(modifiers.flags()), modifiers, "{text}");
        }
        let all = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
        assert!(Modifiers::from_flags(all).is_empty());
    }
}
