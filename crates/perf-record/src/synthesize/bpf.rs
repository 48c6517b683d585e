//! Records of BPF programs that are loaded already.

use std::collections::BTreeMap;

use perf_session::KernelSymbols;
use perf_session::ring::abi::KsymbolType;

use super::Synthesizer;

/// A loaded BPF program, as `bpf(BPF_OBJ_GET_INFO_BY_FD)` describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[doc(alias = "bpf_prog_info")]
pub struct LoadedProgram {
    /// Id of the program in the kernel.
    pub id: u32,
    /// Hash of the instructions, which is part of the name of the program's symbol.
    pub tag: [u8; 8],
    /// Name; empty for an unnamed program.
    pub name: Vec<u8>,
    /// Machine code of its functions, the main function first.
    pub functions: Vec<LoadedFunction>,
}

/// The machine code of a function of a [`LoadedProgram`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadedFunction {
    /// Start address in the kernel.
    pub address: u64,
    /// Length in bytes.
    pub len: u32,
}

impl Synthesizer {
    /// Appends a `KSYMBOL` record of each function and a `BPF_EVENT` record of each program, as the
    /// kernel writes them for programs that are loaded later, and a `KSYMBOL` record of each
    /// trampoline and dispatcher. Without `ksymbol` or `bpf_event` in the attr, these records are
    /// left out.
    ///
    /// The names of functions come from `/proc/kallsyms`. A function that is missing there, because
    /// `net.core.bpf_jit_kallsyms` is 0, gets the name of its program.
    pub fn bpf_programs(&mut self, programs: impl IntoIterator<Item = LoadedProgram>) {
        if !self.with_symbols && !self.with_programs {
            return;
        }
        // `/proc/kallsyms` lists the symbols of BPF after the kernel's own.
        let mut symbols = self.symbols.take();
        let mut names = None;
        for program in programs {
            let names = names
                .get_or_insert_with(|| bpf_symbols(symbols.take().or_else(|| self.system.kallsyms().ok())));
            for function in program.functions.iter().filter(|_| self.with_symbols) {
                let name = names.get(&function.address).cloned().unwrap_or_else(|| program.symbol());
                self.records.ksymbol(function.address, function.len, KsymbolType::BPF, &name);
            }
            if self.with_programs {
                self.records.bpf_program(program.id, program.tag);
            }
        }
        let is_image =
            |name: &[u8]| name.starts_with(b"bpf_trampoline_") || name.starts_with(b"bpf_dispatcher_");
        // Each is one page long. They exist only together with programs, so `names` is not read for
        // them alone.
        let page = perf_session::ring::sys::page_size() as u32;
        let images = names.iter().flatten().filter(|(_, name)| self.with_symbols && is_image(name));
        for (address, name) in images {
            self.records.ksymbol(*address, page, KsymbolType::BPF, name);
        }
    }
}

impl LoadedProgram {
    /// Returns the name of the symbol that the kernel gives to the program.
    fn symbol(&self) -> Vec<u8> {
        let prefix = format!("bpf_prog_{:016x}", u64::from_be_bytes(self.tag)).into_bytes();
        if self.name.is_empty() { prefix } else { [&prefix, &b"_"[..], &self.name].concat() }
    }
}

/// Returns the names of BPF symbols by address; empty if `/proc/kallsyms` cannot be read.
fn bpf_symbols(symbols: Option<KernelSymbols>) -> BTreeMap<u64, Vec<u8>> {
    let mut names = BTreeMap::new();
    let Some(mut symbols) = symbols else { return names };
    // After an error, the names read so far are kept.
    let _ = symbols.find_map(|symbol| {
        if symbol.module == Some(b"bpf") {
            names.insert(symbol.address, symbol.name.to_vec());
        }
        None::<()>
    });
    names
}
