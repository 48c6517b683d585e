//! Fields and values as text.

use core::fmt::{self, Write};

use perf_abi::NamespaceIndex;

use super::{Hex, Task, Text, separated};
use crate::field::{Field, Value};
use crate::read::{ReadEntry, ReadValues};
use crate::sample::{Branches, Callchain, Regs};

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.value)
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Hex(number) => write!(f, "{number:#x}"),
            Self::Task(id) => Task(id).fmt(f),
            Self::Text(text) => Text(text).fmt(f),
            Self::Bytes(bytes) => Hex(bytes).fmt(f),
            Self::Words(words) => {
                f.write_str("[")?;
                separated(f, " ", words.iter().map(|word| Value::Hex(*word)))?;
                f.write_str("]")
            }
            Self::Read(values) => write!(f, "[{values}]"),
            Self::Callchain(chain) => chain.fmt(f),
            Self::Branches(branches) => branches.fmt(f),
            Self::Regs(regs) => regs.fmt(f),
            Self::WeightStruct(weight) => {
                write!(f, "{}/{}/{}", weight.var1(), weight.var2(), weight.var3())
            }
            Self::DataSource(source) => source.fmt(f),
            Self::Transaction(flags) => flags.fmt(f),
            Self::AuxFlags(flags) => flags.fmt(f),
            Self::KsymbolType(kind) => kind.fmt(f),
            Self::KsymbolFlags(flags) => flags.fmt(f),
            Self::BpfEventType(kind) => kind.fmt(f),
            Self::Namespaces(links) => {
                f.write_str("[")?;
                let entries = (0..).zip(links).map(|(index, link)| Namespace(NamespaceIndex(index), link));
                separated(f, ", ", entries)?;
                f.write_str("]")
            }
        }
    }
}

/// One namespace of a task.
struct Namespace(NamespaceIndex, perf_abi::NamespaceLink);

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{:#x}", self.0, self.1.dev, self.1.inode)
    }
}

impl fmt::Display for ReadValues<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        separated(f, ", ", self.iter())?;
        if let Some(enabled) = self.time_enabled() {
            write!(f, " enabled {enabled}")?;
        }
        if let Some(running) = self.time_running() {
            write!(f, " running {running}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ReadEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        if let Some(id) = self.id {
            write!(f, " id {id}")?;
        }
        if let Some(lost) = self.lost {
            write!(f, " lost {lost}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Callchain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        let mut context = None;
        for (index, frame) in self.frames().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            match frame.context {
                Some(marker) if frame.context != context => write!(f, "{gap}{marker}: {:#x}", frame.ip)?,
                _ => write!(f, "{gap}{:#x}", frame.ip)?,
            }
            context = frame.context;
        }
        if let Some(cookie) = self.deferred_cookie() {
            write!(f, " deferred: {cookie:#x}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Display for Branches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, entry) in self.entries().iter().enumerate() {
            let gap = if index == 0 { "" } else { ", " };
            write!(f, "{gap}{:#x}->{:#x} {}", entry.from, entry.to, entry.info)?;
            if let Some(counters) = self.counters().get(index) {
                write!(f, " counters {counters:#x}")?;
            }
        }
        f.write_str("]")?;
        match self.hw_index() {
            Some(index) => write!(f, " hw_idx {index}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Regs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, (register, value)) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            f.write_str(gap)?;
            match perf_abi::regs::register_name(perf_abi::regs::Architecture::NATIVE, register) {
                Some(name) => {
                    name.chars().try_for_each(|letter| f.write_char(letter.to_ascii_lowercase()))?;
                }
                None => write!(f, "{register}")?,
            }
            write!(f, "={value:#x}")?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use perf_abi::CallchainContext;

    use super::*;
    use crate::entries::Entries;

    #[test]
    fn context_is_printed_where_it_changes() {
        let (kernel, user) = (CallchainContext::KERNEL, CallchainContext::USER);
        let words = [kernel.0, 1, 2, user.0, 3, 4, CallchainContext::USER_DEFERRED.0, 5];
        let chain = Callchain::from_words(&words);
        assert_eq!(chain.to_string(), std::format!("[{kernel}: 0x1 0x2 {user}: 0x3 0x4 deferred: 0x5]"));
        assert_eq!(Callchain::from_words(&[1, 2]).to_string(), "[0x1 0x2]");
    }

    #[test]
    fn namespaces_are_printed_by_kind() {
        let links = Entries::new(&[[4, 0x10], [4, 0x20]]);
        let [first, second] = [0, 1].map(NamespaceIndex);
        let expected = std::format!("[{first} 4/0x10, {second} 4/0x20]");
        assert_eq!(Value::Namespaces(links).to_string(), expected);
    }

    #[test]
    fn registers_are_printed_by_name_or_number() {
        let regs = Regs::from_words(&[2, 10, 11, 12], 1 | 1 << 1 | 1 << 63).unwrap();
        let name = |register| {
            perf_abi::regs::register_name(perf_abi::regs::Architecture::NATIVE, register)
                .map_or(register.to_string(), str::to_ascii_lowercase)
        };
        let expected = std::format!("[{}=0xa {}=0xb {}=0xc]", name(0), name(1), name(63));
        assert_eq!(regs.to_string(), expected);
    }
}
