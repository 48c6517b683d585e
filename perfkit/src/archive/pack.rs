//! Writes the tar: the same bytes for the same files.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use perf_symbols::ObjectFile;
use tar::{Builder, EntryType, Header};

use crate::out::message::{of_file, shown};

/// Time of all entries. Not 0, of which GNU tar warns.
const TIME: u64 = 1;
/// Bytes of a file that are packed at most. A sparse file can have more than any disk.
const MAX_FILE: u64 = 16 << 30;

/// A tar that is being written.
pub(super) struct Pack<'w> {
    /// Dropping a builder ends the archive as if it were whole, so only [`finish`] drops it.
    tar: ManuallyDrop<Builder<&'w mut dyn Write>>,
    bytes: u64,
}

/// Calls `fill` with a new tar of `out`, compressed by gzip or not, and ends it.
pub(super) fn write(
    out: &mut dyn Write,
    is_compressed: bool,
    fill: impl FnOnce(&mut Pack<'_>) -> io::Result<()>,
) -> io::Result<()> {
    if !is_compressed {
        return finish(out, fill);
    }
    let mut packed = GzBuilder::new().mtime(0).write(out, Compression::default());
    finish(&mut packed, fill)?;
    packed.finish().map(drop)
}

fn finish(out: &mut dyn Write, fill: impl FnOnce(&mut Pack<'_>) -> io::Result<()>) -> io::Result<()> {
    let mut pack = Pack { tar: ManuallyDrop::new(Builder::new(out)), bytes: 0 };
    fill(&mut pack)?;
    ManuallyDrop::into_inner(pack.tar).into_inner().map(drop)
}

impl Pack<'_> {
    /// Returns the number of bytes of all files up to now.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a symbolic link.
    pub(super) fn link(&mut self, name: &Path, target: &Path) -> io::Result<()> {
        let mut header = header(EntryType::Symlink, 0o777, 0);
        self.tar.append_link(&mut header, name, target)
    }

    /// Adds an object file. Returns the number of its bytes.
    ///
    /// # Errors
    ///
    /// It cannot be read, or changed meanwhile: the archive cannot be completed.
    pub(super) fn object(&mut self, name: &Path, file: &ObjectFile) -> io::Result<u64> {
        let path = file.path();
        let size = file.size().map_err(|error| of_file(path, &error))?;
        self.file(name, size, path.as_os_str(), file.reader())?;
        // The file may have changed between verification and reading.
        if !file.is_memory() && !file.is_unchanged() {
            return Err(changed(path.as_os_str()));
        }
        Ok(size)
    }

    /// Adds a text.
    pub(super) fn text(&mut self, name: &Path, text: &[u8]) -> io::Result<u64> {
        let size = text.len() as u64;
        self.file(name, size, name.as_os_str(), text).map(|()| size)
    }

    /// Adds a file of exactly this size. `source` is its name in errors.
    fn file(&mut self, name: &Path, size: u64, source: &OsStr, content: impl Read) -> io::Result<()> {
        let mut header = header(EntryType::Regular, 0o644, size);
        // The header is written before the content, which may end earlier by now, or have grown.
        let mut content = Exact { content: content.take(size), source, rest: size };
        self.tar.append_data(&mut header, name, &mut content)?;
        self.bytes += size;
        Ok(())
    }
}

/// Returns whether a file has more bytes than are packed.
pub(super) fn is_too_large(file: &ObjectFile) -> bool {
    file.size().is_ok_and(|size| size > MAX_FILE)
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn changed(source: &OsStr) -> io::Error {
    io::Error::other(format!("{}: the file was changed while it was packed; try again", shown(source)))
}

/// A content of as many bytes as its header says, or an error with its name.
struct Exact<'a, R> {
    content: R,
    source: &'a OsStr,
    rest: u64,
}

impl<R: Read> Read for Exact<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(buffer).map_err(|error| of_file(self.source, &error))?;
        if count == 0 && self.rest > 0 && !buffer.is_empty() {
            return Err(changed(self.source));
        }
        self.rest -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(pack: &mut Pack<'_>) -> io::Result<()> {
        let long = format!("{}/{}", "a".repeat(200), "b".repeat(200));
        pack.link(Path::new(".build-id/ab/cdef"), Path::new(&format!("../../{long}")))?;
        pack.text(Path::new(&long).join("elf").as_path(), b"content")?;
        assert_eq!(pack.bytes(), 7);
        Ok(())
    }

    fn packed(is_compressed: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, is_compressed, example).unwrap();
        bytes
    }

    #[test]
    fn archive_has_the_same_bytes_each_time() {
        for is_compressed in [false, true] {
            assert_eq!(packed(is_compressed), packed(is_compressed));
        }
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&packed(true)[..]).read_to_end(&mut text).unwrap();
        assert_eq!(text, packed(false));
        let mut archive = tar::Archive::new(&text[..]);
        let mut entries = archive.entries().unwrap().map(Result::unwrap);
        let link = entries.next().unwrap();
        assert_eq!(link.link_name().unwrap().unwrap().as_os_str().len(), 6 + 401);
        let mut file = entries.next().unwrap();
        let header = file.header().clone();
        assert_eq!((header.uid().unwrap(), header.mtime().unwrap(), header.mode().unwrap()), (0, 1, 0o644));
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        assert_eq!((content.as_str(), entries.next().is_some()), ("content", false));
    }

    #[test]
    fn name_that_leads_out_of_the_archive_is_an_error() {
        for name in ["/etc/passwd", "../a", "a/../../b"] {
            let mut bytes = Vec::new();
            write(&mut bytes, false, |pack| pack.text(Path::new(name), b"x").map(drop)).unwrap_err();
        }
    }

    #[test]
    fn content_of_another_length_ends_the_archive_without_its_end() {
        let mut bytes = Vec::new();
        let error = write(&mut bytes, false, |pack| {
            pack.file(Path::new("a"), 5, OsStr::new("/bin/\u{1b}a"), &b"four"[..])
        });
        let error = error.unwrap_err().to_string();
        assert_eq!(error, "/bin/\\u{1b}a: the file was changed while it was packed; try again");
        assert!(bytes.len() < 1024, "no blocks of zeros at the end");
        let mut bytes = Vec::new();
        write(&mut bytes, false, |pack| pack.file(Path::new("a"), 3, OsStr::new("a"), &b"four"[..])).unwrap();
        assert_eq!(bytes[512..516], *b"fou\0", "a file that grew");
    }
}
