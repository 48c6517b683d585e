//! The symbols of the kernel and the places of its modules.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use super::{FileError, System, hex};

/// Reads `/proc/kallsyms` line by line: the kernel's own symbols come first, then those of modules and of BPF programs. The
/// kernel takes about 50 ms of CPU time to write all of it.
#[derive(Debug)]
pub struct KernelSymbols {
    path: PathBuf,
    file: BufReader<File>,
    line: Vec<u8>,
}

/// A symbol of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelSymbol<'a> {
    /// Address; 0 if `kernel.kptr_restrict` hides it from this user.
    pub address: u64,
    /// Name, usually ASCII.
    pub name: &'a [u8],
    /// The module, `bpf` for BPF programs; `None` for the kernel itself.
    pub module: Option<&'a [u8]>,
}

impl KernelSymbols {
    /// Returns the first result of `f` other than `None` for the symbols from here on. Another call continues with the next
    /// line. Malformed lines are skipped.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn find_map<T>(
        &mut self,
        mut f: impl FnMut(KernelSymbol<'_>) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        loop {
            self.line.clear();
            let read = self.file.read_until(b'\n', &mut self.line);
            if read.map_err(|error| FileError::io(self.path.clone(), error))? == 0 {
                return Ok(None);
            }
            if let Some(found) = KernelSymbol::parse(&self.line).and_then(&mut f) {
                return Ok(Some(found));
            }
        }
    }
}

impl<'a> KernelSymbol<'a> {
    /// Parses `ffffffff81000000 T name`, with `\t[module]` or not.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.trim_ascii_end().splitn(3, |byte| *byte == b' ');
        let (address, _kind, name) = (hex(fields.next()?)?, fields.next()?, fields.next()?);
        let tab = name.iter().position(|byte| *byte == b'\t').unwrap_or(name.len());
        let (name, module) = name.split_at(tab);
        let module = module.strip_prefix(b"\t[").and_then(|module| module.strip_suffix(b"]"));
        Some(Self { address, name, module })
    }
}

/// A loaded module of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// Name, in which `-` is `_`.
    pub name: String,
    /// Address of the code; 0 if `kernel.kptr_restrict` hides it from this user.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Module {
    /// Parses `name size references dependents state 0xaddress`.
    fn parse(line: &str) -> Option<Self> {
        // A tainting module has flags in parentheses after the address.
        let mut fields = line.split(' ').filter(|field| !field.starts_with('('));
        let (name, size) = (fields.next()?, fields.next()?.parse().ok()?);
        let address = hex(fields.next_back()?.strip_prefix("0x")?.as_bytes())?;
        Some(Self { name: name.to_owned(), address, size })
    }
}

impl System {
    /// Opens the list of the kernel's symbols.
    ///
    /// # Errors
    ///
    /// `/proc/kallsyms` cannot be opened.
    pub fn kallsyms(&self) -> Result<KernelSymbols, FileError> {
        let path = self.path("/proc/kallsyms");
        match File::open(&path) {
            Ok(file) => {
                let file = BufReader::with_capacity(64 << 10, file);
                Ok(KernelSymbols { path, file, line: Vec::new() })
            }
            Err(error) => Err(FileError::io(path, error)),
        }
    }

    /// Returns the loaded modules of the kernel.
    ///
    /// # Errors
    ///
    /// `/proc/modules` cannot be read; a kernel without modules does not have it.
    pub fn modules(&self) -> Result<Vec<Module>, FileError> {
        Ok(self.read("/proc/modules")?.lines().filter_map(Module::parse).collect())
    }

    /// Returns the ELF notes of the kernel, one of which has its build id.
    ///
    /// # Errors
    ///
    /// `/sys/kernel/notes` cannot be read.
    pub fn kernel_notes(&self) -> Result<Vec<u8>, FileError> {
        self.read_bytes("/sys/kernel/notes")
    }

    /// Returns the ELF note with the build id of a module.
    ///
    /// # Errors
    ///
    /// `/sys/module/NAME/notes/.note.gnu.build-id` cannot be read.
    pub fn module_notes(&self, name: &str) -> Result<Vec<u8>, FileError> {
        self.read_bytes(format!("/sys/module/{name}/notes/.note.gnu.build-id"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tree::Tree;

    #[test]
    fn symbols_have_an_address_a_name_and_a_module() {
        let tree = Tree::new();
        tree.file("/proc/kallsyms", "ffffffff81000000 T _text\nnoise\n1000 t a b\t[bpf]\nx T y\n2000 t z");
        let mut symbols = tree.system().kallsyms().unwrap();
        let mut found = Vec::new();
        let mut add = |KernelSymbol { address, name, module }: KernelSymbol<'_>| {
            found.push((address, String::from_utf8_lossy(name).into_owned(), module.map(<[u8]>::to_vec)));
            (address == 0x1000).then_some(())
        };
        assert_eq!(symbols.find_map(&mut add).unwrap(), Some(()));
        assert_eq!(symbols.find_map(&mut add).unwrap(), None);
        let expected = [
            (0xffff_ffff_8100_0000, "_text".to_owned(), None),
            (0x1000, "a b".to_owned(), Some(b"bpf".to_vec())),
            (0x2000, "z".to_owned(), None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn module_has_its_address_before_the_flags() {
        let module = |address| Some(Module { name: "b_c".into(), address, size: 8192 });
        assert_eq!(
            Module::parse("b_c 8192 1 c, Live 0xffffffffc0100000 (OE)"),
            module(0xffff_ffff_c010_0000)
        );
        assert_eq!(Module::parse("b_c 8192 0 - Live 0x0000000000000000"), module(0));
        assert_eq!(Module::parse("b_c x 0 - Live 0x1"), None);
    }
}
