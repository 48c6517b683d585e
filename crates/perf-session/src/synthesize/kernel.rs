use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use perf_ring::abi::CpuMode;

use super::{Synthesizer, build_id};
use crate::FileError;
use crate::std_error::into_std;
use crate::system::hex;

/// Name of the kernel's mapping; the name of the symbol at its start follows it.
const KERNEL: &str = "[kernel.kallsyms]";

/// The kernel's text cannot be located, so samples in the kernel cannot be resolved to symbols later.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KernelMapError {
    /// `/proc/kallsyms` cannot be read.
    File(FileError),
    /// All addresses are 0, because `kernel.kptr_restrict` hides them from this user.
    Hidden,
    /// A symbol at the start (`_text`, `_stext`) or at the end (`_etext`) of the text is missing.
    NoSymbol,
}

impl fmt::Display for KernelMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kernel map: ")?;
        match self {
            Self::File(error) => error.fmt(f),
            Self::Hidden => f.write_str(
                "expected the address of _text in /proc/kallsyms, found 0: kernel.kptr_restrict hides addresses; \
                 record as root or with CAP_SYSLOG",
            ),
            Self::NoSymbol => f.write_str("expected _text or _stext, and _etext in /proc/kallsyms, found neither"),
        }
    }
}

impl std::error::Error for KernelMapError {}

impl KernelMapError {
    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        match self {
            Self::File(error) => error.raw_os_error(),
            Self::Hidden | Self::NoSymbol => None,
        }
    }
}

into_std!(KernelMapError, InvalidData);

impl Synthesizer {
    /// Appends an `MMAP` record of the kernel's text and of each module.
    ///
    /// # Errors
    ///
    /// [`KernelMapError::Hidden`] if this user must not see addresses of the kernel, [`KernelMapError::File`],
    /// [`KernelMapError::NoSymbol`]. Then there is no record.
    pub fn kernel(&mut self) -> Result<(), KernelMapError> {
        let path = self.system.path("/proc/kallsyms");
        let opened = File::open(&path).map(|file| BufReader::with_capacity(64 << 10, file));
        let text =
            opened.and_then(find_text).map_err(|error| KernelMapError::File(FileError::io(path, error)))?;
        let (name, start, end) = text?;
        // Readers subtract `pgoff` from the start to find how far the kernel was moved at boot.
        self.records.kernel_mmap(
            start,
            end.saturating_sub(start),
            start,
            format!("{KERNEL}{name}").as_bytes(),
        );
        if let Some(id) = self.notes("/sys/kernel/notes") {
            self.build_ids.insert(KERNEL.into(), (id, CpuMode::KERNEL));
        }
        self.modules();
        Ok(())
    }

    /// Returns the build id in the notes of a loaded file.
    fn notes(&self, file: &str) -> Option<Vec<u8>> {
        build_id::of_notes(&self.system.read_bytes(file).ok()?)
    }

    /// Appends the loaded modules: `name size references dependents state 0xaddress`.
    fn modules(&mut self) {
        let Ok(modules) = self.system.read("/proc/modules") else { return };
        let paths = self.module_paths();
        for line in modules.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            let [name, size, .., address] = fields[..] else { continue };
            // A tainting module has flags in parentheses after the address.
            let address =
                if address.starts_with('(') { fields.iter().rev().nth(1).unwrap_or(&"") } else { address };
            let address = address.strip_prefix("0x").and_then(|address| hex(address.as_bytes()));
            let (Some(address), Ok(size)) = (address.filter(|address| *address != 0), size.parse()) else {
                continue;
            };
            let path = paths.get(name).cloned().unwrap_or_else(|| format!("[{name}]"));
            self.records.kernel_mmap(address, size, 0, path.as_bytes());
            if let Some(id) = self.notes(&format!("/sys/module/{name}/notes/.note.gnu.build-id")) {
                self.build_ids.insert(path.into_bytes(), (id, CpuMode::KERNEL));
            }
        }
    }

    /// Returns the files of modules by name, in which `-` is `_`.
    fn module_paths(&self) -> HashMap<String, String> {
        let release = self.system.read("/proc/sys/kernel/osrelease").unwrap_or_default();
        let folder = format!("/lib/modules/{}", release.trim_ascii());
        let list = self.system.read(format!("{folder}/modules.dep")).unwrap_or_default();
        let entry = |line: &str| {
            let path = line.split(':').next()?;
            let name = path.rsplit('/').next()?.split(".ko").next()?.replace('-', "_");
            Some((name, format!("{folder}/{path}")))
        };
        list.lines().filter_map(entry).collect()
    }
}

/// Returns the symbol at the start of the kernel's text, its address, and the end of the text.
fn find_text(symbols: impl BufRead) -> io::Result<Result<(&'static str, u64, u64), KernelMapError>> {
    let (mut start, mut end) = (None, None);
    for line in symbols.split(b'\n') {
        let line = line?;
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
        // The file has more than 100 000 lines, and these are among the first.
        if start.is_some() && end.is_some() {
            break;
        }
    }
    Ok(match (start, end) {
        (Some((_, 0)), _) => Err(KernelMapError::Hidden),
        (Some((name, start)), Some(end)) => Ok((name, start, end)),
        _ => Err(KernelMapError::NoSymbol),
    })
}
