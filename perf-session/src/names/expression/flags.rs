use perf_sys::{AttrFlags, Skid};

use super::Modifiers;

/// The letters of what is counted, with the flag that excludes it.
const PRIVILEGES: [(char, AttrFlags); 3] =
    [('u', AttrFlags::EXCLUDE_USER), ('k', AttrFlags::EXCLUDE_KERNEL), ('h', AttrFlags::EXCLUDE_HV)];

const MACHINES: [(char, AttrFlags); 2] = [('G', AttrFlags::EXCLUDE_GUEST), ('H', AttrFlags::EXCLUDE_HOST)];

/// The letters that set a flag.
const SETTERS: [(char, AttrFlags); 3] =
    [('I', AttrFlags::EXCLUDE_IDLE), ('D', AttrFlags::PINNED), ('e', AttrFlags::EXCLUSIVE)];

/// # Flags of the attr
impl Modifiers {
    /// Returns the flags that the letters set, with the skid of `p` and `P`. [`parse`](crate::parse) adds
    /// `EXCLUDE_GUEST` where no letter selects a machine.
    ///
    /// `P` requests zero skid. A PMU that has more skid fails with `EOPNOTSUPP`, the caller then lowers
    /// the level.
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

    /// Returns `true` if these modifiers, of an event and its group together, exclude guests although none of
    /// them selects a machine. `own` are the event's modifiers without the group's.
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
