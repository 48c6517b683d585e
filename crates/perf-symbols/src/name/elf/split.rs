//! Split debug information: `.dwo` files and packages of them, `.dwp`.

use std::sync::Arc;

use addr2line::SplitDwarfLoad;
use gimli::{DwarfPackage, DwoId, EndianReader, Reader, SectionId, UnitType};

use super::dwarf::{Bytes, endian_of, read_sections};
use super::limits::{LongestStrings, restrict};
use crate::file::{FileFinder, FoundFile, ObjectFile};

pub(super) struct SplitFiles {
    finder: FileFinder,
    found: Arc<FoundFile>,
    package: Option<(DwarfPackage<Bytes>, LongestStrings)>,
    max_bytes: u64,
}

impl SplitFiles {
    /// Opens the package (`.dwp`) of the file with the debug information or of the program, if
    /// there is one.
    pub(super) fn new(finder: &FileFinder, found: Arc<FoundFile>, max_bytes: u64) -> Self {
        let package = [found.symbol_file(), found.object()].into_iter().find_map(ObjectFile::package);
        let package = package.filter(|package| bytes_of(package) <= max_bytes);
        let package = package.and_then(|package| {
            let endian = endian_of(&package);
            let read = |id: SectionId| {
                let bytes = id.dwo_name().map(|name| package.section_bytes(name, max_bytes)).transpose();
                let bytes = bytes.ok().flatten().unwrap_or_default();
                Ok::<_, gimli::Error>(EndianReader::new(bytes.into(), endian))
            };
            let package = DwarfPackage::load(read, EndianReader::new(Arc::from([]), endian)).ok()?;
            let longest = LongestStrings::of_package(&package);
            Some((package, longest))
        });
        Self { finder: finder.clone(), found, package, max_bytes }
    }

    /// Returns the split part of one compilation unit, if it is found.
    pub(super) fn load(&self, wanted: &SplitDwarfLoad<Bytes>) -> Option<Arc<gimli::Dwarf<Bytes>>> {
        let from_package = || {
            let (package, longest) = self.package.as_ref()?;
            let mut part = package.find_cu(wanted.dwo_id, &wanted.parent).ok()??;
            restrict(&mut part, *longest, endian_of(self.found.symbol_file())).is_none().then_some(part)
        };
        from_package().or_else(|| self.load_file(wanted)).map(Arc::new)
    }

    fn load_file(&self, wanted: &SplitDwarfLoad<Bytes>) -> Option<gimli::Dwarf<Bytes>> {
        let folder = wanted.comp_dir.as_ref().and_then(|folder| folder.to_slice().ok()).unwrap_or_default();
        let name = wanted.path.as_ref()?.to_slice().ok()?;
        let candidates = self.finder.split_files(self.found.object(), &folder, &name);
        candidates.filter(|file| bytes_of(file) <= self.max_bytes).find_map(|file| {
            let sections =
                read_sections(&file, |id| id.dwo_name().unwrap_or_default(), self.max_bytes).ok()?;
            let endian = endian_of(&file);
            let mut part = sections.borrow(|bytes| EndianReader::new(bytes.clone(), endian));
            part.make_dwo(&wanted.parent);
            let longest = LongestStrings::new(&part);
            let is_usable = has_id(&part, wanted.dwo_id) && restrict(&mut part, longest, endian).is_none();
            is_usable.then_some(part)
        })
    }
}

/// Returns the total size in bytes of the `.dwo` sections of a file.
fn bytes_of(file: &ObjectFile) -> u64 {
    file.bytes_of(|name| name.starts_with(b".debug_") && name.ends_with(b".dwo"))
}

/// Returns true if the first unit, the only one that the library uses, has the expected id.
fn has_id(part: &gimli::Dwarf<Bytes>, id: DwoId) -> bool {
    let Ok(Some(header)) = part.units().next() else { return false };
    match header.type_() {
        UnitType::SplitCompilation(found) => found == id,
        // Before DWARF 5, the id is an attribute.
        _ => part.unit(header).is_ok_and(|unit| unit.dwo_id == Some(id)),
    }
}
