//! Arguments of system calls, and how their words are printed.

use std::fmt;

use super::values::{self, Form, Formed};
use crate::payload::{Field, Value};

/// An argument of a system call, as tracefs declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyscallArg {
    name: Box<str>,
    type_name: Box<str>,
    kind: Kind,
    form: Form,
}

/// Decides how the word of an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pointer,
    Signed { bits: u32 },
    Unsigned { bits: u32 },
}

impl SyscallArg {
    /// Returns an argument of the call of this name in tracefs.
    pub(super) fn new(call: &str, field: &Field<'_>) -> Self {
        Self {
            name: field.name.into(),
            type_name: field.type_name.into(),
            kind: Kind::of(field.type_name, field.name),
            form: values::form(call, field.name, field.type_name),
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

    /// Returns whether the argument is the address of a text that ends with 0 and that the call
    /// reads, such as a path.
    pub fn is_text(&self) -> bool {
        let is_written = matches!(&*self.name, "buf" | "ubuf" | "value" | "optval" | "list" | "shmaddr");
        let is_char = matches!(&*self.type_name, "const char *" | "char *");
        is_char && !is_written && !self.name.ends_with("ptr")
    }

    /// Returns whether the argument is a file descriptor. The working directory, -100, is not one.
    pub fn is_descriptor(&self) -> bool {
        let name = &*self.name;
        let is_named =
            name.ends_with("fd") || name.starts_with("fd_") || matches!(name, "fildes" | "fdin" | "fdout");
        is_named && !matches!(self.kind, Kind::Pointer) && name != "max_fd"
    }
}

/// A call with its arguments, as tracefs declares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The name in tracefs, which is the name of the kernel's function.
    pub(super) name: Box<str>,
    pub(super) args: Box<[SyscallArg]>,
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

/// Prints the arguments of a call: `dfd: AT_FDCWD, filename: 0x7ffe12, flags: O_RDONLY|O_CLOEXEC`.
///
/// Flags, signals, requests of `ioctl` and other numbers with names are printed by their names, and
/// numbers as strace prints them: pointers and parts of addresses hexadecimal, permissions octal,
/// all others decimal. Bits without a name are hexadecimal. Arguments that the call does not use,
/// such as the permissions of a file that is not created, are left out. If the arguments are
/// unknown, all six words are printed. The text at a pointer is not in the records:
/// [`display_with`](Self::display_with) prints it if the caller has it.
///
/// The names and numbers are of this architecture.
#[derive(Clone, Copy, Debug)]
pub struct SyscallArgs<'a> {
    /// `None` if the arguments are unknown.
    pub(super) call: Option<&'a Call>,
    pub(super) words: [u64; 6],
}

impl<'a> SyscallArgs<'a> {
    /// Iterates over the arguments with their values; empty if the arguments of the call are
    /// unknown.
    pub fn iter(&self) -> impl Iterator<Item = (&'a SyscallArg, Value<'static>)> + use<'a> {
        let args = self.call.map(|call| &*call.args).unwrap_or_default();
        args.iter().zip(self.words).map(|(arg, word)| (arg, arg.value(word)))
    }

    /// Returns the arguments that the call uses, each with its value and text.
    pub fn texts(&self) -> Vec<(&'a SyscallArg, Value<'static>, String)> {
        let text = |(arg, form, word): (&'a SyscallArg, Form, u64)| {
            (arg, arg.value(word), Used { arg, form, word }.to_string())
        };
        self.used().map(text).collect()
    }

    /// Prints the arguments with `text` in place of an argument for which it returns one. It gets
    /// the argument and its value.
    pub fn display_with<'d>(
        &'d self,
        text: impl Fn(&SyscallArg, Value<'static>) -> Option<String> + 'd,
    ) -> impl fmt::Display + 'd {
        DisplayWith { args: self, text }
    }

    /// Iterates over the arguments that the call uses, with their forms and words.
    fn used(&self) -> impl Iterator<Item = (&'a SyscallArg, Form, u64)> + use<'a> {
        let (call, words) = (self.call, self.words);
        let args = call.map(|call| &*call.args).unwrap_or_default().iter().zip(words);
        args.filter_map(move |(arg, word)| {
            Some((arg, values::shown(&call?.name, &arg.name, arg.form, &words)?, word))
        })
    }
}

impl fmt::Display for SyscallArgs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display_with(|_, _| None).fmt(f)
    }
}

/// The word of an argument in its form.
struct Used<'a> {
    arg: &'a SyscallArg,
    form: Form,
    word: u64,
}

impl fmt::Display for Used<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.form, self.arg.value(self.word)) {
            (Form::Plain | Form::Hex, Value::Pointer(0)) => f.write_str("NULL"),
            (Form::Plain, value) => value.fmt(f),
            (form, _) => Formed { form, bits: self.arg.bits(self.word) }.fmt(f),
        }
    }
}

/// The arguments with texts of the caller.
struct DisplayWith<'d, 'a, F> {
    args: &'d SyscallArgs<'a>,
    text: F,
}

impl<F: Fn(&SyscallArg, Value<'static>) -> Option<String>> fmt::Display for DisplayWith<'_, '_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.args.call.is_none() {
            let [first, rest @ ..] = self.args.words;
            write!(f, "{first:#x}")?;
            return rest.iter().try_for_each(|word| write!(f, ", {word:#x}"));
        }
        for (index, (arg, form, word)) in self.args.used().enumerate() {
            write!(f, "{}{}: ", if index == 0 { "" } else { ", " }, arg.name)?;
            match (self.text)(arg, arg.value(word)) {
                Some(text) => f.write_str(&text)?,
                None => Used { arg, form, word }.fmt(f)?,
            }
        }
        Ok(())
    }
}
