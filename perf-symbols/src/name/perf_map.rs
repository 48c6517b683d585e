//! The functions that a compiler wrote into memory, as it lists them: `/tmp/perf-PID.map`.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Code;
use super::query::Unnamed;
use crate::file::foreign::{self, LastLink};
use crate::space::map::RangeMap;

/// Bytes that are read at most. A JVM with 100 000 methods writes about 10 MB.
const MAX_LEN: u64 = 256 << 20;
/// Functions that are kept at most: lines can be shorter than what is kept of them.
const MAX_FUNCTIONS: usize = 4 << 20;

/// The functions in a perf map, by address.
///
/// The form: one line a function, `START SIZE NAME` with hexadecimal numbers; the name is the rest of the line. Source:
/// `tools/perf/Documentation/jit-interface.txt` of the kernel.
#[derive(Debug, Default)]
pub struct PerfMap {
    text: Box<[u8]>,
    functions: RangeMap<Function>,
}

/// The name is a part of the text.
type Function = Code<Range<usize>>;

impl PerfMap {
    /// Sorts the lines. A later function covers what it overlaps, because the memory was used again. A last line without
    /// its end, which is being written, is ignored, and so are lines of another form.
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

    /// Reads a perf map, of at most 256 MiB and 4 million functions: a longer one is cut.
    ///
    /// # Errors
    ///
    /// Why the file cannot be read. Only a regular file is opened.
    pub fn read(path: &Path) -> io::Result<Self> {
        let (file, metadata) = foreign::open(path, LastLink::Follow)?;
        MapFile { file, metadata }.read()
    }

    /// Returns the first address and the name of the function that an address is in.
    pub fn find(&self, address: u64) -> Option<(u64, &[u8])> {
        let function = self.functions.get(address)?;
        Some((function.first, self.text.get(function.name.clone())?))
    }

    /// Returns about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.len() * 2 * size_of::<Function>()
    }

    /// Returns the number of ranges with a name.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns whether it has no function.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An open perf map.
pub(super) struct MapFile {
    file: File,
    metadata: Metadata,
}

impl MapFile {
    pub(super) fn len(&self) -> u64 {
        self.metadata.len()
    }

    pub(super) fn read(self) -> io::Result<PerfMap> {
        let mut text = Vec::new();
        // The file may grow while it is read.
        self.file.take(MAX_LEN).read_to_end(&mut text)?;
        Ok(PerfMap::parse(text))
    }
}

/// Opens the perf map of a process on this machine, if there is one. The reason if it is not used: its author cannot be trusted
/// with names, or it was left by an earlier process with the same id.
///
/// A process in a container writes it by the id that it has there, into its own `/tmp`.
pub(super) fn open(pid: u32) -> Result<Option<MapFile>, Unnamed> {
    let process = Process::read(pid);
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    let in_root = foreign::open_in_root(
        &root,
        Path::new(&format!("tmp/perf-{}.map", process.own_id.unwrap_or(pid))),
        LastLink::Refuse,
    );
    let here = || foreign::open(Path::new(&format!("/tmp/perf-{pid}.map")), LastLink::Refuse);
    let mut refused = None;
    for (file, metadata) in [in_root.ok(), here().ok()].into_iter().flatten() {
        if !process.is_author_trusted(&metadata) {
            refused = Some(Unnamed::ForeignPerfMap);
        } else if process.began.is_some_and(|began| is_older(&metadata, began)) {
            refused = Some(Unnamed::OldPerfMap);
        } else {
            return Ok(Some(MapFile { file, metadata }));
        }
    }
    refused.map_or(Ok(None), Err)
}

/// Returns whether names by the owner of a file may be shown for a process: it is the user of the process, this user, or root.
pub(super) fn is_author_trusted(pid: u32, metadata: &Metadata) -> bool {
    Process::read(pid).is_author_trusted(metadata)
}

/// How much earlier than its process a file may seem to be: times of files and of processes have different grains.
const GRAIN: Duration = Duration::from_secs(2);

fn is_older(metadata: &Metadata, began: SystemTime) -> bool {
    metadata.modified().is_ok_and(|written| written + GRAIN < began)
}

/// The facts that the kernel has of a process.
struct Process {
    /// Its user. `None` if it has ended.
    user: Option<u32>,
    /// Its id in its own namespace.
    own_id: Option<u32>,
    /// The earliest time at which it can have begun.
    began: Option<SystemTime>,
}

impl Process {
    fn read(pid: u32) -> Self {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let status = read("status");
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let number = |word: Option<&str>| word.and_then(|word| word.parse().ok());
        let booted = fs::read_to_string("/proc/stat").ok().and_then(|stat| {
            let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
            UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
        });
        // Field 22, in 1/100 s since the boot. The name before the third one may have blanks and parentheses.
        let ticks =
            read("stat").rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok());
        Self {
            user: number(field("Uid:").split_whitespace().next()),
            own_id: number(field("NSpid:").split_whitespace().next_back()),
            began: booted
                .and_then(|booted| booted.checked_add(Duration::from_millis(ticks.unwrap_or(0_u64) * 10))),
        }
    }

    fn is_author_trusted(&self, metadata: &Metadata) -> bool {
        let owner = metadata.uid();
        owner == 0 || owner == rustix::process::geteuid().as_raw() || Some(owner) == self.user
    }
}

/// Parses a line that begins at `at` of the text.
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

    /// Writes the perf map of a process, changes it, and opens it.
    fn opened(pid: u32, change: impl FnOnce(&Path)) -> Result<Option<usize>, Unnamed> {
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        fs::write(&path, "1000 10 f\n").expect("a file");
        change(&path);
        let found = open(pid);
        let _ = fs::remove_file(&path);
        Ok(found?.map(|file| file.read().expect("the map").len()))
    }

    #[test]
    fn map_of_a_process_belongs_to_its_user_and_its_time() {
        let pid = std::process::id();
        assert!(matches!(open(pid), Ok(None)));
        assert_eq!(opened(pid, |_| {}), Ok(Some(1)));
        let set_time = |path: &Path, time| {
            let file = File::options().write(true).open(path).expect("the map");
            file.set_modified(time).expect("the time of a file");
        };
        let hour = Duration::from_secs(3600);
        let old = opened(pid, |path| set_time(path, SystemTime::now() - 24 * 365 * hour));
        assert_eq!(old, Err(Unnamed::OldPerfMap));
        // It is still being written.
        assert_eq!(opened(pid, |path| set_time(path, SystemTime::now() + hour)), Ok(Some(1)));
    }

    #[test]
    fn map_of_another_user_is_refused_unless_the_process_is_his() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give files away");
            return;
        }
        let give = |path: &Path| std::os::unix::fs::chown(path, Some(65534), None).expect("another owner");
        assert_eq!(opened(std::process::id(), give), Err(Unnamed::ForeignPerfMap));
        // It has ended: nobody knows whose it was.
        assert_eq!(opened(4_194_399, give), Err(Unnamed::ForeignPerfMap));
        assert_eq!(opened(4_194_399, |_| {}), Ok(Some(1)));
        let mut sleep = std::process::Command::new("sleep");
        let mut child =
            std::os::unix::process::CommandExt::uid(sleep.arg("100"), 65534).spawn().expect("a process");
        let his = opened(child.id(), give);
        let _ = (child.kill(), child.wait());
        assert_eq!(his, Ok(Some(1)));
    }

    #[test]
    fn link_in_place_of_a_map_is_ignored() {
        let path = PathBuf::from("/tmp/perf-4294967290.map");
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link");
        let found = open(4_294_967_290);
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
