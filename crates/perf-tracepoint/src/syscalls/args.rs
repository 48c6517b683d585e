//! Arguments of system calls, and how their words are printed.

use std::fmt;

use crate::payload::{Field, Value};

/// An argument of a system call, as tracefs declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyscallArg {
    name: Box<str>,
    type_name: Box<str>,
    kind: Kind,
}

/// Decides how the word of an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pointer,
    Signed { bits: u32 },
    Unsigned { bits: u32 },
}

impl SyscallArg {
    pub(super) fn new(field: &Field<'_>) -> Self {
        Self {
            name: field.name.into(),
            type_name: field.type_name.into(),
            kind: Kind::of(field.type_name, field.name),
        }
    }

    /// Returns the name: `filename`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the C type: `const char *`.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Returns the value of a register, truncated to the argument's type, because the upper half of
    /// an `int` is undefined.
    pub fn value(&self, word: u64) -> Value<'static> {
        let bits = self.bits(word);
        match self.kind {
            Kind::Pointer => Value::Pointer(bits),
            Kind::Unsigned { .. } => Value::Unsigned(bits),
            // The shifts move the type's sign bit to the top of the word and back.
            #[allow(clippy::cast_possible_wrap)]
            Kind::Signed { bits: width } => Value::Signed((bits << (64 - width)) as i64 >> (64 - width)),
        }
    }

    /// Returns the bits of the word that belong to the type.
    fn bits(&self, word: u64) -> u64 {
        match self.kind {
            Kind::Pointer => word,
            Kind::Unsigned { bits } | Kind::Signed { bits } => word << (64 - bits) >> (64 - bits),
        }
    }

    /// Returns whether the argument is a directory descriptor, for which -100 means the working
    /// directory.
    fn is_directory(&self) -> bool {
        matches!(&*self.name, "dfd" | "olddfd" | "newdfd" | "from_dfd" | "to_dfd")
    }

    /// Returns whether the argument's name suggests flags, a mask or an address.
    fn is_hex(&self) -> bool {
        ["flags", "addr", "start", "prot", "mask", "brk"].iter().any(|end| self.name.ends_with(end))
    }
}

impl Kind {
    /// Returns the kind of a C type. Types without a size in their names, such as `pid_t` and
    /// `clockid_t`, are `int`s.
    fn of(type_name: &str, field: &str) -> Self {
        if type_name.contains('*') || matches!(type_name, "cap_user_header_t" | "cap_user_data_t") {
            return Self::Pointer;
        }
        // Some calls declare it as an unsigned long, but the kernel uses only the lower half.
        if field.ends_with("fd") {
            return Self::Signed { bits: 32 };
        }
        let name = type_name.trim_start_matches("const ").trim_start_matches("__");
        // A `long` is as wide as a register.
        let long = usize::BITS;
        match name {
            "unsigned long" | "size_t" | "aio_context_t" => Self::Unsigned { bits: long },
            "long" | "off_t" | "ssize_t" => Self::Signed { bits: long },
            "u64" => Self::Unsigned { bits: 64 },
            "loff_t" | "s64" => Self::Signed { bits: 64 },
            "umode_t" | "u16" => Self::Unsigned { bits: 16 },
            "u32" | "uid_t" | "gid_t" | "qid_t" | "dev_t" => Self::Unsigned { bits: 32 },
            _ if name.starts_with("unsigned") => Self::Unsigned { bits: 32 },
            _ => Self::Signed { bits: 32 },
        }
    }
}

/// Prints the arguments of a call: `dfd: CWD, filename: 0x7ffe12, flags: 0x80000`.
///
/// Pointers, flags, masks and parts of addresses are hexadecimal, a mode octal, all others decimal.
/// The text at a pointer is not in the records. If the arguments of the call are unknown, all six
/// words are printed.
#[derive(Clone, Copy, Debug)]
pub struct SyscallArgs<'a> {
    /// `None` if the arguments are unknown.
    pub(super) args: Option<&'a [SyscallArg]>,
    pub(super) words: [u64; 6],
}

impl<'a> SyscallArgs<'a> {
    /// Iterates over the arguments with their values; empty if the arguments of the call are
    /// unknown.
    pub fn iter(&self) -> impl Iterator<Item = (&'a SyscallArg, Value<'static>)> + use<'a> {
        self.args.unwrap_or_default().iter().zip(self.words).map(|(arg, word)| (arg, arg.value(word)))
    }
}

impl fmt::Display for SyscallArgs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(args) = self.args else {
            let [first, rest @ ..] = self.words;
            write!(f, "{first:#x}")?;
            return rest.iter().try_for_each(|word| write!(f, ", {word:#x}"));
        };
        for (index, (arg, word)) in args.iter().zip(self.words).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}: ", arg.name)?;
            let bits = arg.bits(word);
            match arg.value(word) {
                Value::Pointer(0) => f.write_str("NULL")?,
                Value::Signed(-100) if arg.is_directory() => f.write_str("CWD")?,
                // C prefixes an octal number with 0.
                Value::Unsigned(mode @ 1..) if &*arg.type_name == "umode_t" => write!(f, "0{mode:o}")?,
                _ if arg.is_hex() => write!(f, "{bits:#x}")?,
                value => value.fmt(f)?,
            }
        }
        Ok(())
    }
}
