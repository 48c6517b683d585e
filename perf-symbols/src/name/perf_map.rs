//! The functions that a compiler wrote into memory, as it lists them: `/tmp/perf-PID.map`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Code;
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
    /// Why the file cannot be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut text = Vec::new();
        // Opening a pipe would wait for its writer.
        if !path.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // The file may grow while it is read.
        File::open(path)?.take(MAX_LEN).read_to_end(&mut text)?;
        Ok(Self::parse(text))
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

    /// Returns the perf map of a process on this machine, if there is one whose author can be trusted with names: its
    /// owner is the user of the process, this user, or root.
    ///
    /// A process in a container writes it by the id that it has there, into its own `/tmp`.
    pub fn path_of(pid: u32) -> Option<PathBuf> {
        let process = Path::new("/proc").join(pid.to_string());
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let own_id = field("NSpid:").split_whitespace().next_back().unwrap_or_default().to_owned();
        let user = field("Uid:").split_whitespace().next().and_then(|user| user.parse::<u32>().ok());
        let this_user = Path::new("/proc/self").metadata().ok()?.uid();
        let in_root = process.join("root/tmp").join(format!("perf-{own_id}.map"));
        let here = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        [in_root, here].into_iter().find(|path| {
            path.symlink_metadata().is_ok_and(|metadata| {
                let owner = metadata.uid();
                metadata.is_file() && (owner == 0 || owner == this_user || Some(owner) == user)
            })
        })
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

    #[test]
    fn map_of_a_process_is_in_its_root_and_belongs_to_its_user() {
        let pid = std::process::id();
        let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        assert_eq!(PerfMap::path_of(pid), None);
        fs::write(&path, "1000 10 f\n").expect("a file");
        let found = PerfMap::path_of(pid);
        let read = found.as_ref().map(|path| PerfMap::read(path));
        let _ = fs::remove_file(&path);
        assert_eq!(found, Some(PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{pid}.map"))));
        assert_eq!(read.and_then(Result::ok).map(|map| map.len()), Some(1));
    }

    #[test]
    fn link_in_place_of_a_map_is_ignored() {
        let path = PathBuf::from("/tmp/perf-4294967290.map");
        std::os::unix::fs::symlink("/etc/passwd", &path).expect("a link");
        let found = PerfMap::path_of(4_294_967_290);
        let _ = fs::remove_file(&path);
        assert_eq!(found, None);
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
