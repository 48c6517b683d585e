//! Records of mappings and tasks among the samples.

use std::fmt;
use std::io::Write as _;

use perf_abi::{Attr, AttrFlags};
use perf_decode::{Layout, Record};
use perf_symbols::BuildId;

use super::{Start, shown};

/// Kinds of records that [`ScriptWriter`](super::ScriptWriter) writes besides samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideBandKinds {
    mappings: bool,
    tasks: bool,
}

impl SideBandKinds {
    /// Adds the records of mappings: MMAP and MMAP2.
    #[must_use]
    pub fn with_mappings(self) -> Self {
        Self { mappings: true, ..self }
    }

    /// Adds the records of tasks: COMM, FORK and EXIT.
    #[must_use]
    pub fn with_tasks(self) -> Self {
        Self { tasks: true, ..self }
    }

    pub(super) fn has<L: Layout>(self, record: &Record<'_, L>) -> bool {
        match record {
            Record::Mmap(_) | Record::Mmap2(_) => self.mappings,
            Record::Comm(_) | Record::Fork(_) | Record::Exit(_) => self.tasks,
            _ => false,
        }
    }
}

impl Start {
    /// Returns the start of the line of a record. Without `sample_id_all`, the records have neither
    /// thread nor time, and get the ones that they are about.
    pub(super) fn of_record<L: Layout>(record: &Record<'_, L>, attr: &Attr) -> Self {
        let (pid, tid, time) = match record {
            Record::Mmap(map) => (map.pid(), map.tid(), 0),
            Record::Mmap2(map) => (map.pid(), map.tid(), 0),
            Record::Comm(comm) => (comm.pid(), comm.tid(), 0),
            Record::Fork(fork) => (fork.pid(), fork.tid(), fork.own_time()),
            Record::Exit(exit) => (exit.pid(), exit.tid(), exit.own_time()),
            _ => (0, 0, 0),
        };
        if attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            let id = record.sample_id();
            let (own_pid, own_tid) = (id.and_then(|id| id.pid()), id.and_then(|id| id.tid()));
            let (cpu, time) = (id.and_then(|id| id.cpu()), id.and_then(|id| id.time()));
            return Self { thread: Some(tid), pid: own_pid, tid: own_tid, cpu, time };
        }
        Self { thread: Some(tid), pid: Some(pid), tid: Some(tid), cpu: Some(0), time: Some(time) }
    }
}

/// A build id as the perf tool prints it in records.
struct Id<'a>(&'a [u8]);

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        BuildId::new(self.0).map_or(Ok(()), |id| id.fmt(f))
    }
}

/// Appends a record in the form of the perf tool.
pub(super) fn push<L: Layout>(out: &mut Vec<u8>, record: &Record<'_, L>) {
    let name = |bytes: &[u8]| shown(&String::from_utf8_lossy(bytes));
    // Writing to memory does not fail.
    let _ = match record {
        Record::Mmap(map) => {
            let kind = if map.is_executable() { 'x' } else { 'r' };
            let (pid, tid) = (map.pid().cast_signed(), map.tid().cast_signed());
            let (addr, len, offset) = (Hex(map.addr()), Hex(map.len()), Hex(map.pgoff()));
            let name = name(map.filename());
            write!(out, "PERF_RECORD_MMAP {pid}/{tid}: [{addr}({len}) @ {offset}]: {kind} {name}")
        }
        Record::Mmap2(map) => {
            let (pid, tid) = (map.pid().cast_signed(), map.tid().cast_signed());
            let (addr, len, offset) = (Hex(map.addr()), Hex(map.len()), Hex(map.pgoff()));
            let bit = |has: bool, letter| if has { letter } else { '-' };
            let (read, write) = (bit(map.prot() & 1 != 0, 'r'), bit(map.prot() & 2 != 0, 'w'));
            let execute = bit(map.prot() & 4 != 0, 'x');
            let shared = if map.flags() & 1 != 0 { 's' } else { 'p' };
            let name = name(map.filename());
            let _ = write!(out, "PERF_RECORD_MMAP2 {pid}/{tid}: [{addr}({len}) @ {offset} ");
            let (major, minor) = (map.maj().unwrap_or(0), map.min().unwrap_or(0));
            let (inode, generation) = (map.ino().unwrap_or(0), map.ino_generation().unwrap_or(0));
            let _ = match map.build_id() {
                Some(id) => write!(out, "<{}>", Id(id)),
                None => write!(out, "{major:02x}:{minor:02x} {inode} {generation}"),
            };
            write!(out, "]: {read}{write}{execute}{shared} {name}")
        }
        Record::Comm(comm) => {
            let exec = if comm.exec() { " exec" } else { "" };
            let (pid, tid) = (comm.pid().cast_signed(), comm.tid().cast_signed());
            write!(out, "PERF_RECORD_COMM{exec}: {}:{pid}/{tid}", name(comm.comm()))
        }
        Record::Fork(fork) => {
            let ids = [fork.pid(), fork.tid(), fork.ppid(), fork.ptid()].map(u32::cast_signed);
            task(out, "FORK", ids)
        }
        Record::Exit(exit) => {
            let ids = [exit.pid(), exit.tid(), exit.ppid(), exit.ptid()].map(u32::cast_signed);
            task(out, "EXIT", ids)
        }
        _ => Ok(()),
    };
}

fn task(out: &mut Vec<u8>, kind: &str, [pid, tid, parent, parent_tid]: [i32; 4]) -> std::io::Result<()> {
    write!(out, "PERF_RECORD_{kind}({pid}:{tid}):({parent}:{parent_tid})")
}

/// A number in hexadecimal as `%#lx` of C prints it: 0 has no prefix.
struct Hex(u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{:#x}", self.0) }
    }
}
