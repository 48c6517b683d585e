use std::fmt::{self, Display, Formatter, Write};

use super::breakpoint::ACCESSES;
use super::term::is_value;
use super::{Event, Expression, Group, Source, Term, probe};

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
            Self::Tracepoint { category, name } if probe::is_taken(category, name) => {
                write!(f, "{}{category}:{name}", probe::TRACEPOINT)
            }
            Self::Tracepoint { category, name } => write!(f, "{category}:{name}"),
            Self::Probe { file, function, offset, is_return } => {
                let kind = (file.is_none(), *is_return);
                let kind = probe::KINDS.iter().find(|(_, kernel, returns)| (*kernel, *returns) == kind);
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
