use core::fmt::{self, Write};

use perf_abi::RecordType;

use super::{Hex, Task};
use crate::{Branches, Callchain, Field, Regs, Sample};

impl fmt::Display for Sample<'_> {
    /// One line: the misc bits, then the fields by name, in the order in which they lie in the record.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.record().misc().names(RecordType::SAMPLE))?;
        self.fields().try_for_each(|field| write!(f, " {field}"))
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identifier(id) => write!(f, "identifier={id}"),
            Self::Ip(ip) => write!(f, "ip={ip:#x}"),
            Self::Tid { pid, tid } => write!(f, "pid/tid={}/{}", Task(*pid), Task(*tid)),
            Self::Time(time) => write!(f, "time={time}"),
            Self::Addr(addr) => write!(f, "addr={addr:#x}"),
            Self::Id(id) => write!(f, "id={id}"),
            Self::StreamId(id) => write!(f, "stream_id={id}"),
            Self::Cpu(cpu) => write!(f, "cpu={cpu}"),
            Self::Period(period) => write!(f, "period={period}"),
            Self::Read(values) => write!(f, "read=[{values}]"),
            Self::Callchain(chain) => write!(f, "callchain={chain}"),
            Self::Raw(raw) => write!(f, "raw={}", Hex(raw)),
            Self::Branches(branches) => write!(f, "branches={branches}"),
            Self::RegsUser(regs) => write!(f, "regs_user={regs}"),
            Self::StackUser(stack) => write!(f, "stack_user={}/{}", stack.bytes().len(), stack.size()),
            Self::Weight(weight) => write!(f, "weight={:#x}", weight.full()),
            Self::DataSrc(source) => write!(f, "data_src={source}"),
            Self::Transaction(transaction) => write!(f, "transaction={transaction}"),
            Self::RegsIntr(regs) => write!(f, "regs_intr={regs}"),
            Self::PhysAddr(addr) => write!(f, "phys_addr={addr:#x}"),
            Self::Cgroup(id) => write!(f, "cgroup={id}"),
            Self::DataPageSize(size) => write!(f, "data_page_size={size}"),
            Self::CodePageSize(size) => write!(f, "code_page_size={size}"),
            Self::Aux(aux) => write!(f, "aux={} bytes", aux.len()),
        }
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
        }
        f.write_str("]")
    }
}

impl fmt::Display for Regs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.abi())?;
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
