//! Checks debug information before the library reads it, so that what the library does with it is linear in its size.
//!
//! The library descends into nested functions by recursion, and copies what units and functions refer to: the table of
//! abbreviations, the list of files and the lines of a unit, and the list of ranges of a function. Files that compilers write refer
//! to each once or a few times. A made-up one of 1 MB could refer to a list of 500 KB from 100 000 places. Units that do are
//! left out, and so is one whose head is damaged, because the library gives up all units then.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, DebugInfo, DwarfPackage, EndianReader, Reader, RunTimeEndian,
    Section, UnitHeader, UnitRef, UnitType,
};

use super::dwarf::Bytes;
use super::no_lines::NoLines;

type Header = UnitHeader<Bytes>;

/// Levels of entries in each other. Compilers write below 100, with all inlined functions. The library takes some hundred bytes of
/// the stack for each.
const MAX_DEPTH: isize = 512;
/// How often a byte may be referred to, on average.
const MAX_USES: u64 = 16;
/// Bytes of the paths of files for a byte of `.debug_line`: an entry has some 6 bytes, and a path some hundred.
const MAX_PATHS: u64 = 64;
/// Bytes that small files may use in addition.
const SLACK: u64 = 4 << 20;
/// Bytes of one string, which is looked through for each reference to it.
const MAX_STRING: u64 = 1 << 20;

/// Leaves out what costs more than its bytes. Returns the reason if there is something.
pub(super) fn restrict(
    dwarf: &mut gimli::Dwarf<Bytes>,
    longest: LongestStrings,
    endian: RunTimeEndian,
) -> Option<NoLines> {
    let (headers, end) = headers(dwarf);
    let mut problem = end.map(|_| NoLines::Damaged);
    if !are_aranges_whole(dwarf) {
        // The ranges of units are also in the units themselves, or in their lines.
        dwarf.debug_aranges = EndianReader::new(Arc::from([]), endian).into();
    }
    let mut limits = Limits::new(dwarf, longest);
    // The library reads the tables of abbreviations of all units at once, so that those are checked first.
    let (read, hidden): (Vec<_>, Vec<_>) =
        headers.into_iter().partition(|header| limits.abbreviations(dwarf, header).is_ok());
    if !hidden.is_empty() || end.is_some() {
        problem = problem.or(Some(NoLines::Excessive));
        hide(dwarf, &hidden, end, endian);
    }
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    let mut hidden = Vec::new();
    for header in read {
        if let Err(reason) = limits.unit(dwarf, &header) {
            problem = problem.or(Some(reason));
            hidden.push(header);
        }
    }
    if !hidden.is_empty() {
        hide(dwarf, &hidden, None, endian);
    }
    problem
}

/// Returns the headers of the units, and the offset of a damaged one, after which no unit is known.
fn headers(dwarf: &gimli::Dwarf<Bytes>) -> (Vec<Header>, Option<usize>) {
    let (mut headers, mut units, mut end) = (Vec::new(), dwarf.units(), 0_usize);
    loop {
        match units.next() {
            Ok(Some(header)) => {
                end = end.saturating_add(header.length_including_self());
                headers.push(header);
            }
            Ok(None) => return (headers, None),
            Err(_) => return (headers, Some(end)),
        }
    }
}

fn are_aranges_whole(dwarf: &gimli::Dwarf<Bytes>) -> bool {
    let mut headers = dwarf.debug_aranges.headers();
    loop {
        match headers.next() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Hides units from the library, which leaves out those without a table of abbreviations, and cuts the section at `end`.
fn hide(dwarf: &mut gimli::Dwarf<Bytes>, units: &[Header], end: Option<usize>, endian: RunTimeEndian) {
    let mut info = dwarf.debug_info.reader().to_slice().unwrap_or_default().into_owned();
    info.truncate(end.unwrap_or(info.len()));
    for unit in units {
        // Length (with 64 bits, an escape before it), version, and before version 5 the offset of the table; else the type of
        // the unit and the size of addresses between.
        let word = usize::from(unit.format().word_size());
        let length = if word == 8 { 12 } else { 4 };
        let at = length + if unit.version() < 5 { 2 } else { 4 };
        let start = unit.debug_info_offset().map_or(0, |offset| offset.0).saturating_add(at);
        if let Some(offset) = info.get_mut(start..start.saturating_add(word)) {
            offset.fill(0xff);
        }
    }
    dwarf.debug_info = DebugInfo::from(EndianReader::new(info.into(), endian));
}

/// The bytes of each kind that may still be used.
struct Limits {
    abbreviations: u64,
    lines: u64,
    paths: u64,
    ranges: u64,
    /// Tables of abbreviations that were counted, by offset.
    tables: HashMap<usize, Result<(), NoLines>>,
    /// Bytes of the longest string, by section.
    longest: LongestStrings,
}

/// Bytes of the longest string in sections of strings.
#[derive(Clone, Copy)]
pub(super) struct LongestStrings {
    str: u64,
    line_str: u64,
}

impl LongestStrings {
    pub(super) fn new(dwarf: &gimli::Dwarf<Bytes>) -> Self {
        Self {
            str: longest_string(dwarf.debug_str.reader()),
            line_str: longest_string(dwarf.debug_line_str.reader()),
        }
    }

    pub(super) fn of_package(package: &DwarfPackage<Bytes>) -> Self {
        Self { str: longest_string(package.debug_str.reader()), line_str: 0 }
    }
}

impl Limits {
    fn new(dwarf: &gimli::Dwarf<Bytes>, longest: LongestStrings) -> Self {
        let uses = |len: usize| (len as u64).saturating_mul(MAX_USES).saturating_add(SLACK);
        let lines = dwarf.debug_line.reader().len();
        let ranges =
            dwarf.ranges.debug_ranges().reader().len() + dwarf.ranges.debug_rnglists().reader().len();
        Self {
            abbreviations: uses(dwarf.debug_abbrev.reader().len()),
            lines: uses(lines),
            paths: (lines as u64).saturating_mul(MAX_PATHS).saturating_add(SLACK),
            ranges: uses(ranges),
            tables: HashMap::new(),
            longest,
        }
    }

    /// Counts the table of abbreviations of a unit, which is read once for each offset.
    fn abbreviations(&mut self, dwarf: &gimli::Dwarf<Bytes>, header: &Header) -> Result<(), NoLines> {
        let offset = header.debug_abbrev_offset().0;
        if let Some(known) = self.tables.get(&offset) {
            return *known;
        }
        let left = usize::try_from(self.abbreviations).unwrap_or(usize::MAX);
        // A damaged table is left out by the library, too.
        let len = table_len(dwarf.debug_abbrev.reader(), offset, left).unwrap_or(0);
        let result = spend(&mut self.abbreviations, len as u64);
        self.tables.insert(offset, result);
        result
    }

    /// Counts what a unit refers to.
    fn unit(&mut self, dwarf: &gimli::Dwarf<Bytes>, header: &Header) -> Result<(), NoLines> {
        if self.longest.str.max(self.longest.line_str) > MAX_STRING {
            return Err(NoLines::Excessive);
        }
        if matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
            return Ok(());
        }
        // The library leaves it out.
        let Ok(unit) = dwarf.unit(header.clone()) else { return Ok(()) };
        let unit = unit.unit_ref(dwarf);
        self.files(&unit)?;
        // The library needs the head of the unit, with its ranges, or has none of the file.
        self.ranges_of_head(&unit).map_err(|_| NoLines::Damaged)??;
        // After damage it knows no function of this unit, which is an error of their addresses.
        self.functions(&unit).unwrap_or(Ok(()))
    }

    /// Counts the list of files, of which each path is made, and the lines.
    fn files(&mut self, unit: &UnitRef<'_, Bytes>) -> Result<(), NoLines> {
        let Some(program) = &unit.line_program else { return Ok(()) };
        let header = program.header();
        spend(&mut self.lines, header.unit_length() as u64)?;
        let mut folder = 0;
        for name in header.include_directories() {
            let len = unit.attr_string(name.clone()).map_or(0, |text| text.len() as u64);
            folder = folder.max(len);
            // It is looked through for its end.
            spend(&mut self.paths, len)?;
        }
        // All names of a unit are in the same section.
        let name = header.file_names().first().map_or(0, |file| match file.path_name() {
            AttributeValue::DebugStrRef(_) | AttributeValue::DebugStrOffsetsIndex(_) => self.longest.str,
            AttributeValue::DebugLineStrRef(_) => self.longest.line_str,
            // Within the list itself.
            _ => 0,
        });
        let start = unit.comp_dir.as_ref().map_or(0, |folder| folder.len() as u64);
        let paths = (header.file_names().len() as u64).saturating_mul(start + folder + name);
        spend(&mut self.paths, paths)
    }

    /// Counts the ranges of a unit. The outer error is one that the library has for all units.
    fn ranges_of_head(&mut self, unit: &UnitRef<'_, Bytes>) -> gimli::Result<Result<(), NoLines>> {
        let mut entries = unit.entries_raw(None)?;
        let Some(head) = entries.read_abbreviation()? else { return Ok(Ok(())) };
        let mut counted = Ok(());
        for attribute in head.attributes() {
            let attribute = entries.read_attribute(*attribute)?;
            match (attribute.name(), attribute.value()) {
                (gimli::DW_AT_low_pc | gimli::DW_AT_high_pc, AttributeValue::DebugAddrIndex(index)) => {
                    unit.address(index)?;
                }
                (gimli::DW_AT_ranges, value) => {
                    counted = counted.and(self.ranges(unit, value.clone())?);
                    if let (Ok(()), Some(offset)) = (counted, unit.attr_ranges_offset(value)?) {
                        let mut ranges = unit.ranges(offset)?;
                        while ranges.next()?.is_some() {}
                    }
                }
                _ => {}
            }
        }
        Ok(counted)
    }

    /// Counts the levels and the ranges of functions. The outer error is damage.
    fn functions(&mut self, unit: &UnitRef<'_, Bytes>) -> gimli::Result<Result<(), NoLines>> {
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            if entries.next_depth() > MAX_DEPTH {
                return Ok(Err(NoLines::Excessive));
            }
            let Some(entry) = entries.read_abbreviation()? else { continue };
            let is_function =
                matches!(entry.tag(), gimli::DW_TAG_subprogram | gimli::DW_TAG_inlined_subroutine);
            let has_ranges = || entry.attributes().iter().any(|spec| spec.name() == gimli::DW_AT_ranges);
            if !is_function || !has_ranges() {
                entries.skip_attributes(entry.attributes())?;
                continue;
            }
            for attribute in entry.attributes() {
                let attribute = entries.read_attribute(*attribute)?;
                if attribute.name() == gimli::DW_AT_ranges {
                    let counted = self.ranges(unit, attribute.value())?;
                    if counted.is_err() {
                        return Ok(counted);
                    }
                }
            }
        }
        Ok(Ok(()))
    }

    /// Counts the entries of a list of ranges.
    fn ranges(
        &mut self,
        unit: &UnitRef<'_, Bytes>,
        value: AttributeValue<Bytes>,
    ) -> gimli::Result<Result<(), NoLines>> {
        let Some(offset) = unit.attr_ranges_offset(value)? else { return Ok(Ok(())) };
        let mut entries = unit.raw_ranges(offset)?;
        while entries.next()?.is_some() {
            // An entry has at least two bytes.
            if let Err(reason) = spend(&mut self.ranges, 2) {
                return Ok(Err(reason));
            }
        }
        Ok(Ok(()))
    }
}

/// Takes an amount from what is left, all of it if that is less.
fn spend(left: &mut u64, amount: u64) -> Result<(), NoLines> {
    let rest = left.checked_sub(amount);
    *left = rest.unwrap_or(0);
    rest.map(drop).ok_or(NoLines::Excessive)
}

/// Returns the bytes of a table of abbreviations, at most about `limit`.
fn table_len(section: &Bytes, offset: usize, limit: usize) -> gimli::Result<usize> {
    let mut table = section.clone();
    table.skip(offset)?;
    let all = table.len();
    // Code, tag, and whether it has children; then pairs of name and form, up to zeros.
    while table.read_uleb128()? != 0 && all - table.len() <= limit {
        table.read_uleb128()?;
        table.read_u8()?;
        loop {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
            if (name, form) == (0, 0) {
                break;
            }
        }
    }
    Ok(all - table.len())
}

/// Returns the bytes of the longest string of a section.
fn longest_string(section: &Bytes) -> u64 {
    let bytes = section.to_slice().unwrap_or_default();
    let longest = bytes.split(|byte| *byte == 0).map(<[u8]>::len).max();
    longest.unwrap_or(0) as u64
}
