use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use super::maps::hex;
use super::{Mapping, Synthesizer, build_id};

/// The process of mappings of the kernel.
const KERNEL_PID: u32 = u32::MAX;
/// `PROT_EXEC`.
const EXECUTE: u32 = 4;
/// Name of the kernel's mapping; the name of the symbol at its start follows it.
const KERNEL: &str = "[kernel.kallsyms]";

/// The kernel's text cannot be located, so samples in the kernel cannot be resolved to symbols later.
#[non_exhaustive]
pub enum KernelMapError {
    /// `/proc/kallsyms` cannot be read.
    Io(io::Error),
    /// All addresses are 0, because `kernel.kptr_restrict` hides them from this user.
    Hidden,
    /// A symbol at the start (`_text`, `_stext`) or at the end (`_etext`) of the text is missing.
    NoSymbol,
}

impl fmt::Display for KernelMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kernel map: ")?;
        match self {
            Self::Io(error) => write!(f, "/proc/kallsyms: {error}"),
            Self::Hidden => f.write_str(
                "expected the address of _text in /proc/kallsyms, found 0: kernel.kptr_restrict hides addresses; \
                 record as root or with CAP_SYSLOG",
            ),
            Self::NoSymbol => f.write_str("expected _text or _stext, and _etext in /proc/kallsyms, found neither"),
        }
    }
}

impl std::error::Error for KernelMapError {}

impl Synthesizer {
    /// Appends an `MMAP` record of the kernel's text and of each module.
    ///
    /// # Errors
    ///
    /// The kernel's text cannot be located. Then there is no record.
    pub fn kernel(&mut self) -> Result<(), KernelMapError> {
        let file = File::open(self.host.path("/proc/kallsyms")).map_err(KernelMapError::Io)?;
        let (name, start, end) = find_text(BufReader::with_capacity(64 << 10, file))?;
        self.kernel_map(start, end.saturating_sub(start), start, &format!("{KERNEL}{name}"));
        if let Some(id) =
            self.host.read("/sys/kernel/notes").ok().and_then(|notes| build_id::of_notes(&notes))
        {
            self.build_ids.insert(KERNEL.into(), (id, true));
        }
        self.modules();
        Ok(())
    }

    fn kernel_map(&mut self, addr: u64, len: u64, pgoff: u64, path: &str) {
        let path = path.as_bytes();
        self.records.kernel_mmap(&Mapping {
            pid: KERNEL_PID,
            addr,
            len,
            pgoff,
            prot: EXECUTE,
            path,
            ..Mapping::default()
        });
    }

    /// Appends the loaded modules: `name size references dependents state 0xaddress`.
    fn modules(&mut self) {
        let Some(modules) = self.host.text("/proc/modules") else { return };
        let paths = self.module_paths();
        for line in modules.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            let [name, size, .., address] = fields[..] else { continue };
            // After the address, a tainting module has flags in parentheses.
            let address =
                if address.starts_with('(') { fields.iter().rev().nth(1).unwrap_or(&"") } else { address };
            let address = address.strip_prefix("0x").and_then(|address| hex(address.as_bytes()));
            let (Some(address), Ok(size)) = (address.filter(|address| *address != 0), size.parse()) else {
                continue;
            };
            let path = paths.get(name).cloned().unwrap_or_else(|| format!("[{name}]"));
            self.kernel_map(address, size, 0, &path);
            let notes = self.host.read(format!("/sys/module/{name}/notes/.note.gnu.build-id"));
            if let Some(id) = notes.ok().and_then(|notes| build_id::of_notes(&notes)) {
                self.build_ids.insert(path.into_bytes(), (id, true));
            }
        }
    }

    /// Returns the files of modules by name, in which `-` is `_`.
    fn module_paths(&self) -> HashMap<String, String> {
        let release = self.host.text("/proc/sys/kernel/osrelease").unwrap_or_default();
        let folder = format!("/lib/modules/{release}");
        let list = self.host.text(format!("{folder}/modules.dep")).unwrap_or_default();
        let entry = |line: &str| {
            let path = line.split(':').next()?;
            let name = path.rsplit('/').next()?.split(".ko").next()?.replace('-', "_");
            Some((name, format!("{folder}/{path}")))
        };
        list.lines().filter_map(entry).collect()
    }
}

/// Returns the symbol at the start of the kernel's text, its address, and the end of the text.
fn find_text(symbols: impl BufRead) -> Result<(&'static str, u64, u64), KernelMapError> {
    let (mut start, mut end) = (None, None);
    for line in symbols.split(b'\n') {
        let line = line.map_err(KernelMapError::Io)?;
        // `ffffffff81000000 T _text`
        let mut fields = line.split(|byte| *byte == b' ');
        let (Some(address), Some(_), Some(symbol)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        match symbol {
            b"_text" => start = hex(address).map(|address| ("_text", address)),
            b"_stext" if start.is_none() => start = hex(address).map(|address| ("_stext", address)),
            b"_etext" => end = hex(address),
            _ => {}
        }
        if start.is_some() && end.is_some() {
            break;
        }
    }
    match (start, end) {
        (Some((_, 0)), _) => Err(KernelMapError::Hidden),
        (Some((name, start)), Some(end)) => Ok((name, start, end)),
        _ => Err(KernelMapError::NoSymbol),
    }
}
