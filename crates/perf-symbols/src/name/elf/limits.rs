//! Checks debug information before the library reads it, so that the cost of reading is linear in
//! its size.
//!
//! The library recurses into nested functions, and copies what units and functions refer to:
//! abbreviation tables, the file list and lines of a unit, and the range list of a function.
//! Compilers refer to each of them once or a few times, but a crafted file of 1 MB could refer to a
//! list of 500 KB from 100 000 places. Such units are left out. So is a unit with a damaged header,
//! because the library would give up on all units.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    AbbreviationsCacheStrategy, AttributeValue, DebugInfo, DwarfPackage, EndianReader, Reader, RunTimeEndian,
    Section, UnitHeader, UnitRef, UnitType,
};

use super::dwarf::Bytes;
use super::no_lines::NoLines;

type Header = UnitHeader<Bytes>;

/// Maximum nesting of entries. Compilers stay below 100, including all inlined functions. The
/// library uses some hundred bytes of stack per level.
const MAX_DEPTH: isize = 512;
/// How often a byte may be referred to on average.
const MAX_USES: u64 = 16;
/// Bytes of file paths per byte of `.debug_line`: an entry has some 6 bytes, and a path some
/// hundred.
const MAX_PATHS: u64 = 64;
/// Allowance in bytes on top of the limits, for small files.
const SLACK: u64 = 4 << 20;
/// Maximum length of a string in bytes. The library scans it for each reference.
const MAX_STRING: u64 = 1 << 20;

/// Hides units that cost more than their size allows. Returns the reason if any was hidden.
pub(super) fn restrict(
    dwarf: &mut gimli::Dwarf<Bytes>,
    longest: LongestStrings,
    endian: RunTimeEndian,
) -> Option<NoLines> {
    let (headers, end) = headers(dwarf);
    let mut problem = end.map(|_| NoLines::Damaged);
    if !are_aranges_whole(dwarf) {
        // Safe to drop: the units or their lines have the ranges, too.
        dwarf.debug_aranges = EndianReader::new(Arc::from([]), endian).into();
    }
    let mut limits = Limits::new(dwarf, longest);
    // Checked first because the library reads the abbreviation tables of all units at once.
    let (read, hidden): (Vec<_>, Vec<_>) =
        headers.into_iter().partition(|header| limits.abbreviations(dwarf, header).is_ok());
    if !hidden.is_empty() || end.is_some() {
        problem = problem.or(Some(NoLines::Excessive));
        hide(dwarf, &hidden, end, endian);
    }
    // Read once, for the checks below and for the library, which keeps them all in any case.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::All);
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

/// Returns the headers of the units, and the offset of the first damaged one, which hides all later
/// units.
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

/// Hides units from the library by an invalid abbreviation offset, which makes the library skip
/// them, and truncates the section at `end`.
fn hide(dwarf: &mut gimli::Dwarf<Bytes>, units: &[Header], end: Option<usize>, endian: RunTimeEndian) {
    let mut info = dwarf.debug_info.reader().to_slice().unwrap_or_default().into_owned();
    info.truncate(end.unwrap_or(info.len()));
    for unit in units {
        // Skip the length (64-bit DWARF has an escape before it), the version, and from version 5
        // on the unit type and address size, to reach the abbreviation offset.
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

/// The remaining budget in bytes, by kind.
struct Limits {
    abbreviations: u64,
    lines: u64,
    paths: u64,
    ranges: u64,
    /// Result for each abbreviation table that was counted, by offset.
    tables: HashMap<usize, Result<(), NoLines>>,
    /// Longest string in bytes, by section.
    longest: LongestStrings,
}

/// Length in bytes of the longest string in each string section.
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

    /// Counts the abbreviation table of a unit. The library reads each table once.
    fn abbreviations(&mut self, dwarf: &gimli::Dwarf<Bytes>, header: &Header) -> Result<(), NoLines> {
        let offset = header.debug_abbrev_offset().0;
        if let Some(known) = self.tables.get(&offset) {
            return *known;
        }
        let left = usize::try_from(self.abbreviations).unwrap_or(usize::MAX);
        // The library skips a damaged table itself.
        let len = table_len(dwarf.debug_abbrev.reader(), offset, left).unwrap_or(0);
        let result = spend(&mut self.abbreviations, len as u64);
        self.tables.insert(offset, result);
        result
    }

    /// Counts everything that a unit refers to.
    fn unit(&mut self, dwarf: &gimli::Dwarf<Bytes>, header: &Header) -> Result<(), NoLines> {
        if self.longest.str.max(self.longest.line_str) > MAX_STRING {
            return Err(NoLines::Excessive);
        }
        if matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. }) {
            return Ok(());
        }
        // The library skips a unit that it cannot parse.
        let Ok(unit) = dwarf.unit(header.clone()) else { return Ok(()) };
        let unit = unit.unit_ref(dwarf);
        self.files(&unit)?;
        // The library needs the ranges in the root entry of each unit; without them it fails for
        // the whole file.
        self.ranges_of_head(&unit).map_err(|_| NoLines::Damaged)??;
        // Later damage only affects addresses of this unit, so that the unit can stay.
        self.functions(&unit).unwrap_or(Ok(()))
    }

    /// Counts the lines and the file list. The library builds the path of each file.
    fn files(&mut self, unit: &UnitRef<'_, Bytes>) -> Result<(), NoLines> {
        let Some(program) = &unit.line_program else { return Ok(()) };
        let header = program.header();
        spend(&mut self.lines, header.unit_length() as u64)?;
        let mut folder = 0;
        for name in header.include_directories() {
            let len = unit.attr_string(name.clone()).map_or(0, |text| text.len() as u64);
            folder = folder.max(len);
            // The library scans it for the terminating zero.
            spend(&mut self.paths, len)?;
        }
        // All names of a unit are in the same section, so that the first one is enough.
        let name = header.file_names().first().map_or(0, |file| match file.path_name() {
            AttributeValue::DebugStrRef(_) | AttributeValue::DebugStrOffsetsIndex(_) => self.longest.str,
            AttributeValue::DebugLineStrRef(_) => self.longest.line_str,
            // Stored inline, so that `lines` counts it already.
            _ => 0,
        });
        let start = unit.comp_dir.as_ref().map_or(0, |folder| folder.len() as u64);
        let paths = (header.file_names().len() as u64).saturating_mul(start + folder + name);
        spend(&mut self.paths, paths)
    }

    /// Counts the ranges of a unit. The outer error is an error that the library would return for
    /// all units.
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

    /// Checks the nesting depth and counts the ranges of functions. The outer error is damage.
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

    /// Counts the entries of a range list.
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

/// Subtracts an amount from a budget, which stops at 0.
fn spend(left: &mut u64, amount: u64) -> Result<(), NoLines> {
    let rest = left.checked_sub(amount);
    *left = rest.unwrap_or(0);
    rest.map(drop).ok_or(NoLines::Excessive)
}

/// Returns the length of an abbreviation table in bytes, at most about `limit`.
fn table_len(section: &Bytes, offset: usize, limit: usize) -> gimli::Result<usize> {
    let mut table = section.clone();
    table.skip(offset)?;
    let all = table.len();
    // An entry is a code, a tag and a children flag, then pairs of name and form that end with
    // zeros.
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

/// Returns the length in bytes of the longest string in a section.
fn longest_string(section: &Bytes) -> u64 {
    let bytes = section.to_slice().unwrap_or_default();
    let longest = bytes.split(|byte| *byte == 0).map(<[u8]>::len).max();
    longest.unwrap_or(0) as u64
}
