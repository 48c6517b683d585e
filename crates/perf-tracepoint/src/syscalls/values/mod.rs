//! The forms of arguments: names of flags and other numbers, as `strace` spells them.

#![allow(clippy::wildcard_imports, reason = "the names of tables are constants of these modules")]

use std::fmt;

mod files;
mod ioctl;
mod memory;
mod network;
mod process;
mod rules;

pub(super) use process::{is_child, is_fault, write_signal};
pub(super) use rules::{form, shown};

/// How the word of an argument is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As its C type.
    Plain,
    /// Hexadecimal, and `0` for 0.
    Hex,
    /// An address whose C type is an integer: `NULL` for 0.
    Address,
    /// Octal, with three digits at least, as the permissions of files.
    Octal,
    /// A user or group id, for which -1 means "unchanged".
    Id,
    /// A descriptor of a directory, for which -100 means the working directory.
    Directory,
    /// A number of a signal.
    Signal,
    /// A request of `ioctl`.
    Request,
    /// Flags, one of several choices, or both.
    Names(&'static Names),
}

/// A name with its number.
type Name = (&'static str, u64);

/// The names of a number that is one choice, and flags in the other bits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// The bits of the choice: 0 for flags alone, and all for a choice alone.
    choice: u64,
    choices: &'static [Name],
    /// Flags of several bits come before their parts.
    flags: &'static [Name],
}

impl Names {
    /// Returns names of one of several choices.
    const fn choice(choices: &'static [Name]) -> Self {
        Self { choice: u64::MAX, choices, flags: &[] }
    }

    /// Returns names of flags.
    const fn flags(flags: &'static [Name]) -> Self {
        Self { choice: 0, choices: &[], flags }
    }

    /// Returns names of flags with a choice in the bits `choice`.
    const fn both(choice: u64, choices: &'static [Name], flags: &'static [Name]) -> Self {
        Self { choice, choices, flags }
    }

    /// Writes the names, and bits without a name as a number.
    fn write(&self, word: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (choice, mut rest) = (word & self.choice, word & !self.choice);
        let mut has_text = false;
        // Without bits of a choice, the only choice is the name of 0.
        let has_choice = self.choice != 0 || word == 0;
        let found = self.choices.iter().find(|(_, number)| has_choice && *number == choice);
        if let Some((name, _)) = found {
            f.write_str(name)?;
            has_text = true;
        } else {
            rest |= choice;
        }
        for (name, bits) in self.flags {
            if *bits != 0 && rest & bits == *bits {
                rest &= !bits;
                write!(f, "{}{name}", if has_text { "|" } else { "" })?;
                has_text = true;
            }
        }
        match (rest, has_text) {
            (0, true) => Ok(()),
            (rest, true) => write!(f, "|{rest:#x}"),
            (0, false) => f.write_str("0"),
            // A choice that is not known is not a set of bits.
            (rest, false) if self.choice == u64::MAX && rest < 1 << 16 => write!(f, "{rest}"),
            (rest, false) => write!(f, "{rest:#x}"),
        }
    }
}

/// A word in its form.
pub(super) struct Formed {
    pub(super) form: Form,
    /// The bits of the word that belong to the type.
    pub(super) bits: u64,
}

impl fmt::Display for Formed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.bits;
        match self.form {
            Form::Names(names) => names.write(bits, f),
            Form::Address if bits == 0 => f.write_str("NULL"),
            Form::Hex if bits == 0 => f.write_str("0"),
            Form::Octal => write!(f, "0{bits:02o}"),
            Form::Id if bits == u64::from(u32::MAX) => f.write_str("-1"),
            Form::Plain | Form::Id => bits.fmt(f),
            // The bits of -100 in an `int`.
            Form::Directory if bits == 0xffff_ff9c => f.write_str("AT_FDCWD"),
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // an `int`
            Form::Directory => (bits as i32).fmt(f),
            Form::Signal => write_signal(bits, f),
            Form::Request => ioctl::write(bits, f),
            Form::Hex | Form::Address => write!(f, "{bits:#x}"),
        }
    }
}

/// Makes a table of names from constants of these names.
macro_rules! names {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), $name as u64)),*]
    };
}
use names;

#[cfg(test)]
mod tests;
