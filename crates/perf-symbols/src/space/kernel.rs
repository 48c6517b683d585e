//! Kernel addresses: its text, its modules, and symbols that come and go, such as BPF programs.

use std::collections::HashMap;
use std::sync::Arc;

use perf_abi::{BpfEventType, KsymbolFlags, KsymbolType};
use perf_decode::{BpfEvent, Ksymbol, Layout};

use super::map::{RangeMap, Ranged};
use super::mapping::Mapping;

/// A symbol that the kernel added at run time: a BPF program, a trampoline, or code of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelSymbol {
    /// The first address.
    pub start: u64,
    /// The end address, exclusive.
    pub end: u64,
    /// The kind: BPF code, or code outside the kernel image.
    pub kind: KsymbolType,
    /// The name in raw bytes, such as `bpf_prog_1234567812345678_name`.
    pub name: Arc<[u8]>,
}

impl KernelSymbol {
    /// Returns the tag of a BPF program, a hash of its instructions, which is part of the name.
    pub fn bpf_tag(&self) -> Option<[u8; 8]> {
        let digits = self.name.strip_prefix(b"bpf_prog_")?.get(..16)?;
        u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().map(u64::to_be_bytes)
    }
}

impl Ranged for KernelSymbol {
    fn start(&self) -> u64 {
        self.start
    }

    fn end(&self) -> u64 {
        self.end
    }

    fn cut_before(&mut self, start: u64) {
        self.start = start;
    }

    fn cut_after(&mut self, end: u64) {
        self.end = end;
    }
}

/// The addresses of one kernel, the host's or a guest's.
#[derive(Debug, Default)]
pub(super) struct Kernel {
    /// `[kernel.kallsyms]`. Kept apart from `modules` because its range often covers the modules,
    /// too.
    text: Option<Mapping>,
    modules: RangeMap<Mapping>,
    symbols: RangeMap<KernelSymbol>,
    /// Ids of loaded BPF programs, by tag.
    bpf_ids: HashMap<[u8; 8], u32>,
    /// Number of address changes so far.
    version: u64,
}

impl Kernel {
    pub(super) fn map(&mut self, mapping: Mapping) {
        self.version += 1;
        let name = mapping.object().path();
        if name.starts_with(b"[kernel.kallsyms]") || name.starts_with(b"[guest.kernel.kallsyms") {
            self.text = Some(mapping);
        } else {
            self.modules.insert(mapping);
        }
    }

    pub(super) fn update_symbol<L: Layout>(&mut self, record: &Ksymbol<'_, L>) {
        self.version += 1;
        if record.flags().contains(KsymbolFlags::UNREGISTER) {
            self.symbols.remove(record.addr());
            return;
        }
        self.symbols.insert(KernelSymbol {
            start: record.addr(),
            // A symbol of size 0 still has its first address.
            end: record.addr().saturating_add(u64::from(record.len().max(1))),
            kind: record.ksym_type(),
            name: record.name().into(),
        });
    }

    pub(super) fn update_program<L: Layout>(&mut self, record: &BpfEvent<'_, L>) {
        let Ok(tag) = <[u8; 8]>::try_from(record.tag()) else { return };
        match record.bpf_type() {
            BpfEventType::PROG_LOAD => {
                self.bpf_ids.insert(tag, record.id());
            }
            // If the id differs, another program with the same instructions has replaced the entry.
            BpfEventType::PROG_UNLOAD if self.bpf_ids.get(&tag) == Some(&record.id()) => {
                self.bpf_ids.remove(&tag);
            }
            _ => {}
        }
    }

    pub(super) fn bpf_id(&self, tag: [u8; 8]) -> Option<u32> {
        self.bpf_ids.get(&tag).copied()
    }

    pub(super) fn symbol(&self, addr: u64) -> Option<&KernelSymbol> {
        self.symbols.get(addr)
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn text(&self) -> Option<&Mapping> {
        self.text.as_ref()
    }

    pub(super) fn mapping(&self, addr: u64) -> Option<&Mapping> {
        let text = self.text.as_ref().filter(|text| (text.start()..text.end()).contains(&addr));
        self.modules.get(addr).or(text)
    }
}
