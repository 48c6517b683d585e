//! An ELF file: its build id, where its segments are loaded, and its sections.

use std::cell::Cell;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::elf::{self, FileHeader32, FileHeader64, NT_GNU_BUILD_ID, PT_LOAD, PT_NOTE};
use object::read::elf::{
    CompressionHeader, FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable,
};
use object::{Endianness, FileKind, ReadCache, ReadCacheOps, ReadRef};

use crate::{BuildId, Mapping};

/// Bytes of headers, notes and names of sections that are read of one file. Those of a program of 1 GB are below 1 MB.
const MAX_HEADERS: u64 = 16 << 20;
/// Bytes of one section that are read; the largest `.eh_frame` and `.text` of programs are some hundred MB.
const MAX_SECTION: u64 = 1 << 30;
/// Pages of any size that x86-64 and arm64 have for programs.
const LARGEST_PAGE: u64 = 64 << 10;

/// An ELF file that is open: the file of a mapping, or of its debug information.
///
/// It reads by offset and maps nothing, so a file that shrinks while it is read is an error, and no signal.
pub struct ObjectFile {
    path: PathBuf,
    bytes: Bytes,
    machine: u16,
    build_id: Option<BuildId>,
    debug_link: Option<DebugLink>,
    segments: Box<[Segment]>,
    sections: Box<[SectionEntry]>,
    symbols_len: Option<u64>,
}

/// The contents, in a file or in memory.
enum Bytes {
    File {
        file: File,
        identity: Identity,
    },
    /// Of a file that was closed: it can no longer be read.
    #[cfg_attr(
        not(any(feature = "names", feature = "unwind")),
        allow(dead_code, reason = "others close none")
    )]
    Closed(Identity),
    Memory(Arc<[u8]>),
}

/// Distinguishes two files, and a file from its contents before it was written again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) dev: u64,
    pub(super) inode: u64,
    len: u64,
    /// Seconds and nanoseconds since 1970.
    pub(super) modified: (i64, i64),
}

impl From<&Metadata> for Identity {
    fn from(metadata: &Metadata) -> Self {
        Self {
            dev: metadata.dev(),
            inode: metadata.ino(),
            len: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// The name and the checksum of the file that has the debug information: the section `.gnu_debuglink`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DebugLink {
    /// A name without folder.
    pub(super) name: Box<[u8]>,
    pub(super) crc: u32,
}

/// A part of the file that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) offset: u64,
    /// Bytes in the file; 0 in files that hold debug information only.
    pub(super) file_len: u64,
    pub(super) len: u64,
    pub(super) is_executable: bool,
}

/// The addresses and bytes of a section: returned by [`ObjectFile::section`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionBytes {
    /// Its addresses in the file's symbol table.
    pub addresses: Range<u64>,
    /// In the order of the file; numbers have its byte order.
    pub bytes: Arc<[u8]>,
}

/// An entry of the table of sections.
struct SectionEntry {
    name: Box<[u8]>,
    address: u64,
    /// Bytes in memory, and in the file if it is not compressed.
    len: u64,
    /// `None` if it has no bytes in the file, or is compressed.
    offset: Option<u64>,
}

/// Why a file is no usable ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElfError {
    /// The file cannot be opened or read; the code of errno if the system has one.
    Io {
        /// As std classifies it.
        kind: io::ErrorKind,
        /// The code of errno.
        errno: Option<i32>,
    },
    /// The path names a folder, device, pipe or socket.
    NotAFile,
    /// The bytes are no ELF file, or damaged; what the parser expected.
    Malformed(String),
}

impl From<io::Error> for ElfError {
    fn from(error: io::Error) -> Self {
        Self::Io { kind: error.kind(), errno: error.raw_os_error() }
    }
}

/// Not a `From`, so that the version of `object` is no part of the public items.
fn malformed(error: object::Error) -> ElfError {
    ElfError::Malformed(error.to_string())
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

impl ObjectFile {
    /// Opens an ELF file and reads its headers.
    ///
    /// # Errors
    ///
    /// [`ElfError`]. A device or a pipe is not opened.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ElfError> {
        let path = path.into();
        if !path.metadata()?.is_file() {
            return Err(ElfError::NotAFile);
        }
        let file = File::open(&path)?;
        // Another one may have taken the path meanwhile.
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(ElfError::NotAFile);
        }
        let identity = Identity::from(&metadata);
        Self::parse(path, Bytes::File { file, identity })
    }

    /// Reads the headers of an ELF file in memory, such as `[vdso]`. `name` is its [`path`](Self::path).
    ///
    /// # Errors
    ///
    /// [`ElfError::Malformed`].
    pub fn from_memory(name: impl Into<PathBuf>, bytes: Arc<[u8]>) -> Result<Self, ElfError> {
        Self::parse(name.into(), Bytes::Memory(bytes))
    }

    fn parse(path: PathBuf, bytes: Bytes) -> Result<Self, ElfError> {
        let headers = {
            let cache = ReadCache::new(At { bytes: &bytes, at: 0 });
            let source = Source { cache, rest: Cell::new(MAX_HEADERS) };
            match FileKind::parse(&source).map_err(malformed)? {
                FileKind::Elf32 => Headers::read::<FileHeader32<Endianness>>(&source).map_err(malformed)?,
                FileKind::Elf64 => Headers::read::<FileHeader64<Endianness>>(&source).map_err(malformed)?,
                other => return Err(ElfError::Malformed(format!("found {other:?}"))),
            }
        };
        let Headers { machine, build_id, debug_link, segments, sections, symbols_len } = headers;
        let (segments, sections) = (segments.into(), sections.into());
        Ok(Self { path, bytes, machine, build_id, debug_link, segments, sections, symbols_len })
    }

    /// Closes the file. Its headers stay, so that addresses are found, but its sections cannot be read.
    #[cfg(any(feature = "names", feature = "unwind"))]
    pub(crate) fn closed(self) -> Self {
        let bytes = match self.bytes {
            Bytes::File { identity, .. } => Bytes::Closed(identity),
            bytes => bytes,
        };
        Self { bytes, ..self }
    }

    /// Returns the path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the build id, which most linkers write: the note `NT_GNU_BUILD_ID`.
    pub fn build_id(&self) -> Option<BuildId> {
        self.build_id
    }

    /// Returns the machine that the code is for: `e_machine`, 62 for x86-64, 183 for arm64.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    pub(super) fn debug_link(&self) -> Option<&DebugLink> {
        self.debug_link.as_ref()
    }

    /// `None` for memory.
    pub(super) fn identity(&self) -> Option<Identity> {
        match &self.bytes {
            Bytes::File { identity, .. } | Bytes::Closed(identity) => Some(*identity),
            Bytes::Memory(_) => None,
        }
    }

    /// Returns whether the contents are in memory, and have no path.
    pub fn is_memory(&self) -> bool {
        matches!(self.bytes, Bytes::Memory(_))
    }

    /// Returns whether the path still leads to this file, and the file was not written since it was opened. For who
    /// reads the path again.
    pub fn is_unchanged(&self) -> bool {
        self.identity() == self.path.metadata().ok().map(|metadata| Identity::from(&metadata))
    }

    /// Returns whether the code is in the file: not so for files that hold debug information only. A kernel module has it in
    /// a section, because it has no segments.
    pub fn has_code(&self) -> bool {
        let has_segment = self.segments.iter().any(|segment| segment.is_executable && segment.file_len > 0);
        let has_section = || self.section_entry(".text").is_some_and(|text| text.offset.is_some());
        has_segment || self.segments.is_empty() && has_section()
    }

    /// Returns the address in the file's symbol table of an address in a mapping of this file, or of the file that this
    /// one has the debug information of.
    ///
    /// `None` if nothing of the file is loaded there: the padding of a page, or the mapping is of another file.
    pub fn address_of(&self, mapping: &Mapping, addr: u64) -> Option<u64> {
        let offset = mapping.offset_of(addr);
        if let Some(segment) = self.segment_at(offset) {
            return Some((offset - segment.offset).wrapping_add(segment.address));
        }
        if self.has_code() {
            return None;
        }
        // The linker's offsets are lost with the code. A mapping that is as long as the only executable segment begins
        // with it.
        let mut executable = self.segments.iter().filter(|segment| segment.is_executable);
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

    /// Returns the address at which a mapping puts the address 0 of the file's symbol table: what is added to its
    /// addresses. `None` if no part of the file is loaded by the mapping.
    pub fn base_of(&self, mapping: &Mapping) -> Option<u64> {
        let range = mapping.offset_of(mapping.start())..mapping.offset_of(mapping.end());
        // A mapping is whole pages, so that it has the end of the segment before, too: that with the most bytes counts.
        let overlap = |segment: &Segment| {
            let end = range.end.min(segment.offset.saturating_add(segment.file_len));
            end.saturating_sub(range.start.max(segment.offset))
        };
        let candidates = self.segments.iter().filter(|segment| overlap(segment) > 0);
        let most = candidates
            .max_by_key(|segment| (segment.is_executable == mapping.is_executable(), overlap(segment)))?;
        Some(mapping.start().wrapping_sub(range.start).wrapping_add(most.offset).wrapping_sub(most.address))
    }

    /// Returns the segment whose bytes are at an offset in the file; executable ones first.
    fn segment_at(&self, offset: u64) -> Option<&Segment> {
        let has =
            |segment: &&Segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.file_len);
        let mut found = self.segments.iter().filter(has);
        found.clone().find(|segment| segment.is_executable).or_else(|| found.next())
    }

    /// Reads a section: its addresses in the file's symbol table, and its bytes.
    ///
    /// `None` if the file has no such section, or none with bytes that are not compressed.
    ///
    /// # Errors
    ///
    /// [`ElfError`] if it cannot be read or has more than 1 GiB.
    pub fn section(&self, name: &str) -> Result<Option<SectionBytes>, ElfError> {
        self.section_entry(name).map_or(Ok(None), |section| self.read_section(section))
    }

    #[cfg(test)]
    pub(super) fn last_section(&self) -> Result<Option<SectionBytes>, ElfError> {
        self.sections.last().map_or(Ok(None), |section| self.read_section(section))
    }

    fn read_section(&self, section: &SectionEntry) -> Result<Option<SectionBytes>, ElfError> {
        let Some(offset) = self.checked_offset(section)? else { return Ok(None) };
        let mut bytes = vec![0; section.len as usize];
        self.bytes.read_exact_at(&mut bytes, offset)?;
        Ok(Some(SectionBytes { addresses: section.addresses(), bytes: bytes.into() }))
    }

    /// Returns the offset of a section whose bytes can be read; `None` if it has none.
    fn checked_offset(&self, section: &SectionEntry) -> Result<Option<u64>, ElfError> {
        let Some(offset) = section.offset else { return Ok(None) };
        if section.len > MAX_SECTION || offset.saturating_add(section.len) > self.bytes.len()? {
            let name = String::from_utf8_lossy(&section.name);
            let problem =
                format!("section {name} of {} bytes at {offset}, beyond the end or 1 GiB", section.len);
            return Err(ElfError::Malformed(problem));
        }
        Ok(Some(offset))
    }

    /// Reads a section in pieces of this number of bytes, the last one of fewer. `None` if the file has no such section.
    #[cfg(feature = "names")]
    pub(crate) fn read_pieces(
        &self,
        name: &str,
        len: usize,
        mut piece: impl FnMut(&[u8]),
    ) -> Result<Option<()>, ElfError> {
        let Some(section) = self.section_entry(name) else { return Ok(None) };
        let Some(offset) = self.checked_offset(section)? else { return Ok(None) };
        let mut buffer = vec![0; len];
        let mut at = 0;
        while at < section.len {
            let count = usize::try_from(section.len - at).map_or(len, |rest| rest.min(len));
            let Some(bytes) = buffer.get_mut(..count) else { break };
            self.bytes.read_exact_at(bytes, offset + at)?;
            piece(bytes);
            at += count as u64;
        }
        Ok(Some(()))
    }

    /// Returns whether two addresses of the file's symbol table are in one section, or in none.
    #[cfg(feature = "names")]
    pub(crate) fn is_in_one_section(&self, first: u64, second: u64) -> bool {
        let loaded = self.sections.iter().filter(|section| section.address != 0).map(SectionEntry::addresses);
        loaded.into_iter().all(|range| range.contains(&first) == range.contains(&second))
    }

    /// Returns the bytes of the symbol tables and of the compressed sections after decompression, according to the headers:
    /// about what a reader of symbols allocates. `None` if the headers of sections are damaged.
    pub fn symbols_len(&self) -> Option<u64> {
        self.symbols_len
    }

    /// Returns about how many bytes a reader of symbols keeps of the file: the sections that it maps, with debug information if
    /// `has_debug`, and what it allocates.
    #[cfg(feature = "names")]
    pub(crate) fn symbol_bytes(&self, has_debug: bool) -> u64 {
        let is_read = |section: &&SectionEntry| match &*section.name {
            b".symtab" | b".strtab" | b".dynsym" | b".dynstr" => true,
            name => has_debug && name.starts_with(b".debug_"),
        };
        let in_file = self.sections.iter().filter(|section| section.offset.is_some()).filter(is_read);
        in_file.fold(self.symbols_len.unwrap_or(0), |sum, section| sum.saturating_add(section.len))
    }

    /// Returns the bytes of the headers, which a closed file keeps.
    #[cfg(feature = "names")]
    pub(crate) fn header_bytes(&self) -> usize {
        let names: usize = self.sections.iter().map(|section| section.name.len()).sum();
        size_of::<Self>() + size_of_val(&*self.segments) + size_of_val(&*self.sections) + names
    }

    /// Returns the first address and the name of the function in the section `.dynsym` that an address is in.
    #[cfg(feature = "names")]
    pub(crate) fn exported_function(&self, address: u64) -> Option<(u64, Vec<u8>)> {
        let symbols = self.section(".dynsym").ok()??.bytes;
        let names = self.section(".dynstr").ok()??.bytes;
        let number =
            |bytes: &[u8], at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
        // 64-bit symbols of this machine: name, type, other, section, address, size.
        symbols.chunks_exact(24).find_map(|symbol| {
            let (start, size) = (number(symbol, 8)?, number(symbol, 16)?);
            let name = u32::from_ne_bytes(*symbol.first_chunk()?) as usize;
            let name = names.get(name..)?.split(|&byte| byte == 0).next()?;
            let is_inside = start != 0 && (start..start.saturating_add(size)).contains(&address);
            is_inside.then(|| (start, name.to_owned()))
        })
    }

    /// Returns whether its numbers are of 64 bits in the byte order of this machine.
    #[cfg(feature = "names")]
    pub(crate) fn has_native_layout(&self) -> bool {
        let mut ident = [0; 6];
        let order = if cfg!(target_endian = "little") { 1 } else { 2 };
        self.bytes.read_exact_at(&mut ident, 0).is_ok() && ident == [0x7f, b'E', b'L', b'F', 2, order]
    }

    /// Returns the text at an offset in a section of strings, without its NUL.
    #[cfg(feature = "names")]
    pub(crate) fn string_at(&self, section: &str, offset: u64) -> Option<Vec<u8>> {
        let section = self.section_entry(section)?;
        let mut rest = section.len.checked_sub(offset)?;
        let mut at = section.offset?.checked_add(offset)?;
        let mut text = Vec::new();
        // Most names are short.
        while rest > 0 {
            let mut piece = [0; 128];
            let piece = piece.get_mut(..rest.min(128) as usize)?;
            self.bytes.read_exact_at(piece, at).ok()?;
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

    /// Returns the addresses of a section in the file's symbol table, without reading it.
    pub fn section_addresses(&self, name: &str) -> Option<Range<u64>> {
        self.section_entry(name).map(SectionEntry::addresses)
    }

    fn section_entry(&self, name: &str) -> Option<&SectionEntry> {
        self.sections.iter().find(|section| *section.name == *name.as_bytes())
    }

    /// Returns the number of bytes of the file now.
    ///
    /// # Errors
    ///
    /// The error of fstat(2).
    pub fn size(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    /// Returns a reader of the bytes of the file, from the start on, for who copies it. It is read by offset, so several
    /// readers do not disturb each other.
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
        Reader { bytes: &self.bytes, at: 0 }
    }

    /// Reads the whole file in pieces.
    pub(super) fn read_all(&self, mut piece: impl FnMut(&[u8])) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        // Up to its length now: a file that grows ends.
        let mut reader = self.reader().take(self.size()?);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(()),
                count => piece(buffer.get(..count).unwrap_or_default()),
            }
        }
    }
}

/// A position in the contents: see [`ObjectFile::reader`].
struct Reader<'a> {
    bytes: &'a Bytes,
    at: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns the build id of the kernel that runs, from `/sys/kernel/notes`: a recording with the same one is of the same
/// kernel, of this boot or another. `None` if the file cannot be read or has no build id.
pub fn kernel_build_id() -> Option<BuildId> {
    let bytes = std::fs::read("/sys/kernel/notes").ok()?;
    let endian = if cfg!(target_endian = "little") { Endianness::Little } else { Endianness::Big };
    in_notes(NoteIterator::<FileHeader64<Endianness>>::new(endian, 4, &bytes).ok()?, endian)
}

/// Returns the build id among notes, up to a damaged one.
fn in_notes<Elf>(mut notes: NoteIterator<'_, Elf>, endian: Endianness) -> Option<BuildId>
where
    Elf: FileHeader<Endian = Endianness>,
{
    while let Ok(Some(note)) = notes.next() {
        if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == NT_GNU_BUILD_ID {
            return BuildId::new(note.desc());
        }
    }
    None
}

impl fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectFile")
            .field("path", &self.path)
            .field("build_id", &self.build_id)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

fn closed() -> io::Error {
    io::Error::other("the file was closed")
}

impl SectionEntry {
    fn addresses(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.len)
    }
}

impl Bytes {
    fn len(&self) -> io::Result<u64> {
        match self {
            Self::File { file, .. } => Ok(file.metadata()?.len()),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads up to as many bytes as there are; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => file.read_at(buffer, at),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => {
                let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
                let count = rest.len().min(buffer.len());
                if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
                    to.copy_from_slice(from);
                }
                Ok(count)
            }
        }
    }

    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.read_exact_at(buffer, at),
            Self::Closed(_) => Err(closed()),
            Self::Memory(bytes) => {
                let start = usize::try_from(at).ok();
                let range = start.and_then(|start| bytes.get(start..start.checked_add(buffer.len())?));
                buffer.copy_from_slice(range.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// The part of the headers that [`ObjectFile`] keeps.
struct Headers {
    machine: u16,
    build_id: Option<BuildId>,
    debug_link: Option<DebugLink>,
    segments: Vec<Segment>,
    sections: Vec<SectionEntry>,
    /// See [`ObjectFile::symbols_len`].
    symbols_len: Option<u64>,
}

impl Headers {
    fn read<Elf>(source: &Source<'_>) -> object::Result<Self>
    where
        Elf: FileHeader<Endian = Endianness>,
    {
        let header = Elf::parse(source)?;
        let endian = header.endian()?;
        let mut build_id = None;
        let mut segments = Vec::new();
        for segment in header.program_headers(endian, source)? {
            match segment.p_type(endian) {
                PT_LOAD => segments.push(Segment {
                    address: segment.p_vaddr(endian).into(),
                    offset: segment.p_offset(endian).into(),
                    file_len: segment.p_filesz(endian).into(),
                    len: segment.p_memsz(endian).into(),
                    is_executable: segment.p_flags(endian).0 & elf::PF_X.0 != 0,
                }),
                // Damaged notes are like none: the file may still be the right one by its inode.
                PT_NOTE if build_id.is_none() => {
                    build_id = segment
                        .notes(endian, source)
                        .ok()
                        .flatten()
                        .and_then(|notes| in_notes(notes, endian));
                }
                _ => {}
            }
        }
        // A program without section headers has all that is needed to be found.
        let table = header.sections(endian, source);
        let mut symbols_len = table.as_ref().ok().map(|_| 0_u64);
        let table = table.unwrap_or_default();
        let debug_link = debug_link(&table, endian, source);
        let mut sections = Vec::new();
        for section in table.iter() {
            // Kernel modules have no segments before they are loaded.
            if segments.is_empty() && build_id.is_none() && section.sh_type(endian) == elf::SHT_NOTE {
                build_id =
                    section.notes(endian, source).ok().flatten().and_then(|notes| in_notes(notes, endian));
            }
            let len = match (section.sh_type(endian), section.compression(endian, source)) {
                (_, Ok(Some((compression, ..)))) => Some(compression.ch_size(endian).into()),
                (elf::SHT_SYMTAB | elf::SHT_DYNSYM, Ok(None)) => Some(section.sh_size(endian).into()),
                (_, Ok(None)) => Some(0),
                (_, Err(_)) => None,
            };
            symbols_len = symbols_len.zip(len).map(|(sum, len)| sum.saturating_add(len));
            let is_compressed = section.sh_flags(endian).0 & elf::SHF_COMPRESSED.0 != 0;
            sections.push(SectionEntry {
                name: table.section_name(endian, section).unwrap_or_default().into(),
                address: section.sh_addr(endian).into(),
                len: section.sh_size(endian).into(),
                offset: section.file_range(endian).map(|(offset, _)| offset).filter(|_| !is_compressed),
            });
        }
        let machine = header.e_machine(endian).0;
        Ok(Self { machine, build_id, debug_link, segments, sections, symbols_len })
    }
}

fn debug_link<'a, Elf>(
    table: &SectionTable<'a, Elf, &'a Source<'_>>,
    endian: Endianness,
    source: &'a Source<'_>,
) -> Option<DebugLink>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let (_, section) = table.section_by_name(endian, b".gnu_debuglink")?;
    let data = section.data(endian, source).ok()?;
    let len = data.iter().position(|&byte| byte == 0)?;
    let name = data.get(..len)?;
    let crc = data.get((len + 1).next_multiple_of(4)..)?.first_chunk::<4>()?;
    let crc = if endian == Endianness::Little { u32::from_le_bytes(*crc) } else { u32::from_be_bytes(*crc) };
    // A name with a folder would leave the folders that are searched.
    (!name.is_empty() && !name.contains(&b'/')).then(|| DebugLink { name: name.into(), crc })
}

/// The contents as `object` reads them, up to a number of bytes in all.
struct Source<'a> {
    cache: ReadCache<At<'a>>,
    rest: Cell<u64>,
}

impl Source<'_> {
    fn take(&self, len: u64) -> Result<(), ()> {
        self.rest.set(self.rest.get().checked_sub(len).ok_or(())?);
        Ok(())
    }
}

impl<'a> ReadRef<'a> for &'a Source<'_> {
    fn len(self) -> Result<u64, ()> {
        (&self.cache).len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.take(size)?;
        (&self.cache).read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let found = (&self.cache).read_bytes_at_until(range, delimiter)?;
        self.take(found.len() as u64)?;
        Ok(found)
    }
}

/// A position in the contents, without the position that all users of a file share.
struct At<'a> {
    bytes: &'a Bytes,
    at: u64,
}

impl ReadCacheOps for At<'_> {
    fn len(&mut self) -> Result<u64, ()> {
        self.bytes.len().map_err(drop)
    }

    fn seek(&mut self, pos: u64) -> Result<u64, ()> {
        self.at = pos;
        Ok(pos)
    }

    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ()> {
        let rest = self.bytes.len().map_err(drop)?.saturating_sub(self.at);
        let count = buf.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        self.read_exact(buf.get_mut(..count).ok_or(())?)?;
        Ok(count)
    }

    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), ()> {
        self.bytes.read_exact_at(buf, self.at).map_err(drop)?;
        self.at += buf.len() as u64;
        Ok(())
    }
}
