//! Compares names of samples in fresh recordings with the output of `perf script`.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};

use perf_abi::{Attr, CpuMode, Misc, RecordType, Software};
use perf_decode::testing::builder::RecordBuilder;
use perf_decode::{RawRecord, Record, SampleLayout};
use perf_file::Reader;
use perf_file::feature::FeatureData;
use perf_file::format::Feature;
use perf_symbols::{
    AddressSpaces, BuildId, ElfError, FileFinder, FileSymbols, Function, Kallsyms, NameCounts, NotFoundKind,
    ObjectFile, Query, StackFrame, Symbolizer, Symbols, Unnamed,
};

use crate::addr2line::path_of;
use crate::perf_script::record;
use crate::programs::Programs;

/// Exercises many functions of the kernel, the dynamic linker, libc, Python, and programs in C, C++
/// and Rust.
const WORK: &str = "for i in 1 2 3; do python3 -c 'import json, ctypes, hashlib, decimal, sqlite3, asyncio, unittest'; \
    perl -MPOSIX -e 'my %h; $h{$_ % 977} .= $_ for 1..300000' ; done; \
    $D/inlines-cpp; $D/inlines-rust; $D/history $D/first.so $D/second.so; \
    find /usr/share /usr/lib >/dev/null; tar cf - /usr/share/doc 2>/dev/null | gzip -1 | wc -c; \
    git --version; ls -lR /usr/share | sort -k5 | uniq -c | awk '{ s += $2 } END { print s }'";

/// A sample with its line of `perf script`.
type Sample = (Query, String);

/// Returns `SYMBOL+OFFSET` of each sample from `perf script`, empty for `[unknown]`.
fn names_by_perf(file: &Path) -> Vec<String> {
    let output = Command::new("perf")
        .args(["script", "--no-inline", "-F", "ip,sym,symoff", "-i"])
        .arg(file)
        .stderr(Stdio::null())
        .output()
        .expect("the perf tool, which has recorded");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.trim().split_once(' ').map_or("", |(_, name)| name).trim().replace("[unknown]", ""))
        .collect()
}

fn samples(file: &Path) -> Vec<Sample> {
    let mut by_perf = names_by_perf(file).into_iter();
    let mut spaces = AddressSpaces::new();
    let mut samples = Vec::new();
    let mut reader = Reader::open(file).expect("a recording");
    let section = reader.feature(Feature::BUILD_ID).expect("a whole file").expect("build ids");
    let FeatureData::BuildIds(ids) = section.section().data().expect("build ids") else {
        panic!("{section:?}")
    };
    for entry in &ids {
        spaces.add_build_id(entry.filename, BuildId::new(entry.build_id).expect("a build id"));
    }
    let mut reader = reader.sorted();
    while let Some(record) = reader.next().expect("whole records") {
        if record.kernel().is_none() {
            continue;
        }
        let record = record.decode().expect("a valid record");
        spaces.update(&record);
        let Record::Sample(sample) = record else { continue };
        let query =
            query(&spaces, sample.pid().expect("pid"), sample.misc().cpu_mode(), sample.ip().expect("ip"));
        let by_perf = by_perf.next().expect("as many lines as samples");
        samples.push((query, by_perf));
    }
    assert_eq!(by_perf.next(), None);
    samples
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Same,
    /// Several symbols begin at the address, and the perf tool chooses another one.
    OtherNameOfTheSameStart,
    BothUnnamed,
    /// The perf tool names some entries of the procedure linkage table by the preceding `_init` and
    /// `_fini`, which have no size.
    LinkageTable,
    /// The perf tool has no symbols of files without a path, and does not find some programs in
    /// `/tmp`.
    OnlyOurs,
    Different,
}

/// Returns the symbols of a function that has a name, not only a start.
fn named(found: &Result<Symbols, Unnamed>) -> Result<&Symbols, Unnamed> {
    let symbols = found.as_ref().map_err(|reason| *reason)?;
    symbols.unnamed.map_or(Ok(symbols), Err)
}

fn class(found: Result<&Symbols, Unnamed>, by_perf: &str) -> Class {
    let offset = by_perf.rsplit('+').next();
    let is_linkage_table =
        by_perf.contains("@plt+") || by_perf.starts_with("_init+") || by_perf.starts_with("_fini+");
    match found {
        Ok(_) if by_perf.is_empty() => Class::OnlyOurs,
        Ok(symbols) => {
            let name = symbols.functions.last().map_or("", |function| &function.name);
            let ours = format!("{:#x}", symbols.offset);
            match by_perf.rsplit_once('+') {
                Some((expected, _)) if offset == Some(&ours) && path_of(expected) == path_of(name) => {
                    Class::Same
                }
                _ if offset == Some(&ours) => Class::OtherNameOfTheSameStart,
                _ if is_linkage_table && name.ends_with("@plt") => Class::LinkageTable,
                _ => Class::Different,
            }
        }
        Err(_) if by_perf.is_empty() => Class::BothUnnamed,
        Err(Unnamed::NoSymbol | Unnamed::LinkageTable) if is_linkage_table => Class::LinkageTable,
        Err(_) => Class::Different,
    }
}

#[test]
fn names_are_those_of_perf_script() {
    let Some(programs) = Programs::new("names") else { return };
    programs.compile("inlines-cpp", "inlines.cpp", &["-g", "-O2"]);
    programs.compile("inlines-rust", "inlines.rs", &["-g", "-O", "--edition", "2021"]);
    let Some(file) = record(&programs, "names", WORK) else {
        eprintln!("skipped: the perf tool is missing, or may not record all CPUs");
        return;
    };
    let samples = samples(&file);
    let symbolizer = Symbolizer::new(FileFinder::local()).expect("a thread");
    let queries: Vec<_> = samples.iter().map(|(query, _)| query.clone()).collect();
    let found = symbolizer.symbolize(&queries);
    let mut classes = BTreeMap::<Class, usize>::new();
    let mut distinct = HashSet::new();
    for ((query, by_perf), found) in samples.iter().zip(&found) {
        let class = class(named(found), by_perf);
        // Another program of this machine may have ended, or its file may be gone by now.
        let is_gone = matches!(found, Err(Unnamed::File(_) | Unnamed::Changed));
        assert!(class != Class::Different || is_gone, "{found:?}, perf: {by_perf}, {query:?}");
        distinct.insert(query.address());
        *classes.entry(class).or_default() += 1;
    }
    println!("{} samples, {} addresses: {classes:?}", samples.len(), distinct.len());
    println!("{:?}", symbolizer.counts().reasons());
    let named = found.iter().filter(|found| named(found).is_ok()).count() as u64;
    assert_eq!(symbolizer.counts().named, named);
    let same = classes.get(&Class::Same).copied().unwrap_or(0);
    let other_name = classes.get(&Class::OtherNameOfTheSameStart).copied().unwrap_or(0);
    assert!(distinct.len() > 2000 && same > 4 * other_name, "{classes:?}");
}

/// Creates a query for an interrupted instruction.
fn query(spaces: &AddressSpaces, pid: u32, mode: CpuMode, address: u64) -> Query {
    Query::new(spaces, pid, &StackFrame { mode, address, is_return_address: false })
}

/// Applies an MMAP record.
pub(crate) fn map(spaces: &mut AddressSpaces, mode: CpuMode, pid: u32, range: [u64; 3], path: &[u8]) {
    let layout = SampleLayout::new(&Attr::software(Software::DUMMY));
    let record = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode)).pair(pid, pid);
    let words = record.words(&range).string(path).finish();
    spaces.update(&RawRecord::from_words(&words).expect("a record").decode(&layout).expect("a record"));
}

/// The header of a jitdump.
pub(crate) fn jitdump_header(pid: u32) -> Vec<u8> {
    let mut bytes = [0x4A69_5444_u32, 1, 40, 62, 0, pid].map(u32::to_le_bytes).concat();
    bytes.extend([0_u64; 2].map(u64::to_le_bytes).concat());
    bytes
}

/// A `JIT_CODE_LOAD` record for a function at `0x10_0000`.
pub(crate) fn jitdump_function(pid: u32, time: u64, name: &str) -> Vec<u8> {
    let len = 16 + 40 + name.len() as u32 + 1;
    let mut record = [0_u32, len].map(u32::to_le_bytes).concat();
    record.extend(time.to_le_bytes());
    record.extend([pid; 2].map(u32::to_le_bytes).concat());
    record.extend([0x10_0000_u64, 0x10_0000, 0x40, 0].map(u64::to_le_bytes).concat());
    record.extend(name.bytes().chain([0]));
    record
}

#[test]
fn address_without_a_symbol_has_the_reason_that_its_file_shows() {
    let programs = Programs::empty("reasons");
    let Some(path) = programs.compile("plain", "inlines.cpp", &["-O2"]) else { return };
    let change = |tool: &str, arguments: &[&Path]| {
        let status = Command::new(tool).args(arguments).status();
        let is_done = status.is_ok_and(|status| status.success());
        if !is_done {
            eprintln!("skipped: {tool} {arguments:?}");
        }
        is_done
    };
    let [stripped, with_data] = ["stripped", "with-data"].map(|name| programs.path(name));
    let section = Path::new("--add-section=.gnu_debugdata=/etc/passwd");
    if !change("strip", &[&path, Path::new("-o"), &stripped])
        || !change("objcopy", &[section, &stripped, &with_data])
    {
        return;
    }
    let symbolizer = Symbolizer::new(FileFinder::local()).expect("a thread");
    let pid = std::process::id();
    let reason = |path: &Path, section: &str| {
        let object = ObjectFile::open(path).expect("the program");
        let address = object.section_addresses(section).expect("a section").start;
        let mut spaces = AddressSpaces::new();
        let base = 0x50_0000_0000;
        map(&mut spaces, CpuMode::USER, pid, [base, 0x10_0000, 0], path.as_os_str().as_encoded_bytes());
        let found = symbolizer.symbolize(&[query(&spaces, pid, CpuMode::USER, base + address)]);
        named(&found[0]).map(|_| ())
    };
    assert_eq!(reason(&path, ".text"), Ok(()));
    // Tools name no functions in the first entry of the table, the resolver of all others.
    assert_eq!(reason(&path, ".plt"), Err(Unnamed::LinkageTable));
    assert_eq!(reason(&stripped, ".plt"), Err(Unnamed::LinkageTable));
    assert_eq!(reason(&stripped, ".text"), Err(Unnamed::NoSymbol));
    assert_eq!(reason(&with_data, ".text"), Err(Unnamed::MiniDebugInfo));
}

/// A program that writes code into memory and lists it, as a runtime does.
#[test]
fn code_of_a_runtime_is_named_by_its_perf_map_and_its_jitdump() {
    let pid = std::process::id();
    let mut spaces = AddressSpaces::new();
    map(&mut spaces, CpuMode::USER, pid, [0x10_0000, 0x1000, 0], b"//anon");
    let query = |spaces: &AddressSpaces, addr| query(spaces, pid, CpuMode::USER, addr);
    let symbolizer = Symbolizer::new(FileFinder::local()).expect("a thread");
    let name = |query| match &symbolizer.symbolize(&[query])[..] {
        [Ok(symbols)] => format!("{}+{}", symbols.functions[0].name, symbols.offset),
        other => format!("{other:?}"),
    };
    assert_eq!(name(query(&spaces, 0x10_0010)), "[Err(NoPerfMap)]");
    let path = format!("/tmp/perf-{pid}.map");
    std::fs::write(&path, "100000 20 first\n").expect("a perf map");
    assert_eq!(name(query(&spaces, 0x10_0010)), "first+16");
    assert_eq!(name(query(&spaces, 0x10_0030)), "[Err(NoPerfMap)]");
    // A call returns to the address after the function; the offset is of that address.
    let after = StackFrame { mode: CpuMode::USER, address: 0x10_0020, is_return_address: true };
    assert_eq!(name(Query::new(&spaces, pid, &after)), "first+32");
    // The runtime compiles another function.
    std::fs::write(&path, "100000 20 first\n100020 20 second\n").expect("a perf map");
    assert_eq!(name(query(&spaces, 0x10_0030)), "second+16");
    let _ = std::fs::remove_file(&path);
    assert_eq!(name(query(&spaces, 0x10_0030)), "second+16", "the runtime ended");

    let dump = std::env::temp_dir().join(format!("jit-{pid}.dump"));
    let mut bytes = jitdump_header(pid);
    let code = |time, name| jitdump_function(pid, time, name);
    bytes.extend([code(100, "old"), code(200, "new")].concat());
    std::fs::write(&dump, &bytes).expect("a jitdump");
    map(&mut spaces, CpuMode::USER, pid, [0x20_0000, 0x1000, 0], dump.as_os_str().as_encoded_bytes());
    let at = |time| query(&spaces, 0x10_0010).with_monotonic_time(time);
    assert_eq!(
        [name(at(150)), name(at(250)), name(query(&spaces, 0x10_0010))],
        ["old+16", "new+16", "new+16"]
    );
    // The perf map has what the jitdump lacks.
    assert_eq!(name(at(50)), "first+16");
    // The runtime compiles another function at the same address.
    bytes.extend(code(300, "newest"));
    std::fs::write(&dump, &bytes).expect("a jitdump");
    assert_eq!([name(at(250)), name(at(300))], ["new+16", "newest+16"]);
    let _ = std::fs::remove_file(&dump);
}

/// Symbols of a file that panic.
struct Failing;

impl FileSymbols for Failing {
    fn symbolize(&mut self, _: u64) -> Option<Symbols> {
        panic!("on purpose");
    }
}

/// Symbols of a file without any.
struct Nothing;

impl FileSymbols for Nothing {
    fn symbolize(&mut self, _: u64) -> Option<Symbols> {
        None
    }
}

#[test]
fn failure_of_the_library_is_counted_and_ends_with_its_file() {
    let Some(programs) = Programs::new("failing") else { return };
    let mut opened = 0;
    let open = move |_| {
        opened += 1;
        match opened {
            1 => Ok(Box::new(Nothing) as Box<dyn FileSymbols>),
            2 => Ok(Box::new(Failing) as Box<dyn FileSymbols>),
            _ => Err(ElfError::Malformed("on purpose".to_owned())),
        }
    };
    let symbolizer = Symbolizer::with_file_symbols(FileFinder::local(), open).expect("a thread");
    let mut spaces = AddressSpaces::new();
    let pid = std::process::id();
    for (index, name) in ["first.so", "second.so", "history", "nothing"].iter().enumerate() {
        let range = [0x1000 * (index as u64 + 1), 0x1000, 0x1000];
        map(&mut spaces, CpuMode::USER, pid, range, programs.path(name).as_os_str().as_encoded_bytes());
    }
    let symbolize = |addr| {
        let query = query(&spaces, pid, CpuMode::USER, addr);
        assert!(query.object().is_some_and(|(_, offset)| offset == 0x1000 + addr % 0x1000));
        symbolizer.symbolize(&[query])[0].clone().expect_err("no name")
    };
    assert_eq!(symbolize(0x1010), Unnamed::NoSymbol);
    assert_eq!(symbolize(0x1010), Unnamed::NoSymbol, "kept: not asked again");
    assert_eq!([symbolize(0x2010), symbolize(0x2020)], [Unnamed::Damaged; 2]);
    assert_eq!([symbolize(0x3010), symbolize(0x3020)], [Unnamed::Damaged; 2]);
    assert_eq!(symbolize(0x4010), Unnamed::File(NotFoundKind::Missing));
    let counts = symbolizer.counts();
    assert_eq!((counts.named, counts.panics), (0, 1));
    assert_eq!(counts.reasons()[0], (4, "the symbols of the file are damaged".to_owned()));
    let missing = symbolizer.missing_files();
    assert_eq!(missing.len(), 1);
    assert!(missing[0].to_string().contains("nothing: the file is missing"), "{}", missing[0]);
}

/// The id in the name of a jitdump is reused, and any user can write one in a folder such as
/// `/tmp`.
#[test]
fn jitdump_is_the_file_that_the_process_mapped_or_its_own_users() {
    // A process with other perf maps.
    let mut child = Command::new("sleep").arg("1000").spawn().expect("a process");
    let pid = child.id();
    let folder = std::env::temp_dir().join(format!("perf-symbols-jitdump-{pid}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("jit-{pid}.dump"));
    let bytes = [jitdump_header(pid), jitdump_function(pid, 100, "written")].concat();
    std::fs::write(&path, bytes).expect("a jitdump");
    let inode = std::fs::metadata(&path).expect("the jitdump").ino();
    let layout = SampleLayout::new(&Attr::software(Software::DUMMY));
    let name = |inode: Option<u64>| {
        let mut spaces = AddressSpaces::new();
        map(&mut spaces, CpuMode::USER, pid, [0x10_0000, 0x1000, 0], b"//anon");
        let (range, path) = ([0x20_0000, 0x1000, 0], path.as_os_str().as_encoded_bytes());
        if let Some(inode) = inode {
            let user = Misc::empty().with_cpu_mode(CpuMode::USER);
            let record = RecordBuilder::new(RecordType::MMAP2, user).pair(pid, pid).words(&range);
            let record = record.pair(8, 1).words(&[inode, 1]).pair(5, 2).string(path).finish();
            let record = RawRecord::from_words(&record).expect("a record");
            spaces.update(&record.decode(&layout).expect("a record"));
        } else {
            map(&mut spaces, CpuMode::USER, pid, range, path);
        }
        assert!(spaces.jitdump(pid).is_some_and(|object| object.inode.is_some() == inode.is_some()));
        let symbolizer = Symbolizer::new(FileFinder::local()).expect("a thread");
        let found = symbolizer.symbolize(&[query(&spaces, pid, CpuMode::USER, 0x10_0010)]).pop();
        found.expect("an answer").map(|symbols| symbols.functions[0].name.to_string())
    };
    let written = Ok("written".to_owned());
    let own = [Some(inode), Some(inode + 1), None].map(name);
    // Owned by a user other than the process's, this user and root.
    let given = std::os::unix::fs::chown(&path, Some(65534), None);
    let foreign = [Some(inode), None].map(name);
    let _ = (child.kill(), child.wait(), std::fs::remove_dir_all(&folder));
    assert_eq!(own, [written.clone(), Err(Unnamed::NoPerfMap), written.clone()]);
    if given.is_ok() {
        assert_eq!(foreign, [written, Err(Unnamed::NoPerfMap)]);
    } else {
        eprintln!("skipped in part: only root can give files away");
    }
}

/// Symbols of a file that is changed while a certain address is looked up.
struct Changing(PathBuf);

impl FileSymbols for Changing {
    fn symbolize(&mut self, address: u64) -> Option<Symbols> {
        if address == 0x1020 {
            let mut bytes = std::fs::read(&self.0).expect("the program");
            bytes.push(0);
            std::fs::write(&self.0, bytes).expect("the program");
        }
        Some(Symbols::new([Function { name: "work".into(), source: None }], 0))
    }
}

#[test]
fn name_of_a_file_that_changed_while_it_was_read_is_not_used() {
    let Some(programs) = Programs::new("changing") else { return };
    let path = programs.path("first.so");
    let file = path.clone();
    let open = move |_| Ok(Box::new(Changing(file.clone())) as Box<dyn FileSymbols>);
    let symbolizer = Symbolizer::with_file_symbols(FileFinder::local(), open).expect("a thread");
    let mut spaces = AddressSpaces::new();
    let pid = std::process::id();
    map(&mut spaces, CpuMode::USER, pid, [0x1000, 0x1000, 0x1000], path.as_os_str().as_encoded_bytes());
    let name = |addr| {
        let found = symbolizer.symbolize(&[query(&spaces, pid, CpuMode::USER, addr)]).pop();
        found.expect("an answer").map(|symbols| symbols.functions[0].name.to_string())
    };
    assert_eq!(name(0x1010), Ok("work".to_owned()));
    assert_eq!(name(0x1020), Err(Unnamed::Changed));
}

#[test]
fn files_that_were_not_used_for_long_are_closed() {
    const MAX_FILES: usize = 4;
    let folder = std::env::temp_dir().join(format!("perf-symbols-open-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut spaces = AddressSpaces::new();
    let pid = std::process::id();
    let queries: Vec<_> = (1..=20_u64)
        .map(|index| {
            let path = folder.join(index.to_string());
            std::fs::copy("/bin/sh", &path).expect("a copy");
            let start = 0x1000_0000 * index;
            map(
                &mut spaces,
                CpuMode::USER,
                pid,
                [start, 0x1000_0000, 0],
                path.as_os_str().as_encoded_bytes(),
            );
            query(&spaces, pid, CpuMode::USER, start + 0x40)
        })
        .collect();
    let symbolizer = Symbolizer::new(FileFinder::local()).expect("a thread").with_max_files(MAX_FILES);
    // One after the other, and at once.
    let each: Vec<_> =
        queries.iter().flat_map(|query| symbolizer.symbolize(std::slice::from_ref(query))).collect();
    let opened = || {
        let links = std::fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
        links
            .filter(|link| std::fs::read_link(link.path()).is_ok_and(|path| path.starts_with(&folder)))
            .count()
    };
    let mapped = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
        maps.lines().filter(|line| line.contains(&*folder.to_string_lossy())).count()
    };
    let (first, first_mapped) = (opened(), mapped());
    // An address without a cached name, so that each file is opened again.
    let others: Vec<_> =
        (1..=20_u64).map(|index| query(&spaces, pid, CpuMode::USER, 0x1000_0000 * index + 0x80)).collect();
    let at_once = symbolizer.symbolize(&[queries, others].concat());
    let (second, second_mapped) = (opened(), mapped());
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(each[..], at_once[..20], "names are kept longer than files");
    for descriptors in [first, second] {
        assert!((1..=2 * MAX_FILES).contains(&descriptors), "{descriptors} descriptors");
    }
    // Files must not be mapped, because truncation by their owners would be a signal.
    assert_eq!((first_mapped, second_mapped), (0, 0));
}

/// Reports each call, and returns from it only on permission.
struct Stepwise(Sender<()>, Receiver<()>);

impl FileSymbols for Stepwise {
    fn symbolize(&mut self, _: u64) -> Option<Symbols> {
        self.0.send(()).expect("the test waits");
        let _ = self.1.recv();
        None
    }
}

#[test]
fn request_that_was_dropped_is_not_looked_up() {
    let (begin, begun) = mpsc::channel();
    let (permit, permitted) = mpsc::channel();
    let mut stepwise = Some(Stepwise(begin, permitted));
    let open = move |_| Ok(Box::new(stepwise.take().expect("one file")) as Box<dyn FileSymbols>);
    let symbolizer = Symbolizer::with_file_symbols(FileFinder::local(), open).expect("a thread");
    let mut spaces = AddressSpaces::new();
    let pid = std::process::id();
    let program = std::env::current_exe().expect("a path");
    map(&mut spaces, CpuMode::USER, pid, [0x10_0000, 0x1000, 0], program.as_os_str().as_encoded_bytes());
    let request = |addr| symbolizer.request(vec![query(&spaces, pid, CpuMode::USER, addr)]);
    let first = request(0x10_0040);
    begun.recv().expect("the first request");
    drop(request(0x10_0050));
    let last = request(0x10_0060);
    permit.send(()).expect("the thread waits");
    assert_eq!(first.wait(), [Err(Unnamed::NoSymbol)]);
    permit.send(()).expect("the thread waits");
    assert_eq!(last.wait(), [Err(Unnamed::NoSymbol)]);
    assert_eq!(begun.iter().take(1).count(), 1, "of the last request");
    assert!(begun.try_recv().is_err(), "of the dropped one");
}

#[test]
fn kernel_of_another_boot_is_not_named_by_this_one() {
    let mut spaces = AddressSpaces::new();
    // A text mapping at an address where no kernel begins.
    let range = [0xffff_ffff_0000_1230, 0x100_0000, 0xffff_ffff_0000_1230];
    map(&mut spaces, CpuMode::KERNEL, u32::MAX, range, b"[kernel.kallsyms]_text");
    let first = query(&spaces, 1, CpuMode::KERNEL, 0xffff_ffff_0000_2000);
    let reason = |finder| {
        let symbolizer = Symbolizer::without_lines(finder).expect("a thread");
        symbolizer.symbolize(std::slice::from_ref(&first))[0].clone().expect_err("no name")
    };
    assert_eq!(reason(FileFinder::remote()), Unnamed::OtherKernel);
    let here = reason(FileFinder::local());
    assert!(matches!(here, Unnamed::OtherKernel | Unnamed::KernelHidden | Unnamed::NoKallsyms), "{here:?}");

    // With the symbol list for its build id, at an offset of 16 bytes.
    let id = BuildId::new(&[0xab; 20]).expect("20 bytes");
    spaces.add_build_id(b"[kernel.kallsyms]", id);
    let folder = std::env::temp_dir().join(format!("perf-symbols-kallsyms-{}", std::process::id()));
    let cached = folder.join(".build-id/ab").join("ab".repeat(19));
    std::fs::create_dir_all(&cached).expect("a folder");
    let list = "ffffffff00001240 T _text\nffffffff00002000 t start_kernel\n";
    std::fs::write(cached.join("kallsyms"), list).expect("a file");
    let inside = query(&spaces, 1, CpuMode::KERNEL, 0xffff_ffff_0000_1ff8);
    let outside = query(&spaces, 1, CpuMode::KERNEL, 0xffff_ffff_f000_0000);
    let finder = FileFinder::remote().with_build_id_cache(&folder);
    let found = Symbolizer::new(finder).expect("a thread").symbolize(&[inside, outside]);
    let _ = std::fs::remove_dir_all(&folder);
    let symbols = found[0].as_ref().expect("a name");
    assert_eq!((&*symbols.functions[0].name, symbols.offset), ("start_kernel", 8));
    assert_eq!(found[1], Err(Unnamed::OtherKernel), "a module");
}

#[test]
fn kernel_of_another_build_at_the_same_address_is_not_named_by_this_one() {
    let Ok(kallsyms) = Kallsyms::of_this_kernel() else {
        eprintln!("skipped: the kernel hides its addresses");
        return;
    };
    let (name, text) = [&b"_text"[..], b"_stext"]
        .into_iter()
        .find_map(|name| Some((name, kallsyms.address_of(name)?)))
        .expect("the begin of the kernel");
    let path = [b"[kernel.kallsyms]", name].concat();
    let symbolizer = Symbolizer::without_lines(FileFinder::local()).expect("a thread");
    let mut spaces = AddressSpaces::new();
    map(&mut spaces, CpuMode::KERNEL, u32::MAX, [text, 0x100_0000, text], &path);
    // A module without functions in the list, after the end of the list.
    let module = kallsyms.iter().last().map_or(0, |function| function.address) + 0x1000;
    map(&mut spaces, CpuMode::KERNEL, u32::MAX, [module, 0x1000, 0], b"[unloaded]");
    let ask = |spaces: &AddressSpaces, address| {
        symbolizer.symbolize(&[query(spaces, 1, CpuMode::KERNEL, address)]).remove(0)
    };
    assert_eq!(ask(&spaces, text + 1).map(|symbols| symbols.offset), Ok(1));
    assert_eq!(ask(&spaces, module + 1), Err(Unnamed::NoSymbol));
    spaces.add_build_id(b"[kernel.kallsyms]", BuildId::new(&[0xab; 20]).expect("20 bytes"));
    assert_eq!(ask(&spaces, text + 1), Err(Unnamed::OtherKernel));
}

#[test]
fn request_that_is_dropped_ends_at_the_next_file() {
    let (begin, begun) = mpsc::channel();
    let (permit, permitted) = mpsc::channel();
    let mut stepwise = Some(Stepwise(begin, permitted));
    let (send, opened) = mpsc::channel();
    let open = move |_| {
        send.send(()).expect("the test counts");
        Ok(match stepwise.take() {
            Some(stepwise) => Box::new(stepwise) as Box<dyn FileSymbols>,
            None => Box::new(Nothing),
        })
    };
    let symbolizer = Symbolizer::with_file_symbols(FileFinder::local(), open).expect("a thread");
    let mut spaces = AddressSpaces::new();
    let pid = std::process::id();
    let program = std::env::current_exe().expect("a path");
    let files = ["/bin/sh".into(), "/bin/cat".into(), program];
    for (start, path) in (1..).map(|index| 0x10_0000 * index).zip(&files) {
        map(&mut spaces, CpuMode::USER, pid, [start, 0x1000, 0], path.as_os_str().as_encoded_bytes());
    }
    let at = |addr| query(&spaces, pid, CpuMode::USER, addr);
    let request = symbolizer.request(vec![at(0x10_0040), at(0x20_0040), at(0x30_0040)]);
    begun.recv().expect("the first file");
    drop(request);
    permit.send(()).expect("the thread waits");
    assert_eq!(symbolizer.counts(), NameCounts::default());
    assert_eq!(opened.try_iter().count(), 1);
}
