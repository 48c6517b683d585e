//! Jitdump files: the functions that a compiler wrote into memory, each with its time.

mod unwinding;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::Code;
use super::code_changes::{CodeChange, CodeChanges};
use crate::file::foreign::{self, LastLink};
use crate::space::map::RangeMap;
use unwinding::unwinding_of;

/// `JiTD` as a number in the file's byte order.
const MAGIC: u32 = 0x4A69_5444;
/// Length in bytes of the file header and of a record header.
const HEADER: usize = 40;
const RECORD: usize = 16;
/// Record ids `JIT_CODE_LOAD`, `JIT_CODE_MOVE` and `JIT_CODE_UNWINDING_INFO`.
const CODE_LOAD: u32 = 0;
const CODE_MOVE: u32 = 1;
const CODE_UNWINDING_INFO: u32 = 4;
/// Maximum number of bytes kept of a name.
const MAX_NAME: usize = 4096;
/// Maximum number of bytes kept of a file, enough for about a million functions.
const MAX_BYTES: usize = 128 << 20;

/// The functions in a jitdump file, at the time of a sample.
///
/// A program that compiles at run time maps the file executable once, so that recordings name it:
/// `jit-PID.dump`. Source: `tools/perf/Documentation/jitdump-specification.txt` of the kernel,
/// version 1.
#[derive(Debug)]
pub struct Jitdump {
    /// In time order.
    changes: Vec<(u64, Change)>,
    has_monotonic_time: bool,
    is_little: bool,
    /// True if the unwind information of functions is kept.
    keeps_unwinding: bool,
    /// The unwind information of the function in the next record.
    next_unwinding: Option<Arc<[u8]>>,
    /// Offset after the last complete record.
    read_len: u64,
    /// Estimated size of `changes` in bytes.
    bytes: usize,
    /// Number of changes that are applied to `functions`.
    applied: usize,
    functions: RangeMap<Function>,
}

#[derive(Clone, Debug)]
enum Change {
    /// With the `.eh_frame` of the function, if that is kept.
    Load(Function, Option<Arc<[u8]>>),
    Move {
        from: u64,
        to: u64,
        len: u64,
    },
}

type Function = Code<Arc<[u8]>>;

/// Why a file is not a jitdump.
#[derive(Debug)]
#[non_exhaustive]
pub enum JitdumpError {
    /// The file cannot be read.
    Io(io::Error),
    /// The first number is not `JiTD` in either byte order.
    Magic {
        /// The number read as little-endian.
        found: u32,
    },
    /// The version is not 1.
    Version {
        /// The version in the header.
        found: u32,
    },
}

impl From<io::Error> for JitdumpError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for JitdumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Magic { found } => {
                write!(f, "expected a jitdump file with the number {MAGIC:#x}, found {found:#x}")
            }
            Self::Version { found } => write!(f, "expected version 1 of jitdump, found {found}"),
        }
    }
}

impl std::error::Error for JitdumpError {}

impl Jitdump {
    /// Reads a file. Its last record may be incomplete because the program is still writing it.
    ///
    /// # Errors
    ///
    /// Returns [`JitdumpError`] if the file cannot be read or its header is not a jitdump's.
    pub fn open(path: &Path) -> Result<Self, JitdumpError> {
        let (file, _) = foreign::open(path, LastLink::Follow)?;
        Self::read(BufReader::new(file))
    }

    /// Reads all complete records of a file from its beginning. The code itself is skipped. Memory
    /// is linear in the number of functions, up to 128 MiB of records.
    ///
    /// # Errors
    ///
    /// Returns [`JitdumpError`] if reading fails or the header is not a jitdump's.
    pub fn read(input: impl BufRead + Seek) -> Result<Self, JitdumpError> {
        Self::read_keeping(input, false)
    }

    /// Does the same as [`read`](Self::read), and keeps the unwind information of the functions.
    #[cfg(feature = "unwind")]
    pub(in crate::name) fn read_with_unwinding(input: impl BufRead + Seek) -> Result<Self, JitdumpError> {
        Self::read_keeping(input, true)
    }

    fn read_keeping(mut input: impl BufRead + Seek, keeps_unwinding: bool) -> Result<Self, JitdumpError> {
        // The length is fixed now: later records belong to later samples.
        let len = input.seek(SeekFrom::End(0))?;
        input.rewind()?;
        let mut header = [0; HEADER];
        input.read_exact(&mut header)?;
        let little = Fields { bytes: &header, is_little: true };
        let is_little = little.u32(0) == MAGIC;
        let header = Fields { bytes: &header, is_little };
        if header.u32(0) != MAGIC {
            return Err(JitdumpError::Magic { found: little.u32(0) });
        }
        if header.u32(4) != 1 {
            return Err(JitdumpError::Version { found: header.u32(4) });
        }
        let read_len = u64::from(header.u32(8)).max(HEADER as u64);
        input.seek(SeekFrom::Start(read_len))?;
        let mut jitdump = Self {
            changes: Vec::new(),
            has_monotonic_time: header.u64(32) & 1 == 0,
            is_little,
            keeps_unwinding,
            next_unwinding: None,
            read_len,
            bytes: 0,
            applied: 0,
            functions: RangeMap::default(),
        };
        jitdump.read_records(input, len)?;
        Ok(jitdump)
    }

    /// Reads the records that were appended since the last read.
    pub(in crate::name) fn read_on(&mut self, mut file: File) -> io::Result<()> {
        let len = file.metadata()?.len();
        file.seek(SeekFrom::Start(self.read_len))?;
        self.read_records(BufReader::new(file), len)
    }

    /// Reads records from `read_len`, which is the current position of `input`, up to the length of
    /// the file.
    fn read_records(&mut self, mut input: impl BufRead + Seek, len: u64) -> io::Result<()> {
        let is_little = self.is_little;
        let last = self.changes.last().map_or(0, |(time, _)| *time);
        let mut is_later = true;
        let mut head = [0; RECORD];
        while self.bytes < MAX_BYTES && is_read(&mut input, &mut head)? {
            let head = Fields { bytes: &head, is_little };
            let (kind, time) = (head.u32(0), head.u64(8));
            let Some(body_len) = u64::from(head.u32(4)).checked_sub(RECORD as u64) else { break };
            let end = self.read_len + RECORD as u64 + body_len;
            if end > len {
                // The program is still writing the record.
                break;
            }
            let mut body = (&mut input).take(body_len);
            let unwinding = self.next_unwinding.take();
            let change = match kind {
                CODE_LOAD => load(&mut body, is_little, unwinding)?,
                CODE_MOVE => moved(&mut body, is_little)?,
                CODE_UNWINDING_INFO if self.keeps_unwinding => {
                    self.next_unwinding = unwinding_of(&mut body, is_little)?;
                    None
                }
                _ => None,
            };
            let rest = body.limit();
            // Seek instead of reading, because a sparse file could have any length.
            input.seek_relative(i64::try_from(rest).unwrap_or(i64::MAX))?;
            self.read_len = end;
            if let Some(change) = change {
                let kept = match &change {
                    Change::Load(function, unwinding) => {
                        function.name.len() + unwinding.as_ref().map_or(0, |bytes| bytes.len())
                    }
                    Change::Move { .. } => 0,
                };
                self.bytes += size_of::<(u64, Change)>() + kept;
                is_later &= time >= last;
                self.changes.push((time, change));
            }
        }
        // Several threads append records, each with its own timestamps.
        self.changes.sort_by_key(|(time, _)| *time);
        if !is_later {
            (self.applied, self.functions) = (0, RangeMap::default());
        }
        Ok(())
    }

    /// Returns true if the times are `CLOCK_MONOTONIC` in ns. Otherwise they are cycle counts.
    pub fn has_monotonic_time(&self) -> bool {
        self.has_monotonic_time
    }

    /// Returns the first address and the name of the function at an address at a time of the file's
    /// clock, or at the end of the file for `None`. Query in time order: going back in time replays
    /// the file from its start.
    pub fn find(&mut self, address: u64, time: Option<u64>) -> Option<(u64, Arc<[u8]>)> {
        let time = time.unwrap_or(u64::MAX);
        let until = self.changes.partition_point(|(changed, _)| *changed <= time);
        if until < self.applied {
            (self.applied, self.functions) = (0, RangeMap::default());
        }
        for (_, change) in self.changes.get(self.applied..until).unwrap_or_default() {
            match change {
                Change::Load(function, _) => self.functions.insert(function.clone()),
                &Change::Move { from, to, len } => {
                    let Some(old) = self.functions.get(from).cloned() else { continue };
                    self.functions.clear(from, from.saturating_add(len));
                    self.functions.insert(Function {
                        start: to,
                        end: to.saturating_add(len),
                        first: to,
                        ..old
                    });
                }
            }
        }
        self.applied = until;
        self.functions.get(address).map(|function| (function.first, function.name.clone()))
    }
}

/// # Code changes
impl Jitdump {
    /// Returns all changes of the code, with their times and addresses.
    pub fn code_changes(&self) -> CodeChanges {
        let mut functions = RangeMap::<Function>::default();
        let mut changes = Vec::with_capacity(self.changes.len());
        for (time, change) in &self.changes {
            let mut add = |addresses: Range<u64>, is_reuse| {
                changes.push(CodeChange { time: *time, addresses, is_reuse });
            };
            let (from, written) = match change {
                Change::Load(function, _) => (None, function.clone()),
                &Change::Move { from, to, len } => {
                    let Some(old) = functions.get(from).cloned() else { continue };
                    let end = to.saturating_add(len);
                    (Some(from..from.saturating_add(len)), Function { start: to, end, first: to, ..old })
                }
            };
            if let Some(from) = from {
                functions.clear(from.start, from.end);
                add(from, true);
            }
            let is_other = |before: &Function| before.name != written.name;
            let is_reuse = functions.overlapping(written.start, written.end).any(is_other);
            add(written.start..written.end, is_reuse);
            functions.insert(written);
        }
        CodeChanges { changes, has_monotonic_time: self.has_monotonic_time }
    }
}

/// Reads the body of `JIT_CODE_LOAD`: pid, tid, address at link time, address, size, index, name.
fn load(
    body: &mut impl BufRead,
    is_little: bool,
    unwinding: Option<Arc<[u8]>>,
) -> io::Result<Option<Change>> {
    let mut fixed = [0; 40];
    if !is_read(body, &mut fixed)? {
        return Ok(None);
    }
    let fields = Fields { bytes: &fixed, is_little };
    let (start, len) = (fields.u64(16), fields.u64(24));
    let mut name = Vec::new();
    body.take(MAX_NAME as u64).read_until(0, &mut name)?;
    if name.last() == Some(&0) {
        name.pop();
    }
    let end = start.saturating_add(len);
    Ok(Some(Change::Load(Function { start, end, name: name.into(), first: start }, unwinding)))
}

/// Reads the body of `JIT_CODE_MOVE`: pid, tid, address at link time, old address, new address,
/// size, index.
fn moved(body: &mut impl Read, is_little: bool) -> io::Result<Option<Change>> {
    let mut fixed = [0; 48];
    if !is_read(body, &mut fixed)? {
        return Ok(None);
    }
    let fields = Fields { bytes: &fixed, is_little };
    Ok(Some(Change::Move { from: fields.u64(16), to: fields.u64(24), len: fields.u64(32) }))
}

/// Fills the buffer. Returns false at the end of the file, which can be anywhere while a program
/// writes it.
fn is_read(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}

/// Decodes numbers at byte offsets.
struct Fields<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl Fields<'_> {
    /// Returns the number of `N` bytes at an offset, or 0 if the bytes end before.
    fn number<const N: usize>(&self, at: usize) -> u64 {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<N>()).unwrap_or(&[0; N]);
        let append = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        if self.is_little { bytes.iter().rev().fold(0, append) } else { bytes.iter().fold(0, append) }
    }

    fn u32(&self, at: usize) -> u32 {
        self.number::<4>(at) as u32
    }

    fn u64(&self, at: usize) -> u64 {
        self.number::<8>(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A jitdump in either byte order.
    struct Made {
        bytes: Vec<u8>,
        is_little: bool,
    }

    impl Made {
        fn new(is_little: bool) -> Self {
            let mut made = Self { bytes: Vec::new(), is_little };
            made.u32s(&[MAGIC, 1, 48, 62, 0, 7]);
            made.u64s(&[0, 0, 0]);
            made
        }

        fn u32s(&mut self, numbers: &[u32]) {
            let bytes = |n: &u32| if self.is_little { n.to_le_bytes() } else { n.to_be_bytes() };
            self.bytes.extend(numbers.iter().flat_map(bytes));
        }

        fn u64s(&mut self, numbers: &[u64]) {
            let bytes = |n: &u64| if self.is_little { n.to_le_bytes() } else { n.to_be_bytes() };
            self.bytes.extend(numbers.iter().flat_map(bytes));
        }

        fn load(&mut self, time: u64, start: u64, len: u64, name: &str) {
            self.u32s(&[CODE_LOAD, 56 + name.len() as u32 + 1 + len as u32]);
            self.u64s(&[time]);
            self.u32s(&[7, 7]);
            self.u64s(&[start, start, len, 0]);
            self.bytes.extend(name.bytes().chain([0]));
            self.bytes.resize(self.bytes.len() + len as usize, 0xcc);
        }

        fn move_code(&mut self, time: u64, from: u64, to: u64, len: u64) {
            self.u32s(&[CODE_MOVE, 64]);
            self.u64s(&[time]);
            self.u32s(&[7, 7]);
            self.u64s(&[from, from, to, len, 0]);
        }

        /// `sizes`: of all bytes, of the header, and mapped.
        #[cfg(feature = "unwind")]
        fn unwinding(&mut self, sizes: [u64; 3], frames: &[u8]) {
            self.u32s(&[CODE_UNWINDING_INFO, 40 + frames.len() as u32]);
            self.u64s(&[0]);
            self.u64s(&sizes);
            self.bytes.extend(frames);
        }

        fn read(&self) -> Jitdump {
            Jitdump::read(io::Cursor::new(&self.bytes)).expect("a jitdump")
        }
    }

    #[test]
    fn function_is_the_one_that_was_there_at_the_time() {
        for is_little in [true, false] {
            let mut made = Made::new(is_little);
            made.load(10, 0x1000, 0x20, "first");
            // A record of an unknown kind.
            made.u32s(&[2, 24]);
            made.u64s(&[11, 99]);
            made.load(20, 0x1010, 0x20, "second");
            made.move_code(30, 0x1010, 0x3000, 0x20);
            let mut jitdump = made.read();
            assert!(jitdump.has_monotonic_time());
            let mut name = |address, time| {
                let (first, name) = jitdump.find(address, time)?;
                Some((first, String::from_utf8_lossy(&name).into_owned()))
            };
            assert_eq!(name(0x1000, Some(9)), None);
            assert_eq!(name(0x1018, Some(10)), Some((0x1000, "first".to_owned())));
            assert_eq!(name(0x1018, Some(20)), Some((0x1010, "second".to_owned())));
            assert_eq!(name(0x1008, Some(20)), Some((0x1000, "first".to_owned())));
            assert_eq!(name(0x1018, Some(30)), None);
            assert_eq!(name(0x301f, None), Some((0x3000, "second".to_owned())));
            assert_eq!(name(0x1018, Some(15)), Some((0x1000, "first".to_owned())), "an earlier time");
        }
    }

    #[test]
    fn changes_are_the_addresses_at_which_another_function_begins_to_be() {
        let mut made = Made::new(true);
        made.load(10, 0x1000, 0x20, "first");
        made.load(20, 0x1010, 0x20, "second");
        // The same function is written again.
        made.load(25, 0x1010, 0x20, "second");
        made.move_code(30, 0x1010, 0x3000, 0x20);
        made.load(40, 0x1010, 0x8, "third");
        let changes = made.read().code_changes();
        assert!(changes.has_monotonic_time);
        let changes: Vec<_> = changes
            .changes
            .into_iter()
            .map(|change| (change.time, change.addresses, change.is_reuse))
            .collect();
        let expected = [
            (10, 0x1000..0x1020, false),
            (20, 0x1010..0x1030, true),
            (25, 0x1010..0x1030, false),
            (30, 0x1010..0x1030, true),
            (30, 0x3000..0x3020, false),
            (40, 0x1010..0x1018, false),
        ];
        assert_eq!(changes, expected);
    }

    #[cfg(feature = "unwind")]
    #[test]
    fn unwind_information_is_of_the_next_function_and_for_code_that_nothing_has_replaced() {
        for is_little in [true, false] {
            let mut made = Made::new(is_little);
            made.unwinding([6, 2, 8], b"leafHH");
            made.load(10, 0x1000, 0x20, "leaf");
            made.load(20, 0x1020, 0x20, "plain");
            for (time, name) in [(30, "old"), (40, "new")] {
                made.unwinding([3, 0, 0], name.as_bytes());
                made.load(time, 0x2000, 0x20, name);
            }
            made.unwinding([5, 0, 0], b"moved");
            made.load(50, 0x3000, 0x20, "moved");
            made.move_code(60, 0x3000, 0x4000, 0x20);
            // Sizes that nothing has, or that the record lacks.
            for (start, sizes) in [(0x5000, [1, 2, 0]), (0x6000, [u64::MAX, 0, 0]), (0x7000, [9, 0, 0])] {
                made.unwinding(sizes, b"12345678");
                made.load(70, start, 0x20, "malformed");
            }
            let read = |jitdump: Jitdump| {
                let mut functions = Vec::new();
                jitdump.for_each(|function| {
                    let unwinding = function.unwinding.map(|bytes| bytes.to_vec());
                    let name = String::from_utf8_lossy(function.name).into_owned();
                    functions.push((name, function.start, function.len, unwinding));
                });
                functions
            };
            let function = |name: &str, start, unwinding: Option<&[u8]>| {
                (name.to_owned(), start, 0x20, unwinding.map(<[u8]>::to_vec))
            };
            let with = Jitdump::read_with_unwinding(io::Cursor::new(&made.bytes)).expect("a jitdump");
            let mut expected = vec![
                function("leaf", 0x1000, Some(b"leaf")),
                function("plain", 0x1020, None),
                function("malformed", 0x5000, None),
                function("malformed", 0x6000, None),
                function("malformed", 0x7000, None),
            ];
            assert_eq!(read(with), expected);
            for function in &mut expected {
                function.3 = None;
            }
            assert_eq!(read(made.read()), expected, "names do not need it");
        }
    }

    #[test]
    fn file_that_is_being_written_has_its_whole_records() {
        let mut made = Made::new(true);
        made.load(10, 0x1000, 0x20, "first");
        let whole = made.bytes.len();
        made.load(20, 0x2000, 0x20, "second");
        for len in whole..made.bytes.len() - 0x20 - 7 {
            let mut jitdump = Jitdump::read(io::Cursor::new(&made.bytes[..len])).expect("a jitdump");
            assert!(jitdump.find(0x1000, None).is_some(), "{len}");
        }
    }

    #[test]
    fn records_that_are_written_later_are_read_on() {
        let path = std::env::temp_dir().join(format!("perf-symbols-read-on-{}", std::process::id()));
        let mut made = Made::new(true);
        made.load(10, 0x1000, 0x20, "first");
        let one = made.bytes.len();
        made.load(30, 0x2000, 0x20, "second");
        let two = made.bytes.len();
        made.load(20, 0x2000, 0x20, "late");
        std::fs::write(&path, &made.bytes[..one + 30]).expect("a file");
        let mut jitdump = Jitdump::open(&path).expect("a jitdump");
        let mut names = Vec::new();
        for len in [one + 30, two - 1, two, made.bytes.len()] {
            std::fs::write(&path, &made.bytes[..len]).expect("a file");
            jitdump.read_on(File::open(&path).expect("the file")).expect("records");
            for time in [Some(25), None] {
                let name = jitdump.find(0x2000, time).map(|(_, name)| name);
                names.push(name.map(|name| String::from_utf8_lossy(&name).into_owned()));
            }
        }
        let _ = std::fs::remove_file(&path);
        let names: Vec<_> = names.iter().map(Option::as_deref).collect();
        assert_eq!(names, [None, None, None, None, None, Some("second"), Some("late"), Some("second")]);
        // Files whose opening or reading could block or never end are refused.
        for path in ["/tmp", "/dev/zero"] {
            let error = Jitdump::open(Path::new(path)).expect_err("no file");
            assert!(matches!(&error, JitdumpError::Io(error) if error.kind() == io::ErrorKind::InvalidInput));
        }
    }

    #[test]
    fn file_of_another_kind_is_an_error() {
        let message =
            |bytes: &[u8]| Jitdump::read(io::Cursor::new(bytes)).expect_err("no jitdump").to_string();
        assert_eq!(message(&[1; 40]), "expected a jitdump file with the number 0x4a695444, found 0x1010101");
        let mut made = Made::new(true);
        made.bytes[4] = 9;
        assert_eq!(message(&made.bytes), "expected version 1 of jitdump, found 9");
        assert_eq!(message(&[]), "failed to fill whole buffer");
        assert!(Jitdump::open(Path::new("/no/jit-1.dump")).is_err());
    }

    proptest! {
        #[test]
        fn function_at_an_address_is_the_same_between_its_changes(
            steps in prop::collection::vec((0_u64..4, 0_u64..8, 0_u64..6, any::<bool>()), 0..12),
        ) {
            let mut made = Made::new(true);
            for (time, &(name, start, len, is_move)) in (1..).zip(&steps) {
                if is_move {
                    made.move_code(time, start, name, len);
                } else {
                    made.load(time, start, len, &name.to_string());
                }
            }
            let mut jitdump = made.read();
            let changes = jitdump.code_changes().changes;
            for address in 0..16 {
                for time in 1..=steps.len() as u64 {
                    let [before, after] = [time - 1, time].map(|time| jitdump.find(address, Some(time)));
                    let at = |change: &&CodeChange| change.time == time && change.addresses.contains(&address);
                    let change = changes.iter().find(at);
                    if change.is_none() {
                        prop_assert_eq!(before, after);
                    } else if let (Some((_, before)), Some((_, after))) = (before, after) {
                        let is_reuse = changes.iter().filter(at).any(|change| change.is_reuse);
                        prop_assert!(before == after || is_reuse);
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_read(damage in prop::collection::vec((0_usize..200, any::<u8>()), 0..6), len in 0_usize..200) {
            let mut made = Made::new(true);
            made.load(10, 0x1000, 0x20, "first");
            made.move_code(30, 0x1000, 0x3000, 0x20);
            made.bytes.truncate(len.max(41));
            for (at, byte) in damage {
                if let Some(to) = made.bytes.get_mut(at) {
                    *to = byte;
                }
            }
            if let Ok(mut jitdump) = Jitdump::read(io::Cursor::new(&made.bytes)) {
                jitdump.find(0x1000, None);
            }
        }
    }
}
