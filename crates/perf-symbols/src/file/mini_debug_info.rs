//! The symbols that Fedora and its relatives keep in stripped files: an ELF file, compressed by xz,
//! in the section `.gnu_debugdata`.

use std::io;

use super::elf::{ElfError, ObjectFile};
use super::xz::decompressed;
use crate::caught::caught;

const SECTION: &str = ".gnu_debugdata";
/// Maximum size in bytes before and after decompression. Browsers have some 5 and 40 MB.
const MAX_COMPRESSED: u64 = 64 << 20;
const MAX_BYTES: u64 = 256 << 20;

impl ObjectFile {
    /// Reads the file in the section `.gnu_debugdata`, which has the symbols of all functions that
    /// `.dynsym` lacks. Returns `None` if there is no such section.
    pub(crate) fn mini_debug_info(&self) -> Result<Option<Self>, ElfError> {
        if !self.has_section(SECTION) {
            return Ok(None);
        }
        let compressed = self.section_bytes(SECTION, MAX_COMPRESSED)?;
        let bytes = caught(|| decompressed(&compressed, MAX_BYTES));
        let bytes = bytes.unwrap_or_else(|| Err(io::Error::other("the decompressor panicked")));
        let bytes = bytes.map_err(|error| ElfError::Malformed(format!("section {SECTION}: {error}")))?;
        Self::from_memory(self.path(), bytes.into()).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::with_bytes;
    use super::*;

    #[test]
    fn damaged_section_is_an_error() {
        assert!(matches!(with_bytes(".other", b"x").mini_debug_info(), Ok(None)));
        // The header of a stream, then garbage; and an empty stream, which is no ELF file.
        let header = b"\xfd7zXZ\0\0\x01\x69\x22\xde\x36";
        let index = b"\0\0\0\0\x1c\xdf\x44\x21\x90\x42\x99\x0d\0\0\0\0\0\x01\x59\x5a";
        for section in
            [&b"x"[..], header, &[header, index.as_slice()].concat(), &[header, &header[..]].concat()]
        {
            let found = with_bytes(SECTION, section).mini_debug_info();
            assert!(matches!(found, Err(ElfError::Malformed(_))), "{found:?}");
        }
    }
}
