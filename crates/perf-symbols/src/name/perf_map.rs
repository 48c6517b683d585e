//! Perf maps: the functions that a compiler wrote into memory, as it lists them in
//! `/tmp/perf-PID.map`.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Code;
use super::query::Unnamed;
#[cfg(feature = "unwind")]
use super::runtime::RuntimeFunction;
use crate::file::foreign::{self, LastLink};
use crate::space::ProcessMappings;
use crate::space::map::RangeMap;
use crate::system::System;
use crate::{AddressSpaces, Mapping, ObjectKind};

/// Maximum number of bytes to read. A JVM with 100 000 methods writes about 10 MB.
const MAX_LEN: u64 = 256 << 20;
/// Maximum number of functions. Bounds the memory because a line can be shorter than its entry.
const MAX_FUNCTIONS: usize = 4 << 20;

/// The functions in a perf map, by address.
///
/// The file has one line per function, `START SIZE NAME`, with hexadecimal numbers; the name is the
/// rest of the line. Source: `tools/perf/Documentation/jit-interface.txt` of the kernel.
#[derive(Debug, Default)]
pub struct PerfMap {
    text: Box<[u8]>,
    functions: RangeMap<Function>,
}

/// The name is a range of the text.
type Function = Code<Range<usize>>;

impl PerfMap {
    /// Parses the text. A later function replaces what it overlaps, because its memory was reused.
    /// Malformed lines and an incomplete last line, which a program may still be writing, are
    /// ignored.
    pub fn parse(text: Vec<u8>) -> Self {
        let mut functions = RangeMap::default();
        let mut at = 0;
        while let Some(len) = text.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\n')) {
            let line = text.get(at..at + len).unwrap_or_default();
            if functions.len() > MAX_FUNCTIONS {
                break;
            }
            if let Some(function) = function(line, at) {
                functions.insert(function);
            }
            at += len + 1;
        }
        Self { functions, text: text.into() }
    }

    /// Reads a perf map. Only the first 256 MiB and 4 million functions are used.
    ///
    /// # Errors
    ///
    /// Returns the error of opening or reading the file, which must be a regular file.
    pub fn read(path: &Path) -> io::Result<Self> {
        Self::read_file(foreign::open(path, LastLink::Follow)?.0)
    }

    /// Reads the map of a process on this machine, as [`Symbolizer`](crate::Symbolizer) does;
    /// `None` if the process has none. `spaces` has its mappings.
    ///
    /// # Errors
    ///
    /// Returns the reason if there is a map that cannot be trusted: it is older than the process,
    /// none of its functions is in the code of the process, or it belongs to another user.
    pub fn of_process(spaces: &AddressSpaces, pid: u32) -> Result<Option<Self>, Unnamed> {
        let Some(code) = spaces.process_mappings(pid) else { return Ok(None) };
        Ok(read_if_new(&System::new(), pid, &code, None)?.map(|(_, map)| map))
    }

    fn read_file(file: File) -> io::Result<Self> {
        let mut text = Vec::new();
        // Bounded because the file may grow while it is read.
        file.take(MAX_LEN).read_to_end(&mut text)?;
        Ok(Self::parse(text))
    }

    /// Returns the first address and the name of the function at an address.
    pub fn find(&self, address: u64) -> Option<(u64, &[u8])> {
        let function = self.functions.get(address)?;
        Some((function.first, self.text.get(function.name.clone())?))
    }

    /// Passes each function that no other has overwritten in part.
    #[cfg(feature = "unwind")]
    pub(super) fn for_each(&self, mut each: impl FnMut(RuntimeFunction<'_>)) {
        for function in self.functions.iter().filter(|function| function.start == function.first) {
            let name = self.text.get(function.name.clone()).unwrap_or_default();
            let (start, len) = (function.start, function.end - function.start);
            each(RuntimeFunction { name, start, len, unwinding: None });
        }
    }

    /// Estimates its memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.len() * 2 * size_of::<Function>()
    }

    /// Returns the number of named ranges.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns true if it has no functions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads the perf map of a process on this machine, with its length in bytes. Returns `None` if it
/// is missing or its length is still `known_len`, and the reason if a map cannot be trusted.
///
/// A process in a container writes the map into its own `/tmp`, under the process id in its
/// namespace. If the process has ended, its user is unknown; then the map is used if its functions
/// lie in the code of the process, because nobody else can know those addresses. `code` has the
/// mappings of the process.
pub(super) fn read_if_new(
    system: &System,
    pid: u32,
    code: &ProcessMappings,
    known_len: Option<u64>,
) -> Result<Option<(u64, PerfMap)>, Unnamed> {
    let process = system.process(pid);
    let in_root = foreign::open_in_root(
        &system.of_process(pid, "root"),
        Path::new(&format!("tmp/perf-{}.map", process.own_id.unwrap_or(pid))),
        LastLink::Refuse,
    );
    let here = || foreign::open(Path::new(&format!("/tmp/perf-{pid}.map")), LastLink::Refuse);
    let mut refused = None;
    for (file, metadata) in [in_root.ok(), here().ok()].into_iter().flatten() {
        if process.began.is_some_and(|began| is_older(&metadata, began)) {
            refused = Some(Unnamed::OldPerfMap);
            continue;
        }
        if known_len == Some(metadata.len()) {
            return Ok(None);
        }
        let Ok(map) = PerfMap::read_file(file) else { continue };
        let placed = Placed::count(&map, code);
        // If no function is in the code, an earlier process with this id wrote the map.
        let is_own = if process.is_author_trusted(&metadata) { placed.inside > 0 } else { placed.is_proof() };
        if is_own {
            return Ok(Some((metadata.len(), map)));
        }
        let is_old = process.is_author_trusted(&metadata);
        refused = Some(if is_old { Unnamed::OldPerfMap } else { Unnamed::ForeignPerfMap });
    }
    refused.map_or(Ok(None), Err)
}

/// Limits for candidates in `/tmp`: number of perf maps, and length in bytes of each.
const MAX_CANDIDATES: usize = 256;
const MAX_CANDIDATE_LEN: u64 = 16 << 20;

/// Reads the perf map whose functions, one of them at `address`, lie in the code of a process that
/// has ended. The map is named by the process id in a namespace, and that id is lost with the
/// process.
///
/// Returns an error if several maps with different functions match, because any of them may be the
/// right one.
pub(super) fn read_of_ended_namespace(
    system: &System,
    pid: u32,
    address: u64,
    code: &ProcessMappings,
) -> Result<Option<(u64, PerfMap)>, Unnamed> {
    if system.process(pid).is_alive() {
        return Ok(None);
    }
    let names = fs::read_dir("/tmp").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_map = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let id = name.strip_prefix("perf-").and_then(|rest| rest.strip_suffix(".map"));
        id.is_some_and(|id| id.parse::<u32>().is_ok())
    };
    let files = names.filter(is_map).take(MAX_CANDIDATES);
    let mut found = files.filter_map(|path| {
        let (file, metadata) = foreign::open(&path, LastLink::Refuse).ok()?;
        let map = (metadata.len() <= MAX_CANDIDATE_LEN).then(|| PerfMap::read_file(file).ok())??;
        let is_own = map.find(address).is_some() && Placed::count(&map, code).is_proof();
        is_own.then_some((metadata.len(), map))
    });
    let Some((len, map)) = found.next() else { return Ok(None) };
    // Several runs of a program with code at fixed addresses leave the same functions.
    if found.all(|(_, other)| other.text == map.text) {
        Ok(Some((len, map)))
    } else {
        Err(Unnamed::SeveralPerfMaps)
    }
}

/// Number of functions of a map that lie in code that the process wrote at run time.
#[derive(Debug, PartialEq, Eq)]
struct Placed {
    inside: u64,
    all: u64,
    /// Total size in bytes of such code.
    code: u64,
}

/// Random bits in the address of a mapping: 28 bits of the page number on x86-64, and the 12 bits
/// within a page.
const RANDOM_BITS: u32 = 40;
/// Bits that an attacker who does not know the addresses would have to guess.
const PROOF_BITS: u64 = 24;

impl Placed {
    fn count(map: &PerfMap, code: &ProcessMappings) -> Self {
        let is_code = |address| code.find(address).is_some_and(is_runtime_code);
        let is_inside = |function: &&Function| is_code(function.start) && is_code(function.end - 1);
        Self {
            inside: map.functions.iter().filter(is_inside).count() as u64,
            all: map.functions.len() as u64,
            code: code
                .iter()
                .filter(|mapping| is_runtime_code(mapping))
                .map(|mapping| mapping.end() - mapping.start())
                .sum(),
        }
    }

    /// Returns true if only the process itself can have written the map. Enough functions must be
    /// where only the process knows its code is, and they must not be a few hits of many functions
    /// that were spread over all addresses.
    fn is_proof(&self) -> bool {
        let bits = RANDOM_BITS.saturating_sub(self.code.max(1).ilog2());
        self.inside.saturating_mul(bits.into()) >= PROOF_BITS && self.inside >= self.all.div_ceil(4)
    }
}

fn is_runtime_code(mapping: &Mapping) -> bool {
    mapping.is_executable() && !matches!(mapping.object().kind(), ObjectKind::File | ObjectKind::Vdso)
}

/// Tolerance for comparing file times with process start times, which have different granularities.
const GRAIN: Duration = Duration::from_secs(2);

fn is_older(metadata: &Metadata, began: SystemTime) -> bool {
    metadata.modified().is_ok_and(|written| written + GRAIN < began)
}

/// Parses a line that begins at offset `at` of the text.
fn function(line: &[u8], at: usize) -> Option<Function> {
    let mut numbers = [0; 2];
    let mut rest = line;
    for number in &mut numbers {
        let len = rest.iter().position(|&byte| byte == b' ')?;
        let digits = std::str::from_utf8(rest.get(..len)?).ok()?;
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        *number = u64::from_str_radix(digits, 16).ok()?;
        rest = rest.get(len + 1..)?;
    }
    let [start, len] = numbers;
    let end = start.checked_add(len).filter(|&end| end > start)?;
    let name = at + (line.len() - rest.len());
    (!rest.is_empty()).then_some(Function { start, end, name: name..name + rest.len(), first: start })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use perf_abi::{Attr, CpuMode, Misc, RecordType, Software};
    use perf_decode::testing::builder::RecordBuilder;
    use perf_decode::{RawRecord, SampleLayout};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn name_is_the_rest_of_the_line() {
        let text =
            b"1000 20 void Foo::bar(int, char)\n0x2000 0x10 other\nbad line\n3000 0 empty\n4000 10 cut"
                .to_vec();
        let map = PerfMap::parse(text);
        assert_eq!(map.find(0x101f), Some((0x1000, &b"void Foo::bar(int, char)"[..])));
        assert_eq!(map.find(0x2000), Some((0x2000, &b"other"[..])));
        for addr in [0xfff, 0x1020, 0x2010, 0x3000, 0x4000] {
            assert_eq!(map.find(addr), None, "{addr:#x}");
        }
        assert_eq!((map.len(), map.is_empty(), PerfMap::default().is_empty()), (2, false, true));
    }

    /// A process that wrote 64 KiB of code.
    fn code(pid: u32) -> ProcessMappings {
        let mut spaces = AddressSpaces::new();
        let layout = SampleLayout::new(&Attr::software(Software::DUMMY));
        let user = Misc::empty().with_cpu_mode(CpuMode::USER);
        for (words, path) in
            [([0x7f12_3456_0000, 0x1_0000, 0], &b"//anon"[..]), ([0x40_0000, 0x10_0000, 0], b"/bin/a")]
        {
            let record =
                RecordBuilder::new(RecordType::MMAP, user).pair(pid, pid).words(&words).string(path).finish();
            spaces.update(&RawRecord::from_words(&record).unwrap().decode(&layout).unwrap());
        }
        spaces.process_mappings(pid).expect("the process")
    }

    const OWN: &str = "7f1234560000 40 f\n7f1234560040 40 g\n";
    /// The map of a program that is loaded at a fixed address.
    const OF_A_FILE: &str = "400000 40 f\n";

    /// Writes the perf map of a process, changes it, and opens it.
    fn opened(pid: u32, text: &str, change: impl FnOnce(&Path)) -> Result<Option<usize>, Unnamed> {
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        fs::write(&path, text).expect("a file");
        change(&path);
        let found = read_if_new(&System::new(), pid, &code(pid), None);
        let _ = fs::remove_file(&path);
        Ok(found?.map(|(_, map)| map.len()))
    }

    #[test]
    fn map_of_a_process_is_of_its_time_and_its_code() {
        let pid = std::process::id();
        assert!(matches!(read_if_new(&System::new(), pid, &code(pid), None), Ok(None)));
        assert_eq!(opened(pid, OWN, |_| {}), Ok(Some(2)));
        let set_time = |path: &Path, time| {
            let file = File::options().write(true).open(path).expect("the map");
            file.set_modified(time).expect("the time of a file");
        };
        let hour = Duration::from_secs(3600);
        let old = opened(pid, OWN, |path| set_time(path, SystemTime::now() - 24 * 365 * hour));
        assert_eq!(old, Err(Unnamed::OldPerfMap));
        // The process is still writing the map.
        assert_eq!(opened(pid, OWN, |path| set_time(path, SystemTime::now() + hour)), Ok(Some(2)));
        for text in ["0 7fffffffffff all\n", "7f9999990000 40 f\n", OF_A_FILE, ""] {
            assert_eq!(opened(pid, text, |_| {}), Err(Unnamed::OldPerfMap), "{text}");
        }
    }

    /// The id of a process that has ended, so that its user is unknown.
    const ENDED: u32 = 4_194_399;

    #[test]
    fn map_of_another_user_is_refused_unless_only_the_process_can_have_written_it() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give files away");
            return;
        }
        let give = |path: &Path| std::os::unix::fs::chown(path, Some(65534), None).expect("another owner");
        assert_eq!(opened(ENDED, OWN, give), Ok(Some(2)));
        assert_eq!(opened(ENDED, OF_A_FILE, give), Err(Unnamed::ForeignPerfMap));
        let mut guesses = String::from(OWN);
        for index in 0..1000_u64 {
            writeln!(guesses, "{:x} 40 f", 0x7f00_0000_0000 + index * 0x1_0000_0000).expect("a string");
        }
        assert_eq!(opened(ENDED, &guesses, give), Err(Unnamed::ForeignPerfMap));
        let mut sleep = std::process::Command::new("sleep");
        let mut child =
            std::os::unix::process::CommandExt::uid(sleep.arg("100"), 65534).spawn().expect("a process");
        let his = opened(child.id(), &guesses, give);
        let _ = (child.kill(), child.wait());
        assert_eq!(his, Ok(Some(1002)));
    }

    #[test]
    fn map_of_a_process_in_a_namespace_that_ended_has_another_id() {
        let path = PathBuf::from("/tmp/perf-4294967291.map");
        fs::write(&path, OWN).expect("a file");
        let found = [0x7f12_3456_0010, 0x7f12_3456_1000].map(|address| {
            read_of_ended_namespace(&System::new(), ENDED, address, &code(ENDED))
                .is_ok_and(|map| map.is_some())
        });
        let of_living =
            read_of_ended_namespace(&System::new(), std::process::id(), 0x7f12_3456_0010, &code(ENDED));
        // Either of two maps with different names may be right; copies have the same names.
        let copy = PathBuf::from("/tmp/perf-4294967292.map");
        let with_copy = [OWN.to_owned(), OWN.replace(" f\n", " other\n")].map(|text| {
            fs::write(&copy, text).expect("a file");
            read_of_ended_namespace(&System::new(), ENDED, 0x7f12_3456_0010, &code(ENDED))
                .map(|map| map.is_some())
        });
        let _ = (fs::remove_file(&path), fs::remove_file(&copy));
        assert_eq!((found, of_living.map(|map| map.is_some())), ([true, false], Ok(false)));
        assert_eq!(with_copy, [Ok(true), Err(Unnamed::SeveralPerfMaps)]);
    }

    #[test]
    fn link_in_place_of_a_map_is_ignored() {
        let path = PathBuf::from("/tmp/perf-4294967290.map");
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link");
        let found = read_if_new(&System::new(), 4_294_967_290, &code(1), None);
        let _ = fs::remove_file(&path);
        assert!(matches!(found, Ok(None)));
    }

    #[test]
    fn device_is_not_opened() {
        let error = PerfMap::read(Path::new("/dev/zero")).expect_err("no file");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    proptest! {
        #[test]
        fn each_address_has_the_last_line_that_covers_it(
            lines in prop::collection::vec((0_u64..40, 1_u64..20), 0..16),
        ) {
            let mut text = String::new();
            for (index, (start, len)) in lines.iter().enumerate() {
                writeln!(text, "{start:x} {len:x} f{index}").expect("a string");
            }
            let map = PerfMap::parse(text.into_bytes());
            for addr in 0..64 {
                let covers = |line: &(usize, &(u64, u64))| (line.1.0..line.1.0 + line.1.1).contains(&addr);
                let expected = lines.iter().enumerate().rev().find(covers);
                let expected = expected.map(|(index, (start, _))| (*start, format!("f{index}")));
                let found = map.find(addr).map(|(start, name)| (start, String::from_utf8_lossy(name).into_owned()));
                prop_assert_eq!(found, expected, "address {}", addr);
            }
        }

        #[test]
        fn any_bytes_are_parsed(text in prop::collection::vec(any::<u8>(), 0..200)) {
            PerfMap::parse(text);
        }
    }
}
