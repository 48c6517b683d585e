//! The syntax tree of event strings.

use std::fmt::{self, Display, Formatter, Write};

use perf_ring::BreakpointType;

use super::Modifiers;
use super::parse::{ACCESSES, KINDS, TRACEPOINT, is_taken, is_value};

/// A range of bytes of an event string, from its first byte to the byte after its last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

/// A part of an event string with its place. Two are equal if the parts are, wherever they were
/// written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The parsed part.
    pub node: T,
    /// Its bytes in the string.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// A parsed event string: groups and single events in the order in which they were written.
///
/// [`Display`](std::fmt::Display) prints it so that parsing the text gives an equal expression.
///
/// ```
/// use perf_session::expression::Expression;
///
/// let expression: Expression = "{ cycles:u , r01c2 }:S".parse()?;
/// assert_eq!(expression.to_string(), "{cycles:u,r1c2}:S");
/// # Ok::<(), perf_session::expression::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// The groups. A single event is a group without braces.
    pub groups: Vec<Group>,
}

/// Events between braces, which the kernel schedules together, or a single event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Name before the opening brace.
    pub name: Option<Spanned<String>>,
    /// `true` if there are braces.
    pub is_braced: bool,
    /// One event without braces, several with.
    pub events: Vec<Event>,
    /// Modifiers after the closing brace, which apply to each event.
    pub modifiers: Spanned<Modifiers>,
}

/// One event of an event string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The source of the counts, before terms and modifiers.
    pub source: Spanned<Source>,
    /// Terms between slashes, `None` without slashes.
    pub terms: Option<Vec<Term>>,
    /// Modifiers.
    pub modifiers: Spanned<Modifiers>,
}

impl Event {
    /// Returns the place of the whole event in the string.
    pub const fn span(&self) -> Span {
        Span { start: self.source.span.start, end: self.modifiers.span.end }
    }
}

/// The source of an event's counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// A hardware, software or cache event, an event of a PMU, or, before terms, a PMU: `cycles`,
    /// `cpu`.
    Name(String),
    /// `r1a2`: the code of an event of the CPU's PMU.
    Raw(u64),
    /// `4:0x1a2`: `attr.type` and `attr.config`.
    Number {
        /// Type of the PMU.
        kind: u32,
        /// Event selector.
        config: u64,
    },
    /// `sched:sched_switch`. Both parts can have the wildcards `*`, `?` and `[...]`.
    Tracepoint {
        /// Category, in the perf tool "system".
        category: String,
        /// Name in the category.
        name: String,
    },
    /// `uprobe:/bin/bash:readline`, `kretprobe:do_sys_openat2`: an instruction of a program or of
    /// the kernel.
    Probe {
        /// Path of the program or library, `None` for the kernel.
        file: Option<Spanned<String>>,
        /// Function, or as a number the offset in the file or the address in the kernel, in bytes.
        function: Spanned<String>,
        /// Bytes from there to the instruction.
        offset: u64,
        /// `true` to count returns of the function instead of entries.
        is_return: bool,
    },
    /// `mem:0x1000/4:rw`.
    Breakpoint {
        /// Address in bytes.
        address: u64,
        /// Length in bytes.
        len: Option<u64>,
        /// Accesses.
        access: Option<BreakpointType>,
    },
}

/// A term between slashes: `event=0xc0`, or `edge` alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Name.
    pub name: Spanned<String>,
    /// Text after the equals sign, without quotes.
    pub value: Option<Spanned<String>>,
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        separated(f, &self.groups)
    }
}

impl Display for Group {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.is_braced {
            return separated(f, &self.events);
        }
        if let Some(name) = &self.name {
            f.write_str(&name.node)?;
        }
        f.write_char('{')?;
        separated(f, &self.events)?;
        f.write_char('}')?;
        if self.modifiers.node.is_empty() { Ok(()) } else { write!(f, ":{}", self.modifiers.node) }
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.source.node.fmt(f)?;
        if let Some(terms) = &self.terms {
            f.write_char('/')?;
            separated(f, terms)?;
            f.write_char('/')?;
        }
        match (self.modifiers.node, &self.terms) {
            (none, _) if none.is_empty() => Ok(()),
            (modifiers, Some(_)) => modifiers.fmt(f),
            (modifiers, None) => write!(f, ":{modifiers}"),
        }
    }
}

impl Display for Source {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Raw(config) => write!(f, "r{config:x}"),
            Self::Number { kind, config } => write!(f, "{kind}:{config:#x}"),
            Self::Tracepoint { category, name } if is_taken(category, name) => {
                write!(f, "{TRACEPOINT}{category}:{name}")
            }
            Self::Tracepoint { category, name } => write!(f, "{category}:{name}"),
            Self::Probe { file, function, offset, is_return } => {
                let kind = (file.is_none(), *is_return);
                let kind = KINDS.iter().find(|(_, kernel, returns)| (*kernel, *returns) == kind);
                f.write_str(kind.map_or("", |(prefix, ..)| prefix))?;
                if let Some(file) = file {
                    write!(f, "{}:", file.node)?;
                }
                f.write_str(&function.node)?;
                if *offset == 0 { Ok(()) } else { write!(f, "+{offset:#x}") }
            }
            Self::Breakpoint { address, len, access } => {
                write!(f, "mem:{address:#x}")?;
                if let Some(len) = len {
                    write!(f, "/{len}")?;
                }
                let Some(access) = access else { return Ok(()) };
                f.write_char(':')?;
                let letters = ACCESSES.iter().filter(|(_, bit)| access.0 & bit.0 != 0);
                letters.map(|(letter, _)| letter).try_for_each(|letter| f.write_char(*letter))
            }
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.node)?;
        match &self.value {
            Some(value) if !value.node.is_empty() && value.node.chars().all(is_value) => {
                write!(f, "={}", value.node)
            }
            Some(value) => write!(f, "='{}'", value.node),
            None => Ok(()),
        }
    }
}

fn separated<T: Display>(f: &mut Formatter<'_>, parts: &[T]) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_char(',')?;
        }
        part.fmt(f)?;
    }
    Ok(())
}
