//! An ELF file: its build id, segments and sections.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::NoteIterator;

use super::content::{Content, Identity, Reader};
use super::foreign::{self, LastLink};
#[cfg(feature = "names")]
use super::headers::AltLink;
use super::headers::{DebugLink, Headers, Segment, in_notes};
#[cfg(feature = "names")]
use super::section::Compression;
use super::section::{MAX_SECTION, Section, SectionBytes};
use crate::system::System;
use crate::{BuildId, Mapping};

/// Largest page size of programs on x86-64 and arm64.
const LARGEST_PAGE: u64 = 64 << 10;

/// An open ELF file: the file of a mapping, or its debug information.
///
/// It is read by offset and not mapped, so that truncation while it is read is an error, not a
/// signal.
pub struct ObjectFile {
    place: Place,
    content: Content,
    headers: Arc<Headers>,
}

#[derive(Clone, Debug)]
struct Place {
    path: PathBuf,
    /// If set, the root of a process: a prefix of `path` that symbolic links cannot leave.
    root: Option<PathBuf>,
}

/// Why a file cannot be used as an ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElfError {
    /// The file cannot be opened or read.
    Io {
        /// The kind of the I/O error.
        kind: io::ErrorKind,
        /// The errno, if the system reported one.
        errno: Option<i32>,
    },
    /// The path names a folder, device, pipe or socket.
    NotAFile,
    /// The bytes are not an ELF file, or damaged: what the parser expected.
    Malformed(String),
}

impl From<io::Error> for ElfError {
    fn from(error: io::Error) -> Self {
        Self::Io { kind: error.kind(), errno: error.raw_os_error() }
    }
}

impl fmt::Display for ElfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { errno: Some(errno), .. } => io::Error::from_raw_os_error(*errno).fmt(f),
            Self::Io { kind, .. } => kind.fmt(f),
            Self::NotAFile => f.write_str("expected a file, found a folder, device, pipe or socket"),
            Self::Malformed(what) => write!(f, "expected an ELF file: {what}"),
        }
    }
}

impl std::error::Error for ElfError {}

impl ElfError {
    /// Returns true if there is no file at the path.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { kind: io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, .. })
    }
}

impl ObjectFile {
    /// Opens an ELF file and reads its headers.
    ///
    /// Returns [`ElfError`] if the file cannot be read or is not ELF. Devices, pipes and files that
    /// the kernel generates are refused: only regular files are opened.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ElfError> {
        Self::open_at(Place { path: path.into(), root: None })
    }

    /// Opens a file in the root of a process. Symbolic links stay in that root.
    pub(super) fn open_in_root(root: PathBuf, relative: &Path) -> Result<Self, ElfError> {
        Self::open_at(Place { path: root.join(relative), root: Some(root) })
    }

    /// Opens another file in the root of the process that has this one.
    pub(super) fn open_beside(&self, mut path: PathBuf) -> Result<Self, ElfError> {
        let root = self.place.root.clone();
        if let Some(root) = root.as_ref().filter(|root| !path.starts_with(root)) {
            path = root.join(path.strip_prefix("/").unwrap_or(&path));
        }
        Self::open_at(Place { path, root })
    }

    /// Returns the path with symbolic links resolved, as folders of debug information use it.
    pub(super) fn canonical_path(&self) -> PathBuf {
        let path = &self.place.path;
        match &self.place.root {
            Some(_) => path.clone(),
            None => path.canonicalize().unwrap_or_else(|_| path.clone()),
        }
    }

    fn open_at(place: Place) -> Result<Self, ElfError> {
        let content = place.open()?;
        let headers = Arc::new(Headers::read(&content)?);
        Ok(Self { place, content, headers })
    }

    /// Reads the headers of an ELF file in memory, such as `[vdso]`. `name` becomes its
    /// [`path`](Self::path).
    ///
    /// # Errors
    ///
    /// Returns [`ElfError::Malformed`] if the bytes are not an ELF file.
    pub fn from_memory(name: impl Into<PathBuf>, bytes: Arc<[u8]>) -> Result<Self, ElfError> {
        let content = Content::Memory(bytes);
        let headers = Arc::new(Headers::read(&content)?);
        Ok(Self { place: Place { path: name.into(), root: None }, content, headers })
    }

    /// Closes the file. It keeps its headers, so that addresses can be translated, but sections
    /// cannot be read.
    #[cfg(any(feature = "names", feature = "unwind"))]
    pub(crate) fn closed(self) -> Self {
        let content = match self.content {
            Content::File { identity, .. } => Content::Closed(identity),
            content => content,
        };
        Self { content, ..self }
    }

    /// Opens a closed file again. Returns `None` if another file is at its path now, or it was
    /// written meanwhile.
    #[cfg(feature = "names")]
    pub(crate) fn reopened(&self) -> Option<Self> {
        let content = match &self.content {
            Content::Memory(bytes) => Content::Memory(bytes.clone()),
            _ => self.place.open().ok().filter(|content| content.identity() == self.identity())?,
        };
        Some(Self { place: self.place.clone(), content, headers: self.headers.clone() })
    }

    /// Returns a closed copy.
    #[cfg(feature = "names")]
    pub(super) fn without_content(&self) -> Option<Self> {
        let content = Content::Closed(self.identity()?);
        Some(Self { place: self.place.clone(), content, headers: self.headers.clone() })
    }

    /// Returns the path that was opened.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Returns the build id from the note `NT_GNU_BUILD_ID`, which most linkers write.
    pub fn build_id(&self) -> Option<BuildId> {
        self.headers.build_id
    }

    /// Returns the machine that the code is for (`e_machine`): 62 for x86-64, 183 for arm64.
    pub fn machine(&self) -> u16 {
        self.headers.machine
    }

    /// Returns the address of the program's entry point in the file's symbol table, if it has one.
    #[cfg(any(feature = "names", feature = "unwind"))]
    pub(crate) fn entry_point(&self) -> Option<u64> {
        Some(self.headers.entry_point).filter(|address| *address != 0)
    }

    pub(super) fn debug_link(&self) -> Option<&DebugLink> {
        self.headers.debug_link.as_ref()
    }

    #[cfg(feature = "names")]
    pub(super) fn alt_link(&self) -> Option<&AltLink> {
        self.headers.alt_link.as_ref()
    }

    /// Returns `None` for memory.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.content.identity()
    }

    /// Returns true if the contents are in memory, without a file.
    pub fn is_memory(&self) -> bool {
        matches!(self.content, Content::Memory(_))
    }

    /// Returns true if the open file was not written since it was opened. Replacing the file at its
    /// path is not a change, because this handle still reads the old one.
    pub fn is_unchanged(&self) -> bool {
        self.content.is_unchanged()
    }

    /// Returns true for ELF64.
    #[cfg(feature = "names")]
    pub(crate) fn is_64(&self) -> bool {
        self.headers.is_64
    }

    #[cfg(feature = "names")]
    pub(crate) fn is_little_endian(&self) -> bool {
        self.headers.endian == Endianness::Little
    }

    /// Returns true if the file is not linked, so that its debug information has no addresses.
    #[cfg(feature = "names")]
    pub(crate) fn is_relocatable(&self) -> bool {
        self.headers.is_relocatable
    }

    /// Returns true if the file contains code. Debug files do not. A kernel module has code in a
    /// section, because it has no segments.
    pub fn has_code(&self) -> bool {
        let has_segment =
            self.headers.segments.iter().any(|segment| segment.is_executable && segment.file_len > 0);
        let has_section = || self.headers.section(".text").is_some_and(|text| text.in_file.is_some());
        has_segment || self.headers.segments.is_empty() && has_section()
    }

    /// Translates an address in a mapping of this file, or of the program whose debug information
    /// it has, to an address in the file's symbol table.
    ///
    /// Returns `None` if no part of the file is loaded there: the address is in the padding of a
    /// page, or in a mapping of another file.
    pub fn address_of(&self, mapping: &Mapping, addr: u64) -> Option<u64> {
        let offset = mapping.offset_of(addr);
        if let Some(segment) = self.segment_at(offset) {
            return Some((offset - segment.offset).wrapping_add(segment.address));
        }
        if self.has_code() {
            return None;
        }
        // Debug files lose the file offsets of the code. A mapping as long as the only executable
        // segment begins at that segment.
        let mut executable = self.headers.segments.iter().filter(|segment| segment.is_executable);
        let segment = executable.next().filter(|_| executable.next().is_none() && mapping.is_executable())?;
        let mut page = 4096;
        while page <= LARGEST_PAGE {
            let first = segment.address & !(page - 1);
            let end = segment.address.checked_add(segment.len)?.checked_next_multiple_of(page)?;
            if end - first == mapping.end() - mapping.start() {
                return Some(addr.wrapping_sub(mapping.start()).wrapping_add(first));
            }
            page *= 4;
        }
        None
    }

    /// Returns the load bias: the value to add to addresses in the file's symbol table. Returns
    /// `None` if the mapping loads no part of the file.
    pub fn base_of(&self, mapping: &Mapping) -> Option<u64> {
        let range = mapping.offset_of(mapping.start())..mapping.offset_of(mapping.end());
        // A mapping has whole pages and can include the end of the previous segment. The largest
        // overlap wins.
        let overlap = |segment: &Segment| {
            let end = range.end.min(segment.offset.saturating_add(segment.file_len));
            end.saturating_sub(range.start.max(segment.offset))
        };
        let candidates = self.headers.segments.iter().filter(|segment| overlap(segment) > 0);
        let most = candidates
            .max_by_key(|segment| (segment.is_executable == mapping.is_executable(), overlap(segment)))?;
        Some(mapping.start().wrapping_sub(range.start).wrapping_add(most.offset).wrapping_sub(most.address))
    }

    /// Returns the segment that contains an offset in the file, preferably an executable one.
    fn segment_at(&self, offset: u64) -> Option<&Segment> {
        let has =
            |segment: &&Segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.file_len);
        let mut found = self.headers.segments.iter().filter(has);
        found.clone().find(|segment| segment.is_executable).or_else(|| found.next())
    }

    /// Reads the bytes that the file loads at addresses of its symbol table. The caller limits
    /// their number.
    ///
    /// # Errors
    ///
    /// [`ElfError::Malformed`] if no segment of the file has all of these bytes, and
    /// [`ElfError::Io`] if they cannot be read.
    #[cfg(feature = "disassembly")]
    pub(crate) fn code(&self, addresses: Range<u64>) -> Result<Vec<u8>, ElfError> {
        let len = addresses.end.saturating_sub(addresses.start);
        let offset = self.headers.segments.iter().find_map(|segment| {
            let at = addresses.start.checked_sub(segment.address)?;
            let end = at.checked_add(len).filter(|end| *end <= segment.file_len)?;
            let offset = segment.offset.checked_add(at)?;
            // Checked before the memory is allocated.
            let file_end = segment.offset.checked_add(end)?;
            self.content.len().is_ok_and(|file_len| file_end <= file_len).then_some(offset)
        });
        let nothing = || {
            let Range { start, end } = addresses;
            ElfError::Malformed(format!("no segment has the bytes at {start:#x} to {end:#x}"))
        };
        let offset = offset.ok_or_else(nothing)?;
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| nothing())?];
        self.content.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Returns the time of the last change of the file when it was opened, in s since 1970; `None`
    /// for memory.
    #[cfg(feature = "disassembly")]
    pub(crate) fn modified(&self) -> Option<i64> {
        self.identity().map(|identity| identity.modified.0)
    }

    /// Reads a section: its addresses in the file's symbol table, and its bytes. Sections
    /// compressed by zlib or zstd are decompressed.
    ///
    /// Returns `None` if the file has no such section, or the section has no bytes.
    ///
    /// # Errors
    ///
    /// Returns [`ElfError`] if the section cannot be read or decompressed, or is larger than 1 GiB.
    /// Decompression requires the feature `names` or `unwind`.
    pub fn section(&self, name: &str) -> Result<Option<SectionBytes>, ElfError> {
        let Some(section) = self.headers.section(name) else { return Ok(None) };
        let bytes = section.read(&self.content, MAX_SECTION)?;
        Ok(bytes.map(|bytes| SectionBytes { addresses: section.addresses(), bytes: bytes.into() }))
    }

    /// Reads up to `limit` bytes of a section; empty if the file lacks it.
    #[cfg(feature = "names")]
    pub(crate) fn section_bytes(&self, name: &str, limit: u64) -> Result<Vec<u8>, ElfError> {
        let section = self.headers.section(name).map(|section| section.read(&self.content, limit));
        Ok(section.transpose()?.flatten().unwrap_or_default())
    }

    /// Reads up to `limit` bytes of each section with a suitable name, with its addresses. Sections
    /// that cannot be read are left out.
    #[cfg(feature = "names")]
    pub(crate) fn sections_bytes(
        &self,
        is_wanted: impl Fn(&[u8]) -> bool,
        limit: u64,
    ) -> impl Iterator<Item = (Range<u64>, Vec<u8>)> {
        let wanted = self.headers.sections.iter().filter(move |section| is_wanted(&section.name));
        wanted.filter_map(move |section| {
            Some((section.addresses(), section.read(&self.content, limit).ok().flatten()?))
        })
    }

    #[cfg(test)]
    pub(super) fn last_section(&self) -> Result<Option<SectionBytes>, ElfError> {
        let Some(section) = self.headers.sections.last() else { return Ok(None) };
        let bytes = section.read(&self.content, MAX_SECTION)?;
        Ok(bytes.map(|bytes| SectionBytes { addresses: section.addresses(), bytes: bytes.into() }))
    }

    /// Reads a section in pieces of `len` bytes; the last piece may be shorter. Returns `None` if
    /// the file lacks the section.
    #[cfg(feature = "names")]
    pub(crate) fn read_pieces(
        &self,
        name: &str,
        len: usize,
        mut piece: impl FnMut(&[u8]),
    ) -> Result<Option<()>, ElfError> {
        let Some(section) = self.headers.section(name) else { return Ok(None) };
        if section.compression != Compression::None {
            // Symbol tables are usually not compressed, so that this case need not be fast.
            let bytes = section.read(&self.content, MAX_SECTION)?;
            bytes.unwrap_or_default().chunks(len.max(1)).for_each(piece);
            return Ok(Some(()));
        }
        let Some((offset, section_len)) = section.checked_range(&self.content, MAX_SECTION)? else {
            return Ok(None);
        };
        let mut buffer = vec![0; len];
        let mut at = 0;
        while at < section_len {
            let count = usize::try_from(section_len - at).map_or(len, |rest| rest.min(len));
            let Some(bytes) = buffer.get_mut(..count) else { break };
            self.content.read_exact_at(bytes, offset + at)?;
            piece(bytes);
            at += count as u64;
        }
        Ok(Some(()))
    }

    /// Returns the name of the section at an address of the file's symbol table.
    #[cfg(feature = "names")]
    pub(crate) fn section_name(&self, address: u64) -> Option<&[u8]> {
        let mut loaded = self.headers.sections.iter().filter(|section| section.address != 0);
        loaded.find(|section| section.addresses().contains(&address)).map(|section| &*section.name)
    }

    /// Returns true if two addresses of the file's symbol table are in the same section, or both in
    /// none.
    #[cfg(feature = "names")]
    pub(crate) fn is_in_one_section(&self, first: u64, second: u64) -> bool {
        let loaded = self.headers.sections.iter().filter(|section| section.address != 0);
        loaded.map(Section::addresses).all(|range| range.contains(&first) == range.contains(&second))
    }

    /// Returns true if the file has a section of this name with bytes.
    #[cfg(feature = "names")]
    pub(crate) fn has_section(&self, name: &str) -> bool {
        self.headers.section(name).is_some_and(|section| section.in_file.is_some())
    }

    /// Returns the size in bytes of the symbol tables after decompression, according to the
    /// headers.
    #[cfg(feature = "names")]
    pub(crate) fn symbol_bytes(&self) -> u64 {
        self.bytes_of(|name| matches!(name, b".symtab" | b".strtab" | b".dynsym" | b".dynstr"))
    }

    /// Returns the size in bytes of the chosen sections after decompression, according to the
    /// headers.
    #[cfg(feature = "names")]
    pub(crate) fn bytes_of(&self, is_wanted: impl Fn(&[u8]) -> bool) -> u64 {
        let sections = self.headers.sections.iter().filter(|section| section.in_file.is_some());
        let wanted = sections.filter(|section| is_wanted(&section.name));
        wanted.fold(0, |sum, section| sum.saturating_add(section.len))
    }

    /// Returns the memory in bytes that the headers take, also after closing.
    #[cfg(feature = "names")]
    pub(crate) fn header_bytes(&self) -> usize {
        let headers = &self.headers;
        let names: usize = headers.sections.iter().map(|section| section.name.len()).sum();
        size_of::<Self>() + size_of_val(&*headers.segments) + size_of_val(&*headers.sections) + names
    }

    /// Returns the bytes at an offset in a section that is not compressed.
    #[cfg(feature = "names")]
    pub(crate) fn bytes_at<const N: usize>(&self, section: &str, offset: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.read_range(section, offset, &mut bytes)?;
        Some(bytes)
    }

    /// Returns `len` bytes from an offset in a section that is not compressed.
    #[cfg(feature = "names")]
    pub(crate) fn range_of(&self, section: &str, offset: u64, len: u64) -> Option<Vec<u8>> {
        // Checked before the memory is allocated.
        let addresses = self.section_addresses(section)?;
        let is_inside = len <= (addresses.end - addresses.start).min(self.content.len().ok()?);
        let mut bytes = vec![0; usize::try_from(len).ok().filter(|_| is_inside)?];
        self.read_range(section, offset, &mut bytes)?;
        Some(bytes)
    }

    #[cfg(feature = "names")]
    fn read_range(&self, section: &str, offset: u64, bytes: &mut [u8]) -> Option<()> {
        let section =
            self.headers.section(section).filter(|section| section.compression == Compression::None)?;
        let (start, len) = section.in_file?;
        let is_inside = offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= len);
        let at = start.checked_add(offset).filter(|_| is_inside)?;
        self.content.read_exact_at(bytes, at).ok()
    }

    /// Returns the NUL-terminated string at an offset in a string section, if it has at most
    /// `limit` bytes.
    #[cfg(feature = "names")]
    pub(crate) fn string_at(&self, section: &str, offset: u64, limit: u64) -> Option<Vec<u8>> {
        let section =
            self.headers.section(section).filter(|section| section.compression == Compression::None)?;
        let (start, len) = section.in_file?;
        let mut rest = len.checked_sub(offset)?.min(limit + 1);
        let mut at = start.checked_add(offset)?;
        let mut text = Vec::new();
        // Small pieces, because most names are short.
        while rest > 0 {
            let mut piece = [0; 128];
            let piece = piece.get_mut(..rest.min(128) as usize)?;
            self.content.read_exact_at(piece, at).ok()?;
            if let Some(end) = piece.iter().position(|&byte| byte == 0) {
                text.extend_from_slice(piece.get(..end)?);
                return Some(text);
            }
            text.extend_from_slice(piece);
            at += piece.len() as u64;
            rest -= piece.len() as u64;
        }
        None
    }

    /// Returns the addresses of a section in the file's symbol table without reading it.
    pub fn section_addresses(&self, name: &str) -> Option<Range<u64>> {
        self.headers.section(name).map(Section::addresses)
    }

    /// Returns the current length of the file in bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of fstat(2).
    pub fn size(&self) -> io::Result<u64> {
        self.content.len()
    }

    /// Returns a reader that copies the file from its start. It reads by offset, so that readers
    /// are independent of each other.
    ///
    /// ```
    /// use std::io::Read;
    ///
    /// use perf_symbols::ObjectFile;
    ///
    /// let file = ObjectFile::open(std::env::current_exe()?)?;
    /// let mut start = [0; 4];
    /// file.reader().read_exact(&mut start)?;
    /// assert_eq!(&start, b"\x7fELF");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(&self) -> impl Read + use<'_> {
        Reader { content: &self.content, at: 0 }
    }

    /// Reads the whole file in pieces.
    pub(super) fn read_all(&self, mut piece: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        // Stop at the current length, because a file could grow while it is read.
        let mut reader = self.reader().take(self.size()?);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(()),
                count => piece(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

impl Place {
    fn open(&self) -> Result<Content, ElfError> {
        let opened = match &self.root {
            Some(root) => match self.path.strip_prefix(root) {
                Ok(relative) => foreign::open_in_root(root, relative, LastLink::Follow),
                Err(_) => Err(io::ErrorKind::NotFound.into()),
            },
            None => foreign::open(&self.path, LastLink::Follow),
        };
        let (file, metadata) = opened.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => ElfError::NotAFile,
            _ => error.into(),
        })?;
        Ok(Content::File { file, identity: Identity::from(&metadata) })
    }
}

/// Returns the build id of the running kernel, from `/sys/kernel/notes`; `None` if the file cannot
/// be read or has no build id. A recording with this build id is from the same kernel, but possibly
/// another boot.
pub fn kernel_build_id() -> Option<BuildId> {
    BuildId::from_notes(&System::new().kernel_notes().ok()?)
}

impl BuildId {
    /// Returns the build id among ELF notes of this machine, such as the bytes of
    /// `/sys/kernel/notes` or of a module's `notes/.note.gnu.build-id`. Notes after a damaged one
    /// are not read.
    #[cfg_attr(docsrs, doc(cfg(feature = "files")))]
    pub fn from_notes(notes: &[u8]) -> Option<Self> {
        let endian = if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big };
        in_notes(NoteIterator::<FileHeader64<Endianness>>::new(endian, 4, notes).ok()?, endian)
    }
}

impl fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectFile")
            .field("path", &self.place.path)
            .field("build_id", &self.headers.build_id)
            .field("machine", &self.headers.machine)
            .finish_non_exhaustive()
    }
}
