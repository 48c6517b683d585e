//! The headers of an ELF file: segments, sections, notes and links, as parsed by `object`.

use std::cell::Cell;
use std::ops::Range;

use object::elf::{self, FileHeader32, FileHeader64, NT_GNU_BUILD_ID, PT_LOAD, PT_NOTE};
use object::read::elf::{
    CompressionHeader, FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable,
};
use object::{Endianness, FileKind, ReadCache, ReadCacheOps, ReadRef};

use super::content::Content;
use super::elf::ElfError;
use super::section::{Compression, Section};
use crate::BuildId;

/// Maximum number of bytes of headers, notes and section names to read. A program of 1 GB has less
/// than 1 MB.
const MAX_HEADERS: u64 = 16 << 20;
/// Length of the header in a `.zdebug` section: `ZLIB`, and the uncompressed length as a big-endian
/// number of 8 bytes.
const ZDEBUG_HEADER: u64 = 12;

/// The headers that an [`ObjectFile`](super::ObjectFile) keeps, also when it is closed.
#[cfg_attr(
    not(all(feature = "names", feature = "unwind")),
    allow(dead_code, reason = "not each feature needs all of them")
)]
pub(super) struct Headers {
    pub(super) machine: u16,
    /// 0 if the file lacks one.
    pub(super) entry_point: u64,
    pub(super) is_64: bool,
    pub(super) endian: Endianness,
    /// Not linked yet, so that addresses are relative to sections.
    pub(super) is_relocatable: bool,
    pub(super) build_id: Option<BuildId>,
    pub(super) debug_link: Option<DebugLink>,
    pub(super) alt_link: Option<AltLink>,
    pub(super) segments: Box<[Segment]>,
    pub(super) sections: Box<[Section]>,
}

/// A loaded part of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u64,
    pub(super) offset: u64,
    /// Length in the file in bytes; 0 in debug files.
    pub(super) file_len: u64,
    /// Length in memory in bytes.
    pub(super) len: u64,
    pub(super) is_executable: bool,
}

/// The name and the checksum of the debug file, from the section `.gnu_debuglink`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DebugLink {
    /// A file name without folder.
    pub(super) name: Box<[u8]>,
    pub(super) crc: u32,
}

/// The path and the build id of the supplementary file (`dwz -m`), from the section
/// `.gnu_debugaltlink`.
#[cfg_attr(not(feature = "names"), allow(dead_code, reason = "only the reader of symbols needs it"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AltLink {
    /// Relative to the folder of the file, or absolute.
    pub(super) path: Box<[u8]>,
    pub(super) build_id: BuildId,
}

/// Not a `From`, so that the version of `object` stays private.
fn malformed(error: object::Error) -> ElfError {
    ElfError::Malformed(error.to_string())
}

impl Headers {
    pub(super) fn read(content: &Content) -> Result<Self, ElfError> {
        let cache = ReadCache::new(At { content, at: 0 });
        let source = Source { cache, rest: Cell::new(MAX_HEADERS) };
        match FileKind::parse(&source).map_err(malformed)? {
            FileKind::Elf32 => Self::parse::<FileHeader32<Endianness>>(&source).map_err(malformed),
            FileKind::Elf64 => Self::parse::<FileHeader64<Endianness>>(&source).map_err(malformed),
            other => Err(ElfError::Malformed(format!("found {other:?}"))),
        }
    }

    fn parse<Elf>(source: &Source<'_>) -> object::Result<Self>
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
                // Treat damaged notes as missing: the inode may still identify the file.
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
        // Section headers are optional: segments are enough to find the file.
        let table = header.sections(endian, source).unwrap_or_default();
        let mut sections = Vec::new();
        for section in table.iter() {
            // Kernel modules and the files of `perf inject --jit` have note sections but no note
            // segment.
            if build_id.is_none() && section.sh_type(endian) == elf::SHT_NOTE {
                build_id =
                    section.notes(endian, source).ok().flatten().and_then(|notes| in_notes(notes, endian));
            }
            let name = table.section_name(endian, section).unwrap_or_default();
            sections.push(entry::<Elf>(name, section, endian, source));
        }
        Ok(Self {
            machine: header.e_machine(endian).0,
            entry_point: header.e_entry(endian).into(),
            is_64: header.is_type_64(),
            endian,
            is_relocatable: header.e_type(endian) == elf::ET_REL,
            build_id,
            debug_link: debug_link(&table, endian, source),
            alt_link: alt_link(&table, endian, source),
            segments: segments.into(),
            sections: sections.into(),
        })
    }

    pub(super) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| *section.name == *name.as_bytes())
    }
}

/// Converts an entry of the section table.
fn entry<'a, Elf>(
    name: &[u8],
    section: &'a Elf::SectionHeader,
    endian: Endianness,
    source: &'a Source<'_>,
) -> Section
where
    Elf: FileHeader<Endian = Endianness>,
{
    let mut entry = Section {
        name: name.into(),
        address: section.sh_addr(endian).into(),
        len: section.sh_size(endian).into(),
        in_file: section.file_range(endian),
        compression: Compression::None,
    };
    let Some((offset, len)) = entry.in_file else { return entry };
    if section.sh_flags(endian).0 & elf::SHF_COMPRESSED.0 != 0 {
        match section.compression(endian, source) {
            Ok(Some((header, offset, compressed_len))) => {
                entry.compression = match header.ch_type(endian) {
                    elf::ELFCOMPRESS_ZLIB => Compression::Zlib,
                    elf::ELFCOMPRESS_ZSTD => Compression::Zstd,
                    _ => Compression::Unknown,
                };
                entry.len = header.ch_size(endian).into();
                entry.in_file = Some((offset, compressed_len));
            }
            _ => entry.compression = Compression::Unknown,
        }
    } else if let Some(rest) = name.strip_prefix(b".zdebug_") {
        let head = (len > ZDEBUG_HEADER).then(|| source.read_bytes_at(offset, ZDEBUG_HEADER).ok()).flatten();
        let found = head.and_then(|head| head.strip_prefix(b"ZLIB")).and_then(<[u8]>::first_chunk);
        entry.compression = Compression::Unknown;
        if let Some(size) = found {
            entry.compression = Compression::Zlib;
            entry.len = u64::from_be_bytes(*size);
            entry.in_file = Some((offset + ZDEBUG_HEADER, len - ZDEBUG_HEADER));
        }
        // Readers look for the uncompressed name.
        entry.name = [b".debug_", rest].concat().into();
    }
    entry
}

/// Returns the build id among notes. Stops at a damaged note.
pub(super) fn in_notes<Elf>(mut notes: NoteIterator<'_, Elf>, endian: Endianness) -> Option<BuildId>
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
    // A name with a slash could lead outside of the searched folders.
    (!name.is_empty() && !name.contains(&b'/')).then(|| DebugLink { name: name.into(), crc })
}

fn alt_link<'a, Elf>(
    table: &SectionTable<'a, Elf, &'a Source<'_>>,
    endian: Endianness,
    source: &'a Source<'_>,
) -> Option<AltLink>
where
    Elf: FileHeader<Endian = Endianness>,
{
    let (_, section) = table.section_by_name(endian, b".gnu_debugaltlink")?;
    let data = section.data(endian, source).ok()?;
    let len = data.iter().position(|&byte| byte == 0)?;
    let (path, build_id) = (data.get(..len)?, BuildId::new(data.get(len + 1..)?)?);
    (!path.is_empty()).then(|| AltLink { path: path.into(), build_id })
}

/// The contents as `object` reads them, limited in total bytes.
struct Source<'a> {
    cache: ReadCache<At<'a>>,
    /// Number of bytes that may still be read.
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

/// A position in the contents.
struct At<'a> {
    content: &'a Content,
    at: u64,
}

impl ReadCacheOps for At<'_> {
    fn len(&mut self) -> Result<u64, ()> {
        self.content.len().map_err(drop)
    }

    fn seek(&mut self, pos: u64) -> Result<u64, ()> {
        self.at = pos;
        Ok(pos)
    }

    fn read(&mut self, buf: &mut [u8]) -> Result<usize, ()> {
        let rest = self.content.len().map_err(drop)?.saturating_sub(self.at);
        let count = buf.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        self.read_exact(buf.get_mut(..count).ok_or(())?)?;
        Ok(count)
    }

    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), ()> {
        self.content.read_exact_at(buf, self.at).map_err(drop)?;
        self.at += buf.len() as u64;
        Ok(())
    }
}
