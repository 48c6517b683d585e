//! Records of the kernel and its modules.

use std::collections::HashMap;
use std::fmt;

use perf_session::ring::abi::CpuMode;
use perf_session::{FileError, KernelSymbol, KernelSymbols, Module, into_std};
use perf_symbols::BuildId;

use super::Synthesizer;

/// Name of the kernel's mapping. The name of the symbol at its start follows it.
const KERNEL: &str = "[kernel.kallsyms]";

/// The reason why the kernel's text cannot be located, so that samples in the kernel cannot be
/// symbolized later.
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
    /// Nothing is appended after [`KernelMapError::Hidden`] if this user must not see addresses of
    /// the kernel, [`KernelMapError::File`] if `/proc/kallsyms` cannot be read, or
    /// [`KernelMapError::NoSymbol`] if a symbol is missing.
    pub fn kernel(&mut self) -> Result<(), KernelMapError> {
        let mut symbols = self.system.kallsyms().map_err(KernelMapError::File)?;
        let (name, start, end) = find_text(&mut symbols)?;
        self.symbols = Some(symbols);
        // Readers subtract `pgoff` from the start to find the offset by which the kernel was moved
        // at boot.
        self.records.kernel_mmap(
            start,
            end.saturating_sub(start),
            start,
            format!("{KERNEL}{name}").as_bytes(),
        );
        if let Some(id) = self.system.kernel_notes().ok().and_then(|notes| BuildId::from_notes(&notes)) {
            self.build_ids.insert(KERNEL.into(), (id, CpuMode::KERNEL));
        }
        self.modules();
        Ok(())
    }

    /// Appends an `MMAP` record of each loaded module.
    fn modules(&mut self) {
        let Ok(modules) = self.system.modules() else { return };
        let paths = self.module_paths();
        for Module { name, address, size, .. } in modules.into_iter().filter(|module| module.address != 0) {
            let path = paths.get(&name).cloned().unwrap_or_else(|| format!("[{name}]"));
            self.records.kernel_mmap(address, size, 0, path.as_bytes());
            if let Some(id) =
                self.system.module_notes(&name).ok().and_then(|notes| BuildId::from_notes(&notes))
            {
                self.build_ids.insert(path.into_bytes(), (id, CpuMode::KERNEL));
            }
        }
    }

    /// Returns the files of modules by name, with `_` for `-`.
    fn module_paths(&self) -> HashMap<String, String> {
        let release = self.system.sysctl("kernel.osrelease").unwrap_or_default();
        let folder = format!("/lib/modules/{release}");
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
fn find_text(symbols: &mut KernelSymbols) -> Result<(&'static str, u64, u64), KernelMapError> {
    let (mut start, mut end) = (None, None);
    // The file has more than 100 000 lines, and these are among the first.
    let found = symbols.find_map(|KernelSymbol { name, address, .. }| {
        match name {
            b"_text" => start = Some(("_text", address)),
            b"_stext" if start.is_none() => start = Some(("_stext", address)),
            b"_etext" => end = Some(address),
            _ => {}
        }
        start.and(end)
    });
    found.map_err(KernelMapError::File)?;
    match (start, end) {
        (Some((_, 0)), _) => Err(KernelMapError::Hidden),
        (Some((name, start)), Some(end)) => Ok((name, start, end)),
        _ => Err(KernelMapError::NoSymbol),
    }
}
